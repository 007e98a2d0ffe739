# Two commands for a fresh machine with Python 3.11 or newer: `make demo` and `make test`. Everything is set up in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
JOBS ?= 2

.PHONY: demo test format lint types contracts unit whole rates bench docs clean

demo: $(READY)
	$(BIN)/opfield run rag

test: $(READY) lint types contracts unit

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "opfield needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,docs,rag]'
	touch $@

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

contracts: $(READY)
	$(BIN)/lint-imports

unit: $(READY)
	$(BIN)/pytest -n $(JOBS) --doctest-modules opfield domains scripts tests

# The crash loops and simulations in full: many minutes.
whole: $(READY)
	OPFIELD_TEST_WHOLE=1 $(BIN)/pytest -n $(JOBS) tests

# Simulated error rates of the gates: about an hour.
rates: $(READY)
	$(BIN)/python -m benchmarks.error_rates

bench: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,rag,bench]'
	$(BIN)/python -m benchmarks.canonical
	$(BIN)/python -m benchmarks.pareto
	$(BIN)/python -m benchmarks.views
	$(BIN)/python -m benchmarks.gates
	$(BIN)/python -m benchmarks.statistics
	$(BIN)/python -m benchmarks.record
	$(BIN)/python -m benchmarks.resume
	$(BIN)/python -m benchmarks.ingest
	$(BIN)/python -m benchmarks.plans
	$(BIN)/python -m benchmarks.bindings
	$(BIN)/python -m benchmarks.dashboard
	$(BIN)/python -m benchmarks.report

# The documentation as pages to open, in dist/docs.
docs: $(READY)
	$(BIN)/properdocs build --strict --quiet --config-file docs/site/properdocs.yml

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
