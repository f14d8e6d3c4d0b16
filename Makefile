# Entry points of the README. Everything else is CMake: see CMakePresets.json.
JOBS ?= $(shell nproc)
PRESET ?= release
BUILD = build/$(PRESET)
# The folder of real models that the tests of label `outside` read. `make test` looks at nothing beside the clone.
TILEWRIGHT_OUTSIDE ?= ../shared
export OMP_WAIT_POLICY ?= passive

.PHONY: demo test test-outside test-all test-threads figures format build install package wheel docs check clean

demo:
	scripts/install-deps run
	$(MAKE) --no-print-directory build TARGETS="tilewright"
	$(BUILD)/tilewright demo -o build/lenet
	@echo "The command is $(CURDIR)/$(BUILD)/tilewright: add its folder to PATH, or install it (make install)."

build:
	cmake --preset $(PRESET)
	cmake --build $(BUILD) -j $(JOBS) $(if $(TARGETS),--target $(TARGETS))

test:
	scripts/install-deps test
	$(MAKE) --no-print-directory build
	ctest --test-dir $(BUILD) -L fast -j $(JOBS) --output-on-failure

test-outside:
	@test -d "$(TILEWRIGHT_OUTSIDE)/models" || { echo "no folder of real models at $(TILEWRIGHT_OUTSIDE): name one, \
	  make test-outside TILEWRIGHT_OUTSIDE=FOLDER"; exit 1; }
	scripts/install-deps test
	$(MAKE) --no-print-directory build TARGETS="outside_tests"
	TILEWRIGHT_OUTSIDE="$(abspath $(TILEWRIGHT_OUTSIDE))" \
	  ctest --test-dir $(BUILD) -L '^outside$$' -j $(JOBS) --output-on-failure

test-all:
	scripts/install-deps all
	$(MAKE) --no-print-directory build
	ctest --test-dir $(BUILD) -L "fast|slow" -j $(JOBS) --output-on-failure
	$(MAKE) --no-print-directory build PRESET=dev
	ctest --test-dir build/dev -L fast -j $(JOBS) --output-on-failure

# The programs of the modules that start threads (host's are left out: its libgomp is not built for the sanitizer).
THREADED = base/base_test search/search_test tune/tune_test
test-threads:
	scripts/install-deps test
	$(MAKE) --no-print-directory build PRESET=tsan TARGETS="$(notdir $(THREADED))"
	for program in $(THREADED); do build/tsan/src/tilewright/$$program --gtest_brief=1 || exit 1; done

figures:
	scripts/install-deps test
	$(MAKE) --no-print-directory build
	$(MAKE) --no-print-directory build TARGETS=figures
	scripts/figures $(BUILD)

# The documentation site, build/docs/site: strict, so a dead link fails. Search wants a server:
# python3 -m http.server --directory build/docs/site
docs:
	scripts/install-deps docs
	$(MAKE) --no-print-directory build TARGETS="tilewright"
	mkdocs build --quiet
	@echo "The site is $(CURDIR)/build/docs/site/index.html."

format:
	git ls-files '*.h' '*.cpp' | xargs clang-format -i

install: build
	cmake --install $(BUILD)

# A .deb with the command, the libraries and the Python package; its folder: build/packages.
package:
	scripts/install-deps package
	$(MAKE) --no-print-directory build TARGETS="tilewright manual tilewright_python"
	cpack --config $(BUILD)/CPackConfig.cmake -B build/packages

# The Python package for Debian's Python, into build/packages. `pip install .` does the same.
wheel:
	scripts/install-deps package
	/usr/bin/python3 -m pip wheel --no-deps --wheel-dir build/packages .

clean:
	rm -rf build
