# The grader: one program for each lesson, the harness that is linked with a submission, and the commands around grading.

# What grading a class takes besides.
classroom := build/grader/class build/grader/sandbox

# What grading lesson N takes; nothing when there is no such lesson.
grading = $(if $(call name,$1),nvcc build/grader/$(call name,$1) build/grader/worker.o \
          $(simulator))

class_commands := release regrade override comment appeal forget report log variant
.PHONY: solutions watch gradescope $(class_commands)

solutions: $$(foreach l,$$(numbers),$$(call grading,$$l))    ## grade all of our own answers, a line each
	@for l in $(lessons); do \
	    if build/grader/$$l solutions/$$l.cu >build/solutions.log 2>&1; then head -n 1 build/solutions.log; \
	    else cat build/solutions.log; failed=1; fi; done; exit $${failed:-0}

watch-%: $$(call desk,$$*) FORCE                    ## grade lesson N whenever you save it
	$(known)
	@$(watchful)
	@build/grader/study watch $(call name,$*)

watch: build/grader/study                               ## the same, for the first lesson that does not pass
	@$(watchful)
	@build/grader/study watch

# What is said to the commands about a class: make has these in the environment of its shell, as they were typed: a $ in them is no
# more than that, and $(shell ...) is not run. An empty one says nothing. Whoever grades anew needs the graders.
class_said := STUDENT LESSON POINTS WHO WHY WORDS APPLY LOWER SUBMISSIONS
$(foreach word,$(class_said) GRADES FILE TOKEN,$(if $(filter command environment,$(firstword $(origin $(word)))), \
    $(eval override $(word) := $$(value $(word)))$(eval export $(word))))
class_words = $(foreach word,$(class_said),"$(word)=$$$(word)")
class_run   = @build/grader/class $@ "GRADES=$${GRADES:-grades}" $(class_words)

release: $$(foreach l,$$(numbers),$$(call grading,$$l)) $$(classroom)                                ## record the marks as students get them, after canaries: GRADES= WHO=
	$(class_run)

regrade: $$(foreach l,$$(numbers),$$(call grading,$$l)) $$(classroom)                                ## grade a class anew and show what changes: GRADES= WHO= WHY=, and APPLY=1
	$(class_run)

override: build/grader/class                            ## give a mark other points: GRADES= STUDENT= LESSON= POINTS= WHO= WHY=
	$(class_run)

comment: build/grader/class                             ## say something about a mark: GRADES= STUDENT= LESSON= WHO= WORDS=
	$(class_run)

appeal: build/grader/class                              ## record what a student says against a mark: the same
	$(class_run)

forget: build/grader/class                              ## delete what there is of a student: GRADES= STUDENT= WHO=
	$(class_run)

report: build/grader/class                              ## write the marks as pages, for you and for each student: GRADES=
	$(class_run)

log: build/grader/class                                 ## verify and show who did what to which mark: GRADES=, or of one STUDENT=
	$(class_run)

# An autograder. LESSON has numbers: 5, or "5 8".
gradescope: build/setup/gradescope                      ## a zip for Gradescope's autograder: LESSON=5, or LESSON="5 8"
	@[ -n '$(LESSON)' ] || { echo 'Say which lessons: make gradescope LESSON=5, or LESSON="5 8".'; exit 1; }
	@$(foreach l,$(LESSON),$(if $(call name,$l),,echo 'There is no lesson $l. Lessons: $(numbers).'; exit 1;))
	@sh grader/class/gradescope/pack.sh build/gradescope.zip $(foreach l,$(LESSON),$(call name,$l))
	@echo 'build/gradescope.zip: upload it to Gradescope as the autograder of a Programming Assignment.'

rehearse: build/setup/rehearse $$(foreach l,$$(numbers),$$(call grading,$$l)) $$(classroom) FORCE    ## how long a class takes here, of COUNT=300 made submissions; KILLS=10: killed and begun again
	@python3 -B grader/rehearsal/rehearse.py $(foreach word,COUNT SEED KILLS LESSON,$(if $($(word)),--$(shell echo $(word) | tr A-Z a-z) '$($(word))'))

variant: $$(foreach l,$$(numbers),$$(call grading,$$l)) $$(classroom)                                ## the lessons of class.cfg that are this class's own, as students get them: GRADES=, or of one LESSON=
	$(class_run)

# Everything that grading takes, and no grading.
ready-%: $$(call grading,$$*) FORCE
	$(known)

# Where the tool cannot be had, watching looks at the file twice a second instead.
watchful = $(MAKE) -s build/setup/watch || { echo 'Watching without it: twice a second.'; touch build/setup/watch; }

# ---- How they are built

build/objects/grader/worker.o $(addprefix build/objects/grader/,gpu.o gpu_memory.o): CFLAGS += $(CUDA)
build/objects/grader/worker.o: CFLAGS += -fdebug-prefix-map=$(CURDIR)=. # a linker may name its lines to a student
build/objects/grader/worker.o build/objects/grader/gpu.o build/objects/grader/gpu_memory.o: | nvcc
build/grader/worker.o: build/objects/grader/worker.o grader/worker.ld
	@mkdir -p $(@D)
	@ld -r -T grader/worker.ld $< -o $(whole)

build/grader/%: build/objects/grader/lessons/%.o $(filter-out %/worker.o,$(call objects,grader/*.c))
	@mkdir -p $(@D)
	@$(CC) $^ -lcriterion -ljansson -lconfig -lpng -lz -lm $(beside) -o $(whole)

build/objects/grader/%.o: grader/%.c build/objects/flags | build/setup/lesson
	$(call once,grader,Building the grader (once))
	@mkdir -p $(@D)
	@$(call compile,$(CFLAGS) -Igrader)

# The commands around grading: hints, quizzes, progress, watching.
study := device file process text token toolkit verdict
build/grader/study: $(call objects,grader/study/*.c) $(study:%=build/objects/grader/%.o)
	@mkdir -p $(@D)
	@$(CC) $^ -ljansson -lconfig -lz -lm $(beside) -o $(whole)

# What a class's submissions run in.
build/grader/sandbox: $(call objects,grader/sandbox/*.c)
	@mkdir -p $(@D)
	@$(CC) $^ -lseccomp $(beside) -o $(whole)

$(call objects,grader/sandbox/*.c): | build/setup/grade

class := file gpu process text token toolkit verdict
class_libraries := -ljansson -lnettle -lconfig -lcsv -lutf8proc -larchive -lxml2 -lz -lm
build/grader/class: $(call objects,grader/class/*.c) $(class:%=build/objects/grader/%.o)
	@mkdir -p $(@D)
	@$(CC) $^ $(class_libraries) $(beside) -o $(whole)

build/objects/grader/class/page.o: CFLAGS += -isystem /usr/include/libxml2
$(call objects,grader/class/*.c): | build/setup/grade
