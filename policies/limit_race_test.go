//go:build race

package policies_test

// maxAllocations under the race detector, which empties pools at random: 1,423 were seen.
const maxAllocations = 2000
