package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// message is what of a request must be known before the protocol's own reader
// sees it.
type message struct {
	modern bool
	idle   bool // nothing runs while its answer is open
	method string
	id     jsontext.Value
}

// members are what JSON-RPC knows, spelt as it spells them: another spelling is
// another member.
type members struct {
	ID     jsontext.Value `json:"id"`
	Method jsontext.Value `json:"method"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
}

// malformed is what is wrong with a message, as JSON-RPC tells it.
type malformed struct {
	code   int64
	detail string
}

// Error implements error.
func (m malformed) Error() string { return m.detail }

// read looks at a request without using it up. What it cannot be is refused.
func (f *Front) read(out *stream, r *http.Request) (message, bool) {
	version := r.Header.Get(versionHeader)
	m := message{modern: version >= firstModern || r.Header.Get(methodHeader) != "", idle: r.Method == http.MethodGet}
	if r.Method == http.MethodPost {
		raw, err := io.ReadAll(http.MaxBytesReader(out, r.Body, f.cfg.Limits.BodyBytes))
		var over *http.MaxBytesError
		switch {
		case errors.As(err, &over):
			out.refuse(http.StatusRequestEntityTooLarge, 0, nil, "the message is too large: at most "+gateway.Bytes(uint64(over.Limit)))
			return m, false
		case err != nil:
			out.refuse(http.StatusBadRequest, 0, nil, "the message did not arrive whole or in time")
			return m, false
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		var wrong malformed
		if errors.As(m.peek(raw), &wrong) {
			out.refuse(http.StatusBadRequest, wrong.code, m.id, wrong.detail)
			return m, false
		}
	}
	if known := sdk.SupportedProtocolVersions(); version != "" && !slices.Contains(known, version) {
		out.unsupported(m.id, version, known)
		return m, false
	}
	return m, true
}

// peek reads a message's name and id. The error, if any, is malformed.
func (m *message) peek(raw []byte) error {
	if json.Unmarshal(raw, new(jsontext.Value)) != nil {
		return malformed{jsonrpc.CodeParseError, "the message is not JSON in UTF-8, or a key stands twice in one object of it"}
	}
	var batch []jsontext.Value
	if json.Unmarshal(raw, &batch) == nil {
		for i, one := range batch {
			if _, err := membersOf(one); err != nil {
				return malformed{jsonrpc.CodeInvalidRequest, fmt.Sprintf("message %d of the batch: %s", i+1, err)}
			}
		}
		return nil
	}
	one, err := membersOf(raw)
	if one.named() {
		m.id = one.ID
	}
	if err != nil {
		return err
	}
	if json.Unmarshal(one.Method, &m.method) != nil {
		m.method = "" // of a wrong shape, or an answer: the protocol's reader says so
	}
	m.idle = m.method == "subscriptions/listen"
	return nil
}

// membersOf reads one message. What the protocol's own reader would take for
// another message than was sent is malformed.
func membersOf(raw jsontext.Value) (m members, err error) {
	if json.Unmarshal(raw, &m) != nil {
		return members{}, malformed{jsonrpc.CodeInvalidRequest, "the message is not an object"}
	}
	switch {
	case m.Method == nil && m.Result == nil && m.Error == nil:
		return m, malformed{jsonrpc.CodeInvalidRequest, "the message has neither method (a request) nor result or error (an answer); members are spelt in lower case"}
	case m.ID.Kind() == '0' && !m.named():
		return m, malformed{jsonrpc.CodeInvalidRequest, "id must be a text, or a whole number of at most 2^53 - 1"}
	}
	return m, nil
}

// named says whether a message has an id that can be given back as it is.
func (m members) named() bool {
	switch m.ID.Kind() {
	case '"':
		return true
	case '0':
		n, err := strconv.ParseFloat(string(m.ID), 64)
		return err == nil && exact(n)
	}
	return false
}

// exact says whether a number is a whole one that no reader of JSON rounds.
func exact(n float64) bool {
	const most = 1<<53 - 1
	return n >= -most && n <= most && n == float64(int64(n))
}
