# What a machine needs, and how it gets there; the bundle for a machine that gets nothing.

# As package=probe; a probe is a command, a header, or a path.
needs_lesson := gcc=gcc g++=g++ libc6-dev=stdio.h libcriterion-dev=criterion/criterion.h \
                libffi-dev=ffi.h libjansson-dev=jansson.h libconfig-dev=libconfig.h \
                libzstd-dev=zstd.h liblz4-dev=lz4.h libpng-dev=png.h zlib1g-dev=zlib.h libdw-dev=elfutils/libdw.h libelf-dev=libelf.h
needs_toolkit := python3-pip=pip3
needs_watch  := inotify-tools=inotifywait
needs_book   := pandoc=pandoc zip=zip unzip=unzip
needs_pdf    := chromium=chromium poppler-utils=pdfinfo \
                fonts-sil-charis=/usr/share/fonts/truetype/charis fonts-inter=/usr/share/fonts/opentype/inter
needs_grade  := bubblewrap=bwrap libseccomp-dev=seccomp.h nettle-dev=nettle/hmac.h \
                libarchive-dev=archive.h libcsv-dev=csv.h libutf8proc-dev=utf8proc.h libxml2-dev=/usr/include/libxml2
needs_gradescope := zip=zip
needs_rehearse := python3=python3
needs_integrity := similarity-tester=sim_c++
needs_bench  := oclgrind=oclgrind pocl-opencl-icd=/etc/OpenCL/vendors/pocl.icd ocl-icd-opencl-dev=CL/cl.h
needs_test   := $(needs_pdf) $(needs_toolkit) $(needs_grade) $(needs_rehearse) $(needs_integrity) epubcheck=epubcheck aspell-en=aspell tmux=tmux \
                python3-jsonschema=/usr/lib/python3/dist-packages/jsonschema python3-yaml=/usr/lib/python3/dist-packages/yaml \
                openmpi-bin=mpirun libopenmpi-dev=mpicc clang-format=clang-format \
                munge=/usr/sbin/munged slurmctld=/usr/sbin/slurmctld slurmd=/usr/sbin/slurmd slurm-client=sbatch
# Left out where apt does not have it, as Ubuntu's; the book's test then says what it could not do.
optional     := chromium fonts-sil-charis fonts-inter epubcheck

.PHONY: setup doctor bundle

setup: nvcc build/setup/lesson build/setup/watch build/setup/book build/setup/test   ## install what the course needs
	@echo 'Everything is installed.'

doctor:                                                 ## look at this machine, and say what is missing
	@sh setup/doctor.sh '$(call missing,lesson)' '$(sort $(foreach list,watch book test,$(call missing,$(list))))'

bundle: nvcc build/grader/study $$(classroom) build/profiles/accuracy $$(foreach l,$$(numbers),$$(call grading,$$l)) build/portable/simulator/device    ## all of it in one folder, for a GPU machine
	@sh setup/bundle.sh build/bundle

# ---- Once for each of the lists above, and again when this file changes

# $(call missing,list) is the packages of a list whose probes fail.
missing = $(shell $(foreach need,$(needs_$1),$(call probe,$(lastword $(subst =, ,$(need)))) \
          >/dev/null 2>&1 || echo $(firstword $(subst =, ,$(need)));))
probe   = $(if $(filter %.h,$1),gcc -include $1 -E -x c /dev/null,$(if $(filter /%,$1),test -e,command -v) $1)

build/setup/%: setup/setup.mk
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
