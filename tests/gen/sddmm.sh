#!/usr/bin/env bash
# The family sddmm on mcgen's command line: what is refused and why, which code shapes save, what the contract says. sddmm.sh MCGEN SPECS
set -u
mcgen=$1
specs=$2
. "$(dirname "$0")/../expect.sh"
spec=$specs/sddmm_l8r8.lua
cd "$work" || exit 1

# set_fields FIELD=VALUE... [-- ARGUMENTS...]: mcgen with these settings, whatever the spec's defaults are
set_fields() {
    local settings=(--set groups=4 --set warps=4 --set reads=chunks)
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        settings+=(--set "$1")
        shift
    done
    "$mcgen" "${settings[@]}" "${@:2}" "$spec"
}
# fact NAME FIELD=VALUE...: a number of --describe
fact() { set_fields "${@:2}" -- --describe | awk -v name="$1" '$1 == name { print $2 }'; }

# -- Refused -----------------------------------------------------------------------------------------------------------
expect 2 "m: 12 is not a multiple of vec = 8" set_fields m=12
expect 2 "lda: 99 is less than a row, 100" set_fields k=100 lda=99
expect 2 "ldb: 99 is less than a row, 100" set_fields k=100 ldb=99
expect 2 "ldb: 49 is less than a row, 50" set_fields layout=rows n=50 ldb=49
expect 0 "" set_fields layout=rows n=50 k=100 ldb=50
expect 2 'lda: "s4" wants an even number, not 101' set_fields lhs=s4 lda=101
expect 2 'ldb: "u4" wants an even number, not 101' set_fields rhs=u4 ldb=101
expect 2 "ldb: 1073741824: a row has 2^31 bytes or more" set_fields rhs=s16 tile_k=128 ldb=1073741824
expect 2 'out: "s64" is not one of "s32", "f16", "bf16", "f32"' set_fields out=s64
expect 2 'scale: out = "f16" wants one: "tensor", "row" or "column"' set_fields out=f16
expect 2 'mask: out = "s32" is the sums as they are: mask values go with all others' set_fields mask=values
expect 2 'tile_k: rhs = "s16" takes multiples of 32 up to 256' set_fields rhs=s16 tile_k=512
expect 2 'tile_k: rhs = "s4" takes multiples of 128 up to 512' set_fields rhs=s4 tile_k=64
expect 2 'tile_k: rhs = "s8" by rows takes multiples of 32 up to 128' set_fields layout=rows tile_k=256
expect 2 "tile_k: 256 with 8 groups leaves no registers: a smaller one, or fewer groups" \
    set_fields lhs=s16 rhs=s16 tile_k=256 groups=8 prefetch=on
expect 2 "prefetch: with one group there is nothing to load ahead: leave it out" set_fields groups=1 prefetch=off
expect 2 "overlap: sm_80 has no programmatic dependent launch" set_fields overlap=on
expect 0 "May start before the kernel before it has finished" set_fields overlap=on -- --arch sm_90

# -- Method window -----------------------------------------------------------------------------------------------------
window() { set_fields method=window window=256 k=256 "$@"; }
expect 0 "grid (ceil(n / 256), ceil(window_items / 4), 1), block (128, 1, 1)" window
expect 0 "ldb must be a multiple of 16" window
expect 0 "Where k <= 256, grid y may be smaller" window
expect 0 "lda must be a multiple of 8" window lhs=s16
expect 0 '"turn_axis": 1' window -- --describe --json
expect 2 'k: method = "window" wants it fixed' window k=open
expect 2 'k: method = "window" wants a multiple of 64: 64 bytes of "s8"' window k=96
expect 2 'k: method = "window" wants a multiple of 128: 64 bytes of "s4"' window rhs=s4 k=192
expect 2 'tile_k: method = "window" takes all of k at once: not less than 320' window k=320
expect 2 'lda: method = "window" wants a multiple of 16' window lda=264
expect 2 'ldb: method = "window" wants a multiple of 16' window ldb=264
expect 0 '' window lhs=s16 lda=264
expect 2 'align: method = "window" wants 16' window align=4
expect 2 'window: method = "window" wants a number of columns, 1 to 65536' window window=open
expect 2 'window: method = "window" wants a number of columns, 1 to 65536' window window=65537
expect 2 'window: 768 columns take 196608 bytes of shared memory, sm_80 has 166912' window window=768
expect 0 '196608 bytes dynamic' window window=768 -- --arch sm_90
expect 2 'groups: method = "window" takes up to 4 of integers' window groups=8
expect 2 'layout: method = "window" wants "columns"' window layout=rows
expect 2 'reads: method = "window" has none: leave it out' window reads=lines
expect 2 'lhs_in: method = "window" has none: leave it out' window lhs_in=shared
expect 2 'prefetch_lhs: method = "window" has none: leave it out' window prefetch_lhs=on
expect 2 'warps: method = "gather" takes up to 8' set_fields warps=16

# -- Method dense ------------------------------------------------------------------------------------------------------
dense() { set_fields method=dense k=256 "$@"; }
expect 0 "grid (ceil(n / 64), ceil(m / 64), 1), block (128, 1, 1)" dense
expect 0 "grid (ceil(n / 128), ceil(m / 32), 1), block (256, 1, 1)" dense tile_n=128 tile_rows=32 warps=8
expect 0 "lda must be a multiple of 16" dense rhs=s16
expect 0 "lda must be a multiple of 8" dense lhs=s16
expect 0 "ldb must be a multiple of 32" dense rhs=s4
expect 0 "32768 bytes dynamic" dense
expect 2 'k: method = "dense" wants a multiple of 64: 64 bytes of "s8"' dense k=open
expect 2 'k: method = "dense" wants a multiple of 128: 64 bytes of "u4"' dense k=192 rhs=u4
expect 2 'lda: method = "dense" wants a multiple of 16, 16 bytes, not 264' dense lda=264
expect 2 'ldb: method = "dense" wants a multiple of 8, 16 bytes, not 260' dense rhs=s16 ldb=260
expect 2 'align: method = "dense" wants 16' dense align=4
expect 2 'layout: method = "dense" takes "columns"' dense layout=rows
expect 2 'mask: method = "dense" multiplies by no mask values: "pattern"' dense out=f16 scale=row mask=values
expect 2 'warps: method = "dense" takes 1, 2, 4 or 8' dense warps=16
expect 2 'warps: a tile of 128 rows and 128 columns leaves 2 warps no registers' dense warps=2 tile_n=128 tile_rows=128
expect 2 'tile_n: tiles of 64 rows and 64 columns of k = 1344 take 172032 bytes of shared memory, a thread block of sm_80 has 166912: smaller ones' dense k=1344
expect 0 '172032 bytes dynamic' dense k=1344 -- --arch sm_90
expect 2 'groups: method = "dense" has none: leave it out' dense groups=2
expect 2 'reads: method = "dense" has none: leave it out' dense reads=lines
expect 2 'tile_rows: method = "gather" has none: leave it out' set_fields tile_rows=32
expect 2 'tile_n: method = "window" has none: leave it out' window tile_n=32

# -- Shapes ------------------------------------------------------------------------------------------------------------
set_fields k=256 lda=256 ldb=256 >fixed.ptx
check "a fixed shape is still a parameter" test "$(grep -c '\.param \.s32' fixed.ptx)" = 1
check "whole units leave work for the edge path" test "$(grep -c 'edge_\|EDGE\|PANELS' fixed.ptx)" = 0
set_fields k=257 lda=272 ldb=272 >tail.ptx
check "a tested alignment that the shapes settle" test "$(grep -c 'bra.uni *EDGE' tail.ptx)" = 0
check "k's end needs the edge path" grep -q 'bra.uni *edge_ROUNDS' tail.ptx
set_fields k=600 lda=608 ldb=608 tile_k=256 >panels.ptx
check "panels come in a loop" grep -q 'bra.uni *PANELS' panels.ptx
set_fields k=256 lda=250 ldb=256 2>/dev/null >bad.ptx
check "lda below k" test ! -s bad.ptx
check "rows that are never aligned have a wide path" test "$(fact wide_path ldb=257)" = 0
check "k of less than a unit has a wide path" test "$(fact wide_path k=15)" = 0
check "open shapes have both" test "$(fact wide_path)$(fact edge_path)" = 11
check "an unaligned B is not tested for" grep -q 'b_low, 15' <(set_fields align=1)

# -- What is multiplied ------------------------------------------------------------------------------------------------
check "s8 x s8" test "$(fact group_mma tile_k=256)" = 8
check "s16 x s16: four digit pairs" test "$(fact group_mma tile_k=256 lhs=s16 rhs=s16 groups=1)" = 32
check "s16 x s4: two digits, two parities" test "$(fact group_mma tile_k=256 lhs=s16 rhs=s4)" = 16
check "a 4-bit B is not half the bytes" test "$(fact group_b_bytes tile_k=256 rhs=s4)" = 2048
expect 0 "k must be at most 65793" set_fields lhs=s16 rhs=s4 -- --describe
check "a fixed k is limited" test "$(set_fields lhs=s16 rhs=s4 k=65794 -- --describe | grep -c 'k must')" = 0
check "values by 16 where k allows it" grep -q 'shr.s32 *%acc0, %acc0, 4' <(set_fields lhs=s16 rhs=s4 k=65793)
check "and beyond" test "$(set_fields lhs=s16 rhs=s4 k=65794 | grep -c 'shr.s32')" = 0

# -- Floats ------------------------------------------------------------------------------------------------------------
floats() { set_fields lhs=f16 rhs=f16 out=f16 tile_k=128 groups=2 "$@"; }
expect 0 "C = A[m,k] B[k,n] where a mask of vec x 1 nonzero vectors is: A row-major, B by columns; floats, sums in f32." floats
expect 0 "A: f16[m][lda], row-major" floats
expect 0 "B: bf16[k][ldb], row-major" floats lhs=bf16 rhs=bf16 layout=rows
expect 0 "C: f16[vectors][vec]; C = f16(sum)" floats
expect 0 "C: bf16[strides][vec][16]; C = bf16(sum * mask value)" floats out=bf16 mask=values order=srbcrs16
expect 0 "C: f32[vectors][vec]; C = f32((sum * scale) * mask value)" floats out=f32 mask=values scale=row
expect 0 "C: s8[vectors][vec]; C = s8(sum * scale)" floats out=s8 scale=tensor
expect 0 "m16n8k16 instructions, a group and panel" floats -- --describe
check "floats have no bound of sums" test "$(floats -- --describe | grep -c 'Sums of')" = 0
check "f16 x f16: an mma for 16 k" test "$(fact group_mma tile_k=128 groups=2 lhs=f16 rhs=f16 out=f16)" = 8
check "sums are added as floats" test "$(floats k=256 lda=256 ldb=256 tile_k=256 | grep -c 'add.rn.f32')" = 24
expect 2 'rhs: lhs = "f16" takes rhs = "f16", not "bf16"' floats rhs=bf16
expect 2 'rhs: lhs = "f16" takes rhs = "f16", not "s8"' floats rhs=s8
expect 2 'rhs: lhs = "tf32" takes rhs = "tf32", not "f16"' floats lhs=tf32
expect 2 'rhs: lhs = "e5m2" takes rhs = "e4m3" or "e5m2", not "f16"' floats lhs=e5m2 arch=sm_89
expect 2 'rhs: lhs = "s8" takes an integer, too, not "f16"' floats lhs=s8 scale=row
expect 2 'out: "s32" holds sums of integers' floats out=s32
expect 2 'scale: out = "s8" wants one: "tensor", "row" or "column"' floats out=s8
expect 2 'precision_split: lhs = "f16": its values are no digits; leave it out' floats precision_split=8+8
expect 2 'tile_k: rhs = "f16" takes multiples of 32 up to 256' floats tile_k=512
expect 2 'tile_k: rhs = "tf32" takes multiples of 16 up to 128' floats lhs=tf32 rhs=tf32 tile_k=256
expect 2 'tile_k: rhs = "tf32" by rows takes multiples of 16 up to 64' floats lhs=tf32 rhs=tf32 layout=rows
expect 2 'tile_k: rhs = "e4m3" takes multiples of 64 up to 512' floats lhs=e4m3 rhs=e4m3 arch=sm_89 tile_k=32

single() { floats lhs=tf32 rhs=tf32 out=f32 tile_k=64 "$@"; }
expect 0 "A: tf32[m][lda], row-major" single
expect 0 "m16n8k8 instructions, a group and panel" single -- --describe
check "tf32 x tf32: an mma for 8 k" test "$(fact group_mma tile_k=64 groups=2 lhs=tf32 rhs=tf32 out=f32)" = 8
check "both sides are rounded" grep -q 'cvt.rna.tf32.f32 *%edge_a_operand0' <(single)
check "B's for each mma" grep -q 'cvt.rna.tf32.f32 *%rounded0' <(single)
eight() { floats arch=sm_89 lhs=e4m3 rhs=e5m2 out=f32 "$@"; }
expect 0 "B: e5m2[n][ldb], columns of B" eight
expect 0 "m16n8k32 instructions, a group and panel" eight -- --describe
check "the mma's operand A are values of B" grep -q 'mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32' <(eight)
expect 2 'rhs: lhs = "e4m3" takes rhs = "e4m3" or "e5m2", not "f16"' eight arch=sm_90 rhs=f16
for arch in sm_80 sm_86 sm_90 sm_100; do
    expect 0 "m16n8k16 instructions, a group and panel" eight arch=$arch -- --describe
    check "$arch: both sides become f16" test "$(eight arch=$arch | grep -cE '// values of [AB] become f16')" -ge 2
    check "$arch: there is no mma of 8 bits" test "$(eight arch=$arch | grep -c 'mma.sync.*e5m2')" = 0
done
expect 0 "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32" eight arch=sm_120
expect 2 'tile_k: 512 with 2 groups leaves no registers' eight arch=sm_90 tile_k=512 k=512 prefetch=on reads=lines
expect 0 'tile_k=512' eight tile_k=512 k=512 prefetch=on reads=lines

float_window() { floats method=window window=128 k=256 tile_k=256 groups=4 "$@"; }
expect 2 'warps: 32 leave 64 registers a thread, k = 256 wants more: fewer warps, a smaller k, or prefetch = "off"' float_window warps=32
expect 2 'warps: 24 leave 80 registers a thread' float_window warps=24
expect 0 'method=window' float_window warps=16
expect 0 'w16_k256_c128_i2' float_window warps=16 interleave=2 prefetch=off
expect 2 'interleave: 2 groups at once want prefetch = "off"' float_window interleave=2 prefetch=on
expect 2 'interleave: 2 groups at once want groups to be as many or more' float_window groups=1 interleave=2 prefetch=off
expect 2 'interleave: 2 groups at once want floats of 16 bits, or of 8 with an mma of their own, not "tf32"' float_window lhs=tf32 rhs=tf32 out=f32 tile_k=128 k=128 interleave=2 prefetch=off
expect 2 'not "e4m3"' float_window arch=sm_90 lhs=e4m3 rhs=e4m3 interleave=2 prefetch=off
expect 0 'interleave=2' float_window arch=sm_89 lhs=e4m3 rhs=e4m3 interleave=2 prefetch=off
expect 0 'b_map    b8' float_window arch=sm_90 staging=tma
expect 0 'one thread asks for 128 bytes of them at a time' float_window arch=sm_90 staging=tma interleave=2 prefetch=off
expect 2 'staging: sm_80 has no tensor memory accelerator' float_window arch=sm_80 staging=tma
expect 2 'staging: "tma" takes no batches: "async" does' float_window arch=sm_90 staging=tma batch=on
expect 0 '_tma' float_window arch=sm_90 staging=tma k=96 interleave=1
expect 2 'window: staging = "tma" wants a multiple of 8 columns, not 250' float_window arch=sm_90 staging=tma window=250
expect 0 'sddmm_f16' float_window arch=sm_90 staging=tma window=384
expect 2 'staging: method = "gather" has none' floats staging=tma
expect 2 'not "s8"' set_fields method=window window=128 k=256 tile_k=256 groups=4 interleave=2 prefetch=off
expect 0 'method=window' float_window warps=24 k=128 prefetch=off

# -- Contract ----------------------------------------------------------------------------------------------------------
expect 0 "grid (ceil(item_count / 4), 1, 1), block (128, 1, 1)" set_fields
expect 0 "B: u4[k][ldb], row-major, the even column in a byte's low half" set_fields rhs=u4 layout=rows tile_k=128
expect 0 "A: s4[m][lda], row-major, the even k in a byte's low half" set_fields lhs=s4
expect 0 "lda must be a multiple of 2" set_fields lhs=s4
expect 0 "ldb must be at most 1073741823" set_fields rhs=s16 tile_k=128
expect 0 "C: bf16[strides][vec][32]; C = bf16((f32(sum) * scale) * mask value)" set_fields out=bf16 scale=row mask=values order=srbcrs32
expect 0 "exact in s32 up to 131071 products; modulo 2^32 beyond" set_fields -- --describe
expect 0 "in one window of 512 columns" set_fields window=512
check "mask values are no array" grep -q '^//   mask_values f32\[' <(set_fields out=f16 scale=row mask=values)
for file in "$specs"/sddmm_*.lua; do
    check "$(basename "$file"): hashes repeat" test -z "$("$mcgen" --list-variants "$file" | cut -d' ' -f2 | sort | uniq -d)"
done
finish
