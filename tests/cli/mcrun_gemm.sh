#!/bin/bash
# mcrun gemm and gemm24 on the simulator: shapes, and what is refused. Arguments: mcrun, the source directory.
mcrun=$1 specs=$2/specs
source "$2/tests/expect.sh"
cd "$work" || exit 1
export XDG_DATA_HOME=$work XDG_CACHE_HOME=$work
dense() { "$mcrun" gemm "$specs/$1.lua" --device sim --set store=single "${@:2}"; }
pruned() { "$mcrun" gemm24 "$specs/$1.lua" "$2" --device sim --set store=single --n 9 --ldb 16 "${@:3}"; }
pattern() { printf '%s\n%s\n%s\n' "$1" "$2" "$3" >"$4"; }

# Products; a matrix of zeros, one without rows, one that is not 2:4
pattern '3, 8, 4' '0 2 2 4' '1 2 6 7' some.smtx
pattern '3, 8, 0' '0 0 0 0' '' zeros.smtx
pattern '0, 8, 0' '0' '' no_rows.smtx
pattern '1, 8, 3' '0 3' '4 6 7' full.smtx
for kind in f16 f16_split f16_mma s8 s8_mma; do
    expect 0 'verdict' dense gemm_$kind --m 5 --n 9 --k 16
    for matrix in some zeros no_rows; do expect 0 'verdict' pruned gemm24_$kind $matrix.smtx; done
    expect 1 '1 group has more than 2 of 4 elements, the first one is row 0, columns 4 to 7' pruned gemm24_$kind full.smtx
done

# Ways to add up are not chosen among
best() { "$mcrun" "$1" "$specs/$1_e4m3.lua" "$specs/$1_e4m3_promoted.lua" "${@:2}" --device sim --n 16 --ldb 16 --variants best; }
expect 2 '_promoted.lua: other sums than the first spec'"'"'s: not the same product' best gemm --m 5 --k 16
expect 2 '_promoted.lua: other sums than the first spec'"'"'s: not the same product' best gemm24 some.smtx
expect 0 'verdict' best gemm --m 5 --k 16 --set sums=promoted
# A's rows count: small tiles for few of them, which the first variant has not
expect 0 'tile_m=64 tile_n=64' "$mcrun" gemm "$specs/gemm_f16.lua" --m 300 --n 304 --k 64 --device sim --variants best

# Bands of values of 4 bits that begin inside of a byte are tuned as others are
"$mcrun" matrix-gen --rows 64 --cols 131 --law 4:8 --seed 3 -o odd.smtx >/dev/null
expect 0 ' 0      0 ' "$mcrun" tune --op gemm24 odd.smtx --lhs s4 --rhs s4 --out s32 -n 8 --device sim --candidates 1 --records odd.jsonl

# Scales of blocks: random, from files, of shapes that do not fit, where there are none
blocks() { "$mcrun" gemm "$specs/gemm_e4m3_blocks.lua" --device sim --set store=single "$@"; }
scales() { # FILE ROWS COLUMNS
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($2, $3), }" >"$1"
    for _ in $(seq $(($2 * $3))); do printf '\x00\x00\x80\x3e'; done >>"$1"
}
scales a_blocks.npy 5 3
scales b_blocks.npy 2 3
scales turned.npy 3 5
expect 0 'verdict' blocks --m 5 --n 130 --k 272
expect 0 'verdict' blocks --m 5 --n 130 --k 272 --set a_blocks_major=column --a-blocks a_blocks.npy --b-blocks b_blocks.npy
expect 1 'turned.npy is 3 x 5, must be 5 x 3' blocks --m 5 --n 130 --k 272 --a-blocks turned.npy
expect 1 'b_blocks.npy is 2 x 3, must be 1 x 3' blocks --m 5 --n 128 --k 272 --b-blocks b_blocks.npy
expect 1 '--a-blocks: the kernel takes none' dense gemm_f16 --m 5 --n 9 --k 16 --a-blocks a_blocks.npy
expect 2 'unknown or ambiguous option' pruned gemm24_f16 some.smtx --a-blocks a_blocks.npy
expect 2 '_blocks.lua: scales of blocks' "$mcrun" gemm "$specs/gemm_e4m3_promoted.lua" "$specs/gemm_e4m3_blocks.lua" --m 5 --n 16 --ldb 16 --k 16 --device sim --variants best

# There are no kernels for a k of 0, which would copy nothing
pattern '3, 0, 0' '0 0 0 0' '' no_columns.smtx
pattern '0, 0, 0' '0' '' nothing.smtx
empty() { # FILE ROWS COLUMNS
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f2', 'fortran_order': False, 'shape': ($2, $3), }" >"$1"
}
empty a.npy 5 0
empty b.npy 0 9
for kind in f16 f16_split f16_mma; do
    expect 1 'k is 0, and there are kernels for 1 and more' dense gemm_$kind --a a.npy --b b.npy
    expect 1 'k is 0, and there are kernels for 1 and more' pruned gemm24_$kind no_columns.smtx
    expect 0 'verdict' pruned gemm24_$kind nothing.smtx
done

# Plans of types alone, with and without a spec
plan() { "$mcrun" plan --device sim --records '' "$@"; }
pattern '1, 16, 4' '0 4' '8 10 12 15' spread.smtx
"$mcrun" matrix-gen --rows 5 --cols 21 --law 4:8 -o pairs.smtx >/dev/null || exit 1
expect 0 'gemm24 f16 x f16 -> f16, vec 1, m 3 n 16 k 8, 4 vectors' plan --op gemm24 some.smtx --lhs f16 --rhs f16 --n 16
expect 0 'gemm24 s8 x u8 -> s32, vec 1, m 3 n 256' plan --op gemm24 some.smtx --lhs s8 --rhs u8 --out s32
expect 0 'gemm24 e4m3 x e5m2 -> bf16' plan --op gemm24 some.smtx --lhs e4m3 --rhs e5m2 --out bf16 --set ldb=13
expect 0 'gemm24 s4 x s4 -> s32, vec 1, m 3 n 256 k 8' plan --op gemm24 some.smtx --lhs s4 --rhs s4 --out s32
expect 1 'more than 2 of 4 pairs, the first one is row' plan --op gemm24 spread.smtx --lhs u4 --rhs s4 --out s32
expect 0 'gemm24 u4 x s4 -> f16' plan --op gemm24 pairs.smtx --lhs u4 --rhs s4 --set scale=row --n 7
expect 0 'exact' pruned gemm24_s4_mma pairs.smtx --ldb 32
expect 0 'lhs=s4 out=s4 scale=none' plan --op gemm24 some.smtx --lhs u4 --rhs s4 --out s32 --b-layout rows
expect 1 '1 group has more than 1 of 2' plan --op gemm24 some.smtx --lhs tf32 --rhs tf32 --out f32
"$mcrun" matrix-gen --rows 3 --cols 9 --law 1:2 -o one.smtx >/dev/null || exit 1
expect 0 'gemm24 tf32 x tf32 -> f32, vec 1, m 3 n 256 k 9' plan --op gemm24 one.smtx --lhs tf32 --rhs tf32 --out f32
expect 0 'gemm24 tf32rz x tf32rz -> f16' plan --op gemm24 one.smtx --lhs tf32rz --rhs tf32rz --out f16
expect 2 'vec: 2 is not one of 1' plan --op gemm24 some.smtx --lhs f16 --rhs f16 --vec 2
expect 1 '1 group has more than 2 of 4' plan --op gemm24 full.smtx --lhs f16 --rhs f16
expect 0 'gemm tf32 x tf32 -> f32' plan --op gemm some.smtx --lhs tf32 --rhs tf32 --out f32
expect 0 'gemm s8 x s8 -> s8' plan --op gemm some.smtx --lhs s8 --rhs s8 --out s8 --set scale=row --n 9
expect 0 'gemm f16 x f16 -> s4' plan --op gemm some.smtx --lhs f16 --rhs f16 --out s4 --set scale=row --set layout=rows --n 10
expect 0 'gemm s4 x u4 -> s32' plan --op gemm some.smtx --lhs s4 --rhs u4 --out s32 --n 7
expect 0 'gemm u4 x s4 -> u4' plan --op gemm some.smtx --lhs u4 --rhs s4 --out u4 --set scale=row --n 10
expect 2 'mma does not multiply "s4" by "s8"' plan --op gemm some.smtx --lhs s4 --rhs s8 --out s32
expect 2 'rhs = "u4" wants "columns"' plan --op gemm some.smtx --lhs s4 --rhs u4 --out s32 --set layout=rows
expect 0 'of b, before the kernel' plan --op gemm some.smtx --lhs s4 --rhs u4 --out s32 --n 7 --b-layout rows
expect 0 'of a, before the kernel' plan --op gemm some.smtx --lhs s4 --rhs u4 --out s32 --n 7 --b-layout rows --a-major column
expect 0 'exact' dense gemm_s4_mma --m 5 --n 9 --k 17 --set copy=1
expect 0 'sums=promoted' plan --op gemm some.smtx --lhs e4m3 --rhs e4m3 --set sums=promoted --set lda=16 --set ldb=16
expect 0 'sums=promoted' plan --op gemm24 some.smtx --lhs e5m2 --rhs e4m3 --out bf16 --set sums=promoted --set ldb=16 --n 10
expect 0 'block_scales=on' plan --op gemm some.smtx --lhs e4m3 --rhs e4m3 --out bf16 --set sums=promoted --set block_scales=on --set lda=16 --set ldb=16
expect 0 'sums=f16' plan --op gemm24 some.smtx --lhs f16 --rhs f16 --set sums=f16
expect 2 'sums: "promoted" is for floats of 8 bits, lhs is "f16"' plan --op gemm some.smtx --lhs f16 --rhs f16 --set sums=promoted
expect 2 'mma does not multiply "tf32rz" by "tf32"' plan --op gemm some.smtx --lhs tf32rz --rhs tf32

# Matrices of 6:8 and the like: B gets as many rows as the groups have columns; sizes are the matrix's own
for law in 4:6 6:8 8:10; do
    "$mcrun" matrix-gen --rows 21 --cols 75 --law $law -o spans.smtx || exit 1
    for kind in f16 f16_split f16_mma s8 s8_mma e4m3 e4m3_mma tf32rz; do
        [ $kind = tf32rz ] || expect 0 'verdict' "$mcrun" gemm24 "$specs/gemm24_$kind.lua" spans.smtx --device sim --set store=single --n 9 --pattern $law
    done
done
expect 0 'verdict' "$mcrun" gemm24 "$specs/gemm24_f16_mma.lua" spans.smtx --device sim --n 16 --pattern 8:10 --set layout=rows
check 'sizes are those of the matrix' grep -q '^shape      M 21  K 75  N 16$' "$work/stdout"
expect 1 'spans.smtx: 171 spans have more than 4 of 6' "$mcrun" gemm24 "$specs/gemm24_f16.lua" spans.smtx --device sim --pattern 4:6 --n 16
expect 1 'tf32rz: one of two elements is kept' "$mcrun" gemm24 "$specs/gemm24_tf32rz.lua" spans.smtx --device sim --n 16 --pattern 8:10
expect 2 "--pattern: '7:8' is not 2:4, 4:6, 6:8" "$mcrun" gemm24 "$specs/gemm24_f16.lua" spans.smtx --pattern 7:8
expect 2 'unknown or ambiguous option' "$mcrun" spmm "$specs/spmm_f16.lua" spans.smtx --pattern 8:10
expect 0 'verdict' pruned gemm24_f16 zeros.smtx --pattern 6:8
expect 0 'verdict' pruned gemm24_f16 no_rows.smtx --pattern 6:8
expect 1 'k is 0' pruned gemm24_f16 no_columns.smtx --pattern 6:8
"$mcrun" matrix-gen --rows 5 --cols 21 --law 4:8 -o pairs.smtx >/dev/null || exit 1
expect 0 'exact' pruned gemm24_s4_mma pairs.smtx --ldb 64 --pattern 6:8
expect 0 'gemm24 f16 x f16 -> f16, vec 1, m 21 n 12 k 75' plan --op gemm24 spans.smtx --lhs f16 --rhs f16 --n 12 --pattern 8:10
check 'B is spread' grep -q '^spread     op=slide24 .*lhs=s16 out=s16 pattern=8:10 .* m=12 n=75 lda=75 ldc=128$' "$work/stdout"
check 'of B' grep -q '^           of b, before the kernel' "$work/stdout"
check 'the kernel' grep -q '^fields     op=gemm24 .* m=21 n=12 k=128 vec=1 ldb=128' "$work/stdout"
expect 0 'spread  ' plan --op gemm24 spans.smtx --lhs s8 --rhs s8 --out s32 --n 12 --pattern 8:10 --b-layout rows
check 'transposed first' grep -q '^transpose  op=quantise .* m=75 n=12 lda=12 ldc=80$' "$work/stdout"
expect 0 '"pattern": "8:10"' plan --op gemm24 spans.smtx --lhs f16 --rhs f16 --pattern 8:10 --json
expect 2 'is 2:4, the usual one: leave it out' plan "$specs/gemm24_s4_mma.lua" spans.smtx --pattern 4:8
printf '8 1 0 64\n' >rows.txt
expect 2 "--pattern is a matrix's; for a slide24: --set pattern=6:8" plan "$specs/slide24.lua" --shapes rows.txt --pattern 6:8
expect 2 '--pattern: an SpMM has none' plan "$specs/spmm_f16.lua" spans.smtx --pattern 8:10
expect 2 "--pattern: '8:11' is not" "$mcrun" tune "$specs/gemm24_f16.lua" spans.smtx --device sim --pattern 8:11
expect 0 'gemm24_f16_mma.lua' "$mcrun" tune "$specs/gemm24_f16_mma.lua" spans.smtx --device sim --in-process --candidates 1 --n 16 --pattern 8:10
expect 0 'why        measured' "$mcrun" plan "$specs/gemm24_f16_mma.lua" spans.smtx --device sim --n 16 --pattern 8:10
echo '64 96 0.25 16' >quarter.txt
expect 0 'vec 1, m 64 n 16 k 96, 4608 vectors, pattern 6:8' plan --op gemm24 --shapes quarter.txt --lhs f16 --rhs f16 --pattern 6:8
expect 2 'quarter.txt:1: the sparsity is 0.25, that of a 4:6 matrix 0.333' plan --op gemm24 --shapes quarter.txt --lhs f16 --rhs f16 --pattern 4:6

# Rows by themselves
expect 0 'verdict    exact' "$mcrun" slide24 "$specs/slide24.lua" --m 5 --n 70 --device sim
expect 0 '"verdict": "exact"' "$mcrun" slide24 "$specs/slide24.lua" --m 9 --n 333 --lda 401 --set pattern=14:16 --set lhs=u8 --set out=u8 --device sim --variants all --json
expect 2 'out must be lhs' "$mcrun" slide24 "$specs/slide24.lua" --m 5 --n 70 --set lhs=s8 --device sim
expect 0 'slide24 f16 -> f16, vec 0, m 21 n 64, 0 vectors, pattern 6:8' plan "$specs/slide24.lua" spans.smtx --n 64

# Generated matrices are 2:4 where the operator's are
echo '64 96 0.5 16,24' >half.txt
echo '64 96 0.9 16' >sparse.txt
expect 0 'vec 1, m 64 n 24 k 96, 3072 vectors' plan --op gemm24 --shapes half.txt --lhs f16 --rhs f16
expect 2 'sparse.txt:1: the sparsity is 0.9, that of a 2:4 matrix 0.5' plan --op gemm24 --shapes sparse.txt --lhs f16 --rhs f16
finish
