# One environment for everything here: .venv, made when it is missing or out of date.
PYTHON ?= python3
BIN := .venv/bin
# Most tests wait for processes of their own: as many at once as there are cores.
PARALLEL := -n logical --dist worksteal

.PHONY: start test check bench clean

start: .venv/autodrill  ## install autodrill, make a workspace of lab01 and check it once
	@test -e lab01 || $(BIN)/autodrill start lab01
	@cd lab01 && { ../$(BIN)/autodrill check || test $$? -eq 1; }
	@echo; echo "From here on:  source $(BIN)/activate && cd lab01 && autodrill check"

test: .venv/dev  ## run the tests
	$(BIN)/python -m pytest -q $(PARALLEL)

check: .venv/dev  ## what CI does: lint, format, types, tests, and the proof of the tracks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q $(PARALLEL)
	$(BIN)/autodrill verify

bench: .venv/dev  ## measure every row of the speed table side by side
	$(BIN)/python tests/bench.py

clean:
	rm -rf .venv

.venv/autodrill: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/dev: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ .venv/autodrill
