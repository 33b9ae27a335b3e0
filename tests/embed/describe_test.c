/* What the library says of itself (mc_describe.h): all operators, members and types; and operands of plans, as executions bring
 * them. */
#include "check.h"
#include <stdlib.h>
#include "context/matrix.h"
#include "matrix/random.h"
#include "mc_describe.h"

static mc_diag *diag;

static void test_text(void) {
    size_t length = mc_describe(NULL, 0);
    char *text = malloc(length + 1), small[8] = "as it is";
    CHECK(mc_describe(text, length + 1) == length && strlen(text) == length, "%zu bytes", length);
    CHECK(mc_describe(small, sizeof small) == length && memcmp(small, "as it is", sizeof small) == 0,
          "cut off");
    const mc_operator *o;
    for (size_t i = 0; (o = operator_at(i)) != NULL; i++) {
        char want[64];
        snprintf(want, sizeof want, "{\"name\":\"%s\",\"title\":\"%s\",\"value\":%d", o->name, o->title,
                 (int)o->op);
        CHECK_TEXT(text, want);
        for (size_t k = 0; k < o->operand_count; k++) CHECK_TEXT(text, o->operands[k].name);
    }
    CHECK_TEXT(text, "{\"name\":\"e4m3\"");
    CHECK_TEXT(text, "\"words\":{\"bcrs\":0,\"srbcrs16\":16,\"srbcrs32\":32}");
    free(text);
}

static const operand_row *operand_of(const mc_operator *o, const char *name) {
    int at = o != NULL ? operator_operand(o, name) : -1;
    return at >= 0 ? &o->operands[at] : NULL;
}

/* An input and what it comes from are of one kind, save that values are sampled; dense ones are turned, or not, by their shapes'
   names alone, which no test can tell: tests/python compares results. */
static void check_input(const mc_operator *o, const mc_operator *by, const gradient_input *input) {
    const operand_row *to = operand_of(by, input->name);
    const operand_row *from = input->from != NULL ? operand_of(o, input->from) : operator_out(o);
    CHECK(to != NULL && !to->out && from != NULL, "%s: %s of %s", o->name, input->name, by->name);
    if (to == NULL || from == NULL) return;
    bool dense = to->kind == OPERAND_DENSE, factor = to->kind == OPERAND_FACTOR;
    CHECK(dense == (from->kind == OPERAND_DENSE) && factor == (from->kind == OPERAND_FACTOR), "%s: %s",
          o->name, input->name);
}

/* All that gradients name is there, and the operators have what they set. */
static void test_gradients(void) {
    const mc_operator *o;
    size_t count = 0;
    for (size_t i = 0; (o = operator_at(i)) != NULL; i++)
        for (size_t g = 0; g < o->gradient_count; g++, count++) {
            const gradient_row *row = &o->gradients[g];
            const operand_row *of = operand_of(o, row->of);
            CHECK(of != NULL && !of->out && (o->plain & ~o->members) == 0, "%s: %s", o->name, row->of);
            if (row->by == NULL || of == NULL) continue;
            const mc_operator *by = operator_named(row->by);
            CHECK(by != NULL && (by->members & row->same) == row->same &&
                      (o->members & row->same) == row->same,
                  "%s: %s", o->name, row->of);
            if (by == NULL) continue;
            CHECK(row->set == NO_MEMBER || operator_has(by, row->set), "%s: %s", o->name, row->of);
            CHECK((operator_out(by)->kind == OPERAND_DENSE) == (of->kind == OPERAND_DENSE), "%s: %s", o->name,
                  row->of);
            for (size_t k = 0; k < GRADIENT_INPUTS && row->inputs[k].name != NULL; k++)
                check_input(o, by, &row->inputs[k]);
        }
    CHECK(count == 9, "%zu gradients", count);
}

static mc_operand_info operand(const mc_plan *plan, size_t index) {
    mc_operand_info info = {.size = sizeof info};
    CHECK(mc_plan_get_operand(plan, index, &info, diag) == MC_OK, "%s", mc_diag_text(diag));
    return info;
}

/* Of 16 x 24, all its vectors there. */
static mc_matrix *make_matrix(mc_context *context) {
    int16_t values[16 * 24];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) values[i] = 0x3c00;
    const mc_dense_config config = {
        .size = sizeof config, .type = MC_F16, .vec = 8, .rows = 16, .cols = 24, .data = values};
    mc_matrix *matrix = NULL;
    CHECK(mc_matrix_from_dense(context, &config, &matrix, diag) == MC_OK, "%s", mc_diag_text(diag));
    return matrix;
}

static mc_plan *make_plan(mc_context *context, const mc_plan_config *config) {
    mc_plan *plan = NULL;
    CHECK(mc_plan_create(context, config, &plan, diag) == MC_OK, "%s", mc_diag_text(diag));
    return plan;
}

/* B as it is handed over, not as the kernel reads it. */
static void test_product(mc_context *context, mc_matrix *matrix) {
    enum { VALUES, B, SCALE, C = 9 };
    mc_plan *plan = make_plan(context, &(mc_plan_config){.size = sizeof(mc_plan_config),
                                                         .matrix = matrix,
                                                         .b = MC_F16,
                                                         .c = MC_F32,
                                                         .n = 5,
                                                         .ldb = 32,
                                                         .scale = MC_PER_TENSOR,
                                                         .batch = 3,
                                                         .b_major = MC_MAJOR_COLUMN});
    mc_operand_info b = operand(plan, B), c = operand(plan, C), scale = operand(plan, SCALE);
    CHECK(b.in && !b.out && b.wanted && b.type == MC_F16, "b");
    CHECK(b.rows == 5 && b.cols == 24 && b.ld == 32 && b.products == 3 && b.stride == 160, "b is %ld x %ld",
          (long)b.rows, (long)b.cols);
    CHECK(b.bytes == 2 * (2 * 160 + 4 * 32 + 24), "b has %ld bytes", (long)b.bytes);
    CHECK(c.out && !c.in && c.rows == 16 && c.cols == 5 && c.bytes == 3 * 16 * 5 * 4, "c");
    CHECK(scale.by_value && !scale.wanted, "the scale is a value");
    CHECK(!operand(plan, VALUES).wanted, "values are the matrix's");
    mc_operand_info info = {.size = sizeof info}, wrong = {.size = 3};
    CHECK(mc_plan_get_operand(plan, C + 1, &info, diag) == MC_USAGE, "past the last one");
    CHECK(mc_plan_get_operand(plan, C, &wrong, diag) == MC_USAGE, "a size that no version has");
    CHECK(mc_plan_get_operand(NULL, C, &info, diag) == MC_USAGE, "no plan");
    mc_plan_destroy(plan);
}

static void test_softmax(mc_context *context, mc_matrix *matrix) {
    enum { X, LSE = 3, C };
    mc_plan *plan = make_plan(context, &(mc_plan_config){.size = sizeof(mc_plan_config),
                                                         .op = MC_OP_SOFTMAX,
                                                         .matrix = matrix,
                                                         .a = MC_F16,
                                                         .c = MC_F16,
                                                         .lse = MC_PER_ROW,
                                                         .c_order = MC_ORDER_SRBCRS32,
                                                         .batch = 2});
    mc_operand_info x = operand(plan, X), lse = operand(plan, LSE), c = operand(plan, C);
    CHECK(x.rows == 2 * 8 && x.cols == 32 && x.products == 2 && x.stride == 512, "x is %ld x %ld",
          (long)x.rows, (long)x.cols);
    CHECK(lse.out && !lse.in && lse.type == MC_F32 && lse.cols == 16 && lse.products == 2 &&
              lse.bytes == 2 * 16 * 4,
          "lse");
    CHECK(c.out && c.bytes == x.bytes, "c");
    mc_plan_destroy(plan);
}

int main(void) {
    mc_context *context = NULL;
    diag = mc_diag_create();
    test_text();
    test_gradients();
    CHECK(mc_context_create(&(mc_context_config){.size = sizeof(mc_context_config),
                                                 .device = "sim",
                                                 .cache = MC_CACHE_MEMORY,
                                                 .records = ""},
                            &context, diag) == MC_OK,
          "%s", mc_diag_text(diag));
    mc_matrix *matrix = make_matrix(context);
    test_product(context, matrix);
    test_softmax(context, matrix);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
