package auth

import (
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
)

// credential finds the one token in a header: Bearer, the password of Basic, or
// X-API-Key. The same token in several places is one credential.
func credential(h http.Header) (string, error) {
	secret := ""
	for _, found := range candidates(h) {
		switch {
		case found == "":
		case secret == "":
			secret = found
		case subtle.ConstantTimeCompare([]byte(secret), []byte(found)) == 0:
			return "", ErrAmbiguous
		}
	}
	if secret == "" {
		return "", ErrMissing
	}
	return secret, nil
}

func candidates(h http.Header) []string {
	var found []string
	for _, value := range h.Values("Authorization") {
		found = append(found, fromAuthorization(value))
	}
	for _, value := range h.Values("X-API-Key") {
		found = append(found, strings.TrimSpace(value))
	}
	return found
}

// fromAuthorization reads one Authorization value; empty when it holds no token
// in a scheme that we know.
func fromAuthorization(value string) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(scheme) {
	case "bearer":
		return rest
	case "basic":
		raw, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return ""
		}
		_, password, _ := strings.Cut(string(raw), ":")
		return password
	}
	return ""
}
