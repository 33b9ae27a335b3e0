#!/bin/bash
# mcrun quantise on the simulator. Arguments: mcrun, the source directory.
mcrun=$1 specs=$2/specs
source "$2/tests/expect.sh"
cd "$work" || exit 1
export XDG_DATA_HOME=$work XDG_CACHE_HOME=$work
computed() { "$mcrun" quantise "$specs/quantise_s8.lua" --device sim "$@"; }
given() { "$mcrun" quantise "$specs/quantise_s8_given.lua" --device sim "$@"; }
tensor() { "$mcrun" quantise "$specs/quantise_s8_tensor.lua" --device sim "$@"; }
back() { "$mcrun" quantise "$specs/dequantise_f16.lua" --device sim "$@"; }
same() { check "$1 is $2" cmp "$1" "$2"; }

# Shapes, by either name; leading dimensions; both orders of warps
expect 0 'usage: mcrun quantise SPEC' "$mcrun" quantise --help
expect 0 'M 20  K 0  N 40' computed --tokens 20 --features 40
expect 0 'M 40  K 0  N 20' back --tokens 20 --features 40
expect 0 'verdict    exact' given --m 33 --n 100 --lda 104 --ldc 36
expect 0 'verdict    exact' computed --tokens 17 --features 300 --specialise
expect 0 'verdict    exact' "$mcrun" quantise "$specs/quantise_s8.lua" --tokens 17 --features 300 --device sim:reversed
expect 0 '"verdict": "exact"' computed --tokens 16 --features 64 --json
expect 2 'M is 3 by --m, but 4 by tokens' computed --tokens 4 --m 3
expect 2 '--ldc is 16, less than M = 20' computed --tokens 20 --features 40 --ldc 16

# All variants, all types
for set in tile=4,8 tile=16,32; do expect 0 'exact' computed --tokens 20 --features 136 --variants all --set $set --set warps=4,8; done
expect 0 'exact' given --tokens 100 --features 136 --variants all
expect 0 'exact' back --tokens 100 --features 136 --variants all
for out in u8 s4 u4; do expect 0 'verdict    exact' computed --tokens 21 --features 50 --set out=$out --set zero=row --set keep=0; done
expect 0 'verdict    exact' given --tokens 20 --features 40 --set scale=tensor --set lhs=f32 --set layout=rows

# Clusters, also with fixed shapes: equal parts, unequal ones, and one that is empty
for features in 1024 1000 8; do expect 0 'verdict    exact' computed --tokens 17 --features $features --specialise --set arch=sm_90 --set cluster=4; done

# Files: activations of f16, quantised with computed scales, and once more with these
expect 0 'exact' back --tokens 20 --features 48 --out x.npy --set scale=tensor --set lhs=f16
check 'x.npy is 20 x 48 of f16' grep -aqF "'descr': '<f2', 'fortran_order': False, 'shape': (20, 48)" x.npy
expect 0 'exact' computed --x x.npy --out q.npy --out-scale s.npy
check 'q.npy is 48 x 20 of s8' grep -aqF "'descr': '|i1', 'fortran_order': False, 'shape': (48, 20)" q.npy
check 's.npy has 20 scales' grep -aqF "'descr': '<f4', 'fortran_order': False, 'shape': (20,)" s.npy
expect 0 'exact' given --x x.npy --scale s.npy --out again.npy
same q.npy again.npy
cp s.npy twenty.npy
expect 0 'exact' computed --x x.npy --set zero=row --set out=u8 --out q.npy --out-scale s.npy --out-zero z.npy
expect 0 'exact' given --x x.npy --set zero=row --set out=u8 --scale s.npy --zero z.npy --out again.npy
same q.npy again.npy
expect 0 'exact' computed --x x.npy --set layout=rows --out rows.npy
check 'rows.npy is 20 x 48 of s8' grep -aqF "'shape': (20, 48)" rows.npy
expect 0 'exact' given --x x.npy --set out=s4 --out four.npy
# One scale, in two passes, and once more with it
expect 0 'exact' tensor --x x.npy --set zero=tensor --out q.npy --out-scale s.npy --out-zero z.npy
expect 0 'exact' given --x x.npy --set zero=row --scale s.npy --zero z.npy --out again.npy # one for each token
same q.npy again.npy
check 's.npy has one scale' grep -aqF "'descr': '<f4', 'fortran_order': False, 'shape': (1,)" s.npy
expect 0 'exact' given --x x.npy --set scale=tensor --set zero=tensor --scale s.npy --zero z.npy --out again.npy
same q.npy again.npy
expect 0 'exact' tensor --tokens 100 --features 136 --variants all
expect 0 'passes     2, of which the last one is counted below' tensor --tokens 16 --features 64 --report
expect 2 'quantise: --out and --out-scale are both o.npy' tensor --tokens 16 --features 64 --out o.npy --out-scale o.npy
check 'nothing is written' test ! -e o.npy
expect 2 '--dilate: unknown or ambiguous option' computed --tokens 8 --features 8 --dilate

# A transpose alone: twice is as it was
as_is() { given --set scale=none "$@"; }
for type in s4 s8 s16 s32 f16; do
    as_is --set lhs=$type --set out=$type --set layout=rows --set tile=32 --set warps=8 --m 19 --n 50 --out plain.npy >/dev/null
    expect 0 'verdict    exact' as_is --set lhs=$type --set out=$type --set tile=32 --set warps=8 --x plain.npy --out turned.npy
    expect 0 'M 50  K 0  N 19' as_is --set lhs=$type --set out=$type --set tile=32 --set warps=8 --x turned.npy --out again.npy
    same again.npy plain.npy
done
expect 2 'lda is 35, not a multiple of the 2 that the kernel needs: 36 is one' as_is --set lhs=s4 --set out=s4 --m 20 --n 33 --lda 35
expect 2 'lda: must be even: two elements of 4 bits share a byte' as_is --set lhs=s4 --set out=s4 --m 20 --n 33 --set lda=35
expect 2 'ldc: must be even: two elements of 4 bits share a byte' as_is --set lhs=s4 --set out=s4 --m 21 --n 33 --set ldc=21

# B's file by columns is the same B
"$mcrun" matrix-gen --rows 4 --cols 48 --sparsity 0.5 -o a.smtx || exit 1
product() { "$mcrun" spmm "$specs/spmm_l8r8.lua" a.smtx --device sim "$@"; }
as_is --set lhs=s8 --set layout=rows --m 20 --n 48 --out tokens.npy >/dev/null
as_is --set lhs=s8 --x tokens.npy --out rows.npy >/dev/null
expect 0 'verdict    exact' product --b tokens.npy --b-major column --ldb 32 --out of_tokens.npy
expect 0 'N 20' product --b rows.npy --b-major row --out of_rows.npy
same of_tokens.npy of_rows.npy
expect 1 'tokens.npy has 20 rows, A 48 columns' product --b tokens.npy
expect 2 '--b-major goes with --b' product --b-major column

# What is refused
expect 2 'want "none"' as_is --set lhs=s8 --set scale=row
expect 2 'out must be the same type' as_is --set lhs=s8 --set out=s16
expect 2 'out must be the same type' as_is --set lhs=s16
expect 2 'lhs must be the same type' as_is --set out=s32
expect 2 'have no scales to compute' as_is --set lhs=s8 --set scales=computed
expect 1 'X holds f16, must hold f32' computed --x x.npy --set lhs=f32
expect 2 'N is 50 by features, but 48 by x.npy' computed --x x.npy --features 50
expect 1 '--scale: the kernel computes it itself' computed --x x.npy --scale s.npy
expect 1 "but the kernel's scale has 30 elements" given --tokens 30 --features 48 --scale twenty.npy
expect 1 '--out-scale: the kernel computes none' given --x x.npy --out-scale t.npy
expect 1 '--zero: the kernel takes none' given --x x.npy --zero z.npy
expect 2 'that goes with computed scales a row' tensor --set keep=2
expect 1 '--scale: the kernel computes it itself' tensor --x x.npy --scale s.npy
expect 2 'integers want a scale' given --set scale=none
expect 2 'not a column' given --set scale=column
expect 2 'zero points go as scales do' given --set zero=tensor
expect 2 'sums of s32 go back only' given --set lhs=s32
expect 2 'the way back takes given scales' back --set scales=computed
expect 2 'sm_80 has no thread block clusters' computed --set arch=sm_80 --set cluster=2
expect 2 'want one of both' computed --set arch=sm_90 --set cluster=2 --set share=64
expect 2 'takes tiles of columns anyway' given --set arch=sm_90 --set cluster=2
expect 2 'keeps nothing in shared memory' given --set keep=2
expect 2 'registers a thread' computed --set warps=32 --set hold=4
expect 2 'bytes of shared memory' computed --set keep=8 --set warps=32 --set hold=1
expect 2 'lhs is the type of A' given --set dtype=f16
expect 1 'm is fixed at 64' given --tokens 20 --features 40 --set m=64 --device sim

# Tuning, and the record
printf '20 64 0.5 33\n' >shapes.txt
expect 0 'quantise_s8_given.lua' "$mcrun" tune "$specs/quantise_s8_given.lua" --shapes shapes.txt --device sim --in-process
expect 0 'quantise_s8_tensor.lua' "$mcrun" tune "$specs/quantise_s8_tensor.lua" --shapes shapes.txt --device sim --in-process
expect 0 'quantise f16' "$mcrun" records list
finish
