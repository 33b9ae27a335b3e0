#!/usr/bin/env bash
# mcbench run and mcrun --bench of optimisers' steps, on a driver that is the simulator. Arguments: mcbench, the specs, mcrun.
mcbench=$1 specs=$2 mcrun=$3
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
export MCGEN_ARCH=sm_80
mkdir matrices
printf '24, 70, 1\n0 1%s\n7\n' "$(printf ' 1%.0s' {1..23})" >matrices/a.smtx
bench() { timeout 300 "$mcbench" run "$specs/$1.lua" "${@:2}" -m matrices --n 48 --peers none --variants default --rounds 5 -o lines.jsonl; }
run() { # SPEC SETTINGS...
    expect 0 '' bench "$@"
    check "a result of $*" grep -q '"kind":"result".*"op":"optimise"' lines.jsonl
    check "no note of $*" sh -c '! grep -q "\"kind\":\"note\"" lines.jsonl'
}
run optimise_sgd
run optimise_adam
run optimise_adam --cold
run optimise_sgd --set rule=nesterov --set lhs=f32 --set out=bf16 --set master=on
run optimise_adam --set rule=adam --set master=off --set out=f32
expect 1 'several rules' bench optimise_sgd "$specs/optimise_adam.lua" --set master=off

# Every launch of a timing changes what is in place; the result is that of one step.
optimise() { timeout 300 "$mcrun" optimise "$specs/optimise_adam.lua" --m 24 --n 64 --device cuda:0 --bench "$@"; }
expect 0 'verdict    exact' optimise
expect 0 'GB/s  ' optimise --variants all --set warps=8 --set unit=4
finish
