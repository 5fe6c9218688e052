# make run     build everything and serve on 127.0.0.1:7860
# make test    build everything and pass all tests
# make help    the rest
SHELL   := /bin/bash
PYTHON  ?= python3
GO      ?= go
BUILD   := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.build=$(BUILD)
BINS    := bin/gateway bin/vendor-sync bin/plugins/python-exec bin/plugins/calc
SOURCES := $(shell find cmd executor internal plugins policies vendor-sync -type f -not -name '*_test.go' -not -path '*/testdata/*' -not -path '*/__pycache__/*' 2>/dev/null)
OPA     := $(GO) tool -modfile=$(CURDIR)/tools/opa.mod opa
DENIES  := --stdin-input --format pretty --data policies/main.rego $(patsubst %,--data %,$(wildcard policies/python_*.rego)) --data policies/allowlist.rego 'data.rules.python.deny[_].msg'
LINT    := $(GO) tool -modfile=tools/golangci-lint.mod golangci-lint

.PHONY: help build run demo test check lint race policy-test stock upstream openapi library reloads replay-speed soak soak-sessions verify siege overload space ways bench clean
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: $(BINS) .venv/.stamp ## bin/ and .venv; a second time it does nothing

bin/gateway: $(SOURCES) go.mod go.sum
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/gateway
bin/vendor-sync: $(SOURCES) go.mod go.sum
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./vendor-sync
bin/plugins/%: $(SOURCES) go.mod go.sum
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./plugins/$*

.venv/.stamp: plugins/python-exec/requirements.lock plugins/python-exec/venv.sh
	PYTHON='$(PYTHON)' plugins/python-exec/venv.sh .venv
	@touch $@

run: build ## serve on 127.0.0.1:7860 with a token minted into .token
	@scripts/run.sh

demo: build ## show a SymPy program, a figure and a refused program, requests and answers
	@.venv/bin/python scripts/with_gateway.py -- .venv/bin/python scripts/demo.py

test: build ## build everything and pass all tests
	$(GO) test -timeout 20m ./...

check: lint race stock upstream openapi ## linters, the race detector, everything

lint:
	$(GO) vet ./...
	$(LINT) run ./...

race: build
	$(GO) build -race ./...
	$(GO) test -race -short -p 1 -timeout 25m $(GOTEST_FLAGS) ./... # one room at a time: two cores, real processes, deadlines

policy-test:
	$(GO) test -count=1 ./policies/... ./internal/policy/... ./internal/archtest/...

# Stock OPA, of the version that the gateway links, over the folder as it is: format, strict compilation against each
# language's schema, tests, and the namespaces that conftest asks by default.
stock: build ## opa fmt, check and test over policies/
	$(OPA) fmt --fail --diff policies
	$(OPA) check --strict --ignore '*.json' --ignore testdata policies
	cd policies && $(OPA) check --strict --schema schemas/pyast-1.json main.rego allowlist.rego python_*.rego
	cd policies && $(OPA) check --strict --schema schemas/calcast-1.json main.rego calc.rego
	$(OPA) test --ignore '*.json' --ignore testdata policies
	bin/gateway policy dump testdata/stock/allowed.py | $(OPA) eval $(DENIES) --fail-defined >/dev/null
	bin/gateway policy dump testdata/stock/refused.py | $(OPA) eval $(DENIES) --fail

upstream: bin/vendor-sync ## the policy against its pin; fails when it is looser, or was edited without `vendor-sync review`
	bin/vendor-sync check --strict=hashes

REDOCLY := @redocly/cli@2.77.0
openapi: ## lint the OpenAPI document, where npm can run the linter
	@if npx --yes $(REDOCLY) --version >/dev/null 2>&1; then npx --yes $(REDOCLY) lint internal/front/rest/openapi.json 2>&1 | tail -n 3; exit $${PIPESTATUS[0]}; \
	else echo 'SKIPPED: openapi: npx cannot run $(REDOCLY) here'; fi

examples: build ## the example plugins against the whole contract; the one in Python installs grpcio into .build
	$(MAKE) -C examples/plugin-starlark verify
	$(MAKE) -C examples/plugin-javascript verify
	$(MAKE) -C examples/plugin-python-native verify

verify: build ## the plugins against the whole contract, nothing skipped
	bin/gateway plugin verify --strict bin/plugins/calc
	bin/gateway plugin verify --strict bin/plugins/python-exec

siege: build ## forks, floods, 10 GB and endless loops at once; fails when /healthz or other callers suffer
	@.venv/bin/python scripts/with_gateway.py --policy-dir testdata/policies-admit-all --audit-file off -- .venv/bin/python scripts/siege.py

space: ## DIR=…: write the folder of a Hugging Face Space, or of any host that runs one container as uid 1000
	@deploy/space/write.sh "$(DIR)"

overload: build ## greedy callers, floods of wrong tokens, 2,000 slow connections; fails when an honest client's p99 suffers
	OVERLOAD=1 $(GO) test -count=1 -v -timeout 15m -run 'TestOverload' ./cmd/gateway

ways: build ## gateway doctor in the conditions of four kinds of host; needs root
	@scripts/four_ways.sh

reloads: build ## 500 reloads of the shipped policy under callers who never stop asking
	@set -o pipefail; TEST_RELOADS=$(or $(COUNT),500) $(GO) test -count=1 -timeout 90m -run '^TestReloadsUnderLoad$$' -v ./cmd/gateway | grep -v '"level"'

replay-speed: build ## policy replay and diff over COUNT=10000 programs that all differ: the seconds, and right counts
	@set -o pipefail; TEST_REPLAY=$(or $(COUNT),10000) $(GO) test -count=1 -timeout 30m -run '^TestReplayOfManyPrograms$$' -v ./cmd/gateway | grep -v '^='

library: build ## docs/adding-a-library.md with SciPy, in a copy of the checkout; it asks your package index
	TEST_LIBRARY=1 $(GO) test -count=1 -timeout 60m -run '^TestAddingALibraryDocument$$' -v ./cmd/gateway

soak: build ## 2,000 requests in a row; fails when memory or descriptors grow
	@.venv/bin/python scripts/with_gateway.py -- .venv/bin/python scripts/soak.py

soak-sessions: build ## 100 sessions, 20 clients, MINUTES=3 of cells that end badly and processes that are killed
	@.venv/bin/python scripts/with_gateway.py --policy-dir testdata/policies-admit-all --audit-file off --set sessions.max=120 --set sessions.max_per_token=120 \
		--set sessions.memory_total=8GiB --set limits.queue=64 --set limits.queue_wait=60s --set limits.queue_target=60s -- .venv/bin/python scripts/soak_sessions.py

# The benchmarks whose allocations have a hard bound, and a fixed count of rounds, so that a run is short.
GUARDED := -run '^$$' -bench '^(BenchmarkDecide|BenchmarkDecideShipped|BenchmarkReadJSON|BenchmarkSubmission|BenchmarkSolve)$$' -benchmem -benchtime 100x ./internal/policy ./executor/wire ./plugins/calc
WITH    := .venv/bin/python scripts/with_gateway.py

.build/bench: $(shell find bench -name '*.go' -o -path '*/programs/*') go.mod go.sum
	@mkdir -p .build
	$(GO) build -o $@ ./bench

bench: build .build/bench ## Sluice beside the alternatives, one run: text, docs/performance.md
	@$(WITH) -- .build/bench compare --json .build/bench.json
	@.build/bench chart --page docs/performance.md

bench-go: build ## Go benchmarks of every stage, readable by benchstat
	$(GO) test -run '^$$' -bench . -benchmem -count $(or $(COUNT),5) ./internal/policy ./executor/wire ./internal/pluginhost ./plugins/...

bench-walls: build ## what the walls cost a submission: with and without, in turn
	$(GO) test -run '^$$' -bench WallsCost -benchtime $(or $(ROUNDS),300)x ./plugins/python-exec

bench-guard: build .build/bench ## a short form that fails on a regression of ratios or allocations
	@$(WITH) -- .build/bench guard
	@set -o pipefail; $(GO) test $(GUARDED) | tee .build/guarded.txt | grep -v '^ok' && .build/bench allocs < .build/guarded.txt

bench-mcp: build ## what the Model Context Protocol costs beside POST /v1/tools/call, in one run
	@$(WITH) -- $(GO) test -run '^$$' -bench ToolCall -benchtime 2000x ./internal/front/mcp/clients

bench-capacity: build .build/bench ## requests a second by clients, and beyond capacity, on one processor and on all
	@$(WITH) --cpus 0 -- .build/bench capacity
	@$(WITH) -- .build/bench capacity

bench-soak: build .build/bench ## MINUTES=10 at 80 % of capacity; fails when anything grows
	@$(WITH) -- .build/bench soak --minutes $(or $(MINUTES),10)

clean: ## remove what build made
	rm -rf bin .venv .build .token
