#!/bin/bash
# mcrun spmm on the simulator. Arguments: mcrun, the source directory, json_get, mcgen.
mcrun=$1 json_get=$3 mcgen=$4
source "$2/tests/expect.sh"
spec=$2/specs/spmm_l8r8.lua
cd "$work" || exit 1
json() { check "$1: $2 is $("$json_get" "$1" "$2"), want $3" test "$("$json_get" "$1" "$2")" = "$3"; }
spmm() { "$mcrun" spmm "$spec" --device sim "$@"; }

"$mcrun" matrix-gen --rows 5 --cols 90 --sparsity 0.6 -o m.smtx || exit 1
printf '%%%%MatrixMarket matrix coordinate pattern general\n13 20 4\n1 1\n2 1\n9 20\n13 3\n' >m.mtx

# Exact, on both orders of warps, at widths around the tile's and with leading dimensions
expect 0 'verdict    exact' spmm m.smtx
expect 0 'M 40  K 90  N 256' spmm m.smtx
expect 0 'verdict    exact' "$mcrun" spmm "$spec" m.smtx --n 64 --device sim:reversed
for n in 1 7 129; do expect 0 'verdict    exact' spmm m.smtx --n $n; done
expect 0 'ldb 144  ldc 133' spmm m.smtx --n 128 --ldb 144 --ldc 133
expect 0 'verdict    exact' spmm m.smtx --n 32 --specialise
expect 0 'm=40' spmm m.smtx --n 32 --specialise --json
expect 0 'M 16  K 20' spmm m.mtx --n 16
expect 0 'fill 0.1667' spmm m.mtx --n 16
expect 0 'M 104  K 20' spmm m.mtx --n 16 --dilate
expect 0 'M 8  K 90' spmm m.smtx --n 16 --union
expect 1 'm = 512, the matrix has 40' spmm m.smtx --set m=512

# Launches that must repeat the first one's bytes. This PTX writes others where it finds C written
again='.reg .pred %again; .reg .b32 %old; ld.global.b32 %old, [%c]; setp.ne.s32 %again, %old, 0x80808080;
bar.warp.sync 0xffffffff; @%again mov.u32 %old, %tid.x; @%again mad.wide.u32 %c, %old, 4, %c;
@%again st.global.b32 [%c], 7; @%again ret;'
printf '1, 70, 3\n0 3\n0 7 69\n' >one.smtx
"$mcgen" "$spec" --set warps=1 | awk -v more="$again" '{ print } /ld.param.u64 .*\[c\];/ { print more }' >again.ptx
expect 0 'verdict    exact' spmm m.smtx --n 16 --repeat 3
expect 0 'verdict    exact' spmm one.smtx --n 32 --set warps=1 --ptx again.ptx --repeat 0
spmm one.smtx --n 32 --set warps=1 --ptx again.ptx --repeat 1 >again.txt 2>again.err
check 'a launch with other bytes passes' test $? = 1
check 'nothing is said of the launch' grep -q 'launch 2 gave other bytes of C than the first one' again.err
expect 2 '--repeat' spmm m.smtx --repeat -1

# Variants
expect 0 'verdict    exact' spmm m.smtx --n 8 --variant 3
spmm m.smtx --n 8 --variant 3 --json >v.json
json v.json verdict exact
json v.json shape.m 40
json v.json variant.index 3
expect 0 ' 3  ' spmm m.smtx --n 8 --variant "$("$json_get" v.json variant.hash)"
spmm m.smtx --n 8 --variants all --set tile_n=64 --set stride=32 --set warps=1,2 --set split=1 --json >all.json
json all.json '' 4
json all.json 3.verdict exact
expect 0 'exact' spmm m.smtx --n 8 --variants all --set tile_n=64 --set stride=32 --set warps=1,2 --set split=1
# Those that cannot run on the problem are no wrong ones
decode() { "$mcrun" matrix-gen --rows 1 --cols 5000 --sparsity 0.9 -o long.smtx && "$mcrun" spmm "${spec%.lua}_decode.lua" long.smtx --n 5 --device sim --variants all --set depth=2 --set warps=8 "$@"; }
expect 0 '2 of 4 variants cannot run on this problem' decode --set stages=4,12 --set split=2
none() { decode --set stages=4 2>&1; [ $? = 1 ]; }
expect 0 'none of 4 variants can run on this problem' none

# The variant that should be fastest: of all specs, only where it can run, and the with its hash
tiled=$2/specs/spmm_l8r8_tiled.lua half=$2/specs/spmm_l8r8_f16.lua
best() { "$mcrun" spmm "$half" "$tiled" "$@" --variants best --device sim; }
expect 0 'estimate   ' best m.smtx --n 64
"$mcrun" matrix-gen --rows 512 --cols 512 --sparsity 0 -o full.smtx || exit 1
best full.smtx --n 128 --json >best.json
json best.json verdict exact
json best.json spec "$tiled"
expect 0 'staging=tma' "$mcgen" --variant "$("$json_get" best.json variant.hash)" "$tiled"
best full.smtx --n 128 --ldb 136 --json >best.json
json best.json verdict exact
json best.json spec "$half"
expect 0 'verdict    exact' best m.smtx --n 50 --out best.npy
expect 0 'n=32 k=90' best m.smtx --n 32 --specialise --json
expect 1 'no variant of these specs can run on this problem' "$mcrun" spmm "$tiled" m.smtx --n 8 --variants best --device sim
expect 1 'absent.lua' best absent.lua m.smtx
# Only of specs that compute the same product: other types are another, and so is another vec where nonzeros become vectors
for line in 'lhs = "u8"' 'rhs = "s4"' 'vec = 4'; do
    printf 'op = "spmm"\n%s\n' "$line" >other.lua
    expect 2 "than the first spec's: not the same product" "$mcrun" spmm "$half" other.lua m.smtx --n 64 --variants best --device sim
done
expect 0 'verdict    exact' "$mcrun" spmm "$half" other.lua m.smtx --n 64 --variants best --device sim --union

# Values and results as .npy
expect 0 'exact' spmm m.smtx --n 24 --out c.npy
check 'C has 40 x 24 s32 elements behind the header' test $((($(wc -c <c.npy) - 40 * 24 * 4) % 64)) = 0
check 'the header says 40 x 24' grep -aqF "'shape': (40, 24)" c.npy
expect 1 'No space left' spmm m.smtx --n 8 --out /dev/full

# A MatrixMarket file's own values: integers are used, others scaled where that is asked for, or refused
printf '%%%%MatrixMarket matrix coordinate integer general\n13 3 4\n1 1 5\n2 1 -7\n9 3 127\n13 2 1\n' >int.mtx
sed 's/-7/-700/' int.mtx >big.mtx
sed 's/-7/0.25/;s/integer/real/' int.mtx >real.mtx
sed 's/integer/complex/;s/\([1-9]\)$/\1 0/;1!s/^\(13 3 4\) 0/\1/' int.mtx >complex.mtx
expect 0 'values     A of int.mtx, B random' spmm int.mtx --n 8
expect 0 'rows       13 of the file, and 3 empty ones' spmm int.mtx --n 8
spmm int.mtx --n 8 --json >own.json
json own.json values.A int.mtx
json own.json values.B random
json own.json shape.file_rows 13
expect 0 'values     A random, B random' spmm m.mtx --n 8
expect 0 'values     A random' spmm int.mtx --n 8 --random-values
expect 1 "int.mtx: it has a value for a nonzero, not for each element of a vector" spmm int.mtx --n 8 --dilate
expect 0 'values     A random' spmm int.mtx --n 8 --dilate --random-values
expect 1 "big.mtx: entry (2, 1) is -700, out of s8's range: --quantise scales its values" spmm big.mtx --n 8
expect 1 "entry (2, 1) is -7, out of u8's range" spmm int.mtx --n 8 --set lhs=u8
expect 1 'real.mtx: entry (2, 1) is 0.25, no integer' spmm real.mtx --n 8
expect 0 'quantised  a value of the file is 1 times A' spmm real.mtx --n 8 --quantise
expect 1 'its values are complex, kernels multiply real ones' spmm complex.mtx --n 8
expect 0 'exact' spmm complex.mtx --n 8 --random-values
expect 2 '--quantise and --random-values exclude each other' spmm real.mtx --n 8 --quantise --random-values
expect 2 '--quantise: m.mtx has no values' spmm m.mtx --n 8 --quantise
# C = A I is A: of the file's values, byte for byte, and its empty rows behind them
"$mcrun" spmm "$spec" --set lhs=s8 --set rhs=s8 int.mtx --b "$2/tests/cli/eye3.npy" --out c.npy --device sim >/dev/null
check "C is A's values" test "$(tail -c $((16 * 3 * 4)) c.npy | od -An -v -td4 | xargs)" = "5 0 0 -7 0 0$(printf ' 0 0 0%.0s' {1..6}) 0 0 127$(printf ' 0 0 0%.0s' {1..3}) 0 1 0$(printf ' 0 0 0%.0s' {1..3})"
cp "$2/tests/cli/eye3.npy" eye.npy
expect 0 'values     A of eye.npy, B of eye.npy' spmm eye.npy --b eye.npy --out c.npy
check "I I is I, and empty rows" test "$(tail -c $((8 * 3 * 4)) c.npy | od -An -v -td4 | xargs)" = "1 0 0 0 1 0 0 0 1$(printf ' 0 0 0%.0s' {1..5})"
"$mcrun" spmm "$2/specs/spmm_l8r8_f16.lua" eye.npy --n 8 --out real.npy --device sim >/dev/null # f16: 8 x 8
expect 1 'no integer: --quantise scales its values' spmm real.npy --n 8
expect 0 'quantised  a value of the file is' spmm real.npy --n 8 --quantise
expect 0 'scale of big.mtx' "$mcrun" spmm "$2/specs/spmm_l8r8_f16.lua" big.mtx --n 8 --quantise --device sim

# Names that no terminal should see, or no JSON takes
cp int.mtx $'in\et.mtx'
cp int.mtx $'caf\xe9.mtx'
expect 0 'A of in?t.mtx' spmm $'in\et.mtx' --n 8
spmm $'caf\xe9.mtx' --n 8 --json >latin.json
json latin.json values.A 'caf?.mtx'
json latin.json verdict exact

# Scales are normal numbers of f32, or refused
printf '%%%%MatrixMarket matrix coordinate real general\n8 8 2\n1 1 1e-50\n2 3 -5e-51\n' >tiny.mtx
sed 's/1e-50/5e-324/;s/-5e-51/0/' tiny.mtx >least.mtx
sed 's/1e-50/1e300/' tiny.mtx >huge.mtx
half="$2/specs/spmm_l8r8_f16.lua"
for file in tiny least; do expect 0 'is 1.17549435e-38 times' "$mcrun" spmm "$half" $file.mtx --n 2 --quantise --device sim; done
expect 1 'holds 1e+300, for which there is no scale in f32' "$mcrun" spmm "$half" huge.mtx --n 2 --quantise --device sim
expect 1 "entry (1, 1) is 1e+300, out of f32's range: --random-values" "$mcrun" sddmm "$2/specs/sddmm_l8r8_f16.lua" huge.mtx --set mask=values --k 16 --device sim

# What is read is not overwritten; what never ends is not read
cp "$spec" own.lua
own() { "$mcrun" spmm own.lua int.mtx --b eye.npy --device sim "$@"; }
for file in own.lua int.mtx eye.npy; do
    cp $file kept
    expect 2 "--out $file would overwrite $file, which is read" own --out $file
    check "$file is as it was" cmp $file kept
done
mkfifo pipe
expect 1 'pipe: it is a named pipe, no regular file' timeout 10 "$mcrun" spmm own.lua int.mtx --b pipe --device sim
expect 1 '/dev/zero: it is a device' timeout 10 "$mcrun" spmm /dev/zero int.mtx --device sim
expect 1 '/dev/zero: it is a device' timeout 10 "$mcrun" spmm own.lua int.mtx --ptx /dev/zero --device sim
expect 0 'exact' own --ptx <("$mcgen" own.lua)
expect 0 'exact' "$mcrun" spmm <(cat own.lua) int.mtx --n 8 --device sim

# PTX of one's own: right, wrong, reading where nothing is, not PTX at all
"$mcgen" "$spec" -o good.ptx || exit 1
expect 0 'verdict    exact' spmm m.smtx --ptx good.ptx
sed '0,/{%value0, %value1}/s//{%value1, %value0}/' good.ptx >swapped.ptx
sed 's/\(%used0, %index0,\) 0;/\1 -5;/' good.ptx >astray.ptx
check 'the edits changed something' test "$(cmp -s good.ptx swapped.ptx; echo $?)$(cmp -s good.ptx astray.ptx; echo $?)" = 11
spmm m.smtx --ptx swapped.ptx >table 2>err
check 'a wrong result exits 1' test $? = 1
check 'the table says wrong' grep -q 'verdict    wrong' table
check 'the error names an element' grep -q 'mcrun: C\[0\]\[[0-9]*\] is -\?[0-9]*, must be' err
spmm m.smtx --ptx swapped.ptx --json >wrong.json 2>err
check 'a wrong result exits 1 with --json, too' test $? = 1
json wrong.json verdict wrong
spmm m.smtx --ptx swapped.ptx --out wrong.npy >table 2>err
check 'no file of a wrong result' test ! -e wrong.npy
expect 1 'simulator: an access out of bounds: line ' spmm m.smtx --ptx astray.ptx
expect 1 'simulator: ' spmm m.smtx --ptx m.smtx
sed 's/\.param \.s32 ldc$/.param .align 4 .b8 ldc[16000]/' good.ptx >wide.ptx
sed 's/\.param \.s32 ldc$/.param .s32 ldc, .param .s32 more/' good.ptx >more.ptx
expect 1 'parameter 7 has 16000 bytes' spmm m.smtx --ptx wide.ptx
expect 1 'has 9 parameters, its contract 8' spmm m.smtx --ptx more.ptx
expect 0 'wavefronts' spmm m.smtx --report
check 'the report has no counts beside the mma' grep -qE '^ +[1-9][0-9]* +[1-9][0-9.]*% .*mma.sync' "$work/stdout"
"$mcgen" "$spec" -o never.ptx
expect 0 'lines with instructions were not executed; they are marked -' spmm m.smtx --report --ptx never.ptx
never=$(sed -n 's/^never *\([0-9]*\) of.*/\1/p' "$work/stdout")
check 'no line is marked, or not as many as are told' test "${never:-0}" -gt 0 -a "$never" = "$(grep -cE '^ +- +\|' "$work/stdout")"
expect 0 '"shared_wavefronts"' spmm m.smtx --report --json
expect 0 '"class": "mma"' spmm m.smtx --report --json
expect 2 '--report exclude' spmm m.smtx --report --variants all
expect 0 'N 48  ldb 64' spmm m.smtx --set n=48 --set ldb=64
expect 1 'n is fixed at 48 in this kernel, the problem has 40' spmm m.smtx --set n=48 --n 40
printf '.version 7.0\0' >zero.ptx
expect 1 'zero.ptx: PTX is text' spmm m.smtx --ptx zero.ptx

# --a and --b: the product that was calculated by hand, (1, -2) in row block 0 of V = 8
npy() { # npy FILE DESCR ROWS COLS BYTES...
    local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3, $4), }"
    printf '\x93NUMPY\1\0\166\0%-117s\n%b' "$header" "$5" >"$1"
}
printf '1, 3, 2\n0 2\n0 2\n' >tiny.smtx
printf '1, 1, 1\n0 1\n0\n' >one.smtx
npy a.npy '|i1' 2 8 '\1\0\0\0\0\0\0\1\xfe\0\0\0\0\0\0\1'
npy eight.npy '|i1' 2 8 '\1\0\0\0\0\0\0\10\xfe\0\0\0\0\0\0\1'
npy b.npy '|i1' 3 2 '\5\7\1\1\12\200'
expect 0 'M 8  K 3  N 2' spmm tiny.smtx --a a.npy --b b.npy --out hand.npy
tail -c 64 hand.npy | od -An -td4 -v | tr -s ' \n' ' ' >hand.txt
check "C by hand: $(cat hand.txt)" grep -qx ' -15 263 0 0 0 0 0 0 0 0 0 0 0 0 15 -121 ' hand.txt
expect 0 'ldb 5' spmm tiny.smtx --a a.npy --b b.npy --ldb 5

# C in s8 with all that it may have: nearest(sum * 0.5 * (1 or 0.5) * 4) + 3, cut off; by hand from the same sums
npy scale.npy '<f4' 1 1 '\0\0\0\77'
npy token.npy '<f4' 1 2 '\0\0\200\77\0\0\0\77'
npy own.npy '<f4' 1 1 '\0\0\200\76'
npy zero.npy '<f4' 1 1 '\0\0\100\100'
chained() { spmm tiny.smtx --a a.npy --b b.npy --set out=s8 --set scale=tensor --set b_scale=column --set c_scale=tensor --set zero=tensor --scale scale.npy --b-scale token.npy --c-scale own.npy "$@"; }
expect 0 'exact' chained --zero zero.npy --out hand8.npy
check 'the header says s8' grep -aqF "'descr': '|i1'" hand8.npy
check "C by hand: $(tail -c 16 hand8.npy | od -An -v -td1 | xargs)" test "$(tail -c 16 hand8.npy | od -An -v -td1 | xargs)" = "-27 127$(printf ' 3%.0s' {1..12}) 33 -118"
expect 0 'exact' chained --zero zero.npy --set out=s4 --out hand4.npy
check "C by hand: $(tail -c 16 hand4.npy | od -An -v -td1 | xargs)" test "$(tail -c 16 hand4.npy | od -An -v -td1 | xargs)" = "-8 7$(printf ' 3%.0s' {1..12}) 7 -8"
expect 0 'ldc 4' chained --set out=u4 --ldc 4
expect 2 '--ldc is 5, not a multiple of the 2' chained --set out=u4 --ldc 5
expect 2 'ldc: out = "u4" wants an even number, not 5' chained --set out=u4 --set ldc=5
expect 0 'N 7' spmm m.smtx --n 7 --set out=s4 --set scale=row
expect 0 'exact' chained # a random zero point
expect 1 'zero' chained --zero token.npy
expect 0 'exact' chained --zero zero.npy --set act=gelu --set vec=8
expect 1 '--c-scale: the kernel takes none' spmm tiny.smtx --set out=s8 --set scale=tensor --c-scale own.npy
expect 2 'c_scale: out = "f16" has no scale of its own: that goes with s8, u8, s4, u4, e4m3 and e5m2' spmm tiny.smtx --set out=f16 --set scale=tensor --set c_scale=tensor

# A residual: (sum * 0.5 + r) / 0.25, by hand from the same sums
npy r.npy '<f4' 8 2 "$(printf '\\0\\0\\200\\77%.0s' {1..16})"
added() { spmm tiny.smtx --a a.npy --b b.npy --set out=f32 --set scale=tensor --scale scale.npy --set residual=f32 "$@"; }
expect 0 'exact' added --residual r.npy --out added.npy
expect 0 'r.npy' added --residual r.npy
check "C by hand: $(tail -c 64 added.npy | od -An -v -tf4 | xargs)" test "$(tail -c 64 added.npy | od -An -v -tf4 | xargs)" = "-6.5 132.5$(printf ' 1%.0s' {1..12}) 8.5 -59.5"
expect 0 'residual random' added --set act=silu
expect 0 'ldr 9' added --ldr 9
expect 0 'exact' "$mcrun" spmm "$2/specs/spmm_l8r8_tiled.lua" m.smtx --device sim --set residual=f16 --set n=128 --set ldc=128 --ldr 129
expect 0 'ldr=2' added --residual r.npy --specialise --json
expect 2 '--ldr is 1, less than N = 2' added --ldr 1
expect 1 '--residual: the kernel takes none' spmm tiny.smtx --residual r.npy
expect 2 '--ldr: the kernel takes no residual' spmm tiny.smtx --ldr 9
expect 1 'residual holds f32, must hold f16' added --set residual=f16 --residual r.npy
expect 1 'b.npy has 3 rows, A 8' added --residual b.npy
expect 2 'residual: out = "s32" is the sums as they are: a residual goes with f16, bf16, f32, s8, u8, s4, u4, e4m3 and e5m2' spmm tiny.smtx --set residual=f16
expect 2 'ldr: there is no residual: leave it out' spmm tiny.smtx --set ldr=64

# Integers of another type are taken where the kernel's type holds them
npy wide.npy '<i2' 3 2 '\5\0\7\0\1\0\1\0\12\0\200\xff'
expect 0 'exact' spmm tiny.smtx --a a.npy --b wide.npy --out wide_c.npy
check 'the same C' cmp hand.npy wide_c.npy
npy wide.npy '<u2' 3 2 '\5\0\7\0\1\0\1\0\12\0\200\0'
expect 1 "B[2][1] is 128, out of s8's range" spmm tiny.smtx --a a.npy --b wide.npy
# 4-bit operands: files hold a byte an element, rows of B are whole bytes; by hand as above
nibbles=$(dirname "$spec")/spmm_l4r4.lua
half() { "$mcrun" spmm "$nibbles" tiny.smtx --device sim "$@"; }
npy b3.npy '|i1' 3 3 '\5\7\1\1\2\0\1\1\1'
expect 0 'N 3  ldb 4' half --a a.npy --b b3.npy --out hand4.npy
tail -c 96 hand4.npy | od -An -td4 -v | tr -s ' \n' ' ' >hand.txt
check "C by hand: $(cat hand.txt)" grep -qx ' 3 5 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 6 8 2 ' hand.txt
expect 1 "B[2][0] is 10, out of s4's range" half --a a.npy --b b.npy
expect 1 "A[0][7] is 8, out of s4's range" half --a eight.npy
expect 2 '--ldb is 35, not a multiple of the 2 that the kernel needs: 36 is one' half --n 33 --ldb 35
expect 0 'exact' half --n 33 --ldb 38 --vec 2 --set lhs=u16 --set rhs=u4

# Sums beyond 32 bits: 2 * 65535 * 65535, exact and modulo 2^32
most='\377\377'
npy a16.npy '<u2' 2 8 "$most"'\0\0\0\0\0\0\0\0\0\0\0\0\1\0'"$most"'\0\0\0\0\0\0\0\0\0\0\0\0\1\0'
npy b16.npy '<u2' 3 2 "$most"'\1\0\3\0\3\0'"$most"'\0\0'
wide=$2/specs/spmm_l16r16.lua
long() { "$mcrun" spmm "$wide" tiny.smtx --device sim --set lhs=u16 --set rhs=u16 --a a16.npy --b b16.npy "$@"; }
expect 0 'verdict    exact' long --set sum=exact --set out=s64 --out long.npy
check 's64 is <i8' grep -aqF "'descr': '<i8'" long.npy
tail -c 128 long.npy | od -An -td8 -v | tr -s ' \n' ' ' >hand.txt
check "exact C by hand: $(cat hand.txt)" grep -qx ' 8589672450 65535 0 0 0 0 0 0 0 0 0 0 0 0 131070 1 ' hand.txt
expect 0 'verdict    exact' long --out short.npy
tail -c 64 short.npy | od -An -td4 -v | tr -s ' \n' ' ' >hand.txt
check "C modulo 2^32 by hand: $(cat hand.txt)" grep -qx ' -262142 65535 0 0 0 0 0 0 0 0 0 0 0 0 131070 1 ' hand.txt
expect 0 'verdict    exact' long --set sum=exact --set out=f32 --set scale=row

npy wide.npy '<f4' 1 1 '\0\0\0\0'
expect 1 'B holds f32, must hold s8' spmm one.smtx --b wide.npy

# Dequantised output: random scales and biases, and the same product by hand
dequantised=$2/specs/spmm_l8r8_f16.lua
expect 0 'verdict    exact' "$mcrun" spmm "$dequantised" m.smtx --n 24 --device sim --out half.npy
check 'C has 40 x 24 f16 elements behind the header' test $((($(wc -c <half.npy) - 40 * 24 * 2) % 64)) = 0
check 'the header says <f2' grep -aqF "'descr': '<f2'" half.npy
expect 0 'verdict    exact' "$mcrun" spmm "$dequantised" m.smtx --n 24 --device sim --seed 2 --set out=bf16 --set bias=row --out brain.npy
check 'bf16 is <V2' grep -aqF "'descr': '<V2'" brain.npy
one='\0\0\200\77'
# Digits: random values are such as have them, others are named; side by side in an mma they take half as many
digits() { "$mcrun" spmm "$1" m.smtx --device sim --n 64 --set tile_n=64 "${@:2}"; }
mma() { digits "$@" --report --json >counts.json; "$json_get" counts.json counts.mma; }
npy wide.npy '<i2' 2 2 '\1\0\2\0\3\0\200\177'
expect 1 'row 1, column 2: 32640 is beyond 32639, the greatest value with 2 balanced digits of 8 bits' \
    spmm tiny.smtx --vec 2 --set lhs=s16 --set digits=balanced --a wide.npy
for mode in top-signed offset; do
    expect 0 'verdict    exact' spmm tiny.smtx --vec 2 --set lhs=s16 --set "digits=$mode" --a wide.npy
done
for kernel in "$spec" "$2/specs/spmm_l8r8_tiled.lua"; do
    for form in "4 s16 balanced" "2 s16 balanced" "2 s12 offset" "4 u16 top-signed" "2 u12 top-signed"; do
        read -r vec lhs mode <<<"$form"
        fields=(--vec "$vec" --set "lhs=$lhs" --set "digits=$mode")
        apart=$(mma "$kernel" "${fields[@]}" --set stacking=off)
        json counts.json verdict exact
        check "$kernel, $form: $apart mma, stacked not half of them" test "$(mma "$kernel" "${fields[@]}")" = $((apart / 2))
        json counts.json verdict exact
    done
done

npy scale.npy '<f4' 1 8 '\0\0\0\77'"$one$one$one$one$one$one$one"
npy bias.npy '<f4' 2 1 "$one"'\0\0\200\277'
real() { spmm tiny.smtx --a a.npy --b b.npy --set out=f32 --set scale=row --set bias=column "$@"; }
expect 0 'exact' real --scale scale.npy --bias bias.npy --out hand.npy
tail -c 64 hand.npy | od -An -tf4 -v | tr -s ' \n' ' ' >hand.txt
check "dequantised C by hand: $(cat hand.txt)" grep -qx ' -6.5 130.5 1 -1 1 -1 1 -1 1 -1 1 -1 1 -1 16 -122 ' hand.txt
expect 0 'exact' real --set act=relu --scale scale.npy --bias bias.npy --out hand.npy
tail -c 64 hand.npy | od -An -tf4 -v | tr -s ' \n' ' ' >hand.txt
check "relu of it by hand: $(cat hand.txt)" grep -qx ' 0 130.5 1 0 1 0 1 0 1 0 1 0 1 0 16 0 ' hand.txt
npy nan.npy '<f4' 1 8 '\0\0\300\177'"$one$one$one$one$one$one$one"
expect 0 'exact' real --set act=relu --scale nan.npy --bias bias.npy --out hand.npy
check "a NaN is one behind relu" test "$(tail -c 64 hand.npy | od -An -tx4 -v | grep -o 7f[c-f][0-9a-f]* | wc -l)" = 2
expect 1 "bias.npy is 2 x 1, but the kernel's scale has 8 elements" real --scale bias.npy
expect 1 'a.npy: a bias is f32, this file holds s8' real --bias a.npy
expect 1 '--scale: the kernel takes none' spmm tiny.smtx --scale scale.npy
expect 1 'nowhere.npy: No such file' real --scale nowhere.npy
expect 2 'scale: out = "f16" wants one' spmm tiny.smtx --set out=f16
"$mcgen" --set out=f32 --set scale=row --set bias=column "$spec" | sed 's/fma.rn.f32\(.*\), %column_bias0;/mul.rn.f32\1;/' >unbiased.ptx
spmm m.smtx --set out=f32 --set scale=row --set bias=column --ptx unbiased.ptx >table 2>err
check 'a wrong element is named with its bits' grep -q 'mcrun: C\[0\]\[0\] is [-0-9.e+]* (0x[0-9a-f]*), must be' err

expect 2 'N is 3 by --n, but 2 by b.npy' spmm tiny.smtx --b b.npy --n 3
expect 2 '--ldb is 1, less than N = 2' spmm tiny.smtx --b b.npy --ldb 1
# A B whose rows lie too far apart is refused before it is filled, which would take a minute and gigabytes
for variants in '' '--variant 3' '--variants best'; do
    # shellcheck disable=SC2086
    expect 1 'ldb is 536870912, the kernel takes at most 536870911: a row has at most 2^31 - 1 bytes' \
        timeout 20 "$mcrun" spmm "$2/specs/spmm_csr_f32.lua" tiny.smtx --device sim --n 2 --ldb 536870912 $variants
done
expect 1 'b.npy has 3 rows, A 90 columns' spmm m.smtx --b b.npy
expect 1 'm.smtx: not a .npy file' spmm tiny.smtx --a m.smtx

# A seed stands for the same operands, and so the same C, in every version
printf '6, 70, 3\n0 3 3 3 3 3 3\n0 7 69\n' >seed.smtx
expect 0 'verdict    exact' "$mcrun" spmm "$spec" seed.smtx --n 32 --device sim --seed 5 --out seed.npy
check 'the seed gives the C of before' test "$(cksum <seed.npy)" = '983917084 6272'
finish
