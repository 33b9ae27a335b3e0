/* The builder and the checks: each mistake is one row, with the message that names the instruction. */
#include "ptx/builder.h"
#include "check.h"
#include "parts/integer/nibbles.h"
#include <stdlib.h>

static mc_builder make(const char *target) {
    mc_builder b = {0};
    for (int i = 0; mc_arch_names[i]; i++) {
        if (strcmp(mc_arch_names[i], target) == 0) b.arch = &mc_archs[i];
    }
    return b;
}

/* -- Mistakes ----------------------------------------------------------------------------------------- */

typedef void mistake(mc_builder *b);

static void wrong_type(mc_builder *b) {
    mc_reg x = b32(b, "x"), y = b64(b, "y");
    EMIT(b, mov_b32, x, I(1));
    EMIT(b, add_s32, x, x, y);
}

static void wrong_width(mc_builder *b) {
    mc_reg r[4], a[4];
    b32_array(b, "r", 4, r);
    b32_array(b, "a", 4, a);
    for (int i = 0; i < 4; i++) EMIT(b, mov_b32, r[i], I(0));
    for (int i = 0; i < 4; i++) EMIT(b, mov_b32, a[i], I(0));
    EMIT(b, mma_s8, V4(r), V4(a), V4(a), V4(r));
}

static void too_few(mc_builder *b) {
    mc_reg x = b32(b, "x");
    EMIT(b, add_s32, x, I(1));
}

static void too_many(mc_builder *b) {
    mc_reg x = b32(b, "x");
    EMIT(b, add_s32, x, I(1), I(2), I(3), I(4), I(5));
}

static void vector_too_long(mc_builder *b) {
    mc_reg r[8], at = b64(b, "at");
    b32_array(b, "r", 8, r);
    EMIT(b, ldg_v4, operand_vector(r, 8), AT(at, 0));
}

static void written_again(mc_builder *b) {
    mc_reg x = mov_b32(b, "x", I(1));
    EMIT(b, add_s32, x, x, I(1));
}

static void second_dynamic(mc_builder *b) {
    shared_dynamic(b, "one", 16);
    shared_dynamic(b, "two", 16);
}

static void negated_source(mc_builder *b) {
    mc_reg p = setp_lt(b, "p", I(1), I(2));
    selp_b32(b, "x", I(1), I(2), NOT(p));
}

static void multiply(mc_builder *b, int registers, mc_operand adds) {
    mc_reg sums[20], desc = mov_b64(b, "desc", I(0));
    b32_array(b, "sum", registers, sums);
    EMIT(b, wgmma_s8, operand_vector(sums, registers), desc, desc, adds);
    EMIT_RET(b);
}
static void unwritten_sums(mc_builder *b) { multiply(b, 16, I(1)); }
static void no_such_columns(mc_builder *b) { multiply(b, 20, I(0)); }
static void wrong_adds(mc_builder *b) { multiply(b, 16, I(2)); }
static void no_such_registers(mc_builder *b) { EMIT(b, registers_up, I(236)); }

static void wrong_coordinates(mc_builder *b) {
    mc_reg x = mov_b32(b, "x", I(16)), map = mov_b64(b, "map", I(0));
    EMIT(b, tma_load_2d, AT(x, 0), TENSOR(map, x, x, x), AT(x, 8));
}

static void immediate_destination(mc_builder *b) { EMIT(b, mov_b32, I(1), I(2)); }

static void mask_too_wide(mc_builder *b) {
    mc_reg x = b32(b, "x");
    EMIT(b, mov_b32, x, I(0));
    EMIT(b, prmt, x, x, x, I(0x10000));
}

static void immediate_too_wide(mc_builder *b) {
    mc_reg x = b32(b, "x");
    EMIT(b, mov_b32, x, I((int64_t)1 << 32));
}

static void no_register(mc_builder *b) { EMIT(b, mov_b32, (mc_reg){0}, I(0)); }

static void guard_not_predicate(mc_builder *b) {
    mc_reg x = b32(b, "x");
    EMIT_IF(b, x, mov_b32, x, I(0));
}

static void declared_twice(mc_builder *b) {
    b32(b, "x");
    b64(b, "x");
}

static void read_before_write(mc_builder *b) {
    mc_reg x = b32(b, "x"), y[2];
    b32_array(b, "y", 2, y);
    EMIT(b, add_s32, x, y[1], I(1));
    EMIT_RET(b);
}

static void written_on_one_path(mc_builder *b) {
    mc_reg x = b32(b, "x"), p = pred(b, "p");
    mc_label skip = label(b, "SKIP");
    EMIT(b, setp_lt, p, I(1), I(2));
    EMIT_IF(b, p, bra, TO(skip));
    EMIT(b, mov_b32, x, I(0));
    set_label(b, skip);
    EMIT(b, add_s32, x, x, I(1));
    EMIT_RET(b);
}

static void written_under_guard(mc_builder *b) {
    mc_reg x = b32(b, "x"), p = pred(b, "p");
    EMIT(b, setp_lt, p, I(1), I(2));
    EMIT_IF(b, p, mov_b32, x, I(0));
    EMIT(b, add_s32, x, x, I(1));
    EMIT_RET(b);
}

static void label_nowhere(mc_builder *b) {
    mc_label nowhere = label(b, "NOWHERE");
    EMIT(b, bra, TO(nowhere));
}

static void label_twice(mc_builder *b) {
    mc_label twice = label(b, "TWICE");
    set_label(b, twice);
    set_label(b, twice);
    EMIT_RET(b);
}

static void past_the_end(mc_builder *b) {
    mc_reg x = b32(b, "x");
    EMIT(b, mov_b32, x, I(0));
}

static void second_shared(mc_builder *b) {
    shared_array(b, "one", 16, 16);
    shared_array(b, "one", 16, 16);
}

static void label_named_twice(mc_builder *b) {
    label(b, "X");
    label(b, "X");
}

static void own_name(mc_builder *b) { b32(b, "laneid"); }

static void element_name(mc_builder *b) {
    mc_reg row[4];
    b32_array(b, "row", 4, row);
    b32(b, "row2");
}

static void destination_twice(mc_builder *b) {
    mc_reg base = b64(b, "base"), x = b32(b, "x");
    const mc_reg same[2] = {x, x};
    EMIT(b, mov_b64, base, I(0));
    EMIT(b, ldg_v2, V2(same), AT(base, 0));
}

static void misaligned(mc_builder *b) {
    mc_reg base = b64(b, "base"), r[4];
    b32_array(b, "r", 4, r);
    EMIT(b, mov_b64, base, I(0));
    EMIT(b, ldg_v4, V4(r), AT(base, 8));
}

static void no_such_barrier(mc_builder *b) { EMIT(b, bar_sync, I(16)); }

static void no_such_array(mc_builder *b) {
    mc_reg x = b32(b, "x");
    EMIT(b, mov_shared, x, NAME("partial"));
}

static void huge_shared(mc_builder *b) { shared_array(b, "partial", 1 << 30, 16); }

static void nothing(mc_builder *b) { (void)b; }

static const struct {
    const char *name;
    mistake *make;
    const char *message;
} mistakes[] = {
    {"wrong type", wrong_type, "add_s32: operand 2: want b32 or immediate, got b64"},
    {"wrong width", wrong_width, "mma_s8: operand 2: want b32 x2, got b32 x4"},
    {"too few", too_few, "add_s32: 2 operands do not fit b=BB"},
    {"too many", too_many, "add_s32: 6 operands do not fit b=BB"},
    {"vector too long", vector_too_long, "ldg_v4: operand 0: want b32 x4, got b32 x8"},
    {"immediate destination", immediate_destination, "mov_b32: operand 0: want b32, got immediate"},
    {"mask", mask_too_wide, "prmt: operand 3: want mask"},
    {"immediate", immediate_too_wide, "mov_b32: operand 1: want b32 or immediate, got immediate"},
    {"no register", no_register, "mov_b32: operand 0: want b32, got no register"},
    {"guard", guard_not_predicate, "mov_b32: the guard is not a predicate"},
    {"declared twice", declared_twice, "register %x is declared twice"},
    {"read before write", read_before_write, "add_s32: reads %y1, which may not have been written"},
    {"one path", written_on_one_path, "add_s32: reads %x"},
    {"under guard", written_under_guard, "add_s32: reads %x"},
    {"label nowhere", label_nowhere, "nowhere: 'NOWHERE'"},
    {"label twice", label_twice, "twice: 'TWICE'"},
    {"past the end", past_the_end, "runs past its end, last is 'mov_b32'"},
    {"label named twice", label_named_twice, "label X is declared twice"},
    {"PTX's own name", own_name, "register %laneid is one of PTX's own"},
    {"name of an element", element_name, "register %row2 is declared twice"},
    {"destination twice", destination_twice, "ldg_v2: a destination twice"},
    {"misaligned", misaligned, "ldg_v4: a misaligned offset"},
    {"barrier", no_such_barrier, "bar_sync: no such barrier"},
    {"shared array", no_such_array, "mov_shared: no such shared array"},
    {"huge shared array", huge_shared, "shared array 'partial': 1073741824 bytes"},
    {"nothing", nothing, "the kernel is empty"},
    {"shared array twice", second_shared, "'one': 16 bytes, aligned to 16: it is declared twice"},
    {"second dynamic array", second_dynamic,
     "'two': 0 bytes, aligned to 16: there is a dynamic array already"},
    {"written again", written_again, "add_s32: writes %x, which an expression has defined"},
    {"accumulators unwritten", unwritten_sums, "wgmma_s8: reads %sum0, which may not have been written"},
    {"columns", no_such_columns, "wgmma_s8: no such number of columns"},
    {"coordinates", wrong_coordinates, "tma_load_2d: another number of coordinates"},
    {"registers", no_such_registers, "registers_up: no such number of registers"},
    {"sum's predicate", wrong_adds, "wgmma_s8: operand 3: want predicate or immediate, got immediate"},
    {"negated source", negated_source, "selp_b32: operand 3: want predicate, got a negated predicate"},
};

static void test_mistakes(void) {
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        int version;
        int registers;
        mc_builder b = make("sm_90a");
        mistakes[i].make(&b);
        CHECK(!builder_check(&b, &version, &registers), "%s", mistakes[i].name);
        CHECK_TEXT(b.error, mistakes[i].message);
        builder_free(&b);
    }
}

/* -- What is right ------------------------------------------------------------------------------------ */

static void test_minima(void) {
    static const mc_arch turing = {.target = "sm_75", .sm = 75, .ptx_version = 63};
    mc_builder b = {.arch = &turing};
    mc_reg r[4];
    b32_array(&b, "r", 4, r);
    EMIT(&b, mma_s8, V4(r), V4(r), V2(r), V4(r));
    CHECK_TEXT(b.error, "mma_s8 needs sm_80, target is sm_75");
    builder_free(&b);
    for (int a = 0; a < 2; a++) {
        b = make(a ? "sm_90a" : "sm_90");
        EMIT_BARE(&b, wgmma_commit);
        CHECK(a ? !b.error[0] : !strcmp(b.error, "wgmma_commit needs sm_90a, target is sm_90"), "%s",
              b.error);
        builder_free(&b);
    }
}

/* -- What has no limit -------------------------------------------------------------------------------- */

/* The body that the builder's lines print. */
static char *printed(mc_builder *b) {
    mc_text text = {0};
    int version, registers;
    CHECK(builder_check(b, &version, &registers), "%s", b->error);
    print_body(b, &text);
    return text_take(&text);
}

/* The 128 accumulators of a wgmma are kept and printed whole. The first one writes them, and the second one
   adds to them: they are alive between. Their number is n, which the mnemonic has. */
static void test_long_vector(void) {
    mc_builder b = make("sm_90a");
    mc_reg sums[128], desc = mov_b64(&b, "desc", I(0)), a[4];
    int version, registers;
    b32_array(&b, "sum", 128, sums);
    b32_array(&b, "a", 4, a);
    for (int i = 0; i < 4; i++) EMIT(&b, mov_b32, a[i], I(0));
    EMIT(&b, wgmma_f16, operand_vector(sums, 128), desc, desc, I(0), I(1), I(1), I(0), I(0));
    EMIT(&b, wgmma_a_f16, operand_vector(sums, 128), V4(a), desc, I(1), I(1), I(1), I(0));
    EMIT(&b, wgmma_f16_sums, operand_vector(sums, 16), desc, desc, I(1), I(1), I(1), I(0), I(0));
    EMIT_RET(&b);
    CHECK(builder_check(&b, &version, &registers) && registers == 128 + 2 + 4, "%s, %d registers", b.error,
          registers);
    char *text = printed(&b);
    CHECK_TEXT(text, "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%sum0, %sum1,");
    CHECK_TEXT(text, "%sum126, %sum127}, {%a0, %a1, %a2, %a3}, %desc, 1, 1, 1, 0;");
    CHECK_TEXT(text, "m64n64k16.f16.f16.f16 {%sum0,");
    free(text);
    builder_free(&b);
}

/* A guard that is negated, two shared arrays, and a register that an expression names. */
static void test_expressions(void) {
    mc_builder b = make("sm_90");
    shared_array(&b, "one", 16, 16);
    shared_array(&b, "two", 32, 16);
    shared_dynamic(&b, "rest", 16);
    mc_reg one = mov_shared(&b, "one_at", NAME("one")), two = mov_shared(&b, "two_at", NAME("two"));
    mc_reg less = setp_lt(&b, "less", one, two), sum = add_s32(&b, "sum", one, I(4));
    mc_reg turns = carried(&b, "turns", I(0));
    EMIT_IF(&b, NOT(less), add_s32, turns, turns, sum);
    EMIT_RET(&b);
    char *text = printed(&b);
    CHECK_TEXT(text, ".b8 one[16]");
    CHECK_TEXT(text, ".b8 two[32]");
    CHECK_TEXT(text, "%less, %one_at, %two_at;");
    CHECK_TEXT(text, "@!%less add.s32");
    free(text);
    builder_free(&b);
}

/* Four registers alive where the sum is taken: x, y and the 64-bit base count 1 + 1 + 2. */
static void test_registers(void) {
    int version = 0;
    int registers = 0;
    mc_builder b = make("sm_90");
    mc_reg base = b64(&b, "base"), x = b32(&b, "x"), y = b32(&b, "y");
    EMIT(&b, ld_param_u64, base, NAME("p"));
    EMIT(&b, mov_b32, x, I(1));
    EMIT(&b, mov_b32, y, I(2));
    EMIT(&b, add_s32, x, x, y);
    EMIT(&b, stg_b32, AT(base, 0), x);
    EMIT_RET(&b);
    CHECK(builder_check(&b, &version, &registers), "%s", b.error);
    CHECK(registers == 4, "got %d", registers);
    CHECK(version == 78, "got %d", version);
    builder_free(&b);
}

/* The small mma's operands are halves of the large one's: its A and B have the slots of either register of the large B. */
static void test_small_fragments(void) {
    int c[8][8] = {{0}}, wrong = 0;
    for (int lane = 0; lane < 32; lane++) {
        for (int reg = 0; reg < 2; reg++) c[frag_small_c_row(lane)][frag_small_c_col(lane, reg)]++;
        for (int byte = 0; byte < 8; byte++)
            wrong += frag_small_k(lane, byte % 4) + byte / 4 * 16 != frag_b_k(lane, byte / 4, byte % 4);
        wrong += frag_small_c_row(lane) != frag_b_col(lane);
    }
    for (int i = 0; i < 64; i++) wrong += c[i / 8][i % 8] != 1;
    CHECK(wrong == 0, "%d elements", wrong);
}

/* The maps of fragment.h cover each element once, and slots agree on both operands. */
static void test_fragments(void) {
    int a[16][32] = {{0}}, b[32][8] = {{0}}, c[16][8] = {{0}}, values[256] = {0}, wrong = 0;
    for (int lane = 0; lane < 32; lane++) {
        for (int reg = 0; reg < 4; reg++) {
            c[frag_c_row(lane, reg)][frag_c_col(lane, reg)]++;
            for (int byte = 0; byte < 4; byte++) a[frag_a_row(lane, reg)][frag_a_k(lane, reg, byte)]++;
        }
        for (int byte = 0; byte < 8; byte++) b[frag_b_k(lane, byte / 4, byte % 4)][frag_b_col(lane)]++;
    }
    for (int i = 0; i < 512; i++) wrong += a[i / 32][i % 32] != 1;
    for (int i = 0; i < 256; i++) wrong += b[i / 8][i % 8] != 1;
    for (int i = 0; i < 128; i++) wrong += c[i / 8][i % 8] != 1;
    for (int slot = 0; slot < 32; slot++) {
        int lane = slot_thread(slot), reg = slot_reg(slot), byte = slot_byte(slot);
        wrong += frag_a_k(lane, 2 * reg, byte) != slot_k(slot) ||
                 frag_a_k(lane, 2 * reg + 1, byte) != slot_k(slot);
        for (int row = 0; row < 8; row++) values[slot_value_offset(row, slot)]++;
    }
    for (int i = 0; i < 256; i++) wrong += values[i] != 1;
    CHECK(wrong == 0, "%d elements", wrong);
    CHECK(slot_value_offset(3, 17) == 3 * 32 + 17, "row-major [8][32]");
}

/* Those of 4 bits, for m16n8k64. */
static void test_fragments4(void) {
    int a[16][64] = {{0}}, b[64][8] = {{0}}, values[2][512] = {{0}}, shuffled[64] = {0}, wrong = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 32; i++) {
            int reg = i / 8, nibble = i % 8;
            a[frag_a_row(lane, reg)][frag4_a_k(lane, reg, nibble)]++;
            if (reg < 2) b[frag4_b_k(lane, reg, nibble)][frag_b_col(lane)]++;
        }
    for (int i = 0; i < 1024; i++) wrong += a[i / 64][i % 64] != 1;
    for (int i = 0; i < 512; i++) wrong += b[i / 8][i % 8] != 1;
    for (int slot = 0; slot < 64; slot++) {
        wrong += slot4_k(slot) != slot || slot4_thread(slot) != slot_thread(slot % 32);
        shuffled[shuffled_slot(slot)]++;
        for (int row = 0; row < 8; row++) {
            values[1][slot4_value_place(row, slot, 64)]++;
            if (slot < 32) values[0][slot4_value_place(row, slot, 32)]++;
        }
    }
    for (int i = 0; i < 64; i++) wrong += shuffled[i] != 1 || shuffled_slot(i) / 8 != i / 8;
    for (int i = 0; i < 512; i++) wrong += values[0][i] != (i < 256) || values[1][i] != 1;
    CHECK(wrong == 0, "%d elements", wrong);
    CHECK(slot4_value_place(3, 17, 32) == 3 * 32 + 17, "row-major [8][32]");
    CHECK(slot4_value_place(3, 17, 64) == (4 * 3 + 2) * 16 + 1, "16 nibbles a lane");
}

int main(void) {
    test_fragments4();
    test_mistakes();
    test_minima();
    test_expressions();
    test_long_vector();
    test_registers();
    test_fragments();
    test_small_fragments();
    return check_end();
}
