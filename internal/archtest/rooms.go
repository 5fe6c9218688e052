package archtest

import "slices"

// Room is a row of the import table. Test files may import, beside what the
// room may, TestOwn, TestThird and the test tools.
type Room struct {
	Dir     string
	For     string
	Own     []string // rooms of this module
	Third   []string // other modules
	TestOwn []string

	TestThird []string
}

// testTools may be imported by the tests of every room.
func testTools() []string {
	return []string{
		"github.com/rogpeppe/go-internal/testscript",
		"github.com/rogpeppe/go-internal/txtar",
		"go.uber.org/goleak",
	}
}

// Rooms is the table of ARCHITECTURE.md.
func Rooms() []Room {
	return slices.Concat(centre(), rooms(), edges())
}

func centre() []Room {
	return []Room{
		{Dir: "executor", For: "what a plugin author must know, and all of it"},
		{Dir: "executor/wire", For: "carries that contract over gRPC", Own: []string{"executor!"},
			Third: []string{"github.com/hashicorp/go-plugin", "google.golang.org/grpc", "google.golang.org/protobuf", "github.com/hashicorp/go-hclog"}},
		// grpc, protobuf: verify dials a plugin's process itself, to do what a host never would. jsonschema: trees and settings are held
		// against the schemas that a plugin describes.
		{Dir: "executor/executortest", For: "proves that a plugin keeps the contract", Own: []string{"executor!", "executor/wire"},
			Third: []string{"github.com/hashicorp/go-plugin", "google.golang.org/grpc", "google.golang.org/protobuf", "github.com/santhosh-tekuri/jsonschema/v6"}},
		{Dir: "internal/gateway", For: "decides whether a program may run, and has it run", Own: []string{"executor!"}},
		{Dir: "policies", For: "the rules and the line that embeds them", TestThird: []string{"github.com/open-policy-agent/opa"},
			TestOwn: []string{"executor!", "plugins"}},
	}
}

func rooms() []Room {
	return []Room{
		// yaml and levenshtein: the file of named tokens, strict as config.yaml. golang-lru: the addresses that sent wrong tokens, bounded.
		{Dir: "internal/auth", For: "request header → Caller", Own: []string{"internal/gateway"},
			Third: []string{"golang.org/x/time", "go.yaml.in/yaml/v4", "github.com/agnivade/levenshtein", "github.com/hashicorp/golang-lru/v2"}},
		{Dir: "internal/front/toolcall", For: "what a model's call asks for and what it is shown, the same on every front", Own: []string{"internal/gateway", "executor!"},
			Third: []string{"github.com/go-json-experiment/json"}},
		{Dir: "internal/front/rest", For: "speaks HTTP and JSON and calls Solve", Own: []string{"internal/gateway", "internal/front/toolcall", "executor!"},
			Third: []string{"github.com/go-json-experiment/json"}, TestOwn: []string{"internal/auth", "internal/audit"}},
		{Dir: "internal/front/admin", For: "speaks HTTP to operators", Own: []string{"internal/gateway"},
			Third: []string{"github.com/go-json-experiment/json"}, TestOwn: []string{"internal/auth"}},
		{Dir: "internal/library", For: "makes a Python library one that programs may import", Third: []string{"go.yaml.in/yaml/v4"}, TestOwn: []string{"internal/policy"}},
		{Dir: "internal/profiles", For: "reads profiles.yaml, for those who judge and those who compare", Third: []string{"go.yaml.in/yaml/v4"}},
		{Dir: "internal/regofile", For: "what a Rego file says of itself, for those who judge and those who compare", Third: []string{"github.com/open-policy-agent/opa"}},
		{Dir: "internal/front/admin/plugins", For: "shows plugins to operators and takes their orders", Own: []string{"executor!", "internal/pluginhost"}, TestOwn: []string{"internal/sandbox"}},
		{Dir: "internal/telemetry", For: "counts what the gateway does", Own: []string{"internal/gateway"},
			Third: []string{"github.com/prometheus/client_golang"}},
		{Dir: "internal/front/mcp", For: "speaks the Model Context Protocol and calls Solve", Own: []string{"internal/gateway", "internal/front/toolcall", "executor!"},
			Third: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/go-json-experiment/json"}, TestOwn: []string{"internal/auth", "internal/front/rest"},
			TestThird: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
		// its tests assemble a gateway around a plugin of their own; uritemplate: the SDK's own way to read a resource's name.
		{Dir: "internal/front/mcp/clients", For: "runs other people's clients against the gateway", Own: []string{"internal/front/mcp"},
			TestOwn:   []string{"executor!", "executor/wire", "internal/auth", "internal/front/rest", "internal/gateway", "internal/pluginhost", "internal/sandbox"},
			TestThird: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/yosida95/uritemplate/v3"}},
		{Dir: "internal/policy", For: "answers Decide with OPA", Own: []string{"internal/gateway", "internal/profiles", "internal/regofile", "executor!"},
			// levenshtein: the field that a misspelt one was meant to be
			Third:   []string{"github.com/open-policy-agent/opa", "go.yaml.in/yaml/v4", "github.com/fsnotify/fsnotify", "github.com/santhosh-tekuri/jsonschema/v6", "github.com/agnivade/levenshtein"},
			TestOwn: []string{"policies"}},
		{Dir: "internal/policy/workbench", For: "compares, tests and begins policies, for the commands of gateway policy",
			Own:   []string{"internal/policy!", "internal/gateway", "internal/audit", "executor!"},
			Third: []string{"github.com/open-policy-agent/opa"}, TestOwn: []string{"internal/policy/policytest"}},
		{Dir: "internal/policy/policytest", For: "makes real documents for tests of policies", Own: []string{"executor!"}},
		{Dir: "internal/pluginhost", For: "plugin processes, behind walls, found by tool name",
			Own: []string{"executor!", "executor/wire!", "internal/gateway", "internal/sandbox"},
			// jsonschema: a plugin's settings are held against the schema that it describes, before it sees them.
			Third: []string{"github.com/hashicorp/go-plugin", "github.com/hashicorp/go-hclog", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/sys", "google.golang.org/grpc"}},
		// x/net: go-seccomp-bpf's programs are made of the instructions of x/net/bpf. runtime-spec: the cgroups library takes limits in its words.
		{Dir: "internal/sandbox", For: "takes rights away from a command that has not started",
			Third: []string{"golang.org/x/sys", "golang.org/x/net", "github.com/landlock-lsm/go-landlock", "github.com/elastic/go-seccomp-bpf", "github.com/containerd/cgroups", "github.com/opencontainers/runtime-spec"}},
		// zap: certmagic has no other logger; what it is told goes to ours. certstest starts the CA of the tests.
		{Dir: "internal/certs", For: "keeps the public listener's certificates", Third: []string{"github.com/caddyserver/certmagic", "go.uber.org/zap"}},
		// go-systemd: sockets that are handed over, and what the service manager is told.
		{Dir: "internal/listener", For: "where connections come in", Third: []string{"github.com/coreos/go-systemd/v22", "golang.org/x/sys"}},
		{Dir: "internal/audit", For: "writes down what was decided", Own: []string{"internal/gateway"}, Third: []string{"gopkg.in/natefinch/lumberjack.v2"}, TestOwn: []string{"executor!"}},
		// go-units and levenshtein: sizes with units, and the nearest name to an unknown key.
		{Dir: "internal/config", For: "reads config.yaml",
			Third: []string{"go.yaml.in/yaml/v4", "github.com/docker/go-units", "github.com/dustin/go-humanize", "github.com/agnivade/levenshtein", "github.com/spf13/pflag"}},
		{Dir: "internal/upstream", For: "compares the policy with the sources that it follows", Own: []string{"internal/profiles", "internal/regofile", "policies"},
			Third: []string{"github.com/go-git/go-git/v5", "github.com/open-policy-agent/opa", "go.yaml.in/yaml/v4"},
			// jsonschema: the documents that it asks the policy about are held to the executor's schema
			TestThird: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
		{Dir: "internal/archtest", For: "keeps this table"},
	}
}

func edges() []Room {
	return []Room{
		// go-json-experiment: what children write is hostile, and encoding/json lets duplicate keys pass.
		{Dir: "plugins/python-exec", For: "runs Python", Own: []string{"executor!", "executor/wire!", "internal/sandbox"},
			// yaml: libraries.yaml, what programs may import. procfs: whether memory is short.
			Third: []string{"github.com/prometheus/procfs", "go.yaml.in/yaml/v4", "golang.org/x/sys", "github.com/hashicorp/go-hclog", "github.com/go-json-experiment/json"}, TestOwn: []string{"executor/executortest"}, TestThird: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
		// x/text: Python folds names to NFKC before it compares them.
		{Dir: "plugins/calc", For: "evaluates expressions", Own: []string{"executor!", "executor/wire!"}, Third: []string{"golang.org/x/text"}, TestOwn: []string{"executor/executortest"}},
		{Dir: "vendor-sync", For: "the command that holds the policy to its pin", Own: []string{"internal/upstream", "internal/config", "policies"},
			Third: []string{"github.com/spf13/pflag"}},
		{Dir: "cmd/gateway", For: "where the rooms meet",
			Own: []string{"executor", "internal/auth", "internal/audit", "internal/certs", "internal/config", "internal/front", "internal/gateway", "internal/library", "internal/listener", "internal/pluginhost", "internal/policy", "internal/sandbox", "internal/telemetry", "internal/upstream", "policies"},
			// progressbar: while thousands of recorded decisions are made anew
			Third: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys", "golang.org/x/term", "github.com/schollz/progressbar/v3"},
			// a plugin that is at fault on purpose, for the errors that no good one causes
			TestOwn: []string{"executor/wire"}},
		{Dir: "bench", For: "load tool and baselines", Third: []string{"github.com/HdrHistogram/hdrhistogram-go", "golang.org/x/sys"}},
	}
}
