# Warpwise: every command of the course. Type `make` to see them.
#
#   make lesson-1       grade exercises/01-*.cu, as often as you like
#   make test           build and test everything
#
# The folder is the list: a lesson is whatever lies in lessons/. All output is under build/. Each room has its part:
# setup/common.mk what a bundle has too, and ROOM/ROOM.mk the commands of a room and how it is built.

lessons := $(sort $(basename $(notdir $(wildcard lessons/[0-9][0-9]-*.md))))

include setup/common.mk

# ---- Compiling C

CC      := gcc
CFLAGS  := -std=gnu17 -O2 -g -Wall -Wextra -Werror -MMD -MP
CUDA     = -isystem $(CUDA_HOME)/include

# $(call compile,flags): an object, with the list of what it was made from.
compile = $(CC) $1 -c -MT $@ -MF $@.$$$$-d $< -o $@.$$$$ && mv $@.$$$$-d $(@:.o=.d) && mv $@.$$$$ $@

objects = $(patsubst %.c,build/objects/%.o,$(wildcard $1))

# What they are compiled with, but for where CUDA lies: a newer file only when that changes, and then all are made anew.
build/objects/flags: FORCE
	@mkdir -p $(@D)
	@words='$(compiled_with)'; \
	if [ ! -f $@ ]; then echo "$$words" >$@ && touch -d 2000-01-01 $@; \
	elif [ "$$words" != "$$(cat $@)" ]; then echo "$$words" >$@; fi

# ---- The rooms

include grader/grader.mk grader/integrity/integrity.mk setup/setup.mk book/book.mk profiles/profiles.mk simulator/simulator.mk simulator/libraries.mk

# Worked out here: a target's own flags hold for what it needs as well, and so for build/objects/flags where that is made for it.
compiled_with := $(CC) $(filter-out $(CUDA_HOME)%,$(CFLAGS) $(device_flags) $(client_flags))

# ---- The tests: a program for each simulator/test/*.c, and the scripts in any test/

test_programs := $(patsubst simulator/test/%.c,build/test/simulator-%,$(wildcard simulator/test/*.c))
test_scripts  := $(wildcard */test/*.sh */test.sh)

# Each suite's name and command, as grader/suite.sh takes them. One more runs than there are cores, since they wait at times.
# What has one process at a time and takes long comes first. Lessons come last, the quick ones of the beginning at the very end.
script_name = $(subst /,-,$(subst /test,,$(basename $1)))
suites      = $(foreach t,$(basename $(notdir $(test_programs))),'$t build/test/$t') \
              $(foreach s,$(test_scripts),'$(call script_name,$s) sh $s') \
              $(foreach l,$(shell printf '%s\n' $(lessons) | sort -r),'lesson-$l sh grader/try.sh $l')

.PHONY: check sanitize test clean

check:                                                  ## compare what must agree; runs nothing
	@sh grader/check.sh

sanitize: nvcc build/test/simulator-api                 ## tests of device, library and grader under gcc's sanitizers
	@sh grader/sanitize.sh

# The tests' programs do without Bessel's functions, and what <cmath> includes for them alone: a quarter of nvcc's time.
test: export NVCC_APPEND_FLAGS := -D_GLIBCXX_BITS_SPECFUN_H
test: nvcc build/setup/test build/grader/study build/grader/sandbox build/grader/class build/grader/integrity $$(accuracy) $(test_programs) $$(foreach l,$$(numbers),$$(call grading,$$l)) book    ## run every test
	@rm -rf build/test/counts build/test/*.log build/try
	@unset MAKEFLAGS MAKELEVEL MFLAGS CUDA_VISIBLE_DEVICES; \
	printf '%s\n' $(suites) | xargs -P $$(($$(nproc) + 1)) -I{} sh -c 'sh grader/suite.sh {}'; \
	echo "$(words $(lessons)) lessons, $(words $(wildcard grader/wrong/*/*)) wrong submissions, $(words $(wildcard grader/attacks/*/*)) that cheat"; sh grader/tally.sh

clean:                                                  ## throw away build/, never your exercises
	rm -rf build

# Anything else that was typed.
.DEFAULT:
	@case '$@' in \
	[a-z]*[0-9])    word='$@'; try=$${word%%[-0-9]*}; try=$$try-$${word#$$try} ;; \
	[0-9]*)         try=lesson-$@ ;; \
	*/*)            echo "The file $@ is missing. Type: make check"; exit 1 ;; \
	esac; echo "There is no command '$@'. Type: make $$try"; exit 1

# Nothing makes these.
$(MAKEFILE_LIST): ;
# The slashes follow links: grader/try.sh's trees have some.
-include $(shell find build/*/ -name '*.d' 2>/dev/null)
