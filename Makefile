# Few words. Each target makes its own environment: nothing is installed outside .venv.
#   make up            start Control Center (ARGS="--port 9000 --data DIR")
#   make test          the suite (ARGS="tests/spaces -x")       make soak   the long ones
#   make check         style, types, imports, migrations        make fmt    mend the style
#   make bench         the figures, into bench/RESULTS.md        make shots  the screenshots
#   make requirements  requirements with and without a passing test
#   make blueprint     the shape of a new database, after new migrations
#   make lock          lock the dependencies again

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

bin = $(VENV)/bin
mark = $(shell cat $(1) | cksum | tr -s ' ' '-')
base = $(VENV)/.base-$(call mark,requirements/base.txt)
dev = $(VENV)/.dev-$(call mark,requirements/base.txt requirements/dev.txt)
peers = $(VENV)/.bench-$(call mark,requirements/base.txt requirements/dev.txt requirements/bench.txt)
local = $(bin)/python -m controlcenter.local

.PHONY: up test soak check format lint types imports migrations deployment fmt bench shots \
	requirements blueprint lock
.DEFAULT_GOAL := up

up: $(base)
	@exec $(local) up $(ARGS)

# A worker that dies would leave the rest of its file waiting for ever: it ends the run instead.
test: $(dev)
	CC_SUITE=test $(local) exec -- $(bin)/pytest -n 2 --dist loadfile --max-worker-restart 0 $(ARGS)

soak: $(dev)
	CC_SUITE=soak $(local) exec -- $(bin)/pytest -m soak -o timeout=900 $(ARGS)

# All of them, also when one fails.
check: $(dev)
	@$(MAKE) --keep-going --no-print-directory format lint types imports migrations deployment

format:
	$(bin)/ruff format --check --quiet .

lint:
	$(bin)/ruff check .

types:
	$(bin)/mypy

imports:
	$(bin)/lint-imports

migrations:
	$(local) exec -- $(bin)/python manage.py makemigrations --check --dry-run

deployment:
	CC_BEHIND_TLS=1 CC_SSL_REDIRECT=1 CC_HOST_NAME=example.org CC_ALLOWED_HOSTS=example.org \
		$(local) exec -- $(bin)/python manage.py check --deploy --fail-level WARNING

fmt: $(dev)
	$(bin)/ruff check --fix-only --quiet .
	$(bin)/ruff format .

bench: $(peers)
	$(local) exec -- $(bin)/python -m bench $(ARGS)

shots: $(dev)
	$(local) exec -- $(bin)/python -m tests.shots $(ARGS)

requirements: $(dev)
	@$(bin)/python -m tests.proofs

blueprint: $(dev)
	$(local) exec -- $(bin)/python -m controlcenter.local.blueprint

lock: $(dev)
	@for name in base dev bench; do \
		$(bin)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--no-emit-index-url --no-header requirements/$$name.in -o requirements/$$name.txt; \
	done

$(base):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo "Python lacks its venv module; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "Installing what Control Center runs on (once) …"
	@$(bin)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements/base.txt
	@rm -f $(VENV)/.base-* && touch $@

$(dev): $(base)
	@echo "Installing what the tests need (once) …"
	@$(bin)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements/base.txt -r requirements/dev.txt
	@rm -f $(VENV)/.dev-* && touch $@

$(peers): $(dev)
	@echo "Installing the peers of the benchmarks (once) …"
	@$(bin)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements/base.txt -r requirements/dev.txt -r requirements/bench.txt
	@rm -f $(VENV)/.bench-* && touch $@
