package config

import (
	"fmt"
	"testing"
)

func TestChangesNameEveryKeyThatDiffers(t *testing.T) {
	before := mustLoad(t, "plugins: {calc: {}, old: {command: /x, trust: built}}\nlimits: {wall: 20s}\n", nil)
	after := mustLoad(t, "plugins: {calc: {instances: 2}, new: {command: /x, trust: built}}\nlimits: {wall: 21s}\nlog: {level: debug}\n", nil)
	changed := map[string]string{}
	for _, c := range before.Changes(after) {
		changed[c.Path] = c.String()
	}
	for path, want := range map[string]string{
		"limits.wall":            "limits.wall: 20s → 21s",
		"log.level":              "log.level: info → debug",
		"plugins.calc.instances": "plugins.calc.instances: 1 → 2",
		"plugins.old.command":    `plugins.old.command: /x → ""`,
		"plugins.new.command":    `plugins.new.command: "" → /x`,
	} {
		if changed[path] != want {
			t.Errorf("%s is told as %q, want %q", path, changed[path], want)
		}
	}
	if changed["limits.tool_wall"] != "" || changed["plugins.calc.trust"] != "" {
		t.Errorf("what is the same is told: %v", changed)
	}
	if same := before.Changes(before); len(same) > 0 {
		t.Errorf("a configuration differs from itself: %v", fmt.Sprint(same))
	}
}
