package main

// faults are the rules that can be broken, with the check that is meant to see
// it.
func faults() map[string]string {
	return map[string]string{
		"none": "-",

		"hand-zero": "H01", "hand-prints": "H01", "hand-stays": "H01", "hand-silent": "H01",
		"no-line": "H02", "no-certificate": "H02", "says-failed": "H02", "slow-describe": "H02", "refuses-settings": "H02",
		"socket-elsewhere": "H03", "two-sockets": "H03", "more-on-stdout": "H03",
		"open-door": "H04", "not-serving": "H05",
		"shutdown-deaf": "H06", "socket-stays": "H06", "no-guard": "H07", "orphan": "H08", "needs-home": "H09",
		"worker-holds-pipes": "H10", "stdout-kept": "H11", "any-version": "H12",

		"moody": "D01", "odd-version": "D02", "no-capacity": "D02", "tool-of-nothing": "D02", "lacks-everything": "D02",
		"broken-schema": "D03", "open-tree": "D03", "open-settings": "D03",

		"mute": "S01", "other-value": "S01", "syntax-no-line": "S02", "syntax-is-fault": "S02",
		"random-tree": "S03", "tree-digest": "S03", "source-digest": "S03", "other-schema": "S03", "tree-off-schema": "S03", "tree-of-another": "S03",
		"canary": "S04", "early-output": "S05", "early-result": "S05", "denied-runs": "S06", "denied-is-ok": "S06", "any-verdict": "S07",
		"host-path": "S08", "raise-is-fault": "S08", "deaf-to-wall": "S09", "uncut": "S10", "uncounted": "S10", "deaf-to-cancel": "S11",
		"slot-of-run": "S12", "slot-of-wait": "S13", "any-order": "S14", "odd-text-kills": "S15", "odd-text-internal": "S15", "deep-text-kills": "S15",
		"any-size": "S16", "hangs-when-full": "S17", "miscounts": "S18",
		"runs-at-parse": "S19", "keeps-state": "S20", "no-memory-limit": "S21", "leaves-process": "S22", "one-part": "S23",
		"hoards-output": "S24", "leaks": "S25", "waits-for-ever": "S26",

		"dies-of-sigterm": "O01", "takes-work": "O02", "drain-kills": "O02", "counter-falls": "O03",
		"plain-log": "O04", "logs-source": "O04", "any-level": "O04", "busy": "O05", "litters": "O06",
	}
}
