# Every target makes its own virtual environment and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard native/*/*.cpp native/*/*.hpp)
# The editable install knows modules by name: a folder whose entries changed means installing again.
PACKAGES := $(sort $(dir $(wildcard src/*/*.py src/*/*/*.py)))
SOURCES := src tests benchmarks examples

.PHONY: demo test check bench kills format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    build, train on the embedded data, write out/demo"
	@echo "make test    everything that must hold: checks and tests"
	@echo "make check   ruff, mypy, clang-format, import direction"
	@echo "make bench   measure speed against peers (minutes)"
	@echo "make kills   kill training, converting and saving KILLS times (default 300) and check what is left"
	@echo "make format  rewrite the sources in the house style"

demo: $(VENV)/.runtime
	@$(BIN)/rankwise demo --out out/demo

test: check
	@$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev
	@$(BIN)/ruff check --quiet $(SOURCES)
	@$(BIN)/ruff format --quiet --check $(SOURCES)
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/clang-format --dry-run --Werror $(wildcard native/*/*.cpp native/*/*.hpp)
	@$(BIN)/python -m pytest tests/test_architecture.py

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks

# Many kills; the tests do a few. One BLAS thread, because the kills share the cores with what they hit.
KILLS ?= 300
kills: $(VENV)/.dev
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/killed.py --kills $(KILLS)

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix --exit-zero --quiet $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/clang-format -i $(wildcard native/*/*.cpp native/*/*.hpp)

# pip says nothing when all is well. The editable install compiles into build/ and reuses it, so a change to
# one kernel rebuilds one file.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
INSTALL := $(PIP) --no-build-isolation -Cbuild-dir=build

$(VENV)/.tools: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "rankwise needs Python 3.11 or newer as '$(PYTHON)'; try 'make PYTHON=/path/to/python3.11'." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "rankwise needs Python's venv module; install it (on Debian: apt install python3-venv)." >&2; exit 1; }
	@$(PYTHON) -c 'import os, sysconfig as s; os.stat(os.path.join(s.get_path("include"), "Python.h"))' 2>/dev/null || \
	  { echo "rankwise needs Python's headers; install them (on Debian: apt install python3-dev)." >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || \
	  { echo "rankwise needs a C++17 compiler as '$${CXX:-c++}'; install g++ or clang, or set CXX." >&2; exit 1; }
	@echo "Preparing $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.18" ninja
	@touch $@

$(VENV)/.runtime: $(VENV)/.tools $(NATIVE) $(PACKAGES)
	@echo "Building rankwise"
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.tools $(NATIVE) $(PACKAGES)
	@echo "Building rankwise and installing what the tests need"
	@$(INSTALL) -e ".[dev]"
	@touch $@ $(VENV)/.runtime

clean:
	rm -rf $(VENV) build out
