#!/usr/bin/env bash
# An element type of a kind that there is is an addition: an integer of 10 bits and a float of 8 get a row each in a copy
# of the tree, and nothing else changes. The integer is multiplied by kernels on the simulator, the float by the
# reference. element.sh SOURCE_FOLDER
root=$(cd "$1" && pwd)
. "$root/tests/expect.sh"
tree=$work/tree
MOST=2

mkdir "$tree"
cp -r "$root"/{CMakeLists.txt,cmake,gen,sim,cache,runtime,mcrun,bench,specs,records,docs,examples,README.md,LICENSE,CHANGELOG.md} "$tree"
# The last row gets two more below it.
sed -i '/^    T(X, TF32RZ,/{s/$/ \\/
a\    T(X, U10, "u10", 10, 2, "<u2", INTEGER, 0, 0, S32, UINT16, none, SIDE, 14, NO, 0) \\\
    T(X, E3M4, "e3m4", 8, 1, "<c1", FINITE, 1, 3, F32, UINT8, none, SIDE, 15, NO, 0)
}' "$tree/gen/mc_element.h"

lines=$(diff -r "$root" "$tree" -x docs -x specs -x tests -x .git -x 'build*' -x tools -x .ci 2>/dev/null | grep -c '^> .*T(X, \(U10\|E3M4\)')
files=$(diff -rq "$root" "$tree" -x docs -x specs -x tests -x .git -x 'build*' -x tools -x .ci 2>/dev/null | grep -c differ)
echo "two element types: $lines lines in $files file"
check "a row each: $lines" [ "$lines" = $MOST ]
check "in one file: $files" [ "$files" = 1 ]

export CCACHE_BASEDIR=$work # so that what axpby.sh compiles, too, is compiled once
cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DMCGEN_TESTS=OFF >"$work/log" 2>&1 || cat "$work/log"
cmake --build "$work/build" --target mcgen mcrun >"$work/log" 2>&1 || cat "$work/log"
bin=$work/build/bin
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data MCGEN_ARCH=sm_80

# The integer, as either side, in both operators, with digits in either sum
expect 0 '"e4m3", "e5m2", "tf32rz", "u10", "e3m4"; default s8' "$bin/mcgen" --help spmm
printf '6, 70, 5\n0 3 3 3 3 4 5\n0 7 69 1 2\n' >a.smtx
for sides in "lhs=u10 rhs=s8" "lhs=s8 rhs=u10" "lhs=u10 rhs=u10"; do
    set -- $sides
    expect 0 'verdict    exact' "$bin/mcrun" spmm "$tree/specs/spmm_l8r8.lua" a.smtx --n 72 --set "$1" --set "$2" --device sim
    expect 0 'verdict    exact' "$bin/mcrun" sddmm "$tree/specs/sddmm_l8r8.lua" a.smtx --k 64 --set "$1" --set "$2" --device sim
done
# A B of 10 bits by tensor copies
expect 0 'verdict    exact' "$bin/mcrun" spmm "$tree/specs/spmm_l8r8_tiled.lua" a.smtx --n 128 --set rhs=u10 --set tile_n=64 --set arch=sm_90 --device sim
expect 2 "lhs: \"u11\" is not one of" "$bin/mcgen" "$tree/specs/spmm_l8r8.lua" --set lhs=u11
expect 2 "lhs: there is no mma for \"e3m4\" here" "$bin/mcgen" "$tree/specs/spmm_f16.lua" --set lhs=e3m4 --set rhs=e3m4
expect 2 "lhs: there is no mma for \"e3m4\" here" "$bin/mcgen" "$tree/specs/sddmm_f16.lua" --set lhs=e3m4 --set rhs=e3m4

# The float
libraries=(-llua5.4 -ljansson -lxxhash -lb2 -lz -lm -ldl -pthread)
check 'the program compiles' cc -std=c17 -D_GNU_SOURCE -I"$tree/runtime" -I"$tree/gen" -I"$root/tests" \
    "$root/tests/house/element/e3m4.c" -o e3m4 -L"$work/build/runtime" -L"$work/build/gen" -L"$work/build/sim" \
    -L"$work/build/cache" -lmcrt -lmcgen -lptxsim -lmccache "${libraries[@]}"
expect 0 ' 0 failed' ./e3m4
finish
