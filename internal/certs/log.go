package certs

import (
	"context"
	"log/slog"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newZap is the logger that certmagic writes to: lines of ours, with those
// fields alone that are known to hold no account, no address of a client and no
// answer to a challenge.
func newZap(log *slog.Logger, redact *strings.Replacer) *zap.Logger {
	return zap.New(&bridge{log: log, redact: redact})
}

// redactor takes out of errors what they must not tell.
func redactor(cfg ACME) *strings.Replacer {
	words := []string{cfg.Storage, "tls.storage"}
	if cfg.Email != "" {
		words = append(words, cfg.Email, "tls.email", strings.ToLower(cfg.Email), "tls.email")
	}
	return strings.NewReplacer(words...)
}

type bridge struct {
	log    *slog.Logger
	redact *strings.Replacer
	fields []zapcore.Field
}

// Enabled implements zapcore.Core. What certmagic and its ACME client tell for
// debugging holds whole requests.
func (*bridge) Enabled(level zapcore.Level) bool { return level >= zapcore.InfoLevel }

// With implements zapcore.Core.
func (b *bridge) With(fields []zapcore.Field) zapcore.Core {
	return &bridge{log: b.log, redact: b.redact, fields: append(append([]zapcore.Field{}, b.fields...), fields...)}
}

// Check implements zapcore.Core.
func (b *bridge) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if b.Enabled(e.Level) {
		return to.AddCore(e, b)
	}
	return to
}

// Write implements zapcore.Core.
func (b *bridge) Write(e zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(append([]zapcore.Field{}, b.fields...), fields...) {
		if told(f.Key) {
			f.AddTo(values)
		}
	}
	var attrs []slog.Attr
	for name, value := range values.Fields {
		if text, ok := value.(string); ok {
			value = b.redact.Replace(text)
		}
		attrs = append(attrs, slog.Any(name, value))
	}
	level := levelOf(e)
	if text, _ := values.Fields["error"].(string); strings.HasSuffix(text, context.Canceled.Error()) {
		level = slog.LevelDebug // the gateway stops
	}
	b.log.LogAttrs(context.Background(), level, "certificates: "+e.Message, attrs...)
	return nil
}

// Sync implements zapcore.Core.
func (*bridge) Sync() error { return nil }

// levelOf lowers what is told in our own words already (events in acme.go), and
// what strangers can cause by a handshake of their choice.
func levelOf(e zapcore.Entry) slog.Level {
	switch {
	case e.Level <= zapcore.InfoLevel, e.Message == "tls-alpn challenge", e.Message == "looking up info for HTTP challenge":
		return slog.LevelDebug
	case e.Level == zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelError
}

func told(field string) bool {
	switch field {
	case "error", "identifier", "identifiers", "subject", "subjects", "issuer", "ca", "challenge_type", "attempt", "retrying_in", "remaining", "elapsed":
		return true
	}
	return false
}
