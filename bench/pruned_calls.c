#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pruned_peers.h"

enum { QUICK_LAUNCHES = 3, CAREFUL = 4, CAREFUL_ROUNDS = 9, MOST_CALLS = 96, SPLIT_IDS = 3 };

/* Ways to share k among thread blocks. A version that does not take one is not asked further. */
static const struct {
    const char *name;
    int split, mode;
} ways[] = {{"", 0, 0},
            {", split-k 2 in one kernel", 2, LTS_SPLIT_ONE_KERNEL},
            {", split-k 4 in one kernel", 4, LTS_SPLIT_ONE_KERNEL},
            {", split-k 2 in two kernels", 2, LTS_SPLIT_TWO_KERNELS},
            {", split-k 4 in two kernels", 4, LTS_SPLIT_TWO_KERNELS},
            {", split-k 2", 2, LTS_SPLIT_K},
            {", split-k 4", 4, LTS_SPLIT_K},
            {", data-parallel", 1, LTS_SPLIT_DATA_PARALLEL},
            {", stream-k", 1, LTS_SPLIT_STREAM_K}};
enum { WAYS = sizeof ways / sizeof *ways };

/* What has been tried of a product, and was right. */
typedef struct call_list {
    pruned_product *product;
    gpu_device *gpu;
    helpers *h;
    pruned_call *calls[MOST_CALLS];
    int count;
} call_list;

static const float zero = 0;

/* -- A call ---------------------------------------------------------------------------------------------- */

static mc_status set_attribute(pruned_call *call, int attribute, int value, mc_diag *diag) {
    const pruned_library *library = call->product->library;
    return LTS_CALL(&library->lts, diag, MatmulAlgSetAttribute, &library->handle, &call->selection, attribute,
                    &value, sizeof value);
}

static mc_status select_default(pruned_call *call, mc_diag *diag) {
    const pruned_library *library = call->product->library;
    mc_status status = LTS_CALL(&library->lts, diag, MatmulAlgSelectionInit, &library->handle,
                                &call->selection, &call->product->matmul, LTS_ALG_DEFAULT);
    call->selected = status == MC_OK;
    return status;
}

static mc_status apply_choice(pruned_call *call, mc_diag *diag) {
    const pruned_choice *choice = &call->choice;
    mc_status status = set_attribute(call, LTS_ALG_ID, choice->id, diag);
    if (status == MC_OK && choice->split > 0)
        status = set_attribute(call, LTS_ALG_SPLIT_K, choice->split, diag);
    if (status == MC_OK && choice->mode > 0)
        status = set_attribute(call, LTS_ALG_SPLIT_K_MODE, choice->mode, diag);
    return status;
}

static mc_status make_plan(pruned_call *call, gpu_device *gpu, mc_diag *diag) {
    const pruned_library *library = call->product->library;
    size_t bytes = 0;
    mc_status status = LTS_CALL(&library->lts, diag, MatmulPlanInit, &library->handle, &call->plan,
                                &call->product->matmul, &call->selection);
    call->planned = status == MC_OK;
    if (status == MC_OK)
        status = LTS_CALL(&library->lts, diag, MatmulGetWorkspace, &library->handle, &call->plan, &bytes);
    return status == MC_OK && bytes > 0 ? mc_device_alloc(gpu->device, bytes, &call->workspace, diag)
                                        : status;
}

void pruned_call_free(pruned_call *call, gpu_device *gpu) {
    if (call == NULL) return;
    const cusparselt *lts = &call->product->library->lts;
    if (call->planned) (void)lts->MatmulPlanDestroy(&call->plan);
    if (call->selected) (void)lts->MatmulAlgSelectionDestroy(&call->selection);
    mc_device_free(gpu->device, call->workspace);
    free(call);
}

static mc_status enqueue(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    const pruned_call *call = c->state;
    const pruned_product *p = call->product;
    uint64_t d = slab_address(&p->slab, p->d, set);
    return LTS_CALL(&p->library->lts, diag, Matmul, &p->library->handle, &call->plan, &p->alpha,
                    slab_address(&p->slab, p->a, set), slab_address(&p->slab, p->b, set), &zero, d, d,
                    call->workspace, &stream, 1);
}

static const char *way_of(const pruned_choice *choice) {
    for (int i = 0; i < WAYS; i++)
        if (ways[i].split == choice->split && ways[i].mode == choice->mode) return ways[i].name;
    return choice->split > 1 ? ", split-k of its own" : "";
}

contender pruned_contender(const pruned_call *call) {
    const pruned_product *p = call->product;
    contender c = {.sets = p->slab.sets, .enqueue = enqueue, .state = call, .quick = call->quick};
    char padded[32] = "";
    if (p->padded > 0) snprintf(padded, sizeof padded, ", N padded to %lld", (long long)p->n);
    snprintf(c.label, sizeof c.label, "%s", p->kind->label);
    snprintf(c.detail, sizeof c.detail, "algorithm %d%s%s, C by %s%s; %d of %d verified", call->choice.id,
             way_of(&call->choice), call->choice.searched ? ", by its search" : "",
             p->by_columns ? "columns" : "rows", padded, p->right, p->tried);
    c.check = (result_check){.type = p->kind->result,
                             .got = slab_address(&p->slab, p->d, 0),
                             .want = p->want,
                             .count = (uint64_t)(p->m * p->n),
                             .allowed = pruned_allowed(p)};
    return c;
}

/* -- Trying ---------------------------------------------------------------------------------------------- */

static mc_status verify_call(call_list *list, pruned_call *call, mc_diag *diag) {
    mc_status status = select_default(call, diag);
    if (status == MC_OK) status = apply_choice(call, diag);
    if (status == MC_OK) status = make_plan(call, list->gpu, diag);
    contender c = pruned_contender(call);
    if (status == MC_OK) status = contender_verify(list->gpu, list->h, &c, diag);
    if (status == MC_OK) status = timer_quick(list->gpu, &c, QUICK_LAUNCHES, diag);
    call->quick = c.quick;
    return status;
}

/* One that fails or is wrong is left out, and counted. */
static mc_status try_choice(call_list *list, pruned_choice choice, mc_diag *diag) {
    pruned_product *p = list->product;
    if (list->count == MOST_CALLS) return MC_OK;
    pruned_call *call = calloc(1, sizeof *call);
    if (call == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    *call = (pruned_call){.product = p, .choice = choice};
    mc_status status = verify_call(list, call, diag);
    p->tried++;
    p->right += status == MC_OK;
    if (status == MC_OK) list->calls[list->count++] = call;
    else pruned_call_free(call, list->gpu);
    return status;
}

static int faster(const void *a, const void *b) {
    double x = (*(pruned_call *const *)a)->quick, y = (*(pruned_call *const *)b)->quick;
    return (x > y) - (x < y);
}

static void order(call_list *list) { qsort(list->calls, (size_t)list->count, sizeof *list->calls, faster); }

/* The greatest id of an algorithm, or one more: versions differ. */
static mc_status find_most(call_list *list, int *most, mc_diag *diag) {
    const pruned_library *library = list->product->library;
    pruned_call call = {.product = list->product};
    mc_status status = select_default(&call, diag);
    if (status == MC_OK)
        status = LTS_CALL(&library->lts, diag, MatmulAlgGetAttribute, &library->handle, &call.selection,
                          LTS_ALG_MAX_ID, most, sizeof *most);
    if (call.selected) (void)library->lts.MatmulAlgSelectionDestroy(&call.selection);
    return status;
}

/* The fastest algorithms again, with k split. */
static void try_ways(call_list *list, mc_diag *diag) {
    int ids[SPLIT_IDS], count = 0;
    order(list);
    for (; count < SPLIT_IDS && count < list->count; count++) ids[count] = list->calls[count]->choice.id;
    for (int i = 0; i < count; i++)
        for (int way = 1; way < WAYS; way++) {
            (void)try_choice(list, (pruned_choice){ids[i], ways[way].split, ways[way].mode, false}, diag);
            mc_diag_clear(diag);
        }
}

static mc_status read_choice(const pruned_call *call, pruned_choice *choice, mc_diag *diag) {
    const pruned_library *library = call->product->library;
    const struct {
        int attribute, *value;
    } rows[] = {
        {LTS_ALG_ID, &choice->id}, {LTS_ALG_SPLIT_K, &choice->split}, {LTS_ALG_SPLIT_K_MODE, &choice->mode}};
    mc_status status = MC_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == MC_OK; i++)
        status = LTS_CALL(&library->lts, diag, MatmulAlgGetAttribute, &library->handle, &call->selection,
                          rows[i].attribute, rows[i].value, sizeof(int));
    return status;
}

/* What the library's own search takes. */
static mc_status search(call_list *list, pruned_choice *choice, mc_diag *diag) {
    const pruned_product *p = list->product;
    pruned_call *call = calloc(1, sizeof *call);
    if (call == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    call->product = p;
    uint64_t d = slab_address(&p->slab, p->d, 0);
    cuda_stream stream = list->gpu->stream;
    mc_status status = select_default(call, diag);
    if (status == MC_OK) status = make_plan(call, list->gpu, diag);
    if (status == MC_OK)
        status = LTS_CALL(&p->library->lts, diag, MatmulSearch, &p->library->handle, &call->plan, &p->alpha,
                          slab_address(&p->slab, p->a, 0), slab_address(&p->slab, p->b, 0), &zero, d, d,
                          call->workspace, &stream, 1);
    if (status == MC_OK) status = CUDA_CALL(list->gpu->driver, diag, StreamSynchronize, stream);
    if (status == MC_OK) status = read_choice(call, choice, diag);
    pruned_call_free(call, list->gpu);
    return status;
}

static void try_search(call_list *list, mc_diag *diag) {
    pruned_choice choice = {.searched = true};
    if (search(list, &choice, diag) == MC_OK) (void)try_choice(list, choice, diag);
    mc_diag_clear(diag);
}

/* -- Choosing -------------------------------------------------------------------------------------------- */

/* Orders the first few by interleaved rounds. */
static mc_status order_carefully(call_list *list, mc_diag *diag) {
    contender contenders[CAREFUL];
    const contender *pointers[CAREFUL];
    timing timings[CAREFUL];
    order(list);
    int best = list->count < CAREFUL ? list->count : CAREFUL;
    for (int i = 0; i < best; i++) {
        contenders[i] = pruned_contender(list->calls[i]);
        pointers[i] = &contenders[i];
    }
    mc_status status = timer_rounds(list->gpu, pointers, (size_t)best, CAREFUL_ROUNDS, timings, diag);
    for (int i = 0; i < best && status == MC_OK; i++) list->calls[i]->quick = timings[i].median;
    qsort(list->calls, (size_t)best, sizeof *list->calls, faster);
    return status;
}

static mc_status try_algorithms(call_list *list, mc_diag *diag) {
    int most = 0;
    mc_status status = find_most(list, &most, diag);
    for (int id = 0; id <= most && status != MC_NOMEM; id++) {
        mc_diag_clear(diag);
        status = try_choice(list, (pruned_choice){.id = id}, diag);
    }
    return list->count > 0 ? MC_OK : status;
}

mc_status pruned_choose(pruned_product *p, gpu_device *gpu, helpers *h, mc_diag *diag) {
    call_list *list = calloc(1, sizeof *list);
    if (list == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    *list = (call_list){.product = p, .gpu = gpu, .h = h};
    mc_status status = try_algorithms(list, diag);
    if (status == MC_OK) try_ways(list, diag);
    if (status == MC_OK) try_search(list, diag);
    if (status == MC_OK) status = order_carefully(list, diag);
    for (int i = 0; i < list->count; i++) {
        if (status == MC_OK && i < PRUNED_KEPT) p->kept[i] = list->calls[i];
        else pruned_call_free(list->calls[i], gpu);
    }
    free(list);
    return status;
}
