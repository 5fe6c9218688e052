package certs

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Plain answers plain HTTP: the CA's challenges; a redirect to https for what
// only reads; and for everything else a refusal, because a client that is
// redirected goes on to send its token in the clear first.
//
// refuse writes that refusal. port is where https is served as clients see it;
// 443 is not written. Names in the redirect are those that the client asked for,
// if they could be a host's.
func (k *Keeper) Plain(port int, refuse http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if k.from.challenge(w, r) {
			return
		}
		host, ok := hostOf(r.Host)
		if !ok || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
			refuse(w, r)
			return
		}
		if port != 443 {
			host = net.JoinHostPort(strings.Trim(host, "[]"), fmt.Sprint(port))
		}
		w.Header().Set("Connection", "close")
		http.Redirect(w, r, "https://"+host+r.URL.RequestURI(), http.StatusPermanentRedirect)
	})
}

// hostOf is the host without its port; not ok: it is none.
func hostOf(text string) (host string, ok bool) {
	host = text
	if h, _, err := net.SplitHostPort(text); err == nil {
		host = h
		if strings.Contains(h, ":") {
			host = "[" + h + "]"
		}
	}
	strange := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[]", r)
	}
	return host, host != "" && len(host) <= 255 && !strings.ContainsFunc(host, strange)
}

// HSTS tells browsers to come by https alone for that long; 0 tells them
// nothing. It is for answers over TLS.
func HSTS(age time.Duration, next http.Handler) http.Handler {
	if age <= 0 {
		return next
	}
	value := fmt.Sprintf("max-age=%d", int64(age.Seconds()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", value)
		next.ServeHTTP(w, r)
	})
}
