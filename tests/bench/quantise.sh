#!/usr/bin/env bash
# mcbench run and mcrun --bench of kernels that quantise, on a driver that is the simulator. Arguments: mcbench, the specs, mcrun.
mcbench=$1 specs=$2 mcrun=$3
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
export MCGEN_ARCH=sm_80
mkdir matrices
printf '24, 70, 1\n0 1%s\n7\n' "$(printf ' 1%.0s' {1..23})" >matrices/a.smtx
run() { # SPEC SETTINGS...
    expect 0 '' timeout 300 "$mcbench" run "$specs/$1.lua" "${@:2}" -m matrices --n 48 --peers none --variants default --rounds 5 -o lines.jsonl
    check "a result of $*" grep -q '"kind":"result".*"op":"quantise"' lines.jsonl
    check "no note of $*" sh -c '! grep -q "\"kind\":\"note\"" lines.jsonl'
}
run quantise_s8
run quantise_s8_given
run quantise_s8_tensor
run quantise_s8_given --set out=u8 --set layout=rows --set scale=tensor
run dequantise_f16 --set lhs=f32 --set scale=row
expect 0 'could not run' timeout 300 "$mcbench" run "$specs/quantise_s8.lua" --set zero=row -m matrices --n 48 --peers none --variants default --rounds 5 -o lines.jsonl
check 'zero points are told' grep -q 'mcbench knows no zero points' lines.jsonl
quantise() { timeout 300 "$mcrun" quantise "$specs/quantise_s8.lua" --tokens 24 --features 64 --device cuda:0 --bench "$@"; }
expect 0 'moved ' quantise
expect 0 'GB/s  ' quantise --variants all --set tile=8 --set warps=8 --set share=open --set hold=1 --set keep=0 --set rounding=add
expect 0 '"moved_gbs": ' quantise --json
finish
