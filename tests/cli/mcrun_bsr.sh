#!/bin/bash
# Arrays of a BSR, of SciPy and of PyTorch, as a MATRIX. Arguments: mcrun, the source directory, json_get.
mcrun=$1 json_get=$3
source "$2/tests/expect.sh"
specs=$2/specs
cd "$work" || exit 1
spmm() { "$mcrun" spmm "$@" --device sim; }
npy() { # npy FILE DESCR SHAPE BYTES
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': $3, }" >"$1.npy"
    printf "$4" >>"$1.npy"
}
shape() { npy "$1/shape" '|u1' '(2,)' "\\$(printf %o "$2")\\$(printf %o "$3")"; }
numbers() { seq -f %g "$1" "$2" | while read -r i; do printf '\\%o' "$i"; done; }

# docs/formats.md's example in vectors of 2: by rows, by columns, of the transpose, and as BCRS
mkdir rows columns turned
npy rows/indptr '|i1' '(3,)' '\0\3\4' && npy rows/indices '|i1' '(4,)' '\1\4\6\0' && npy rows/data '|i1' '(4, 2, 1)' '\1\2\3\4\5\6\7\10' && shape rows 4 8
npy columns/ccol_indices '|i1' '(9,)' '\0\1\2\2\2\3\3\4\4' && npy columns/row_indices '|i1' '(4,)' '\1\0\0\0' && npy columns/values '|i1' '(4, 2, 1)' '\7\10\1\2\3\4\5\6' && shape columns 4 8
cp columns/*.npy turned && npy turned/values '|i1' '(4, 1, 2)' '\7\10\1\2\3\4\5\6'
pack() { "$mcrun" pack "$specs/spmm_l8r8.lua" "$@" --vec 2; }
expect 0 'values.npy  s8[4][2]' pack rows --format bcrs --out bcrs
expect 0 'contract.json' pack bcrs --out kernel
for form in rows columns turned; do
    expect 0 'contract.json' pack $form --out kernel_of_$form
    check "the kernel's arrays of $form" diff -r kernel kernel_of_$form
    expect 0 'blocks     2 x 1 of a BSR, 1 vector each' spmm "$specs/spmm_l8r8.lua" $form --vec 2 --n 16
    expect 0 "values     A of $form, B random" spmm "$specs/spmm_l8r8.lua" $form --vec 2 --n 16
    expect 0 'verdict    exact' spmm "$specs/spmm_l8r8.lua" $form --vec 2 --n 16
done

# Blocks of 16 x 2 of a matrix of 32 x 4, cut into vectors of 8: the same product as that of the dense matrix
mkdir wide
npy wide/crow_indices '<i4' '(3,)' '\0\0\0\0\1\0\0\0\2\0\0\0' && npy wide/col_indices '<i4' '(2,)' '\1\0\0\0\0\0\0\0' && shape wide 32 4
npy wide/values '|i1' '(2, 16, 2)' "$(numbers 1 64)"
{
    for row in $(seq 0 15); do printf '\\0\\0\\%o\\%o' $((2 * row + 1)) $((2 * row + 2)); done
    for row in $(seq 16 31); do printf '\\%o\\%o\\0\\0' $((2 * row + 1)) $((2 * row + 2)); done
} >dense.txt
npy dense '|i1' '(32, 4)' "$(cat dense.txt)"
expect 0 'exact' spmm "$specs/spmm_l8r8.lua" dense.npy --n 24 --seed 3 --out dense_c.npy
expect 0 'blocks     16 x 2 of a BSR, 4 vectors each' spmm "$specs/spmm_l8r8.lua" wide --n 24 --seed 3 --out wide_c.npy
check 'the same product' cmp dense_c.npy wide_c.npy
expect 0 'vectors    8 of 8 x 1, sparsity 0.5000' spmm "$specs/spmm_l8r8.lua" wide --n 24
spmm "$specs/spmm_l8r8.lua" wide --vec 4 --n 24 --json >wide.json
check 'blocks of JSON' test "$("$json_get" wide.json shape.blocks.rows)x$("$json_get" wide.json shape.blocks.cols)" = 16x2
check 'vectors of 4' test "$("$json_get" wide.json shape.vectors)" = 16
expect 0 'blocks       16 x 2 of a BSR' "$mcrun" matrix-info wide --vec 8
"$mcrun" matrix-info wide --json >info.json
check 'matrix-info --json' test "$("$json_get" info.json blocks.rows)" = 16
expect 0 'verdict    exact' "$mcrun" sddmm "$specs/sddmm_l8r8.lua" wide --k 64 --device sim
expect 0 'kept       8 of 16 vectors' "$mcrun" prune dense.npy --mask wide --out pruned
check 'prune keeps the integers as they are' grep -q '"type": "s8"' pruned/format.json

# Single nonzeros: blocks cut into vectors of 1, and the example as SciPy's CSR: the same product
mkdir single
npy single/indptr '|i1' '(5,)' '\0\3\6\7\10' && npy single/indices '|i1' '(8,)' '\1\4\6\1\4\6\0\0' && npy single/data '|i1' '(8,)' '\1\3\5\2\4\6\7\10' && shape single 4 8
for form in rows single; do
    expect 0 'vectors    8 of 1 x 1' spmm "$specs/spmm_l8r8.lua" $form --vec 1 --n 16 --seed 3 --out ${form}_c.npy
done
check 'the same product of single nonzeros' cmp rows_c.npy single_c.npy
expect 0 'fill 0.5000' spmm "$specs/spmm_l8r8.lua" single --vec 4 --n 16
mkdir flat && cp single/*.npy flat && npy flat/data '|i1' '(8, 1, 1)' '\1\3\5\2\4\6\7\10'
expect 0 'blocks     1 x 1 of a BSR, 1 vector each' spmm "$specs/spmm_l8r8.lua" flat --vec 1 --n 16
expect 1 "flat holds blocks of 1 rows, the kernel's vectors have 8: --vec 1, or --union" spmm "$specs/spmm_l8r8.lua" flat --n 16

# Vectors that blocks do not fill, and values that the kernel's type does not hold
expect 1 "rows holds blocks of 2 rows, the kernel's vectors have 8: --vec 2, or --union, which fills up with zeros" spmm "$specs/spmm_l8r8.lua" rows --n 16
expect 0 'fill 0.2500' spmm "$specs/spmm_l8r8.lua" rows --n 16 --union
tune_fails() { # tune_fails TEXT OPTIONS: its table says why
    "$mcrun" tune "$specs/spmm_l8r8.lua" rows --n 16 --device sim --records r.jsonl "${@:2}" >tune.txt 2>/dev/null
    check "tune: $1" grep -qF -- "$1" tune.txt
}
tune_fails 'rows holds blocks of 2 rows'
tune_fails '--dilate: rows holds blocks' --vec 2 --dilate
expect 2 '--dilate: rows holds blocks' spmm "$specs/spmm_l8r8.lua" rows --vec 2 --n 16 --dilate
expect 2 '--dilate: rows holds blocks' "$mcrun" matrix-info rows --vec 2 --dilate
npy rows/data '<f4' '(4, 2, 1)' "$(printf '\\0\\0\\0\\77%.0s' $(seq 8))"
expect 1 'rows: entry (1, 2) is 0.5, no integer: --quantise scales its values, --random-values takes its pattern alone' spmm "$specs/spmm_l8r8.lua" rows --vec 2 --n 16
expect 0 'quantised  a value of the file is 0.00393700786' spmm "$specs/spmm_l8r8_f16.lua" rows --vec 2 --n 16 --quantise
expect 0 'values     A random, B random' spmm "$specs/spmm_l8r8.lua" rows --vec 2 --n 16 --random-values
npy rows/data '<i2' '(4, 2, 1)' "$(printf '\\0\\1%.0s' $(seq 8))"
expect 1 "rows: entry (1, 2) is 256, out of s8's range" spmm "$specs/spmm_l8r8.lua" rows --vec 2 --n 16
expect 0 'verdict    exact' spmm "$specs/spmm_l16r8.lua" rows --vec 2 --n 16

# What is no matrix: one line, nothing written
npy rows/indices '|i1' '(4,)' '\4\1\6\0'
expect 1 'rows: indices[1] is 1 after 4: indices must ascend' spmm "$specs/spmm_l16r8.lua" rows --vec 2 --n 16 --out no.npy
check 'one line' test "$(wc -l <stderr)" = 1
rm rows/shape.npy
expect 1 'rows: there is no shape' spmm "$specs/spmm_l16r8.lua" rows --vec 2 --n 16 --out no.npy
check 'nothing is written' test ! -e no.npy
expect 2 'a.npz: .npz files are not read: unzip a.npz -d DIR, and name DIR' spmm "$specs/spmm_l8r8.lua" a.npz --n 16
cp -r columns both && npy both/indptr '|i1' '(1,)' '\0'
expect 1 'both: there must be one of indptr, crow_indices and ccol_indices' spmm "$specs/spmm_l8r8.lua" both --vec 2 --n 16
expect 2 '--out columns would overwrite the matrix, which is read' pack columns --out columns --force
finish
