// Package config reads config.yaml, the environment and the command line's
// settings into one [Config], strictly.
//
// Begin with config.go: the struct is the list of keys, and its tags hold each
// key's name and meaning, so that a new key is one line there and one in
// [Defaults]. [Load] puts the sources over one another (flag > environment >
// file > default) and returns every fault of all of them together, each with
// its place and key.
//
// Commands alone import the package; it hands out values and never opens what
// they name, and no key ever holds a secret.
package config
