# ldpkv: `make book` builds the book, `make test` proves it. Both set up what they need first.
# Needed beforehand: Python 3.11 to 3.13, GNU make, and a reachable package index.
#
#   PYTHON=python3.12 make book     another interpreter
#   PROFILE=paper make book         the papers' own sizes instead of the quick profile
#   JOBS=1 make book                notebooks one at a time (default: one per core)

PYTHON ?= python3
PROFILE ?= quick
JOBS ?= auto
BIN := .venv/bin

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Without bytecode files every kernel compiles every import again (seaborn: 10 s instead of 3).
export PYTHONDONTWRITEBYTECODE =
# Sets are iterated in the same order in each run, so that pages differ only in the seconds they took.
export PYTHONHASHSEED = 0
export PROFILE

# Rating files that are not bundled: where a sibling folder has them, use it.
ifndef LDPKV_DATA_DIR
ifneq ($(wildcard ../shared/data),)
export LDPKV_DATA_DIR := $(abspath ../shared/data)
endif
endif

# Several kernels run at once; one thread each, or they fight over the cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
NOTEBOOKS := $(ONE_THREAD) $(BIN)/python tools/run_notebooks.py

# Run, not just looked up: a version manager's stand-in for a Python may be found and still not start.
CHECK_PYTHON = "$(PYTHON)" -c "" >/dev/null 2>&1 || { \
  echo "ldpkv needs Python 3.11 to 3.13, and '$(PYTHON)' cannot be run. Name another one, for example:"; \
  echo "  PYTHON=python3.12 make book"; exit 1; }

.PHONY: help setup book test check paper claims claim record bench chromium browser refresh lock peers peers-lock serve clean distclean

help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## make .venv from requirements.lock (the other commands do it by themselves)
	@$(CHECK_PYTHON)
	@"$(PYTHON)" tools/bootstrap.py

book: setup ## run the notebooks whose inputs changed, build the book into _build/html
	@$(NOTEBOOKS) run --profile $(PROFILE) --jobs $(JOBS)
	@$(BIN)/python tools/claims.py collect --profile $(PROFILE)
	@$(BIN)/python tools/build_book.py --profile $(PROFILE)

paper: ## the same with the papers' own sizes and repetitions (hours)
	@$(MAKE) book PROFILE=paper

check: setup ## style and types only
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

# Every step runs even when an earlier one failed; pytest comes last, so that its count closes the output.
test: setup ## style, types, unit tests, stored notebook outputs re-run and compared
	@status=0; \
	echo "== style and types"; $(MAKE) check || status=1; \
	echo "== tests and notebooks"; \
	stored=$$($(BIN)/python tools/run_notebooks.py runnable) || status=1; \
	$(ONE_THREAD) $(BIN)/python -m pytest -q -rs -n auto tests ldpkv $$stored \
	  --nbval --nbval-current-env --nbval-sanitize-with tests/sanitize.cfg $(ARGS) || status=1; \
	[ $$status = 0 ] || echo "make test: something above failed"; exit $$status

claims: setup ## run the notebooks that are not up to date, then collect the verdicts into _build/claims.json
	@$(NOTEBOOKS) run --profile $(PROFILE) --jobs $(JOBS)
	@$(BIN)/python tools/claims.py collect --profile $(PROFILE) --show

claim: setup ## recompute one claim:  make claim ID=pckv-thm-2
	@[ -n "$(ID)" ] || { echo "name the claim:  make claim ID=pckv-thm-2"; exit 2; }
	@$(BIN)/python -m ldpkv.papers.claims $(ID) --profile $(PROFILE)

record: setup ## store the runs of a paper profile, dated (minutes to an hour):  make record ID=together-exact-bar
	@[ -n "$(ID)" ] || { echo "name the claim:  make record ID=together-exact-bar"; exit 2; }
	@$(ONE_THREAD) $(BIN)/python tools/record.py $(ID)

bench: setup ## speed and memory, as ratios
	@$(BIN)/python benchmarks/run.py $(ARGS)
	@$(BIN)/python benchmarks/auditing.py 20
	@$(BIN)/python benchmarks/audit_overhead.py
	@$(BIN)/python benchmarks/betting.py
	@$(BIN)/python benchmarks/surrogates.py

chromium: setup
	@$(BIN)/python tools/find_chromium.py

browser: chromium ## open the built book in headless Chromium with no network
	@[ -f _build/html/index.html ] || { echo "no book yet: make book"; exit 1; }
	@$(BIN)/python -m pytest -q tests/test_browser.py -m browser $(ARGS)

refresh: setup ## run notebooks and store their outputs:  make refresh [NB=notebooks/pckv/02-privacy.ipynb]
	@$(NOTEBOOKS) refresh --jobs $(JOBS) $(NB)

lock: setup ## resolve again: requirements.lock and environment.yml
	@$(CHECK_PYTHON)
	@$(BIN)/python tools/sync_env.py lock
	@"$(PYTHON)" tools/bootstrap.py

# Other people's libraries never enter .venv. The results are dated; `make refresh` then renews their page.
peers: setup ## audit released privacy libraries in .venv-peers, renew data/peers.json (ten minutes)
	@$(BIN)/python tools/audit_peers.py setup
	@$(ONE_THREAD) .venv-peers/bin/python tools/audit_peers.py run

peers-lock: setup # after a change of requirements-peers*.in
	@$(BIN)/python tools/audit_peers.py lock

serve: ## show the built book at a local address
	@[ -f _build/html/index.html ] || { echo "no book yet: make book"; exit 1; }
	@$(CHECK_PYTHON)
	@echo "http://127.0.0.1:$(or $(PORT),8000)/  (Ctrl-C stops it)"
	@(sleep 1; "$(PYTHON)" -m webbrowser "http://127.0.0.1:$(or $(PORT),8000)/" >/dev/null 2>&1) &
	@"$(PYTHON)" -m http.server $(or $(PORT),8000) --bind 127.0.0.1 --directory _build/html

clean: ## remove what was built, keep the environment
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis

distclean: clean ## remove the environment too
	rm -rf .venv .venv-peers .boot
