package config

import "time"

// Config is every setting of the gateway. The tag `key` is a setting's name in
// the file, `help` its meaning; `is:"path"` marks a file or folder, which is
// taken from the folder of whoever named it.
type Config struct {
	Listen  string             `key:"listen" help:"address of the public listener"`
	Drain   time.Duration      `key:"drain" help:"how long a stop waits for running requests before it cuts them"`
	State   string             `key:"state_dir" is:"path" help:"private folder for the plugins' sockets and files, at most 50 bytes; empty = sluice-UID in the folder for temporary files"`
	Admin   Admin              `key:"admin"`
	Log     Log                `key:"log"`
	Auth    Auth               `key:"auth"`
	Limits  Limits             `key:"limits"`
	Session Sessions           `key:"sessions"`
	Policy  Policy             `key:"policy"`
	Plugins map[string]*Plugin `key:"plugins"`
	Sandbox Sandbox            `key:"sandbox"`
	Audit   Audit              `key:"audit"`
	TLS     TLS                `key:"tls"`
}

// Admin is the second listener, for operators.
type Admin struct {
	Listen string `key:"listen" help:"address of the admin listener; on any but a loopback address it wants a token with the scope admin; empty = off"`
}

// Log is how the gateway tells what it does, on standard error.
type Log struct {
	Level  string `key:"level" help:"debug, info, warn or error"`
	Format string `key:"format" help:"auto (text on a terminal, JSON else), text or json"`
}

// Auth names the files that hold tokens; a token itself stands in no key.
type Auth struct {
	TokenFile string `key:"token_file" is:"path" help:"file with the default token, mode 0600; else SOLVER_TOKEN or SOLVER_TOKEN_FILE"`
	Tokens    string `key:"tokens" is:"path" help:"file of named tokens, mode 0600; 'gateway token new' writes it; a change is in force within seconds"`

	TrustedProxies  []string `key:"trusted_proxies" help:"addresses and networks whose Forwarded or X-Forwarded-For is believed"`
	FailedPerMinute int      `key:"failed_per_minute" help:"wrong tokens that one address may send a minute; then it is answered 429; 0 = not limited"`
}

// Limits bound every submission.
type Limits struct {
	BodyBytes     Size          `key:"body_bytes" help:"largest request body"`
	CodeBytes     Size          `key:"code_bytes" help:"largest program"`
	TreeBytes     Size          `key:"tree_bytes" help:"largest syntax tree, as JSON, that the policy is shown"`
	Concurrency   int           `key:"concurrency" help:"programs at once; 0 = number of CPUs; lowered, loudly, when memory does not suffice"`
	Queue         int           `key:"queue" help:"requests that may wait for a slot; one more is 503"`
	QueueWait     time.Duration `key:"queue_wait" help:"how long a request waits for a slot; then 503"`
	QueueTarget   time.Duration `key:"queue_target" help:"while a queue stands for longer than a burst, who would wait longer than this and than three mean runs is 503 at once; 0 = queue_wait alone"`
	Wall          time.Duration `key:"wall" help:"wall-clock limit of /solve and /v1/run"`
	ToolWall      time.Duration `key:"tool_wall" help:"wall-clock limit of one cell of a tool"`
	WallCeiling   time.Duration `key:"wall_ceiling" help:"longest wall-clock limit a request may ask for; wall and tool_wall are lowered to it"`
	CPU           time.Duration `key:"cpu" help:"processor-time limit; 0 = as the wall-clock limit in force"`
	Memory        Size          `key:"memory" help:"memory of one program"`
	StdoutBytes   Size          `key:"stdout_bytes" help:"standard output kept; the rest is counted as omitted"`
	StderrBytes   Size          `key:"stderr_bytes" help:"standard error kept; the rest is counted as omitted"`
	OutputCeiling Size          `key:"output_ceiling_bytes" help:"both streams together; a program that writes past it is stopped"`
	PlotlyBytes   Size          `key:"plotly_bytes" help:"largest figure; a larger one is left out and told"`
	ScratchBytes  Size          `key:"scratch_bytes" help:"private temporary files of one program"`
	Threads       int           `key:"threads" help:"threads of one program"`
	ParseWall     time.Duration `key:"parse_wall" help:"wall-clock limit of parsing"`
	Connections   int           `key:"connections" help:"connections at once on the public listener; for one more, the one that has been without a request for longest is closed"`
	HeaderBytes   Size          `key:"header_bytes" help:"largest head of a request; a larger one is 431"`
	HeaderTime    time.Duration `key:"header_time" help:"how long a head may take, TLS included; then the connection is closed"`
	BodyTime      time.Duration `key:"body_time" help:"how long a body may take; then 400"`
	IdleTime      time.Duration `key:"idle_time" help:"how long a connection may wait for its next request"`
}

// Sessions bound the state that is kept between tool calls.
type Sessions struct {
	Max         int           `key:"max" help:"sessions at once; an open beyond it is refused"`
	MaxPerToken int           `key:"max_per_token" help:"sessions of one token; an open beyond it is refused"`
	Idle        time.Duration `key:"idle" help:"an idle session ends after; also the longest that a caller may ask for"`
	MemoryTotal Size          `key:"memory_total" help:"memory of all sessions together; past it none is opened"`
}

// Policy says which rules judge.
type Policy struct {
	Dir      string        `key:"dir" is:"path" help:"folder of the policy; empty = the one inside the binary"`
	Profiles Profiles      `key:"profiles"`
	Deadline time.Duration `key:"deadline" help:"time for one decision; then nothing runs (503)"`
	Reload   bool          `key:"reload" help:"put a changed policy folder in force while serving"`
}

// Profiles is the profile of each route; a token's own wins.
type Profiles struct {
	Solve string `key:"solve" help:"profile of POST /solve"`
	Run   string `key:"run" help:"profile of POST /v1/run and /v1/check"`
	Tools string `key:"tools" help:"profile of POST /v1/tools/call"`
	CLI   string `key:"cli" help:"profile of the commands run and check"`
}

// Plugin is one executor plugin.
type Plugin struct {
	Command      string         `key:"command" is:"path" help:"the plugin's program; a path, not looked up in PATH"`
	Args         []string       `key:"args" help:"its arguments"`
	Enabled      bool           `key:"enabled" help:"false: it is not started until gateway plugin enable"`
	SHA256       string         `key:"sha256" help:"hex digest that the program must have; needed by trust: pinned"`
	Files        []string       `key:"files" help:"what else must have its digest, a script and what it imports: lines of sha256sum; an argument that names one is given a checked copy"`
	Trust        string         `key:"trust" help:"pinned (sha256 must match) or built (made by this tree's make build)"`
	Description  string         `key:"description_sha256" help:"hex digest that its description must have, as gateway plugin info shows it; empty = any"`
	Env          []string       `key:"env" help:"names of the gateway's environment variables that it may see"`
	Limits       PluginLimits   `key:"limits"`
	Tools        []string       `key:"tools" help:"tools to offer; empty = all that it describes"`
	Instances    int            `key:"instances" help:"processes"`
	StartTimeout time.Duration  `key:"start_timeout" help:"time from start to healthy"`
	DrainTimeout time.Duration  `key:"drain_timeout" help:"time for its running programs when it is stopped"`
	Config       map[string]any `key:"config" help:"settings handed to the plugin as they are; a text that begins with a dot and holds a slash is a path"`
}

// PluginLimits bound a plugin's own process, not the programs that it runs.
type PluginLimits struct {
	OpenFiles int `key:"open_files" help:"descriptors of the plugin's process"`
}

// Sandbox says which walls must stand.
type Sandbox struct {
	Require []string `key:"require" help:"properties without which a plugin does not start"`
}

// Audit is the decision log.
type Audit struct {
	File         string        `key:"file" is:"path" help:"file of the decision log; empty = standard output, off = none"`
	RecordSource bool          `key:"record_source" help:"write each program's text, and messages that quote it, into the decision log too"`
	RotateSize   Size          `key:"rotate_size" help:"size at which the file is put aside and a new one begun; in whole MiB"`
	RotateEvery  time.Duration `key:"rotate_every" help:"age of its first line at which the file is put aside; 0 = none"`
	KeepFiles    int           `key:"keep_files" help:"files put aside that are kept"`
	KeepFor      time.Duration `key:"keep_for" help:"age at which files put aside are removed, in whole days; 0 = none"`
}

// AuditOff is the value of audit.file that switches the journal off.
const AuditOff = "off"

// Defaults is the configuration without a file, an environment or a flag. Its
// relative paths are taken from the file's folder, or from the working
// directory when there is no file.
func Defaults() Config {
	python, calc := defaultPlugin(), defaultPlugin()
	python.Command, python.Trust = "bin/plugins/python-exec", TrustBuilt
	python.Tools = []string{"python", "stateful_python_code_exec"}
	python.Config = map[string]any{"python": ".venv/bin/python", "waiting_children": 4}
	calc.Command, calc.Trust = "bin/plugins/calc", TrustBuilt
	calc.Tools = []string{"calc", "calculator"}
	return Config{
		Listen: "127.0.0.1:7860",
		Drain:  30 * time.Second,
		Admin:  Admin{Listen: "127.0.0.1:7861"},
		Log:    Log{Level: "info", Format: "auto"},
		Auth:   Auth{FailedPerMinute: 60},
		Limits: Limits{
			BodyBytes: 256 * KiB, CodeBytes: 64 * KiB, TreeBytes: 4 * MiB,
			Queue: 64, QueueWait: 10 * time.Second, QueueTarget: 50 * time.Millisecond,
			Wall: 30 * time.Second, ToolWall: 120 * time.Second, WallCeiling: 120 * time.Second,
			Memory: GiB, StdoutBytes: 256 * KiB, StderrBytes: 64 * KiB, OutputCeiling: 16 * MiB,
			PlotlyBytes: 512 * KiB, ScratchBytes: 16 * MiB, Threads: 16, ParseWall: 5 * time.Second,
			Connections: 4096, HeaderBytes: 16 * KiB, HeaderTime: 10 * time.Second, BodyTime: 20 * time.Second, IdleTime: 2 * time.Minute,
		},
		Session: Sessions{Max: 64, MaxPerToken: 16, Idle: 30 * time.Minute, MemoryTotal: 2 * GiB},
		Policy: Policy{
			Dir:      "policies",
			Profiles: Profiles{Solve: "solve", Run: "solve", Tools: "tool", CLI: "solve"},
			Deadline: time.Second, Reload: true,
		},
		Plugins: map[string]*Plugin{"python": python, "calc": calc},
		Sandbox: Sandbox{Require: Properties()},
		Audit:   Audit{RotateSize: 100 * MiB, KeepFiles: 10},
		TLS:     defaultTLS(),
	}
}

// TrustPinned and TrustBuilt are the values of a plugin's trust.
const (
	TrustPinned = "pinned"
	TrustBuilt  = "built"
)

// defaultPlugin is what a plugin is made of before anything is said of it.
func defaultPlugin() *Plugin {
	return &Plugin{
		Enabled: true, Trust: TrustPinned, Limits: PluginLimits{OpenFiles: 4096}, Instances: 1,
		StartTimeout: time.Minute, DrainTimeout: 10 * time.Second, Config: map[string]any{},
	}
}
