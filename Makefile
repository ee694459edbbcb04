# Cannery: builds, shows, and tests the whole project.
#
# Needs gcc (or another C and C++ compiler), Python 3 and cargo. Everything that
# is made lies in target/ and .venv/; nothing is installed in the system.

CARGO  ?= cargo
PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)
PREFIX := $(TARGET)/prefix
TOOLS  := $(TARGET)/tools
VENV   := .venv
MDBOOK := 0.4.52

export CARGO

.DEFAULT_GOAL := help
.PHONY: help build demo test clients conformance bench audit docs newcomer generate fmt lint venv clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 14

build: ## the libraries, the tool and the prefix (target/prefix)
	$(CARGO) build --release --locked
	$(PYTHON) tools/make_prefix.py

demo: build ## the mission in C, C++ and Python on an emulated NPU
	@$(PYTHON) tools/run_programs.py --demo

test: build venv ## every test of every language; ends with `N passed, N failed`
	@$(VENV)/bin/python tools/run_tests.py

conformance: build ## the contract, a table per chapter
	@CANNERY_PREFIX=$(abspath $(PREFIX)) $(CARGO) run --release --locked --quiet --package cannery-conformance

bench: build ## speed against references, both sides in one run
	@CANNERY_PREFIX=$(abspath $(PREFIX)) $(CARGO) run --release --locked --quiet --package cannery-bench

clients: build ## released programs in throw-away environments (network, 5 GB); not part of test
	@CANNERY_PREFIX=$(abspath $(PREFIX)) $(PYTHON) tests/clients/run.py $(CLIENTS)

lint: venv ## format, clippy, rustdoc, ruff
	@$(VENV)/bin/python tools/run_tests.py format clippy rustdoc ruff ruff-format

fmt: venv ## format the sources in place
	$(CARGO) fmt --all
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

audit: $(TOOLS)/bin/cargo-deny ## licences, advisories and sources of the dependencies
	$(TOOLS)/bin/cargo-deny check bans licenses sources
	$(TOOLS)/bin/cargo-deny check advisories

$(TOOLS)/bin/cargo-deny:
	$(CARGO) install --locked --root $(TOOLS) cargo-deny

docs: build venv $(TOOLS)/bin/mdbook ## the book (target/book): its code is run, its links and pages are looked at
	@$(VENV)/bin/python tests/readme/check_readme.py
	@MDBOOK=$(abspath $(TOOLS))/bin/mdbook $(VENV)/bin/python tests/book/check_book.py

$(TOOLS)/bin/mdbook:
	nice $(CARGO) install --locked --root $(TOOLS) --version $(MDBOOK) --no-default-features --features search mdbook

newcomer: ## a fresh clone in a bare environment follows the README to the letter
	@$(PYTHON) tests/newcomer/newcomer.py

generate: ## everything that is generated, again
	$(PYTHON) tools/check_generated.py --write

venv: $(VENV)/.ready ## a Python environment of the project's own (.venv)

$(VENV)/.ready: tests/python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

clean: ## remove everything that was made
	rm -rf $(TARGET) $(VENV)
