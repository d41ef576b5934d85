# What an instructor looks at besides the verdicts: whether a student can explain a file, and which files are alike.

.PHONY: viva similar

viva: $$(foreach l,$$(numbers),$$(call grading,$$l)) build/grader/integrity build/grader/sandbox    ## three questions about a file: GRADES= STUDENT= [LESSON=], or FILE=; ANSWERS=1
	@[ -n "$$FILE$$STUDENT" ] || \
	    { echo 'Say whose file: make viva GRADES=FOLDER STUDENT=NAME, or make viva FILE=exercises/NN-name.cu'; exit 1; }
	@build/grader/integrity $(if $(ANSWERS),--answers) \
	    $(if $(FILE),--file "$$FILE" -- viva "$${GRADES:-build/viva}", \
	    -- viva "$${GRADES:-grades}" "$$STUDENT" $(if $(LESSON),"$$LESSON"))

similar: nvcc build/grader/integrity build/grader/sandbox build/setup/integrity    ## which submissions of a lesson are alike: GRADES= [LESSON=]
	@sh grader/integrity/similar.sh "$${GRADES:-grades}" "$$LESSON"

# The files of a class that it shares; they have no main.
integrity := $(patsubst grader/%.c,build/objects/grader/%.o,$(filter-out %/main.c,$(wildcard grader/class/*.c))) \
             $(class:%=build/objects/grader/%.o)
build/grader/integrity: $(call objects,grader/integrity/*.c) $(integrity)
	@mkdir -p $(@D)
	@$(CC) $^ $(class_libraries) -o $(whole)

build/objects/grader/integrity/%.o: CFLAGS += -Igrader/class
$(call objects,grader/integrity/*.c): | build/setup/grade
