#!/usr/bin/env bash
# mcbench run and mcrun --bench of kernels of a softmax and its gradient, on a driver that is the simulator. Arguments: mcbench, the specs, mcrun.
mcbench=$1 specs=$2 mcrun=$3
. "$(dirname "$0")/../expect.sh"
cd "$work" || exit 1
export MCGEN_ARCH=sm_80
mkdir matrices
printf '4, 40, 9\n0 3 3 8 9\n0 7 39 1 2 3 38 39 5\n' >matrices/a.smtx
bench() { timeout 300 "$mcbench" run "$specs/$1.lua" "${@:2}" -m matrices --peers none --variants default --rounds 5 -o lines.jsonl; }
run() { # SPEC SETTINGS...
    expect 0 '' bench "$@"
    check "a result of $*" grep -q '"kind":"result".*"op":"softmax' lines.jsonl
    check "no note of $*" sh -c '! grep -q "\"kind\":\"note\"" lines.jsonl'
}
run softmax_f16
run softmax_f16 --set lhs=f32 --set out=bf16 --set scale=none --set order=srbcrs16
run softmax_f16 --set mask=values --set vec=4
run softmax_q8
run softmax_grad_f16
run softmax_grad_f16 --set lhs=bf16 --set rhs=f32 --set out=f32 --set scale=none --set order=srbcrs16
expect 0 'could not run' bench softmax_f16 --set lse=row
expect 0 'exact' timeout 300 "$mcrun" softmax "$specs/softmax_f16.lua" matrices/a.smtx --device cuda:0 --bench
expect 0 'exact' timeout 300 "$mcrun" softmax_grad "$specs/softmax_grad_f16.lua" matrices/a.smtx --device cuda:0 --bench
finish
