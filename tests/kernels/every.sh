#!/usr/bin/env bash
# Sweeps of every spec on the simulator, beyond what each test run takes time for. Arguments: the folder of the test
# programs, the source directory, then
#   (nothing)  the covering set over the edge table in all orders of the warps, and every variant on four shapes
#   whole      also with fixed shapes, unaligned addresses, other outputs, every V; and every pair of types over the whole edge table
set -euo pipefail
bin=$1 source=$2 whole=${3:-}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

list() {
    for spec in "$source"/specs/spmm_*.lua; do
        echo "sweep_test $spec judged open"
        echo "sweep_test $spec variants"
        if grep -q '^rhs *= *"s4"' "$spec"; then echo "sweep_test $spec variants mma=int8"; fi # where 4-bit mma are the default
        [ -n "$whole" ] || continue
        for shapes in fixed unaligned; do
            if [ $shapes = unaligned ] && grep -q '"tma"' "$spec"; then continue; fi # nothing there is unaligned
            echo "sweep_test $spec judged $shapes"
        done
        for vec in 2 4; do
            echo "sweep_test $spec judged open vec=$vec"
            echo "sweep_test $spec variants vec=$vec"
        done
        if grep -q '^rhs *= *"s4"' "$spec"; then echo "sweep_test $spec judged open mma=int8"; fi
        if grep -qE '^lhs *= *"s1[26]"' "$spec"; then
            echo "sweep_test $spec judged open vec=4 digits=balanced"
            echo "sweep_test $spec judged open vec=2 digits=offset"
        fi
        if grep -q '^out *= *"s32"' "$spec"; then
            for shapes in open fixed; do echo "sweep_test $spec outputs $shapes"; done
        fi
    done
    [ -n "$whole" ] || return 0
    for turn in 0 100000; do
        for spec in "$source"/specs/spmm_l8r8.lua "$source"/tests/kernels/*.lua; do
            echo "types_test $spec 8 $turn"
        done
    done
}

one() { # LOGS BIN NUMBER TEST SPEC ARGUMENTS...
    local log=$1/$3 started=$SECONDS
    if "$2/$4" "${@:5}" >"$log" 2>&1; then
        echo "$4 $(basename "$5") ${*:6}: $(grep -o '[0-9]* runs' "$log" | tail -1), $((SECONDS - started)) s"
    else
        echo "FAILED: $4 ${*:5}"
        tail -20 "$log"
        return 1
    fi
}
export -f one

list | nl -w 4 -n rz -s ' ' | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one "$logs" "$bin"
