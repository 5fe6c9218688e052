package pluginhost

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// envClientCert is where a plugin finds the one certificate that it serves.
const envClientCert = "PLUGIN_CLIENT_CERT"

// newIdentity makes the certificate by which a plugin's process knows its
// gateway, as go-plugin's AutoMTLS does, but on P-256: BoringSSL, and with it
// every plugin on gRPC's own core, refuses the P-521 that go-plugin takes (seen
// with grpcio 1.76.0, 2026-11-29). go-plugin adds the plugin's certificate, from
// its handshake line, to the configuration.
func newIdentity() (config *tls.Config, certificate string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, "", fmt.Errorf("make a certificate: %w", err)
	}
	const lifetime = 10 * 365 * 24 * time.Hour // a process's certificate ends with it
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "localhost", Organization: []string{"sluice"}}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyAgreement | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, "", fmt.Errorf("make a certificate: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, ServerName: "localhost", MinVersion: tls.VersionTLS12,
		RootCAs: x509.NewCertPool(), // nobody is trusted until the handshake line has named the plugin
	}, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), nil
}
