/* Records of other problems: how near one is, and what its kernel is for this one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/fields.h"
#include "records/parts.h"
#include "text/text.h"

static double log_of(int64_t size) { return log2(size > 0 ? (double)size : 0.5); }

record_position record_position_of(const plan_problem *p) {
    const matrix_features *f = &p->features;
    double row_blocks = p->m > 0 && p->vec > 0 ? (double)p->m / p->vec : 1,
           mean = (double)f->vectors / row_blocks;
    int64_t cols = member_get(p, operator_of(p->op)->matrix.cols);
    double density = log_of(f->vectors) - log2(row_blocks) - log_of(cols);
    record_position at = {{log_of(p->m), log_of(p->n), log_of(p->k), density, 0, 0}};
    if (f->vectors == 0) return at;
    at.axes[POSITION_SPREAD] = log2(1 + f->spread / mean);
    at.axes[POSITION_LONGEST] = log2(fmax(1, (double)f->quantiles[ROW_QUANTILES - 1] / mean));
    return at;
}

/* What each kind of difference adds to a distance. FAR_ALIEN is for numbers that a kernel does not compute
   with in the same way. The others change little in a kernel's time, or in which kernels there are. */
static const double apart_by[FAR_KINDS] = {[FAR_ALIEN] = INFINITY, [FAR_OUT] = 0.1,     [FAR_FACTORS] = 0.05,
                                           [FAR_ORDER] = 0.1,      [FAR_SHAPES] = 0.25, [FAR_ALIGN] = 0.25};

static double apart(const plan_problem *a, const plan_problem *b) {
    bool differs[FAR_KINDS] = {false};
    double sum = 0;
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++)
        differs[problem_members[i].far] |= member_get(a, i) != member_get(b, i);
    differs[FAR_ALIEN] |= mc_type_is_real(a->out) != mc_type_is_real(b->out);
    for (int i = 0; i < FAR_KINDS; i++) sum += differs[i] ? apart_by[i] : 0;
    return sum;
}

double record_distance_at(const plan_problem *a, const record_position *p, const plan_problem *b,
                          const record_position *q) {
    double squares = 0, between = apart(a, b);
    if (!isfinite(between)) return INFINITY;
    for (int i = 0; i < POSITION_AXES; i++) squares += (p->axes[i] - q->axes[i]) * (p->axes[i] - q->axes[i]);
    return sqrt(squares) + between;
}

double record_distance(const plan_problem *a, const plan_problem *b) {
    record_position p = record_position_of(a), q = record_position_of(b);
    return record_distance_at(a, &p, b, &q);
}

/* Fields that a problem decides, but names only where they are not as usual. */
static const char unnamed[] = "act= b_scale= c_scale= residual= beta=";

mc_kernel *record_kernel_for(const record *r, size_t i, const plan_problem *problem) {
    problem_settings settings;
    mc_text changes = {0};
    mc_kernel *kernel = NULL;
    if (i >= r->candidate_count || r->candidates[i].fields[0] == '\0') return NULL;
    plan_problem_settings(problem, &settings);
    for (size_t j = 0; j < settings.count; j++)
        text_add(&changes, "%s=%s ", settings.items[j].field, settings.items[j].value);
    text_add(&changes, "op=%s %s", plan_op_text(problem->op), unnamed);
    char *text = text_take(&changes);
    char *fields = text != NULL ? fields_change(r->candidates[i].fields, text) : NULL;
    if (fields != NULL) mc_kernel_outline_fields(fields, &kernel, NULL);
    free(fields);
    free(text);
    return kernel;
}

char *record_fields_for(const record *r, size_t i, const plan_problem *problem) {
    mc_kernel *kernel = record_kernel_for(r, i, problem);
    char *fields = kernel != NULL ? strdup(mc_kernel_fields(kernel)) : NULL;
    mc_kernel_destroy(kernel);
    return fields;
}
