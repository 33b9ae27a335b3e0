#!/bin/bash
# mcrun pack --format bcrs and srbcrs, and such directories as a MATRIX. Arguments: mcrun, the source directory, json_get.
mcrun=$1 json_get=$3
source "$2/tests/expect.sh"
specs=$2/specs
cd "$work" || exit 1
pack() { "$mcrun" pack "$@"; }
spmm() { "$mcrun" spmm "$@" --device sim; }
# The elements behind an .npy file's header (118 bytes and the 10 before it), as od prints those of the type.
elements() { tail -c +129 "$2" | od -An -v -t"$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
holds() { check "$2 holds '$(elements "$1" "$2")', want '$3'" test "$(elements "$1" "$2")" = "$3"; }
zeros() { printf ' 00%.0s' $(seq "$1"); }
nones() { printf ' -1%.0s' $(seq "$1"); }

# docs/formats.md's example: row blocks of 2, vectors (1, 2), (3, 4), (5, 6) at columns 1, 4, 6, and (7, 8) at column 0.
small() { pack "$specs/spmm_l8r8.lua" example.smtx --vec 2 --set lhs=u8 --a example.npy "$@"; }
printf '2, 8, 4\n0 3 4\n1 4 6 0\n' >example.smtx
{
    printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2), }"
    printf '\1\2\3\4\5\6\7\10'
} >example.npy

expect 0 'values.npy  u8[4][2]' small --format bcrs --out bcrs
check 'four files' test "$(ls bcrs | wc -l)" = 4
holds d4 bcrs/row_ptr.npy '0 3 4'
holds d4 bcrs/col_idx.npy '1 4 6 0'
holds x1 bcrs/values.npy '01 02 03 04 05 06 07 08'
check 'the format' test "$("$json_get" bcrs/format.json format)" = bcrs
check 'a form that bcrs does not have' "$json_get" bcrs/format.json rows

expect 0 'values.npy  s8[64]' small --format srbcrs --out sr16
holds d4 sr16/row_ptr.npy '0 3 16 17'
holds d4 sr16/col_idx.npy "1 4 6$(nones 13) 0$(nones 15)"
holds x1 sr16/values.npy "01 03 05$(zeros 13) 02 04 06$(zeros 13) 07$(zeros 15) 08$(zeros 15)"
check 'k' test "$("$json_get" sr16/format.json k)" = 16

expect 0 'values.npy  s8[128]' small --format srbcrs --k 32 --out sr32
holds d4 sr32/row_ptr.npy '0 3 32 33'
holds d4 sr32/col_idx.npy "1 6 -1 -1 4$(nones 27) 0$(nones 31)"
holds x1 sr32/values.npy "31 05$(zeros 14) 42 06$(zeros 14)$(zeros 32) 07$(zeros 15) 08$(zeros 15)$(zeros 32)"
expect 0 'col_idx.npy  s32[64]' small --format srbcrs --k 32 --shuffle off --digit-bits 8 --out plain32
holds d4 plain32/col_idx.npy "1 4 6$(nones 29) 0$(nones 31)"

# The kernels' own formats of the same page
words() { od -An -v -t$1 "$2" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
same() { check "$1 is '$2'" test "$2" = "$3"; }
expect 0 'values.bin  s8[128]' small --set split=1 --out strided
same row_ptr "$(words d4 strided/row_ptr.bin)" '2 2 2'
same col_idx "$(words d4 strided/col_idx.bin)" "1 4 6$(nones 29) 0$(nones 31)"
same values "$(words x1 strided/values.bin)" "01 03 05$(zeros 29) 02 04 06$(zeros 29) 07$(zeros 31) 08$(zeros 31)"
expect 0 'values.bin  s8[64]' pack "$specs/spmm_l4r4.lua" example.smtx --vec 2 --set lhs=u4 --set rhs=u4 --set mma=int4 --set stride=32 --set split=1 --a example.npy --out int4
same row_ptr "$(words d4 int4/row_ptr.bin)" '2 2 2'
same col_idx "$(words d4 int4/col_idx.bin)" "1 6 -1 -1 4$(nones 27) 0$(nones 31)"
same values "$(words x1 int4/values.bin)" "31 05$(zeros 14) 42 06$(zeros 14) 07$(zeros 15) 08$(zeros 15)"
expect 0 'values.bin  s8[128]' pack "$specs/spmm_l8r8_tiled.lua" example.smtx --vec 2 --set lhs=u8 --a example.npy --out windowed
same row_order "$(words d4 windowed/row_order.bin)" '0 1'
same row_ptr "$(words d4 windowed/row_ptr.bin)" '0 1 2'
same control "$(words x4 windowed/control.bin)" '80000001 80000001'
same places "$(words x4 windowed/places.bin | cut -c-35)" '00000009 00090024 00120036 001b0000'
same values "$(words x1 windowed/values.bin | cut -c-29)" '01 00 03 00 00 00 00 00 05 00'
{
    printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }"
    printf '\0\0\200\77' && printf '\0\0%b\100' '\0' '\100' '\200' '\240' '\300' '\340' && printf '\0\0\0\101'
} >one_to_eight.npy
expect 0 'mask_values.bin  f32[64]' pack "$specs/sddmm_l8r8.lua" example.smtx --vec 2 --set out=f32 --set scale=tensor --set mask=values --set order=srbcrs16 --set groups=1 --set window=4 \
    --mask-values one_to_eight.npy --out sampled
same items "$(words d4 sampled/items.bin)" '0 0 1 0 1 16 16 0 0 1 15 0'
same col_idx "$(words d4 sampled/col_idx.bin)" "1$(nones 15) 0$(nones 15) 4 -1 6$(nones 13)"
blanks() { printf ' 0%.0s' $(seq "$1"); }
same mask_values "$(words f4 sampled/mask_values.bin)" "1 3 5$(blanks 13) 2 4 6$(blanks 13) 7$(blanks 15) 8$(blanks 15)"
expect 0 'tile_ptr.bin  s32[4]' pack "$specs/sddmm_l8r8_dense.lua" example.smtx --vec 2 --set order=srbcrs16 --set tile_n=32 --out dense
same tile_ptr "$(words d4 dense/tile_ptr.bin)" '0 16 16 32'
same col_idx "$(words d4 dense/col_idx.bin)" "1 4 6$(nones 13) 0$(nones 15)"
expect 0 'window_ptr.bin  s32[2]' pack "$specs/sddmm_l8r8_window.lua" example.smtx --vec 2 --set k=64 --set groups=1 --set window=8 --out windows
same items "$(words d4 windows/items.bin)" '0 0 3 0 1 3 1 0'
same window_ptr "$(words d4 windows/window_ptr.bin)" '0 2'
free() { printf ' %d' $((-(1 << 31) + ($1 << 16))); } # place $1, without a vector
frees() { for row in $(seq "$1" 7); do free "$row" && free $((row + 8)); done; }
same col_idx "$(words d4 windows/col_idx.bin)" \
    "$((1 << 16 | 4))$(free 8) $((0 << 16 | 1))$(free 9) $((2 << 16 | 6))$(free 10)$(frees 3) 0$(free 8)$(frees 1)"

# There and back: the same kernel arrays from any of them, and the same published arrays
expect 0 'contract.json' small --out kernel
for form in bcrs sr16 sr32 plain32; do
    expect 0 'contract.json' pack "$specs/spmm_l8r8.lua" $form --vec 2 --set lhs=u8 --out kernel_of_$form
    check "the kernel's arrays of $form" diff -r kernel kernel_of_$form
    expect 0 'format.json' pack "$specs/spmm_l8r8.lua" $form --vec 2 --set lhs=u8 --format srbcrs --out again_of_$form
    check "SR-BCRS of $form" diff -r sr16 again_of_$form
done

# Every pair of the paper: its own form, and exact products from it
"$mcrun" matrix-gen --rows 6 --cols 150 --sparsity 0.7 -o m.smtx || exit 1
for pair in l16r16 l16r8 l16r4 l12r4 l8r8 l8r4 l4r4; do
    expect 0 'format.json' pack "$specs/spmm_$pair.lua" m.smtx --seed 5 --format srbcrs --out $pair
    case $pair in *r4) k=32 ;; *) k=16 ;; esac
    check "k of $pair" test "$("$json_get" $pair/format.json k)" = $k
    expect 0 'exact' spmm "$specs/spmm_$pair.lua" $pair --n 64
    expect 0 'exact' spmm "$specs/spmm_$pair.lua" m.smtx --seed 5 --n 64 --out random.npy
    expect 0 'exact' spmm "$specs/spmm_$pair.lua" $pair --seed 5 --n 64 --out given.npy
    check "the values of $pair" cmp random.npy given.npy
done

# Arrays from elsewhere: wider integers, bytes without a sign, one dimension for all
mkdir foreign
array() {
    printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($3,), }" >foreign/$1.npy
    printf "$4" >>foreign/$1.npy
}
format() { printf '%s\n' "$1" >foreign/format.json; }
good='{"format": "bcrs", "type": "u8", "vec": 2, "rows": 4, "cols": 8}'
restore() {
    format "$good"
    array row_ptr '<i8' 3 '\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0'
    array col_idx '<u2' 4 '\1\0\4\0\6\0\0\0'
    array values '<i2' 8 '\1\0\2\0\3\0\4\0\5\0\6\0\7\0\10\0'
}
restore
take() { pack "$specs/spmm_l8r8.lua" foreign --vec 2 --set lhs=u8 "$@" --out refused; }
expect 0 'contract.json' take
check 'the same from wider integers' diff -r kernel refused
rm -r refused
array row_ptr '<i4' 2 '\0\0\0\0\1\0\0\0'
array col_idx '|i1' 16 "\\5$(printf '\\377%.0s' $(seq 15))"
array values '|u1' 32 "\\376$(printf '\\0%.0s' $(seq 15))\\1$(printf '\\0%.0s' $(seq 15))"
format '{"format": "srbcrs", "type": "s8", "vec": 2, "rows": 2, "cols": 8, "k": 16, "digit_bits": 8, "shuffle": false}'
expect 0 'values.npy  s8[1][2]' pack "$specs/spmm_l8r8.lua" foreign --vec 2 --format bcrs --out of_bytes
holds d1 of_bytes/values.npy '-2 1'
restore

# Bad directories: one message, exit 1, nothing written
refuse() {
    expect 1 "$1" take "${@:2}"
    check "one line for '$1'" test "$(wc -l <stderr)" = 1
    check "nothing written for '$1'" test ! -e refused
    restore
}
rm foreign/format.json && refuse 'foreign/format.json: No such file'
format '{"format": "bcrs"' && refuse 'foreign/format.json:2: '
format '[]' && refuse 'foreign/format.json: Expected object'
format '{"format": "coo"}' && refuse "foreign/format.json: format 'coo' is none of bcrs, srbcrs and hrpb"
format '{"format": "bcrs", "type": "u8", "vec": 2, "rows": 4}' && refuse 'foreign/format.json: Object item not found: cols'
format "${good%\}}, \"k\": 16}" && refuse 'foreign/format.json: 1 object item(s) left unpacked: k'
format "${good/bcrs/srbcrs}" && refuse 'Object item not found: k'
format "${good/u8/u9}" && refuse "foreign/format.json: 'u9' is no type"
format "${good/u8/f16}" && refuse 'foreign holds f16: only integers are read'
format "${good/: 2/: \"2\"}" && refuse 'foreign/format.json: Expected integer, got string'
format "${good/: 2/: 0}" && refuse 'foreign: vectors of 0 elements'
format "${good/: 2/: 4294967298}" && refuse 'foreign/format.json: vec is 4294967298'
format "${good/: 4,/: 9223372036854775806,}" && refuse 'foreign: 9223372036854775806 rows: must be 0 to 34359738352'
format "${good/: 4,/: 34359738352,}" && refuse 'foreign: row_ptr has 3 elements, must have 17179869177'
format "${good/: 4,/: 3,}" && refuse 'foreign: 3 rows are no row blocks of 2'
format "${good/: 4,/: 6,}" && refuse 'foreign: row_ptr has 3 elements, must have 4'
format "${good/: 8/: 6}" && refuse 'foreign: slot 2 of row block 0 has column 6 of 6'
format "${good/: 8/: -8}" && refuse 'foreign: -8 columns'
rm foreign/col_idx.npy && refuse 'foreign/col_idx.npy: No such file'
printf 'x' >foreign/col_idx.npy && refuse 'foreign/col_idx.npy: not a .npy file'
array row_ptr '<f4' 3 '\0\0\0\0\0\0\0\0\0\0\0\0' && refuse 'row_ptr holds f32, must hold s32'
array row_ptr '<i8' 1 '\0\0\0\0\1\0\0\0' && refuse 'row_ptr[0][0] is 4294967296, out of'
array row_ptr '|i1' 3 '\0\3\2' && refuse 'foreign: row_ptr[2] is 2, below the one before, 3'
array col_idx '|i1' 4 '\1\4\4\0' && refuse 'foreign: slot 2 of row block 0 has column 4 after column 4: columns must ascend'
array values '<i2' 8 '\1\0\2\0\3\0\4\0\5\0\6\0\7\0\0\1' && refuse 'values[0][7] is 256, out of'
array values '|u1' 7 '\1\2\3\4\5\6\7' && refuse 'foreign: values has 7 elements, must have 8'
strided='"rows": 4, "cols": 8, "k": 16, "digit_bits": 8, "shuffle": false}'
format "{\"format\": \"srbcrs\", \"type\": \"u8\", \"vec\": 2, $strided" && refuse 'foreign/values.npy holds s16, must hold bytes'
cp sr16/*.npy foreign && format "{\"format\": \"srbcrs\", \"type\": \"u8\", \"vec\": 2, ${strided/16/8}" && refuse 'foreign: SR-BCRS with k = 8: must be 16 or 32'

# A matrix that the spec does not take
refuse_spec() {
    expect "$1" "$2" pack "$specs/spmm_l8r8.lua" bcrs "${@:3}" --out refused
    check "nothing written for '$2'" test ! -e refused
}
refuse_spec 1 "bcrs holds vectors of 2 elements, the kernel's have 8" --set lhs=u8
refuse_spec 1 'bcrs: vector 3 holds 8, out of the range of the spec'\''s s4' --vec 2 --set lhs=s4
refuse_spec 2 '--union: bcrs holds vectors already' --vec 2 --union
refuse_spec 1 'm = 8, the matrix has 4' --vec 2 --set lhs=u8 --set m=8
expect 0 'exact' spmm "$specs/spmm_l16r8.lua" bcrs --vec 2 --n 32
expect 1 "bcrs holds vectors of 2 elements" spmm "$specs/spmm_l16r8.lua" bcrs --n 32
expect 0 'values.npy  u8[4][2]' small --format bcrs --out given --seed 9
check 'values of --a go before those of the directory' cmp given/values.npy bcrs/values.npy

# HRPB, of floats too: there and back, the same product as of the matrix itself
"$mcrun" matrix-gen --law mesh --grid 5x4x3 --dof 2 -o mesh.mtx || exit 1
hrpb() { pack "$specs/spmm_csr_tf32.lua" "$@"; }
expect 0 'packed_blocks.npy  s8[' hrpb mesh.mtx --random-values --seed 3 --format hrpb --out bricks
check 'the form' test "$("$json_get" bricks/format.json tile_rows) $("$json_get" bricks/format.json tile_cols)" = '16 16'
expect 0 'format.json' hrpb bricks --format hrpb --out again
check 'the same arrays again' diff -r bricks again
expect 0 'format.json' hrpb bricks --format hrpb --tile-rows 32 --tile-cols 24 --out tall_bricks
check 'another form' test "$("$json_get" tall_bricks/format.json tile_rows) $("$json_get" tall_bricks/format.json tile_cols)" = '32 24'
expect 0 'within bounds' spmm "$specs/spmm_csr_tf32.lua" mesh.mtx --random-values --seed 3 --n 8 --out of_mesh.npy
expect 0 'A of tall_bricks' spmm "$specs/spmm_csr_tf32.lua" tall_bricks --seed 3 --n 8 --out of_bricks.npy
check 'the same product' cmp of_mesh.npy of_bricks.npy
expect 1 "bricks: its values are tf32, the kernel's f16: --random-values takes its pattern alone" pack "$specs/spmm_csr_f16.lua" bricks --out refused
expect 1 "bricks: its values are tf32, the kernel's s8" pack "$specs/spmm_l8r8.lua" bricks --vec 1 --out refused
expect 1 "bricks holds vectors of 1 elements, the kernel's have 8" pack "$specs/spmm_l8r8.lua" bricks --out refused
expect 1 'HRPB is of single nonzeros, the matrix has vectors of 2' small --format hrpb --out refused
refuse_bricks() { # MESSAGE SED: what format.json is made
    sed -i "$2" again/format.json
    expect 1 "$1" hrpb again --out refused
    cp bricks/* again
}
refuse_bricks 'again: vec is 2, HRPB has single nonzeros' 's/"vec": 1/"vec": 2/'
refuse_bricks 'again: HRPB with panels of 8 rows: must be 16 or 32' 's/"tile_rows": 16/"tile_rows": 8/'
refuse_bricks 'again: blocked_row_ptr has ' 's/"tile_rows": 16/"tile_rows": 32/'
refuse_bricks 'again/format.json: Object item not found: tile_cols' 's/tile_cols/tiles/'
refuse_bricks 'of 7 columns' 's/"cols": [0-9]*/"cols": 7/'
refuse_bricks 'block 0: size_ptr gives it ' 's/"tf32"/"f16"/'
cp bricks/size_ptr.npy again/active_cols.npy && expect 1 'again: active_cols has ' hrpb again --out refused
check 'nothing of bad bricks' test ! -e refused

# Options
expect 2 "--tile-cols 6 is no multiple of 4" small --format hrpb --tile-cols 6 --out x
expect 2 'go with --format hrpb' small --format bcrs --tile-rows 32 --out x
expect 2 "--format: 'coo' is not one of kernel|bcrs|srbcrs" small --format coo --out x
expect 2 "--k: '64' is not one of 16|32" small --format srbcrs --k 64 --out x
expect 2 "--digit-bits: '2' is not one of 4|8" small --format srbcrs --digit-bits 2 --out x
expect 2 'SR-BCRS shuffles indices with k = 32 only' small --format srbcrs --shuffle on --out x
expect 2 'go with --format srbcrs' small --format bcrs --k 16 --out x
expect 2 'go with --format srbcrs' small --shuffle on --out x
expect 2 '--n, --scale and --bias go with --format kernel' small --format bcrs --n 8 --out x
expect 2 'pack: --out is missing' small --format bcrs
check 'nothing of wrong options' test ! -e x

# Directories that exist, and a disk that is full
expect 1 'bcrs is not empty: --force replaces its files' small --format srbcrs --out bcrs
expect 0 'format.json' small --format srbcrs --out given --force
check 'replaced' diff -r given sr16
full() { bash -c 'trap "" XFSZ; ulimit -f 4; exec "$@"' full "$@"; }
expect 1 'values.npy: ' full "$mcrun" pack "$specs/spmm_l16r16.lua" m.smtx --format bcrs --out none
check 'nothing half-written' test ! -e none
check 'no temporary is left' test -z "$(find . -name '*.tmp*')"
# A full matrix of V columns has as many vectors as rows, so that the shape of its values does not tell what they are
printf '2, 4, 8\n0 4 8\n0 1 2 3 0 1 2 3\n' >full.smtx
npy() { # npy ROWS COLUMNS BYTES: u8 values
    local header="{'descr': '|u1', 'fortran_order': False, 'shape': ($1, $2), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    printf "$3"
}
npy 8 4 '\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017\020\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037\040' >full.npy
full() { pack "$specs/spmm_l8r8.lua" full.smtx --vec 4 --set lhs=u8 --a full.npy "$@"; }
expect 2 'full.npy is rows x columns and vectors x V alike: --a-order says which it is' full --out full
for order in matrix vectors; do expect 0 '' full --a-order "$order" --format bcrs --out "full-$order"; done
check 'vectors are not the values as they are' cmp <(tail -c 32 full.npy) <(tail -c 32 full-vectors/values.npy)
check 'the matrix is not turned' test "$(elements u1 full-matrix/values.npy | cut -d' ' -f1-8)" = '1 5 9 13 2 6 10 14'
expect 2 "--a-order: 'rows' is not one of matrix|vectors" full --a-order rows --out full
finish
