# TransferKit: the targets a stranger guesses. `make help` lists them.
# No rule names an absolute path, so the folder's name may contain spaces.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# An import of what no dependency of the target reaches is an error; scripts/lint-layers holds the rest.
IMPORTS := --explicit-target-dependency-import-check error
# The command carries Swift's libraries, so that it runs where no toolchain is.
# STATIC= (empty) links them dynamically.
STATIC ?= --static-swift-stdlib
# Whether two accesses to a variable overlap is found out by the debug build's tests; the command isn't asked each time.
RELEASE := -c release $(STATIC) $(IMPORTS) -Xswiftc -enforce-exclusivity=unchecked
# The benchmark of requests, with the clients that it compares: a package of its own, which nothing else builds.
REQUESTS := swift build -c release --package-path Benchmarks/requests
# A server of other people's making that tests talk to, in Swift: a package of its own as well. The first time takes minutes.
RESUMABLE_NIO := swift build -c release --package-path Tests/peers/resumable-nio \
	--scratch-path .build/peers/resumable-nio
# The command with the steps at which it can be made to die (Sources/CTransferLinux), in a folder of its own.
TORTURE_BUILD := swift build $(RELEASE) -Xcc -DTRANSFER_FAILPOINTS --scratch-path .build-torture --product transfer
TORTURE_SERVE_BUILD := $(TORTURE_BUILD)-server
RUN_TORTURE_SERVE = $(WITHOUT_PROXIES) python3 Tests/torture/torture.py --served \
	--binary "$$($(TORTURE_SERVE_BUILD) --show-bin-path)/transfer-server"
RUN_TORTURE_WORK = $(RUN_TORTURE) --fleet
RUN_TORTURE = $(WITHOUT_PROXIES) python3 Tests/torture/torture.py --binary "$$($(TORTURE_BUILD) --show-bin-path)/transfer"
# How often it dies at random moments, and further arguments, for example TORTURE='--kind put --point bodyComplete'.
KILLS ?= 1000
TORTURE ?=
# Tests at once: many of them start processes and wait for what happens within a time, on machines with two cores too.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 3
# Arguments for the tests, for example TEST_FLAGS='--filter Retry'.
TEST_FLAGS ?=
# Which fuzzers `make fuzz` runs, for example FUZZ='heads xml'; all without it.
FUZZ ?=
# Servers of the tests are on this machine: no proxy that the environment names stands between.
WITHOUT_PROXIES := env -u http_proxy -u https_proxy -u HTTPS_PROXY -u all_proxy -u ALL_PROXY
# Measured on two cores with Swift 6.3. The packages are those of scripts/setup's groups build and test.
TEST_NEEDS := make test needs 2.5 GB of disk and 4 GB of memory. The first build takes 10 minutes on two cores, later ones 1 or 2.
# Arguments for the benchmark of links and for the holes, for example LINKS='--short' HOLES='--only tus'.
LINKS ?=
HOLES ?=
# Suites that take the whole machine: they run by themselves, as others bound what they wait for.
STRESS := 'StressBurstTests|MemoryOfRequestsTests|LeakTests'

# Where `make install` puts things; DESTDIR is in front of it.
PREFIX ?= /usr/local
export PREFIX DESTDIR

.PHONY: size help setup setup-build setup-test setup-files setup-peers peers setup-bench setup-docs setup-deb setup-image setup-clean swift build command server demo-server run test matrix \
	tables fuzz tsan torture-build torture torture-serve torture-work torture-fleet torture-copies soak simulate simulate-faults lint format \
	bench bench-network bench-round-trips holes docs deb deb-test image image-test tarball tarball-test record record-page check check-build install uninstall clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

setup: setup-test ## install what building and testing need (packages of Debian or Ubuntu, and of PyPI)
	@scripts/setup peers || echo "The servers from PyPI can't be installed: their suites will be skipped." >&2

setup-build:
	@scripts/setup build

setup-test:
	@scripts/setup build test

# Servers of other people's making, out of PyPI. The suites that talk to them are skipped where they aren't installed,
# and fail there under `make check`.
setup-peers:
	@scripts/setup peers

# Its suites are skipped where it isn't built, and fail there under `make check`.
peers: swift setup-peers ## the servers of other people's making that some tests talk to, built and installed
	@$(RESUMABLE_NIO) --quiet

setup-docs:
	@scripts/setup docs

# Programs that make and mount the file systems on which downloads are tried. Without one of them its part of the suite is
# skipped, with the reason, and fails under `make check`.
setup-files:
	@scripts/setup files || echo "Some file systems can't be made here: their tests will be skipped." >&2

setup-bench:
	@scripts/setup build test bench

setup-deb:
	@scripts/setup deb

setup-image:
	@scripts/setup image

# What tries the package in a clean system.
setup-clean:
	@scripts/setup deb clean

swift:
	@scripts/require-swift

build: command server ## release build of the command, and of the program that `transfer serve` becomes

command: swift setup-build
	@swift build $(RELEASE) --product transfer
	@echo "built: $$(swift build $(RELEASE) --show-bin-path)/transfer"

# With a network library of its own, which the command is built without.
server: swift setup-build
	@swift build $(RELEASE) --product transfer-server
	@echo "built: $$(swift build $(RELEASE) --show-bin-path)/transfer-server"

demo-server: swift setup-build
	@swift build $(RELEASE) --product transfer-demo-server

run: command demo-server ## the demonstration: jobs/demo.json against a server that misbehaves
	@scripts/run-demo "$$(swift build $(RELEASE) --show-bin-path)"

test: swift setup-test ## all tests but the long ones
	@echo "$(TEST_NEEDS)"
	@swift build --build-tests $(IMPORTS)
ifeq ($(TEST_FLAGS),)
	@$(WITHOUT_PROXIES) scripts/run-tests --no-parallel --filter $(STRESS)
	@$(WITHOUT_PROXIES) scripts/run-tests --skip $(STRESS)
else
	@$(WITHOUT_PROXIES) scripts/run-tests $(TEST_FLAGS)
endif

matrix: swift setup-test ## every way to transfer × every fault × every moment; writes Tests/matrix/MATRIX.md
	@mkdir -p Tests/matrix
	@swift build --build-tests $(IMPORTS)
	@TRANSFER_MATRIX=write $(WITHOUT_PROXIES) scripts/run-tests --filter TransferQueueTests.MatrixTests

tables: swift setup-test ## the schemas of job files and configurations, the manual's tables and the one of other tools' options, made of the program's
	@swift build --build-tests $(IMPORTS)
	@TRANSFER_TABLES=write $(WITHOUT_PROXIES) scripts/run-tests --filter 'TablesTests/.*MadeOfTheTable'
	@scripts/option-tables "$$(swift build --show-bin-path)/transfer" Sources/TransferKit/TransferKit.docc/TheCommand.md

fuzz: swift setup-build ## the fuzzers, each for FUZZ_SECONDS (60) or FUZZ_RUNS times
	@Tests/fuzz/run $(FUZZ)

# The sanitizer has a thread of its own in every program, which wakes ten times a second.
tsan: swift setup-test ## all tests but the long ones under the thread sanitizer
	@$(WITHOUT_PROXIES) scripts/tsan --skip $(STRESS)'|manySmallFilesNeedLittleMemory|anIdleMonitorIsNeverWoken' $(TEST_FLAGS)

torture-build: swift setup-test
	@$(TORTURE_BUILD)

torture: torture-build setup-peers ## kill -9 at every failpoint and at 1,000 random moments (KILLS=50 for fewer)
	@$(RUN_TORTURE) --kills $(KILLS) $(TORTURE)

torture-serve: swift setup-test ## the same with the work submitted to a service over HTTP
	@$(TORTURE_SERVE_BUILD)
	@$(RUN_TORTURE_SERVE) --kills $(KILLS) $(TORTURE)

torture-work: torture-build setup-test ## the same with workers of a queue in PostgreSQL
	@$(RUN_TORTURE_WORK) --kills $(KILLS) $(TORTURE)

torture-fleet: command setup-test ## 500 kills, sleeps, partitions and crashes over four workers of one queue (KILLS=50 for fewer), and fail-overs
	@$(WITHOUT_PROXIES) python3 Tests/torture/fleet.py --kills $(if $(filter-out 1000,$(KILLS)),$(KILLS),500) \
		--binary "$$(swift build $(RELEASE) --show-bin-path)/transfer" $(TORTURE)
	@$(WITHOUT_PROXIES) python3 Tests/torture/fleet_failover.py \
		--binary "$$(swift build $(RELEASE) --show-bin-path)/transfer" $(TORTURE)

COPIES ?= 10000
torture-copies: command setup-test setup-peers ## copies to S3 by four workers that are killed (COPIES=500 for fewer)
	@$(WITHOUT_PROXIES) python3 Tests/torture/fleet_copies.py --copies $(COPIES) \
		--binary "$$(swift build $(RELEASE) --show-bin-path)/transfer" $(TORTURE)

# The seeds of `make simulate`: RUNS of them from SEED on. One seed alone is shown step by step.
SEED ?= 1
RUNS ?= 10000
SIMULATION := $(RELEASE) -Xswiftc -enable-testing --scratch-path .build-simulation/release --product transfer-simulation
simulate: swift setup-build ## whole runs of the queue in virtual time, with kills and faults, by seeds (RUNS=1 SEED=7 repeats one)
	@swift build $(SIMULATION)
	@"$$(swift build $(SIMULATION) --show-bin-path)/transfer-simulation" --seed $(SEED) --runs $(RUNS) \
		$(if $(filter 1,$(RUNS)),--verbose)

simulate-faults: swift setup-build ## known faults put back, one after the other: the simulator must find each (FAULT=name for one)
	@Tests/simulation/faults/run $(FAULT)

MINUTES ?= 60
# A file of each writer every two seconds needs a third of a core, with the servers. Further arguments, for example SOAK='--seed 7 --keep'.
SOAK ?=
RUN_SOAK = $(WITHOUT_PROXIES) python3 Tests/torture/soak.py --binary "$$(swift build $(RELEASE) --show-bin-path)/transfer"
soak: command setup-test setup-peers ## watched folders for an hour while servers and watchers are killed (MINUTES=5 for less)
	@$(RUN_SOAK) --minutes $(MINUTES) $(SOAK)

lint: swift ## formatting, layers, and the habits that a grep can hold
	@scripts/lint-layers
	@scripts/lint-version
	@scripts/lint-format

format: swift ## format the sources in place
	@scripts/lint-format --fix

bench: command setup-bench ## compare with curl, wget2, aria2 and, request by request, AsyncHTTPClient and URLSession
	@Benchmarks/run "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@Benchmarks/segments "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@Benchmarks/copies "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@Benchmarks/scale "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@Benchmarks/uploads "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@Benchmarks/fleet/run "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@swift build $(RELEASE) --product transfer-server
	@Benchmarks/serve "$$(swift build $(RELEASE) --show-bin-path)/transfer-server"
	@Benchmarks/serve-downloads "$$(swift build $(RELEASE) --show-bin-path)/transfer" \
		"$$(swift build $(RELEASE) --show-bin-path)/transfer-server"
	@$(REQUESTS) --quiet
	@Benchmarks/requests/run "$$($(REQUESTS) --show-bin-path)"

bench-network: command setup-bench setup-peers ## slow, long and lossy links beside other tools, and what changes of the network cost; as root, an hour
	@Benchmarks/links --write $(LINKS) "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@Benchmarks/link_chart.py
	@Benchmarks/network "$$(swift build $(RELEASE) --show-bin-path)/transfer"

holes: command setup-bench setup-peers ## transfers over a link in which packets vanish for a while; as root, 20 minutes
	@Tests/link/holes.py --jobs 4 $(HOLES) "$$(swift build $(RELEASE) --show-bin-path)/transfer"

bench-round-trips: command setup-bench setup-peers ## small files over a link of 300 ms, beside curl, rclone and lftp; as root
	@Benchmarks/round-trips "$$(swift build $(RELEASE) --show-bin-path)/transfer"

docs: swift setup-build setup-docs ## the libraries' documentation, in .build/docs
	@scripts/docs

# The long tests measure, so they get the release build.
check-build: swift setup-test
	@swift build $(RELEASE) --product transfer
	@swift build $(RELEASE) --product transfer-server
	@swift build --build-tests $(IMPORTS)

size: build ## the size of the command, written into CONTRIBUTING.md
	@scripts/size "$$(swift build $(RELEASE) --show-bin-path)/transfer"

deb: setup-deb build ## a Debian package of the command for this machine's architecture, in .build/deb
	@scripts/package-deb "$$(swift build $(RELEASE) --show-bin-path)/transfer"

# As root, and with the package archives that apt is configured for; skipped, with the reason, where that can't be.
deb-test: deb setup-clean ## the package in a clean system: lintian, installed, used, upgraded and purged without a trace
	@Tests/packaging/run "$$(ls -t .build/deb/transfer_*.deb | head -n 1)"

image: setup-image build ## container images of the command and of the service, in .build/image, without a base image
	@rm -f .build/image/*.oci.tar
	@scripts/image "$$(swift build $(RELEASE) --show-bin-path)/transfer"

image-test: image ## the images: their files, and a run of each as its user; as root
	@Tests/packaging/image --again "$$(swift build $(RELEASE) --show-bin-path)/transfer" .build/image/*.oci.tar
	@Tests/packaging/manifests "$$(swift build $(RELEASE) --show-bin-path)/transfer"

tarball: setup-image build ## a tar of the command for any machine with glibc 2.36, in .build/tarball
	@scripts/tarball "$$(swift build $(RELEASE) --show-bin-path)/transfer"

tarball-test: tarball ## the tar beside glibc alone; as root
	@Tests/packaging/tarball "$$(ls -t .build/tarball/transfer-*.tar.gz | head -n 1)"

# The recording that README shows, of a real run against the demonstration's server.
record: command demo-server ## docs/demo.svg, made anew
	@scripts/record "$$(swift build $(RELEASE) --show-bin-path)" docs/demo.svg

record-page: build ## docs/page.png, made anew; needs chromium-driver
	@scripts/record-page "$$(swift build $(RELEASE) --show-bin-path)" docs/page.png

# The suites that run queues, for a queue in a database; those of stores and watched folders have their own.
QUEUE_SUITES := --filter '^TransferQueueTests\.' --skip 'Watch|Fold|SharedBatch'

check: lint docs check-build torture-build peers setup-files setup-clean setup-image setup-bench ## everything: lint, docs, all tests with the long ones, the examples
	@if [ -f examples/Package.swift ]; then swift build --package-path examples; fi
	@rm -f .build/deb/*.deb
	@TRANSFER_PEERS=required Tests/packaging/run \
		"$$(scripts/package-deb "$$(swift build $(RELEASE) --show-bin-path)/transfer")"
	@Tests/packaging/commands "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@Tests/packaging/readme "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@rm -f .build/image/*.oci.tar .build/tarball/*.tar.gz
	@scripts/image "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@TRANSFER_PEERS=required Tests/packaging/image \
		--again "$$(swift build $(RELEASE) --show-bin-path)/transfer" .build/image/*.oci.tar
	@Tests/packaging/manifests "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@TRANSFER_PEERS=required Tests/packaging/tarball \
		"$$(scripts/tarball "$$(swift build $(RELEASE) --show-bin-path)/transfer")"
	@TRANSFER_HEAVY=1 TRANSFER_STALL=900 TRANSFER_PEERS=required TRANSFER_BINARY="$$(swift build $(RELEASE) --show-bin-path)/transfer" \
		$(WITHOUT_PROXIES) scripts/run-tests $(TEST_FLAGS)
	@TRANSFER_TEST_STORE=postgres TRANSFER_PEERS=required $(WITHOUT_PROXIES) scripts/run-tests $(QUEUE_SUITES) $(TEST_FLAGS)
	@Benchmarks/links --short "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@Tests/link/holes.py --jobs 4 "$$(swift build $(RELEASE) --show-bin-path)/transfer"
	@TRANSFER_PEERS=required $(RUN_TORTURE) --short --kills 50
	@$(RUN_TORTURE_WORK) --short --kills 50
	@$(TORTURE_SERVE_BUILD)
	@$(RUN_TORTURE_SERVE) --short --kills 50
	@TRANSFER_PEERS=required $(RUN_SOAK) --minutes 3 --pause 1
	@swift build $(SIMULATION)
	@"$$(swift build $(SIMULATION) --show-bin-path)/transfer-simulation" --runs 200000
	@Tests/simulation/faults/run
	@FUZZ_RUNS=1000 Tests/fuzz/run

# As root no Swift is needed: what `make build` made is copied.
install: ## copy the built command, stripped, its manual pages, completions and units beneath PREFIX (/usr/local)
	@scripts/install .build/release/transfer

uninstall: ## take away what `make install` copied
	@scripts/install --remove

clean: ## remove what was built
	rm -rf .build .build-fuzz .build-torture .build-simulation examples/.build Benchmarks/requests/.build
