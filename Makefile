# make demo and make test need only Python 3.11+ and make; everything else is set up in .venv.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
WORKERS ?= 3# one more than processors, since some tests wait
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest

.PHONY: demo test test-estimators test-search test-large test-network test-endurance test-browser test-jax test-ray chromium test-namespaces test-wheel test-repeated check docs docs-links bench clean
.DEFAULT_GOAL := demo

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tacit needs Python 3.11 or newer; name one with make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-jax: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,jax]'
	@touch $@ $(VENV)/.installed-dev $(VENV)/.installed

$(VENV)/.installed-ray: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,cluster]'
	@touch $@ $(VENV)/.installed-dev $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed            ## solve a private problem and replay the paper's illustration
	$(BIN)/tacit demo

test: $(VENV)/.installed-dev        ## the test suite; make test ARGS=--cov measures coverage
	$(PYTEST) -n $(WORKERS) --dist worksteal $(ARGS)

test-estimators: $(VENV)/.installed-dev ## scikit-learn's own checks of the estimators that make test leaves out
	$(PYTEST) -n 2 -m estimators

test-network: $(VENV)/.installed-dev ## real processes, killed, stopped and attacked: some minutes
	$(PYTEST) -n $(WORKERS) --dist worksteal -m network

test-endurance: $(VENV)/.installed-dev ## two hundred runs with kills, and 10⁵ frames of nonsense from a member
	$(PYTEST) -n $(WORKERS) --dist worksteal -m endurance

test-browser: $(VENV)/.installed-dev chromium ## every kind of report in a real browser: installs Debian's Chromium where there is none
	$(PYTEST) -m browser

test-jax: $(VENV)/.installed-jax    ## the same algorithms and costs on JAX, which it installs
	$(PYTEST) -m jax

test-ray: $(VENV)/.installed-ray    ## the same algorithms in blocks on Ray, which it installs; workers are killed
	$(PYTEST) -m ray

chromium:                           ## Debian's browser, for the tests that need one
	@command -v chromium > /dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core)

test-namespaces: $(VENV)/.installed-dev ## hosts on a network that loses packets and splits: needs root, ip and nft
	$(PYTEST) -m namespaces

test-large: $(VENV)/.installed-dev  ## the largest public grids, and relatives of quicker tests: some minutes
	$(PYTEST) -n 2 --dist worksteal -m large

test-search: $(VENV)/.installed-dev ## near-singular designs by the thousand, against sixty digits: some minutes
	$(PYTEST) -n 2 --dist worksteal -m search

test-wheel: $(VENV)/.installed      ## the wheel, installed into a new environment and used
	.ci/wheel $(BIN)/python

test-repeated:                      ## make test N times in a row, beside BURN processes that burn the processors
	.ci/repeated $(or $(N),20) $(or $(BURN),0) VENV=$(VENV)

check: $(VENV)/.installed-dev       ## style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed-docs        ## the site, into build/site: warnings are errors, links are checked
	$(BIN)/python docs/site/gather.py build/site-source
	$(BIN)/python -m sphinx -q -E -W --keep-going -c docs/site build/site-source build/site
	$(BIN)/python docs/site/check.py build/site

docs-links: docs                    ## do the pages outside that the site links to still exist? Needs a network
	$(BIN)/python -m sphinx -q -b linkcheck -c docs/site build/site-source build/site-links

bench: $(VENV)/.installed-dev       ## ratios against hand-written NumPy in the same run
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .venv-* build/site build/site-source build/site-links .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
