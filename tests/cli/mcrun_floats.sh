#!/bin/bash
# mcrun with products of floats, on the simulator. Arguments: mcrun, the source directory, json_get, mcgen.
mcrun=$1 root=$2 json_get=$3 mcgen=$4
source "$root/tests/expect.sh"
spec=$root/specs/spmm_f16.lua
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data
json() { check "$1: $2 is $("$json_get" "$1" "$2"), want $3" test "$("$json_get" "$1" "$2")" = "$3"; }
spmm() { "$mcrun" spmm "$spec" --device sim "$@"; }
npy() { # npy FILE DESCR ROWS COLS BYTES...
    local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3, $4), }"
    printf '\x93NUMPY\1\0\166\0%-117s\n%b' "$header" "$5" >"$1"
}
elements() { tail -c +129 "$2" | od -An -v -t"$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
holds() { check "$2 holds '$(elements "$1" "$2")', want '$3'" test "$(elements "$1" "$2")" = "$3"; }

"$mcrun" matrix-gen --rows 5 --cols 90 --sparsity 0.6 -o m.smtx || exit 1
printf '%%%%MatrixMarket matrix coordinate real general\n8 2 3\n1 1 0.5\n2 1 -3.25\n8 2 1024\n' >real.mtx

# Within bounds, and said so
expect 0 'verdict    within bounds' spmm m.smtx --n 64
expect 0 'values     A random, B random' spmm m.smtx --n 33 --ldb 40 --ldc 50 --set out=f32
spmm m.smtx --n 64 --json >v.json
json v.json verdict 'within bounds'
for vec in 2 4 16; do expect 0 'verdict    within bounds' spmm m.smtx --n 40 --vec $vec; done
for act in relu silu gelu gelu_tanh; do
    expect 0 'verdict    within bounds' spmm m.smtx --n 40 --set lhs=bf16 --set rhs=bf16 --set bias=row --set act=$act
done
expect 0 'verdict    within bounds' spmm m.smtx --n 40 --set out=s8 --set scale=row --set act=silu
expect 0 '  right  ' spmm m.smtx --n 40 --variants all
expect 0 'verdict    exact' "$mcrun" spmm "$root/specs/spmm_l8r8_f16.lua" m.smtx --n 40 --device sim

# Values of a file as they are, rounded to the type; those of B and C have their types
npy b.npy '<f2' 2 1 '\x00\x40\x00\xbc' # 2, -1
expect 0 'A of real.mtx, B of b.npy' spmm real.mtx --b b.npy --set out=f32 --out c.npy
holds f4 c.npy '1 -6.5 0 0 0 0 0 -1024'
expect 0 'A of real.mtx' spmm real.mtx --b b.npy --out c.npy
holds x2 c.npy '3c00 c680 0000 0000 0000 0000 0000 e400'
expect 2 "--quantise: the kernel's A is f16, and takes values as they are" spmm real.mtx --b b.npy --quantise
sed 's/1024$/1e5/' real.mtx >large.mtx
expect 1 "large.mtx: entry (8, 2) is 100000, out of f16's range: --random-values takes its pattern alone" spmm large.mtx --b b.npy
expect 0 'within bounds' spmm large.mtx --b b.npy --random-values
npy bytes.npy '|i1' 2 1 '\1\2'
expect 1 'B holds s8, must hold f16' spmm real.mtx --b bytes.npy
npy a.npy '<f4' 8 2 "$(printf '\\0%.0s' {1..64})"
expect 1 'values of A are f16, these are f32' spmm real.mtx --b b.npy --a a.npy

# tf32: f32 in files, rounded to a fraction of 10 bits when it is multiplied
spmm32() { "$mcrun" spmm "$root/specs/spmm_tf32.lua" --device sim "$@"; }
for vec in 2 8 16; do expect 0 'verdict    within bounds' spmm32 m.smtx --n 40 --vec $vec; done
npy b32.npy '<f4' 2 1 '\x00\x00\x00\x40\x00\x10\x80\x3f' # 2, 1 + 2^-11
expect 0 'A of real.mtx, B of b32.npy' spmm32 real.mtx --b b32.npy --out c.npy
holds f4 c.npy '1 -6.5 0 0 0 0 0 1025'
npy a32.npy '<f4' 8 2 "$(printf '\\0%.0s' {1..64})"
expect 0 'A of a32.npy, B of b32.npy' spmm32 real.mtx --b b32.npy --a a32.npy
expect 1 'B holds f16, must hold tf32' spmm32 real.mtx --b b.npy
for staging in tma async; do
    for vec in 1 16; do
        expect 0 'verdict    within bounds' spmm32 m.smtx --n 40 --vec $vec --set staging=$staging --set arch=sm_90 --set stride=32 --set prefetch=on --set split=1 --set warps=8
    done
    expect 2 "split: staging = \"$staging\" wants 32 columns for each warp, tile_n has 32" spmm32 m.smtx --n 32 --set staging=$staging --set arch=sm_90 --set stride=32 --set prefetch=on --set split=2
done
expect 0 'b as u32, k x n, rows 4 ldb bytes apart' "$mcgen" --describe "$root/specs/spmm_tf32_tiled.lua"
expect 2 'warps: lhs = "tf32" leaves 16 warps no registers for 32 columns: at most 15' "$mcgen" "$root/specs/spmm_tf32_tiled.lua" --set vec=16 --set warps=16
expect 2 'staging: lhs = "tf32" takes "direct", "tma" or "async"' spmm32 m.smtx --n 32 --set staging=shared
expect 2 'tile_n: rhs = "tf32" wants 32' spmm32 m.smtx --n 32 --set tile_n=64
expect 2 'rhs: lhs = "tf32" takes rhs = "tf32", not "f16"' spmm32 m.smtx --n 32 --set rhs=f16

# f32 as it is, without tensor cores: a product by the identity has the file's own values, to the last bit
spmm_csr() { "$mcrun" spmm "$root/specs/spmm_csr_f32.lua" --device sim "$@"; }
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 0.1\n2 2 1.00000011920929\n' >fine.mtx
npy eye.npy '<f4' 2 2 '\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\x80\x3f'
expect 0 'A of fine.mtx, B of eye.npy' spmm_csr fine.mtx --b eye.npy --out c.npy
holds x4 c.npy '3dcccccd 00000000 00000000 3f800001'
expect 0 'A of fine.mtx, B of b32.npy' spmm_csr fine.mtx --b b32.npy --set tile_n=1 --set lanes=8 --out c.npy
holds x4 c.npy '3e4ccccd 3f801001' # 2 * 0.1; (1 + 2^-23) (1 + 2^-11), rounded once
printf '%%%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 16777217\n2 1 -3\n' >whole.mtx # 2^24 + 1: to the even one
expect 0 'A of whole.mtx' spmm_csr whole.mtx --b eye.npy --out c.npy
holds f4 c.npy '16777216 -3 -3 0'
sed 's/0\.1$/1e300/' fine.mtx >huge.mtx
expect 1 "huge.mtx: entry (1, 1) is 1e+300, out of f32's range: --random-values takes its pattern alone" spmm_csr huge.mtx --b eye.npy
expect 2 "--quantise: the kernel's A is f32, and takes values as they are" spmm_csr fine.mtx --b eye.npy --quantise
expect 1 'B holds f16, must hold f32' spmm_csr fine.mtx --b b.npy
expect 2 'rhs: lhs = "f32" takes rhs = "f32" with staging = "csr", not "f16"' spmm_csr fine.mtx --n 4 --set rhs=f16
expect 2 'vec: staging = "csr" is for matrices without vectors: vec = 1' spmm_csr m.smtx --n 4 --vec 2

# Floats of 8 bits: 448 is the greatest e4m3, whose files have one type and those of e5m2 another
spmm8() { "$mcrun" spmm "$root/specs/spmm_e4m3.lua" --device sim --set out=f32 --set scale=none "$@"; }
for types in "e4m3 e4m3" "e4m3 e5m2" "e5m2 e4m3" "e5m2 e5m2"; do
    for vec in 4 16; do expect 0 'verdict    within bounds' spmm8 m.smtx --n 37 --vec $vec --set lhs=${types% *} --set rhs=${types#* }; done
done
npy b8.npy '<V1' 2 1 '\x40\xb8' # 2, -1
sed 's/1024$/464/' real.mtx >small.mtx
expect 0 'A of small.mtx, B of b8.npy' spmm8 small.mtx --b b8.npy --out c.npy
holds f4 c.npy '1 -6.5 0 0 0 0 0 -448'
expect 1 "real.mtx: entry (8, 2) is 1024, out of e4m3's range" spmm8 real.mtx --b b8.npy
expect 1 'B holds e4m3, must hold e5m2' spmm8 small.mtx --b b8.npy --set rhs=e5m2
# GPUs without such an mma make f16 of them
for types in "e4m3 e4m3" "e5m2 e4m3"; do
    for vec in 1 8 16; do expect 0 'verdict    within bounds' spmm8 m.smtx --n 37 --vec $vec --set arch=sm_80 --set lhs=${types% *} --set rhs=${types#* }; done
done
expect 0 'A of small.mtx, B of b8.npy' spmm8 small.mtx --b b8.npy --set arch=sm_86 --out c.npy
holds f4 c.npy '1 -6.5 0 0 0 0 0 -448'
expect 0 'verdict    within bounds' spmm8 m.smtx --n 32 --set arch=sm_80 --set staging=async --set stride=32 --set prefetch=on
expect 2 'rhs: lhs = "e5m2" takes rhs = "f16" or "e4m3" or "e5m2", not "bf16"' spmm8 m.smtx --n 32 --set lhs=e5m2 --set rhs=bf16
expect 0 'verdict    within bounds' spmm8 m.smtx --n 32 --set staging=async --set stride=32 --set prefetch=on --set warps=4
expect 2 'warps: lhs = "e4m3" leaves 16 warps no registers for 128 columns: at most 15' "$mcgen" "$root/specs/spmm_e4m3_tiled.lua" --set warps=16 --set tile_n=128
expect 2 'warps: lhs = "e5m2" leaves 8 warps no registers for 128 columns: at most 7' "$mcgen" "$root/specs/spmm_e4m3_tiled.lua" --set lhs=e5m2 --set vec=16 --set warps=8 --set tile_n=128
expect 2 'staging: lhs = "e4m3" takes "direct", "tma" or "async"' spmm8 m.smtx --n 32 --set staging=shared --set stride=32
expect 2 'stride: vec = 16 with tile_n = 128 leaves registers for 32' spmm8 m.smtx --n 32 --vec 16 --set stride=64 --set tile_n=128

# An SDDMM of both
sddmm() { "$mcrun" sddmm "$root/specs/sddmm_f16.lua" --device sim --set out=f32 --set tile_k=64,128 "$@"; }
for types in "tf32 tf32" "e4m3 e4m3" "e4m3 e5m2" "e5m2 e4m3" "e5m2 e5m2"; do
    for k in 5 64 100; do
        expect 0 'verdict    within bounds' sddmm m.smtx --k $k --set arch=sm_89 --set lhs=${types% *} --set rhs=${types#* }
    done
done
printf '%%%%MatrixMarket matrix coordinate pattern general\n8 2 2\n1 1\n1 2\n' >two.mtx
npy rows.npy '<f4' 8 1 "\x00\x10\x80\x3f\x00\x00\x80\x3f$(printf '\\0%.0s' {1..24})" # 1 + 2^-11, 1, 0, ...
npy columns.npy '<f4' 1 2 '\x00\x00\x80\x3f\x00\x10\x80\x3f'
expect 0 'A of rows.npy, B of columns.npy' sddmm two.mtx --set lhs=tf32 --set rhs=tf32 --a rows.npy --b columns.npy --out c.npy
holds f4 c.npy '1.0009766 1 0 0 0 0 0 0 1.0019541 1.0009766 0 0 0 0 0 0'
npy rows8.npy '<V1' 8 1 '\x40\xb8\x7e\0\0\0\0\0' # 2, -1, 448, 0, ...
npy columns8.npy '<f1' 1 2 '\x3c\x7b' # 1, 57344
expect 0 'A of rows8.npy, B of columns8.npy' sddmm two.mtx --set arch=sm_89 --set lhs=e4m3 --set rhs=e5m2 --a rows8.npy --b columns8.npy --out c.npy
holds f4 c.npy '2 -1 448 0 0 0 0 0 114688 -57344 25690112 0 0 0 0 0'
expect 1 'A holds e4m3, must hold e5m2' sddmm two.mtx --set arch=sm_89 --set lhs=e5m2 --set rhs=e5m2 --a rows8.npy --b columns8.npy
# GPUs without such an mma make f16 of them
expect 0 'A of rows8.npy, B of columns8.npy' sddmm two.mtx --set arch=sm_80 --set lhs=e4m3 --set rhs=e5m2 --a rows8.npy --b columns8.npy --out c.npy
holds f4 c.npy '2 -1 448 0 0 0 0 0 114688 -57344 25690112 0 0 0 0 0'
for vec in 1 8 16; do expect 0 'verdict    within bounds' sddmm m.smtx --vec $vec --set lhs=e5m2 --set rhs=e4m3 --set arch=sm_86; done
# Integers of A by floats: their values are exact, and files have them as integers
spmm_mixed() { "$mcrun" spmm "$root/specs/spmm_s8f16.lua" --device sim "$@"; }
for types in "s8 f16" "u8 f16" "s4 f16" "u4 bf16" "s8 bf16"; do
    for vec in 1 8 16; do expect 0 'verdict    within bounds' spmm_mixed m.smtx --n 37 --vec $vec --set lhs=${types% *} --set rhs=${types#* }; done
done
for vec in 2 16; do
    expect 0 'verdict    within bounds' "$mcrun" spmm "$root/specs/spmm_s8f16_tiled.lua" m.smtx --n 40 --vec $vec --set window=64 --device sim
done
printf '%%%%MatrixMarket matrix coordinate integer general\n8 2 3\n1 1 127\n2 1 -128\n8 2 -5\n' >whole.mtx
npy scale.npy '<f4' 1 8 "$(printf '\\0\\0\\0\\077%.0s' {1..8})" # 0.5
expect 0 'A of whole.mtx, B of b.npy' spmm_mixed whole.mtx --b b.npy --scale scale.npy --set out=f32 --out c.npy
holds f4 c.npy '127 -128 0 0 0 0 0 2.5'
expect 0 'quantised  a value of the file is ' spmm_mixed real.mtx --b b.npy --quantise
expect 1 'real.mtx: entry (1, 1) is 0.5' spmm_mixed real.mtx --b b.npy
expect 1 'B holds s8, must hold f16' spmm_mixed whole.mtx --b bytes.npy
expect 2 'rhs: lhs = "s8" takes an integer, "f16" or "bf16", not "tf32"' spmm_mixed m.smtx --n 32 --set rhs=tf32
expect 2 'rhs: lhs = "s16" takes an integer, too, not "f16"' spmm_mixed m.smtx --n 32 --set lhs=s16
expect 2 'rhs: lhs = "f16" takes rhs = "f16", not "s8"' spmm_mixed m.smtx --n 32 --set lhs=f16 --set rhs=s8
expect 0 'verdict    within bounds' spmm_mixed m.smtx --n 32 --set heads=off --set stride=32
expect 2 'heads: off takes no lhs = "s4" with floats: values of 8 or 16 bits' spmm_mixed m.smtx --n 32 --set heads=off --set lhs=s4
expect 2 'heads: off takes no lhs = "tf32" with floats' "$mcrun" spmm "$root/specs/spmm_tf32.lua" m.smtx --n 32 --set heads=off --device sim
expect 2 'heads: off wants stride = 32' spmm_mixed m.smtx --n 32 --set heads=off --set stride=64
expect 2 'staging: lhs = "s8" takes "direct"' spmm_mixed m.smtx --n 32 --set staging=shared
expect 2 'digits: lhs = "s8": its values are no digits; leave it out' spmm_mixed m.smtx --n 32 --set digits=balanced
expect 0 'spmm_s8f16.lua' "$mcrun" tune "$root/specs/spmm_s8f16.lua" m.smtx --n 64 --device sim
check "none is wrong and none has failed: $(sed -n '$p' "$work/stdout")" grep -qE ' 0 +0 +0 ' "$work/stdout"
expect 0 'why        measured' "$mcrun" plan "$root/specs/spmm_s8f16.lua" m.smtx --n 64 --device sim
expect 0 'spmm_s8f16.lua' "$mcrun" plan --op spmm --lhs s8 --rhs f16 --vec 8 --out f16 --set scale=row m.smtx --n 48 --device sim

# A wrong kernel: some products left out
"$mcgen" "$spec" -o good.ptx || exit 1
expect 0 'verdict    within bounds' spmm m.smtx --n 64 --ptx good.ptx
sed '0,/^ *mma.sync/s//\/\/ /' good.ptx >wrong.ptx
spmm m.smtx --n 64 --ptx wrong.ptx >table 2>err
check 'a wrong result exits 1' test $? = 1
check 'the table says wrong' grep -q 'verdict    wrong' table
check "the error says what it must be: $(cat err)" grep -q 'mcrun: C\[0\]\[[0-9]*\] is .* must be from .* to .* elements wrong' err

# An infinity of B reaches the rows of a panel in which one has something in that column, and no others: as NaN.
printf '%%%%MatrixMarket matrix coordinate real general\n10 2 3\n1 1 1\n3 2 2\n10 2 -1\n' >single.mtx
npy infinite.npy '<f2' 2 1 '\x00\x7c\x00\x42' # infinity, 3
panels() { "$mcrun" spmm "$root/specs/spmm_csr_f16.lua" --device sim single.mtx --b infinite.npy --set out=f32 "$@"; }
expect 0 'verdict    within bounds' panels --set panel=1 --out c.npy
holds f4 c.npy 'inf 0 6 0 0 0 0 0 0 -3'
for values in slots nonzeros; do
    expect 0 'verdict    within bounds' panels --set panel=8 --set values=$values --out c.npy
    holds f4 c.npy 'inf nan nan nan nan nan nan nan 0 -3'
    expect 0 'verdict    within bounds' panels --set panel=16 --set values=$values --out c.npy
    holds f4 c.npy 'inf nan nan nan nan nan nan nan nan nan'
    # By degree rows 1, 3 and 10 come first, then 2, 4, 5 and on.
    expect 0 'verdict    within bounds' panels --set panel=8 --set values=$values --set reorder=degree --out c.npy
    holds f4 c.npy 'inf nan nan nan nan nan nan 0 0 nan'
done
expect 2 'reorder: there are no panels: leave it out' panels --set panel=1 --set reorder=similarity
expect 0 '  right  ' panels --variants all
"$mcgen" "$root/specs/spmm_csr_f16.lua" --set out=f32 --set panel=8 -o panels.ptx || exit 1
sed 's/^ *mma.sync/\/\/ &/' panels.ptx >wrong.ptx
panels --set panel=8 --ptx wrong.ptx >table 2>err
check 'without mma it is wrong' grep -q 'verdict    wrong' table
check "the error wants a NaN: $(cat err)" grep -q 'must be from inf .*(9 of 10 elements wrong)' err
# Of HRPB it reaches the 16 rows of a brick that has something, and not those of one below that has nothing.
printf '%%%%MatrixMarket matrix coordinate real general\n20 2 3\n1 1 1\n3 2 2\n10 2 -1\n' >bricks.mtx
npy infinite_tf32.npy '<f4' 2 1 '\x00\x00\x80\x7f\x00\x00\x40\x40' # infinity, 3
for rows in 16 32; do
    expect 0 'verdict    within bounds' "$mcrun" spmm "$root/specs/spmm_hrpb_tf32.lua" --device sim bricks.mtx --b infinite_tf32.npy --set panel_rows=$rows --out c.npy
    holds f4 c.npy 'inf nan nan nan nan nan nan nan nan nan nan nan nan nan nan nan 0 0 0 0'
done

# Tuned, recorded, planned
expect 0 'spmm_f16.lua' "$mcrun" tune "$spec" m.smtx --n 64 --device sim
sed -n '$p' "$work/stdout" >tuned
check "none is wrong and none has failed: $(cat tuned)" grep -qE ' 0 +0 +0 ' tuned
expect 0 'why        measured' "$mcrun" plan "$spec" m.smtx --n 64 --device sim
expect 0 'verdict    within bounds' spmm m.smtx --n 64 --variants tuned
expect 0 'sddmm_f16.lua' "$mcrun" tune "$root/specs/sddmm_f16.lua" m.smtx --k 64 --device sim --set lhs=tf32 --set rhs=tf32 --set out=f32
sed -n '$p' "$work/stdout" >tuned
check "of tf32, too: $(cat tuned)" grep -qE ' 0 +0 +0 ' tuned
expect 0 'why        measured' "$mcrun" plan "$root/specs/sddmm_f16.lua" m.smtx --k 64 --device sim --set lhs=tf32 --set rhs=tf32 --set out=f32
finish
