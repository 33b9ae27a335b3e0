/* The family `axpby`: C = 2 A - B of dense matrices, a thread an element. The least that a family can be. */
#include "parts/emit.h"
#include "schema/family.h"
#include <stdio.h>

enum { F_LHS = FIELD_ARCH + 1, F_RHS, F_OUT, F_COLUMNS, F_M, F_N, F_LDA, F_LDB, F_LDC };

static const char *const op_names[] = {"axpby", NULL};
static const char *const sides[] = {"s8", NULL}, *const outs[] = {"s32", NULL};
static const int columns[] = {32, 64, 128, 256, 0};

static const mc_field fields[] = {
    {"op", NAMES = op_names, .doc = "The family."},
    ARCH_FIELD,
    {"lhs", NAMES = sides, .doc = "Type of A's elements."},
    {"rhs", NAMES = sides, .doc = "Type of B's elements."},
    {"out", NAMES = outs, .doc = "Type of C's elements."},
    {"columns", NUMBERS = columns, .standard = 64, .tunable = true,
     .doc = "Of C, that a thread block computes."},
    {"m", SHAPE, .doc = "Rows."},
    {"n", SHAPE, .doc = "Columns."},
    {"lda", SHAPE, .doc = "Elements from one row of A to the next."},
    {"ldb", SHAPE, .doc = "Elements from one row of B to the next."},
    {"ldc", SHAPE, .doc = "Elements from one row of C to the next."},
};
SCHEMA_FITS(fields, F_LDC);

typedef struct axpby_plan {
    int columns;
    int64_t n, lda, ldb, ldc;
} axpby_plan;

static void plan(const int64_t *point, void *data, mc_complaints *complaints) {
    axpby_plan *p = data;
    (void)complaints;
    *p = (axpby_plan){(int)point[F_COLUMNS], point[F_N], point[F_LDA], point[F_LDB], point[F_LDC]};
}

static void contract(const void *data, mc_contract *c) {
    const axpby_plan *p = data;
    add_param(c, (mc_param){"a", "u64", MC_PARAM_ARRAY, 1, "A: s8[m][lda]"});
    add_param(c, (mc_param){"b", "u64", MC_PARAM_ARRAY, 1, "B: s8[m][ldb]"});
    add_param(c, (mc_param){"c", "u64", MC_PARAM_ARRAY, 4, "C: s32[m][ldc]"});
    add_shape(c, "n", p->n, "columns");
    add_shape(c, "lda", p->lda, "elements from one row of A to the next");
    add_shape(c, "ldb", p->ldb, "elements from one row of B to the next");
    add_shape(c, "ldc", p->ldc, "elements from one row of C to the next");
    c->grid[0] = (mc_grid_axis){"n", p->columns};
    c->grid[1] = (mc_grid_axis){"m", 1};
    c->block[0] = (unsigned)p->columns, c->block[1] = c->block[2] = 1;
}

static void facts(const void *data, mc_facts *f) {
    const axpby_plan *p = data;
    add_fact(f, "columns", p->columns, "of C, that a thread block computes");
}

/* ROW * LD + COLUMN elements of SIZE bytes behind the array NAME. */
static mc_reg address(mc_builder *b, const char *name, const char *ld, int64_t fixed, mc_reg row,
                      mc_reg column, int size) {
    mc_reg at = load_array(b, name), step = load_shape(b, ld, fixed == MC_OPEN);
    mc_reg element = b64(b, size == 1 ? (*name == 'a' ? "a_at" : "b_at") : "c_at");
    EMIT(b, mad_wide, element, row, dim_operand(fixed, step), I(0));
    mc_reg of_column = b64(b, size == 1 ? (*name == 'a' ? "a_column" : "b_column") : "c_column");
    EMIT(b, cvt_s64, of_column, column);
    EMIT(b, add_s64, element, element, of_column);
    EMIT(b, mad_s64, element, element, I(size), at);
    return element;
}

/* The byte at AT, with its sign. */
static mc_reg load_s8(mc_builder *b, const char *name, mc_reg at) {
    mc_reg value = b32(b, name);
    EMIT(b, ldg_u8, value, AT(at, 0));
    EMIT(b, shl_b32, value, value, I(24));
    EMIT(b, shr_s32, value, value, I(24));
    return value;
}

static void emit(const void *data, mc_builder *b) {
    const axpby_plan *p = data;
    mc_reg thread = load_special(b, "thread", "tid.x"), tile = load_special(b, "tile", "ctaid.x"),
           row = load_special(b, "row", "ctaid.y"), n = load_shape(b, "n", p->n == MC_OPEN);
    mc_reg column = b32(b, "column"), outside = pred(b, "outside");
    mc_label end = label(b, "END");
    EMIT(b, mad_s32, column, tile, I(p->columns), thread);
    EMIT(b, setp_ge, outside, column, dim_operand(p->n, n));
    EMIT_IF(b, outside, bra, TO(end));
    mc_reg x = load_s8(b, "x", address(b, "a", "lda", p->lda, row, column, 1));
    mc_reg y = load_s8(b, "y", address(b, "b", "ldb", p->ldb, row, column, 1));
    EMIT(b, add_s32, x, x, x);
    EMIT(b, sub_s32, x, x, y);
    EMIT(b, stg_b32, AT(address(b, "c", "ldc", p->ldc, row, column, 4), 0), x);
    set_label(b, end);
    EMIT_RET(b);
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const axpby_plan *p = data;
    snprintf(name, MC_MAX_ENTRY, "axpby_c%d", p->columns);
}

static const char formula[] = "C[m,n] = 2 A[m,n] - B[m,n], all dense and row-major.";

static const char *computes(const void *data) {
    (void)data;
    return formula;
}

static const char *how(const void *data) {
    (void)data;
    return "A thread computes one element.";
}

static const mc_hint hints[] = {{NULL, NULL}};

static const mc_solver rows = {.name = "rows",
                               .plan = plan,
                               .contract = contract,
                               .facts = facts,
                               .emit = emit,
                               .entry_name = entry_name,
                               .computes = computes,
                               .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &rows;
}

const mc_family mc_family_axpby = {.name = "axpby",
                                   .summary = "a toy: C = 2 A - B",
                                   .computes = formula,
                                   .fields = fields,
                                   .field_count = sizeof fields / sizeof *fields,
                                   .solver = solver,
                                   .hints = hints};
