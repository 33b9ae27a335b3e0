#!/usr/bin/env bash
# The PTX of a few variants (SPEC, and of others beside it) and the reference page of the spec's fields, to the byte. After a wanted change: golden.sh MCGEN SPEC --update, and read the diff.
set -u
export MCGEN_ARCH=sm_80 # whatever GPU is here
mcgen=$1
spec=$2
here=$(cd "$(dirname "$0")" && pwd)/golden
failed=0

golden() {
    local file=$here/$1.ptx
    shift
    if [ "$update" = --update ]; then
        "$mcgen" "$@" "$spec" >"$file" || failed=1
    elif ! "$mcgen" "$@" "$spec" | diff -u "$file" - | head -40 >&2 || [ "${PIPESTATUS[1]}" != 0 ]; then
        echo "failed: $file"
        failed=1
    else
        echo "same: $(basename "$file")"
    fi
}

# The reference page of a family is its --help.
reference() {
    local file=$here/../../../docs/fields-$1.txt
    if [ "$update" = --update ]; then
        "$mcgen" --help "$1" >"$file" || failed=1
    elif ! "$mcgen" --help "$1" | cmp - "$file"; then
        failed=1
    fi
}

update=${3:-}
reference spmm
reference sddmm
reference quantise
reference softmax
reference values
reference softmax_grad
reference optimise
reference spmmt
reference gemm
reference gemm24
reference slide24
reference pattern
reference pack_strided
reference pack_windowed
reference pack_panels
reference pack_csr
reference compress24
golden default
golden fixed --set m=512 --set n=256 --set k=4608 --set ldb=256 --set ldc=256 --set warps=8 --set split=8
golden one_warp --set tile_n=32 --set warps=1 --set split=1 --set prefetch=off --arch sm_90
golden f16_rows --set out=f16 --set scale=row --set tile_n=64 --set split=4
golden bf16_columns --set out=bf16 --set scale=column --set bias=row --set warps=2 --set split=1 --set prefetch=off
golden f32_fixed --set out=f32 --set scale=tensor --set bias=column --set m=64 --set n=100 --set ldb=112 --set ldc=100 --set tile_n=32 --set warps=8 --set split=8
golden relu --set out=bf16 --set scale=row --set bias=column --set act=relu --set tile_n=32 --set warps=2 --set split=2
golden chained --set out=s8 --set scale=row --set bias=row --set act=silu --set b_scale=column --set c_scale=tensor --set zero=tensor --set n=256 --set ldb=256 --set ldc=256
golden gelu --set out=u8 --set scale=column --set act=gelu --set c_scale=tensor --set warps=2 --set split=1 --set n=128 --set ldb=128 --set ldc=128
golden gelu_tanh --set out=bf16 --set scale=row --set bias=column --set act=gelu_tanh --set b_scale=column --set tile_n=32 --set warps=2 --set split=2
golden pairs --set out=s4 --set scale=row --set bias=column --set zero=tensor --set split=2 --set tile_n=64
golden residual --set out=f16 --set scale=row --set act=gelu --set residual=f16 --set split=1
golden residual_shared --set out=s8 --set scale=row --set c_scale=tensor --set residual=f32 --set ldr=256 --set split=4 --set n=252 --set ldb=256 --set ldc=256
golden beta --set out=f16 --set scale=row --set residual=f16 --set beta=tensor --set split=1
golden columns --set c_major=column --set out=f16 --set scale=row --set residual=f16 --set split=1
golden columns_shared --set c_major=column --set out=s8 --set scale=column --set split=4 --set n=250 --set m=512 --set ldc=512
golden paper --set order=paper --set split=1 --set warps=2 --set out=f16 --set scale=column --set bias=row
golden stacked --set lhs=s16 --set vec=2 --set digits=offset --set tile_n=32 --set warps=1 --set split=1 --set n=64 --set ldb=64 --set ldc=64
golden unaligned --set tile_n=64 --set warps=8 --set split=2 --set align=1 --set n=129 --set stride=64
golden exact --set lhs=u16 --set sum=exact --set out=s64 --set tile_n=64 --set warps=4 --set split=4 --set n=256 --set ldb=256 --set ldc=256
golden exact_f32 --set sum=exact --set out=f32 --set scale=row --set k=4608 --set vec=4 --set tile_n=32 --set warps=2 --set split=1

golden given_values --set heads=off --set stride=32 --set batch=on --set overlap=on --set tile_n=64 --set split=2 --arch sm_90

spec=$(dirname "$spec")/spmm_l4r4.lua
golden int4
spec=$(dirname "$spec")/spmm_l16r4.lua
golden int4_digits --set stride=32 --set vec=4 --set rhs=u4 --set shuffle=off --set tile_n=64 --set split=1 --set prefetch=off --arch sm_90 --set mma=int4

spec=$(dirname "$spec")/spmm_l16r8_stacked.lua
golden balanced

spec=$(dirname "$spec")/spmm_l8r8_shared.lua
golden shared
golden shared_paper --set order=paper --set vec=4 --set lhs=s16 --set tile_n=64 --set stride=32 --set split=2
golden shared_late --set tile_n=64 --set split=1 --set prefetch=off --set padding=off --set n=256 --set ldb=256 --set ldc=256

spec=$(dirname "$spec")/spmm_l4r4_shared.lua
golden int4_shared
golden int4_paper --set order=paper --set tile_n=64 --set split=1 --set prefetch=off --set n=256 --set ldb=256 --set ldc=256

spec=$(dirname "$spec")/spmm_l8r8_tiled.lua
golden ring
golden ring_pairs --set out=u4 --set scale=row --set c_scale=tensor --set tile_n=64 --set warps=8 --set stages=3
golden ring_columns --set c_major=column --set out=f16 --set scale=row --set bias=column --set tile_n=64 --set warps=8 --set stages=3
golden ring_residual --set out=f16 --set scale=row --set bias=column --set residual=bf16 --set tile_n=64 --set warps=8 --set stages=3
golden ring_fixed --set resident=off --set out=s32 --set scale=none --set m=512 --set n=256 --set k=1500 --set ldb=256 --set ldc=256 --set tile_n=64 --set warps=8 --set stages=3
spec=$(dirname "$spec")/spmm_l16r16_tiled.lua
golden ring_l16r16
spec=$(dirname "$spec")/spmm_e4m3_tiled.lua
golden ring_e4m3 --set warps=8 --set split=2 --set tile_n=64
spec=$(dirname "$spec")/spmm_tf32_tiled.lua
golden ring_tf32 --set warps=8 --set out=f16 --set scale=row
spec=$(dirname "$spec")/spmm_f16.lua
golden spmm_f16
spec=$(dirname "$spec")/spmm_s8f16.lua
golden spmm_s8f16
golden spmm_u8bf16 --set lhs=u8 --set rhs=bf16 --set vec=16 --set out=f32 --set tile_n=32 --set warps=1 --set split=1 --set prefetch=off --set n=256 --set ldb=256 --set ldc=256
spec=$(dirname "$spec")/spmm_s8f16_tiled.lua
golden ring_s8f16 --set warps=8 --set split=2
spec=$(dirname "$spec")/spmm_e4m3.lua
golden spmm_e4m3_as_f16 --arch sm_80 --set rhs=e5m2 --set tile_n=32 --set warps=1 --set split=1 --set n=256 --set ldb=256 --set ldc=256
spec=$(dirname "$spec")/spmm_bf16.lua
golden spmm_bf16 --set vec=16 --set out=f32 --set scale=row --set tile_n=32 --set warps=2 --set split=2 --set n=256 --set ldb=256 --set ldc=256

spec=$(dirname "$spec")/sddmm_l8r8.lua
golden sddmm
golden sddmm_fixed --set m=512 --set n=512 --set k=256 --set lda=256 --set ldb=256 --set groups=2
golden sddmm_lines --set reads=lines --set groups=2 --set k=320 --set lda=320 --set ldb=320
golden sddmm_values --set out=f16 --set scale=column --set mask=values --set order=srbcrs16 --set vec=4 --set groups=2 --set warps=1 --set tile_k=64 --set prefetch=off --set align=4
golden sddmm_bytes --set out=s8 --set scale=tensor --set order=srbcrs32 --set batch=on --arch sm_90
golden sddmm_tall --set vec=16 --set groups=2 --set order=srbcrs16 --set out=f16 --set scale=row --set mask=values --set tile_k=64 --set k=128 --set lda=128 --set ldb=128
golden sddmm_single --set vec=1 --set groups=1 --set out=bf16 --set scale=row --set tile_k=64
golden sddmm_rows --set layout=rows --set rhs=u4 --set groups=1 --set k=70 --set lda=80 --set tile_k=64
spec=$(dirname "$spec")/sddmm_l16r16.lua
golden sddmm_l16r16 --set vec=2 --set groups=1 --set k=200 --set lda=200 --set ldb=208 --set tile_k=64 --set out=f32 --set scale=row
spec=$(dirname "$spec")/sddmm_l4r4.lua
golden sddmm_l4r4 --set lhs=u4 --set groups=2 --set k=193 --set lda=224 --set ldb=224 --set window=256 --arch sm_90 --set overlap=on
spec=$(dirname "$spec")/sddmm_l8r4.lua
golden sddmm_l16r4 --set lhs=s16 --set groups=1 --set tile_k=128 --set k=300000 --set lda=300000 --set ldb=300032
spec=$(dirname "$spec")/sddmm_f16.lua
golden sddmm_f16
golden sddmm_bf16 --set lhs=bf16 --set rhs=bf16 --set out=f32 --set scale=row --set mask=values --set vec=4 --set order=srbcrs16 --set k=200 --set lda=208 --set ldb=208 --set reads=lines --set lhs_in=shared
golden sddmm_e4m3_as_f16 --arch sm_80 --set lhs=e4m3 --set rhs=e5m2 --set k=64 --set groups=1 --set tile_k=64
spec=$(dirname "$spec")/sddmm_l8r8_window.lua
golden sddmm_window
golden sddmm_window_strides --set lhs=s16 --set rhs=s4 --set vec=4 --set order=srbcrs32 --set out=f32 --set scale=column --set mask=values --set k=384 --set tile_k=512 --set lda=400 --set window=600 --set warps=20 --set groups=2 --set prefetch=off --arch sm_90 --set overlap=on
spec=$(dirname "$spec")/sddmm_l8r8_dense.lua
golden sddmm_dense
golden sddmm_dense_strides --set lhs=s16 --set rhs=u4 --set vec=2 --set order=srbcrs32 --set out=f16 --set scale=row --set m=62 --set n=130 --set lda=256 --set ldb=256 --set warps=8 --set tile_n=32 --arch sm_90 --set overlap=on

spec=$(dirname "$spec")/quantise_s8.lua
golden quantise --set tile=8 --set warps=4 --set hold=1 --set keep=1
golden quantise_cluster --set tile=8 --set warps=4 --set hold=1 --set keep=1 --set cluster=4 --arch sm_90
spec=$(dirname "$spec")/quantise_s8_given.lua
golden quantise_given --set lhs=f32 --set out=u4 --set zero=row --set m=96 --set n=70 --set batch=on --arch sm_90
golden quantise_moved --set lhs=s8 --set scale=none --set arch=sm_90
golden quantise_halves --set lhs=s4 --set out=s4 --set scale=none --set arch=sm_90 --set tile=128 --set m=256 --set n=1024
spec=$(dirname "$spec")/quantise_s8_tensor.lua
golden quantise_tensor --set zero=tensor --set batch=on --arch sm_90
spec=$(dirname "$spec")/softmax_f16.lua
golden softmax --set hold=1
golden softmax_approx --set exp=approx --set hold=1 --set lse=row --set arch=sm_90
golden softmax_strides --set order=srbcrs16 --set lhs=s32 --set out=s16 --set c_scale=tensor --set mask=values --set lse=row --set vec=4 --set warps=2 --set hold=1 --set batch=on
golden softmax_once --set exp=approx --set exchange=once --set hold=1 --set arch=sm_90
golden softmax_pairs --set order=srbcrs32 --set lhs=s32 --set out=u4 --set vec=1 --set warps=1 --set hold=1
spec=$(dirname "$spec")/values_f16.lua
golden values --set hold=1
golden values_offset --set lhs=s16 --set unit=byte --set digits=offset --set vec=4 --set from=rows --set hold=1 --arch sm_90
golden values_halves --set lhs=s4 --set unit=half --set from=columns --set hold=1 --arch sm_90
spec=$(dirname "$spec")/softmax_grad_f16.lua
golden softmax_grad --set hold=1
golden softmax_grad_strides --set order=srbcrs16 --set lhs=f32 --set rhs=bf16 --set out=f32 --set vec=4 --set warps=2 --set hold=1 --set batch=on
spec=$(dirname "$spec")/optimise_sgd.lua
golden optimise_sgd --set rule=nesterov --set lhs=f32 --set out=bf16 --set align=4 --set hold=1
spec=$(dirname "$spec")/optimise_adam.lua
golden optimise_adam --set m=4096 --set n=8 --set unit=8 --set hold=1 --set arch=sm_90
spec=$(dirname "$spec")/spmmt_f16.lua
golden spmmt --set ahead=2
golden spmmt_tall --set ahead=2 --set slots=16 --set warp_n=32 --set vec=16 --set lhs=bf16 --set rhs=bf16 --set out=f32 --set m=512 --set n=100 --set k=300 --set ldb=104 --set ldc=100 --arch sm_90
golden spmmt_flat --set ahead=2 --set vec=2
spec=$(dirname "$spec")/pattern_find.lua
golden pattern_find --set vec=2 --set hold=1
golden pattern_find_ranged --set element=b16 --set range=some --set major=column --set vec=2 --set hold=2 --arch sm_90
golden pattern_list --set step=list
golden pattern_columns --set step=columns --set hold=1
golden pattern_places --set step=places
spec=$(dirname "$spec")/pack_strided.lua
golden pack_strided --set hold=1
golden pack_strided_halves --set ones=halves --set group=64 --set index=shuffled --set hold=1 --arch sm_90
spec=$(dirname "$spec")/pack_windowed.lua
golden pack_windowed_choose
golden pack_windowed_place --set task=place --set ones=on
golden pack_windowed_words --set task=place --set padding=words --set tile=128 --arch sm_90
spec=$(dirname "$spec")/pack_panels.lua
golden pack_panels_rank
golden pack_panels_deal --set step=deal --set panel=16 --arch sm_90
golden pack_panels_nonzeros --set step=write --set values=nonzeros
spec=$(dirname "$spec")/pack_csr.lua
golden pack_csr_deal
golden pack_csr_count --set step=count --set segmented=true --arch sm_90
golden pack_csr_copy --set step=copy
spec=$(dirname "$spec")/compress24.lua
golden compress24
golden compress24_pattern --set source=pattern
golden compress24_bytes --set element=s8 --set mode=prune --set layout=cutlass-sm80 --arch sm_90
golden compress24_pairs --set element=s4 --set mode=prune
golden compress24_pairs_pattern --set element=u4 --set source=pattern
spec=$(dirname "$spec")/slide24.lua
golden slide24 --set hold=2
golden slide24_bytes --set lhs=e4m3 --set out=e4m3 --set pattern=62:64 --set align=1 --set batch=on --set hold=1 --arch sm_90
exit $failed
