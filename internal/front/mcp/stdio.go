package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Stdio serves one client over a pair of streams until in ends or ctx does. by
// says who asks. Calls that run when in ends are finished first.
func (f *Front) Stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser, by gateway.Request) error {
	v := newVisit(ctx, by)
	l := newLines(ctx, in, out)
	transport := &sdk.IOTransport{Reader: reader{l}, Writer: writer{l}, MaxLineLength: int(f.cfg.Limits.BodyBytes)}
	return unlessOver(ctx, f.deskOf(by.Caller).server.Run(v.in(ctx), transport))
}

// Remote is a gateway that runs elsewhere.
type Remote struct {
	URL    string // of its /mcp
	Client *http.Client
	Token  string
}

// Bridge carries a client's messages from a pair of streams to a gateway that
// runs elsewhere and back, until in ends or ctx does.
func Bridge(ctx context.Context, in io.ReadCloser, out io.WriteCloser, to Remote) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := newLines(ctx, in, out)
	here, err := (&sdk.IOTransport{Reader: reader{l}, Writer: writer{l}}).Connect(ctx)
	if err != nil {
		return fmt.Errorf("open the streams: %w", err)
	}
	client := *to.Client
	client.Transport = &bearer{token: to.Token, next: client.Transport}
	there, err := (&sdk.StreamableClientTransport{Endpoint: to.URL, HTTPClient: &client}).Connect(ctx)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", to.URL, err)
	}
	ends := make(chan error, 2)
	go func() { ends <- carry(ctx, here, there) }()
	go func() { ends <- carry(ctx, there, here) }()
	err = <-ends
	cancel()
	_ = here.Close()
	_ = there.Close()
	return unlessOver(ctx, err)
}

func carry(ctx context.Context, from, to sdk.Connection) error {
	for {
		message, err := from.Read(ctx)
		if err != nil {
			return err
		}
		if err := to.Write(ctx, message); err != nil {
			return fmt.Errorf("carry a message: %w", err)
		}
	}
}

// unlessOver is err, or nothing when a stream or ctx just ended.
func unlessOver(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// bearer puts the token into each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	next := b.next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(r)
}
