#!/bin/sh
# The grader's rooms one by one: compiles unit/*.c with the grader, all but its main program, and
# runs them.
set -u
program=build/test/grader-unit
mkdir -p build/test
${CC:-gcc} -std=gnu17 -O1 -g -Wall -Wextra -Werror -Igrader -isystem "${CUDA_HOME:-/usr/local/cuda}/include" -isystem /usr/include/libxml2 -o $program grader/test/unit/*.c \
    $(ls grader/*.c grader/class/*.c | grep -v -e worker.c -e main.c) -lcriterion -ljansson -lconfig -lpng -lz -lnettle -lcsv -lutf8proc -larchive -lxml2 -lm || exit 1
exec $program
