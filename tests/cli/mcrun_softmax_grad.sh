#!/bin/bash
# mcrun softmax_grad on the simulator. Arguments: mcrun, the source directory.
mcrun=$1 specs=$2/specs
source "$2/tests/expect.sh"
cd "$work" || exit 1
export XDG_DATA_HOME=$work XDG_CACHE_HOME=$work MCGEN_ARCH=sm_80
gradient() { "$mcrun" softmax_grad "$specs/softmax_grad_f16.lua" --device sim "$@"; }
printf '4, 40, 9\n0 3 3 8 9\n0 7 39 1 2 3 38 39 5\n' >m.smtx
printf '2, 40, 0\n0 0 0\n\n' >empty.smtx

expect 0 'usage: mcrun softmax_grad SPEC... MASK' "$mcrun" softmax_grad --help
expect 0 'verdict    exact' gradient m.smtx
expect 0 'verdict    exact' "$mcrun" softmax_grad "$specs/softmax_grad_f16.lua" m.smtx --device sim:reversed --specialise
expect 0 '"verdict": "exact"' gradient m.smtx --json
expect 0 'verdict    exact' gradient empty.smtx
for set in vec=1 vec=2 vec=4 vec=16 lhs=bf16 lhs=f32 rhs=f32 rhs=bf16 out=f32 out=bf16 scale=none align=1 align=4; do
    expect 0 'verdict    exact' gradient m.smtx --set $set
    expect 0 'verdict    exact' gradient m.smtx --set $set --set order=srbcrs16
done
expect 0 'exact' gradient m.smtx --variants all

# A softmax and its gradient, in files
expect 0 'verdict' "$mcrun" sddmm "$specs/sddmm_f16.lua" m.smtx --k 64 --device sim --out s.npy
expect 0 'exact' "$mcrun" softmax "$specs/softmax_f16.lua" m.smtx --device sim --x s.npy --out p.npy
expect 0 'verdict' "$mcrun" sddmm "$specs/sddmm_f16.lua" m.smtx --k 64 --seed 7 --device sim --out dp.npy
expect 0 'exact' gradient m.smtx --p p.npy --dp dp.npy --out ds.npy
check 'ds.npy is 9 x 8 of f16' grep -aqF "'descr': '<f2', 'fortran_order': False, 'shape': (9, 8)" ds.npy

# What cannot be
expect 1 'dp is 9 x 8, must be 24 x 32' gradient m.smtx --dp dp.npy --set order=srbcrs32
expect 2 'is not one of "f32", "f16", "bf16"' gradient m.smtx --set out=u8
expect 2 'want more of either' gradient m.smtx --set order=srbcrs32 --set vec=16 --set warps=1 --set hold=1
sed 's/sub.rn.f32/add.rn.f32/' <("${mcrun%mcrun}mcgen" "$specs/softmax_grad_f16.lua") >wrong.ptx
gradient m.smtx --ptx wrong.ptx >table 2>err
check 'a wrong result exits 1' test $? = 1
check 'and names an element' grep -q 'must be' err

# Packed, planned, tuned
expect 0 '' "$mcrun" pack "$specs/softmax_grad_f16.lua" m.smtx --out packed
check 'rows.bin has four numbers a row block' test "$(stat -c %s packed/rows.bin)" = 64
expect 0 'softmax_grad_f16' "$mcrun" plan "$specs/softmax_grad_f16.lua" m.smtx --device sim
expect 0 'warps=1 ' "$mcrun" plan "$specs/softmax_grad_f16.lua" m.smtx --device sim
expect 0 'exact' gradient m.smtx --variants best
expect 0 'softmax_grad_f16' "$mcrun" tune "$specs/softmax_grad_f16.lua" m.smtx --device sim --in-process --candidates 3
expect 0 'softmax_grad' "$mcrun" records list
finish
