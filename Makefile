# Every target first installs what it needs, from the lock file, into this folder.
SHELL := /bin/bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# As bin/annex.js does.
export UV_THREADPOOL_SIZE ?= 16
.DEFAULT_GOAL := help
.PHONY: help run demo dev test test-console test-wall torture check docs screenshots lint-api types migrate simulate bench soak kills power-cut operators conformance clean

# isolated-vm needs the flag wherever a process holds isolates itself: some tests do.
node := node --no-node-snapshot
installed := node_modules/.installed
# Compilers by the names of their packages.
to_compile = apt-get install python3 g++ (Debian, Ubuntu), dnf install python3 gcc-c++ (Fedora), \
	apk add python3 g++ (Alpine) or xcode-select --install (macOS)
# Every step runs, whatever became of those before it: a broken manifest must not hide the errors of a script.
steps = failed=(); step() { "$$@" || failed+=("$$*"); }; \
	finish() { [ $${\#failed[@]} -eq 0 ] || { printf '$@: failed: %s\n' "$${failed[@]}" >&2; exit 1; }; }

help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(installed) .env ## Starts Annex: installs, migrates, loads plugins/, prints what to do next
	@exec node bin/annex.js serve

dev: $(installed) .env ## Starts Annex, loads a plugin folder again when a file in it changes, shows what scripts log
	@exec node bin/annex.js serve --watch

demo: $(installed) ## Tells the main job as a story: an event, three attempts, a verified signature
	@node host/cli/main.ts demo

test: $(installed) ## Runs the tests on SQLite, and those of the database on PostgreSQL, too, where there is one
	@node test/run.ts test

test-console: $(installed) ## Runs the stories of the console in Chromium
	@node test/run.ts console

test-wall: $(installed) ## Runs attacks, kills, power cuts and full disks, one file after the other
	@node test/run.ts wall

check: $(installed) .env ## Types, lint, format, import direction, generated files
	@$(steps); \
	step tsc -p .; \
	step tsc -p runtime; \
	step tsc -p host/console/app; \
	if [ -d test/bench/peers/node_modules ]; then step tsc -p test/bench/peers; fi; \
	step node schemas/generate/generate-types.ts --check; \
	step node docs/generate/generate-docs.ts --check; \
	step node host/cli/main.ts types --check; \
	step node test/support/compile-plugins.ts; \
	step biome check .; \
	step node --test --test-reporter=dot test/imports.test.ts test/words.test.ts; \
	finish; \
	echo 'check: types, lint, format, import direction and generated files are in order'

docs: $(installed) ## Writes the reference of the API as one HTML page, and prints its address
	@node docs/generate/write-docs.ts

screenshots: $(installed) ## Writes the pictures of docs/images, in Chromium
	@$(node) test/screenshots.ts

# Fetches Redocly's linter by npx. Its telemetry is off.
lint-api: $(installed) ## Checks the OpenAPI document by Redocly's recommended rules
	@node schemas/generate/write-openapi.ts node_modules/.cache/openapi.json
	@REDOCLY_TELEMETRY=off npx --yes @redocly/cli@2.77.0 lint --extends=recommended node_modules/.cache/openapi.json

types: $(installed) .env ## Generates the types of schemas and of plugin settings, and checks the scripts against them
	@$(steps); \
	step node schemas/generate/generate-types.ts; \
	step node docs/generate/generate-docs.ts; \
	step node host/cli/main.ts types; \
	step node test/support/compile-plugins.ts; \
	finish

migrate: $(installed) ## Brings the tables of the database up to date
	@node host/cli/main.ts migrate

torture: $(installed) ## Plays the long rounds of attacks, kills, power cuts, operators, soak and simulation; an hour
	@node test/run.ts torture

simulate: $(installed) ## Plays the job engine's schedules of faults: SCHEDULES=10000 of them, or one SEED=
	@SCHEDULES='$(SCHEDULES)' SEED='$(SEED)' node test/simulation/simulate.ts

bench: $(installed) ## Measures requests beside bare Koa and workerd, cold starts, streams; deliveries beside other queues
	@for part in requests cold folders replacement many burst overhead flood api-calls lists streaming content console \
			deliveries deliveries-latency deliveries-backlog deliveries-fairness deliveries-recovery; do \
		printf '\n%s\n' "$$part"; node "test/bench/$$part.ts" || exit; \
	done

soak: $(installed) ## Hostile and honest installations side by side for ten minutes, or MINUTES=
	@exec node test/soak/soak.ts

kills: $(installed) ## Kills host and sandbox processes again and again, and counts: nothing is lost; ROUNDS= SEED= HOSTS=
	@exec node test/soak/kills/kills.ts

power-cut: $(installed) ## Forgets whatever was not synced, again and again: nothing acknowledged is missing; ROUNDS= SEED=
	@exec node test/soak/power-cut/power-cut.ts

operators: $(installed) ## People at random beside deliveries, on several hosts: nothing is lost, late or refused; MINUTES= SEED= HOSTS=
	@exec node test/soak/operators/operators.ts

# WPT is a checkout of web-platform-tests (its repository's main branch, whole or with the folders that areas.ts names).
conformance: $(installed) ## Runs the web-platform-tests in isolates; WPT=FOLDER is a checkout of web-platform-tests
	@$(node) test/conformance/run-wpt.ts --wpt '$(WPT)' $(AREAS)

clean: ## Removes what was installed and generated, and the data of this folder
	rm -rf node_modules data

.env:
	@cp .env.example .env

# Not `npm ci`, which removes node_modules first. On a machine without a compiler the output of node-gyp does not help.
$(installed): package.json package-lock.json
	@echo 'Installing the dependencies: about a minute, and three more where sqlite3 has to be compiled.'
	@mkdir -p $(@D)
	@npm install --no-save --no-audit --no-fund --loglevel=error 2>$@-errors || { \
		missing=(); for tool in python3 $(CXX); do command -v $$tool >/dev/null || missing+=($$tool); done; \
		if [ $${#missing[@]} -gt 0 ] && grep -q node-gyp $@-errors; then \
			echo "make: sqlite3 has to be compiled and this machine lacks $${missing[*]}. Run make again after $(to_compile)." >&2; \
		else cat $@-errors >&2; fi; \
		exit 1; \
	}
	@touch $@
