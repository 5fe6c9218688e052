package main

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// TestOracleGrid calls every function with every special argument, and one, two
// or three of them, as positions and as names.
func TestOracleGrid(t *testing.T) {
	specials := []string{
		"0", "-0.0", "1", "-1", "2", "0.5", "-2.5", "7", "-3", "inf", "-inf", "nan", "1e308", "5e-324", "1e-9", "True", "None", "1j", "[]", "(1, 2)",
		"[3.0, 4]", "10**400", "10**25", "[sqrt]",
	}
	var expressions []string
	for _, name := range slices.Sorted(maps.Keys(bare)) {
		prefixes := []string{""}
		if module[name] != nil {
			prefixes = append(prefixes, "math.")
		}
		for _, prefix := range prefixes {
			f := prefix + name
			expressions = append(expressions, f, f+"()", f+"(1, 2, 3, 4)", f+"(1, foo=2)", f+"(2, 3, 5)", f+"(x=1)")
			for _, x := range specials {
				expressions = append(expressions, fmt.Sprintf("%s(%s)", f, x))
				for _, y := range specials {
					expressions = append(expressions, fmt.Sprintf("%s(%s, %s)", f, x, y))
				}
			}
		}
	}
	compare(t, expressions, 20)
}

// TestOracleOperators joins every two special values by every operator.
func TestOracleOperators(t *testing.T) {
	values := []string{
		"0", "-0.0", "1", "-1", "3", "0.5", "-2.5", "inf", "-inf", "nan", "1e308", "5e-324", "True", "None", "1j", "(2-3j)", "0j", "[]", "(1, 2)",
		"[3.0, 4]", "10**400", "-7", "...",
	}
	ops := []string{"+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", " in ", " not in ", " and ", " or "}
	var expressions []string
	for _, a := range values {
		for _, op := range []string{"-", "+", "~", "not "} {
			expressions = append(expressions, op+"("+a+")")
		}
		for _, b := range values {
			for _, op := range ops {
				expressions = append(expressions, "("+a+")"+op+"("+b+")")
			}
		}
	}
	compare(t, expressions, 4)
}
