package wire

import (
	"slices"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

func descriptionToWire(d executor.Description, samples bool) *executorpb.DescribeResponse {
	r := &executorpb.DescribeResponse{
		Name: clean(d.Name), Version: clean(d.Version), Build: clean(d.Build),
		ContractMinor: ContractMinor, SdkVersion: sdkVersion,
		ConfigSchemaJson: d.ConfigSchema, Features: cleanAll(d.Features),
		Capacity: &executorpb.Capacity{
			MaxConcurrent: d.Capacity.MaxConcurrent, MaxSessions: d.Capacity.MaxSessions,
			MaxSourceBytes: d.Capacity.MaxSourceBytes, MaxTreeBytes: d.Capacity.MaxTreeBytes,
		},
	}
	for _, l := range d.Languages {
		r.Languages = append(r.Languages, languageToWire(l, samples))
	}
	for _, t := range d.Tools {
		r.Tools = append(r.Tools, &executorpb.Tool{
			Name: clean(t.Name), Aliases: cleanAll(t.Aliases), Language: clean(t.Language),
			Description: clean(t.Description), ParametersSchemaJson: t.Parameters,
			SourceArgument: clean(t.SourceArgument), Stateful: t.Stateful,
		})
	}
	for _, l := range d.Libraries {
		r.Libraries = append(r.Libraries, &executorpb.Library{
			Name: clean(l.Name), Version: clean(l.Version), Roots: cleanAll(l.Roots),
		})
	}
	return r
}

func languageToWire(l executor.Language, samples bool) *executorpb.Language {
	w := &executorpb.Language{
		Id: clean(l.ID), Version: clean(l.Version), TreeSchema: clean(l.TreeSchema),
		TreeSchemaJson: l.Schema, Grammar: clean(l.Grammar), MediaTypes: cleanAll(l.MediaTypes),
		Lacks: map[string]string{},
	}
	for kind, why := range l.Lacks {
		w.Lacks[clean(kind)] = clean(why)
	}
	if !samples {
		return w
	}
	for _, s := range l.Samples {
		w.Samples = append(w.Samples, &executorpb.Sample{
			Kind: clean(s.Kind), Code: s.Code, WantStdout: s.WantStdout,
			WantValue: clean(s.WantValue), WantInTree: cleanAll(s.WantInTree),
		})
	}
	return w
}

func descriptionFromWire(r *executorpb.DescribeResponse) (executor.Description, error) {
	var c check
	c.require(isName(r.GetName()), "name %q is not of the form [a-z][a-z0-9-]{1,31}", clip(r.GetName(), maxWord))
	c.word("version", r.GetVersion())
	c.word0("build", r.GetBuild())
	c.word0("sdk_version", r.GetSdkVersion())
	c.json("config_schema_json", r.GetConfigSchemaJson())
	c.texts("features", r.GetFeatures(), maxWord)
	d := executor.Description{
		Name: r.GetName(), Version: r.GetVersion(), Build: r.GetBuild(),
		ConfigSchema: r.GetConfigSchemaJson(), Features: r.GetFeatures(),
		Languages: languagesFromWire(&c, r.GetLanguages()),
		Libraries: librariesFromWire(&c, r.GetLibraries()),
		Capacity:  capacityFromWire(&c, r.GetCapacity()),
	}
	d.Tools = toolsFromWire(&c, r.GetTools(), d.Languages)
	if c.err != nil {
		return executor.Description{}, c.err
	}
	return d, nil
}

func capacityFromWire(c *check, p *executorpb.Capacity) executor.Capacity {
	c.require(p.GetMaxTreeBytes() <= MaxTreeBytes, "capacity.max_tree_bytes is %d, more than %d", p.GetMaxTreeBytes(), MaxTreeBytes)
	return executor.Capacity{
		MaxConcurrent: p.GetMaxConcurrent(), MaxSessions: p.GetMaxSessions(),
		MaxSourceBytes: p.GetMaxSourceBytes(), MaxTreeBytes: p.GetMaxTreeBytes(),
	}
}

func languagesFromWire(c *check, list []*executorpb.Language) []executor.Language {
	c.count("languages", len(list), maxFew)
	c.require(len(list) > 0, "no language")
	out := make([]executor.Language, 0, len(list))
	for _, l := range clampLen(list, maxFew) {
		c.word("language.id", l.GetId())
		c.word("language.version", l.GetVersion())
		c.word("language.tree_schema", l.GetTreeSchema())
		c.word0("language.grammar", l.GetGrammar())
		c.texts("language.media_types", l.GetMediaTypes(), maxWord)
		c.json("language.tree_schema_json", l.GetTreeSchemaJson())
		c.count("language.lacks", len(l.GetLacks()), maxFew)
		for kind, why := range l.GetLacks() {
			c.word("language.lacks", kind)
			c.text("language.lacks", why, maxText)
		}
		c.require(!slices.ContainsFunc(out, func(o executor.Language) bool { return o.ID == l.GetId() }),
			"language %q stands twice", clip(l.GetId(), maxWord))
		out = append(out, executor.Language{
			ID: l.GetId(), Version: l.GetVersion(), TreeSchema: l.GetTreeSchema(), Schema: l.GetTreeSchemaJson(),
			Grammar: l.GetGrammar(), MediaTypes: l.GetMediaTypes(), Samples: samplesFromWire(c, l.GetSamples()), Lacks: l.GetLacks(),
		})
	}
	return out
}

func samplesFromWire(c *check, list []*executorpb.Sample) []executor.Sample {
	c.count("language.samples", len(list), maxMany)
	var out []executor.Sample
	for _, s := range clampLen(list, maxMany) {
		c.word("sample.kind", s.GetKind())
		c.bytes("sample.code", s.GetCode(), maxSample)
		c.bytes("sample.want_stdout", s.GetWantStdout(), maxSample)
		c.text("sample.want_value", s.GetWantValue(), maxLongText)
		c.texts("sample.want_in_tree", s.GetWantInTree(), maxWord)
		out = append(out, executor.Sample{
			Kind: s.GetKind(), Code: s.GetCode(), WantStdout: s.GetWantStdout(),
			WantValue: s.GetWantValue(), WantInTree: s.GetWantInTree(),
		})
	}
	return out
}

func toolsFromWire(c *check, list []*executorpb.Tool, languages []executor.Language) []executor.Tool {
	c.count("tools", len(list), maxFew)
	var out []executor.Tool
	for _, t := range clampLen(list, maxFew) {
		c.word("tool.name", t.GetName())
		c.texts("tool.aliases", t.GetAliases(), maxWord)
		c.text("tool.description", t.GetDescription(), maxLongText)
		c.json("tool.parameters_schema_json", t.GetParametersSchemaJson())
		c.word0("tool.source_argument", t.GetSourceArgument())
		c.require(slices.ContainsFunc(languages, func(l executor.Language) bool { return l.ID == t.GetLanguage() }),
			"tool %q is of no language of the plugin", clip(t.GetName(), maxWord))
		out = append(out, executor.Tool{
			Name: t.GetName(), Aliases: t.GetAliases(), Language: t.GetLanguage(), Description: t.GetDescription(),
			Parameters: t.GetParametersSchemaJson(), SourceArgument: t.GetSourceArgument(), Stateful: t.GetStateful(),
		})
	}
	return out
}

func librariesFromWire(c *check, list []*executorpb.Library) []executor.Library {
	c.count("libraries", len(list), maxMany)
	var out []executor.Library
	for _, l := range clampLen(list, maxMany) {
		c.word("library.name", l.GetName())
		c.word0("library.version", l.GetVersion())
		c.count("library.roots", len(l.GetRoots()), maxMany)
		for _, root := range l.GetRoots() {
			c.word0("library.roots", root)
		}
		out = append(out, executor.Library{Name: l.GetName(), Version: l.GetVersion(), Roots: l.GetRoots()})
	}
	return out
}

func isName(s string) bool {
	if len(s) < 2 || len(s) > 32 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, b := range []byte(s) {
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' {
			return false
		}
	}
	return true
}
