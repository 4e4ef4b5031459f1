# Targets: build, demo, examples, test, check, bench. See README.md.
# sqlite_fts5: the search index. nomsgpack: leaves out a codec of gin's, a quarter of the program.
TAGS := sqlite_fts5,nomsgpack
GO   := go
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -X github.com/retake-debugger/retake.version=$(VERSION)

.PHONY: build demo test check bench fuzz clean

build:
	@mkdir -p bin
	$(GO) build -tags $(TAGS) -ldflags "$(LDFLAGS)" -o bin/ ./cmd/recorder ./cmd/inspect

demo: build
	@$(GO) build -o bin/demo ./examples/demo
	@bin/demo --bin bin

# examples runs the Go programs in examples/; those with a provider's SDK are modules
# of their own, so that the SDKs are no dependencies of the project.
.PHONY: examples
examples:
	$(GO) run -tags $(TAGS) ./examples/nethttp
	$(GO) run -tags $(TAGS) ./examples/gin
	cd examples/openai-go && $(GO) run -tags $(TAGS) .
	cd examples/anthropic-go && $(GO) run -tags $(TAGS) .

test:
	$(GO) test -tags $(TAGS) ./...
	cd pricing/catwalk && $(GO) test ./...

# check is what a change must pass: formatting, vet, the linter with the import
# rules, the build without tags, and the tests under the race detector.
check: lint
	$(GO) build ./...
	$(GO) test -race -tags $(TAGS) ./...

.PHONY: lint
MODULES := pricing/catwalk examples/openai-go examples/anthropic-go
LINT := $(shell $(GO) env GOPATH)/bin/golangci-lint
LINT_VERSION := v2.12.2
lint:
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "gofmt would change these files"; exit 1; }
	@for m in . $(MODULES); do $(GO) -C $$m mod tidy -diff >/dev/null || { echo "go mod tidy would change $$m/go.mod or go.sum"; exit 1; }; done
	@$(LINT) version 2>/dev/null | grep -q $(LINT_VERSION:v%=%) || $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	$(LINT) run ./...

# test-web opens the pages in a headless Chromium and writes pictures of them into
# bin/pages, light and dark.
.PHONY: test-web
test-web:
	@mkdir -p bin/pages
	RETAKE_SCREENSHOTS=$(CURDIR)/bin/pages $(GO) test -count=1 -tags $(TAGS) -run Browser -v ./web

# bench measures the recorder beside other proxies, then its parts one by one.
# BENCH takes flags, such as BENCH="-only A1,D32 -rounds 3".
bench: build
	@$(GO) build -tags $(TAGS) -o bin/bench ./bench
	bin/bench $(BENCH)
	$(GO) test -tags $(TAGS) -run '^$$' -bench . -benchmem -timeout 90m ./...

clean:
	rm -rf bin
