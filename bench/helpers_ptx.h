/* The PTX of the bench's own kernels, in pieces (helpers.c): written by hand. */
#ifndef BENCH_HELPERS_PTX_H
#define BENCH_HELPERS_PTX_H

#define HEADER                                                                                               \
    ".version 7.0\n"                                                                                         \
    ".target sm_80\n"                                                                                        \
    ".address_size 64\n"

/* %i = index of the thread in a grid of one dimension; those at COUNT and beyond are done. */
#define THREAD_INDEX(count)                                                                                  \
    "    .reg .pred %beyond;\n"                                                                              \
    "    .reg .b32 %block, %threads, %thread;\n"                                                             \
    "    .reg .b64 %i, %wide, %count;\n"                                                                     \
    "    mov.u32 %block, %ctaid.x;\n"                                                                        \
    "    mov.u32 %threads, %ntid.x;\n"                                                                       \
    "    mov.u32 %thread, %tid.x;\n"                                                                         \
    "    mul.wide.u32 %i, %block, %threads;\n"                                                               \
    "    cvt.u64.u32 %wide, %thread;\n"                                                                      \
    "    add.u64 %i, %i, %wide;\n"                                                                           \
    "    ld.param.u64 %count, [" count "];\n"                                                                \
    "    setp.ge.u64 %beyond, %i, %count;\n"                                                                 \
    "    @%beyond ret;\n"

/* REG = address of element %i of the array that PARAM points to. */
#define ELEMENT_ADDRESS(reg, param, bytes)                                                                   \
    "    ld.param.u64 " reg ", [" param "];\n"                                                               \
    "    mad.lo.u64 " reg ", %i, " bytes ", " reg ";\n"

/* 32 random bits from index and seed: the finaliser of MurmurHash3 (Appleby). */
#define HASH                                                                                                 \
    "    .reg .b32 %h, %shifted, %seed;\n"                                                                   \
    "    ld.param.u32 %seed, [seed];\n"                                                                      \
    "    cvt.u32.u64 %h, %i;\n"                                                                              \
    "    mad.lo.u32 %h, %h, 0x9e3779b1, %seed;\n"                                                            \
    "    shr.u32 %shifted, %h, 16;\n"                                                                        \
    "    xor.b32 %h, %h, %shifted;\n"                                                                        \
    "    mul.lo.u32 %h, %h, 0x85ebca6b;\n"                                                                   \
    "    shr.u32 %shifted, %h, 13;\n"                                                                        \
    "    xor.b32 %h, %h, %shifted;\n"                                                                        \
    "    mul.lo.u32 %h, %h, 0xc2b2ae35;\n"                                                                   \
    "    shr.u32 %shifted, %h, 16;\n"                                                                        \
    "    xor.b32 %h, %h, %shifted;\n"

/* The two 16-bit halves of %h, each divided by 2^15, as two floats of TYPE. */
#define HALVES(type)                                                                                         \
    "    .reg .b32 %x, %y;\n"                                                                                \
    "    .reg .f32 %fx, %fy;\n"                                                                              \
    "    .reg .b16 %px, %py;\n"                                                                              \
    "    shl.b32 %x, %h, 16;\n"                                                                              \
    "    shr.s32 %x, %x, 16;\n"                                                                              \
    "    shr.s32 %y, %h, 16;\n"                                                                              \
    "    cvt.rn.f32.s32 %fx, %x;\n"                                                                          \
    "    cvt.rn.f32.s32 %fy, %y;\n"                                                                          \
    "    mul.f32 %fx, %fx, 0f38000000;\n"                                                                    \
    "    mul.f32 %fy, %fy, 0f38000000;\n"                                                                    \
    "    cvt.rn." type ".f32 %px, %fx;\n"                                                                    \
    "    cvt.rn." type ".f32 %py, %fy;\n"                                                                    \
    "    mov.b32 %h, {%px, %py};\n"

/* The bytes of %h without the highest bit of their exponents: e4m3 and e5m2 below 2 in magnitude, no NaN. */
#define SMALL_BYTES "    and.b32 %h, %h, 0xbfbfbfbf;\n"

#define FILL(name, body)                                                                                     \
    ".visible .entry " name "(.param .u64 to, .param .u64 words, .param .u32 seed)\n"                        \
    "{\n"                                                                                                    \
    "    .reg .b64 %at;\n" THREAD_INDEX("words")                                                             \
        HASH body ELEMENT_ADDRESS("%at", "to", "4") "    st.global.b32 [%at], %h;\n"                         \
                                                    "    ret;\n"                                             \
                                                    "}\n"

/* REG (f32) = the element at ADDRESS. */
#define LOAD_S8(reg, address)                                                                                \
    "    ld.global.s8 %raw, [" address "];\n"                                                                \
    "    cvt.rn.f32.s32 " reg ", %raw;\n"
#define LOAD_U8(reg, address)                                                                                \
    "    ld.global.u8 %raw, [" address "];\n"                                                                \
    "    cvt.rn.f32.s32 " reg ", %raw;\n"
#define LOAD_F16(reg, address)                                                                               \
    "    ld.global.b16 %narrow, [" address "];\n"                                                            \
    "    cvt.f32.f16 " reg ", %narrow;\n"
#define LOAD_BF16(reg, address)                                                                              \
    "    ld.global.b16 %narrow, [" address "];\n"                                                            \
    "    mov.b32 %raw, {%zero, %narrow};\n"                                                                  \
    "    mov.b32 " reg ", %raw;\n"
/* The bits of a finite number, moved to where f32 has them, are the number by 2^-120. */
#define LOAD_E4M3(reg, address)                                                                              \
    "    ld.global.s8 %raw, [" address "];\n"                                                                \
    "    shl.b32 %raw, %raw, 20;\n"                                                                          \
    "    and.b32 %raw, %raw, 0x87f00000;\n"                                                                  \
    "    mov.b32 " reg ", %raw;\n"                                                                           \
    "    mul.rn.f32 " reg ", " reg ", 0f7b800000;\n"
/* The upper byte of an f16. */
#define LOAD_E5M2(reg, address)                                                                              \
    "    ld.global.u8 %raw, [" address "];\n"                                                                \
    "    shl.b32 %raw, %raw, 8;\n"                                                                           \
    "    cvt.u16.u32 %narrow, %raw;\n"                                                                       \
    "    cvt.f32.f16 " reg ", %narrow;\n"
#define LOAD_F32(reg, address) "    ld.global.f32 " reg ", [" address "];\n"

#define LOAD_REGISTERS                                                                                       \
    "    .reg .b32 %raw;\n"                                                                                  \
    "    .reg .b16 %narrow, %zero;\n"                                                                        \
    "    mov.b16 %zero, 0;\n"

/* The result has COLS elements a row, and rows lie LD apart; what it must be has no gaps. */
#define COMPARE(name, bytes, test)                                                                           \
    ".visible .entry " name "(.param .u64 got, .param .u64 want, .param .u64 elements, .param .u64 cols,\n"  \
    "                         .param .u64 ld, .param .f32 rel, .param .f32 floor, .param .u64 counter)\n"    \
    "{\n"                                                                                                    \
    "    .reg .pred %right;\n"                                                                               \
    "    .reg .b64 %got, %want, %counter, %row, %col, %cols, %ld;\n" LOAD_REGISTERS THREAD_INDEX("elements") \
        ELEMENT_ADDRESS("%want", "want",                                                                     \
                        "4") "    ld.param.u64 %cols, [cols];\n"                                             \
                             "    ld.param.u64 %ld, [ld];\n"                                                 \
                             "    div.u64 %row, %i, %cols;\n"                                                \
                             "    rem.u64 %col, %i, %cols;\n"                                                \
                             "    mad.lo.u64 %i, %row, %ld, %col;\n" ELEMENT_ADDRESS("%got", "got", bytes)   \
                                 test "    @%right ret;\n"                                                   \
                                      "    ld.param.u64 %counter, [counter];\n"                              \
                                      "    red.global.add.u32 [%counter], 1;\n"                              \
                                      "    ret;\n"                                                           \
                                      "}\n"

#define EQUAL                                                                                                \
    "    .reg .b32 %a, %b;\n"                                                                                \
    "    ld.global.b32 %a, [%got];\n"                                                                        \
    "    ld.global.b32 %b, [%want];\n"                                                                       \
    "    setp.eq.s32 %right, %a, %b;\n"

/* A comparison with NaN is false, so that NaN is wrong. */
#define NEAR(load)                                                                                           \
    "    .reg .f32 %x, %y, %size, %rel, %floor;\n" load("%x",                                                \
                                                        "%got") "    ld.global.f32 %y, [%want];\n"           \
                                                                "    ld.param.f32 %rel, [rel];\n"            \
                                                                "    ld.param.f32 %floor, [floor];\n"        \
                                                                "    sub.rn.f32 %x, %x, %y;\n"               \
                                                                "    abs.f32 %x, %x;\n"                      \
                                                                "    abs.f32 %size, %y;\n"                   \
                                                                "    add.rn.f32 %size, %size, %floor;\n"     \
                                                                "    mul.rn.f32 %size, %size, %rel;\n"       \
                                                                "    setp.le.f32 %right, %x, %size;\n"

/* From want to MOST, both of which may be NaN: then a NaN is right. Anything is right where they are the two
   infinities. */
#define WITHIN(name, bytes, load)                                                                            \
    ".visible .entry " name "(.param .u64 got, .param .u64 want, .param .u64 most, .param .u64 elements,\n"  \
    "                         .param .u64 counter)\n"                                                        \
    "{\n"                                                                                                    \
    "    .reg .pred %right, %other;\n"                                                                       \
    "    .reg .f32 %x, %y, %z;\n"                                                                            \
    "    .reg .b64 %got, %want, %most, %counter;\n" LOAD_REGISTERS THREAD_INDEX("elements")                  \
        ELEMENT_ADDRESS("%got", "got", bytes) ELEMENT_ADDRESS("%want", "want", "4")                          \
            ELEMENT_ADDRESS("%most", "most", "4") load("%x", "%got") LOAD_F32("%y", "%want")                 \
                LOAD_F32("%z", "%most") "    setp.ge.f32 %right, %x, %y;\n"                                  \
                                        "    setp.le.and.f32 %right, %x, %z, %right;\n"                      \
                                        "    setp.eq.f32 %other, %y, 0fff800000;\n"                          \
                                        "    setp.eq.and.f32 %other, %z, 0f7f800000, %other;\n"              \
                                        "    or.pred %right, %right, %other;\n"                              \
                                        "    setp.nan.f32 %other, %x, %x;\n"                                 \
                                        "    setp.nan.and.f32 %other, %y, %y, %other;\n"                     \
                                        "    setp.nan.and.f32 %other, %z, %z, %other;\n"                     \
                                        "    or.pred %right, %right, %other;\n"                              \
                                        "    @%right ret;\n"                                                 \
                                        "    ld.param.u64 %counter, [counter];\n"                            \
                                        "    red.global.add.u32 [%counter], 1;\n"                            \
                                        "    ret;\n"                                                         \
                                        "}\n"

#define FACTOR(reg, name)                                                                                    \
    "    ld.param.u64 %at, [" name "];\n"                                                                    \
    "    ld.param.u32 %step, [" name "_row];\n"                                                              \
    "    mul.lo.u32 %place, %row, %step;\n"                                                                  \
    "    ld.param.u32 %step, [" name "_col];\n"                                                              \
    "    mad.lo.u32 %place, %col, %step, %place;\n"                                                          \
    "    mad.wide.u32 %at, %place, 4, %at;\n"                                                                \
    "    ld.global.f32 " reg ", [%at];\n"

#define OUTPUT(name, convert, round)                                                                         \
    ".visible .entry " name "(.param .u64 sums, .param .u64 out, .param .u64 elements, .param .u32 n,\n"     \
    "                         .param .u64 scale, .param .u32 scale_row, .param .u32 scale_col,\n"            \
    "                         .param .u64 bias, .param .u32 bias_row, .param .u32 bias_col,\n"               \
    "                         .param .f32 least)\n"                                                          \
    "{\n"                                                                                                    \
    "    .reg .b64 %sums, %out, %at, %n, %rows, %cols;\n"                                                    \
    "    .reg .b32 %x, %row, %col, %step, %place, %narrow_n, %raw;\n"                                        \
    "    .reg .b16 %narrow, %zero;\n"                                                                        \
    "    .reg .f32 %f, %scale, %bias, %least;\n" THREAD_INDEX("elements")                                    \
        ELEMENT_ADDRESS("%sums", "sums", "4") ELEMENT_ADDRESS(                                               \
            "%out", "out", "4") "    ld.param.u32 %narrow_n, [n];\n"                                         \
                                "    cvt.u64.u32 %n, %narrow_n;\n"                                           \
                                "    div.u64 %rows, %i, %n;\n"                                               \
                                "    rem.u64 %cols, %i, %n;\n"                                               \
                                "    cvt.u32.u64 %row, %rows;\n"                                             \
                                "    cvt.u32.u64 %col, %cols;\n" FACTOR("%scale", "scale")                   \
                                    FACTOR("%bias", "bias") "    ld.global.b32 %x, [%sums];\n"               \
                                                            "    " convert " %f, %x;\n"                      \
                                                            "    fma.rn.f32 %f, %f, %scale, %bias;\n"        \
                                                            "    ld.param.f32 %least, [least];\n"            \
                                                            "    max.NaN.f32 %f, %f, %least;\n" round        \
                                                            "    st.global.f32 [%out], %f;\n"                \
                                                            "    ret;\n"                                     \
                                                            "}\n"

/* What an OUTPUT's sums are: integers, or floats already. */
#define OF_S32 "cvt.rn.f32.s32"
#define OF_F32 "mov.b32"

#define ROUND_F16                                                                                            \
    "    cvt.rn.f16.f32 %narrow, %f;\n"                                                                      \
    "    cvt.f32.f16 %f, %narrow;\n"
#define ROUND_BF16                                                                                           \
    "    cvt.rn.bf16.f32 %narrow, %f;\n"                                                                     \
    "    mov.b16 %zero, 0;\n"                                                                                \
    "    mov.b32 %raw, {%zero, %narrow};\n"                                                                  \
    "    mov.b32 %f, %raw;\n"

/* To the nearest integer, ties to the even one, at most 127 in magnitude or -128. */
#define ROUND_S8                                                                                             \
    "    cvt.rni.s32.f32 %x, %f;\n"                                                                          \
    "    max.s32 %x, %x, -128;\n"                                                                            \
    "    min.s32 %x, %x, 127;\n"                                                                             \
    "    cvt.rn.f32.s32 %f, %x;\n"

/* -- Sampled results: slots as orders.h has them ------------------------------------------------------ */

/* Element %i of all slots' V rows lies at %lies of C; row %row and column %col of the dense product. Padding
   goes on at "padding". */
#define SLOT_REGISTERS                                                                                       \
    "    .reg .pred %padding;\n"                                                                             \
    "    .reg .b32 %element, %slot, %vec, %row, %col, %row_block, %first, %pitch;\n"                         \
    "    .reg .b64 %slots, %lies;\n"
#define SLOT                                                                                                 \
    "    cvt.u32.u64 %element, %i;\n"                                                                        \
    "    ld.param.u32 %vec, [vec];\n"                                                                        \
    "    div.u32 %slot, %element, %vec;\n"                                                                   \
    "    rem.u32 %row, %element, %vec;\n"                                                                    \
    "    ld.param.u64 %slots, [slots];\n"                                                                    \
    "    mad.wide.u32 %slots, %slot, 16, %slots;\n"                                                          \
    "    ld.global.v4.b32 {%row_block, %col, %first, %pitch}, [%slots];\n"                                   \
    "    mad.lo.u32 %first, %row, %pitch, %first;\n"                                                         \
    "    cvt.u64.u32 %lies, %first;\n"                                                                       \
    "    mad.lo.u32 %row, %row_block, %vec, %row;\n"                                                         \
    "    setp.lt.s32 %padding, %col, 0;\n"                                                                   \
    "    @%padding bra padding;\n"

/* REG = address of this lane's first number in row INDEX of a matrix of rows of %k, each of four bytes. */
#define LANE_ADDRESS(reg, param, index)                                                                      \
    "    ld.param.u64 " reg ", [" param "];\n"                                                               \
    "    mad.wide.u32 " reg ", %lane, 4, " reg ";\n"                                                         \
    "    mul.wide.u32 %wide, " index ", %k;\n"                                                               \
    "    mad.lo.u64 " reg ", %wide, 4, " reg ";\n"

#define ADD_LANES(distance, add)                                                                             \
    "    shfl.sync.bfly.b32 %x, %sum, " distance ", 31, 0xffffffff;\n"                                       \
    "    " add " %sum, %sum, %x;\n"

/* A warp an element, its lanes side by side along k. Registers are without a type: of integers and floats
   alike. */
#define SAMPLED_SUMS(name, multiply, add)                                                                    \
    ".visible .entry " name "(.param .u64 slots, .param .u64 lanes, .param .u32 vec, .param .u64 a,\n"       \
    "                         .param .u64 b, .param .u32 k, .param .u64 sums)\n"                             \
    "{\n"                                                                                                    \
    "    .reg .pred %done, %other;\n"                                                                        \
    "    .reg .b32 %lane, %k, %at, %x, %y, %sum;\n"                                                          \
    "    .reg .b64 %a, %b, %sums;\n" SLOT_REGISTERS THREAD_INDEX("lanes") SAMPLED_LOOP(multiply)             \
        ADD_LANES("16", add) ADD_LANES("8", add) ADD_LANES("4", add) ADD_LANES("2", add) ADD_LANES("1", add) \
            SAMPLED_END

#define SAMPLED_LOOP(multiply)                                                                               \
    "    cvt.u32.u64 %lane, %i;\n"                                                                           \
    "    and.b32 %lane, %lane, 31;\n"                                                                        \
    "    shr.u64 %i, %i, 5;\n"                                                                               \
    "    mov.b32 %sum, 0;\n" SLOT "    ld.param.u32 %k, [k];\n" LANE_ADDRESS("%a", "a", "%row")              \
        LANE_ADDRESS("%b", "b", "%col") "    mov.b32 %at, %lane;\n"                                          \
                                        "next:\n"                                                            \
                                        "    setp.ge.u32 %done, %at, %k;\n"                                  \
                                        "    @%done bra reduce;\n"                                           \
                                        "    ld.global.b32 %x, [%a];\n"                                      \
                                        "    ld.global.b32 %y, [%b];\n"                                      \
                                        "    " multiply " %sum, %x, %y, %sum;\n"                             \
                                        "    add.u64 %a, %a, 128;\n"                                         \
                                        "    add.u64 %b, %b, 128;\n"                                         \
                                        "    add.u32 %at, %at, 32;\n"                                        \
                                        "    bra next;\n"                                                    \
                                        "reduce:\n"

#define SAMPLED_END                                                                                          \
    "padding:\n"                                                                                             \
    "    setp.ne.u32 %other, %lane, 0;\n"                                                                    \
    "    @%other ret;\n"                                                                                     \
    "    ld.param.u64 %sums, [sums];\n"                                                                      \
    "    mad.lo.u64 %sums, %lies, 4, %sums;\n"                                                               \
    "    st.global.b32 [%sums], %sum;\n"                                                                     \
    "    ret;\n"                                                                                             \
    "}\n"

/* Two products, each rounded; then the rounding to the result's type. */
#define SAMPLED_OUTPUT(name, round)                                                                          \
    ".visible .entry " name "(.param .u64 slots, .param .u64 elements, .param .u32 vec, .param .u64 sums,\n" \
    "                         .param .u64 out, .param .u64 scale, .param .u32 scale_row,\n"                  \
    "                         .param .u32 scale_col, .param .u64 values, .param .u64 values_step)\n"         \
    "{\n"                                                                                                    \
    "    .reg .b64 %sums, %out, %at, %values;\n"                                                             \
    "    .reg .b32 %x, %step, %place, %raw;\n"                                                               \
    "    .reg .b16 %narrow, %zero;\n"                                                                        \
    "    .reg .f32 %f, %scale, %value;\n" SLOT_REGISTERS                                                     \
        THREAD_INDEX("elements") "    mov.f32 %f, 0f00000000;\n" SLOT FACTOR(                                \
            "%scale", "scale") "    ld.param.u64 %sums, [sums];\n"                                           \
                               "    mad.lo.u64 %sums, %lies, 4, %sums;\n"                                    \
                               "    ld.global.b32 %x, [%sums];\n"                                            \
                               "    cvt.rn.f32.s32 %f, %x;\n"                                                \
                               "    mul.rn.f32 %f, %f, %scale;\n"                                            \
                               "    ld.param.u64 %values, [values];\n"                                       \
                               "    ld.param.u64 %at, [values_step];\n"                                      \
                               "    mad.lo.u64 %values, %lies, %at, %values;\n"                              \
                               "    ld.global.f32 %value, [%values];\n"                                      \
                               "    mul.rn.f32 %f, %f, %value;\n" round "padding:\n"                         \
                               "    ld.param.u64 %out, [out];\n"                                             \
                               "    mad.lo.u64 %out, %lies, 4, %out;\n"                                      \
                               "    st.global.f32 [%out], %f;\n"                                             \
                               "    ret;\n"                                                                  \
                               "}\n"

#endif
