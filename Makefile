# Everything netdyno's own house does, by name. `make help` lists it.

# Built for the machine it runs on: half the speed of the data path is in its vector instructions.
export RUSTFLAGS ?= -C target-cpu=native
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# How the extension is built: a profile of Cargo.toml.
ENGINE_PROFILE ?= release
# Of the profile that was built last: another one is built anew.
ENGINE = .venv/.engine-$(ENGINE_PROFILE)
# The extension, cargo test and the benches share one target folder, and so what they have in common.
export CARGO_TARGET_DIR ?= $(CURDIR)/target

# Tests start hundreds of Pythons: each would translate all of the sources anew (0.3 s) where nobody may write bytecode beside them.
BYTECODE = PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX="$(CARGO_TARGET_DIR)/bytecode"

# What property tests draw by chance is the same in every run (tests/conftest.py has it for Python).
export PROPTEST_RNG_SEED ?= 1

# There are no examples in the docs of the crates (test_house.py), and looking for them takes as long as building a crate. The
# extension's own crate has no tests but Python's.
TESTS = --exclude netdyno-py --lib --tests

BIN = .venv/bin
CARGO = tools/cargo.sh
RUST = $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: help demo test tests-built vm-test check fuzz explore bench bench-peers confusion docs power clean packages packages-test wheel wheel-test

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 16

# At the same time as the engine, whose last minute is the work of one core.
tests-built: ## the Rust tests, not run yet
	$(CARGO) test --workspace --locked $(TESTS) --no-run

demo: ## rehearse the 48 ASR9006 load tests, then test real Linux devices; prints numbers and where the reports are
	@MAKE="$(MAKE)" tools/demo.sh

# Each stage with its wall time and processor time; `.ci/run` prints them again at its end.
STAGES = $(CARGO_TARGET_DIR)/stages.txt
STAGE = tools/stage.py $(STAGES)
FAILED = --last-failed --last-failed-no-failures none
PYTEST = env PATH="$$PATH:/usr/sbin:/sbin" NETDYNO_TESTS=all $(BYTECODE) $(BIN)/pytest

test: packages ## every test: Rust, Python, examples, tshark, a browser
	@mkdir -p $(CARGO_TARGET_DIR) && rm -f $(STAGES)
	@# The tests of Rust are built while packages are fetched. Many Python tests wait for processes: one more worker than cores.
	@$(STAGE) build $(MAKE) --no-print-directory -j3 packages-test .venv/.dev $(ENGINE) tests-built
	$(STAGE) rust $(CARGO) test --workspace --locked $(TESTS)
	$(STAGE) virtual $(PYTEST) --ignore=tests/real -n $$(($$(nproc) + 1)) --dist loadfile --no-loadscope-reorder
	@# What fails in real time is run once more, alone: a machine that many share may stall for a second. Both outcomes are printed.
	$(STAGE) paired $(PYTEST) tests/real -m paired -n 2 --dist loadfile || $(STAGE) again $(PYTEST) tests/real -m paired $(FAILED)
	$(STAGE) alone $(PYTEST) tests/real -m "not paired" || $(STAGE) again $(PYTEST) tests/real -m "not paired" $(FAILED)

vm-test: .venv/.dev ## ports and cards under Debian 11's, 12's and 13's kernels, in QEMU (wants root and Debian's archive)
	@tools/vm/test.sh

check: .venv/.dev $(ENGINE) ## what a change must pass before it is committed
	@# Not `cargo fmt`, which does not see the modules that a macro declares (crates/io/src/backend/mod.rs).
	@$(CARGO) -- rustfmt --check $(filter %.rs,$(RUST))
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check python tests
	$(BIN)/mypy
	$(BIN)/pytest tests/house

fuzz: .venv/.dev $(ENGINE) ## hostile frames, memif peers and control sockets, plans and records, storms of Ctrl-C; FUZZ_SECONDS=60 a target, from a seed of its own each time (FUZZ_SEED)
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-60} FUZZ_SEED=$${FUZZ_SEED:-$$(date +%s)} failed=0; export FUZZ_SECONDS FUZZ_SEED; \
	$(CARGO) test --locked --no-fail-fast -p netdyno-frame -p netdyno-engine --test all fuzz:: -- --nocapture || failed=1; \
	$(CARGO) test --locked --no-fail-fast -p netdyno-io --lib fuzz:: -- --nocapture || failed=1; \
	NETDYNO_FUZZ=5000 NETDYNO_STORMS=100 NETDYNO_FUZZ_SEED=$$FUZZ_SEED $(BIN)/pytest tests/fuzz tests/real/test_storms_real.py || failed=1; \
	exit $$failed

# What `make test` tries a fifth of (tests/support/sampling.py), beside the property tests.
SAMPLED = $(addprefix tests/verdict/test_,excuses.py hostile_testers.py once_open.py) tests/devices/configure/test_configure_killed.py tests/campaign/test_resume.py tests/cli/test_endings.py tests/real/test_serve.py tests/real/test_iproute_real.py

explore: .venv/.dev $(ENGINE) ## the property tests with other cases than `make test` has, drawn anew each time (PROPTEST_CASES)
	PROPTEST_RNG_SEED=$$(date +%s) $(CARGO) test --workspace --locked --no-fail-fast $(TESTS)
	NETDYNO_TESTS=long $(BIN)/pytest -m hypothesis --hypothesis-profile=explore -n auto --dist loadfile --ignore=tests/real
	NETDYNO_TESTS=long NETDYNO_FUZZ_SEED=$$(date +%s) $(BIN)/pytest $(SAMPLED)

bench: $(ENGINE) ## nanoseconds a frame: build, send, receive, account, virtual time
	$(CARGO) bench --workspace --locked
	@$(BIN)/python tools/bench_peers.py --only null

bench-peers: $(ENGINE) ## netdyno beside the generators that Debian ships: null, memif, veth; interleaved, with ratios
	@$(BIN)/python tools/bench_peers.py

wheel: .venv/.wheel ## one file to install without a compiler: target/wheel/netdyno-*.whl, x86-64 Linux with glibc 2.17 or newer
	@PYTHONPATH=python .venv/wheel/bin/python tools/wheel/build.py

wheel-test: ## the wheel in fresh trees of Debian 12 and 13, and as older processors in QEMU (wants root, mmdebstrap)
	@tools/wheel/test.sh

confusion: $(ENGINE) ## who is named as the limit, over 500 labs whose limit is known; writes docs/verdicts-detail.md
	@$(BIN)/python tools/confusion.py

docs: .venv/.dev $(ENGINE) ## docs/reference.md from the program, and the picture of the README from a run of its plan (a minute)
	$(BIN)/python tools/reference_page.py
	@$(BIN)/python tools/pictures.py

power: $(ENGINE) ## who is named on real ports, with a device in C that is not netdyno's own (wants root); goes on where it ended, RUNS=20 of each
	@$(BIN)/python tools/power/campaign.py --count $(or $(RUNS),20)

clean: ## remove what was built; runs/ stays
	rm -rf .venv target python/netdyno/*.so $(SCRIPT) .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The way there.

packages:
	@tools/packages.sh demo

packages-test: packages
	@tools/packages.sh test

.venv/.run: requirements.lock | packages
	@echo "installing the Python packages of requirements.lock into .venv"
	python3 -m venv .venv
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	@touch $@

.venv/.dev: requirements-dev.lock .venv/.run
	$(BIN)/pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

# The script that draws figures in pages is the same for all: made once, and beside the sources as the extension is.
SCRIPT = python/netdyno/reports/assets/vega.js
$(SCRIPT): .venv/.run
	@PYTHONPATH=python $(BIN)/python -c 'from netdyno.reports.formats import bundle; print(bundle.made(), end="")' > $@.new && mv $@.new $@

.venv/.wheel: requirements-wheel.lock
	python3 -m venv .venv/wheel
	.venv/wheel/bin/pip install --quiet --require-hashes -r requirements-wheel.lock
	@touch $@

# An editable install: the extension goes beside the Python sources, and these stay what is run.
# Behind the packages for development, where both are made: two programs that install at once read each other's halves.
$(ENGINE): $(RUST) pyproject.toml .venv/.run $(SCRIPT) | $(filter .venv/.dev,$(MAKECMDGOALS))
	@echo "building the engine: a few minutes the first time, on two cores"
	@rm -f .venv/.engine-*
	VIRTUAL_ENV="$(CURDIR)/.venv" PIP_QUIET=1 PIP_NO_DEPS=1 $(CARGO) -- $(BIN)/maturin develop --profile $(ENGINE_PROFILE) --locked
	@touch $@
