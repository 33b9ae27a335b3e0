/* The PTX of the plain product (helpers.c): a thread block of 256 makes a tile of 64 x 64 of C, a thread
   4 x 4 elements of it, each with one multiplication and addition a k, in the order of k. 16 k of both
   tiles pass through shared memory at a time, as f32 or s32. Registers are without a type: of integers
   and floats alike. */
#ifndef BENCH_HELPERS_PRODUCT_PTX_H
#define BENCH_HELPERS_PRODUCT_PTX_H

#include "helpers_ptx.h"

#define FOUR(X)                   X(0) X(1) X(2) X(3)
#define LOAD_OWN_S8(reg, address) "    ld.global.s8 " reg ", [" address "];\n"
#define LOAD_OWN_U8(reg, address) "    ld.global.u8 " reg ", [" address "];\n"

/* The k of a step lie 68 words apart in shared memory: fewer of a warp's stores meet in a bank. */
#define PRODUCT_PITCH      "272"
#define PRODUCT_TILE_BYTES "4352"

/* %a0 to %a3, %b0 to %b3: where the lines begin that this thread copies, 16 apart; a line behind the last one
   is the last one. */
#define PRODUCT_LINE(line, count, from, pitch, to)                                                           \
    "    min.u32 %clamped, " line ", " count ";\n"                                                           \
    "    cvt.u64.u32 %wide, %clamped;\n"                                                                     \
    "    mad.lo.u64 " to ", %wide, " pitch ", " from ";\n"                                                   \
    "    add.u32 " line ", " line ", 16;\n"
#define PRODUCT_LINE_A(i) PRODUCT_LINE("%row", "%last_m", "%a", "%lda", "%a" #i)
#define PRODUCT_LINE_B(i) PRODUCT_LINE("%col", "%last_n", "%b", "%bn", "%b" #i)

/* Elements behind the last k are 0. */
#define PRODUCT_COPY(from, offset, load, put, place)                                                         \
    "    add.u64 %at, " from ", " offset ";\n" load("%x", "%at") "    @%behind mov.b32 %x, 0;\n"             \
                                                                 "    st.shared.b32 [" put "+" place         \
                                                                 "], %x;\n"

#define PRODUCT_FMA(fma, i, j) "    " fma " %s" #i "_" #j ", %x" #i ", %y" #j ", %s" #i "_" #j ";\n"
#define PRODUCT_FMA_ROW(fma, i)                                                                              \
    PRODUCT_FMA(fma, i, 0) PRODUCT_FMA(fma, i, 1) PRODUCT_FMA(fma, i, 2) PRODUCT_FMA(fma, i, 3)
#define PRODUCT_STEP(fma)                                                                                    \
    "    ld.shared.v4.b32 {%x0, %x1, %x2, %x3}, [%from_a];\n"                                                \
    "    ld.shared.v4.b32 {%y0, %y1, %y2, %y3}, [%from_b];\n"                                                \
    "    add.u32 %from_a, %from_a, " PRODUCT_PITCH ";\n"                                                     \
    "    add.u32 %from_b, %from_b, " PRODUCT_PITCH ";\n" PRODUCT_FMA_ROW(fma, 0) PRODUCT_FMA_ROW(fma, 1)     \
        PRODUCT_FMA_ROW(fma, 2) PRODUCT_FMA_ROW(fma, 3)
#define PRODUCT_FOUR_STEPS(fma) PRODUCT_STEP(fma) PRODUCT_STEP(fma) PRODUCT_STEP(fma) PRODUCT_STEP(fma)

#define PRODUCT_CLEAR(i)                                                                                     \
    "    mov.b32 %s" #i "_0, 0;\n"                                                                           \
    "    mov.b32 %s" #i "_1, 0;\n"                                                                           \
    "    mov.b32 %s" #i "_2, 0;\n"                                                                           \
    "    mov.b32 %s" #i "_3, 0;\n"

#define PRODUCT_STORE(i, j, place)                                                                           \
    "    add.u32 %clamped, %col, " #j ";\n"                                                                  \
    "    setp.lt.and.u32 %inside, %clamped, %n, %in_m;\n"                                                    \
    "    @%inside st.global.b32 [%c+" place "], %s" #i "_" #j ";\n"
#define PRODUCT_STORE_ROW(i)                                                                                 \
    "    setp.lt.u32 %in_m, %row, %m;\n" PRODUCT_STORE(i, 0, "0") PRODUCT_STORE(i, 1, "4")                   \
        PRODUCT_STORE(i, 2, "8") PRODUCT_STORE(i, 3, "12") "    add.u32 %row, %row, 1;\n"                    \
                                                           "    add.u64 %c, %c, %n_bytes;\n"

#define PRODUCT_REGISTERS                                                                                    \
    "    .shared .align 16 .b8 tile_a[" PRODUCT_TILE_BYTES "];\n"                                            \
    "    .shared .align 16 .b8 tile_b[" PRODUCT_TILE_BYTES "];\n"                                            \
    "    .reg .pred %behind, %more, %in_m, %inside;\n"                                                       \
    "    .reg .b32 %thread, %across, %down, %row, %col, %m, %n, %k, %last_m, %last_n, %last_k, %clamped;\n"  \
    "    .reg .b32 %done, %own, %put_a, %put_b, %get_a, %get_b, %from_a, %from_b, %x, %x<4>, %y<4>;\n"       \
    "    .reg .b32 %s0_<4>, %s1_<4>, %s2_<4>, %s3_<4>;\n"                                                    \
    "    .reg .b64 %a, %b, %c, %lda, %bk, %bn, %wide, %at, %offset_a, %offset_b, %n_bytes, %a<4>, %b<4>;\n"

/* %across is this thread's place along k, %down its first line; both again along n and m for the sums. */
#define PRODUCT_BEGIN(bytes_a, bytes_b)                                                                      \
    "    mov.u32 %thread, %tid.x;\n"                                                                         \
    "    and.b32 %across, %thread, 15;\n"                                                                    \
    "    shr.u32 %down, %thread, 4;\n"                                                                       \
    "    ld.param.u32 %m, [m];\n"                                                                            \
    "    ld.param.u32 %n, [n];\n"                                                                            \
    "    ld.param.u32 %k, [k];\n"                                                                            \
    "    sub.u32 %last_m, %m, 1;\n"                                                                          \
    "    sub.u32 %last_n, %n, 1;\n"                                                                          \
    "    sub.u32 %last_k, %k, 1;\n"                                                                          \
    "    ld.param.u64 %a, [a];\n"                                                                            \
    "    ld.param.u64 %b, [b];\n"                                                                            \
    "    ld.param.u64 %lda, [lda];\n"                                                                        \
    "    mul.lo.u64 %lda, %lda, " bytes_a ";\n"                                                              \
    "    ld.param.u64 %bn, [b_n];\n"                                                                         \
    "    mul.lo.u64 %bn, %bn, " bytes_b ";\n"                                                                \
    "    ld.param.u64 %bk, [b_k];\n"                                                                         \
    "    mul.lo.u64 %bk, %bk, " bytes_b ";\n"                                                                \
    "    mov.u32 %row, %ctaid.x;\n"                                                                          \
    "    mad.lo.u32 %row, %row, 64, %down;\n"                                                                \
    "    mov.u32 %col, %ctaid.y;\n"                                                                          \
    "    mad.lo.u32 %col, %col, 64, %down;\n" FOUR(PRODUCT_LINE_A)                                           \
        FOUR(PRODUCT_LINE_B) "    mov.u32 %put_a, tile_a;\n"                                                 \
                             "    mov.u32 %put_b, tile_b;\n"                                                 \
                             "    mad.lo.u32 %get_a, %down, 16, %put_a;\n"                                   \
                             "    mad.lo.u32 %get_b, %across, 16, %put_b;\n"                                 \
                             "    mad.lo.u32 %put_a, %across, " PRODUCT_PITCH ", %put_a;\n"                  \
                             "    mad.lo.u32 %put_a, %down, 4, %put_a;\n"                                    \
                             "    mad.lo.u32 %put_b, %across, " PRODUCT_PITCH ", %put_b;\n"                  \
                             "    mad.lo.u32 %put_b, %down, 4, %put_b;\n"                                    \
                             "    mov.b32 %done, 0;\n" FOUR(PRODUCT_CLEAR)

#define PRODUCT_COPY_ALL(bytes_a, load_a, load_b)                                                            \
    "    add.u32 %own, %done, %across;\n"                                                                    \
    "    setp.ge.u32 %behind, %own, %k;\n"                                                                   \
    "    min.u32 %own, %own, %last_k;\n"                                                                     \
    "    mul.wide.u32 %offset_a, %own, " bytes_a ";\n"                                                       \
    "    cvt.u64.u32 %offset_b, %own;\n"                                                                     \
    "    mul.lo.u64 %offset_b, %offset_b, %bk;\n" PRODUCT_COPY("%a0", "%offset_a", load_a, "%put_a", "0")    \
        PRODUCT_COPY("%a1", "%offset_a", load_a, "%put_a", "64")                                             \
            PRODUCT_COPY("%a2", "%offset_a", load_a, "%put_a", "128")                                        \
                PRODUCT_COPY("%a3", "%offset_a", load_a, "%put_a", "192")                                    \
                    PRODUCT_COPY("%b0", "%offset_b", load_b, "%put_b", "0")                                  \
                        PRODUCT_COPY("%b1", "%offset_b", load_b, "%put_b", "64")                             \
                            PRODUCT_COPY("%b2", "%offset_b", load_b, "%put_b", "128")                        \
                                PRODUCT_COPY("%b3", "%offset_b", load_b, "%put_b", "192")

#define PRODUCT_END                                                                                          \
    "    mov.u32 %row, %ctaid.x;\n"                                                                          \
    "    mul.lo.u32 %row, %row, 64;\n"                                                                       \
    "    mad.lo.u32 %row, %down, 4, %row;\n"                                                                 \
    "    mov.u32 %col, %ctaid.y;\n"                                                                          \
    "    mul.lo.u32 %col, %col, 64;\n"                                                                       \
    "    mad.lo.u32 %col, %across, 4, %col;\n"                                                               \
    "    ld.param.u64 %c, [c];\n"                                                                            \
    "    mul.wide.u32 %wide, %row, %n;\n"                                                                    \
    "    mad.lo.u64 %c, %wide, 4, %c;\n"                                                                     \
    "    mad.wide.u32 %c, %col, 4, %c;\n"                                                                    \
    "    mul.wide.u32 %n_bytes, %n, 4;\n" FOUR(PRODUCT_STORE_ROW) "    ret;\n"                               \
                                                                  "}\n"

/* LOAD_A and LOAD_B make the numbers that FMA multiplies of elements of BYTES_A and BYTES_B. */
#define REFERENCE(name, fma, bytes_a, load_a, bytes_b, load_b)                                               \
    ".visible .entry " name "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 m, .param .u32 n,\n"  \
    "                         .param .u32 k, .param .u64 lda, .param .u64 b_k, .param .u64 b_n)\n"           \
    "{\n" PRODUCT_REGISTERS LOAD_REGISTERS                                                                   \
    PRODUCT_BEGIN(bytes_a,                                                                                   \
                  bytes_b) "next:\n"                                                                         \
                           "    bar.sync 0;\n" PRODUCT_COPY_ALL(                                             \
                               bytes_a, load_a,                                                              \
                               load_b) "    bar.sync 0;\n"                                                   \
                                       "    mov.b32 %from_a, %get_a;\n"                                      \
                                       "    mov.b32 %from_b, %get_b;\n" PRODUCT_FOUR_STEPS(fma)              \
                                           PRODUCT_FOUR_STEPS(fma) PRODUCT_FOUR_STEPS(fma)                   \
                                               PRODUCT_FOUR_STEPS(fma) "    add.u32 %done, %done, 16;\n"     \
                                                                       "    setp.lt.u32 %more, %done, %k;\n" \
                                                                       "    @%more bra next;\n" PRODUCT_END

#define REFERENCE_REALS(name, bytes_a, load_a, bytes_b, load_b)                                              \
    REFERENCE(name, "fma.rn.f32", bytes_a, load_a, bytes_b, load_b)
#define REFERENCE_BYTES(name, load_a, load_b) REFERENCE(name, "mad.lo.s32", "1", load_a, "1", load_b)

#endif
