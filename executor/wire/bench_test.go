package wire

import (
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

// BenchmarkSubmission is one whole submission to a plugin process with
// AutoMTLS: 1 KiB of text, a tree of 40 KiB and 4 KiB of output.
func BenchmarkSubmission(b *testing.B) {
	p := startProcess(b)
	src := source("bench 40960 4096\n")
	src.Code = append(src.Code, make([]byte, 1024-len(src.Code))...)
	b.ReportAllocs()
	for b.Loop() {
		s, err := p.Submit(b.Context(), src)
		if err != nil {
			b.Fatal(err)
		}
		res, err := s.Run(b.Context(), executor.Grant{}, func(executor.Stream, []byte) {})
		if err != nil || res.StdoutBytes != 4096 || len(s.Tree().JSON) != 40960 {
			b.Fatal(res, err)
		}
	}
}
