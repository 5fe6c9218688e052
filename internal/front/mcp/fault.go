package mcp

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sentence is a handler's own error text, bounded. Those texts are about the
// message that was sent.
func sentence(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}

// problem is the body of an error: that of every error of the gateway, and one
// of JSON-RPC beside it.
type problem struct {
	Detail    string         `json:"detail"`
	RequestID string         `json:"request_id"`
	Status    int            `json:"status"`
	Title     string         `json:"title"`
	JSONRPC   string         `json:"jsonrpc"`
	ID        jsontext.Value `json:"id"`
	Error     rpcError       `json:"error"`
}

type rpcError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitzero"`
}

// Problem is the body of an error that another front answers with in this one's
// stead: before a message was read, so that it has no id.
func Problem(status int, detail, requestID string) any {
	code := int64(jsonrpc.CodeInvalidRequest)
	if status >= http.StatusInternalServerError {
		code = jsonrpc.CodeInternalError
	}
	return problemOf(status, requestID, nil, rpcError{Code: code, Message: detail})
}

func problemOf(status int, requestID string, about jsontext.Value, fault rpcError) problem {
	if about == nil {
		about = jsontext.Value("null")
	}
	return problem{
		Detail: fault.Message, RequestID: requestID, Status: status, Title: http.StatusText(status), JSONRPC: "2.0", ID: about, Error: fault,
	}
}

// refuse answers with an error. code 0: an invalid request.
func (s *stream) refuse(status int, code int64, id jsontext.Value, detail string) {
	if code == 0 {
		code = jsonrpc.CodeInvalidRequest
	}
	s.problem(status, id, rpcError{Code: code, Message: detail})
}

// unsupported answers to a version of the protocol that is none of ours.
func (s *stream) unsupported(id jsontext.Value, asked string, known []string) {
	s.problem(http.StatusBadRequest, id, rpcError{
		Code: sdk.CodeUnsupportedProtocolVersion, Message: "this version of the protocol is not supported",
		Data: map[string]any{"supported": known, "requested": sentence(asked)},
	})
}

func (s *stream) problem(status int, id jsontext.Value, fault rpcError) {
	body, err := json.Marshal(problemOf(status, s.id, id, fault), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		body = []byte(`{}`)
	}
	s.header.Set("Content-Type", "application/json")
	s.header.Set("Content-Length", strconv.Itoa(len(body)+1))
	s.WriteHeader(status)
	_, _ = s.Write(append(body, '\n')) // an error here is a caller who went away
}

// coded is a message as the protocol's library writes it; an error in it to which
// the library gives no code, as to what comes before initialize, has one.
func coded(message []byte) []byte {
	const none = `"error":{"code":0,`
	at := bytes.Index(message, []byte(none))
	if at < 0 || bytes.Contains(message[:at], []byte(`"result":`)) || bytes.Contains(message[:at], []byte(`"params":`)) {
		return message // a text holds such quotes escaped, so it is no text; but it may be a plugin's own object
	}
	out := fmt.Appendf(nil, `%s"error":{"code":%d,%s`, message[:at], jsonrpc.CodeInvalidRequest, message[at+len(none):])
	return bytes.Replace(out, []byte(`during session initialization"`), []byte(`during session initialization: send initialize first"`), 1)
}
