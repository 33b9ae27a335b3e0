#!/usr/bin/env bash
# mcbench run --shapes: operands drawn on the GPU, which multiplies them, too; on a driver that is the simulator, with libraries of
# its kind. Arguments: mcbench, the specs.
mcbench=$1 specs=$2
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
export MCGEN_ARCH=sm_90a
run() { # SPEC OPTIONS...
    timeout 300 "$mcbench" run "$specs/$1.lua" "${@:2}" --variants default --rounds 5 -o lines.jsonl
}
lines() { check "$1: $3 lines with '$2'" [ "$(grep -c -- "$2" lines.jsonl)" = "$3" ]; }
all_right() { # SPEC OPTIONS...: both shapes, three N
    expect 0 '' run "$@" --shapes tiny --peers none
    lines "$*" '"kind":"result"' 6
    lines "$*" '"kind":"note"' 0
}

# Dense products: sums of integers to the bit, of floats within bounds
all_right gemm_f16
lines 'a dense A' '"sparsity":0.0,"class":0.0' 12
lines 'a kernel that does not take one column' 'N padded to 16' 2
lines 'what is drawn' '"shapes":"tiny","values":"normal"' 1
all_right gemm_bf16 --set out=f32 --set bias=row --values uniform
all_right gemm_e4m3 --set rhs=e5m2 --set scale=tensor
all_right gemm_s8
all_right gemm24_f16
all_right gemm24_e4m3 --set out=bf16
all_right gemm24_s8 --values uniform
all_right gemm_s8 --set lhs=u8 --set out=f16 --set scale=row --set bias=column --set act=relu
all_right gemm_s8 --set out=s8 --set scale=column --cold
check 'several sets when cold' [ "$(grep '"result"' lines.jsonl | head -1 | sed 's/.*"sets":\([0-9]*\).*/\1/')" -gt 2 ]

expect 1 'block_scales = on: mcbench has no scales of blocks' run gemm_e4m3_blocks --shapes tiny --peers none

# Two of four: the places are the operator's own; cuSPARSELt takes part by itself
for type in f16 bf16 e4m3 s8; do all_right gemm24_$type; done
lines 'half of A' '"class":0.5' 12
all_right gemm24_s8 --set out=f16 --set scale=row --values uniform
expect 0 '' run gemm24_e4m3 --shapes tiny --filter 64x96 --n 16
for peer in 'cublaslt f16' 'cublaslt e4m3 fast f16' 'cublaslt e4m3 promoted f16'; do lines "$peer" "\"contender\":\"$peer\"" 2; done
lines 'cuSPARSELt' '"contender":"cusparselt e4m3 f16"' 4
lines 'nothing else is to say' '"kind":"note"' 0

# Sparse ones: uniform patterns
all_right spmm_l8r8
lines 'nine of ten vectors are zero' '"class":0.9' 12
all_right spmm_f16 --sparsity 0.5 --values uniform
lines 'half of them' '"class":0.5' 12
all_right spmm_tf32 --vec 4
expect 1 'the bench has no plain product of s8 by f16' run spmm_s8f16 --shapes tiny --peers none

# Shapes and sizes
expect 0 '' run gemm_f16 --shapes tiny --filter 96x64 --n 8 --peers none
lines 'one shape, one N' '"kind":"result","matrix":"96x64","m":96,"n":8,"k":64' 1
expect 0 '' run gemm_f16 --shapes tiny --limit 1 --n 24 --peers none
lines 'the first shape' '"kind":"result","matrix":"64x96"' 1
expect 2 'run: --shapes has no problems of family sddmm' run sddmm_f16 --shapes tiny
expect 2 'run: the sizes of family gemm are those of --n' run gemm_f16 --shapes tiny --k 64
expect 1 'no variant can be measured; the first: layout = rows: mcbench has B by columns' \
    run gemm_f16 --set layout=rows --shapes tiny --peers none
expect 1 'layout = rows: mcbench has B by columns' run gemm24_f16_mma --set layout=rows --shapes tiny --peers none

# Peers: of our own types beside the base of speeds; few columns also with C by columns; what wants n padded says so
expect 0 '' run gemm_e4m3 --shapes tiny --filter 64x96 --set out=bf16
for mode in fast promoted; do lines "$mode" "\"contender\":\"cublaslt e4m3 $mode bf16\"" 6; done
lines 'the base' '"contender":"cublaslt f16"' 6
lines 'no other types' '"contender":"cublaslt' 18
lines 'C by columns, unpadded' 'C by columns; ' 9
lines 'N padded' 'B by columns, N padded to ' 4
lines 'nothing else is to say' '"kind":"note"' 0
expect 0 '' run gemm_f16 --shapes tiny --filter 64x96 --n 16 --contenders cublaslt
for kind in f16 bf16 s8 tf32 'f16 f32' 'bf16 f32'; do lines "$kind" "\"contender\":\"cublaslt $kind\"" 2; done
for sides in e4m3 'e4m3 e5m2' 'e5m2 e4m3'; do
    for mode in 'fast f16' 'fast bf16' 'fast f32' 'promoted f16' 'promoted bf16' 'promoted f32'; do
        lines "$sides $mode" "\"contender\":\"cublaslt $sides $mode\"" 2
    done
done
lines 'nothing else is to say' '"kind":"note"' 0
expect 0 'mcbench: WITHOUT cuSPARSE: operands are drawn on the GPU' run spmm_f16 --shapes tiny --limit 1 --n 16
lines 'the dense product' '"contender":"cublaslt f16"' 1

# A kernel that writes nothing is wrong; a plain product that is wrong ends the run: the host computes some sums again
SIM_CUDA_SKIP=gemm_ expect 1 '1 results of our variants were wrong' run gemm_f16 --shapes tiny --limit 1 --n 16 --peers none
SIM_CUDA_SKIP=reference_ expect 1 "mcbench's own sum of row 0, column 9 is" run gemm_s8 --shapes tiny --limit 1 --n 16 --peers none
finish
