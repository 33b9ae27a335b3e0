#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "drawn.h"
#include "shapes.h"

enum { PADDING = 16 }; /* a multiple of every V and of all blocks */

/* -- Listing --------------------------------------------------------------------------------------------- */

typedef struct listing {
    const char *filter;
    work *items;
    size_t count;
    bool failed;
} listing;

static bool has_ending(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

/* Files that may be matrices beside other things, such as .npy, are none here. */
static bool is_matrix(const char *path) {
    static const char *const endings[] = {".smtx", ".mtx", ".smtx.gz", ".mtx.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (has_ending(path, endings[i])) return mc_csr_reads(path);
    return false;
}

/* The shape of the first line that is no comment ("16, 32, 5" or "16 32 5"); a file without one fails later,
   when it is read. */
static void read_shape(work *item) {
    FILE *file = has_ending(item->path, ".gz") ? NULL : fopen(item->path, "r");
    char *line = NULL;
    size_t room = 0;
    long long rows = 0, cols = 0;
    if (file == NULL) return;
    while (getline(&line, &room, file) > 0 && line[0] == '%') continue;
    if (line != NULL && sscanf(line, "%lld%*[, \t]%lld", &rows, &cols) == 2)
        item->rows = rows, item->cols = cols;
    free(line);
    fclose(file);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static bool add_file(listing *list, const char *path) {
    if (!is_matrix(path)) return true;
    if (list->filter != NULL && strstr(base_name(path), list->filter) == NULL) return true;
    work *grown = realloc(list->items, (list->count + 1) * sizeof *grown);
    if (grown == NULL) return false;
    list->items = grown;
    work *item = &grown[list->count];
    *item = (work){.path = strdup(path)};
    if (item->path == NULL) return false;
    item->name = base_name(item->path);
    read_shape(item);
    list->count++;
    return true;
}

/* nftw takes no argument through; the names of a tree are few, so they are gathered as text first. */
static _Thread_local FILE *visited;

static int visit(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info, (void)where;
    if (type == FTW_F) fprintf(visited, "%s%c", path, '\0');
    return 0;
}

static mc_status gather_names(const char *folder, char **names, size_t *size, mc_diag *diag) {
    visited = open_memstream(names, size);
    if (visited == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    int result = nftw(folder, visit, 16, 0);
    if (fclose(visited) != 0) return mc_fail(diag, MC_NOMEM, "out of memory");
    return result == 0 ? MC_OK : mc_fail(diag, MC_IO, "%s: cannot be read", folder);
}

static int by_shape(const void *a, const void *b) {
    const work *x = a, *y = b;
    if (x->cols != y->cols) return x->cols < y->cols ? -1 : 1;
    if (x->rows != y->rows) return x->rows < y->rows ? -1 : 1;
    return strcmp(x->path, y->path);
}

mc_status work_list(const char *folder, const char *filter, size_t limit, work **items, size_t *count,
                    mc_diag *diag) {
    char *names = NULL;
    size_t size = 0;
    listing list = {.filter = filter};
    mc_status status = gather_names(folder, &names, &size, diag);
    for (size_t at = 0; at < size && status == MC_OK; at += strlen(names + at) + 1)
        if (!add_file(&list, names + at)) status = mc_fail(diag, MC_NOMEM, "out of memory");
    free(names);
    if (status == MC_OK && list.count == 0)
        status = mc_fail(diag, MC_CANNOT, "%s: no .smtx or .mtx file%s%s", folder,
                         filter != NULL ? " with " : "", filter != NULL ? filter : "");
    if (list.count > 0) qsort(list.items, list.count, sizeof list.items[0], by_shape);
    *items = list.items;
    *count = list.count;
    while (limit > 0 && *count > limit) free(list.items[--*count].path);
    return status;
}

void work_list_free(work *items, size_t count) {
    for (size_t i = 0; i < count; i++) free(items[i].path);
    free(items);
}

/* -- Preparing ------------------------------------------------------------------------------------------- */

static mc_status read_pattern(const work *w, const work_plan *plan, mc_csr *csr, mc_diag *diag) {
    if (!w->made) return mc_csr_read(w->path, csr, diag);
    const shape_pattern pattern = {plan->operation->mask, w->rows,        w->cols,
                                   plan->variants->vec,   plan->sparsity, plan->seed};
    return shape_pattern_make(&pattern, csr, diag);
}

static mc_status read_matrix(work *w, const work_plan *plan, mc_diag *diag) {
    mc_csr csr;
    mc_status status = read_pattern(w, plan, &csr, diag);
    if (status != MC_OK) return status;
    status = plan->operation->dilate(plan->variants, &csr, plan->seed, &w->a, diag);
    mc_csr_free(&csr);
    if (status != MC_OK) return status;
    if (w->a.rows == 0 || w->a.cols == 0) return mc_fail(diag, MC_CANNOT, "%s: the matrix is empty", w->path);
    w->padded_cols = (w->a.cols + PADDING - 1) / PADDING * PADDING;
    return MC_OK;
}

/* A matrix that a format has no room for is packed in the others. */
static mc_status refuse(work *w, const work_plan *plan, size_t group, mc_diag *diag) {
    if (!work_leave_out(w, plan, group)) return MC_CANNOT;
    w->refused[group] = strdup(mc_diag_text(diag));
    mc_diag_clear(diag);
    return MC_OK;
}

static mc_status pack(work *w, const work_plan *plan, mc_diag *diag) {
    size_t count = plan->variants->packing_count;
    w->packings = calloc(count + 1, sizeof *w->packings);
    w->pack_us = calloc(count + 1, sizeof *w->pack_us);
    w->refused = calloc(count + 1, sizeof *w->refused);
    if (w->packings == NULL || w->pack_us == NULL || w->refused == NULL)
        return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) {
        if (!work_packs(w, plan, i)) continue;
        double begin = timer_thread_us();
        status = mc_pack(plan->variants->packings[i], &w->a, &w->packings[i], diag);
        w->pack_us[i] = timer_thread_us() - begin;
        if (status == MC_CANNOT) status = refuse(w, plan, i, diag);
    }
    return status;
}

int64_t work_whole_bytes(mc_type type, int64_t length) {
    return mc_type_bytes(type) == 0 ? length + length % 2 : length;
}

void work_prepare(work *w, const work_plan *plan) {
    mc_diag *diag = mc_diag_create();
    mc_status status = read_matrix(w, plan, diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++)
        w->problems[i].shape = plan->operation->shape(&w->a, plan->sizes[i]);
    if (status == MC_OK && plan->drawn) status = drawn_prepare(w, plan, diag);
    if (status == MC_OK && !plan->drawn) status = plan->operation->prepare(w, plan, diag);
    if (status == MC_OK) status = work_choose(w, plan, diag);
    if (status == MC_OK) status = pack(w, plan, diag);
    if (status != MC_OK) w->error = strdup(diag != NULL ? mc_diag_text(diag) : mc_status_text(status));
    mc_diag_destroy(diag);
}

bool work_is_within(const variant_list *variants) { return mc_type_is_real(variants->rhs); }

static void problem_release(work_problem *p) {
    void *arrays[] = {p->want,   p->wide_a,  p->wide_b,  p->a_half,    p->b_half,
                      p->b_cols, p->a_float, p->b_float, p->estimates, p->takes};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
    mc_dense_free(&p->a);
    mc_dense_free(&p->b);
    for (size_t i = 0; i < MAX_OPERANDS; i++) mc_dense_free(&p->others[i]);
    mc_sum_range_free(&p->within);
    *p = (work_problem){0};
}

void work_release(work *w, const work_plan *plan) {
    for (size_t i = 0; w->packings != NULL && i < plan->variants->packing_count; i++)
        mc_packed_free(&w->packings[i]);
    for (size_t i = 0; w->refused != NULL && i < plan->variants->packing_count; i++) free(w->refused[i]);
    free(w->refused);
    free(w->packings);
    free(w->pack_us);
    for (int i = 0; i < SPARSE_FORMATS; i++) sparse_arrays_free(&w->formats[i]);
    for (int i = 0; i < ORDER_COUNT; i++) order_free(&w->orders[i]);
    for (size_t i = 0; i < WORK_MAX_SIZES; i++) problem_release(&w->problems[i]);
    mc_vsparse_free(&w->a);
    free(w->error);
    w->packings = NULL;
    w->refused = NULL;
    w->pack_us = NULL;
    w->error = NULL;
}
