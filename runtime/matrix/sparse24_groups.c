#include "matrix/sparse24_groups.h"
#include <inttypes.h>
#include "base/memory.h"
#include "matrix/sparse24_choose.h"

/* Columns of a group. */
static int columns_of(const mc_sparse24_rule *rule) { return rule->group * rule->unit; }

/* A division takes as long as all else that is done for a vector; groups have 2, 4 or 8 columns. */
static int64_t group_of(const mc_vsparse *a, const mc_sparse24_rule *rule, int64_t vector) {
    const int columns = columns_of(rule);
    return a->col_idx[vector] >> (columns == 8 ? 3 : columns == 4 ? 2 : 1);
}

/* The end of the vectors from FIRST on that are in GROUP, before END. */
static int64_t group_end(const mc_vsparse *a, const mc_sparse24_rule *rule, int64_t group, int64_t first,
                         int64_t end) {
    int64_t next = first;
    while (next < end && group_of(a, rule, next) == group) next++;
    return next;
}

/* The units of a group that have vectors: a bit for each, and how many there are. */
typedef struct group_units {
    unsigned there;
    int count;
} group_units;

/* Of the group that has the vectors from FIRST on, before END. */
static group_units units_of(const mc_vsparse *a, const mc_sparse24_rule *rule, int64_t first, int64_t end) {
    group_units units = {.count = 0};
    for (int64_t v = first; v < end; v++) {
        const int column = a->col_idx[v] & (columns_of(rule) - 1);
        const unsigned unit = 1U << (rule->unit > 1 ? column / 2 : column);
        units.count += !(units.there & unit);
        units.there |= unit;
    }
    return units;
}

/* -- Checks */

static mc_status check_kind(const mc_vsparse *a, mc_sparse24_rule *rule, mc_diag *diag) {
    mc_status status = mc_sparse24_rule_of(a->type, rule, diag);
    if (status != MC_OK || a->vec == 1) return status;
    return mc_fail(diag, MC_CANNOT, "a 2:4 matrix has vectors of one row, this one of %d", a->vec);
}

static mc_status check_groups(const mc_vsparse *a, const mc_sparse24_rule *rule, mc_diag *diag) {
    int64_t full = 0, row = 0, first = 0;
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t v = a->row_ptr[r], next; v < a->row_ptr[r + 1]; v = next) {
            next = group_end(a, rule, group_of(a, rule, v), v, a->row_ptr[r + 1]);
            if (units_of(a, rule, v, next).count <= rule->kept) continue;
            if (full++ == 0) row = r, first = group_of(a, rule, v) * columns_of(rule);
        }
    if (full == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%" PRId64 " %s more than %d of %d %s, the first one is row %" PRId64 ", columns %" PRId64
                   " to %" PRId64,
                   full, full == 1 ? "group has" : "groups have", rule->kept, rule->group,
                   rule->unit > 1 ? "pairs" : "elements", row, first, first + columns_of(rule) - 1);
}

/* -- A group */

/* Which of the vectors from FIRST on, before END, has COLUMN; -1: none. */
static int64_t find_vector(const mc_vsparse *a, int64_t first, int64_t end, int64_t column) {
    for (int64_t vector = first; vector < end; vector++)
        if (a->col_idx[vector] == column) return vector;
    return -1;
}

static void fill_group(const mc_vsparse *a, const mc_sparse24_rule *rule, int64_t first, int64_t end,
                       row_group *g) {
    const group_units units = units_of(a, rule, first, end);
    int chosen[MC_SPARSE24_MOST_KEPT] = {0}, count = 0, zeros = rule->kept - units.count;
    for (int i = 0; i < rule->group; i++) {
        if (!(units.there >> i & 1) && zeros-- <= 0) continue;
        for (int j = 0; j < rule->unit; j++) {
            const int64_t column = (g->group * rule->group + i) * rule->unit + j;
            g->column[count * rule->unit + j] = column;
            g->vector[count * rule->unit + j] = find_vector(a, first, end, column);
        }
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
    int64_t most = mcrt_product(a->rows, mc_sparse24_groups(&rule, a->cols) * sparse24_elements(&rule));
    status = mcrt_vsparse_create(a->type, 1, a->rows, a->cols, most, filled, diag);
    filling f = {.a = a, .kept = sparse24_elements(&rule), .filled = filled};
    if (status == MC_OK) status = sparse24_walk(a, take_group, &f, diag);
    filled->vectors = f.count;
    if (status != MC_OK) mc_vsparse_free(filled);
    return status;
}
