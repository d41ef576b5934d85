# Warpwise, as one folder: the graders and the simulated device are built, and lie here with every library
# that they need. Only make, a C++ compiler and the CUDA Toolkit 13 (nvcc) must be on this machine; with a
# GPU, submissions are graded on the simulated device and then on the GPU. The C library must be no older
# than that of the machine where this was built (Debian 12 has glibc 2.36).
#
#     make lesson-1       grade exercises/01-*.cu, as often as you like
#     make solution-5     grade our own answer
#     make accuracy       the simulated device's counters and times beside the GPU's

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help accuracy FORCE

lessons   := $(sort $(basename $(notdir $(wildcard solutions/[0-9][0-9]-*.cu))))
name       = $(firstword $(filter $1-% 0$1-%,$(lessons)))

NVCC      ?= $(or $(shell command -v nvcc 2>&1),$(wildcard /usr/local/cuda/bin/nvcc))
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
CUDA_HOME := $(CUDA_HOME)
export CUDA_HOME
export PATH := $(CUDA_HOME)/bin:$(PATH)

help:
	@sed -n 's/^#     /  /p' Makefile
	@echo 'Lessons here: $(lessons)'

lesson-%: FORCE nvcc
	$(known)
	@build/grader/$(call name,$*) exercises/$(call name,$*).cu

solution-%: FORCE nvcc
	$(known)
	@build/grader/$(call name,$*) $(RESULT:%=--result %) solutions/$(call name,$*).cu

known = @$(if $(call name,$*),:,echo 'There is no lesson $*. Lessons: $(lessons)'; exit 1)

nvcc: FORCE
	@$(if $(wildcard $(CUDA_HOME)/lib64/libcudart.so.13),:,echo 'nvcc of the CUDA Toolkit 13 is missing: put its bin/ on PATH'; exit 1)

# As in the tree, where the kernels are compiled beforehand.
arch    = $(eval arch := $(or $(ARCH),$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>&1 | sed -n '1s/^\([0-9]*\)\.\([0-9]\)$$/\1\2/p'),90))$(arch)
kernels := $(patsubst profiles/accuracy/kernels/%.cu,build/accuracy/%,$(wildcard profiles/accuracy/kernels/*.cu))

build/accuracy/%: profiles/accuracy/kernels/%.cu profiles/accuracy/kernels/exercise.h
	@mkdir -p $(@D)
	@$(CUDA_HOME)/bin/nvcc -std=c++17 -O3 -lineinfo -cudart shared \
	    -gencode arch=compute_$(arch),code=[compute_$(arch),sm_$(arch)] -o $@ $<

accuracy: nvcc $(kernels)
	@sh profiles/accuracy.sh

Makefile: ;
