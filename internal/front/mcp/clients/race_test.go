//go:build race

package clients

// raceDetector says that these tests would measure other people's programs at a
// tenth of their speed.
const raceDetector = true
