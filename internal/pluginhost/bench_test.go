package pluginhost

import (
	"context"
	"log/slog"
	"os"
	"testing"
)

// BenchmarkRoundTrip is what a submission costs beyond its language: lease,
// stream, digests and two processes, with TLS.
func BenchmarkRoundTrip(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	root, err := os.MkdirTemp("/tmp", "host")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(root)
	h, err := New(Config{
		StateRoot: root, Log: slog.New(slog.DiscardHandler),
		Plugins: []Plugin{{Name: "bird", Command: exe, Args: []string{"plugin:parrot"}, Trust: TrustBuilt}},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := h.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}()
	if err := h.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	bench := &bench{Host: h}
	for b.Loop() {
		if out, _, err := bench.say(b.Context(), ":hello"); err != nil || out != "hello" {
			b.Fatal(out, err)
		}
	}
}
