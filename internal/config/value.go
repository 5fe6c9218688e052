package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"go.yaml.in/yaml/v4"
)

// Size is a number of bytes.
type Size uint64

// Units of Size.
const (
	KiB Size = 1 << (10 * (iota + 1))
	MiB
	GiB
)

// maxSize is the largest size taken: up to it humanize's arithmetic is exact
// for whole numbers of bytes.
const maxSize = Size(1) << 50

// ParseSize reads a size with its unit: "64KiB" is 65536, "64kB" is 64000; 0
// alone needs none.
func ParseSize(text string) (Size, error) {
	if text == "0" {
		return 0, nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, fmt.Errorf("%q has no unit; write %q, say", text, text+"KiB")
	}
	n, err := humanize.ParseBytes(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no size; write it like \"64KiB\" or \"1GiB\"", text)
	case Size(n) > maxSize:
		return 0, fmt.Errorf("%q is larger than %s", text, maxSize)
	}
	return Size(n), nil
}

// String writes the size with the largest unit that divides it.
func (s Size) String() string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	unit := 0
	for s != 0 && s%1024 == 0 && unit < len(units)-1 {
		s, unit = s/1024, unit+1
	}
	if s == 0 {
		return "0"
	}
	return strconv.FormatUint(uint64(s), 10) + units[unit]
}

// parseDuration reads a duration with its unit.
func parseDuration(text string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil && text != "0" {
		return 0, fmt.Errorf("%q has no unit; write %q, say", text, text+"s")
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no duration; write it like \"30s\" or \"500ms\"", text)
	case d < 0:
		return 0, fmt.Errorf("%q is negative", text)
	}
	return d, nil
}

// formatDuration is time.Duration's own text without its trailing zeros: 30m,
// not 30m0s.
func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// setText parses text by the kind of target and stores it there.
func setText(target reflect.Value, text string) error {
	switch to := target.Addr().Interface().(type) {
	case *string:
		*to = text
		return nil
	case *bool:
		return store(to, parseBool, text)
	case *int:
		return store(to, parseInt, text)
	case *time.Duration:
		return store(to, parseDuration, text)
	case *Size:
		return store(to, ParseSize, text)
	case *[]string:
		return store(to, parseList, text)
	case *map[string]any:
		return store(to, parseObject, text)
	}
	return fmt.Errorf("set a key of type %s from text", target.Type())
}

func store[T any](to *T, parse func(string) (T, error), text string) error {
	v, err := parse(text)
	if err == nil {
		*to = v
	}
	return err
}

func parseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", text)
}

func parseInt(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no whole number", text)
	case n < 0:
		return 0, fmt.Errorf("%q is negative", text)
	}
	return int(n), nil
}

// parseList reads "a,b", or a YAML list in brackets.
func parseList(text string) ([]string, error) {
	if strings.HasPrefix(text, "[") {
		var list []string
		if err := yaml.Load([]byte(text), &list); err != nil {
			return nil, fmt.Errorf("%q is no list", text)
		}
		return list, nil
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	parts := strings.Split(text, ",")
	for i := range parts {
		if parts[i] = strings.TrimSpace(parts[i]); parts[i] == "" {
			return nil, fmt.Errorf("%q has an empty entry", text)
		}
	}
	return parts, nil
}

func parseObject(text string) (map[string]any, error) {
	object, ok := parseAny(text).(map[string]any)
	if !ok {
		return nil, errors.New("is no object; write it like {name: value}")
	}
	return object, nil
}

// parseAny reads a value of a plugin's own settings as YAML would, and as text
// where it is no YAML.
func parseAny(text string) any {
	var node yaml.Node
	if yaml.Load([]byte(text), &node) != nil || len(node.Content) != 1 {
		return text
	}
	value, err := plainValue(node.Content[0])
	if err != nil {
		return text
	}
	return value
}

// formatValue is the text that setText reads back.
func formatValue(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case time.Duration:
		return formatDuration(value)
	case []string:
		return "[" + strings.Join(value, ", ") + "]"
	case map[string]any:
		text, err := json.Marshal(value) // is YAML too
		if err == nil {
			return string(text)
		}
		return err.Error()
	default:
		return fmt.Sprint(value)
	}
}

// kindOf names a key's type for help texts.
func kindOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[Size]():
		return "size"
	case reflect.TypeFor[[]string]():
		return "list"
	case reflect.TypeFor[map[string]any]():
		return "object"
	}
	return t.Kind().String()
}
