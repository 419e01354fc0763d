# Two commands suffice: `make build` and `make test`. Needs python3 >= 3.11.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The versions of requirements.lock; its hashes are left out, which no editable install can have.
PIP := $(BIN)/python -m pip install -qq --constraint $(VENV)/constraints.txt

.PHONY: build test test-cluster test-spark soak lint dev report picture bundle bench lock \
	audit-dependencies clean

build: $(VENV)/.installed
	$(BIN)/roundtable build

test: $(VENV)/.test
	$(BIN)/pytest

# The SQL models on Spark against the same on DuckDB; needs Java 17.
test-spark: $(VENV)/.spark
	$(BIN)/pytest --numprocesses=0 tests/spark

# What runs on several machines, with PostgreSQL and an object store on this one.
test-cluster: $(VENV)/.cluster
	$(BIN)/pytest --numprocesses=0 tests/cluster

# Tries every fault against the warehouse and writes docs/faults.md and .json. It takes some
# 20 minutes, and root for the disks that are full. DATA=folder names real tables and archives.
soak: $(VENV)/.test
	DATA="$(DATA)" $(BIN)/python -m soak

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint sql

dev: $(VENV)/.ui
	DAGSTER_HOME=$(CURDIR) $(BIN)/dagster dev

report: $(VENV)/.report
	$(BIN)/roundtable report

# Remakes the README's charts from the figures that come with the package.
picture: $(VENV)/.report
	ROUNDTABLE_HOME=$(CURDIR)/warehouse/picture $(BIN)/roundtable build --source bundled
	ROUNDTABLE_HOME=$(CURDIR)/warehouse/picture $(BIN)/roundtable report --picture docs
	rm -rf warehouse/picture

# Remakes the figures that come with the package, from a folder of published tables and archives.
bundle: $(VENV)/.installed
	test -d "$(DATA)" || { echo "Say where the tables are: make bundle DATA=folder"; exit 2; }
	ROUNDTABLE_HOME=$(CURDIR)/warehouse/bundling $(BIN)/roundtable build --source "$(DATA)" --submissions --full
	ROUNDTABLE_HOME=$(CURDIR)/warehouse/bundling $(BIN)/python -m pipeline.export.bundle
	rm -rf warehouse/bundling

# Measures builds, reads and models as ratios and writes docs/bench.md; BENCH="b c" measures these parts.
# Part d, marts at a thousand times the rows, takes some 20 minutes.
bench: $(VENV)/.installed
	test -d "$(DATA)/published" && test -d "$(DATA)/submissions" || { echo "Say where tables and archives are: make bench DATA=folder (with published/ and submissions/)"; exit 2; }
	$(BIN)/python -m bench "$(DATA)" $(BENCH)

# Pins all that pyproject.toml asks for. A pin that still fits stays: delete the file for the newest.
lock: $(VENV)/.lock
	$(BIN)/uv pip compile pyproject.toml --quiet --universal --all-extras \
		$$($(BIN)/python -c 'import tomllib; print(*("--group=" + group for group in \
			tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]))') \
		--generate-hashes --no-header --no-annotate --output-file requirements.lock

# Asks PyPI for known vulnerabilities of every pinned version. One it cannot tell of fails as well.
audit-dependencies: $(VENV)/.lock
	$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock || \
		{ echo "Not passed: either a version is vulnerable, or the data could not be had; see above."; \
		exit 1; }

clean:
	rm -rf $(VENV)

$(VENV)/.installed: pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Roundtable needs Python 3.11 or newer; say which with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	sed '/^ /d; s/ \\$$//' requirements.lock > $(VENV)/constraints.txt
	$(BIN)/python -m pip install -qq --upgrade pip
	$(PIP) --editable .
	touch $@

$(VENV)/.report: $(VENV)/.installed
	$(PIP) --editable '.[report]'
	touch $@

$(VENV)/.cluster: $(VENV)/.test
	$(PIP) --editable '.[cluster]' --group cluster
	touch $@

$(VENV)/.spark: $(VENV)/.test
	$(PIP) --editable '.[spark]'
	touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.ui $(VENV)/.lock: $(VENV)/.%: $(VENV)/.report
	$(PIP) --group $*
	touch $@
