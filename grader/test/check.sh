#!/bin/sh
# Tests `make check`: a copy of the tree is as it should be, and each thing done to it is found out.
set -u
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

plant() {
    rm -rf "$tree/it"
    mkdir "$tree/it"
    cp -R .clang-format ARCHITECTURE.md CHANGELOG.md Makefile VERSION book exercises grader lessons profiles setup simulator solutions "$tree/it"
    for solution in solutions/*.cu; do      # a student's own edits are not what is tested
        awk -f solutions/strip.awk "$solution" >"$tree/it/exercises/${solution##*/}"
    done
}

# As much of the tree as one lesson has, and the few sources that the cases change: what is found there is found anywhere.
lesson=05-transpose
plant_one() {
    rm -rf "$tree/it"
    mkdir "$tree/it"
    cp -R --parents .clang-format ARCHITECTURE.md CHANGELOG.md Makefile VERSION setup/common.mk grader/grader.mk book/book.mk book/index.md book/verdicts.md "lessons/$lesson.md" \
        solutions/*.awk "solutions/$lesson.cu" "profiles/lessons/$lesson.cfg" "profiles/results/nvidia-h200/$lesson.json" profiles/accuracy/*.json \
        grader/text.c grader/blame.c grader/verdict.h grader/*.sh grader/lessons/$lesson.* "grader/wrong/$lesson/wrong-pitch.edit" "grader/wrong/$lesson/host-does-the-work.cu" \
        "grader/attacks/$lesson/strided-copies.cu" \
        simulator/rooms.* simulator/wire simulator/machine/warp.[ch] "$tree/it"
    mkdir "$tree/it/exercises"
    awk -f solutions/strip.awk "solutions/$lesson.cu" >"$tree/it/exercises/$lesson.cu"
    sed '/^| \[@lesson:/{ /@lesson:5\]/!d; s/| 3 | 3 |/| 1 | 1 |/; }; s/of 12 | of 6 |/of 1 | of 1 |/; s|`[0-9][0-9]-[a-z-]*/[a-z0-9-]*`||g' book/teaching.md >"$tree/it/book/teaching.md"
}

# finds WORDS COMMAND: after COMMAND, `make check` ends badly and says WORDS.
finds() {
    plant_one
    (cd "$tree/it" && sh -c "$2") || exit 1
    if (cd "$tree/it" && sh grader/check.sh) >"$tree/says" 2>&1; then
        echo "make check does not find what was done by: $2"
        failed=$((failed + 1))
    elif ! grep -qF "$1" "$tree/says"; then
        echo "make check does not say \"$1\" after: $2"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

plant
if (cd "$tree/it" && sh grader/check.sh) >"$tree/says" 2>&1; then
    passed=$((passed + 1))
else
    echo "make check finds fault with this tree:"
    cat "$tree/says"
    failed=$((failed + 1))
fi

finds "exercises/$lesson.cu: missing" "rm exercises/$lesson.cu"
finds "profiles/lessons/$lesson.cfg: missing" "rm profiles/lessons/$lesson.cfg"
finds 'lessons/notes.txt: belongs to no lesson' 'touch lessons/notes.txt'
finds 'solutions/99-extra.cu: belongs to no lesson' 'touch solutions/99-extra.cu'
finds 'grader/wrong/99-extra/: belongs to no lesson' "cp -R grader/wrong/$lesson grader/wrong/99-extra"
finds 'is not a submission' "touch grader/wrong/$lesson/notes.txt"
finds 'grader/attacks/99-extra/: belongs to no lesson' "cp -R grader/attacks/$lesson grader/attacks/99-extra"
finds 'strided-copies.cu: touches other processes' "echo '// kill(getppid())' >>grader/attacks/$lesson/strided-copies.cu"
finds 'strided-copies.cu: leaves something on the machine' "echo '// O_CREAT' >>grader/attacks/$lesson/strided-copies.cu"
finds "strided-copies.cu:1: should be \`// expect:" "sed -i 1d grader/attacks/$lesson/strided-copies.cu"
finds 'not what the solution gives' "echo >>exercises/$lesson.cu"
finds 'is there twice' "touch grader/wrong/$lesson/wrong-pitch.cu"
finds "wrong-pitch.edit:1: should be \`// expect:" "sed -i 1d grader/wrong/$lesson/wrong-pitch.edit"
finds "wrong-pitch.edit:1: should be \`// expect:" "sed -i '1s/BOUNDS/& 14/' grader/wrong/$lesson/wrong-pitch.edit"
finds "wrong-pitch.edit:1: should be \`// expect:" "sed -i '1s/BOUNDS/PASS/' grader/wrong/$lesson/wrong-pitch.edit"
finds "wrong-pitch.edit:1: should be \`// expect:" "sed -i '1a// says: For gold: sectors' grader/wrong/$lesson/wrong-pitch.edit"
finds 'wrong-pitch.edit:6: the solution has no region `store-tile`' "sed -i '/store-tile/d' solutions/$lesson.cu"
finds 'host-does-the-work.cu: does not include' "sed -i '/$lesson.h/d' grader/wrong/$lesson/host-does-the-work.cu"
finds 'its own contract and CUDA only' "sed -i '\$i#include \"helper.h\"' grader/wrong/$lesson/wrong-pitch.edit"
finds 'needs claims' "sed -i '0,/why = /s/why = .*//' profiles/lessons/$lesson.cfg"
finds 'needs claims' "echo 'claims = ( );' >profiles/lessons/$lesson.cfg"
results=profiles/results/nvidia-h200
finds "$results/$lesson.json: is no summary" "echo '{\"lesson\": \"$lesson\", \"gpu\": {}}' >$results/$lesson.json"
finds "$results/$lesson.json: is no summary" "sed -i '0,/\"check\"/s//\"source_line\": 5, &/' $results/$lesson.json"
finds "$results/$lesson-version-1.json: should be" "cp $results/$lesson.json $results/$lesson-version-1.json"
finds 'profiles/results/05-transpose.json: should be' "cp $results/$lesson.json profiles/results"
finds 'nvidia-h200.json: is no record' "tr -d '\n' <profiles/accuracy/nvidia-h200.json >short; mv short profiles/accuracy/nvidia-h200.json"
finds 'bytes of .json' "yes ' ' | head -n 300000 >>$results/$lesson.json"
finds 'has no section `## Quiz`' "sed -i 's/^## Quiz/## Quizzes/' lessons/$lesson.md"
finds 'has no `### Hint 3`' "sed -i 's/^### Hint 3.*//' lessons/$lesson.md"
finds 'words of prose' "head -n 3 lessons/$lesson.md >short; mv short lessons/$lesson.md"
chapter=book/teaching.md
finds "$chapter: its table of courses has no row for lesson 6" "cp lessons/$lesson.md lessons/06-more.md"
finds 'there is no lesson 5' "mv lessons/$lesson.md lessons/06-transpose.md"
finds 'lesson 5 comes after lesson 5' "sed -i '/^| .@lesson:5/p' $chapter"
finds 'should begin with [@lesson:5]: [@title:5]' "sed -i 's/@title:5/@title:6/' $chapter"
finds 'week 3 comes after week 0' "sed -i '/^| .@lesson:5/s/| 1 |/| 3 |/' $chapter"
finds 'the course of 2 weeks has 1' "sed -i 's/of 1 | of 1 |/of 2 | of 1 |/' $chapter"
finds 'lesson 5 needs lesson 1, which the course leaves out' "sed -i '2s/^/You need [@lesson:1]./' lessons/$lesson.md"
finds "$chapter" "rm $chapter"
# Of the attacks that were tried on a GPU the chapter names those that landed.
tried() { echo "mkdir -p $results; printf 'lesson,attack,form,stated,gpu,lands\\n%s\\n' $1 >$results/attacks.csv"; }
attack=$lesson/strided-copies
lands='lands on a GPU' lands_not="is named in $chapter, and lands on no GPU"
finds "$attack: $lands" "$(tried "$lesson,strided-copies,home,SUSPECT,PASS,yes"); echo '\`$lesson/strided\`' >>$chapter"
finds "$attack: $lands_not" "$(tried "$lesson,strided-copies,home,SUSPECT,SUSPECT,no"); echo '\`$attack\`' >>$chapter"
finds "$attack: $lands_not" "$(tried "$lesson,strided,home,SUSPECT,PASS,yes"); echo '\`$attack\`' >>$chapter"
finds "$lesson/strided: has a row for no file" "$(tried "$lesson,strided,home,SUSPECT,SUSPECT,no")"
finds 'is no command' "echo 'make poem-5' >>lessons/$lesson.md"
finds 'the simulator knows nothing' "echo '#include \"../grader/grader.h\"' >>simulator/machine/warp.c"

# The rooms: an include against their order, a room that is none, what stands beside them, and a name that is linked without an include.
finds 'machine includes simulator/model/trace.h: against' \
    "mkdir simulator/model; touch simulator/model/trace.h; echo '#include \"model/trace.h\"' >>simulator/machine/warp.c"
finds 'report includes simulator/ptx/body.h: against' \
    "mkdir simulator/ptx simulator/report; touch simulator/ptx/body.h; echo '#include \"../ptx/body.h\"' >simulator/report/text.c"
finds 'client includes simulator/machine/warp.h: against' \
    "mkdir simulator/client; echo '#include \"machine/warp.h\"' >simulator/client/launch.c"
finds 'simulator/attic/old.c: lies in no room' "mkdir simulator/attic; touch simulator/attic/old.c"
finds 'simulator/machine/turn.c: machine links serve_turn of simulator/runtime/turn.c: against' \
    "objects=build/objects/simulator
    mkdir -p simulator/runtime \$objects/runtime \$objects/machine build/simulator
    echo 'void serve_turn(void) {}' >simulator/runtime/turn.c
    echo 'extern void serve_turn(void); void turn(void) { serve_turn(); }' >simulator/machine/turn.c
    for turn in runtime/turn machine/turn; do gcc -c simulator/\$turn.c -o \$objects/\$turn.o; done
    touch build/simulator/device"
finds 'does not give the order of the rooms' "sed -i '/^base < /s/main/the end/' ARCHITECTURE.md"
finds 'NOT CHECKED: what the rooms link' 'rm exercises/*'
finds 'the grader reaches the simulator' "echo '#include \"../simulator/memory/memory.h\"' >>grader/text.c"
finds 'include grader.h, and what variants are made of, only' "echo '#include \"session.h\"' >>grader/lessons/$lesson.c"
finds 'its own contract and CUDA only' "echo '#include \"helper.h\"' >>solutions/$lesson.cu"
finds 'a contract includes CUDA only' "echo '#include \"helper.h\"' >>grader/lessons/$lesson.h"
finds 'compares the address of a handler' \
    "echo 'static bool is_fence(const Insn *i) { return i->run == run_fence; }' >>simulator/machine/warp.c"
finds "goes by an instruction's opcode" \
    "echo 'static bool is_cas(const Insn *i) { return strstr(isa_rows[i->row].opcode, \"_cas_\"); }' >>simulator/machine/warp.c"
finds "goes by an instruction's opcode" \
    "echo 'static const IsaRow *cas(void) { return isa_find(\"atom.cas.b32\", UNARY); }' >>simulator/machine/warp.c"
finds 'machine/warp.c:1: tired is turn_expired' "sed -i '1s/^/bool tired; /' simulator/machine/warp.c"
finds 'machine/warp.c:1: stand_ is deadlock_' "sed -i '1s/^/bool stand_spins(void); /' simulator/machine/warp.c"
finds 'machine/warp.c:1: asks which request' "sed -i '1s/^/bool f(int op) { return op == WIRE_COPY_IN; } /' simulator/machine/warp.c"
finds 'machine/warp.c:1: asks which request' "sed -i '1s/^/bool f(int op) { return WIRE_HELLO <= op; } /' simulator/machine/warp.c"
finds 'machine/warp.c:1: asks which request' "sed -i '1s/^/case WIRE_FREE: /' simulator/machine/warp.c"
peer=grader/lessons/$lesson.peer.cu
finds 'turn_fast: is named in' "sed -i 's/measure = /peer = \"turn_fast\"; &/' profiles/lessons/$lesson.cfg"
finds 'no target of' "echo 'extern \"C\" void turn_fast(float *out)' >$peer"
finds 'a peer includes' "echo '#include \"helper.h\"' >$peer"
finds 'belongs to no lesson' "touch grader/lessons/99-extra.peer.cu"
finds 'decide nothing' "echo 'int lost(const char *says) { return strstr(says, \"x\") != 0; }' >>grader/blame.c"
finds 'in simulator/report/causes.def' "echo 'void told(Report *r) { r->why = \"x\"; }' >>simulator/machine/warp.c"
home=/home
finds 'path of one machine' "echo 'see $home/me/notes' >>book/index.md"
finds 'left undone' "printf 'FIX%s\n' ME >>book/index.md"
finds 'RACE: is a verdict' "sed -i '/^| RACE /d' book/verdicts.md"
finds 'CHANGELOG.md: has no entry' 'echo 99.0.0 >VERSION'
finds 'is longer than 60 lines' "{ echo 'int longest(void)'; echo '{'; yes '    ;' | head -n 60; echo '}'; } >>grader/text.c"
finds 'grader/text.c: has more than 600 lines' "yes '//' | head -n 600 >>grader/text.c"
finds 'grader/text.c:1: is not laid out' "sed -i '1s|^|int  x ;|' grader/text.c"
finds 'book/index.md:1: ends in a blank' "sed -i '1s/\$/ /' book/index.md"
finds 'book/index.md:1: ends in a carriage return' "sed -i '1s/\$/\r/' book/index.md"
finds 'book/index.md: has no newline' "printf more >>book/index.md"

echo "make check: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
