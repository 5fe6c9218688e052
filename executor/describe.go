package executor

import "time"

// Description is what a plugin says of itself.
type Description struct {
	Name         string // [a-z][a-z0-9-]{1,31}
	Version      string // semantic version of the plugin
	Build        string // commit or build id, free text
	Languages    []Language
	Tools        []Tool
	ConfigSchema []byte // JSON Schema 2020-12; empty: takes no configuration
	Libraries    []Library
	Capacity     Capacity
	Features     []string // "sessions", "display", "cancel.soft", FeatureParseWait …
}

// FeatureParseWait is the feature of an executor whose Parse may wait, for a
// worker say, before it begins. Waiting is not the program's time: such an
// executor holds Source.ParseLimits.Wall itself from when it begins, and gives
// ErrOverloaded when it has waited for ParseWait in vain.
const FeatureParseWait = "parse.wait"

// ParseWait is how long an executor with FeatureParseWait may wait.
const ParseWait = 10 * time.Second

// Language is one language that a plugin parses and runs.
type Language struct {
	ID         string   // "python"
	Version    string   // "3.13.1"
	TreeSchema string   // "pyast/1": the policy keys on this
	Schema     []byte   // JSON Schema 2020-12 of the tree document
	Grammar    string   // "3.13": the version of the language's grammar
	MediaTypes []string // "text/x-python"
	Samples    []Sample
	Lacks      map[string]string // kinds of samples that no program of the language can be, and why
}

// Tool is a name under which callers reach a language.
type Tool struct {
	Name           string // "calculator"
	Aliases        []string
	Language       string // Language.ID
	Description    string // for a model; "{wall}" stands for the limit in force, in seconds
	Parameters     []byte // JSON Schema of the arguments
	SourceArgument string // which argument carries the code; empty: the arguments, as a JSON object, are the code
	Stateful       bool   // needs a session
}

// Library is something that submitted code can import or call.
type Library struct {
	Name    string
	Version string
	Roots   []string // import roots that it provides
}

// Capacity bounds what the host sends.
type Capacity struct {
	MaxConcurrent  uint32 // the host never sends more at once
	MaxSessions    uint32
	MaxSourceBytes uint64
	MaxTreeBytes   uint64
}

// Sample is a program that the conformance suite runs.
type Sample struct {
	// Kind is one of
	//
	//	ok             runs, and does what the other fields promise
	//	syntax_error   does not parse
	//	runtime_error  raises
	//	forever        runs until a limit ends it
	//	flood          writes without end, or far more than 1,000 bytes
	//	alloc          takes more than 64 MiB of memory
	//	effect, probe  the first changes what the second, run later, would see;
	//	               the second's promises hold if it sees nothing of it
	//	canary         has the identifiers of WantInTree
	//	spawn          tries to leave a process behind
	//	large          parses to a tree of more than 256 KiB
	//
	// and, where sessions are kept, keep (binds something) and recall (prints
	// WantStdout only in a session where keep has run).
	Kind       string
	Code       []byte
	WantStdout []byte
	WantValue  string
	WantInTree []string // identifiers that the tree must show
}
