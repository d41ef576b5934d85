# Warpwise: every command of the course. Type `make` to see them.
#
#   make lesson-1       grade exercises/01-*.cu, as often as you like
#   make test           build and test everything
#
# The folder is the list: a lesson is whatever lies in lessons/. All output is under build/.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:
.DEFAULT_GOAL := help

# ---- The lessons: 01-first-kernel, 05-transpose, ...

lessons    := $(sort $(basename $(notdir $(wildcard lessons/[0-9][0-9]-*.md))))
numbers    := $(patsubst 0%,%,$(foreach l,$(lessons),$(firstword $(subst -, ,$l))))
pages      := index $(lessons) $(basename $(filter-out index.md,$(notdir $(wildcard book/*.md)))) instructions accuracy
book_files := build/book/style.css build/book/book.js
name        = $(firstword $(filter $1-% 0$1-%,$(lessons)))

# ---- The tests: a program for each simulator/test/*.c, and the scripts in any test/

test_programs := $(patsubst simulator/test/%.c,build/test/simulator-%,$(wildcard simulator/test/*.c))
test_scripts  := $(wildcard */test/*.sh */test.sh)

# Each suite's name and command, as grader/suite.sh takes them; as many run side by side as there are cores. What takes
# long comes first.
script_name = $(subst /,-,$(subst /test,,$(basename $1)))
suites      = $(foreach t,$(basename $(notdir $(test_programs))),'$t build/test/$t') \
              $(foreach l,$(lessons),'lesson-$l sh grader/try.sh $l') \
              $(foreach s,$(test_scripts),'$(call script_name,$s) sh $s')

# ---- What a machine needs, as package=probe; a probe is a command, a header, or a path.

needs_lesson := gcc=gcc g++=g++ libc6-dev=stdio.h libcriterion-dev=criterion/criterion.h \
                libffi-dev=ffi.h libjansson-dev=jansson.h libconfig-dev=libconfig.h \
                libzstd-dev=zstd.h liblz4-dev=lz4.h libpng-dev=png.h libdw-dev=elfutils/libdw.h libelf-dev=libelf.h
needs_toolkit := python3-pip=pip3
needs_watch  := inotify-tools=inotifywait
needs_book   := pandoc=pandoc zip=zip unzip=unzip
needs_pdf    := chromium=chromium poppler-utils=pdfinfo \
                fonts-sil-charis=/usr/share/fonts/truetype/charis fonts-inter=/usr/share/fonts/opentype/inter
needs_bench  := oclgrind=oclgrind pocl-opencl-icd=/etc/OpenCL/vendors/pocl.icd ocl-icd-opencl-dev=CL/cl.h
needs_test   := $(needs_pdf) $(needs_toolkit) epubcheck=epubcheck aspell-en=aspell tmux=tmux \
                openmpi-bin=mpirun libopenmpi-dev=mpicc clang-format=clang-format
# Left out where apt does not have it, as Ubuntu's; the book's test then says what it could not do.
optional     := chromium fonts-sil-charis fonts-inter epubcheck

# The compiler: in CUDA_HOME if that is set, else the nvcc on PATH, else /usr/local/cuda. Where that is not a toolkit of
# version 13, a copy of our own in build/cuda (setup/toolkit.sh).
NVCC      ?= $(or $(shell command -v nvcc 2>&1),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
own_cuda  := $(CURDIR)/build/cuda
whole      = $(and $1,$(wildcard $1/bin/nvcc),$(wildcard $1/lib64/libcudart.so.13))
override CUDA_HOME := $(if $(call whole,$(CUDA_HOME)),$(CUDA_HOME),$(own_cuda))
override NVCC      := $(CUDA_HOME)/bin/nvcc
export CUDA_HOME
export PATH := $(CUDA_HOME)/bin:$(PATH)

CC      := gcc
CFLAGS  := -std=gnu17 -O2 -g -Wall -Wextra -Werror -MMD -MP
CUDA     = -isystem $(CUDA_HOME)/include

# What a recipe makes is whole, or not there: it is written under a name that no other make has, and renamed. So two makes
# at once do no harm, and one that is killed leaves nothing behind that the next would trust. Ends a command, behind -o or >.
whole = $@.$$$$ && mv $@.$$$$ $@

# $(call compile,flags): an object, with the list of what it was made from.
compile = $(CC) $1 -c -MT $@ -MF $@.$$$$-d $< -o $@.$$$$ && mv $@.$$$$-d $(@:.o=.d) && mv $@.$$$$ $@

# $(call once,thing,words) says the words the first time that a step of that thing runs.
once = $(if $($1_said)$(findstring s,$(firstword -$(MAKEFLAGS))),,$(info $2)$(eval $1_said := yes))

# The simulated device: its program, the CUDA runtime that a program finds in front of it, a driver that says that it is none, and
# NCCL where there is NVIDIA's.
simulator := build/simulator/device build/simulator/lib/libcudart.so.13 build/simulator/lib/libcuda.so.1 \
             $(if $(wildcard $(CUDA_HOME)/include/nccl.h),build/simulator/lib/libnccl.so.2)
says_device := Building the simulated device (once; half a minute)

# ---- The commands

.PHONY: simulated help solutions progress watch doctor setup book book-pdf bundle accuracy device-profile bench-simulator test check clean nvcc FORCE

# What grading lesson N takes; nothing when there is no such lesson.
grading = $(if $(call name,$1),nvcc build/grader/$(call name,$1) build/grader/worker.o \
          $(simulator))

desk = $(if $(call name,$1),build/grader/study)

help:                                                   ## what you are reading
	@echo 'Warpwise: CUDA lessons, for machines with a GPU and for machines with none.'
	@echo 'Lessons here: $(numbers). Start with: make lesson-1'
	@sed -n '/^[a-z%-]*:.*## /{ s/:.*## /:/; s/%/N/; p; }' Makefile | \
	    while IFS=: read -r command words; do printf '  make %-12s %s\n' "$$command" "$$words"; done

lesson-%: $$(call grading,$$*) FORCE                   ## grade exercises/N-*.cu
	$(known)
	@build/grader/$(call name,$*) exercises/$(call name,$*).cu

solution-%: $$(call grading,$$*) FORCE                 ## grade our own answer to lesson N
	$(known)
	@build/grader/$(call name,$*) solutions/$(call name,$*).cu

solutions: $(foreach l,$(numbers),$(call grading,$l))    ## grade all of our own answers, a line each
	@for l in $(lessons); do \
	    if build/grader/$$l solutions/$$l.cu >build/solutions.log 2>&1; then head -n 1 build/solutions.log; \
	    else cat build/solutions.log; failed=1; fi; done; exit $${failed:-0}

known = @$(if $(call name,$*),:,echo 'There is no lesson $*. Lessons: $(numbers). Type: make lesson-1'; exit 1)

hint-%: $$(call desk,$$*) FORCE                     ## the next of lesson N's three hints; HINT=1: the first again
	$(known)
	@build/grader/study hint $(call name,$*)

profile-%: $$(call grading,$$*) $$(call desk,$$*) FORCE    ## counters and predicted time of exercises/N-*.cu
	$(known)
	@build/grader/study profile $(call name,$*)

quiz-%: $$(call desk,$$*) FORCE                     ## the quiz of lesson N
	$(known)
	@build/grader/study quiz $(call name,$*)

reset-%: $$(call desk,$$*) FORCE                    ## begin exercises/N-*.cu anew; your work is kept beside it
	$(known)
	@build/grader/study reset $(call name,$*)

watch-%: $$(call desk,$$*) FORCE                    ## grade lesson N whenever you save it
	$(known)
	@$(watchful)
	@build/grader/study watch $(call name,$*)

watch: build/grader/study                               ## the same, for the first lesson that does not pass
	@$(watchful)
	@build/grader/study watch

progress: build/grader/study                            ## how far you are, a line a lesson
	@build/grader/study progress

# Everything that grading takes, and no grading.
ready-%: $$(call grading,$$*) FORCE
	$(known)

# Where the tool cannot be had, watching looks at the file twice a second instead.
watchful = $(MAKE) -s build/setup/watch || { echo 'Watching without it: twice a second.'; touch build/setup/watch; }

setup: nvcc build/setup/lesson build/setup/watch build/setup/book build/setup/test   ## install what the course needs
	@echo 'Everything is installed.'

doctor:                                                 ## look at this machine, and say what is missing
	@sh setup/doctor.sh '$(call missing,lesson)' '$(sort $(foreach list,watch book test,$(call missing,$(list))))'

book: $(pages:%=build/book/%.html) $(book_files) build/book/warpwise.epub    ## the book, as web pages and EPUB in build/book/
	@echo 'The book: build/book/index.html and build/book/warpwise.epub'

book-pdf: build/book/warpwise.pdf                           ## the book as a PDF (needs Chromium)
	@echo 'The book: build/book/warpwise.pdf'

check:                                                  ## compare what must agree; runs nothing
	@sh grader/check.sh

bundle: nvcc build/profiles/accuracy $(foreach l,$(numbers),$(call grading,$l)) build/portable/simulator/device    ## all of it in one folder, for a GPU machine
	@sh setup/bundle.sh build/bundle

accuracy: nvcc $$(accuracy) $(foreach l,$(numbers),$(call grading,$l))    ## the simulator's counters and times beside a GPU's
	@sh profiles/accuracy.sh

device-profile: nvcc build/profiles/measure               ## measure this GPU: profiles/devices/NAME.cfg
	@sh profiles/device.sh $(NAME)

bench-simulator: build/bench/cuda build/bench/opencl $(simulator)    ## the simulator's speed beside Oclgrind's and PoCL's
	@sh simulator/bench/run.sh simulator/bench/results.md

test: nvcc build/setup/test build/grader/study $$(accuracy) $(test_programs) $(foreach l,$(numbers),$(call grading,$l)) book    ## run every test
	@rm -rf build/test/counts build/test/*.log build/try
	@unset MAKEFLAGS MAKELEVEL MFLAGS CUDA_VISIBLE_DEVICES; printf '%s\n' $(suites) | xargs -P "$$(nproc)" -I{} sh -c 'sh grader/suite.sh {}'; \
	awk '$$2 { print $$3 }' build/test/counts | while read -r suite; do \
	    echo "$$suite failed:"; grep -v '^[[:space:]]' "build/test/$$suite.log" | head -n 12 | cut -c1-200; done; \
	echo "$(words $(lessons)) lessons, $(words $(wildcard grader/wrong/*/*)) wrong submissions"; \
	awk '{ passed += $$1; failed += $$2 } END { printf "%d passed, %d failed\n", passed, failed; \
	    exit !passed || failed }' build/test/counts

clean:                                                  ## throw away build/, never your exercises
	rm -rf build

# Anything else that was typed.
.DEFAULT:
	@case '$@' in \
	[a-z]*[0-9])    word='$@'; try=$${word%%[-0-9]*}; try=$$try-$${word#$$try} ;; \
	[0-9]*)         try=lesson-$@ ;; \
	*/*)            echo "The file $@ is missing. Type: make check"; exit 1 ;; \
	esac; echo "There is no command '$@'. Type: make $$try"; exit 1

# ---- Setting up: once for each of the lists above, and again when this file changes.

# $(call missing,list) is the packages of a list whose probes fail.
missing = $(shell $(foreach need,$(needs_$1),$(call probe,$(lastword $(subst =, ,$(need)))) \
          >/dev/null 2>&1 || echo $(firstword $(subst =, ,$(need)));))
probe   = $(if $(filter %.h,$1),gcc -include $1 -E -x c /dev/null,$(if $(filter /%,$1),test -e,command -v) $1)

build/setup/%: Makefile
	@mkdir -p $(@D)
	@missing='$(call missing,$*)'; \
	if [ -n "$$missing" ]; then \
	    root=; [ "$$(id -u)" = 0 ] || root=sudo; \
	    if ! command -v apt-get >/dev/null; then \
	        echo "Install these with your package manager (Debian's names): $$missing"; exit 1; fi; \
	    echo "Installing with apt-get, once: $$missing"; \
	    $(call install,$$missing) >build/setup/log 2>&1 </dev/null || \
	    { tail -n 5 build/setup/log; echo "That failed (all of it: build/setup/log). Type:" \
	        $$root apt-get install $$missing; exit 1; }; \
	fi
	@touch $@

install = { $$root apt-get update && wanted= && \
    for package in $1; do \
        case " $(optional) " in *" $$package "*) apt-cache show "$$package" || continue ;; esac; \
        wanted="$$wanted $$package"; done && \
    if [ -n "$$wanted" ]; then \
        $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$wanted; fi; }

nvcc: $(if $(filter $(own_cuda),$(CUDA_HOME)),build/cuda/installed)

build/cuda/installed: setup/toolkit.sh setup/toolkit.txt | build/setup/toolkit
	@sh setup/toolkit.sh build/cuda

# ---- The simulated device, and the CUDA runtime library that talks to it

objects = $(patsubst %.c,build/objects/%.o,$(wildcard $1))

# What they are compiled with, but for where CUDA lies: a newer file only when that changes, and then all are made anew.
build/objects/flags: FORCE
	@mkdir -p $(@D)
	@words='$(CC) $(filter-out $(CUDA_HOME)%,$(CFLAGS) $(device_flags) $(client_flags))'; \
	if [ ! -f $@ ]; then echo "$$words" >$@ && touch -d 2000-01-01 $@; \
	elif [ "$$words" != "$$(cat $@)" ]; then echo "$$words" >$@; fi

# Its rooms: every folder of simulator/ but what runs in the program, measures or tests.
rooms  := $(filter-out client nccl driver bench test,$(patsubst simulator/%/,%,$(wildcard simulator/*/)))
device := $(call objects,simulator/*.c $(rooms:%=simulator/%/*.c))

# All that simulator/run takes.
simulated: $(simulator)

build/simulator/device: $(device)
	@mkdir -p $(@D)
	@$(CC) $^ $(device_libraries) $(beside) -o $(whole)    # whoever runs the old one keeps it

# Libraries that lie beside a program, in build/lib, are taken first: a bundle brings its own.
beside := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib'

device_libraries := -ljansson -lzstd -llz4 -lconfig -ldw -lelf -lstdc++ -lm -lpthread

build/test/simulator-%: build/objects/simulator/test/%.o $(filter-out %/main.o,$(device))
	@mkdir -p $(@D)
	@$(CC) $^ -lcriterion $(device_libraries) -o $(whole)

build/objects/simulator/%.o: simulator/%.c build/objects/flags | nvcc build/setup/lesson
	$(call once,device,$(says_device))
	@mkdir -p $(@D)
	@$(call compile,$(device_flags) -march=native)

speed       := -O3
device_flags = $(CFLAGS) -I$(client) -Isimulator $(speed) -ffp-contract=off -fno-math-errno -fno-trapping-math $(CUDA)

# The same for any machine that a GPU is likely to be in.
build/portable/simulator/device: $(device:build/objects/%=build/portable/objects/%)
	@mkdir -p $(@D)
	@$(CC) $^ $(device_libraries) $(beside) -o $(whole)

build/portable/objects/simulator/%.o: simulator/%.c build/objects/flags | nvcc build/setup/lesson
	$(call once,portable,Building the simulated device for other machines)
	@mkdir -p $(@D)
	@$(call compile,$(device_flags) -march=$(if $(filter x86_64,$(shell uname -m)),x86-64-v3,armv8-a))

# The library exports what the toolkit's own exports: our functions, and for the rest stubs that say so.
client   := build/objects/simulator/client
runtime   = $(CUDA_HOME)/lib64/libcudart.so.13
generate := simulator/client/generate

build/simulator/lib/libcudart.so.13: $(client)/stubs.o $(client)/exports.map $(call objects,simulator/client/*.c)
	@mkdir -p $(@D)
	@$(CC) -shared -Wl,-soname,libcudart.so.13 -Wl,--version-script=$(client)/exports.map $(filter %.o,$^) -o $(whole)

$(client)/%.o: simulator/client/%.c build/objects/flags | nvcc build/setup/lesson $(client)/errors.inc
	@$(call compile,$(client_flags))

client_flags = $(CFLAGS) -fPIC -fvisibility=hidden -I$(client) -Isimulator $(CUDA)

$(client)/errors.inc: $(generate)/errors.c | nvcc build/setup/lesson
	@mkdir -p $(@D)
	@$(CC) $(filter-out -M%,$(CFLAGS)) $(CUDA) -o $@.$$$$-program $< $(runtime) -Wl,-rpath,$(dir $(runtime)) && \
	    $@.$$$$-program >$(whole) && rm $@.$$$$-program

# Kernels ask for them as the host does.
$(foreach to,build build/portable,$(to)/objects/simulator/machine/error_words.o): | $(client)/errors.inc

$(client)/exported: $(call objects,simulator/client/*.c)
	@nm --defined-only $^ >$(whole)

$(client)/stubs.c: $(generate)/stubs.awk $(client)/exported
	@nm -D --defined-only $(runtime) | awk -f $^ - >$(whole)

$(client)/exports.map: $(generate)/stubs.awk $(client)/exported
	@nm -D --defined-only $(runtime) | awk -v map=1 -f $^ - >$(whole)

$(client)/stubs.o: $(client)/stubs.c build/objects/flags
	@$(call compile,$(client_flags) -fno-builtin)

build/simulator/lib/libcuda.so.1: build/objects/simulator/driver/cuda.o
	@mkdir -p $(@D)
	@$(CC) -shared -s -Wl,-soname,libcuda.so.1 $^ -o $(whole)

build/objects/simulator/driver/%.o: simulator/driver/%.c build/objects/flags | nvcc build/setup/lesson
	@mkdir -p $(@D)
	@$(call compile,$(CFLAGS) -g0 -fPIC -fvisibility=hidden $(CUDA))

# NCCL for simulated devices, on CUDA's own calls. The toolkit need not have NVIDIA's; without its nccl.h nobody calls it.
nccl      := build/objects/simulator/nccl
nccl_heads = $(wildcard $(CUDA_HOME)/include/nccl.h $(CUDA_HOME)/include/nccl_device/*.h)

build/simulator/lib/libnccl.so.2: $(nccl)/stubs.o $(nccl)/kernels.o $(call objects,simulator/nccl/*.c)
	@mkdir -p $(@D)
	@$(CC) -shared -Wl,-soname,libnccl.so.2 @$(nccl)/names $^ -L$(dir $(runtime)) -lcudart -lstdc++ -lpthread -o $(whole)

$(nccl)/%.o: simulator/nccl/%.c build/objects/flags | nvcc build/setup/lesson
	@mkdir -p $(@D)
	@$(call compile,$(CFLAGS) -fPIC -fvisibility=hidden $(CUDA))

$(nccl)/kernels.o: simulator/nccl/kernels.cu simulator/nccl/kernels.h | nvcc
	$(call once,device,$(says_device))
	@mkdir -p $(@D)
	@$(NVCC) -std=c++17 -O2 -cudart shared -Xcompiler -fPIC,-fvisibility=hidden -gencode arch=compute_75,code=compute_75 -c $< -o $(whole)

$(nccl)/exported: $(call objects,simulator/nccl/*.c)
	@nm --defined-only $^ >$(whole)

$(nccl)/stubs.c: simulator/nccl/stubs.awk $(nccl)/exported
	@awk -v names=1 -f $^ $(nccl_heads) >$(nccl)/names
	@awk -f $^ $(nccl_heads) >$(whole)

$(nccl)/stubs.o: $(nccl)/stubs.c
	@$(call compile,$(CFLAGS) -fPIC -fvisibility=hidden)

# ---- The simulator's benchmark: the same kernels in CUDA and in OpenCL

build/bench/cuda: simulator/bench/cuda.cu simulator/bench/work.h | nvcc
	@mkdir -p $(@D)
	@$(NVCC) -std=c++17 -O2 -lineinfo -cudart shared -gencode arch=compute_90,code=[compute_90,sm_90] $< -o $(whole)

build/bench/opencl: simulator/bench/opencl.c simulator/bench/work.h | build/setup/bench
	@mkdir -p $(@D)
	@$(CC) -std=gnu17 -O2 -Wall -Wextra -Werror $< -lOpenCL -o $(whole)

# ---- Profiles: what measures a GPU, and the simulated device beside one

accuracy := build/profiles/accuracy $(simulator) \
            $(patsubst profiles/accuracy/kernels/%.cu,build/accuracy/%,$(wildcard profiles/accuracy/kernels/*.cu))
own_arch  = $(or $(ARCH),$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>&1 | sed -n '1s/^\([0-9]*\)\.\([0-9]\)$$/\1\2/p'),90)
nvcc_own  = $(NVCC) -std=c++17 -O3 -lineinfo -cudart shared -gencode arch=compute_$(own_arch),code=[compute_$(own_arch),sm_$(own_arch)]

build/accuracy/%: profiles/accuracy/kernels/%.cu profiles/accuracy/kernels/exercise.h | nvcc
	$(call once,kernels,Compiling the kernels that the simulated device is compared with a GPU by (once))
	@mkdir -p $(@D)
	@$(nvcc_own) -Igrader/lessons -MMD -MT $@ -MF $@.d $< -o $(whole)

build/profiles/measure: $(wildcard profiles/devices/measure/*) | nvcc
	@mkdir -p $(@D)
	@$(nvcc_own) $(filter %.cu,$^) -o $(whole)

build/profiles/accuracy: $(call objects,profiles/accuracy/program/*.c)
	@mkdir -p $(@D)
	@$(CC) $^ -ljansson -lconfig -lm $(beside) -o $(whole)

build/objects/profiles/%.o: profiles/%.c build/objects/flags | build/setup/lesson
	@mkdir -p $(@D)
	@$(call compile,$(CFLAGS))

# ---- The grader: one program for each lesson, and the harness that is linked with a submission

build/objects/grader/worker.o: CFLAGS += $(CUDA)
build/objects/grader/worker.o: | nvcc
build/grader/worker.o: build/objects/grader/worker.o grader/worker.ld
	@mkdir -p $(@D)
	@ld -r -T grader/worker.ld $< -o $(whole)

build/grader/%: build/objects/grader/lessons/%.o $(filter-out %/worker.o,$(call objects,grader/*.c))
	@mkdir -p $(@D)
	@$(CC) $^ -lcriterion -ljansson -lconfig -lpng -lm $(beside) -o $(whole)

build/objects/grader/%.o: grader/%.c build/objects/flags | build/setup/lesson
	$(call once,grader,Building the grader (once))
	@mkdir -p $(@D)
	@$(call compile,$(CFLAGS) -Igrader)

# The commands around grading: hints, quizzes, progress, watching.
study := process text verdict
build/grader/study: $(call objects,grader/study/*.c) $(study:%=build/objects/grader/%.o)
	@mkdir -p $(@D)
	@$(CC) $^ -ljansson -lconfig -lm -o $(whole)

# ---- The book: lessons/*.md and book/*.md, a page each

# Where the text of a page is.
text = $(firstword $(wildcard lessons/$1.md book/$1.md) build/book/$1.md)

# What it quotes, and what is drawn in it.
quoted = $(wildcard solutions/$1.cu profiles/figures/$1.txt profiles/figures/$1-*.txt) book/plot.awk book/timeline.awk

# The pictures of a page: those of grader/pictures/, and what the lesson's solution makes of them.
pictured := $(basename $(notdir $(shell grep -l '<img src="pictures/' lessons/*.md)))
pictures  = $(if $(filter $1,$(pictured)),build/book/pictures/$1.json)

build/book/pictures/%.json: solutions/%.cu build/grader/% $(wildcard grader/pictures/*.png) | $$(call grading,$$(patsubst 0%,%,$$(firstword $$(subst -, ,$$*))))
	@mkdir -p $(@D)
	@cp $(filter %.png,$^) $(@D)
	@DEVICE=simulator/run build/grader/$* --result $@ $< >$(@D)/$*.log || { cat $(@D)/$*.log; exit 1; }

book_parts := book/common.lua book/numbers.lua book/quotes.lua book/verdicts.md build/book/labels.txt
book_env   := BOOK_CONTENTS=build/book/contents BOOK_LABELS=build/book/labels.txt
pandoc     := pandoc --fail-if-warnings --standalone
filters     = --from markdown --lua-filter book/numbers.lua --lua-filter book/quotes.lua --lua-filter $1
colours    := --mathml --syntax-definition book/cuda.xml

$(book_files): build/book/%: book/%
	@mkdir -p $(@D)
	@cp $< $@

build/book/%.html: $$(call text,$$*) $$(call quoted,$$*) $$(call pictures,$$*) $(book_parts) book/web.lua book/template.html book/cuda.xml
	$(call once,book,Building the book)
	@$(book_env) $(pandoc) $(call filters,book/web.lua) $(colours) --to html5 --toc --toc-depth=2 \
	    --template book/template.html -o $@ $<

# The bound book: every page as a chapter of one document, which makes the EPUB and the PDF.
bound := $(pages:%=build/book/bound/%.json)

build/book/bound/%.json: $$(call text,$$*) $$(call quoted,$$*) $$(call pictures,$$*) $(book_parts) book/bound.lua
	@mkdir -p $(@D)
	@$(book_env) $(pandoc) $(call filters,book/bound.lua) --to json -o $@ $<

bound_as = $(pandoc) --resource-path build/book --wrap none $(colours) --metadata-file book/bound.yaml $(bound)

build/book/warpwise.epub: $(bound) book/bound.yaml book/epub.sh book/epub.css book/cover.svg book/cuda.xml
	$(call once,book,Building the book)
	@sh book/epub.sh $@ $(bound_as) --to epub3 --toc --toc-depth=2 --epub-chapter-level=1 \
	    --highlight-style monochrome --css book/epub.css --epub-cover-image book/cover.svg

build/book/warpwise.pdf: $(bound) book/bound.yaml book/print.lua book/print.html book/pdf.sh book/cuda.xml \
        build/book/print.css $(book_files) | build/setup/pdf
	$(call once,pdf,Printing the book)
	@sh book/pdf.sh $@ $(bound_as) --to html5 --lua-filter book/print.lua --template book/print.html

build/book/print.css: book/print.css
	@cp $< $@

# The labels that pages point to; a new file only when one of them changes.
build/book/labels/%: $$(call text,$$*) book/common.lua book/numbers.lua build/book/contents
	@mkdir -p $(@D)
	@BOOK_CONTENTS=build/book/contents pandoc --lua-filter book/numbers.lua --to plain -o $@ $<

build/book/labels.txt: $(pages:%=build/book/labels/%)
	@cat $^ >$@.new
	@cmp -s $@.new $@ || mv $@.new $@; rm -f $@.new

# The pages in order, with their titles; a new file only when something in it changes.
build/book/contents: build/book/instructions.md build/book/accuracy.md FORCE | build/setup/book
	@mkdir -p $(@D)
	@for page in $(pages); do \
	    file=$$(ls lessons/$$page.md book/$$page.md build/book/$$page.md 2>/dev/null | head -n 1); \
	    title=$$(sed -n '/^# /{ s/^# *//; s/ *{.*}$$//; s/[`*]//g; p; q; }' "$$file"); \
	    printf '%s\t%s\n' "$$page" "$$title"; \
	done >$@.new
	@cmp -s $@.new $@ || mv $@.new $@; rm -f $@.new

build/book/accuracy.md: profiles/accuracy/nvidia-h200.md
	@mkdir -p $(@D)
	@cp $< $@

# The simulator's instruction table, spelt out by the preprocessor from the rows that the executor has.
build/book/instructions.md: book/instructions.sh $(wildcard simulator/isa/*.def)
	@mkdir -p $(@D)
	@sh book/instructions.sh simulator/isa/isa.def >$@

Makefile: ;
# The slashes follow links: grader/try.sh's trees have some.
-include $(shell find build/*/ -name '*.d' 2>/dev/null)
