package rest

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// ServerConfig is what ServerFor needs to know of the limits.
type ServerConfig struct {
	BodyTime    time.Duration // as Limits.BodyTime
	HeaderTime  time.Duration // for a request's head, TLS included; 0: 10 s
	HeaderBytes int           // of a request's head; 0: 16 KiB
	IdleTime    time.Duration // between two requests of a connection; 0: 2 min
	WallCeiling time.Duration // the longest run
	QueueWait   time.Duration // the longest wait for a slot
	ParseWall   time.Duration // the longest parse
	Log         *slog.Logger
}

// ServerFor is an http.Server whose time limits fit the gateway's: slow headers
// and bodies are cut, and no answer is cut that the limits allow.
//
// ReadTimeout is not set: net/http would apply it to its watch for the caller's
// leaving and so end a long run. Bodies have a deadline of their own.
func ServerFor(h http.Handler, c ServerConfig) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: cmp.Or(c.HeaderTime, 10*time.Second),
		WriteTimeout:      orBodyTime(c.BodyTime) + c.QueueWait + 2*c.ParseWall + c.WallCeiling + 60*time.Second,
		IdleTimeout:       cmp.Or(c.IdleTime, 2*time.Minute),
		MaxHeaderBytes:    cmp.Or(c.HeaderBytes, 16<<10),
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),

		DisableGeneralOptionsHandler: true,
	}
}
