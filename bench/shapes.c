#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "shapes.h"

/* Of layers of language models: what multiplies the activations of N tokens. */
static const shape layers[] = {{4096, 4096},  {11008, 4096}, {4096, 11008}, {14336, 4096},
                               {4096, 14336}, {8192, 8192},  {28672, 8192}};

/* Of a first look, at every contender in seconds. */
static const shape tiny[] = {{64, 96}, {96, 64}};

#define ALL_OF(list) list, sizeof(list) / sizeof *(list)

const shape_set shape_sets[SHAPE_SETS] = {{"layers", "1,8,16,64,256,512,2048,4096,8192", ALL_OF(layers)},
                                          {"tiny", "1,16,40", ALL_OF(tiny)}};

/* -- Listing --------------------------------------------------------------------------------------------- */

static bool add_shape(const shape *s, const char *filter, work *items, size_t *count) {
    char name[48];
    snprintf(name, sizeof name, "%" PRId64 "x%" PRId64, s->m, s->k);
    if (filter != NULL && strstr(name, filter) == NULL) return true;
    work *item = &items[*count];
    *item = (work){.path = strdup(name), .made = true, .rows = s->m, .cols = s->k};
    if (item->path == NULL) return false;
    item->name = item->path;
    ++*count;
    return true;
}

mc_status shape_set_list(const shape_set *set, const char *filter, size_t limit, work **items, size_t *count,
                         mc_diag *diag) {
    *count = 0;
    *items = calloc(set->count, sizeof **items);
    if (*items == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t i = 0; i < set->count && (limit == 0 || *count < limit); i++)
        if (!add_shape(&set->shapes[i], filter, *items, count))
            return mc_fail(diag, MC_NOMEM, "out of memory");
    if (*count > 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s: no shape with %s", set->name, filter);
}

/* -- Patterns -------------------------------------------------------------------------------------------- */

static mc_status empty_pattern(const shape_pattern *p, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){.rows = p->rows / p->vec, .cols = p->cols};
    csr->row_ptr = calloc((size_t)csr->rows + 1, sizeof *csr->row_ptr);
    csr->col_idx = calloc(1, sizeof *csr->col_idx);
    if (csr->row_ptr != NULL && csr->col_idx != NULL) return MC_OK;
    mc_csr_free(csr);
    return mc_fail(diag, MC_NOMEM, "out of memory");
}

static mc_status uniform_pattern(const shape_pattern *p, mc_csr *csr, mc_diag *diag) {
    const mc_pattern pattern = {.rows = p->rows / p->vec,
                                .cols = p->cols,
                                .sparsity = p->sparsity,
                                .law = MC_PATTERN_UNIFORM,
                                .seed = p->seed};
    return mc_csr_generate(&pattern, csr, diag);
}

mc_status shape_pattern_make(const shape_pattern *p, mc_csr *csr, mc_diag *diag) {
    static mc_status (*const make[])(const shape_pattern *, mc_csr *, mc_diag *) = {
        [MASK_PATTERN] = uniform_pattern, [MASK_SHAPE] = empty_pattern, [MASK_24] = empty_pattern};
    if (p->rows % p->vec != 0)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " rows are no multiple of V = %d", p->rows, p->vec);
    return make[p->mask](p, csr, diag);
}
