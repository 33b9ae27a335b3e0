/* The PTX that makes random operands (helpers.c): normal values, and masks of two of four. */
#ifndef BENCH_HELPERS_FILL_PTX_H
#define BENCH_HELPERS_FILL_PTX_H

#include "helpers_ptx.h"

/* %f = a normal value times SCALE, of two uniform halves of %h (Box and Muller): sqrt(-2 ln u) cos(2 pi
   v), at most 4.71 in magnitude. */
#define NORMAL                                                                                               \
    "    .reg .b32 %u, %v;\n"                                                                                \
    "    .reg .f32 %f, %angle, %scale;\n"                                                                    \
    "    and.b32 %u, %h, 0xffff;\n"                                                                          \
    "    add.u32 %u, %u, 1;\n"                                                                               \
    "    shr.u32 %v, %h, 16;\n"                                                                              \
    "    cvt.rn.f32.u32 %f, %u;\n"                                                                           \
    "    mul.rn.f32 %f, %f, 0f37800000;\n" /* 2^-16 */                                                       \
    "    lg2.approx.f32 %f, %f;\n"                                                                           \
    "    mul.rn.f32 %f, %f, 0fbfb17218;\n" /* -2 ln 2 */                                                     \
    "    sqrt.approx.f32 %f, %f;\n"                                                                          \
    "    cvt.rn.f32.u32 %angle, %v;\n"                                                                       \
    "    mul.rn.f32 %angle, %angle, 0f38c90fdb;\n" /* 2 pi 2^-16 */                                          \
    "    cos.approx.f32 %angle, %angle;\n"                                                                   \
    "    mul.rn.f32 %f, %f, %angle;\n"                                                                       \
    "    ld.param.f32 %scale, [scale];\n"                                                                    \
    "    mul.rn.f32 %f, %f, %scale;\n"

/* A thread an element. BODY stores %f at %at. */
#define FILL_NORMAL(name, bytes, body)                                                                       \
    ".visible .entry " name "(.param .u64 to, .param .u64 elements, .param .u32 seed, .param .f32 scale)\n"  \
    "{\n"                                                                                                    \
    "    .reg .b64 %at;\n"                                                                                   \
    "    .reg .b32 %x, %sign, %odd;\n"                                                                       \
    "    .reg .b16 %narrow;\n" THREAD_INDEX("elements") HASH NORMAL ELEMENT_ADDRESS("%at", "to", bytes) body \
        "    ret;\n"                                                                                         \
        "}\n"

#define PUT_F16                                                                                              \
    "    cvt.rn.f16.f32 %narrow, %f;\n"                                                                      \
    "    st.global.b16 [%at], %narrow;\n"
#define PUT_BF16                                                                                             \
    "    cvt.rn.bf16.f32 %narrow, %f;\n"                                                                     \
    "    st.global.b16 [%at], %narrow;\n"
/* What tf32 holds, cut off. */
#define PUT_TF32                                                                                             \
    "    mov.b32 %x, %f;\n"                                                                                  \
    "    and.b32 %x, %x, 0xffffe000;\n"                                                                      \
    "    st.global.b32 [%at], %x;\n"
#define PUT_F32 "    st.global.f32 [%at], %f;\n"
#define PUT_S8                                                                                               \
    "    cvt.rni.s32.f32 %x, %f;\n"                                                                          \
    "    max.s32 %x, %x, -127;\n"                                                                            \
    "    min.s32 %x, %x, 127;\n"                                                                             \
    "    st.global.b8 [%at], %x;\n"
#define PUT_U8                                                                                               \
    "    abs.f32 %f, %f;\n"                                                                                  \
    "    cvt.rni.s32.f32 %x, %f;\n"                                                                          \
    "    min.s32 %x, %x, 255;\n"                                                                             \
    "    st.global.b8 [%at], %x;\n"

/* The upper bits of an f16, without the lowest DROPPED: to the nearest, ties to even. */
#define PUT_BYTE(dropped, half)                                                                              \
    "    cvt.rn.f16.f32 %narrow, %f;\n"                                                                      \
    "    cvt.u32.u16 %x, %narrow;\n"                                                                         \
    "    shr.u32 %sign, %x, 8;\n"                                                                            \
    "    and.b32 %sign, %sign, 0x80;\n"                                                                      \
    "    and.b32 %x, %x, 0x7fff;\n"                                                                          \
    "    shr.u32 %odd, %x, " dropped ";\n"                                                                   \
    "    and.b32 %odd, %odd, 1;\n"                                                                           \
    "    add.u32 %x, %x, " half ";\n"                                                                        \
    "    add.u32 %x, %x, %odd;\n"                                                                            \
    "    shr.u32 %x, %x, " dropped ";\n"                                                                     \
    "    or.b32 %x, %x, %sign;\n"                                                                            \
    "    st.global.b8 [%at], %x;\n"
#define PUT_E5M2 PUT_BYTE("8", "127")
/* The exponent of an f16 is 8 more than that of an e4m3; both are subnormal where it is 0. */
#define PUT_E4M3 "    mul.rn.f32 %f, %f, 0f3b800000;\n" PUT_BYTE("7", "63")

/* Uniform in [-1, 1), in f32; of FILL. Cut off towards zero, or the greatest would be 1. */
#define UNIFORM_F32                                                                                          \
    "    .reg .f32 %f;\n"                                                                                    \
    "    cvt.rz.f32.s32 %f, %h;\n"                                                                           \
    "    mul.rn.f32 %f, %f, 0f30000000;\n" /* 2^-31 */                                                       \
    "    mov.b32 %h, %f;\n"
/* The same, what tf32 holds. */
#define UNIFORM_TF32                                                                                         \
    "    .reg .f32 %f;\n"                                                                                    \
    "    cvt.rn.f32.s32 %f, %h;\n"                                                                           \
    "    mul.rn.f32 %f, %f, 0f30000000;\n" /* 2^-31 */                                                       \
    "    mov.b32 %h, %f;\n"                                                                                  \
    "    and.b32 %h, %h, 0xffffe000;\n"

/* A thread a group of four neighbours. The nibbles of 0xca6953 are the six ways to keep two of them. */
#define MASK_ELEMENT(bit, place, type)                                                                       \
    "    and.b32 %bit, %h, " bit ";\n"                                                                       \
    "    setp.eq.u32 %drop, %bit, 0;\n"                                                                      \
    "    @%drop st.global." type " [%at+" place "], %zero;\n"
#define MASK24(name, group_bytes, type, second, third, fourth)                                               \
    ".visible .entry " name "(.param .u64 to, .param .u64 groups, .param .u32 seed)\n"                       \
    "{\n"                                                                                                    \
    "    .reg .pred %drop;\n"                                                                                \
    "    .reg .b32 %way, %bit;\n"                                                                            \
    "    .reg .b16 %zero;\n"                                                                                 \
    "    .reg .b64 %at;\n" THREAD_INDEX("groups") HASH ELEMENT_ADDRESS(                                      \
        "%at", "to", group_bytes) "    shr.u32 %way, %h, 16;\n"                                              \
                                  "    mul.lo.u32 %way, %way, 6;\n"                                          \
                                  "    shr.u32 %way, %way, 16;\n"                                            \
                                  "    shl.b32 %way, %way, 2;\n"                                             \
                                  "    mov.b32 %h, 0xca6953;\n"                                              \
                                  "    shr.u32 %h, %h, %way;\n"                                              \
                                  "    mov.b16 %zero, 0;\n" MASK_ELEMENT("1", "0", type)                     \
                                      MASK_ELEMENT("2", second, type) MASK_ELEMENT("4", third, type)         \
                                          MASK_ELEMENT("8", fourth, type) "    ret;\n"                       \
                                                                          "}\n"

#endif
