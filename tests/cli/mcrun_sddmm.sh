#!/bin/bash
# mcrun sddmm, and pack of masks, on the simulator. Arguments: mcrun, the source directory, json_get, mcgen.
mcrun=$1 root=$2 json_get=$3 mcgen=$4
source "$root/tests/expect.sh"
spec=$root/specs/sddmm_l8r8.lua
cd "$work" || exit 1
json() { check "$1: $2 is $("$json_get" "$1" "$2"), want $3" test "$("$json_get" "$1" "$2")" = "$3"; }
sddmm() { "$mcrun" sddmm "$spec" --device sim "$@"; }
npy() { # npy FILE DESCR ROWS COLS BYTES...
    local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3, $4), }"
    printf '\x93NUMPY\1\0\166\0%-117s\n%b' "$header" "$5" >"$1"
}
# The elements of TYPE (of od) behind FILE's header, 128 bytes as mcrun writes it and as npy does.
elements() { tail -c +129 "$2" | od -An -v -t"$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
holds() { check "$2 holds '$(elements "$1" "$2")', want '$3'" test "$(elements "$1" "$2")" = "$3"; }
zeros() { printf ' 0%.0s' $(seq "$1"); }

"$mcrun" matrix-gen --rows 5 --cols 90 --sparsity 0.6 -o m.smtx || exit 1
printf '%%%%MatrixMarket matrix coordinate pattern general\n13 20 4\n1 1\n2 1\n9 20\n13 3\n' >m.mtx

# The values of a mask in MatrixMarket, where the kernel multiplies by them
printf '%%%%MatrixMarket matrix coordinate real general\n13 20 3\n1 1 0.5\n2 1 -3.25\n9 20 1e3\n' >real.mtx
sed 's/real/complex/;s/\(0.5\|-3.25\|1e3\)$/\1 0/' real.mtx >complex.mtx
reals() { "$mcrun" sddmm "$root/specs/sddmm_l8r8_f16.lua" --device sim --k 40 "$@"; }
expect 0 'values     mask of real.mtx, A random, B random, scale random' reals real.mtx --set mask=values
expect 0 'values     mask random, A random' reals real.mtx --set mask=values --random-values
expect 0 'values     A random' reals real.mtx
expect 0 'exact' reals complex.mtx
expect 1 'its values are complex' reals complex.mtx --set mask=values
expect 0 'exact' reals complex.mtx --set mask=values --random-values
expect 1 "the kernel's matrix is a mask" reals real.mtx --quantise

# Exact, on both orders of warps, for every V, at every k, with leading dimensions, in both layouts and all orders
expect 0 'verdict    exact' sddmm m.smtx
expect 0 'M 40  K 256  N 90' sddmm m.smtx
expect 0 'verdict    exact' sddmm m.smtx --k 64 --device sim:reversed
for k in 1 7 16 33 129; do expect 0 'verdict    exact' sddmm m.smtx --k $k; done
for vec in 1 2 4 8 16; do expect 0 "of $vec x 1" sddmm m.smtx --k 40 --vec $vec; done
expect 2 'vec: 32 is not one of 1, 2, 4, 8, 16' sddmm m.smtx --vec 32
expect 0 'lda 50  ldb 60' sddmm m.smtx --k 40 --lda 50 --ldb 60
expect 0 'K 40  N 90  ldb 100' sddmm m.smtx --k 40 --ldb 100 --set layout=rows
for order in bcrs srbcrs16 srbcrs32; do expect 0 'exact' sddmm m.smtx --k 40 --set order=$order; done
expect 0 'verdict    exact' sddmm m.smtx --k 32 --specialise
expect 0 'm=40 n=90 k=32 lda=32 ldb=32' sddmm m.smtx --k 32 --specialise --json
# A's panels ahead of a k that ends with a panel, or less than a unit behind it: nothing is read behind the last one.
for k in 192 200; do
    for in in registers shared; do
        expect 0 'verdict    exact' sddmm m.smtx --specialise --k $k --lda 208 --ldb 208 --set tile_k=64 --set prefetch_lhs=on --set lhs_in=$in
    done
done
expect 0 'K 48  N 90  lda 64' sddmm m.smtx --set k=48 --set lda=64
expect 1 'k is fixed at 48 in this kernel, the problem has 40' sddmm m.smtx --set k=48 --k 40
expect 0 'M 16  K 33  N 20' sddmm m.mtx --k 33
expect 0 'fill 0.1667' sddmm m.mtx --k 33
expect 0 'M 104  K 33  N 20' sddmm m.mtx --k 33 --dilate
expect 0 'M 8  K 33  N 90' sddmm m.smtx --k 33 --union
# Windows: columns of which warps copy several, one and a part; first windows without items; several turns along y
windows() { "$mcrun" sddmm "$root/specs/sddmm_l8r8_window.lua" --device sim --set tile_k=512 "$@"; }
for k in 64 128 192 320 448 512; do expect 0 'verdict    exact' windows m.smtx --set k=$k --set window=40 --set warps=2; done
for k in 384 512; do expect 0 'verdict    exact' windows m.smtx --set k=$k --set window=40 --set warps=1; done
for rhs in u4 s16; do expect 0 'verdict    exact' windows m.smtx --set rhs=$rhs --set tile_k=256 --set k=128 --set window=31 --set out=s32 --set scale=none; done
expect 0 'verdict    exact' windows m.smtx --set k=64 --set lhs=u16 --set order=srbcrs16 --set mask=values --set window=7 --set warps=1
printf '3, 1200, 2\n0 1 1 2\n1100 1199\n' >late.smtx
for window in 20 512 768; do expect 0 'verdict    exact' windows late.smtx --set k=64 --set window=$window; done
expect 0 'exact    groups=2 warps=12' windows m.smtx --variants all
expect 2 'not a multiple of the 16 that the kernel needs' windows m.smtx --lda 260
expect 1 'k is fixed at 256 in this kernel, the problem has 512' windows m.smtx --k 512
printf '3, 9, 0\n0 0 0 0\n\n' >none.smtx
expect 0 'verdict    exact' sddmm none.smtx --k 20 --out none.npy
check 'the header says 0 x 8' grep -aqF "'shape': (0, 8)" none.npy

# Variants
sddmm m.smtx --k 24 --variant 1 --json >v.json
json v.json verdict exact
json v.json shape.k 24
json v.json shape.lda 24
json v.json variant.index 1
expect 0 ' 1  ' sddmm m.smtx --k 24 --variant "$("$json_get" v.json variant.hash)"
few=(--set groups=1,2 --set warps=4,1 --set tile_k=64 --set window=open --set prefetch=on)
expect 0 'exact' sddmm m.smtx --k 24 --variants all "${few[@]}"
sddmm m.smtx --k 24 --variants all "${few[@]}" --json >all.json
json all.json '' 4
json all.json 3.verdict exact
expect 0 exact sddmm m.smtx --variants best
expect 0 exact "$mcrun" sddmm "$spec" "$2/specs/sddmm_l8r8_dense.lua" m.smtx --k 256 --device sim --variants best
expect 2 'order: takes one value' sddmm m.smtx --set order=srbcrs16,bcrs

# A product by hand: V = 2, the vectors at columns 1 and 3 of row block 0 and at column 0 of row block 1
printf '2, 4, 3\n0 2 3\n1 3 0\n' >tiny.smtx
npy a.npy '|i1' 4 3 '\1\2\3\4\5\6\377\0\1\7\370\11'
npy identity.npy '|i1' 4 4 '\1\0\0\0\0\1\0\0\0\0\1\0\0\0\0\1'
npy b.npy '|i1' 3 4 '\1\0\2\377\3\1\0\1\0\376\1\177'
tiny() { sddmm tiny.smtx --vec 2 --a a.npy --b b.npy "$@"; }
expect 0 'M 4  K 3  N 4' tiny --out hand.npy
check 'the header says 3 x 2' grep -aqF "'shape': (3, 2)" hand.npy
holds d4 hand.npy '-4 -7 382 763 -1 -17'
expect 0 'lda 16  ldb 32' tiny --set lda=16 --set ldb=32 --out gaps.npy
check 'C is the same of operands with gaps' cmp hand.npy gaps.npy
expect 0 'exact' tiny --set layout=rows --ldb 16 --out rows.npy
check 'C is the same of B in rows' cmp hand.npy rows.npy
expect 0 'exact' sddmm m.smtx --k 40 --out columns.npy
expect 0 'exact' sddmm m.smtx --k 40 --set layout=rows --out rows.npy
check 'random B is the same in both layouts' cmp columns.npy rows.npy
expect 0 'exact' tiny --set order=srbcrs16 --out strides.npy
holds d4 strides.npy "-4 382$(zeros 14) -7 763$(zeros 14) -1$(zeros 15) -17$(zeros 15)"
expect 0 'exact' tiny --set order=srbcrs32 --out strides.npy
holds d4 strides.npy "-4 382$(zeros 30) -7 763$(zeros 30) -1$(zeros 31) -17$(zeros 31)"

# 4-bit operands: files hold a byte an element, rows are whole bytes
half() { sddmm tiny.smtx --vec 2 --set lhs=s4 --set rhs=s4 "$@"; }
npy a4.npy '|i1' 4 3 '\1\2\3\4\5\6\377\0\1\7\370\7'
npy b4.npy '|i1' 3 4 '\1\0\2\377\3\1\0\1\0\376\1\7'
expect 0 'lda 4  ldb 4' half --a a4.npy --b b4.npy --out hand4.npy
holds d4 hand4.npy '-4 -7 22 43 -1 -17'
expect 0 'K 3  N 4  lda 4' half --a a4.npy --b b4.npy --set layout=rows --out rows4.npy
check 'C is the same of 4-bit B in rows' cmp hand4.npy rows4.npy
expect 1 "A[3][2] is 9, out of s4's range" half --a a.npy --b b4.npy
expect 1 "B[2][3] is 127, out of s4's range" half --a a4.npy --b b.npy
expect 2 '--lda is 35, not a multiple of the 2 that the kernel needs: 36 is one' half --k 33 --lda 35
expect 2 '--ldb is 35, not a multiple of the 2 that the kernel needs: 36 is one' half --k 33 --ldb 35

# Dequantised, with the mask's values: from files, which have them as vectors or as a matrix, from a directory, at random
one='\0\0\200\77' two='\0\0\0\100' minus='\0\0\200\277' half_='\0\0\0\77' quarter='\0\0\200\76' four='\0\0\200\100' zero='\0\0\0\0'
npy scale.npy '<f4' 1 4 "$half_$one$two$one"
npy values.npy '<f4' 3 2 "$two$minus$quarter$four$one$one"
npy matrix.npy '<f4' 4 4 "$zero$two$zero$quarter$zero$minus$zero$four$one$zero$zero$zero$one$zero$zero$zero"
npy astray.npy '<f4' 4 4 "$two$two$zero$quarter$zero$minus$zero$four$one$zero$zero$zero$one$zero$zero$zero"
real() { tiny --set out=f32 --set scale=row --scale scale.npy "$@"; }
masked() { real --set mask=values "$@"; }
expect 0 'exact' real --out real.npy
holds f4 real.npy '-2 -7 191 763 -2 -17'
expect 0 'exact' masked --mask-values values.npy --out masked.npy
holds f4 masked.npy '-4 7 47.75 3052 -2 -17'
expect 0 'exact' masked --mask-values matrix.npy --out of_matrix.npy
check 'the same of a matrix' cmp masked.npy of_matrix.npy
expect 0 'exact' masked --out random.npy
expect 0 'exact' masked --seed 2 --out other.npy
check 'the seed matters' test "$(cmp -s random.npy other.npy; echo $?)" = 1
expect 0 'exact' sddmm m.mtx --k 16 --set out=f32 --set scale=tensor --set mask=values --out union.npy
check 'the four nonzeros of the union are left' test "$(elements f4 union.npy | tr ' ' '\n' | grep -vcx -- '-\?0')" = 4
for out in f16 bf16; do
    for scale in tensor row column; do
        expect 0 'exact' sddmm m.smtx --k 40 --set out=$out --set scale=$scale --set mask=values --set order=srbcrs16
    done
done
expect 1 'matrix[0][0] is 2, but outside of the pattern' masked --mask-values astray.npy
expect 1 'values of the matrix are f32, these are s8' masked --mask-values identity.npy
expect 1 'values are 1 x 4, must be 4 x 4 (the matrix) or 3 x 2 (its nonzero vectors)' masked --mask-values scale.npy
expect 1 '--mask-values: the kernel takes none' real --mask-values values.npy
expect 1 'nowhere.npy: No such file' masked --mask-values nowhere.npy
expect 1 '--scale: the kernel takes none' tiny --scale scale.npy
expect 1 "a.npy: a scale is f32, this file holds s8" tiny --set out=f32 --set scale=row --scale a.npy
expect 1 "scale.npy is 1 x 4, but the kernel's scale has 40 elements" sddmm m.smtx --set out=f32 --set scale=row --scale scale.npy
expect 2 'mask' tiny --set mask=values

# C as a matrix of the next operator: the vectors by hand in either format, whatever the order, then multiplied by the identity
expect 0 'exact' tiny --out c --format bcrs
check 'four files' test "$(ls c | wc -l)" = 4
holds d4 c/row_ptr.npy '0 2 3'
holds d4 c/col_idx.npy '1 3 0'
holds d2 c/values.npy '-4 -7 382 763 -1 -17'
json c/format.json type s16
for order in srbcrs16 srbcrs32; do
    expect 0 'exact' tiny --out of_$order --format bcrs --set order=$order
    check "the same of order $order" diff -r c of_$order
done
spmm() { "$mcrun" spmm "$root/specs/$1.lua" --vec 2 --device sim "${@:2}"; }
for form in bcrs srbcrs; do
    expect 0 'exact' tiny --out again_$form --format $form --set order=srbcrs32
    expect 0 'exact' spmm spmm_l16r8 again_$form --b identity.npy --out dense.npy
    holds d4 dense.npy '0 -4 0 382 0 -7 0 763 -1 0 0 0 -17 0 0 0'
done
json again_srbcrs/format.json k 32
expect 1 'vector 1 holds 382, out of the range of the spec'"'"'s s8' spmm spmm_l8r8 c --n 8
expect 0 'exact' half --a a4.npy --b b4.npy --out small --format srbcrs
json small/format.json type s8
json small/format.json k 16
expect 0 'exact' spmm spmm_l8r8 small --b identity.npy --out dense.npy
holds d4 dense.npy '0 -4 0 22 0 -7 0 43 -1 0 0 0 -17 0 0 0'
npy twos.npy '|i1' 4 1 '\2\2\2\2'
npy row.npy '|i1' 1 4 '\144\2\0\2'
expect 0 'exact' sddmm tiny.smtx --vec 2 --a twos.npy --b row.npy --out bytes --format bcrs
json bytes/format.json type u8
holds u1 bytes/values.npy '4 4 4 4 200 200'
expect 1 'small holds vectors of 2 elements, the kernel'"'"'s have 8' spmm spmm_l8r8 small --vec 8
# Also as values of --a, without a directory, and as a mask whose values count
expect 0 'exact' spmm spmm_l16r8 tiny.smtx --a hand.npy --b identity.npy --out dense.npy
holds d4 dense.npy '0 -4 0 382 0 -7 0 763 -1 0 0 0 -17 0 0 0'
expect 0 'exact' "$mcrun" sddmm "$spec" c --vec 2 --device sim --a a.npy --b b.npy --set out=f32 --set scale=row --set mask=values --scale scale.npy --out squares.npy
holds f4 squares.npy '8 49 72962 582169 2 289'
expect 1 "c holds vectors of 2 elements, the kernel's have 8" sddmm c
expect 2 '--union: c holds vectors already' sddmm c --vec 2 --union
expect 1 'c is not empty: --force replaces its files' tiny --out c --format srbcrs
expect 0 'exact' tiny --out c --format srbcrs --force --json
json "$work/stdout" verdict exact
json c/format.json format srbcrs
expect 1 '--format: published formats hold integers, C is f32: want out = "s32"' real --out reals --format bcrs
npy wide_a.npy '<i2' 2 2 '\377\177\0\200\1\0\0\0'
npy wide_b.npy '<i2' 2 1 '\377\177\0\200'
printf '1, 1, 1\n0 1\n0\n' >one.smtx
expect 1 "--format: C's elements are from 0 to 2147418113, published formats hold integers of 16 bits" sddmm one.smtx --vec 2 --set lhs=s16 --set rhs=s16 --a wide_a.npy --b wide_b.npy --out wide --format bcrs
check 'nothing of what was refused' test ! -e reals -a ! -e wide
expect 2 '--format goes with --out' tiny --format bcrs
expect 2 '--force goes with --format bcrs or srbcrs' tiny --out x --force
expect 2 "--format: 'coo' is not one of npy|bcrs|srbcrs" tiny --out x --format coo
expect 1 'No space left' tiny --out /dev/full

# PTX of one's own: right, wrong, reading where nothing is, not PTX at all
"$mcgen" "$spec" -o good.ptx || exit 1
expect 0 'verdict    exact' sddmm m.smtx --k 40 --ptx good.ptx
expect 1 'simulator: ' sddmm m.smtx --ptx m.smtx
sed '0,/{%a_word0, %a_word1}/s//{%a_word1, %a_word0}/' good.ptx >swapped.ptx
check 'the edit changed something' test "$(cmp -s good.ptx swapped.ptx; echo $?)" = 1
sddmm m.smtx --k 64 --ptx swapped.ptx --out wrong.npy >table 2>err
check 'a wrong result exits 1' test $? = 1
check 'the table says wrong' grep -q 'verdict    wrong' table
check 'the error names an element' grep -q 'mcrun: C\[[0-9]*\]\[[0-7]\] is -\?[0-9]*, must be' err
check 'no file of a wrong result' test ! -e wrong.npy
expect 0 'wavefronts' sddmm m.smtx --k 40 --report
check 'the report has no counts beside the mma' grep -qE '^ +[1-9][0-9]* +[1-9][0-9.]*% .*mma.sync' "$work/stdout"
expect 1 '--bench: the simulator has no time to measure' sddmm m.smtx --bench

# Bad operands
expect 2 'K is 4 by --k, but 3 by a.npy' tiny --k 4
expect 2 'K is 3 by a.npy, but 4 by identity.npy' sddmm tiny.smtx --vec 2 --a a.npy --b identity.npy
expect 1 'a.npy has 4 rows, the mask 16' sddmm tiny.smtx --a a.npy
expect 1 'b.npy has 4 columns, the mask 90' sddmm m.smtx --b b.npy
expect 2 '--lda is 2, less than K = 3' tiny --lda 2
expect 2 '--ldb is 2, less than K = 3' tiny --ldb 2
expect 2 '--ldb is 3, less than N = 4' tiny --ldb 3 --set layout=rows
expect 1 'B holds f32, must hold s8' sddmm tiny.smtx --vec 2 --b astray.npy
expect 1 'absent.npy' tiny --a absent.npy
expect 1 'absent.smtx' sddmm absent.smtx
expect 2 'sddmm: wants SPEC... MASK' "$mcrun" sddmm "$spec"
expect 1 'this is a kernel of family spmm: mcrun sddmm runs family sddmm' "$mcrun" sddmm "$root/specs/spmm_l8r8.lua" m.smtx --device sim
expect 1 'this is a kernel of family sddmm: mcrun spmm runs family spmm' "$mcrun" spmm "$spec" m.smtx --device sim

# What a kernel reads of the mask
words() { od -An -v -t$1 "$2" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
same() { check "$1 is '$2', want '$3'" test "$2" = "$3"; }
pack() { "$mcrun" pack "$spec" tiny.smtx --vec 2 --set groups=1 "$@"; }
nones() { printf ' -1%.0s' $(seq "$1"); }
expect 0 'items.bin  s32[8]' pack --out packed
same items "$(words d4 packed/items.bin)" '0 0 2 0 1 2 1 0'
same col_idx "$(words d4 packed/col_idx.bin)" "1 -1 3$(nones 13) 0$(nones 15)"
check 'four files' test "$(ls packed | wc -l)" = 4
check 'the PTX is mcgen'\''s' cmp packed/kernel.ptx <("$mcgen" --set vec=2 --set groups=1 "$spec")
expect 0 'mask_values.bin  f32[64]' pack --set out=f16 --set scale=column --set mask=values --set order=srbcrs16 --mask-values values.npy --out valued
same items "$(words d4 valued/items.bin)" '0 0 16 0 1 16 16 0'
same values "$(words f4 valued/mask_values.bin)" "2 0.25$(zeros 14) -1 4$(zeros 14) 1$(zeros 15) 1$(zeros 15)"
expect 0 'scale.bin  f32[90]' "$mcrun" pack "$spec" m.smtx --set out=f16 --set scale=column --out scaled
expect 2 '--n is 5, but the mask has 4 columns' pack --set out=f16 --set scale=column --n 5 --out other
expect 1 "--a: the kernel's A is dense, and read as it is" pack --a a.npy --out other
expect 1 '--mask-values: the kernel takes none' pack --mask-values values.npy --out other
expect 1 '--mask-values: the kernel takes none' "$mcrun" pack "$root/specs/spmm_l8r8.lua" tiny.smtx --mask-values values.npy --out other
expect 1 '--format: published formats hold integers, and the values of a mask are f32' pack --format bcrs --out other
check 'nothing of what was refused' test ! -e other

# A seed stands for the same operands, and so the same C, in every version
printf '6, 70, 3\n0 3 3 3 3 3 3\n0 7 69\n' >seed.smtx
expect 0 'verdict    exact' "$mcrun" sddmm "$root/specs/sddmm_l8r8.lua" seed.smtx --k 32 --device sim --seed 5 --out seed.npy
check 'the seed gives the C of before' test "$(cksum <seed.npy)" = '2691125409 224'
finish
