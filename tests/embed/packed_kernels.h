/* Kernels of every packed format, with every type and kind of digits that it holds. They need not be launched: what they read is what
 * counts. */
#ifndef TESTS_EMBED_PACKED_KERNELS_H
#define TESTS_EMBED_PACKED_KERNELS_H

static const char *const packed_kernels[] = {
    "op=spmm lhs=s8 rhs=s8",
    "op=spmm lhs=u8 rhs=s8 heads=off stride=32",
    "op=spmm lhs=s4 rhs=s8 split=4 stride=64",
    "op=spmm lhs=u4 rhs=s4",
    "op=spmm lhs=s12 rhs=s8",
    "op=spmm lhs=u12 rhs=s8",
    "op=spmm lhs=s16 rhs=s8",
    "op=spmm lhs=u16 rhs=s8 split=2",
    "op=spmm lhs=s16 rhs=s8 digits=balanced",
    "op=spmm lhs=s12 rhs=s8 digits=balanced",
    "op=spmm lhs=s16 rhs=s8 digits=offset",
    "op=spmm lhs=s12 rhs=s8 digits=offset",
    "op=spmm tile_n=64 lhs=f16 rhs=f16 out=f16",
    "op=spmm tile_n=64 lhs=bf16 rhs=bf16 out=f32",
    "op=spmm lhs=tf32 rhs=tf32 out=f32 tile_n=32",
    "op=spmm lhs=e4m3 rhs=e5m2 out=f32",
    "op=spmm tile_n=64 lhs=s8 rhs=f16 out=f32",
    "op=spmm tile_n=64 lhs=s4 rhs=bf16 out=f32",
    "op=spmm staging=tma arch=sm_90 lhs=s8 rhs=s8 window=64 stages=3",
    "op=spmm staging=tma arch=sm_90 lhs=s16 rhs=s8 window=64 stages=2 split=2",
    "op=spmm staging=tma arch=sm_90 lhs=s16 rhs=s8 window=64 stages=2 digits=offset",
    "op=spmm staging=tma arch=sm_90 lhs=s12 rhs=s8 window=64 stages=2 digits=balanced",
    "op=spmm staging=async lhs=u4 rhs=s8 window=64 stages=4",
    "op=spmm staging=tma arch=sm_90 lhs=f16 rhs=f16 out=f16 window=64 stages=2 split=2 tile_n=64",
    "op=spmm staging=tma arch=sm_90 lhs=bf16 rhs=bf16 out=f16 window=64 stages=2 split=1 tile_n=64",
    "op=spmm staging=tma arch=sm_90 lhs=tf32 rhs=tf32 out=f32 window=64 stages=2 tile_n=32",
    "op=spmm staging=tma arch=sm_90 lhs=e4m3 rhs=e4m3 out=f32 window=64 stages=2",
    "op=spmm staging=tma arch=sm_90 lhs=s8 rhs=f16 out=f32 window=64 stages=2 tile_n=64",
};
/* Of 4-bit digits, which V = 16 has not */
static const char *const packed_pairs[] = {
    "op=spmm mma=int4 lhs=s4 rhs=s4",
    "op=spmm mma=int4 lhs=u4 rhs=s4 stride=64",
    "op=spmm mma=int4 lhs=s8 rhs=s4 shuffle=off",
    "op=spmm mma=int4 lhs=s16 rhs=s4 digits=balanced",
    "op=spmm mma=int4 lhs=s12 rhs=s4 digits=offset stride=64",
};
/* Of at most two of four neighbours */
static const char *const packed_grouped[] = {
    "op=gemm24 arch=sm_90a lhs=f16 rhs=f16 tile_n=64",
    "op=gemm24 arch=sm_90a lhs=bf16 rhs=bf16 tile_n=64",
    "op=gemm24 arch=sm_90a lhs=e4m3 rhs=e4m3 tile_n=64",
    "op=gemm24 arch=sm_90a lhs=s8 rhs=s8 out=s32 tile_n=64",
    "op=gemm24 arch=sm_90a lhs=u8 rhs=s8 out=s32 tile_n=64",
};
/* Of 4 bits (4:8) */
#define PAIRS24                                                                                              \
    "op=gemm24 arch=sm_80 method=mma out=s32 tile_m=64 tile_n=64 warp_m=64 warp_n=32 stages=2 store=pairs "
static const char *const packed_grouped_pairs[] = {PAIRS24 "lhs=s4 rhs=s4", PAIRS24 "lhs=u4 rhs=u4"};
/* Masks, whose values are f32 */
static const char *const packed_masks[] = {
    "op=sddmm lhs=s8 rhs=s8 out=f32 scale=tensor mask=values",
    "op=sddmm lhs=f16 rhs=f16 out=f16 mask=values order=srbcrs16 tile_k=64 groups=1",
    "op=sddmm method=window lhs=f16 rhs=f16 out=f16 mask=values order=srbcrs32 window=32 k=64",
    "op=softmax lhs=f16 out=f16 mask=values order=srbcrs32",
    "op=softmax lhs=f16 out=f16 mask=values",
};

#endif
