// Package library makes a Python library one that submitted programs may import:
// its lock, its entry, the policy's lists, two programs of the corpus, the
// environment.
//
// Begin at [Add]. It works on the files of a checkout and asks pip, which goes
// where the user's own configuration sends it.
//
// It must never write an index's address into a file, install what is not pinned
// by a digest, or leave half of a change behind.
package library
