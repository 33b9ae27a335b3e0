#!/bin/bash
# mcrun softmax on the simulator. Arguments: mcrun, the source directory.
mcrun=$1 specs=$2/specs
source "$2/tests/expect.sh"
cd "$work" || exit 1
export XDG_DATA_HOME=$work XDG_CACHE_HOME=$work MCGEN_ARCH=sm_80
softmax() { "$mcrun" softmax "$specs/softmax_f16.lua" --device sim "$@"; }
pairs() { "$mcrun" softmax "$specs/softmax_q4.lua" --device sim "$@"; }
integers() { "$mcrun" softmax "$specs/softmax_q8.lua" --device sim "$@"; }
printf '4, 40, 9\n0 3 3 8 9\n0 7 39 1 2 3 38 39 5\n' >m.smtx
printf '2, 40, 0\n0 0 0\n\n' >empty.smtx

expect 0 'usage: mcrun softmax SPEC... MASK' "$mcrun" softmax --help
expect 0 'out-lse' "$mcrun" softmax --help
check 'lse is no input' sh -c "! '$mcrun' softmax --help | grep -q -e ' --lse '"
expect 0 'verdict    exact' softmax m.smtx
expect 0 'verdict    exact' "$mcrun" softmax "$specs/softmax_f16.lua" m.smtx --device sim:reversed --specialise
expect 0 '"verdict": "exact"' integers m.smtx --json
expect 0 'verdict    exact' softmax empty.smtx
expect 0 'verdict    exact' softmax empty.smtx --set lse=row
expect 1 'C has no elements, and nothing was launched' softmax empty.smtx --set lse=row --out-lse lse.npy
for set in vec=1 vec=2 vec=4 vec=16 lhs=bf16 lhs=f32 lhs=s32 out=u8 out=s16 out=f32 mask=values scale=none align=1 align=4; do
    expect 0 'verdict    exact' softmax m.smtx --set $set
    expect 0 'verdict    exact' softmax m.smtx --set $set --set order=srbcrs16 --set lse=row
done
expect 0 'exact' softmax m.smtx --variants all
expect 0 'verdict    within bounds' softmax m.smtx --set exp=approx --set lse=row
expect 0 'right' integers m.smtx --set exp=approx --set mask=values --variants all
expect 0 'verdict    within bounds' softmax m.smtx --set exp=approx --set exchange=once
expect 0 'right' softmax m.smtx --set exp=approx --variants all
expect 2 '"once" goes with exp = "approx"' softmax m.smtx --set exchange=once
expect 2 '"once" has no lse = "row"' softmax m.smtx --set exp=approx --set exchange=once --set lse=row
expect 2 'is not one of "polynomial", "approx"' softmax m.smtx --set exp=fast
expect 0 'exact' integers m.smtx --variants all
expect 0 'exact' integers m.smtx --set c_scale=tensor --set out=u16

for set in order=bcrs order=srbcrs16 vec=2 lhs=f16 mask=values; do
    expect 0 'verdict    exact' pairs m.smtx --set $set --set out=s4
done
expect 0 'exact' pairs m.smtx --variants all
expect 0 'exact' pairs m.smtx --set vec=1
expect 2 'want an order of strides, or vec = 2' pairs m.smtx --set vec=1 --set order=bcrs
expect 2 'want more bytes of align or unit' pairs m.smtx --set align=1

# Files: an attention's three steps
expect 0 'verdict' "$mcrun" sddmm "$specs/sddmm_f16.lua" m.smtx --k 64 --device sim --out s.npy
expect 0 'exact' softmax m.smtx --x s.npy --out p.npy --set lse=row --out-lse lse.npy
check 'p.npy is 9 x 8 of f16' grep -aqF "'descr': '<f2', 'fortran_order': False, 'shape': (9, 8)" p.npy
check 'lse.npy has 32 elements' grep -aqF "'descr': '<f4', 'fortran_order': False, 'shape': (32,)" lse.npy
expect 0 'verdict' "$mcrun" spmm "$specs/spmm_f16.lua" m.smtx --a p.npy --n 64 --device sim
expect 0 'verdict' "$mcrun" sddmm "$specs/sddmm_l8r8.lua" m.smtx --k 64 --device sim --set order=srbcrs32 --out q.npy
expect 0 'exact' integers m.smtx --x q.npy --out p8.npy
check 'p8.npy has three strides of 8 rows' grep -aqF "'descr': '|u1', 'fortran_order': False, 'shape': (24, 32)" p8.npy
expect 0 'exact' softmax m.smtx --set order=bcrs --set out=u8 --format bcrs --out published
expect 0 'exact' "$mcrun" spmm "$specs/spmm_l8r8.lua" published --n 64 --device sim --set lhs=u8

# What cannot be
expect 1 'X is 9 x 8, must be 24 x 32' integers m.smtx --x s.npy --set lhs=f16
expect 2 'softmax: --out and --out-lse are both o.npy' softmax m.smtx --set lse=row --out o.npy --out-lse o.npy
expect 1 'out-lse: the kernel computes none' softmax m.smtx --out o.npy --out-lse l.npy
expect 1 'c-scale: the kernel takes none' softmax m.smtx --c-scale lse.npy
expect 2 'is not one of "pattern", "values"' softmax m.smtx --set mask=all
expect 2 'c_scale' softmax m.smtx --set c_scale=tensor
expect 2 'threads of 1 warps have 16 rows each' softmax m.smtx --set order=srbcrs32 --set vec=16 --set warps=1 --set hold=16 --set align=1
expect 2 'want more of either' softmax m.smtx --set order=srbcrs32 --set vec=16 --set warps=1 --set hold=1

# Packed, planned, tuned
expect 0 '' "$mcrun" pack "$specs/softmax_f16.lua" m.smtx --out packed
check 'rows.bin has four numbers a row block' test "$(stat -c %s packed/rows.bin)" = 64
expect 0 'softmax_f16' "$mcrun" plan "$specs/softmax_f16.lua" m.smtx --device sim
# By the model: short row blocks want few threads; long ones enough for all of their values.
expect 0 'warps=1 ' "$mcrun" plan "$specs/softmax_f16.lua" m.smtx --device sim
{ printf '64, 4096, 38400\n'; seq -s' ' 0 600 38400; for ((i = 0; i < 64; i++)); do seq -s' ' 0 6 3599; done | paste -sd' '; } >long.smtx
"$mcrun" plan "$specs/softmax_f16.lua" long.smtx --device sim >plan.txt
read -r warps hold < <(sed -n 's/.*warps=\([0-9]*\) hold=\([0-9]*\).*/\1 \2/p' plan.txt | head -1)
check "a row block of 600 is held: $warps warps, $hold units" test $((32 * warps * hold)) -ge 600
expect 0 'exact' softmax m.smtx --variants best
expect 0 'softmax_f16' "$mcrun" tune "$specs/softmax_f16.lua" m.smtx --device sim --in-process --set lse=row
expect 0 'tuned' "$mcrun" tune "$specs/softmax_f16.lua" m.smtx --device sim --in-process --set exp=approx --set lse=row --candidates 3
expect 2 'has no --n and no --k' "$mcrun" tune "$specs/softmax_f16.lua" m.smtx --n 8 --device sim
finish
