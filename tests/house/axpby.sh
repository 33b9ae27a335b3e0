#!/usr/bin/env bash
# An operator is an addition: the toy in axpby/ is put into a copy of the tree, with the lines that an operator needs
# outside its own folders, and runs in mcrun, in a plan, in tuning and in mcbench, on the simulator. The lines are
# counted. axpby.sh SOURCE_FOLDER SIMULATOR_AS_DRIVER
root=$(cd "$1" && pwd)
driver=$(cd "$2" && pwd)
. "$root/tests/expect.sh"
toy=$root/tests/house/axpby tree=$work/tree
MOST=10

# The copy; what is made of an older copy is of no use here.
mkdir "$tree"
cp -r "$root"/{CMakeLists.txt,cmake,gen,sim,cache,runtime,python,mcrun,bench,specs,records,docs,examples,README.md,LICENSE,CHANGELOG.md} "$tree"
cp -r "$toy"/{gen,runtime,bench,specs} "$tree"
echo 'O(AXPBY, axpby)' >>"$tree/gen/ops/operators.def"
sed -i 's/^} mc_op;/    MC_OP_AXPBY,\n&/' "$tree/runtime/mcrt.h"

# Lines of C, CMake and .def that differ outside the operator's own folders.
lines=$(diff -r "$root" "$tree" -x docs -x specs -x tests -x 'axpby*' -x .git -x python -x 'build*' -x tools -x .ci 2>/dev/null | grep -c '^>')
echo "an operator: $lines lines outside its own folders, of $MOST; $(cd "$toy" && find gen runtime bench specs -type f | wc -l) files of its own"
check "at least the list and the enumeration: $lines" [ "$lines" -ge 2 ]
check "at most $MOST lines: $lines" [ "$lines" -le $MOST ]

export CCACHE_BASEDIR=$work # so that what element.sh compiles, too, is compiled once
cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DMCGEN_TESTS=OFF >"$work/log" 2>&1 || cat "$work/log"
cmake --build "$work/build" --target mcgen mcrun mcbench all >"$work/log" 2>&1 || cat "$work/log"
bin=$work/build/bin
libraries_at=$work/build/runtime:$work/build/gen:$work/build/sim:$work/build/cache
spec=$tree/specs/axpby.lua
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data MCGEN_ARCH=sm_80

expect 0 'axpby_c64' "$bin/mcgen" "$spec"
expect 0 'axpby    a toy' "$bin/mcgen" --help
expect 0 'usage: mcrun axpby SPEC' "$bin/mcrun" axpby --help
expect 0 'verdict    exact' "$bin/mcrun" axpby "$spec" --m 5 --n 70 --device sim
expect 0 'verdict    exact' "$bin/mcrun" axpby "$spec" --m 5 --n 70 --lda 80 --ldc 71 --device sim:reversed --specialise
expect 0 '"verdict": "exact"' "$bin/mcrun" axpby "$spec" --m 5 --n 70 --device sim --variants all --json
expect 1 'n is fixed at 64' "$bin/mcrun" axpby "$spec" --m 5 --n 70 --set n=64 --device sim
sed 's/sub.s32/add.s32/' <("$bin/mcgen" "$spec") >wrong.ptx
"$bin/mcrun" axpby "$spec" --m 5 --n 70 --device sim --ptx wrong.ptx >table 2>err
check 'a wrong result exits 1' test $? = 1
check 'and names an element' grep -q 'must be' err

# Its kernels have no model: the default, or the nearest record at any distance
printf '6, 16, 0\n0 0 0 0 0 0 0\n\n' >m.smtx
expect 0 'why        default: no record of the like and no estimates' "$bin/mcrun" plan "$spec" m.smtx --n 33 --device sim

# Tuning, of which the record is then what a plan goes by
printf '6 16 0.5 33\n' >shapes.txt
expect 0 'axpby.lua' "$bin/mcrun" tune "$spec" --shapes shapes.txt --device sim --in-process
expect 0 'axpby' "$bin/mcrun" records list
printf '6000, 16, 0\n%s\n\n' "$(printf '0 %.0s' {0..6000})" >far.smtx
expect 0 'in the record of a problem ' "$bin/mcrun" plan "$spec" far.smtx --n 33 --device sim
"$bin/mcrun" records export --out records.jsonl
expect 1 'axpby: kernels without a model' "$bin/mcbench" fit records.jsonl

# A plan
libraries=(-llua5.4 -ljansson -lxxhash -lb2 -lz -lm -ldl -pthread)
check 'the program compiles' cc -I"$tree/runtime" -I"$tree/gen" "$toy/plan.c" -o plan -L"$work/build/runtime" -L"$work/build/gen" \
    -L"$work/build/sim" -L"$work/build/cache" -lmcrt -lmcgen -lptxsim -lmccache "${libraries[@]}"
expect 0 'planned and executed, 0 wrong' env LD_LIBRARY_PATH="$libraries_at" ./plan

# Python: the operator is there, without a line of Python about it
python=${MCGEN_TEST_PYTHON:-python3}
if [ -e "$work/build/python/mcgen/_call.abi3.so" ]; then
    export MCGEN_LIBRARIES=$libraries_at
    expect 0 'axpby: planned and executed' env PYTHONPATH="$work/build/python" PYTHONDONTWRITEBYTECODE=1 "$python" "$toy/toy.py"
else echo "SKIPPED: the operator from Python (no Python with headers)"
fi

# mcbench, on a driver that is the simulator
mkdir matrices
printf '6, 70, 3\n0 3 3 3 3 3 3\n0 7 69\n' >matrices/b.smtx
export LD_LIBRARY_PATH=$driver
expect 0 '' timeout 100 "$bin/mcbench" run "$spec" -m matrices --n 33 --peers none --finalists 2 --rounds 5 -o lines.jsonl
check 'results of the bench' grep -q '"kind":"result".*"op":"axpby"' lines.jsonl
check 'none of them wrong' sh -c '! grep -q "\"kind\":\"note\"" lines.jsonl'
finish
