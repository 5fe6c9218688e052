package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/internal/pluginhost"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// probesOf are the probes of each wall; it is in force when none got through.
func probesOf(wall string) []string {
	return map[string][]string{
		"clean-start": {"clean-start"},
		"rlimits":     {"rlimits", "memory"},
		"landlock":    {"landlock", "files"},
		"seccomp":     {"seccomp-socket", "seccomp-fork", "seccomp-exec", "seccomp-signal"},
		"namespaces":  {"namespaces"},
		"root":        {"root", "files"},
		"cgroup":      {"cgroup"},
	}[wall]
}

// meansOf are the walls that can give a property; each is enough.
func meansOf(property string) []string {
	switch property {
	case "syscalls":
		return []string{"seccomp"}
	case "files":
		return []string{"landlock", "root"}
	case "network":
		return []string{"seccomp", "namespaces"}
	}
	return []string{property}
}

// remedyOf says what an operator can change.
func remedyOf(wall string) string {
	return map[string]string{
		"clean-start": "this wall needs nothing of the host: report it, with this diagnosis",
		"rlimits":     "this wall needs nothing of the host: report it, with this diagnosis",
		"landlock":    "use a kernel of 5.13 or later with Landlock among its security modules (lsm=landlock,…), and let the container's profile pass landlock_create_ruleset",
		"seccomp":     "use a kernel with CONFIG_SECCOMP_FILTER on amd64 or arm64, and let the container's profile pass seccomp(2)",
		"namespaces":  "start it as root with CAP_SYS_ADMIN, or allow unprivileged user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces, AppArmor's restriction of them)",
		"root":        "it needs a mount namespace: see namespaces",
		"cgroup":      "give it a writable control group: a delegated one (systemd: Delegate=yes), or as root a writable /sys/fs/cgroup with memory and pids",
	}[wall]
}

// judge says of each wall whether it stands, and of the whole whether it is ready.
func (d *diagnosis) judge(require []string, results map[string]tried, plugins []pluginhost.PluginStatus) {
	reasons := reasonsOf(plugins)
	claimed := results["python"].walls
	stands := map[string]bool{}
	for _, name := range sandbox.WallNames() {
		w := judgeWall(name, slices.Contains(claimed, name), results, reasons[name])
		stands[name] = w.InForce
		d.Walls = append(d.Walls, w)
	}
	for i := range d.Walls {
		d.Walls[i].Required = needed(d.Walls[i].Name, require, stands)
	}
	for _, property := range require {
		if !slices.ContainsFunc(meansOf(property), func(name string) bool { return stands[name] }) {
			d.missing(fmt.Sprintf("property %s of sandbox.require: none of its walls stands (%s)", property, strings.Join(meansOf(property), ", ")))
		}
	}
	d.Ready = len(d.Missing) == 0
}

func judgeWall(name string, claimed bool, results map[string]tried, reason string) wallState {
	w := wallState{Name: name, Why: reason}
	shut := results != nil
	var told []string
	for _, probe := range probesOf(name) {
		t := results[probe]
		shut = shut && t.shut
		if t.told != "" {
			told = append(told, t.told)
		}
	}
	w.Probe = strings.Join(told, "; ")
	w.InForce = claimed && shut
	switch {
	case w.InForce:
		return w
	case results == nil:
		w.Why = "not tried: no plugin for Python is up"
	case claimed:
		w.Why = "the plugin says that it stands, and a program got through"
	case w.Why == "":
		w.Why = "the plugin does not put it up"
	}
	w.Remedy = remedyOf(name)
	return w
}

// needed tells whether a required property hangs on a wall: it gives the
// property, and no other wall that stands does.
func needed(wall string, require []string, stands map[string]bool) bool {
	return slices.ContainsFunc(require, func(property string) bool {
		means := meansOf(property)
		return slices.Contains(means, wall) && !slices.ContainsFunc(means, func(other string) bool { return other != wall && stands[other] })
	})
}

// reasonsOf finds, in what plugins warn of, why walls do not stand. Those that
// wall programs in by themselves warn with "wall NAME …: REASON".
func reasonsOf(plugins []pluginhost.PluginStatus) map[string]string {
	reasons := map[string]string{}
	for _, p := range plugins {
		for _, warning := range p.Warnings {
			head, reason, found := strings.Cut(warning, ": ")
			words := strings.Fields(head)
			if found && len(words) > 1 && words[0] == "wall" {
				reasons[words[1]] = reason
			}
		}
	}
	return reasons
}
