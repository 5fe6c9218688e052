package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// desk is one caller's server: it offers what that caller may use.
type desk struct {
	server *sdk.Server

	mu      sync.Mutex
	offered map[string]string // what each tool was offered as
}

// listTTL is for how long a client may believe a list, in milliseconds: plugins
// come up, and restart.
const listTTL = 10_000

const instructions = "The tools here run programs and expressions. Each is judged by a policy before it runs: a refusal names the rule, the place and what " +
	"to write instead, so write it so and call again. Cells of a session build on each other; without session_id your own default session is used."

// deskOf is the server of a caller, offering what may be used now.
func (f *Front) deskOf(caller gateway.Caller) *desk {
	f.mu.Lock()
	d := f.desks[caller.Name]
	if d == nil {
		d = f.newDesk()
		f.desks[caller.Name] = d
	}
	f.mu.Unlock()
	d.offer(f.toolsFor(caller))
	return d
}

func (f *Front) newDesk() *desk {
	options := &sdk.ServerOptions{
		Instructions: instructions, // no Logger: the library's lines name sessions and quote what was sent
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
			c.TTLMs, c.CacheScope = listTTL, "private" // a list is that of the token's scopes
		},
	}
	if f.cfg.Extend.Options != nil {
		f.cfg.Extend.Options(options)
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "sluice", Title: "Sluice", Version: f.cfg.Version}, options)
	if f.cfg.Extend.Server != nil {
		f.cfg.Extend.Server(server)
	}
	return &desk{server: server, offered: map[string]string{}}
}

// sessions counts the sessions of the protocol that stand.
func (d *desk) sessions() (n int) {
	for s := range d.server.Sessions() {
		if s.ID() != "" {
			n++
		}
	}
	return n
}

// offering is a tool, and who serves it.
type offering struct {
	tool  *sdk.Tool
	serve sdk.ToolHandler
}

// offer brings the server's list up to date; clients are told when it changed.
func (d *desk) offer(list []offering) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := map[string]bool{}
	for _, o := range list {
		now[o.tool.Name] = true
		if as := fmt.Sprint(o.tool.Description, "\x00", o.tool.InputSchema); d.offered[o.tool.Name] != as {
			d.offered[o.tool.Name] = as
			add(d.server, o)
		}
	}
	for name := range d.offered {
		if !now[name] {
			delete(d.offered, name)
			d.server.RemoveTools(name)
		}
	}
}

// add offers a tool. A schema that the protocol does not allow, which a plugin
// may describe, is replaced by one that takes every object.
func add(server *sdk.Server, o offering) {
	defer func() {
		if recover() != nil {
			plain := *o.tool
			plain.InputSchema = jsontext.Value(`{"type":"object"}`)
			server.AddTool(&plain, o.serve)
		}
	}()
	server.AddTool(o.tool, o.serve)
}

// toolsFor lists what a caller may use.
func (f *Front) toolsFor(caller gateway.Caller) []offering {
	if !caller.May(Scope) {
		return nil
	}
	var list []offering
	stateful := false
	for _, t := range toolcall.Tools(f.cfg.Gateway) {
		if !usable(t.Name) {
			continue
		}
		stateful = stateful || t.Stateful
		list = append(list, offering{tool: toolOf(t), serve: f.call})
	}
	if stateful {
		list = append(list, f.sessionTools()...)
	}
	return list
}

// usable says whether a name is one of the protocol's.
func usable(name string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"
	return name != "" && len(name) <= 64 && strings.Trim(name, allowed) == ""
}

func toolOf(t toolcall.Tool) *sdk.Tool {
	no := false
	tool := &sdk.Tool{
		Name: t.Name, Description: t.Description, InputSchema: t.Parameters, OutputSchema: jsontext.Value(answerSchema),
		// what a program does stays in its session
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no, ReadOnlyHint: !t.Stateful, IdempotentHint: !t.Stateful},
	}
	if t.Stateful {
		tool.InputSchema = withSession(t.Parameters)
	}
	return tool
}
