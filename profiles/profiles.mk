# Profiles: what measures a GPU, and the simulated device beside one (setup/common.mk has the command and the kernels).

accuracy = build/profiles/accuracy $(simulator) $(kernels)

.PHONY: device-profile

device-profile: nvcc build/profiles/measure               ## measure this GPU: profiles/devices/NAME.cfg
	@sh profiles/device.sh $(NAME)

build/profiles/measure: $(wildcard profiles/devices/measure/*) | nvcc
	@mkdir -p $(@D)
	@$(nvcc_own) $(filter %.cu,$^) -o $(whole)

build/profiles/accuracy: $(call objects,profiles/accuracy/program/*.c)
	@mkdir -p $(@D)
	@$(CC) $^ -ljansson -lconfig -lm $(beside) -o $(whole)

build/objects/profiles/%.o: profiles/%.c build/objects/flags | build/setup/lesson
	@mkdir -p $(@D)
	@$(call compile,$(CFLAGS))
