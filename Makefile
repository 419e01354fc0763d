# Two commands suffice: `make build` and `make test`. Needs python3 >= 3.11.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: build test lint dev report picture bundle clean

build: $(VENV)/.installed
	$(BIN)/roundtable build

test: $(VENV)/.test
	$(BIN)/pytest

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

clean:
	rm -rf $(VENV)

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Roundtable needs Python 3.11 or newer; say which with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --upgrade pip
	$(BIN)/python -m pip install -qq --editable .
	touch $@

$(VENV)/.report: $(VENV)/.installed
	$(BIN)/python -m pip install -qq --editable '.[report]'
	touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.ui: $(VENV)/.%: $(VENV)/.report
	$(BIN)/python -m pip install -qq --group $*
	touch $@
