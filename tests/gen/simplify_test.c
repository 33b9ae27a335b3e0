/* What builder_simplify drops, and what it must keep. A case builds a kernel and says which of its lines are
   left: those with the marks WANTED are there, those with the marks GONE are not. */
#include "check.h"
#include "ptx/builder.h"
#include <stdlib.h>

static const mc_arch hopper = {.target = "sm_90a", .sm = 90, .ptx_version = 80, .wgmma = true};

typedef struct operands {
    mc_reg acc[4], a[4], v[2], at;
} operands;

/* Declares an mma's operands, all but the sums written. */
static operands make_operands(mc_builder *b) {
    operands o = {.at = mov_b64(b, "at", I(0))};
    b32_array(b, "acc", 4, o.acc);
    b32_array(b, "a", 4, o.a);
    b32_array(b, "v", 2, o.v);
    EMIT(b, ldg_v4, V4(o.a), AT(o.at, 0));
    EMIT(b, ldg_v2, V2(o.v), AT(o.at, 16));
    return o;
}

static void zero_sums(mc_builder *b, const operands *o) {
    for (int i = 0; i < 4; i++) EMIT(b, mov_b32, o->acc[i], I(0));
}

static void multiply(mc_builder *b, const operands *o) {
    EMIT(b, mma_s8, V4(o->acc), V4(o->a), V2(o->v), V4(o->acc));
}

static void end(mc_builder *b, const operands *o) {
    EMIT(b, stg_v4, AT(o->at, 0), V4(o->acc));
    EMIT_RET(b);
}

/* -- Cases -------------------------------------------------------------------------------------------- */

static void straight(mc_builder *b) {
    operands o = make_operands(b);
    zero_sums(b, &o);
    multiply(b, &o);
    multiply(b, &o);
    end(b, &o);
}

static void loop(mc_builder *b) {
    operands o = make_operands(b);
    mc_label again = label(b, "AGAIN");
    mc_reg count = carried(b, "count", I(4)), more = pred(b, "more");
    zero_sums(b, &o);
    set_label(b, again);
    multiply(b, &o);
    EMIT(b, add_s32, count, count, I(-1));
    EMIT(b, setp_gt, more, count, I(0));
    EMIT_IF(b, more, bra, TO(again));
    end(b, &o);
}

/* Sums that are zeroed in every turn can do without. */
static void zeroed_in_loop(mc_builder *b) {
    operands o = make_operands(b);
    mc_label again = label(b, "AGAIN");
    mc_reg count = carried(b, "count", I(4)), more = pred(b, "more");
    set_label(b, again);
    zero_sums(b, &o);
    multiply(b, &o);
    EMIT(b, stg_v4, AT(o.at, 0), V4(o.acc));
    EMIT(b, add_s32, count, count, I(-1));
    EMIT(b, setp_gt, more, count, I(0));
    EMIT_IF(b, more, bra, TO(again));
    EMIT_RET(b);
}

static void jumped_over(mc_builder *b) {
    operands o = make_operands(b);
    mc_label skip = label(b, "SKIP");
    mc_reg empty = setp_eq(b, "empty", o.v[0], I(0));
    zero_sums(b, &o);
    EMIT_IF(b, empty, bra, TO(skip));
    multiply(b, &o);
    set_label(b, skip);
    end(b, &o);
}

static void guarded_load(mc_builder *b) {
    mc_reg at = mov_b64(b, "at", I(0)), x = carried(b, "x", I(0)), p = setp_lt(b, "p", I(1), I(2));
    EMIT_IF(b, p, ldg_b32, x, AT(at, 0));
    EMIT(b, stg_b32, AT(at, 0), x);
    EMIT_RET(b);
}

static void neutral(mc_builder *b) {
    mc_reg at = mov_b64(b, "at", I(0)), x = ldg_b32(b, "x", AT(at, 0)), y = ldg_b32(b, "y", AT(at, 4));
    mc_reg sum = mad_s32(b, "sum", x, I(1), y), product = mad_s32(b, "product", x, y, I(0));
    mc_reg same = shr_u32(b, "same", add_s32(b, "plus", mul_s32(b, "times", sum, I(1)), I(0)), I(0));
    EMIT(b, stg_b32, AT(add_s64(b, "there", at, I(0)), 0), same);
    EMIT(b, stg_b32, AT(at, 4), product);
    EMIT_RET(b);
}

/* A move out of a register that is written again keeps the old value. */
static void moved_and_written(mc_builder *b) {
    mc_reg at = mov_b64(b, "at", I(0)), x = carried(b, "x", I(1)), old = mov_b32(b, "old", x);
    EMIT(b, add_s32, x, x, I(2));
    EMIT(b, stg_b32, AT(at, 0), old);
    EMIT(b, stg_b32, AT(at, 4), x);
    EMIT_RET(b);
}

/* Moves whose lines stand the other way round than they run. */
static void moves_reversed(mc_builder *b) {
    mc_label first = label(b, "FIRST"), second = label(b, "SECOND");
    mc_reg at = mov_b64(b, "at", I(0)), s = b32(b, "s"), d = b32(b, "d");
    EMIT(b, bra, TO(first));
    set_label(b, second);
    EMIT(b, mov_b32, d, s);
    EMIT(b, stg_b32, AT(at, 0), d);
    EMIT_RET(b);
    set_label(b, first);
    mc_reg r = ldg_b32(b, "r", AT(at, 0));
    EMIT(b, mov_b32, s, r);
    EMIT(b, bra, TO(second));
}

/* The metadata of a sparse mma stand behind its sum, and are read like its factors. */
static void sparse(mc_builder *b) {
    operands o = make_operands(b);
    mc_reg meta = carried(b, "meta", I(0));
    zero_sums(b, &o);
    EMIT(b, mma_sp_s8_k32, V4(o.acc), V2(o.a), V2(o.v), V4(o.acc), meta, I(0));
    end(b, &o);
}

/* A wgmma reads A and writes its sums after it was issued. So a move to A, or out of a sum, stays. */
static void asynchronous(mc_builder *b) {
    mc_reg sums[4], a[4], at = mov_b64(b, "at", I(0)), desc = mov_b64(b, "desc", I(0));
    b32_array(b, "acc", 4, sums);
    b32_array(b, "a", 4, a);
    mc_reg word = ldg_b32(b, "word", AT(at, 0));
    for (int i = 0; i < 4; i++) EMIT(b, mov_b32, a[i], word);
    EMIT(b, wgmma_a_f16, V4(sums), V4(a), desc, I(0), I(1), I(1), I(0));
    EMIT(b, wgmma_wait, I(0));
    mc_reg kept = mov_b32(b, "kept", sums[0]);
    EMIT(b, stg_b32, AT(at, 0), kept);
    EMIT_RET(b);
}

static const struct {
    const char *name;
    void (*make)(mc_builder *b);
    const char *wanted[3], *gone[5];
} cases[] = {
    {"straight",
     straight,
     {"%zero_sum, 0;", "{%zero_sum, %zero_sum, %zero_sum, %zero_sum};", "{%acc0, %acc1, %acc2, %acc3};"},
     {"%acc0, 0;", "%acc3, 0;"}},
    {"loop",
     loop,
     {"mov.v4.b32                      {%acc0, %acc1, %acc2, %acc3}, {0, 0, 0, 0};"},
     {"zero_sum", "%acc0, 0;", "%acc3, 0;"}},
    {"zeroed in a loop", zeroed_in_loop, {"%zero_sum, 0;"}, {"%acc0, 0;"}},
    {"jumped over", jumped_over, {"%acc3}, {0, 0, 0, 0};"}, {"zero_sum"}},
    {"guarded load", guarded_load, {"%x, 0;"}, {"zero_sum"}},
    {"neutral",
     neutral,
     {"add.s32                         %sum, %x, %y;", "mul.lo.s32                      %product, %x, %y;",
      "[%at], %sum;"},
     {"%times", "%plus", "%same", "%there", "mad"}},
    {"moves reversed", moves_reversed, {"[%at], %r;"}, {"%s", "%d"}},
    {"sparse",
     sparse,
     {"%meta, 0;", "{%zero_sum, %zero_sum, %zero_sum, %zero_sum}, %meta, 0;"},
     {"%acc0, 0;"}},
    {"asynchronous", asynchronous, {"%a3, %word;", "%kept, %acc0;"}, {"zero_sum"}},
    {"moved and written", moved_and_written, {"%old, %x;", "[%at], %old;"}, {NULL}},
};

/* The body after simplification, which the check accepts. */
static char *simplified(void (*make)(mc_builder *b)) {
    mc_builder b = {.arch = &hopper};
    mc_text text = {0};
    int version = 0, registers = 0;
    make(&b);
    CHECK(builder_check(&b, &version, &registers) && builder_simplify(&b), "%s", b.error);
    CHECK(builder_check(&b, &version, &registers), "%s", b.error);
    print_body(&b, &text);
    builder_free(&b);
    return text_take(&text);
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = simplified(cases[i].make);
        for (size_t w = 0; w < 3 && cases[i].wanted[w]; w++) CHECK_TEXT(text, cases[i].wanted[w]);
        for (size_t g = 0; g < 5 && cases[i].gone[g]; g++)
            CHECK(!strstr(text, cases[i].gone[g]), "%s: %s in\n%s", cases[i].name, cases[i].gone[g], text);
        free(text);
    }
    return check_end();
}
