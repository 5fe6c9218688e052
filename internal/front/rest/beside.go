package rest

import (
	"bytes"
	"io"
	"net/http"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Beside is a route of another front that is served under the rules of this
// one: request ids, credentials before the body, bounds on the body, a line in
// the log.
type Beside struct {
	Methods []string
	Path    string // of net/http's patterns
	Scope   string // that a token needs
	// Problem is the body of an error that is answered before Serve is asked; nil:
	// that of this front.
	Problem func(status int, detail, requestID string) any
	// Serve answers. The body is there whole; by says who asks, by which id and
	// trace. Limits on the answer's time are Serve's to set.
	Serve func(w http.ResponseWriter, r *http.Request, by gateway.Request)
}

// routes are those of other fronts, in the form of the table.
func (b Beside) routes() (list []route) {
	for _, method := range b.Methods {
		list = append(list, route{method: method, path: b.Path, scopes: []string{b.Scope}, handle: b.handle, problem: b.Problem})
	}
	return list
}

func (b Beside) handle(x *exchange) error {
	if x.r.Method == http.MethodPost {
		raw, err := x.body()
		if err != nil {
			return err
		}
		x.r.Body = io.NopCloser(bytes.NewReader(raw))
	}
	b.Serve(x, x.r, x.by())
	if x.r.Method == http.MethodPost && x.status == http.StatusOK && x.r.Context().Err() != nil {
		x.logged = statusGone
	}
	return nil
}
