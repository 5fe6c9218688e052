package rest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

func orBodyTime(d time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return 20 * time.Second
}

func tooLarge(what string, limit int64) refusal {
	return refusal{status: http.StatusRequestEntityTooLarge, detail: fmt.Sprintf("%s is too large: at most %s", what, gateway.Bytes(uint64(max(0, limit))))}
}

// decode reads the body into v, a pointer to a struct.
func (x *exchange) decode(v any) error {
	raw, err := x.body()
	if err != nil {
		return err
	}
	return decodeObject(raw, v)
}

// decodeOptional is decode for a body that may be missing.
func (x *exchange) decodeOptional(v any) error {
	raw, err := x.body()
	if err != nil || len(raw) == 0 {
		return err
	}
	return decodeObject(raw, v)
}

// body reads the request's body, bounded in size and time.
func (x *exchange) body() ([]byte, error) {
	for _, coding := range x.r.Header.Values("Content-Encoding") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
			return nil, refusal{status: http.StatusUnsupportedMediaType, detail: "send the body without a Content-Encoding"}
		}
	}
	limit := x.s.cfg.Limits.BodyBytes
	if x.r.ContentLength > limit {
		return nil, tooLarge("body", limit)
	}
	control := http.NewResponseController(x.ResponseWriter)
	_ = control.SetReadDeadline(time.Now().Add(orBodyTime(x.s.cfg.Limits.BodyTime))) // a writer without a connection has no deadline
	raw, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge("body", limit)
	case err != nil:
		return nil, refusal{status: http.StatusBadRequest, detail: "the body did not arrive whole or in time"}
	}
	// Without this the deadline would end the run: net/http watches for the
	// caller's leaving with a read.
	_ = control.SetReadDeadline(time.Time{})
	x.consumed = true
	return raw, nil
}

// decodeObject reads one JSON object strictly: UTF-8, every key once, keys
// matched exactly. Keys that v does not know are ignored.
func decodeObject(raw []byte, v any) error {
	text := jsontext.Value(raw)
	if err := json.Unmarshal(raw, new(jsontext.Value)); err != nil {
		return refusal{status: http.StatusBadRequest, detail: notJSON(err)}
	}
	if text.Kind() != '{' {
		return refusal{status: http.StatusBadRequest, detail: "the body is not a JSON object"}
	}
	err := json.Unmarshal(raw, v)
	var shape *json.SemanticError
	if errors.As(err, &shape) {
		return invalid(strings.ReplaceAll(strings.TrimPrefix(string(shape.JSONPointer), "/"), "/", "."), "must be "+wanted(shape))
	}
	return err
}

func notJSON(err error) string {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return "the body is not JSON that we take: a key stands twice in one object"
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if strings.Contains(syntax.Error(), "max depth") { // the package has no name for it
			return "the body is nested too deeply"
		}
		return fmt.Sprintf("the body is not JSON in UTF-8 (at byte %d)", syntax.ByteOffset)
	}
	return "the body is not JSON in UTF-8"
}

// wanted says what a field must be, from the Go type that it did not fit.
func wanted(e *json.SemanticError) string {
	if e.GoType == nil {
		return "of another type"
	}
	switch kind := e.GoType.Kind().String(); {
	case kind == "string":
		return "a string"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case strings.HasPrefix(kind, "uint"), strings.HasPrefix(kind, "int"):
		return "a whole number that is not negative"
	case kind == "struct", kind == "map":
		return "an object"
	}
	return "of another type"
}

// text is the value of a field that must be there.
func text(field string, v *string) (string, error) {
	if v == nil {
		return "", invalid(field, "is missing: it must be a string")
	}
	return *v, nil
}

// seconds reads an optional positive number of seconds; 0 when it is not there.
func seconds(field string, v *float64) (time.Duration, error) {
	switch {
	case v == nil:
		return 0, nil
	case !(*v > 0): // NaN too
		return 0, invalid(field, "must be a positive number of seconds")
	}
	d := time.Duration(math.Min(*v, toolcall.Longest.Seconds()) * float64(time.Second))
	return max(d, time.Millisecond), nil
}

// count reads an optional whole number above 0; 0 when it is not there.
func count(field string, v *uint64) (uint64, error) {
	if v != nil && *v == 0 {
		return 0, invalid(field, "must be above 0")
	}
	if v == nil {
		return 0, nil
	}
	return *v, nil
}
