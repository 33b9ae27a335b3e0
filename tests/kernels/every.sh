#!/usr/bin/env bash
# Sweeps of every spec on the simulator, beyond those that each test run makes. What is simulated of them MCGEN_PROOFS says
# (docs/proofs.md). Arguments: the folder of the test programs, the source directory, then
#   (nothing)  the covering set over the edge table in all orders of the warps, and every variant on four shapes
#   whole      also with fixed shapes, unaligned addresses, other outputs, every V; and every pair of types over the whole edge table
set -euo pipefail
bin=$1 source=$2 whole=${3:-}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

spmm_list() { # SPEC
    if grep -q '^staging *= *"expand"' "$1"; then # of which there are no proofs
        echo "sweep_test $1 judged open 7"
        return 0
    fi
    echo "sweep_test $1 judged open"
    echo "sweep_test $1 variants"
    if grep -q '^rhs *= *"s4"' "$1"; then echo "sweep_test $1 variants mma=int8"; fi # where 4-bit mma are the default
    if grep -qE '^panel|"csr"' "$1"; then # which have vec = 1
        for shapes in open fixed; do echo "sweep_test $1 outputs $shapes"; done
        echo "sweep_test $1 judged unaligned"
        return 0
    fi
    [ -n "$whole" ] || return 0
    for shapes in fixed unaligned; do
        if [ $shapes = unaligned ] && grep -q '"tma"' "$1"; then continue; fi # nothing there is unaligned
        echo "sweep_test $1 judged $shapes"
    done
    grep -q '^sparse_mma' "$1" || for vec in 2 4; do # which have vec = 16
        echo "sweep_test $1 judged open vec=$vec"
        echo "sweep_test $1 variants vec=$vec"
    done
    if grep -q '^rhs *= *"s4"' "$1"; then echo "sweep_test $1 judged open mma=int8"; fi
    if grep -qE '^lhs *= *"s1[26]"' "$1"; then
        echo "sweep_test $1 judged open vec=4 digits=balanced"
        echo "sweep_test $1 judged open vec=2 digits=offset"
    fi
    if grep -q '^out *= *"s32"' "$1"; then
        for shapes in open fixed; do echo "sweep_test $1 outputs $shapes"; done
    fi
}

# Of V and the order of C each pair, with shapes and layouts of B in turn.
sddmm_list() { # SPEC
    if grep -qE '^method *= *"(csr|panels)"' "$1"; then # which have vec = 1, order = bcrs and columns of B
        for shapes in open fixed unaligned; do echo "sweep_test $1 judged $shapes"; done
        for shapes in open fixed; do echo "sweep_test $1 outputs $shapes"; done
        echo "sweep_test $1 variants"
        return 0
    fi
    local all=(open fixed unaligned) layouts=(columns rows) i=0 shapes layout vec order
    if grep -qE '^method *= *"(window|dense)"' "$1"; then all=(open fixed) layouts=(columns); fi # which want alignment
    echo "sweep_test $1 judged open"
    for shapes in "${all[@]:1}"; do echo "sweep_test $1 edges $shapes order=srbcrs16"; done
    for layout in "${layouts[@]}"; do echo "sweep_test $1 outputs open layout=$layout order=srbcrs32"; done
    echo "sweep_test $1 variants"
    [ -n "$whole" ] || return 0
    for vec in 2 4 8; do
        for order in bcrs srbcrs16 srbcrs32; do
            shapes=${all[i % ${#all[@]}]} layout=${layouts[i % ${#layouts[@]}]}
            echo "sweep_test $1 judged $shapes vec=$vec order=$order layout=$layout"
            shapes=${all[(i + 1) % ${#all[@]}]} layout=${layouts[(i / 2 + 1) % ${#layouts[@]}]}
            echo "sweep_test $1 outputs $shapes vec=$vec order=$order layout=$layout"
            i=$((i + 1))
        done
        echo "sweep_test $1 variants vec=$vec"
        i=$((i + 1))
    done
}

# These have no sweeps: their tests are all in CTest (tests/kernels/quantise_test.c, softmax_test.c, softmax_grad_test.c, optimise_test.c, spmmt_test.c, product_test.c, device_matrix_test.c, device_pack_windowed_test.c, tests/embed/values_test.c, tests/embed/compress24_test.c, tests/embed/slide24_test.c).
quantise_list() { :; }
dequantise_list() { :; }
softmax_list() { :; }
values_list() { :; }
optimise_list() { :; }
spmmt_list() { :; }
gemm_list() { :; }
gemm24_list() { :; }
compress24_list() { :; }
slide24_list() { :; }
pattern_list() { :; }
pack_list() { :; }

list() {
    for spec in "$source"/specs/*.lua; do "$(basename "$spec" .lua | cut -d_ -f1)_list" "$spec"; done
    [ -n "$whole" ] || return 0
    for spec in "$source"/tests/kernels/sddmm{,_lines,_lhs,_window,_dense}.lua; do sddmm_list "$spec"; done
    for turn in 0 100000; do
        for spec in "$source"/specs/spmm_l8r8.lua "$source"/tests/kernels/{paper,ring,ring_async,shared}.lua; do
            echo "types_test $spec 8 $turn"
        done
        for spec in "$source"/tests/kernels/sddmm{,_lines,_lhs}.lua; do echo "sddmm_types_test $spec 17 $turn"; done
    done
}

one() { # LOGS BIN NUMBER TEST SPEC ARGUMENTS...
    local log=$1/$3 started=$SECONDS
    if "$2/$4" "${@:5}" >"$log" 2>&1; then
        echo "$4 $(basename "$5") ${*:6}: $(sed -n 's/^proofs: //p' "$log" | tail -1), $((SECONDS - started)) s"
    else
        echo "FAILED: $4 ${*:5}"
        tail -20 "$log"
        return 1
    fi
}
export -f one

# MCGEN_SWEEPS_PART=SEED/N: one in N of them, which one the seed says, a hex number such as a commit's.
. "$source/tools/setup.sh"
part=${MCGEN_SWEEPS_PART:-0/1}
every=${part#*/}
list | awk -v every="$every" -v first="$(turn "${part%/*}" "$every")" 'NR % every == first' | nl -w 4 -n rz -s ' ' | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one "$logs" "$bin"
