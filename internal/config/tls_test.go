package config

import (
	"slices"
	"strings"
	"testing"
)

func TestTLSModesWantWhatTheyNeed(t *testing.T) {
	for yaml, want := range map[string]string{
		"{mode: files}":                               "tls.certificate: is empty, and tls.mode: files needs it",
		"{mode: files, certificate: c}":               "tls.key: is empty",
		"{mode: acme, domains: [a], storage: s}":      "tls.accept_terms: is false",
		"{mode: acme, accept_terms: true}":            "tls.domains: is empty, and tls.mode: acme needs it",
		"{mode: acme, ca: 'http://x'}":                `tls.ca: "http://x" is no https URL`,
		"{mode: acme, challenges: [http-01]}":         "tls.http_listen: is empty, and the challenge http-01 comes there",
		"{mode: acme, challenges: [http-1]}":          "did you mean http-01?",
		"{mode: acme, check: 1ms}":                    "tls.check: is too small",
		"{mode: acme, domains: [a, '']}":              "tls.domains: names nothing",
		"{http_listen: '127.0.0.1:80'}":               "tls.http_listen: has no meaning without TLS",
		"{public_port: 0}":                            "tls.public_port: 0 is none of 1 to 65535",
		"{mode: acme, eab: x}":                        "tls.eab: no such key",
		"{mode: files, certificate: c, key: k, h: 1}": "tls.h: no such key",
	} {
		if text := faultsOf(t, "tls: "+yaml+"\n", nil).Error(); !strings.Contains(text, want) {
			t.Errorf("%s is told as %s", yaml, text)
		}
	}
}

func TestChallengesAreThoseThatCanBeAnswered(t *testing.T) {
	for yaml, want := range map[string][]string{
		"":                     {"tls-alpn-01"},
		", http_listen: ':80'": {"tls-alpn-01", "http-01"},
		", challenges: [tls-alpn-01], http_listen: ':80'": {"tls-alpn-01"},
	} {
		l := mustLoad(t, "tls: {mode: acme, domains: [a], storage: s, accept_terms: true"+yaml+"}\n", nil)
		if got := l.TLS.ACMEChallenges(); !slices.Equal(got, want) {
			t.Errorf("%s gives %v", yaml, got)
		}
	}
}
