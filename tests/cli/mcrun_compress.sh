#!/bin/bash
# mcrun compress: a dense matrix to values and metadata of sparse tensor cores, and back. Arguments: mcrun, the source directory, json_get.
mcrun=$1 json_get=$3
source "$2/tests/expect.sh"
cd "$work" || exit 1
compress() { "$mcrun" compress "$@"; }
json() { check "$1: $2 is $("$json_get" "$1" "$2"), want $3" test "$("$json_get" "$1" "$2")" = "$3"; }
npy() { # npy FILE DESCR SHAPE BYTES: a .npy file, its data as printf's %b
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n%b' "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" "$4" >"$1"
}
data() { tail -c +129 "$1" | od -An -v -tx1 | tr -d ' \n'; }
holds() { check "$1 holds $(data "$1"), want $2" test "$(data "$1")" = "$2"; }

# Two rows of ten: pairs at 01, 12, 1 (of the last two); none, 23, 0
npy w.npy '|i1' '2, 10' '\1\2\0\0\0\3\4\0\0\5\0\0\0\0\0\0\6\7\5\0'
expect 0 'shape      2 x 10, s8' compress w.npy --out w
expect 0 'values     w.values.npy, s8[2][6]' compress w.npy --out w
expect 0 'metadata   w.meta.npy, u8[2][2]' compress w.npy --out w
holds w.values.npy 010203040005000006070500
holds w.meta.npy 9444e444
expect 0 'written    back.npy, s8[2][10]' compress w --decompress --out back.npy --cols 10
check 'w comes back' cmp w.npy back.npy
expect 0 'shape      2 x 12, s8' compress w --decompress --out wide.npy

# Every layout, there and back
for layout in natural8 natural16 natural32 cutlass-sm80 cutlass-sm90; do
    for type in s8 s4; do
        [ $layout-$type = cutlass-sm90-s4 ] && continue
        expect 0 "layout     $layout" compress w.npy --mode prune --type $type --layout $layout --out l
        expect 0 '2 x 10' compress l --decompress --type $type --layout $layout --cols 10 --out back.npy
    done
done
for layout in natural16 cutlass-sm80 cutlass-sm90; do
    compress w.npy --layout $layout --out l >/dev/null
    compress l --decompress --layout $layout --cols 10 --out back.npy >/dev/null
    check "w comes back of $layout" cmp w.npy back.npy
done
expect 0 'metadata   l.meta.npy, s16[2][1]' compress w.npy --layout natural16 --out l
holds l.meta.npy 9444e444
expect 0 'metadata   l.meta.npy, s32[16][2]' compress w.npy --layout cutlass-sm80 --out l
expect 0 'metadata   l.meta.npy, u8[64][8]' compress w.npy --layout cutlass-sm90 --tile-k 64 --out l
expect 1 "cutlass-sm90 has no metadata of s4" compress w.npy --type s4 --layout cutlass-sm90 --out no
expect 2 'a tile of 96 in k: must be a multiple of 64 for s8' compress w.npy --layout cutlass-sm90 --tile-k 96 --out no

# The same bytes from a device, whatever the layout
for layout in natural8 natural32 cutlass-sm80 cutlass-sm90 "cutlass-sm90 --tile-k 64"; do
    for type in s8 u8; do
        # shellcheck disable=SC2086
        expect 0 'device     sim (PTX simulator)' compress w.npy --mode prune --type $type --layout $layout --device sim --out d
        # shellcheck disable=SC2086
        compress w.npy --mode prune --type $type --layout $layout --out l >/dev/null
        check "values of $layout from a device" cmp l.values.npy d.values.npy
        check "metadata of $layout from a device" cmp l.meta.npy d.meta.npy
    done
done
# Pairs of 4 bits: 11 columns, of which the last one has half of a byte
npy odd.npy '|i1' '2, 11' '\1\2\0\0\0\3\4\0\0\5\7\0\0\0\0\0\0\6\7\5\0\4'
npy table4.npy '<i4' '2, 2' '\3\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0'
for layout in natural8 natural16 natural32 cutlass-sm80 table=table4.npy; do
    for type in s4 u4; do
        for options in "--mode prune" "--mode prune --pattern 6:8"; do
            # shellcheck disable=SC2086
            expect 0 'device     sim (PTX simulator)' compress odd.npy $options --type $type --layout $layout --device sim --out d
            # shellcheck disable=SC2086
            compress odd.npy $options --type $type --layout $layout --out l >/dev/null
            check "values of $type, $layout from a device" cmp l.values.npy d.values.npy
            check "metadata of $type, $layout from a device" cmp l.meta.npy d.meta.npy
        done
    done
done
expect 0 '2 x 11' compress d --decompress --type u4 --layout table=table4.npy --pattern 6:8 --cols 11 --out back.npy
expect 1 'cutlass-sm90 has no metadata of u4' compress w.npy --type u4 --layout cutlass-sm90 --device sim --out no
expect 1 'odd.npy: groups with more than 2 of 4 pairs nonzero: 1, the first in row 0, group 0' compress odd.npy --type s4 --device sim --out no
expect 1 'odd.npy: groups with more than 2 of 4 pairs nonzero: 1, the first in row 0, group 0' compress odd.npy --type s4 --out no
expect 1 '--bench: the simulator has no time to measure, this needs a GPU' compress w.npy --device sim --bench --out no
expect 2 'compress: --bench goes with --device' compress w.npy --bench --out no
expect 2 'compress: --device goes without --decompress' compress w --decompress --device sim --out no
check 'no file of failed runs' test ! -e no.values.npy

# A table: two codes each of rows 0 and 1, backwards
npy table.npy '<i4' '2, 2' '\3\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0'
expect 0 'layout     table=table.npy' compress w.npy --layout table=table.npy --out t
holds t.meta.npy 4e494444
compress w.npy --layout table=table.npy --atoms groups --out t >/dev/null
expect 0 '2 x 10' compress t --decompress --layout table=table.npy --atoms groups --cols 10 --out back.npy
check 'w comes back of a table' cmp w.npy back.npy
npy broken.npy '<i4' '1, 2' '\1\0\0\0\1\0\0\0'
expect 1 "broken.npy: the table's [0][1] is 1, which it has twice" compress w.npy --layout table=broken.npy --out no
expect 1 'broken.npy: the table has 2 columns: must be a multiple of the 4 codes of a word' compress w.npy --layout table=broken.npy --word 16 --out no

# Groups that are full
npy full.npy '|i1' '2, 8' '\0\0\0\0\1\2\3\0\1\1\0\1\0\0\0\0'
expect 1 'full.npy: groups with more than 2 of 4 nonzero: 2, the first in row 0, group 1' compress full.npy --out no
expect 1 'full.npy: groups with more than 2 of 4 nonzero: 2, the first in row 0, group 1' compress full.npy --device sim --out no
expect 0 'pruned     2 groups' compress full.npy --mode prune --device sim --out f
expect 0 'pruned     2 groups' compress full.npy --mode prune --out f
holds f.values.npy 0000020301010000
holds f.meta.npy 9444
compress full.npy --mode prune --out f --json >f.json
json f.json pruned 2
json f.json values.cols 4
json f.json metadata.file f.meta.npy

# One of two: the same of f32, tf32 and tf32rz
npy f32.npy '<f4' '1, 4' '\0\0\0\0\0\0\200\77\0\0\200\77\0\0\0\200'
expect 0 'f32[1][2]' compress f32.npy --out one
holds one.meta.npy 4e
expect 0 'tf32[1][2]' compress f32.npy --type tf32 --pattern 1:2 --out one
expect 0 'tf32rz[1][2]' compress f32.npy --type tf32rz --device sim --out one
holds one.values.npy 0000803f0000803f
expect 2 'w.npy: --pattern 1:2 is that of tf32, not of s8' compress w.npy --pattern 1:2 --out no
expect 1 'f32.npy: f32: one of two elements is kept, and no other pattern' compress f32.npy --pattern 6:8 --out no

# Six of eight
npy six.npy '|i1' '1, 8' '\1\2\3\4\5\6\0\0'
expect 0 'rows       six.rows.npy: which row of B each of its 12 columns takes' compress six.npy --pattern 6:8 --out six
holds six.rows.npy 000000000100000002000000030000000200000003000000040000000500000004000000050000000600000007000000
holds six.values.npy 010203040506
holds six.meta.npy 4444
expect 0 '1 x 8, s8' compress six --decompress --pattern 6:8 --out back.npy
check 'six comes back' cmp six.npy back.npy
expect 0 '1 x 7, s8' compress six --decompress --pattern 6:8 --cols 7 --out back.npy
expect 1 'six: row 0 has a nonzero in column 5, beyond the last of 5 columns' compress six --decompress --pattern 6:8 --cols 5 --out no
expect 1 'more than 4 of 6 nonzero: 1, the first in row 0, group 0' compress six.npy --pattern 4:6 --out no
check 'no rows without a pattern' test ! -e w.rows.npy

# What is refused, and leaves nothing
expect 2 'compress: --out is missing' compress w.npy
expect 2 "--layout: 'natural' is not one of natural8|" compress w.npy --layout natural --out no
expect 2 "--pattern: '2:8' is not 1:2, 2:4" compress w.npy --pattern 2:8 --out no
expect 2 "--pattern: '6:8x' is not 1:2, 2:4" compress w.npy --pattern 6:8x --out no
expect 2 '--tile-k goes with --layout cutlass-sm90' compress w.npy --tile-k 64 --out no
expect 2 '--word and --atoms go with --layout table=' compress w.npy --word 16 --out no
expect 2 '--cols and --mend go with --decompress' compress w.npy --cols 8 --out no
expect 2 '--cols and --mend go with --decompress' compress w.npy --mend --out no
expect 2 '--mode goes without --decompress' compress w --decompress --mode prune --out no
expect 1 'missing.npy: No such file' compress missing.npy --out no
expect 1 'missing.values.npy: No such file' compress missing --decompress --out no
expect 1 'w.npy holds s8, must hold f16' compress w.npy --type f16 --out no
npy endless.npy '|i1' '4611686018427387904, 0' ''
expect 1 'endless.npy: ' timeout 20 "$mcrun" compress endless.npy --type s4 --out no
npy wide.values.npy '|i1' '0, 4611686018427387904' '' && cp endless.npy wide.meta.npy
expect 1 'wide: 4611686018427387904 columns of values: at most' compress wide --decompress --out no
npy s16.npy '<i2' '1, 1' '\0\0'
expect 1 's16.npy: s16: sparse tensor cores have s8' compress s16.npy --out no
cp w.values.npy kept && cp w.values.npy in.values.npy
expect 2 'would overwrite w.values.npy, which is read' compress w --decompress --out w.values.npy
expect 2 'would overwrite in.values.npy, which is read' compress in.values.npy --out in
check 'the values are as they were' cmp w.values.npy kept
expect 1 'w: values are 2 x 6, must be 2 x 8' compress w --decompress --cols 13 --out no
expect 1 'w: metadata are 2 x 2 words, must be 2 x 1' compress w --decompress --cols 8 --out no
expect 1 'w: row 0, group 2 have a nonzero beyond the last of 9 columns' compress w --decompress --cols 9 --out no
expect 1 'w: metadata are u8, must be integers of 16 bits' compress w --decompress --layout natural16 --out no
cp w.values.npy bad.values.npy && npy bad.meta.npy '|u1' '2, 2' '\0224\0104\0344\0124'
expect 0 '' compress bad --decompress --out good.npy
npy bad.meta.npy '|u1' '2, 2' '\0224\0104\0344\0004'
expect 0 '' compress bad --decompress --out good.npy
npy bad.meta.npy '|u1' '2, 2' '\0224\0104\0340\0104'
expect 1 'bad: metadata of row 1, group 0 are 0, must be 4, 8, 9, C, D or E' compress bad --decompress --out no
expect 0 'mended     1 codes' compress bad --decompress --mend --cols 10 --out good.npy
check 'the zeros come back' cmp w.npy good.npy
npy bad.meta.npy '|u1' '2, 1' '\0224\0104'
expect 1 'bad: metadata are 2 x 1 words, must be 2 x 2' compress bad --decompress --out no
mkdir locked && cp w.npy locked/n.meta.npy && chmod 444 locked/n.meta.npy
expect 1 'locked/n.meta.npy: it is read-only' compress w.npy --out locked/n
check 'no values without metadata' test "$(ls -A locked)" = n.meta.npy
if [ -w /dev/full ]; then
    ln -s /dev/full gone.meta.npy
    expect 1 'No space left' compress w.npy --out gone
    check 'no values where metadata have no room' test ! -e gone.values.npy
fi
check 'nothing is left' test -z "$(find . -name 'no*' -o -name '*.tmp')"
finish
