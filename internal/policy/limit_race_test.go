//go:build race

package policy

// maxAllocations is above the limit that counts: the race detector empties
// sync.Pools at random.
const maxAllocations = 960

// maxShippedAllocations is the same under the shipped policy.
const maxShippedAllocations = 2400
