package rest

import (
	"strconv"
	"strings"
)

// prefers picks what an Accept header likes best among the media types offered:
// by quality, then by how exactly it is named, then by the order of the offer.
// It is the first offer when none is liked.
func prefers(accept []string, offered ...string) string {
	best, bestQuality, bestExact := offered[0], 0.0, -1
	ranges := mediaRanges(accept)
	for _, offer := range offered {
		quality, exact := likes(ranges, offer)
		if quality > bestQuality || (quality == bestQuality && quality > 0 && exact > bestExact) {
			best, bestQuality, bestExact = offer, quality, exact
		}
	}
	return best
}

type mediaRange struct {
	name    string // "text/plain", "text/*", "*/*"
	quality float64
}

// maxRanges bounds what a header can make us do.
const maxRanges = 64

func mediaRanges(accept []string) []mediaRange {
	var ranges []mediaRange
	for _, part := range strings.SplitN(strings.Join(accept, ","), ",", maxRanges) {
		name, parameters, _ := strings.Cut(part, ";")
		m := mediaRange{name: strings.ToLower(strings.TrimSpace(name)), quality: 1}
		for _, p := range strings.Split(parameters, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
			if strings.EqualFold(key, "q") {
				m.quality = quality(value)
			}
		}
		ranges = append(ranges, m)
	}
	return ranges
}

func quality(value string) float64 {
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}

// likes is the quality that the most exact range gives to a media type.
func likes(ranges []mediaRange, mediaType string) (quality float64, exact int) {
	family, _, _ := strings.Cut(mediaType, "/")
	exact = -1
	for _, m := range ranges {
		level := -1
		switch m.name {
		case mediaType:
			level = 2
		case family + "/*":
			level = 1
		case "*/*":
			level = 0
		}
		if level > exact {
			quality, exact = m.quality, level
		}
	}
	return quality, exact
}
