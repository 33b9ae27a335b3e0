#!/usr/bin/env bash
# mcbench run and mcrun --bench of dense products and of those by a 2:4 matrix, on a driver that is the simulator. Arguments: mcbench, the specs, mcrun.
mcbench=$1 specs=$2 mcrun=$3
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
export MCGEN_ARCH=sm_90a
mkdir matrices
printf '40, 80, 1\n0 1%s\n7\n' "$(printf ' 1%.0s' {1..39})" >matrices/a.smtx
run() { # SPEC SETTINGS...
    expect 0 '' timeout 300 "$mcbench" run "$specs/$1.lua" "${@:2}" -m matrices --n 48 --peers none --variants default --rounds 5 -o lines.jsonl
    check "a result of $*" grep -q '"kind":"result".*"op":"'"${1%%_*}"'"' lines.jsonl
    check "no note of $*" sh -c '! grep -q "\"kind\":\"note\"" lines.jsonl'
}
run gemm_f16
run gemm_bf16 --set bias=column --set act=relu
run gemm_e4m3 --set scale=tensor
run gemm_s8
for i in f16 bf16 e4m3 s8; do run gemm24_$i; done
run gemm_s8 --set out=f16 --set scale=row
run gemm_s8 --set out=s8 --set scale=column --set store=pairs
run gemm_s4_mma --set copy=4
run gemm24_s4_mma --set copy=4
run gemm_s4_mma --set lhs=u4 --set out=f16 --set scale=row --set copy=1
gemm() { timeout 300 "$mcrun" gemm "$specs/gemm_f16.lua" --m 64 --n 72 --k 80 --device cuda:0 --bench "$@"; }
expect 0 'GB/s  ' gemm --variants all --set tile_m=64 --set tile_n=64 --set consumers=1
expect 0 '"microseconds": ' gemm --json
finish
