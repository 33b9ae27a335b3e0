#!/usr/bin/env bash
# mcbench has no race of slide24, and says so; mcrun times it, on a driver that is the simulator. Arguments: mcbench, the specs, mcrun.
mcbench=$1 specs=$2 mcrun=$3
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
export MCGEN_ARCH=sm_80
mkdir matrices
printf '24, 70, 1\n0 1%s\n7\n' "$(printf ' 1%.0s' {1..23})" >matrices/a.smtx
expect 1 'mcrun slide24 --bench times its kernels' timeout 300 "$mcbench" run "$specs/slide24.lua" -m matrices --n 100 --peers none -o lines.jsonl
slide24() { timeout 300 "$mcrun" slide24 "$specs/slide24.lua" --m 24 --n 200 --device cuda:0 --bench "$@"; }
expect 0 'verdict    exact' slide24
expect 0 'GB/s  ' slide24 --variants all --set lhs=s8 --set out=s8 --set pattern=14:16
finish
