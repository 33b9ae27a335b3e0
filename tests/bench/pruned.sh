#!/usr/bin/env bash
# mcbench run beside cuSPARSELt, on a driver that is the simulator with libraries of its kind. Arguments: mcbench, the specs, the
# libraries' folder.
mcbench=$1 specs=$2 libraries=$3
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
export MCGEN_ARCH=sm_90a
mkdir matrices
printf '40, 80, 1\n0 1%s\n7\n' "$(printf ' 1%.0s' {1..39})" >matrices/a.smtx
run() { # SPEC OPTIONS...
    timeout 300 "$mcbench" run "$specs/$1.lua" "${@:2}" -m matrices --n 24 --variants default --rounds 5 -o lines.jsonl
}
lines() { check "$1: $3 lines with '$2'" [ "$(grep -c -- "$2" lines.jsonl)" = "$3" ]; }

# Each result of a type: C by rows and by columns, two of each are kept
expect 0 '' run gemm_f16 --peers cusparselt
lines f16 '"contender":"cusparselt f16"' 4
lines 'its columns' 'C by columns, N padded to 32' 2
lines 'one algorithm of three is wrong, and k is split in one kernel alone' '7 of 21 verified' 4
lines 'nothing else is to say' '"kind":"note"' 0
expect 0 '' run gemm_s8 --peers cusparselt --contenders 'cusparselt s8'
for out in s32 s8 f16 bf16; do lines "s8 $out" "\"contender\":\"cusparselt s8 $out\"" 4; done
expect 0 '' run gemm_e4m3 --peers cusparselt --contenders 'e4m3,e5m2 f32,cusparselt bf16' --cold
for kind in 'e4m3 f16' 'e4m3 bf16' 'e4m3 f32' 'e5m2 f32' bf16; do lines "$kind" "\"contender\":\"cusparselt $kind\"" 4; done
lines 'notes' '"kind":"note"' 0
check 'several sets when cold' [ "$(grep '"cusparselt e4m3 f16"' lines.jsonl | head -1 | sed 's/.*"sets":\([0-9]*\).*/\1/')" -gt 3 ]
expect 0 '' run gemm_e4m3 --set out=bf16 --peers cusparselt
lines 'our result alone' '"contender":"cusparselt e4m3 bf16"' 4
lines 'our result alone' '"contender":"cusparselt' 4

# It is another problem than the dense one, and takes part where it is asked for
expect 0 '' run gemm_f16
lines 'not by itself' cusparselt' f16' 0
expect 0 '' run gemm_f16 --contenders cusparselt' f16,cublaslt f16'
lines 'by name' '"contender":"cusparselt f16"' 4
lines 'beside another' '"contender":"cublaslt f16"' 1
lines 'and no more' '"contender":"cublaslt bf16"' 0

# Without the library, or with one of a version that nobody has looked at
mkdir some
for library in libcuda.so.1 libcublasLt.so.13; do ln -s "$libraries/$library" some/; done
LD_LIBRARY_PATH=$work/some expect 0 'mcbench: WITHOUT cuSPARSELt: libcusparseLt.so.0 is not on this machine (LD_LIBRARY_PATH?)' run gemm_f16 --peers cusparselt
lines 'without it' '"kind":"result"' 1
SIM_SPARSELT_VERSION=702 expect 0 'mcbench: WITHOUT cuSPARSELt: libcusparseLt is of version 702, the bench knows 800' run gemm_f16 --peers cusparselt
expect 0 'mcbench: WITHOUT cuSPARSELt: the bench has no product of it of u8 by s8' run gemm_s8 --set lhs=u8 --peers cusparselt
finish
