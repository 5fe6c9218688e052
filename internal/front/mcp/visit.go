package mcp

import (
	"context"
	"fmt"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// visit is who asks, and for how long somebody waits for the answer.
type visit struct {
	id, trace string
	caller    atomic.Pointer[gateway.Caller]
	gone      context.Context // ends when nobody waits any more
	calls     atomic.Int64
}

// newVisit begins a visit, which lasts as long as gone does.
func newVisit(gone context.Context, by gateway.Request) *visit {
	v := &visit{id: by.ID, trace: by.Traceparent, gone: gone}
	v.caller.Store(&by.Caller)
	return v
}

type visitKey struct{}

const visitName = "visit"

func (v *visit) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

func visitIn(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

// visitOf is the visit behind a message: that of its own HTTP request, else that
// of its connection.
func visitOf(ctx context.Context, extra *sdk.RequestExtra) *visit {
	if extra != nil && extra.TokenInfo != nil {
		if v, ok := extra.TokenInfo.Extra[visitName].(*visit); ok {
			return v
		}
	}
	return visitIn(ctx)
}

// next is the request for one more call of the visit: ids are the journal's.
func (v *visit) next() gateway.Request {
	by := gateway.Request{ID: v.id, Traceparent: v.trace, Caller: *v.caller.Load()}
	if n := v.calls.Add(1); n > 1 {
		by.ID = fmt.Sprintf("%.110s.%d", v.id, n)
	}
	return by
}

// until is ctx, which ends too when nobody waits any more.
func (v *visit) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(v.gone, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
