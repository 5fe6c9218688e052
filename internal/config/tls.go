package config

import (
	"net/url"
	"slices"
	"time"
)

// TLS is how the public listener speaks TLS.
type TLS struct {
	Mode        string        `key:"mode" help:"off, files (a certificate and its key) or acme (issued and renewed by a CA)"`
	Certificate string        `key:"certificate" is:"path" help:"files: the certificate and its chain, PEM; read again when it changes"`
	Key         string        `key:"key" is:"path" help:"files: its private key, PEM, closed to others"`
	Domains     []string      `key:"domains" help:"acme: names that certificates are issued for; a client that names none is served the first"`
	CA          string        `key:"ca" help:"acme: the directory of the CA"`
	CARoots     string        `key:"ca_roots" is:"path" help:"acme: PEM file of the roots behind the CA's own certificate; empty = the system's"`
	AcceptTerms bool          `key:"accept_terms" help:"acme: says that you have read the CA's terms and accept them; nothing is issued without"`
	Email       string        `key:"email" help:"acme: where the CA reaches you; may be empty"`
	Profile     string        `key:"profile" help:"acme: one of the CA's profiles (shortlived, say); empty = its default"`
	Storage     string        `key:"storage" is:"path" help:"acme: folder of the account and the certificates, mode 0700; keep it across restarts"`
	Challenges  []string      `key:"challenges" help:"acme: tls-alpn-01 (comes to port 443) and http-01 (to port 80, needs http_listen); empty = those that can be answered"`
	Check       time.Duration `key:"check" help:"acme: how often certificates are looked at"`
	HTTPListen  string        `key:"http_listen" help:"address for plain HTTP: challenges, and a redirect to https; empty = none"`
	PublicPort  int           `key:"public_port" help:"port of https as clients see it, for the redirect"`
	HSTS        time.Duration `key:"hsts" help:"how long browsers are told to come by https alone; 0 = they are not told"`
}

// TLSOff, TLSFiles and TLSACME are the values of tls.mode.
const (
	TLSOff   = "off"
	TLSFiles = "files"
	TLSACME  = "acme"
)

const (
	challengeTLS  = "tls-alpn-01"
	challengeHTTP = "http-01"
)

func defaultTLS() TLS {
	return TLS{
		Mode: TLSOff, CA: "https://acme-v02.api.letsencrypt.org/directory", Check: 10 * time.Minute, PublicPort: 443, HSTS: 180 * 24 * time.Hour,
	}
}

// ACMEChallenges are the challenges that are to be answered.
func (t TLS) ACMEChallenges() []string {
	switch {
	case len(t.Challenges) > 0:
		return t.Challenges
	case t.HTTPListen != "":
		return []string{challengeTLS, challengeHTTP}
	}
	return []string{challengeTLS}
}

func (c *checker) tls() {
	t := c.l.TLS
	c.oneOf("tls.mode", t.Mode, TLSOff, TLSFiles, TLSACME)
	c.address("tls.http_listen", t.HTTPListen, true)
	if t.Mode == TLSOff && t.HTTPListen != "" {
		c.fault("tls.http_listen", "listen itself is plain HTTP when tls.mode is off", "has no meaning without TLS")
	}
	if t.PublicPort < 1 || t.PublicPort > 65535 {
		c.fault("tls.public_port", "", "%d is none of 1 to 65535", t.PublicPort)
	}
	for _, one := range t.Challenges {
		c.oneOf("tls.challenges", one, challengeTLS, challengeHTTP)
	}
	switch t.Mode {
	case TLSFiles:
		c.needed(map[string]bool{"certificate": t.Certificate != "", "key": t.Key != ""}, TLSFiles)
	case TLSACME:
		c.acme()
	}
}

func (c *checker) needed(given map[string]bool, mode string) {
	for _, name := range sortedNames(given) {
		if !given[name] {
			c.fault("tls."+name, "", "is empty, and tls.mode: %s needs it", mode)
		}
	}
}

func (c *checker) acme() {
	t := c.l.TLS
	c.needed(map[string]bool{"domains": len(t.Domains) > 0, "storage": t.Storage != ""}, TLSACME)
	if !t.AcceptTerms {
		c.fault("tls.accept_terms", "read the terms of the CA, then write true", "is false: no certificate is issued without")
	}
	if u, err := url.Parse(t.CA); err != nil || u.Scheme != "https" || u.Host == "" {
		c.fault("tls.ca", "", "%q is no https URL", t.CA)
	}
	if slices.Contains(t.Domains, "") {
		c.fault("tls.domains", "", "names nothing")
	}
	if slices.Contains(t.Challenges, challengeHTTP) && t.HTTPListen == "" {
		c.fault("tls.http_listen", `write ":80", say`, "is empty, and the challenge http-01 comes there")
	}
	c.positive("tls", map[string]bool{"check": t.Check >= time.Second})
}
