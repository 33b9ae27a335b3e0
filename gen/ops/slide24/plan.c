#include "ops/slide24/slide24.h"
#include "parts/slide24.h"

const char *const slide24_types[] = {"f16", "bf16", "e4m3", "e5m2", "s8", "u8", "s16", NULL};
const char *const slide24_patterns[] = {
#define X(text, span) text,
    SLIDE24_PATTERNS(X)
#undef X
        NULL};

enum { LEAST_SPAN = 4, STEP = 2 /* from a pattern's span to the next one's, and from group to group */ };

/* Whole vectors whatever the span is: groups have 4 or 8 bytes. */
enum { SPANS_AT_ONCE = 8 };

static void take_point(const int64_t *point, slide24_plan *plan) {
    static const int bytes[] = {2, 2, 1, 1, 1, 1, 2};
    *plan = (slide24_plan){.type = (int)point[F_LHS],
                           .bytes = bytes[point[F_LHS]],
                           .span = LEAST_SPAN + STEP * (int)point[F_PATTERN],
                           .hold = (int)point[F_HOLD],
                           .warps = (int)point[F_WARPS],
                           .align = (int)point[F_ALIGN],
                           .batch = point[F_BATCH] != 0,
                           .overlap = (family_overlap)point[F_OVERLAP],
                           .m = point[F_M],
                           .n = point[F_N],
                           .lda = point[F_LDA],
                           .ldc = point[F_LDC]};
}

static void plan_spans(slide24_plan *plan) {
    plan->pair = 2 * plan->bytes;
    plan->groups = plan->span / 2 - 1;
    plan->vector_groups = SLIDE24_VECTOR / (SLIDE24_GROUP * plan->bytes);
    const int at_once = SPANS_AT_ONCE * plan->groups / plan->vector_groups;
    const int times = slide24_threads(plan) / at_once;
    plan->spans = SPANS_AT_ONCE * times;
    plan->vectors = at_once * times;
}

static bool is_multiple(int64_t shape, int of) { return shape == MC_OPEN || shape % of == 0; }

static void plan_paths(slide24_plan *plan) {
    const int vector = SLIDE24_VECTOR / plan->bytes;
    plan->wide = is_multiple(plan->lda, 2) && is_multiple(plan->ldc, vector);
    plan->tests.x = plan->align < plan->pair;
    plan->tests.c = plan->align < SLIDE24_VECTOR;
    plan->tests.lda = plan->lda == MC_OPEN;
    plan->tests.ldc = plan->ldc == MC_OPEN;
    const bool tested = plan->tests.x || plan->tests.c || plan->tests.lda || plan->tests.ldc;
    const bool whole = plan->n != MC_OPEN && plan->n % ((int64_t)plan->spans * plan->span) == 0;
    plan->edge = !plan->wide || tested || !whole;
}

void slide24_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    slide24_plan *plan = data;
    take_point(point, plan);
    plan_spans(plan);
    plan_paths(plan);
    check_overlap(point, F_OVERLAP, complaints);
    if (point[F_OUT] != point[F_LHS])
        complain(complaints, F_OUT, "elements stay as they are: out must be lhs, \"%s\"",
                 slide24_types[plan->type]);
    if (plan->n != MC_OPEN && plan->n > SLIDE24_MOST_COLS)
        complain(complaints, F_N, "C would have too many columns: n is at most %d", SLIDE24_MOST_COLS);
}
