#include <string.h>
#include "helpers.h"

enum { THREADS = 256, REFERENCE_COLUMNS = 128 };

double type_rounding(mc_type type) {
    return type == MC_F16 ? 0x1p-11 : type == MC_BF16 ? 0x1p-8 : type == MC_F32 ? 0x1p-24 : 0;
}

/* -- PTX ---------------------------------------------------------------------------------------------- */

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
#define LOAD_F16(reg, address)                                                                               \
    "    ld.global.b16 %narrow, [" address "];\n"                                                            \
    "    cvt.f32.f16 " reg ", %narrow;\n"
#define LOAD_BF16(reg, address)                                                                              \
    "    ld.global.b16 %narrow, [" address "];\n"                                                            \
    "    mov.b32 %raw, {%zero, %narrow};\n"                                                                  \
    "    mov.b32 " reg ", %raw;\n"
#define LOAD_F32(reg, address) "    ld.global.f32 " reg ", [" address "];\n"

#define LOAD_REGISTERS                                                                                       \
    "    .reg .b32 %raw;\n"                                                                                  \
    "    .reg .b16 %narrow, %zero;\n"                                                                        \
    "    mov.b16 %zero, 0;\n"

#define STORE_F32 "    st.global.f32 [%c], %sum;\n"
#define STORE_S32                                                                                            \
    "    cvt.rni.s32.f32 %raw, %sum;\n"                                                                      \
    "    st.global.b32 [%c], %raw;\n"

/* Block (m, group of columns), a thread a column. */
#define REFERENCE(name, bytes, load, store)                                                                  \
    ".visible .entry " name "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n, .param .u32 k,\n"  \
    "                         .param .u64 lda, .param .u64 b_k, .param .u64 b_n)\n"                          \
    "{\n"                                                                                                    \
    "    .reg .pred %outside, %more;\n"                                                                      \
    "    .reg .b32 %m, %group, %threads, %col, %n, %k;\n"                                                    \
    "    .reg .b64 %a, %b, %c, %lda, %bk, %bn, %wide, %index;\n"                                             \
    "    .reg .f32 %x, %y, %sum;\n" LOAD_REGISTERS "    mov.u32 %m, %ctaid.x;\n"                             \
    "    mov.u32 %group, %ctaid.y;\n"                                                                        \
    "    mov.u32 %threads, %ntid.x;\n"                                                                       \
    "    mov.u32 %col, %tid.x;\n"                                                                            \
    "    mad.lo.u32 %col, %group, %threads, %col;\n"                                                         \
    "    ld.param.u32 %n, [n];\n"                                                                            \
    "    setp.ge.u32 %outside, %col, %n;\n"                                                                  \
    "    @%outside ret;\n"                                                                                   \
    "    ld.param.u64 %a, [a];\n"                                                                            \
    "    ld.param.u64 %b, [b];\n"                                                                            \
    "    ld.param.u64 %c, [c];\n"                                                                            \
    "    ld.param.u64 %lda, [lda];\n"                                                                        \
    "    ld.param.u64 %bk, [b_k];\n"                                                                         \
    "    ld.param.u64 %bn, [b_n];\n"                                                                         \
    "    ld.param.u32 %k, [k];\n"                                                                            \
    "    mul.wide.u32 %index, %m, %n;\n"                                                                     \
    "    cvt.u64.u32 %wide, %col;\n"                                                                         \
    "    add.u64 %index, %index, %wide;\n"                                                                   \
    "    mad.lo.u64 %c, %index, 4, %c;\n"                                                                    \
    "    mul.lo.u64 %bn, %bn, %wide;\n"                                                                      \
    "    mad.lo.u64 %b, %bn, " bytes ", %b;\n"                                                               \
    "    mul.lo.u64 %bk, %bk, " bytes ";\n"                                                                  \
    "    cvt.u64.u32 %wide, %m;\n"                                                                           \
    "    mul.lo.u64 %lda, %lda, %wide;\n"                                                                    \
    "    mad.lo.u64 %a, %lda, " bytes ", %a;\n"                                                              \
    "    mov.f32 %sum, 0f00000000;\n"                                                                        \
    "next:\n" load("%x", "%a") load("%y", "%b") "    fma.rn.f32 %sum, %x, %y, %sum;\n"                       \
                                                "    add.u64 %a, %a, " bytes ";\n"                           \
                                                "    add.u64 %b, %b, %bk;\n"                                 \
                                                "    sub.u32 %k, %k, 1;\n"                                   \
                                                "    setp.ne.u32 %more, %k, 0;\n"                            \
                                                "    @%more bra next;\n" store "    ret;\n"                  \
                                                "}\n"

#define COMPARE(name, bytes, test)                                                                           \
    ".visible .entry " name "(.param .u64 got, .param .u64 want, .param .u64 elements, .param .f32 rel,\n"   \
    "                         .param .f32 floor, .param .u64 counter)\n"                                     \
    "{\n"                                                                                                    \
    "    .reg .pred %right;\n"                                                                               \
    "    .reg .b64 %got, %want, %counter;\n" LOAD_REGISTERS THREAD_INDEX("elements")                         \
        ELEMENT_ADDRESS("%got", "got", bytes) ELEMENT_ADDRESS("%want", "want", "4") test                     \
        "    @%right ret;\n"                                                                                 \
        "    ld.param.u64 %counter, [counter];\n"                                                            \
        "    red.global.add.u32 [%counter], 1;\n"                                                            \
        "    ret;\n"                                                                                         \
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

#define FACTOR(reg, name)                                                                                    \
    "    ld.param.u64 %at, [" name "];\n"                                                                    \
    "    ld.param.u32 %step, [" name "_row];\n"                                                              \
    "    mul.lo.u32 %place, %row, %step;\n"                                                                  \
    "    ld.param.u32 %step, [" name "_col];\n"                                                              \
    "    mad.lo.u32 %place, %col, %step, %place;\n"                                                          \
    "    mad.wide.u32 %at, %place, 4, %at;\n"                                                                \
    "    ld.global.f32 " reg ", [%at];\n"

#define OUTPUT(name, round)                                                                                  \
    ".visible .entry " name "(.param .u64 sums, .param .u64 out, .param .u64 elements, .param .u32 n,\n"     \
    "                         .param .u64 scale, .param .u32 scale_row, .param .u32 scale_col,\n"            \
    "                         .param .u64 bias, .param .u32 bias_row, .param .u32 bias_col)\n"               \
    "{\n"                                                                                                    \
    "    .reg .b64 %sums, %out, %at, %n, %rows, %cols;\n"                                                    \
    "    .reg .b32 %x, %row, %col, %step, %place, %narrow_n, %raw;\n"                                        \
    "    .reg .b16 %narrow, %zero;\n"                                                                        \
    "    .reg .f32 %f, %scale, %bias;\n" THREAD_INDEX("elements") ELEMENT_ADDRESS("%sums", "sums", "4")      \
        ELEMENT_ADDRESS("%out", "out",                                                                       \
                        "4") "    ld.param.u32 %narrow_n, [n];\n"                                            \
                             "    cvt.u64.u32 %n, %narrow_n;\n"                                              \
                             "    div.u64 %rows, %i, %n;\n"                                                  \
                             "    rem.u64 %cols, %i, %n;\n"                                                  \
                             "    cvt.u32.u64 %row, %rows;\n"                                                \
                             "    cvt.u32.u64 %col, %cols;\n" FACTOR("%scale", "scale")                      \
                                 FACTOR("%bias", "bias") "    ld.global.b32 %x, [%sums];\n"                  \
                                                         "    cvt.rn.f32.s32 %f, %x;\n"                      \
                                                         "    fma.rn.f32 %f, %f, %scale, %bias;\n" round     \
                                                         "    st.global.f32 [%out], %f;\n"                   \
                                                         "    ret;\n"                                        \
                                                         "}\n"

#define ROUND_F16                                                                                            \
    "    cvt.rn.f16.f32 %narrow, %f;\n"                                                                      \
    "    cvt.f32.f16 %f, %narrow;\n"
#define ROUND_BF16                                                                                           \
    "    cvt.rn.bf16.f32 %narrow, %f;\n"                                                                     \
    "    mov.b16 %zero, 0;\n"                                                                                \
    "    mov.b32 %raw, {%zero, %narrow};\n"                                                                  \
    "    mov.b32 %f, %raw;\n"

typedef enum helper {
    FILL_S8,
    FILL_F16,
    FILL_BF16,
    REFERENCE_S8,
    REFERENCE_F16,
    REFERENCE_BF16,
    COMPARE_F16,
    COMPARE_BF16,
    COMPARE_S32,
    COMPARE_F32,
    OUTPUT_F16,
    OUTPUT_BF16,
    OUTPUT_F32,
} helper;

static const struct {
    const char *entry, *ptx;
} kernels[HELPER_COUNT] = {
    [FILL_S8] = {"fill_s8", HEADER FILL("fill_s8", "")},
    [FILL_F16] = {"fill_f16", HEADER FILL("fill_f16", HALVES("f16"))},
    [FILL_BF16] = {"fill_bf16", HEADER FILL("fill_bf16", HALVES("bf16"))},
    [REFERENCE_S8] = {"reference_s8", HEADER REFERENCE("reference_s8", "1", LOAD_S8, STORE_S32)},
    [REFERENCE_F16] = {"reference_f16", HEADER REFERENCE("reference_f16", "2", LOAD_F16, STORE_F32)},
    [REFERENCE_BF16] = {"reference_bf16", HEADER REFERENCE("reference_bf16", "2", LOAD_BF16, STORE_F32)},
    [COMPARE_F16] = {"compare_f16", HEADER COMPARE("compare_f16", "2", NEAR(LOAD_F16))},
    [COMPARE_BF16] = {"compare_bf16", HEADER COMPARE("compare_bf16", "2", NEAR(LOAD_BF16))},
    [COMPARE_S32] = {"compare_s32", HEADER COMPARE("compare_s32", "4", EQUAL)},
    [COMPARE_F32] = {"compare_f32", HEADER COMPARE("compare_f32", "4", NEAR(LOAD_F32))},
    [OUTPUT_F16] = {"output_f16", HEADER OUTPUT("output_f16", ROUND_F16)},
    [OUTPUT_BF16] = {"output_bf16", HEADER OUTPUT("output_bf16", ROUND_BF16)},
    [OUTPUT_F32] = {"output_f32", HEADER OUTPUT("output_f32", "")},
};

/* -- Launches ----------------------------------------------------------------------------------------- */

mc_status helpers_open(helpers *h, mc_device *device, mc_diag *diag) {
    *h = (helpers){.device = device};
    mc_status status = mc_device_alloc(device, sizeof(uint32_t), &h->counter, diag);
    for (int i = 0; i < HELPER_COUNT && status == MC_OK; i++)
        status = mc_module_load(device, kernels[i].ptx, kernels[i].entry, &h->modules[i], diag);
    return status;
}

void helpers_close(helpers *h) {
    for (int i = 0; i < HELPER_COUNT; i++) mc_module_unload(h->modules[i]);
    if (h->device != NULL) mc_device_free(h->device, h->counter);
    *h = (helpers){0};
}

static uint64_t float_bits(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

/* One thread an element. */
static mc_status launch_flat(helpers *h, helper which, uint64_t elements, mc_launch launch, mc_diag *diag) {
    if (elements == 0) return MC_OK;
    launch.grid[0] = (unsigned)((elements + THREADS - 1) / THREADS);
    launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = THREADS;
    launch.block[1] = launch.block[2] = 1;
    return mc_module_launch(h->modules[which], &launch, diag);
}

mc_status helpers_fill(helpers *h, mc_type type, uint64_t address, uint64_t count, uint32_t seed,
                       mc_diag *diag) {
    helper which = type == MC_S8 ? FILL_S8 : type == MC_F16 ? FILL_F16 : FILL_BF16;
    uint64_t words = (count * mc_type_bytes(type) + 3) / 4;
    return launch_flat(h, which, words, (mc_launch){.values = {address, words, seed}, .count = 3}, diag);
}

mc_status helpers_reference(helpers *h, mc_type type, const dense_product *p, mc_diag *diag) {
    helper which = type == MC_S8 ? REFERENCE_S8 : type == MC_F16 ? REFERENCE_F16 : REFERENCE_BF16;
    unsigned groups = (unsigned)((p->n + REFERENCE_COLUMNS - 1) / REFERENCE_COLUMNS);
    mc_launch launch = {.grid = {(unsigned)p->m, groups, 1},
                        .block = {REFERENCE_COLUMNS, 1, 1},
                        .values = {p->a, p->b, p->c, (uint64_t)p->n, (uint64_t)p->k, (uint64_t)p->lda,
                                   (uint64_t)p->b_k, (uint64_t)p->b_n},
                        .count = 8};
    return mc_module_launch(h->modules[which], &launch, diag);
}

mc_status helpers_output(helpers *h, mc_type type, uint64_t sums, uint64_t out, int64_t rows, int64_t cols,
                         const output_rule *rule, mc_diag *diag) {
    helper which = type == MC_F16 ? OUTPUT_F16 : type == MC_BF16 ? OUTPUT_BF16 : OUTPUT_F32;
    uint64_t count = (uint64_t)(rows * cols);
    mc_launch launch = {.values = {sums, out, count, (uint64_t)cols, rule->scale, rule->scale_row,
                                   rule->scale_col, rule->bias, rule->bias_row, rule->bias_col},
                        .count = 10};
    return launch_flat(h, which, count, launch, diag);
}

mc_status helpers_compare(helpers *h, mc_type type, uint64_t got, uint64_t want, uint64_t count,
                          tolerance allowed, uint64_t *wrong, mc_diag *diag) {
    helper which = type == MC_F16    ? COMPARE_F16
                   : type == MC_BF16 ? COMPARE_BF16
                   : type == MC_S32  ? COMPARE_S32
                                     : COMPARE_F32;
    uint32_t counted = 0;
    mc_launch launch = {
        .values = {got, want, count, float_bits(allowed.rel), float_bits(allowed.floor), h->counter},
        .count = 6};
    mc_status status = mc_device_fill(h->device, h->counter, 0, sizeof counted, diag);
    if (status == MC_OK) status = launch_flat(h, which, count, launch, diag);
    if (status == MC_OK) status = mc_device_read(h->device, h->counter, &counted, sizeof counted, diag);
    *wrong = counted;
    return status;
}
