# What the course's Makefile shares with a bundle's (setup/bundle.mk): where the compiler is, the commands that grade and
# compare, and those around grading. Both say beforehand what `lessons` there are, and have their own ways to `nvcc`, to what grading lesson N
# takes, $(call grading,N), to what a class takes besides, $(classroom), and to what comparing takes, $(accuracy).

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:
.DEFAULT_GOAL := help
.PHONY: help accuracy grade progress replay nvcc which-nvcc FORCE

numbers := $(patsubst 0%,%,$(foreach l,$(lessons),$(firstword $(subst -, ,$l))))
name     = $(firstword $(filter $1-% 0$1-%,$(lessons)))
# The program of the commands around grading, for a lesson that there is.
desk     = $(if $(call name,$1),build/grader/study)
known    = @$(if $(call name,$*),:,echo 'There is no lesson $*. Lessons: $(numbers). Type: make lesson-1'; exit 1)

# The compiler: in CUDA_HOME if that is set, else the nvcc on PATH, else /usr/local/cuda. Where that is not a toolkit of
# version 13, a copy of our own in build/cuda (setup/toolkit.sh).
NVCC      ?= $(or $(shell command -v nvcc 2>&1),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
own_cuda  := $(CURDIR)/build/cuda
toolkit    = $(and $1,$(wildcard $1/bin/nvcc),$(wildcard $1/lib64/libcudart.so.13))
override CUDA_HOME := $(if $(call toolkit,$(CUDA_HOME)),$(CUDA_HOME),$(own_cuda))
override NVCC      := $(CUDA_HOME)/bin/nvcc
export CUDA_HOME
export PATH := $(CUDA_HOME)/bin:$(PATH)

which-nvcc: nvcc
	@echo $(NVCC)

# What a recipe makes is whole, or not there: it is written under a name that no other make has, and renamed. So two makes
# at once do no harm, and one that is killed leaves nothing behind that the next would trust. Ends a command, behind -o or >.
whole = $@.$$$$ && mv $@.$$$$ $@

# $(call once,thing,words) says the words the first time that a step of that thing runs.
once = $(if $($1_said)$(findstring s,$(firstword -$(MAKEFLAGS))),,$(info $2)$(eval $1_said := yes))

# ---- The commands that both have

help:                                                   ## what you are reading
	@echo 'Warpwise: CUDA lessons, for machines with a GPU and for machines with none.'
	@echo 'Lessons here: $(numbers). Start with: make lesson-1'
	@sed -n '/^[a-z%-]*:.*## /{ s/:.*## /:/; s/%/N/; p; }' $(filter %.mk,$(MAKEFILE_LIST)) Makefile | \
	    while IFS=: read -r command words; do printf '  make %-15s %s\n' "$$command" "$$words"; done

lesson-%: $$(call grading,$$*) FORCE                   ## grade exercises/N-*.cu
	$(known)
	@build/grader/$(call name,$*) exercises/$(call name,$*).cu

solution-%: $$(call grading,$$*) FORCE                 ## grade our own answer to lesson N
	$(known)
	@build/grader/$(call name,$*) solutions/$(call name,$*).cu

hint-%: $$(call desk,$$*) FORCE                     ## the next of lesson N's three hints; HINT=1: the first again
	$(known)
	@build/grader/study hint $(call name,$*)

profile-%: $$(call grading,$$*) $$(call desk,$$*) FORCE    ## counters and predicted time of exercises/N-*.cu
	$(known)
	@build/grader/study profile $(call name,$*)

compare-%: $$(call grading,$$*) $$(call desk,$$*) FORCE    ## once lesson N passes: your answer beside ours
	$(known)
	@build/grader/study compare $(call name,$*)

quiz-%: $$(call desk,$$*) FORCE                     ## the quiz of lesson N
	$(known)
	@build/grader/study quiz $(call name,$*)

reset-%: $$(call desk,$$*) FORCE                    ## begin exercises/N-*.cu anew; your work is kept beside it
	$(known)
	@build/grader/study reset $(call name,$*)

grade: $$(foreach l,$$(numbers),$$(call grading,$$l)) $$(classroom)    ## grade a class: SUBMISSIONS=its folder GRADES=where they go (SLURM=1: on a cluster; GPU=1: what is right on GPUs too)
	@[ -n '$(SUBMISSIONS)' ] || { echo 'Say where the submissions are: make grade SUBMISSIONS=FOLDER, with a folder or an archive for each student.'; exit 1; }
	@build/grader/class $(if $(GPU),--gpu '$(GPU)') $(if $(SLURM),--slurm) '$(SUBMISSIONS)' '$(or $(GRADES),grades)'

progress: build/grader/study                            ## how far you are, a line a lesson
	@build/grader/study progress

# A token begins with its lesson's number, which a variant's word may follow.
token_lesson = $(firstword $(subst +, ,$(subst :, ,$(TOKEN))))
replay: $$(call grading,$$(token_lesson)) build/grader/study FORCE    ## a mark of your class, on this machine: TOKEN=, or another FILE=
	@[ -n "$$TOKEN" ] || { echo 'Say which mark: make replay TOKEN=..., a word from the gradebook.'; exit 1; }
	@build/grader/study replay "$$TOKEN" "$$FILE"

record-%: $$(call grading,$$*) FORCE                   ## grade all versions of lesson N on a GPU, and keep the figures
	$(known)
	@sh profiles/record.sh $(call name,$*)

attacks-gpu: nvcc build/grader/sandbox $$(foreach l,$$(numbers),$$(call grading,$$l)) FORCE    ## which attacks land where a GPU alone judges
	@sh grader/attacks.sh

repeat-%: $$(call grading,$$*) FORCE                   ## time lesson N's solution 50 times on a GPU, and count the verdicts: TIMES=, VERSION=
	$(known)
	@sh profiles/repeat.sh $(call name,$*) '$(TIMES)' '$(VERSION)'

leftovers: build/profiles/leftovers FORCE              ## what a program finds in a GPU's memory of the one before it
	@sh profiles/leftovers.sh

build/profiles/leftovers: profiles/leftovers.cu | nvcc
	@mkdir -p $(@D)
	@$(nvcc_own) $< -o $(whole)

accuracy: nvcc $$(accuracy) $$(foreach l,$$(numbers),$$(call grading,$$l))    ## the simulator's counters and times beside a GPU's
	@sh profiles/accuracy.sh

# ---- The kernels that the simulated device is compared with a GPU by: compiled for the GPU that is here

kernels  := $(patsubst profiles/accuracy/kernels/%.cu,build/accuracy/%,$(wildcard profiles/accuracy/kernels/*.cu))
own_arch  = $(eval own_arch := $(or $(ARCH),$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>&1 | sed -n '1s/^\([0-9]*\)\.\([0-9]\)$$/\1\2/p'),90))$(own_arch)
nvcc_own  = $(NVCC) -std=c++17 -O3 -lineinfo -cudart shared -gencode arch=compute_$(own_arch),code=[compute_$(own_arch),sm_$(own_arch)]

build/accuracy/%: profiles/accuracy/kernels/%.cu profiles/accuracy/kernels/exercise.h | nvcc
	$(call once,kernels,Compiling the kernels that the simulated device is compared with a GPU by (once))
	@mkdir -p $(@D)
	@$(nvcc_own) -Igrader/lessons -MMD -MT $@ -MF $@.d $< -o $(whole)
