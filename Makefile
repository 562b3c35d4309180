# Every command works on a fresh machine with Python, git and make; each can be run again at will.
PYTHON ?= python3
BIN := .venv/bin
SITE := _build/html/index.html
# CUDA=yes takes PyTorch's usual build also where no GPU is to be seen.
CUDA_OPTION := $(if $(CUDA),--cuda)

# make and the shell would take these signs out of a comment, or run what stands between them.
ifneq ($(findstring $$,$(value OPTIONS))$(findstring `,$(value OPTIONS)),)
$(error OPTIONS holds a $$ or a backtick, which would not arrive as they are: put such a comment into a table, and name that with --points)
endif

.PHONY: help book serve check test test-all system lab execute seeds experiments times exercises task bench grade audit address
.PHONY: autograder student-site format clean

help: ## list the commands; what may be left out stands in [ ]
	@sed -nE 's/^([a-z-]+):.*## /  make \1 \t/p; s/^## /\t/p' $(MAKEFILE_LIST) | expand -t 22

# Pages hold what others say (sources, terms, headings), and a build renews only those that changed
# themselves: what all share makes it start afresh, and so does `make test`.
SHARED := _config.yml _toc.yml pages/references.bib pages/glossary.md $(wildcard _ext/* _static/* _templates/*)

_build/shared.stamp: $(SHARED)
	@rm -rf _build && mkdir _build && touch $@

book: .venv/book.stamp _build/shared.stamp ## build the site (the first time, install what it needs)
	@$(BIN)/jupyter-book build -W -n --keep-going --quiet . || { \
	  echo "The site has faults: the lines above with WARNING or ERROR name the file and line."; exit 1; }
	@echo "The site is built. Open file://$(CURDIR)/$(SITE) or run: make serve"

serve: book ## show the site on http://localhost:8000
	@echo "Serving http://localhost:8000 (stop with Ctrl-C)"
	@$(PYTHON) -m http.server 8000 --bind 127.0.0.1 --directory _build/html

check: .venv/full.stamp ## style, rules and what is named: NB=notebook, FILE=module, TASK=name
	@$(BIN)/python tools/offline.py $(BIN)/python tools/check.py \
	  $(addprefix NB=,$(NB)) $(addprefix FILE=,$(FILE)) $(addprefix TASK=,$(TASK))

TESTS := $(BIN)/python tools/offline.py $(BIN)/python -m pytest -n auto --no-loadscope-reorder
FAULTY := { echo "Something is wrong: the short summary above names each failed check."; exit 1; }

test: system .venv/full.stamp book ## check what a change can break: code, notebooks, exercises, site
	@$(TESTS) -m "not full and not grader" || $(FAULTY)

test-all: system .venv/full.stamp ## check everything, as CI does [PART=notebooks, code, site or grader]
	@rm -rf _build
	@$(MAKE) --no-print-directory book
	@$(TESTS) $(if $(PART),--part $(PART)) || $(FAULTY)

system:
	@sh tools/system.sh chromium bwrap

lab: .venv/bin/python ## Jupyter Lab on the lectures (the first time, install what they need) [CUDA=yes]
	@$(BIN)/python tools/lab.py $(CUDA_OPTION)

execute: .venv/full.stamp ## run notebooks and store their outputs (NB=lectures/NAME.ipynb for one)
	@$(BIN)/python tools/offline.py $(BIN)/python tools/execute.py $(NB)

seeds: .venv/full.stamp ## run a notebook from other seeds: which claims hang on one? NB=… [BY=5]
	@$(BIN)/python tools/offline.py $(BIN)/python tools/seeds.py $(NB) $(BY)

experiments: .venv/full.stamp ## run the long trainings whose tables the lectures show (NAME=order for one)
	@for file in experiments/$(or $(NAME),*).py; do name=$$(basename $$file .py); \
	  [ $$name = search ] || $(BIN)/python -m experiments.$$name || exit 1; done

times: .venv/full.stamp ## compute and write how long each lecture takes (NB=lectures/NAME.ipynb for one)
	@$(BIN)/python tools/times.py $(NB)

exercises: .venv/full.stamp ## make the student notebooks from solutions/
	@$(BIN)/python -m grading.generate

task: .venv/full.stamp ## begin a task: LECTURE=4 NAME=hidden_words makes its file and cells
	@test -n "$(LECTURE)" -a -n "$(NAME)" || { echo "Say which: make task LECTURE=4 NAME=hidden_words"; exit 1; }
	@$(BIN)/python tools/new_task.py "$(LECTURE)" "$(NAME)"

bench: .venv/full.stamp ## measure attention beside torch's, and the cache; store the times (minutes)
	@$(BIN)/python benchmarks/attention.py
	@$(BIN)/python benchmarks/decoding.py

grade: .venv/full.stamp ## grade a class: SUBMISSIONS=folder-or-zip [LECTURE=2] [ROSTER=class.csv]
##   [POLICY=class.toml] the rules of the class  [OUT=dir] where the results go
##   [TABLE=worksheet.csv] Moodle's worksheet or Canvas's gradebook, to be filled in
##   [OPTIONS='--correct ID TASK POINTS COMMENT'] and all else that pages/instructors.md names:
##     --points TABLE, --author NAME, --assign FILE ID, --count FILE, --participants TABLE,
##     --column NAME, --scale, --term DIR, --student ID, --seed N, --jobs N, --unsafe; OPTIONS=--help explains them
	@test -n "$(SUBMISSIONS)$(filter -h --help,$(OPTIONS))" || { echo "Name what was handed in: make grade SUBMISSIONS=folder-or-zip"; exit 1; }
	@sh tools/system.sh bwrap
	@$(BIN)/python -m grading.classroom "$(SUBMISSIONS)" $(if $(OUT),--out "$(OUT)") $(if $(LECTURE),--lecture $(LECTURE)) \
	  $(if $(ROSTER),--roster "$(ROSTER)") $(if $(POLICY),--policy "$(POLICY)") $(if $(TABLE),--table "$(TABLE)") $(OPTIONS)

autograder: .venv/full.stamp ## make Gradescope's zip: LECTURE=2 [POLICY=class.toml] [SEED=N] [OUT=a.zip]
	@test -n "$(LECTURE)" || { echo "Name the sheet: make autograder LECTURE=2"; exit 1; }
	@$(BIN)/python tools/autograder.py $(LECTURE) $(if $(SEED),--seed $(SEED)) $(if $(POLICY),--policy "$(POLICY)") \
	  $(if $(OUT),--out "$(OUT)")

student-site: .venv/book.stamp ## build the site without the model answers, into _build/student/_build/html
	@$(BIN)/python tools/student_site.py

audit: book ## measure the site with Lighthouse, which needs node and npm (PAGE=index.html for one)
	@$(BIN)/python tools/audit.py $(PAGE)

address: .venv/full.stamp ## write the repository's address and the version into every notebook
	@$(BIN)/python tools/address.py

format: .venv/full.stamp ## format the code and mend what can be mended
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format . ; $(BIN)/python tools/sources.py

clean: ## remove what the commands made, but not the environment
	@rm -rf _build .pytest_cache .ruff_cache .hypothesis build *.egg-info
	@echo "Cleaned. The environment in .venv stays; remove that folder to start afresh."

.venv/bin/python:
	@sh tools/system.sh venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Creating the environment .venv"
	@$(PYTHON) -m venv .venv

.venv/book.stamp: .venv/bin/python requirements-book.txt
	@echo "Installing what the site needs (about half a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-book.txt || { \
	  echo "pip could not install requirements-book.txt. With the network back, run make again."; exit 1; }
	@touch $@

.venv/full.stamp: .venv/book.stamp requirements.txt pyproject.toml
	@echo "Installing what the lectures and tests need (some minutes, 1.5 GB)"
	@$(BIN)/python tools/pytorch.py $(CUDA_OPTION)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt || { \
	  echo "pip could not install requirements.txt. With the network back, run make again."; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
