#!/bin/bash
# mcrun pack: complete directories or none. Arguments: mcrun, the source directory, json_get, mcgen.
mcrun=$1 json_get=$3 mcgen=$4
source "$2/tests/expect.sh"
spec=$2/specs/spmm_l8r8.lua
cd "$work" || exit 1
size() { check "$1 has $(wc -c <"$1") bytes, want $2" test "$(wc -c <"$1")" = "$2"; }
pack() { "$mcrun" pack "$spec" "$@"; }

# Row blocks of 3, 0, 1 and 40 vectors: a head each of 32 for each of the split = 4 warps, and behind the heads
# nothing; with split = 1 one stride of the last row block
{
    printf '4, 64, 44\n0 3 3 4 44\n'
    echo 9 10 63 5 $(seq 0 39)
} >m.smtx

expect 0 'col_idx.bin  s32[512]' pack m.smtx --out out
size out/row_ptr.bin $((5 * 4))
size out/col_idx.bin $((16 * 32 * 4))
size out/values.bin $((16 * 32 * 8))
printf '%%%%MatrixMarket matrix coordinate real general\n8 3 2\n1 1 0.5\n2 3 -127\n' >real.mtx
expect 1 'entry (1, 1) is 0.5, no integer' pack real.mtx --out real
check 'no directory is left' test ! -e real
expect 0 'values.bin' pack real.mtx --out real --quantise
expect 0 'values.npy' pack m.smtx --format bcrs --out published
expect 2 'pack: --out published would overwrite the matrix, which is read' pack published --out published --force
row_ptr() { od -An -td4 "$1/row_ptr.bin" | tr -s ' \n' ' '; }
check 'row_ptr starts behind the heads' test "$(row_ptr out)" = ' 16 16 16 16 16 '
expect 0 'col_idx.bin  s32[160]' pack m.smtx --out one --set split=1
check 'row_ptr counts strides' test "$(row_ptr one)" = ' 4 4 4 4 5 '
check 'padding has index -1' test "$(od -An -td4 -j12 -N8 out/col_idx.bin | tr -s ' \n' ' ')" = ' -1 -1 '
check 'the PTX is mcgen'\''s' cmp out/kernel.ptx <("$mcgen" "$spec")
check 'the contract is mcgen'\''s' cmp <(tr -d '\n' <out/contract.json) <("$mcgen" --describe --json "$spec" | tr -d '\n')
check 'the contract is JSON' "$json_get" out/contract.json ''
check 'five files' test "$(ls out | wc -l)" = 5

expect 0 's32[1024]' pack m.smtx --out wide --set stride=64
expect 0 's32[1024]' pack m.smtx --out named --variant "$("$mcgen" --list-variants "$spec" | grep -m1 'stride=64' | sed 's/ *\([0-9]*\).*/\1/')"
check 'the same seed packs the same' cmp wide/values.bin named/values.bin

# Digits beside a row of ones
expect 0 'values.bin' pack m.smtx --out offset --vec 2 --set lhs=s16 --set digits=offset
size offset/values.bin $((16 * 32 * (2 * 2 + 1)))
check 'the contract counts the row of ones' grep -q 'strides \* 160' offset/contract.json

# Directories that exist
expect 1 'out is not empty: --force replaces its files' pack m.smtx --out out
expect 1 'out is not empty' pack m.smtx --out out//
echo mine >out/notes.txt
expect 0 'col_idx.bin  s32[1024]' pack m.smtx --out out --force --set stride=64
size out/col_idx.bin $((16 * 64 * 4))
check 'other files stay' grep -q mine out/notes.txt
mkdir empty
expect 0 'kernel.ptx' pack m.smtx --out empty/
check 'an empty directory is filled' test -e empty/contract.json
expect 2 'would overwrite the matrix' pack m.smtx --out m.smtx
expect 1 'absent/out' pack m.smtx --out absent/out

# A disk that is full after 4 KB: no directory, no leftovers
full() { bash -c 'trap "" XFSZ; ulimit -f 4; exec "$@"' full "$@"; }
expect 1 'kernel.ptx: ' full "$mcrun" pack "$spec" m.smtx --out none
check 'nothing half-written' test ! -e none
cp -r out before
expect 1 'kernel.ptx: ' full "$mcrun" pack "$spec" m.smtx --out out --force
check 'a failed --force changes nothing' diff -r out before
check 'no temporary is left' test -z "$(find . -name '*.tmp')"

# Scales and biases
real() { pack m.smtx --set out=f16 --set scale=column --set bias=row "$@"; }
expect 2 'the scale goes by columns: --n says how many C has' real --out unsized
check 'nothing of an unsized scale' test ! -e unsized
expect 0 'scale.bin  f32[48]' real --out sized --n 48
size sized/scale.bin $((48 * 4))
size sized/bias.bin $((32 * 4))
expect 0 'scale.bin  f32[16]' real --out known --set n=16
expect 2 "--n is 48, but the kernel's n is fixed at 16" real --out other --set n=16 --n 48
expect 0 'scale.bin  f32[1]' pack m.smtx --out tensor --set out=bf16 --set scale=tensor
check 'the contract says how scales are passed' test "$("$json_get" tensor/contract.json params.5.type)" = f32
check 'and that they are scalars' test "$("$json_get" tensor/contract.json params.5.kind)" = scalar
# Factors that only some kernels have
expect 0 'b_scale.bin  f32[24]' real --out chained --set out=s8 --set b_scale=column --set c_scale=tensor --set zero=tensor --n 24
size chained/b_scale.bin $((24 * 4))
for name in c_scale zero; do size chained/$name.bin 4; done
expect 1 '--b-scale: the kernel takes none' real --n 24 --out unasked --b-scale sized/scale.bin
check 'nothing of a refused file' test ! -e unasked

expect 1 'm = 64, the matrix has 32' pack m.smtx --out fixed --set m=64
check 'nothing of a refused problem' test ! -e fixed
finish
