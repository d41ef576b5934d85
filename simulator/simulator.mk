# The simulated device (its libraries: libraries.mk), its tests and its benchmark.

# All that simulator/run takes: the device's program, the CUDA runtime that a program finds in front of it, a driver that
# refuses all calls by name, and NCCL where there is NVIDIA's.
simulator := build/simulator/device build/simulator/lib/libcudart.so.13 build/simulator/lib/libcuda.so.1 \
             $(if $(wildcard $(CUDA_HOME)/include/nccl.h),build/simulator/lib/libnccl.so.2)
says_device := Building the simulated device (once; half a minute)

.PHONY: simulated bench-simulator

simulated: $(simulator)

bench-simulator: build/bench/cuda build/bench/opencl $(simulator)    ## the simulator's speed beside Oclgrind's and PoCL's
	@sh simulator/bench/run.sh simulator/bench/results.md

# ---- The device

# Its rooms: every folder of simulator/ but what runs in the program, measures or tests.
rooms  := $(filter-out client nccl driver bench test,$(patsubst simulator/%/,%,$(wildcard simulator/*/)))
device := $(call objects,simulator/*.c $(rooms:%=simulator/%/*.c))

build/simulator/device: $(device)
	@mkdir -p $(@D)
	@$(CC) $(speed) $^ $(device_libraries) $(beside) -o $(whole)    # whoever runs the old one keeps it

# Libraries that lie beside a program, in build/lib, are taken first: a bundle brings its own.
beside := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib'

device_libraries := -ljansson -lzstd -llz4 -lconfig -ldw -lelf -lstdc++ -lm -lpthread

build/test/simulator-%: build/objects/simulator/test/%.o $(filter-out %/main.o,$(device))
	@mkdir -p $(@D)
	@$(CC) $(speed) $^ -lcriterion $(device_libraries) -o $(whole)

# Made once: its tests run beside each other, and the device looks into the file.
build/test/simulator-owner build/test/simulator-carried: | build/simulator/test/owner

build/simulator/test/owner: simulator/test/owner.cu | nvcc
	@mkdir -p $(@D)
	@$(NVCC) -cudart shared -arch=sm_90 -g $< -o $(whole)

build/objects/simulator/%.o: simulator/%.c build/objects/flags | nvcc build/setup/lesson
	$(call once,device,$(says_device))
	@mkdir -p $(@D)
	@$(call compile,$(device_flags) -march=native)

# grader/sanitize.sh has another.
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

# ---- The benchmark: the same kernels in CUDA and in OpenCL

build/bench/cuda: simulator/bench/cuda.cu simulator/bench/work.h | nvcc
	@mkdir -p $(@D)
	@$(NVCC) -std=c++17 -O2 -lineinfo -cudart shared -gencode arch=compute_90,code=[compute_90,sm_90] $< -o $(whole)

build/bench/opencl: simulator/bench/opencl.c simulator/bench/work.h | build/setup/bench
	@mkdir -p $(@D)
	@$(CC) -std=gnu17 -O2 -Wall -Wextra -Werror $< -lOpenCL -o $(whole)
