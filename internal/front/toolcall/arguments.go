package toolcall

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// sourceOf takes the program out of a call's arguments: an object, or the same as
// a JSON string. It is empty when there is none, and why says what there was. argument
// is what the tool says carries it; without one the arguments themselves are the program.
func sourceOf(arguments jsontext.Value, argument string) (code, why string, err error) {
	object, err := objectOf(arguments)
	if err != nil {
		return "", "", err
	}
	if argument == "" {
		return string(object), noCode, nil
	}
	fields := map[string]jsontext.Value{}
	if err := json.Unmarshal(object, &fields); err != nil {
		return "", "", badArguments()
	}
	for _, name := range sourceNames(argument) {
		if name == "code" && fields[name].Kind() != '"' {
			continue // only the others take what is no string
		}
		if code := pythonStr(fields[name]); strings.TrimSpace(code) != "" {
			return code, "", nil
		}
	}
	return "", whyEmpty(fields, argument), nil
}

// noCode is the training tool's observation of a call without a program.
const noCode = "code is empty"

// whyEmpty is what a model is told when its arguments hold no program: it may have sent
// one under another name, or code that is no text.
func whyEmpty(fields map[string]jsontext.Value, argument string) string {
	if k := fields["code"].Kind(); k != 0 && k != 'n' && k != '"' {
		return noCode + ": arguments.code must be a string"
	}
	other, names := "", sourceNames(argument)
	for name := range fields {
		if slices.Contains(names, name) {
			return noCode
		}
		other = max(other, name)
	}
	switch {
	case other == "":
		return noCode
	case len(other) > mostName:
		other = "another name"
	default:
		other = strconv.Quote(other)
	}
	return noCode + ": arguments." + argument + " is missing; there is " + other
}

// sourceNames are the names under which a program may come, best first.
func sourceNames(argument string) []string {
	return []string{"code", "expression", "expr", "source", argument}
}

// mostName bounds a caller's word that an answer repeats, in bytes.
const mostName = 64

// objectOf is the arguments as an object: null and nothing are an empty one.
func objectOf(arguments jsontext.Value) (jsontext.Value, error) {
	if arguments.Kind() == '"' {
		var inner string
		if err := json.Unmarshal(arguments, &inner); err != nil {
			return nil, badArguments()
		}
		arguments = jsontext.Value(strings.TrimSpace(inner))
	}
	switch {
	case len(arguments) == 0, string(arguments) == "null":
		return jsontext.Value("{}"), nil
	case arguments.Kind() == '{' && arguments.IsValid():
		return arguments, nil
	}
	return nil, badArguments()
}

func badArguments() error {
	return &gateway.InvalidError{Field: "arguments", Reason: "must be a JSON object, or one as a JSON string"}
}

// pythonStr is Python's str() of a JSON value, but empty for null.
func pythonStr(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return ""
		}
		return s
	case 0, 'n':
		return ""
	}
	var b strings.Builder
	pythonRepr(&b, jsontext.NewDecoder(bytes.NewReader(v)))
	return b.String()
}

// pythonRepr writes Python's repr() of the next JSON value of a valid text.
func pythonRepr(b *strings.Builder, from *jsontext.Decoder) {
	token, err := from.ReadToken()
	if err != nil {
		return
	}
	switch token.Kind() {
	case 'n':
		b.WriteString("None")
	case 't':
		b.WriteString("True")
	case 'f':
		b.WriteString("False")
	case '0':
		b.WriteString(pythonNumber(token.String()))
	case '"':
		b.WriteString(pythonQuoted(token.String()))
	case '[':
		reprMembers(b, from, ']', func() {})
	case '{':
		reprMembers(b, from, '}', func() {
			pythonRepr(b, from)
			b.WriteString(": ")
		})
	}
}

// reprMembers writes what is between two brackets, in the text's order.
func reprMembers(b *strings.Builder, from *jsontext.Decoder, end jsontext.Kind, key func()) {
	b.WriteByte(map[jsontext.Kind]byte{']': '[', '}': '{'}[end])
	for i := 0; from.PeekKind() != end; i++ {
		if from.PeekKind() == 0 {
			return
		}
		if i > 0 {
			b.WriteString(", ")
		}
		key()
		pythonRepr(b, from)
	}
	_, _ = from.ReadToken() // the bracket that was seen
	b.WriteByte(byte(end))
}

// pythonNumber is a JSON number as Python's json reads and str() writes it.
func pythonNumber(number string) string {
	if strings.ContainsAny(number, ".eE") {
		return pythonFloat(number)
	}
	if number == "-0" {
		return "0"
	}
	return number
}

// pythonFloat is repr() of a float: shortest digits, an exponent below 1e-4 and
// from 1e16 on, and a point always.
func pythonFloat(number string) string {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil && !math.IsInf(f, 0) {
		return number
	}
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(plain, ".") {
		plain += ".0"
	}
	return plain
}

// pythonQuoted is repr() of a string.
func pythonQuoted(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		b.WriteString(pythonEscaped(r, quote))
	}
	b.WriteRune(quote)
	return b.String()
}

func pythonEscaped(r, quote rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r == '\\', r == quote:
		return `\` + string(r)
	case unicode.IsPrint(r):
		return string(r)
	case r < 0x100:
		return `\x` + hexDigits(r, 2)
	case r < 0x10000:
		return `\u` + hexDigits(r, 4)
	}
	return `\U` + hexDigits(r, 8)
}

func hexDigits(r rune, width int) string {
	digits := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}
