//go:build !race

package policy

// maxAllocations is the hard limit for one decision about 50 lines.
const maxAllocations = 640

// maxShippedAllocations is the same under the shipped policy.
const maxShippedAllocations = 1550
