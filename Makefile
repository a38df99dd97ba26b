# Every target does its own set-up; CI runs `lint` and `test` (.ci/run).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The demonstration needs a small part of what developers do, and their part is gigabytes.
DEMO_READY := $(VENV)/.demo-ready
DOCS_READY := $(VENV)/.docs-ready
MLFLOW_READY := .venv-mlflow/.ready
# Two processes of one thread each: more threads than cores make linear algebra slower, not faster.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Tests start some sixty processes: bytecode is kept, also where the environment says otherwise.
KEEP_BYTECODE := PYTHONDONTWRITEBYTECODE=
IN_PARALLEL := -n 2 --dist loadfile

.PHONY: demo test test-slow test-mlflow lint docs docs-check docs-serve package bench example-reports reproduction pictures browser clean

demo: $(DEMO_READY)
	$(BIN)/gerrymend demo

test: $(READY) browser
	$(ONE_THREAD) $(KEEP_BYTECODE) $(BIN)/python -m pytest -q $(IN_PARALLEL) --durations=30

test-slow: $(READY)
	EXPLORE=1 $(ONE_THREAD) $(KEEP_BYTECODE) $(BIN)/python -m pytest -q $(IN_PARALLEL) --durations=30 -m "slow or hypothesis"

# In an environment of its own: MLflow is not among what developers need.
test-mlflow: $(MLFLOW_READY)
	$(ONE_THREAD) .venv-mlflow/bin/python -m pytest -q tests/test_mlflow.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/check_docstrings.py

# The site, in build/docs. The gallery is drawn anew; a warning is an error.
docs: $(DOCS_READY)
	$(ONE_THREAD) $(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs

# Every page in a browser: nothing cut off, nothing from elsewhere, nobody kept out.
docs-check: docs $(READY) browser
	$(BIN)/python docs/check_site.py build/docs

docs-serve: docs
	$(BIN)/python -m http.server --directory build/docs --bind 127.0.0.1 8000

# What would be uploaded, and whether the index would take it.
package: $(READY)
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

# All parts, or PARTS="rounds dask"; `python -m benchmarks --help` lists them.
bench: $(READY)
	$(BIN)/python -m benchmarks $(PARTS)

# An audit and a frontier of each of the paper's datasets, as pages; fetches the data.
example-reports: $(READY)
	$(BIN)/python -m benchmarks.example_reports example-reports

# REPRODUCTION.md and its pictures, from records that are made where they are missing (an hour).
reproduction: $(READY)
	$(BIN)/gerrymend reproduce all --out build/reproduction
	mkdir -p docs/images/reproduction
	for picture in $$(sed -n 's|.*](figures/\(.*\))$$|\1|p' build/reproduction/REPRODUCTION.md); do \
	  cp build/reproduction/figures/$$picture docs/images/reproduction/; done
	sed 's|](figures/|](docs/images/reproduction/|' build/reproduction/REPRODUCTION.md > REPRODUCTION.md

# The README's pictures.
pictures: $(READY) browser
	$(BIN)/python docs/pictures.py

# Pages are tested in a real browser; where it can't be installed those tests are skipped, and say so.
browser:
	@command -v chromium > /dev/null || { \
	  test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
	  && apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium > /dev/null; } \
	|| echo "No chromium, and no apt-get to install it with: tests in a browser will be skipped."

clean:
	rm -rf $(VENV) .venv-* build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MLFLOW_READY): pyproject.toml
	test -x .venv-mlflow/bin/python || $(PYTHON) -m venv .venv-mlflow
	.venv-mlflow/bin/python -m pip install --quiet --disable-pip-version-check --editable \
	  '.[mlflow,save,cli]' 'mlflow>=3' pytest hypothesis pandas
	touch $@

# Each is rebuilt when the dependencies change.
$(READY): EXTRAS := dev
$(DEMO_READY): EXTRAS := cli,report
$(DOCS_READY): EXTRAS := docs
$(READY) $(DEMO_READY) $(DOCS_READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gerrymend needs Python 3.11 or newer; set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	touch $@
