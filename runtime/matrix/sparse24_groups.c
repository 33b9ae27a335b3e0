#include "matrix/sparse24_groups.h"
#include <inttypes.h>
#include "base/memory.h"
#include "matrix/sparse24_choose.h"

static int64_t group_of(const mc_vsparse *a, const mc_sparse24_rule *rule, int64_t vector) {
    return a->col_idx[vector] / rule->group;
}

/* The end of the vectors from FIRST on that are in GROUP, before END. */
static int64_t group_end(const mc_vsparse *a, const mc_sparse24_rule *rule, int64_t group, int64_t first,
                         int64_t end) {
    int64_t next = first;
    while (next < end && group_of(a, rule, next) == group) next++;
    return next;
}

/* -- Checks */

static mc_status check_kind(const mc_vsparse *a, mc_sparse24_rule *rule, mc_diag *diag) {
    mc_status status = mc_sparse24_rule_of(a->type, rule, diag);
    if (status == MC_OK && rule->unit != 1)
        return mc_fail(diag, MC_CANNOT,
                       "a 2:4 matrix of %s: pairs of elements are kept, which vectors do not say",
                       mc_type_text(a->type));
    if (status != MC_OK || a->vec == 1) return status;
    return mc_fail(diag, MC_CANNOT, "a 2:4 matrix has vectors of one row, this one of %d", a->vec);
}

static mc_status check_groups(const mc_vsparse *a, const mc_sparse24_rule *rule, mc_diag *diag) {
    int64_t full = 0, row = 0, first = 0;
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t v = a->row_ptr[r], next; v < a->row_ptr[r + 1]; v = next) {
            next = group_end(a, rule, group_of(a, rule, v), v, a->row_ptr[r + 1]);
            if (next - v <= rule->kept) continue;
            if (full++ == 0) row = r, first = group_of(a, rule, v) * rule->group;
        }
    if (full == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%" PRId64 " %s more than %d of %d elements, the first one is row %" PRId64
                   ", columns %" PRId64 " to %" PRId64,
                   full, full == 1 ? "group has" : "groups have", rule->kept, rule->group, row, first,
                   first + rule->group - 1);
}

/* -- A group */

/* Whether one of the vectors from FIRST on, before END, has COLUMN; that is *VECTOR, else -1. */
static bool find_vector(const mc_vsparse *a, int64_t first, int64_t end, int64_t column, int64_t *vector) {
    for (*vector = first; *vector < end; ++*vector)
        if (a->col_idx[*vector] == column) return true;
    *vector = -1;
    return false;
}

static void fill_group(const mc_vsparse *a, const mc_sparse24_rule *rule, int64_t first, int64_t end,
                       row_group *g) {
    int64_t zeros = rule->kept - (end - first);
    int chosen[MC_SPARSE24_MOST_KEPT] = {0}, count = 0;
    for (int i = 0; i < rule->group; i++) {
        int64_t column = g->group * rule->group + i, vector;
        if (!find_vector(a, first, end, column, &vector) && zeros-- <= 0) continue;
        g->column[count] = column, g->vector[count] = vector;
        chosen[count++] = i;
    }
    g->code = sparse24_code(rule, chosen);
}

mc_status sparse24_walk(const mc_vsparse *a, void (*visit)(void *user, const row_group *group), void *user,
                        mc_diag *diag) {
    mc_sparse24_rule rule;
    mc_status status = check_kind(a, &rule, diag);
    if (status == MC_OK) status = check_groups(a, &rule, diag);
    int64_t groups = status == MC_OK ? mc_sparse24_groups(&rule, a->cols) : 0;
    for (int64_t r = 0; groups > 0 && r < a->rows; r++)
        for (int64_t group = 0, v = a->row_ptr[r], next; group < groups; group++, v = next) {
            row_group g = {.row = r, .group = group};
            next = group_end(a, &rule, group, v, a->row_ptr[r + 1]);
            fill_group(a, &rule, v, next, &g);
            visit(user, &g);
        }
    return status;
}

/* -- The whole */

typedef struct filling {
    const mc_vsparse *a;
    int kept;
    mc_vsparse *filled;
    int64_t count;
} filling;

static void take_group(void *user, const row_group *g) {
    filling *f = user;
    for (int i = 0; i < f->kept && g->column[i] < f->a->cols; i++) {
        f->filled->col_idx[f->count] = (int32_t)g->column[i];
        if (g->vector[i] >= 0)
            mc_vsparse_set_value(f->filled, f->count, 0, mc_vsparse_value(f->a, g->vector[i], 0));
        f->count++;
    }
    f->filled->row_ptr[g->row + 1] = f->count;
}

mc_status sparse24_fill(const mc_vsparse *a, mc_vsparse *filled, mc_diag *diag) {
    mc_sparse24_rule rule;
    *filled = (mc_vsparse){0};
    mc_status status = check_kind(a, &rule, diag);
    if (status != MC_OK) return status;
    int64_t most = mcrt_product(a->rows, mc_sparse24_groups(&rule, a->cols) * rule.kept);
    status = mcrt_vsparse_create(a->type, 1, a->rows, a->cols, most, filled, diag);
    filling f = {.a = a, .kept = rule.kept, .filled = filled};
    if (status == MC_OK) status = sparse24_walk(a, take_group, &f, diag);
    filled->vectors = f.count;
    if (status != MC_OK) mc_vsparse_free(filled);
    return status;
}
