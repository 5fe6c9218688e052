package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of a document. A plugin is trusted, the program that it shows is not.
const (
	maxDepth  = 10_000 // nested arrays and objects
	maxNumber = 320    // characters of a number
	maxPower  = 400    // magnitude of a number's exponent
)

// Reasons for which text that other JSON readers take is refused.
var (
	errDuplicate = errors.New("duplicate key")
	errSurrogate = errors.New("half a surrogate pair")
	errUTF8      = errors.New("text is not UTF-8")
	errDepth     = errors.New("nested too deeply")
	errNumber    = errors.New("number is too long")
)

// readJSON reads one JSON value in the shapes that ast.LazyObject converts:
// map[string]any, []any, string, json.Number, bool and nil; arrays of text
// alone are []string, and objects of text alone map[string]string below
// textDepth. It is stricter than encoding/json (see the reasons above) and
// makes far fewer allocations: text without escapes is a slice of one copy of
// doc, and arrays are cut from slabs. doc is not kept.
func readJSON(doc []byte) (any, error) {
	if !utf8.Valid(doc) {
		return nil, errUTF8
	}
	members := min(usual, 8+len(doc)/bytesOfMember)
	r := reader{text: string(doc), pairs: make([]pair, 0, members), texts: make([]string, 0, members/4), elems: make([]any, 0, members/4)}
	value, err := r.value()
	if r.space(); err == nil && r.at < len(r.text) {
		err = errors.New("text after the end")
	}
	if err != nil {
		return nil, fmt.Errorf("byte %d: %w", r.at, err)
	}
	return value, nil
}

// reader is a recursive-descent reader over text; at is where it stands.
type reader struct {
	text    string
	at      int
	depth   int
	strings []string // slab from which arrays of text are cut
	anys    []any    // and other arrays
	texts   []string // the array being read, and those around it
	elems   []any    // and other arrays
	pairs   []pair   // the object being read, and those around it
	empty   any      // every empty object of the document; but for the whole of it nothing is added to any
}

// pair is a member of an object; a text stands in text, so that it becomes an
// interface only where it must.
type pair struct {
	key    string
	text   string
	isText bool
	value  any
}

// usual is how many members an object of a usual program's document has: those
// of one and of all around it are kept while it is read. A short document has
// fewer.
const (
	usual         = 64
	bytesOfMember = 64
)

// slab is how many elements are allocated at once for small arrays.
const slab = 128

// textDepth is the depth at which a document's sections hold their entries:
// objects above it are always map[string]any.
const textDepth = 4

// smallNumbers are the numbers of one digit, which need no allocation.
var smallNumbers = [10]any{
	json.Number("0"), json.Number("1"), json.Number("2"), json.Number("3"), json.Number("4"),
	json.Number("5"), json.Number("6"), json.Number("7"), json.Number("8"), json.Number("9"),
}

// space skips white space and returns the byte at which the reader stands; 0 at
// the end.
func (r *reader) space() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) value() (any, error) {
	switch c := r.space(); c {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return r.str()
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	default:
		return r.number()
	}
}

func (r *reader) word(w string) error {
	if !strings.HasPrefix(r.text[r.at:], w) {
		return fmt.Errorf("expected %s", w)
	}
	r.at += len(w)
	return nil
}

func (r *reader) enter() error {
	r.at++
	if r.depth++; r.depth > maxDepth {
		return errDepth
	}
	return nil
}

// next is called after a member or element; it reports whether another one
// follows.
func (r *reader) next(end byte) (more bool, err error) {
	switch c := r.space(); c {
	case ',':
		r.at++
		return true, nil
	case end:
		r.at++
		r.depth--
		return false, nil
	default:
		return false, fmt.Errorf("expected ',' or %q", end)
	}
}

func (r *reader) object() (any, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	base := len(r.pairs)
	defer func() {
		clear(r.pairs[base:])
		r.pairs = r.pairs[:base]
	}()
	if r.space() == '}' {
		if r.empty == nil {
			r.empty = map[string]any{}
		}
		_, err := r.next('}')
		return r.empty, err
	}
	for more := true; more; {
		p, err := r.member()
		if err != nil {
			return nil, err
		}
		r.pairs = append(r.pairs, p)
		if more, err = r.next('}'); err != nil {
			return nil, err
		}
	}
	pairs := r.pairs[base:]
	if r.depth+1 >= textDepth && !slices.ContainsFunc(pairs, func(p pair) bool { return !p.isText }) {
		return objectOf(pairs, func(p *pair) string { return p.text })
	}
	return objectOf(pairs, (*pair).any)
}

func (p *pair) any() any {
	if p.isText {
		return p.text
	}
	return p.value
}

func objectOf[V any](pairs []pair, value func(*pair) V) (any, error) {
	object := make(map[string]V, len(pairs))
	for i := range pairs {
		object[pairs[i].key] = value(&pairs[i])
		if len(object) != i+1 {
			return nil, fmt.Errorf("%w %.64q", errDuplicate, pairs[i].key)
		}
	}
	return object, nil
}

func (r *reader) member() (p pair, err error) {
	if r.space() != '"' {
		return pair{}, errors.New("expected a key")
	}
	if p.key, err = r.str(); err != nil {
		return pair{}, err
	}
	if r.space() != ':' {
		return pair{}, errors.New("expected ':'")
	}
	r.at++
	if p.isText = r.space() == '"'; p.isText {
		p.text, err = r.str()
	} else {
		p.value, err = r.value()
	}
	return p, err
}

// array reads text elements as text for as long as there are no others.
func (r *reader) array() (any, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	if r.space() == ']' {
		_, err := r.next(']')
		return []any{}, err
	}
	base := len(r.texts)
	defer func() { r.texts = r.texts[:base] }()
	for r.space() == '"' {
		text, err := r.str()
		if err != nil {
			return nil, err
		}
		r.texts = append(r.texts, text)
		more, err := r.next(']')
		if err != nil {
			return nil, err
		}
		if !more {
			return cut(&r.strings, r.texts[base:]), nil
		}
	}
	return r.mixed(r.texts[base:])
}

// mixed goes on with an array whose first elements were text.
func (r *reader) mixed(texts []string) (any, error) {
	base := len(r.elems)
	defer func() {
		clear(r.elems[base:])
		r.elems = r.elems[:base]
	}()
	for _, t := range texts {
		r.elems = append(r.elems, t)
	}
	for more := true; more; {
		elem, err := r.value()
		if err != nil {
			return nil, err
		}
		r.elems = append(r.elems, elem)
		if more, err = r.next(']'); err != nil {
			return nil, err
		}
	}
	return cut(&r.anys, r.elems[base:]), nil
}

// cut copies elems to a slab.
func cut[E any](from *[]E, elems []E) []E {
	if len(elems) > cap(*from)-len(*from) {
		*from = make([]E, 0, max(slab, len(elems)))
	}
	begin := len(*from)
	*from = append(*from, elems...)
	return (*from)[begin:len(*from):len(*from)]
}

func (r *reader) str() (string, error) {
	r.at++
	begin := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return r.text[begin : r.at-1], nil
		case c == '\\':
			return r.escaped(begin)
		case c < ' ':
			return "", errors.New("control character in text")
		}
	}
	return "", errors.New("text without an end")
}

// escaped reads a string with escapes in it; the first one is where r stands.
func (r *reader) escaped(begin int) (string, error) {
	out := append(make([]byte, 0, 2*(r.at-begin)+16), r.text[begin:r.at]...)
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < ' ':
			return "", errors.New("control character in text")
		case c != '\\':
			out = append(out, c)
			continue
		}
		char, err := r.escape()
		if err != nil {
			return "", err
		}
		out = utf8.AppendRune(out, char)
	}
	return "", errors.New("text without an end")
}

const (
	escapeNames  = `"\/bfnrt`
	escapeValues = "\"\\/\b\f\n\r\t"
)

// escape reads what follows a backslash.
func (r *reader) escape() (rune, error) {
	if r.at == len(r.text) {
		return 0, errors.New("text without an end")
	}
	c := r.text[r.at]
	r.at++
	if i := strings.IndexByte(escapeNames, c); i >= 0 {
		return rune(escapeValues[i]), nil
	}
	if c != 'u' {
		return 0, errors.New("unknown escape")
	}
	char, err := r.hex()
	if err != nil || !utf16.IsSurrogate(char) {
		return char, err
	}
	if !strings.HasPrefix(r.text[r.at:], `\u`) {
		return 0, errSurrogate
	}
	r.at += 2
	low, err := r.hex()
	if err != nil {
		return 0, err
	}
	if char = utf16.DecodeRune(char, low); char == utf8.RuneError {
		return 0, errSurrogate
	}
	return char, nil
}

func (r *reader) hex() (rune, error) {
	if len(r.text)-r.at < 4 {
		return 0, errors.New("text without an end")
	}
	n, err := strconv.ParseUint(r.text[r.at:r.at+4], 16, 16)
	if err != nil {
		return 0, errors.New("escape is not hexadecimal")
	}
	r.at += 4
	return rune(n), nil
}

// number reads the grammar of RFC 8259, section 6.
func (r *reader) number() (any, error) {
	begin := r.at
	if r.peek() == '-' {
		r.at++
	}
	whole := r.digits()
	if whole == 0 || (whole > 1 && r.text[r.at-whole] == '0') {
		return nil, errors.New("expected a value")
	}
	if r.peek() == '.' {
		r.at++
		if r.digits() == 0 {
			return nil, errors.New("expected a digit")
		}
	}
	if err := r.exponent(); err != nil {
		return nil, err
	}
	if r.at-begin > maxNumber {
		return nil, errNumber
	}
	if r.at-begin == 1 {
		return smallNumbers[r.text[begin]-'0'], nil
	}
	return json.Number(r.text[begin:r.at]), nil
}

func (r *reader) exponent() error {
	if c := r.peek(); c != 'e' && c != 'E' {
		return nil
	}
	r.at++
	if c := r.peek(); c == '+' || c == '-' {
		r.at++
	}
	n := r.digits()
	if n == 0 {
		return errors.New("expected a digit")
	}
	if power, err := strconv.Atoi(r.text[r.at-n : r.at]); err != nil || power > maxPower {
		return errNumber
	}
	return nil
}

func (r *reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *reader) digits() int {
	begin := r.at
	for c := r.peek(); '0' <= c && c <= '9'; c = r.peek() {
		r.at++
	}
	return r.at - begin
}
