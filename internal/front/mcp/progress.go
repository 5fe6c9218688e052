package mcp

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// progress tells a client that asked for it what a cell does: one goroutine
// sends, so that a client that reads slowly does not hold the cell up.
type progress struct {
	ctx   context.Context
	req   *sdk.CallToolRequest
	every time.Duration
	begun time.Time
	wake  chan struct{}
	over  chan struct{}
	ended chan struct{}

	mu   sync.Mutex
	news string // what is to be said next; empty: nothing new
	sent int
}

// leastPause keeps a cell that prints much from flooding its client.
const leastPause = 50 * time.Millisecond

// longestNews bounds a message, in bytes.
const longestNews = 200

// follow begins to tell; nil when the client did not ask for it.
func (f *Front) follow(ctx context.Context, req *sdk.CallToolRequest) *progress {
	if req.Params.GetProgressToken() == nil {
		return nil
	}
	p := &progress{
		ctx: ctx, req: req, every: f.cfg.Times.Progress, begun: time.Now(),
		wake: make(chan struct{}, 1), over: make(chan struct{}), ended: make(chan struct{}),
	}
	go p.tell()
	return p
}

// tokenFault refuses a progress token that could not be given back as it was
// sent: the protocol has texts and whole numbers. null is none.
func tokenFault(req *sdk.CallToolRequest) error {
	switch token := req.Params.GetProgressToken().(type) {
	case nil, string:
		return nil
	case float64:
		if exact(token) {
			return nil
		}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params._meta.progressToken must be a text, or a whole number of at most 2^53 - 1"}
}

func (p *progress) follower() gateway.Follower {
	if p == nil {
		return gateway.Follower{}
	}
	return gateway.Follower{
		Decided: func(d gateway.Decision) {
			if d.Allow {
				p.say("allowed by the policy: it runs")
			}
		},
		Output: func(_ executor.Stream, chunk []byte) {
			if line := lastLine(chunk); line != "" {
				p.say(line)
			}
		},
	}
}

func (p *progress) say(news string) {
	p.mu.Lock()
	p.news = news
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// stop ends the telling: nothing is said after a result.
func (p *progress) stop() {
	if p == nil {
		return
	}
	close(p.over)
	<-p.ended
}

func (p *progress) tell() {
	defer close(p.ended)
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-p.over:
			p.send(false)
			return
		case <-tick.C:
			p.send(true)
		case <-p.wake:
			p.send(false)
			p.pause()
		}
	}
}

func (p *progress) pause() {
	timer := time.NewTimer(leastPause)
	defer timer.Stop()
	select {
	case <-p.over:
	case <-timer.C:
	}
}

// send says what is new, or that it still runs.
func (p *progress) send(anyway bool) {
	p.mu.Lock()
	news := p.news
	p.news = ""
	p.mu.Unlock()
	if news == "" && anyway {
		news = fmt.Sprintf("running for %.0f s", time.Since(p.begun).Seconds())
	}
	if news == "" {
		return
	}
	p.sent++
	// an error is a client who went away: the cell hears of that by itself
	_ = p.req.Session.NotifyProgress(p.ctx, &sdk.ProgressNotificationParams{
		ProgressToken: p.req.Params.GetProgressToken(), Progress: float64(p.sent), Message: news,
	})
}

// lastLine is the last line of a program's output that says something, bounded
// and without control characters.
func lastLine(chunk []byte) string {
	chunk = bytes.TrimSpace(chunk)
	if at := bytes.LastIndexByte(chunk, '\n'); at >= 0 {
		chunk = chunk[at+1:]
	}
	if len(chunk) > longestNews {
		chunk = chunk[:longestNews]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(chunk), ""))
}
