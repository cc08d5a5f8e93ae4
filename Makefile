# Everything a person or CI runs. Each target sets up what it needs: Python 3.11+, git and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NODE := tests/node/node_modules/.installed

.PHONY: demo test check bench e2e soak mutants clean help

help:  ## what there is
	@grep -hE '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(STAMP)  ## an agent that acts, pauses and resumes: no key, no service
	@$(BIN)/sayso demo $(ARGS)

check: $(STAMP)  ## what a change can break, quickly: format, lint, types, tests
	$(BIN)/ruff format --check src tests examples benchmarks
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test: $(STAMP) $(NODE)  ## everything CI runs
	@$(BIN)/python tests/browsing.py
	$(BIN)/ruff format --check src tests examples benchmarks
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal

bench: $(STAMP)  ## what each operation costs, beside the peers that are installed
	$(BIN)/python benchmarks/run.py $(ARGS)

e2e: $(STAMP)  ## `sayso chat` with a real small model: ARGS='--model SPEC'; says which without
	$(BIN)/python tests/e2e/run.py $(ARGS)

soak: $(STAMP)  ## processes killed at random moments, for long: nothing lost, nothing done twice
	PYTHONPATH=tests $(BIN)/python -m soak.killing
	PYTHONPATH=tests $(BIN)/python -m soak.fleet

mutants: $(STAMP)  ## plant bugs in the permission engine; each must be caught
	$(BIN)/python tests/permission/mutants.py

$(NODE): tests/node/package.json
	@command -v npm >/dev/null || { \
		echo "The tests of the pages and of AG-UI need node and npm (https://nodejs.org; on Debian: apt-get install npm)."; \
		exit 1; }
	@echo "Installing what the tests need from npm into tests/node ..."
	@cd tests/node && npm install --silent --no-audit --no-fund --no-package-lock
	@touch $@

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) tests/node/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Sayso needs Python 3.11 or later; $$($(PYTHON) --version) is the python3 here."; \
		echo "Install a newer one and run: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV) || { \
		echo "Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Installing what Sayso needs into $(VENV) (about a minute, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
