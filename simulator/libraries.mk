# The libraries that a program finds in front of the simulated device: the CUDA runtime, a driver that refuses all
# calls by name, and NCCL.

# The CUDA runtime exports what the toolkit's own exports: our functions, and for the rest stubs that say so.
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
$(foreach to,build build/portable,$(to)/objects/simulator/machine/error_text.o): | $(client)/errors.inc

$(client)/exported: $(call objects,simulator/client/*.c)
	@nm --defined-only $^ >$(whole)

$(client)/stubs.c: $(generate)/stubs.awk $(client)/exported
	@nm -D --defined-only $(runtime) | awk -f $^ - >$(whole)

$(client)/exports.map: $(generate)/stubs.awk $(client)/exported
	@nm -D --defined-only $(runtime) | awk -v map=1 -f $^ - >$(whole)

$(client)/stubs.o: $(client)/stubs.c build/objects/flags
	@$(call compile,$(client_flags) -fno-builtin)

# The driver exports what the toolkit's cuda.h declares: a few functions, and for the rest stubs that say so.
driver := build/objects/simulator/driver
heads   = $(wildcard $(CUDA_HOME)/include/cuda.h $(CUDA_HOME)/include/cudaProfiler.h)
declared = $(CC) -E -P -D__CUDA_API_VERSION_INTERNAL $(CUDA) $(heads:%=-include %) -x c /dev/null

build/simulator/lib/libcuda.so.1: $(driver)/stubs.o $(call objects,simulator/driver/*.c)
	@mkdir -p $(@D)
	@$(CC) -shared -s -Wl,-soname,libcuda.so.1 $^ -o $(whole)

$(driver)/%.o: simulator/driver/%.c build/objects/flags | nvcc build/setup/lesson $(driver)/names.inc $(client)/errors.inc
	@mkdir -p $(@D)
	@$(call compile,$(CFLAGS) -g0 -fPIC -fvisibility=hidden -I$(driver) -I$(client) $(CUDA))

$(driver)/names.inc: simulator/driver/stubs.awk | nvcc
	@mkdir -p $(@D)
	@$(declared) | awk -v errors=1 -f $< >$(whole)

$(driver)/exported: $(call objects,simulator/driver/*.c)
	@nm --defined-only $^ >$(whole)

$(driver)/stubs.c: simulator/driver/stubs.awk $(driver)/exported
	@$(declared) | awk -f $^ - >$(whole)

$(driver)/stubs.o: $(driver)/stubs.c build/objects/flags
	@$(call compile,$(CFLAGS) -g0 -fPIC -fvisibility=hidden)

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
