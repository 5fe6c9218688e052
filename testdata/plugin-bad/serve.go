package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// serve shakes hands and serves until it is told to end.
func serve(f fault) error {
	cert, err := certificate()
	if err != nil {
		return err
	}
	lis, err := listen(f)
	if err != nil {
		return err
	}
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.LevelFromString(os.Getenv("GATEWAY_LOG_LEVEL")), Output: os.Stderr, JSONFormat: !f.is("plain-log")})
	inner, err := wire.ServeInProcess(&toy{fault: f}, log)
	if err != nil {
		return err
	}
	p := &proxy{fault: f, raw: inner.Raw}
	if f.is("any-level") || f.is("plain-log") {
		log = hclog.New(&hclog.LoggerOptions{Output: os.Stderr, JSONFormat: !f.is("plain-log")})
		log.Info("ready")
	}
	p.log = log
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(tlsConfig(f, cert))), grpc.MaxRecvMsgSize(4<<20))
	executorpb.RegisterExecutorServer(server, p)
	registerHealth(f, server)
	server.RegisterService(controller(f, server), nil)
	go onTerm(f, inner.Raw)
	if err := announce(f, lis, cert); err != nil {
		return err
	}
	err = server.Serve(lis)
	inner.Close()
	return err
}

func listen(f fault) (net.Listener, error) {
	dir := os.Getenv("PLUGIN_UNIX_SOCKET_DIR")
	if f.is("socket-elsewhere") {
		dir = os.TempDir()
	}
	if f.is("two-sockets") {
		if _, err := net.Listen("unix", filepath.Join(dir, "other")); err != nil {
			return nil, err
		}
	}
	lis, err := net.Listen("unix", filepath.Join(dir, "plugin"))
	if err != nil {
		return nil, err
	}
	if f.is("socket-stays") {
		lis.(*net.UnixListener).SetUnlinkOnClose(false)
	}
	return lis, nil
}

func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func tlsConfig(f fault, cert tls.Certificate) *tls.Config {
	hosts := x509.NewCertPool()
	hosts.AppendCertsFromPEM([]byte(os.Getenv("PLUGIN_CLIENT_CERT")))
	config := &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: hosts, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	if f.is("open-door") {
		config.ClientAuth = tls.NoClientCert
	}
	return config
}

// announce prints the handshake line and moves the descriptor that carried it.
func announce(f fault, lis net.Listener, cert tls.Certificate) error {
	text := base64.RawStdEncoding.EncodeToString(cert.Certificate[0])
	switch {
	case f.is("no-line"):
		return nil
	case f.is("no-certificate"):
		text = ""
	}
	fmt.Printf("1|1|unix|%s|grpc|%s\n", lis.Addr(), text)
	if f.is("more-on-stdout") {
		fmt.Println("and a good day to you")
	}
	if f.is("stdout-kept") {
		return nil
	}
	return syscall.Dup3(2, 1, 0)
}

func registerHealth(f fault, server *grpc.Server) {
	states := health.NewServer()
	state := healthpb.HealthCheckResponse_SERVING
	if f.is("not-serving") {
		state = healthpb.HealthCheckResponse_NOT_SERVING
	}
	states.SetServingStatus("plugin", state)
	healthpb.RegisterHealthServer(server, states)
}

// controller is go-plugin's way of saying that it is over.
func controller(f fault, server *grpc.Server) *grpc.ServiceDesc {
	shutdown := func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		if err := decode(&emptypb.Empty{}); err != nil {
			return nil, err
		}
		if f.is("shutdown-deaf") {
			return nil, errors.New("no")
		}
		go server.Stop()
		return &emptypb.Empty{}, nil
	}
	return &grpc.ServiceDesc{ServiceName: "plugin.GRPCController", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{MethodName: "Shutdown", Handler: shutdown}}}
}

func onTerm(f fault, raw executorpb.ExecutorClient) {
	if f.is("dies-of-sigterm") {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	for range signals {
		_, _ = raw.Drain(context.Background(), &executorpb.DrainRequest{Reason: "SIGTERM"})
	}
}
