package gateway

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// limitsFor is what holds for a request before the verdict: the defaults, lowered
// by what the caller asks for; only the wall limit may be asked up, to the ceiling.
func (g *Gateway) limitsFor(req Request) executor.Limits {
	now := g.settings.Load()
	limits := now.Default
	if req.Route == RouteTools && now.ToolWall > 0 {
		limits.Wall = now.ToolWall
	}
	cpuAsWall := limits.CPU == 0
	if req.Asked.Wall > 0 {
		limits.Wall = req.Asked.Wall
	}
	limits.Wall = min(limits.Wall, g.cfg.Limits.WallCeiling)
	if cpuAsWall {
		limits.CPU = limits.Wall
	}
	asked := req.Asked
	asked.Wall = 0
	return lower(limits, asked)
}

// lowered says which limits are lower than the caller of POST /v1/run asked for, in
// the words of that request.
func lowered(asked, have executor.Limits) (notes []string) {
	for _, l := range []struct {
		name        string
		asked, have float64
	}{
		{"wall_seconds", asked.Wall.Seconds(), have.Wall.Seconds()},
		{"cpu_seconds", asked.CPU.Seconds(), have.CPU.Seconds()},
		{"memory_bytes", float64(asked.MemoryBytes), float64(have.MemoryBytes)},
		{"output_bytes", float64(asked.OutputCeilingBytes), float64(have.OutputCeilingBytes)},
	} {
		if l.asked > l.have && l.have > 0 {
			notes = append(notes, fmt.Sprintf("limits.%s: %s were asked for, and %s is the most", l.name, digits(l.asked), digits(l.have)))
		}
	}
	return notes
}

func digits(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// lower returns limits with every field that by sets lowered to it, never raised.
func lower(limits, by executor.Limits) executor.Limits {
	limits.Wall = lowerOne(limits.Wall, by.Wall)
	limits.CPU = lowerOne(limits.CPU, by.CPU)
	limits.MemoryBytes = lowerOne(limits.MemoryBytes, by.MemoryBytes)
	limits.StdoutBytes = lowerOne(limits.StdoutBytes, by.StdoutBytes)
	limits.StderrBytes = lowerOne(limits.StderrBytes, by.StderrBytes)
	limits.OutputCeilingBytes = lowerOne(limits.OutputCeilingBytes, by.OutputCeilingBytes)
	limits.ScratchBytes = lowerOne(limits.ScratchBytes, by.ScratchBytes)
	limits.ArtifactBytes = lowerOne(limits.ArtifactBytes, by.ArtifactBytes)
	limits.Processes = lowerOne(limits.Processes, by.Processes)
	limits.Threads = lowerOne(limits.Threads, by.Threads)
	return limits
}

func lowerOne[N time.Duration | uint64 | uint32](have, by N) N {
	if by == 0 || (have != 0 && have < by) {
		return have
	}
	return by
}

// collector keeps what a program prints, up to its limits, whatever the plugin
// sends.
type collector struct {
	max  map[executor.Stream]uint64
	kept map[executor.Stream][]byte
	cut  map[executor.Stream]uint64
}

func newCollector(l executor.Limits) collector {
	return collector{
		max:  map[executor.Stream]uint64{executor.Stdout: l.StdoutBytes, executor.Stderr: l.StderrBytes},
		kept: map[executor.Stream][]byte{},
		cut:  map[executor.Stream]uint64{},
	}
}

func (c *collector) add(s executor.Stream, chunk []byte) {
	room := c.max[s] - uint64(len(c.kept[s]))
	if uint64(len(chunk)) > room {
		c.cut[s] += uint64(len(chunk)) - room
		chunk = chunk[:room]
	}
	c.kept[s] = append(c.kept[s], chunk...)
}
