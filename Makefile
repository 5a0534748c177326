# A thin front to CMake: `make help` lists the targets. Everything is built under build/.
PREFIX ?= /usr/local
PYTHON ?= python3
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CTEST = ctest --output-on-failure --stop-on-failure --no-tests=error -j$(JOBS)

.PHONY: all release deps demo test test-release test-cuda test-full asan tsan fuzz trust bench install python wheel docs format check coverage clean help

all: release ## build the library and the program (build/sock)

release:
	@command -v cmake >/dev/null || { echo "cmake is missing: run tools/install-deps as root" >&2; exit 1; }
	@mkdir -p build
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log >&2; exit 1; }
	@cmake --build build -j$(JOBS)

deps:
	@tools/install-deps

demo: deps ## make data, fit a model and show it, in demo/
	@$(MAKE) --no-print-directory release
	@tools/demo

test: deps ## the quick tier: release, then ASan + UBSan, then TSan of the threaded tests
	@$(MAKE) --no-print-directory test-release
	@$(MAKE) --no-print-directory asan
	@$(MAKE) --no-print-directory tsan

test-release: release ## the quick tier in the release build alone
	@$(CTEST) --test-dir build -L quick

test-cuda: release ## what needs a card: the plugin against the processor (skipped without one)
	@ctest --test-dir build -L cuda --no-tests=error --verbose | grep -E "card|passed|Passed|FAILED|ERROR|Skipped|[0-9]: .*error" || true
	@ctest --test-dir build -L cuda --no-tests=error --quiet

test-full: test ## the quick tier, then the Valgrind runs, clang-tidy and the analyzers
	@$(CTEST) --test-dir build -L full
	@$(CTEST) --test-dir build/asan -L full

asan: ## the quick tier under AddressSanitizer (with leaks) and UndefinedBehaviorSanitizer
	@cmake --preset asan >/dev/null
	@cmake --build build/asan -j$(JOBS)
	@$(CTEST) --test-dir build/asan -L quick

tsan: ## the threaded tests under ThreadSanitizer
	@cmake --preset tsan >/dev/null
	@cmake --build build/tsan -j$(JOBS) --target threads_tests
	@$(CTEST) --test-dir build/tsan -L threads

trust: release ## the long part of docs/trust.md, an hour: soak (SOAK_SECONDS), faults and odd data (TRUST_SECONDS; 0: all), large inputs
	@SOAK_SECONDS=$${SOAK_SECONDS:-3600} TRUST_SECONDS=$${TRUST_SECONDS:-3300} ctest --test-dir build -L trust -j5 --no-tests=error --verbose

fuzz: ## libFuzzer on every parser, FUZZ_SECONDS (60) each; needs clang
	@tools/fuzz

bench: release ## build and run the benchmarks
	@cmake --build build -j$(JOBS) --target bench

install: release ## install under $(PREFIX), staged in $(DESTDIR) when given
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

python: ## build the wheel of the Python package, in build/dist
	@$(PYTHON) python/wheelmaker.py build/dist

wheel: ## the same with OpenBLAS and all else inside, for other machines; needs patchelf
	@$(PYTHON) python/wheelmaker.py --bundle build/dist

dist: ## the sources of the last commit as build/dist/sock-VERSION.tar.gz
	@mkdir -p build/dist
	@version=$$(sed -n 's/^#define SOCK_VERSION "\(.*\)"/\1/p' include/sock.h) && \
	  git archive --format=tar.gz --prefix=sock-$$version/ -o build/dist/sock-$$version.tar.gz HEAD && \
	  echo "build/dist/sock-$$version.tar.gz"

site: ## the documents as static pages that can be searched, in build/site
	@tools/site build/site

docs: release ## make docs/options.md anew from the options table, docs/policy.md from the numbers of the search
	@build/sock options >docs/options.md
	@tools/policy-page

format: ## rewrite the sources with clang-format
	@tools/check-format --fix

check: ## the house checks alone: includes, words, links, format, static analysis, unused code
	@tools/check-includes
	@tools/check-words
	@tools/check-links
	@tools/check-format
	@tools/check-static
	@tools/check-unused
	@tools/check-policy
	@tools/policy-page --check

coverage: deps ## line coverage of the quick tier, as HTML in build/coverage/html; what is not reached in the parsers
	@cmake --preset coverage >/dev/null
	@cmake --build build/coverage -j$(JOBS)
	@lcov --quiet --zerocounters --directory build/coverage
	@$(CTEST) --test-dir build/coverage -L quick
	@lcov --quiet --capture --directory build/coverage --output-file build/coverage/all.info
	@lcov --quiet --extract build/coverage/all.info "$(CURDIR)/src/*" "$(CURDIR)/cli/*" --output-file build/coverage/sock.info
	@genhtml --quiet build/coverage/sock.info --output-directory build/coverage/html
	@lcov --summary build/coverage/sock.info
	@tools/unreached >build/coverage/unreached.txt
	@echo "$$(grep -c 'never run' build/coverage/unreached.txt) lines of the parsers were not reached: build/coverage/unreached.txt"

clean: ## remove build/
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
