# Warpwise, as one folder: the graders and the simulated device are built, and lie here with every library
# that they need. Only make, a C++ compiler and the CUDA Toolkit 13 (nvcc) must be on this machine; with a
# GPU, submissions are graded on the simulated device and then on the GPU. The C library must be no older
# than that of the machine where this was built (Debian 12 has glibc 2.36). `make` shows the commands.

lessons  := $(sort $(basename $(notdir $(wildcard solutions/[0-9][0-9]-*.cu))))
grading   = nvcc
accuracy  = $(kernels)

include setup/common.mk

# The texts are made by Pandoc, which a bundle does not ask for.
read-%: FORCE
	$(known)
	@echo 'The text of lesson $* is not in this folder. Type make read-$* where the folder was made.'; exit 1

nvcc: FORCE
	@$(if $(call toolkit,$(CUDA_HOME)),:,echo 'nvcc of the CUDA Toolkit 13 is missing: put its bin/ on PATH'; exit 1)

# Nothing makes these.
$(MAKEFILE_LIST): ;
