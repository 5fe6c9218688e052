//go:build !race

package policies_test

// maxAllocations bounds one decision about 50 lines, without reading the document.
const maxAllocations = 1200
