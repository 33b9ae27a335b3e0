#include <inttypes.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>
#include "context/kernels.h"
#include "operation.h"
#include "text/file.h"

enum { MAX_THREADS = 64 };

/* -- Choosing -------------------------------------------------------------------------------------------- */

typedef struct spec_file {
    const mc_spec *spec;
    const char *path;
} spec_file;

static mc_status add_variant(variant_list *list, const spec_file *file, size_t index, mc_diag *diag) {
    variant *grown = realloc(list->items, (list->count + 1) * sizeof *grown);
    if (grown == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    list->items = grown;
    list->items[list->count++] = (variant){.spec = file->spec,
                                           .path = file->path,
                                           .index = index,
                                           .hash = mc_spec_variant_hash(file->spec, index),
                                           .text = mc_spec_variant_text(file->spec, index, false)};
    return MC_OK;
}

static mc_status add_named(variant_list *list, const spec_file *file, const char *which, mc_diag *diag) {
    mc_status status = MC_OK;
    while (*which != '\0' && status == MC_OK) {
        char word[32];
        size_t length = strcspn(which, ","), index = 0;
        snprintf(word, sizeof word, "%.*s", (int)length, which);
        status = mc_spec_find_variant(file->spec, word, &index, diag);
        if (status == MC_OK) status = add_variant(list, file, index, diag);
        which += length + (which[length] == ',');
    }
    return status;
}

static mc_status add_chosen(variant_list *list, const spec_file *file, const char *which, mc_diag *diag) {
    if (strcmp(which, "default") == 0) return add_variant(list, file, mc_spec_default(file->spec), diag);
    if (strcmp(which, "all") != 0) return add_named(list, file, which, diag);
    mc_status status = MC_OK;
    for (size_t i = 0; i < mc_spec_variant_count(file->spec) && status == MC_OK; i++)
        status = add_variant(list, file, i, diag);
    return status;
}

/* Types, V and target are a run's, whether set or not. */
static bool in_label(const char *field) {
    static const char *const others[] = {"lhs", "rhs", "out", "vec", "arch"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(field, others[i]) == 0) return false;
    return true;
}

/* What is measured with other settings is another contender; as many of them as fit. */
static void list_settings(variant_list *list, const mc_setting *settings, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        if (!in_label(settings[i].field)) continue;
        int length = snprintf(list->settings + size, sizeof list->settings - size, " %s=%s",
                              settings[i].field, settings[i].value);
        if (length < 0 || size + (size_t)length >= sizeof list->settings) {
            list->settings[size] = '\0';
            return;
        }
        size += (size_t)length;
    }
}

mc_status variants_choose(variant_list *list, char *const *paths, const mc_setting *settings,
                          size_t setting_count, int capability, const char *which, mc_diag *diag) {
    size_t count = 0;
    while (paths[count] != NULL) count++;
    *list = (variant_list){.specs = calloc(count, sizeof *list->specs)};
    if (list->specs == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    list_settings(list, settings, setting_count);
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) {
        status = mc_spec_read_for(paths[i], settings, setting_count, capability, &list->specs[i], diag);
        if (status != MC_OK) break;
        list->spec_count++;
        const spec_file file = {list->specs[i], paths[i]};
        status = add_chosen(list, &file, which, diag);
    }
    return status;
}

/* -- Another generator's PTX ----------------------------------------------------------------------------- */

static mc_status add_other(variant_list *list, size_t of, const char *folder, mc_diag *diag) {
    char path[4096];
    char *ptx = NULL;
    snprintf(path, sizeof path, "%s/%016" PRIx64 ".ptx", folder, list->items[of].hash);
    if (access(path, F_OK) != 0) return MC_OK;
    mc_status status = file_read_text(path, &file_ptx_limit, &ptx, diag);
    if (status != MC_OK) return status;
    const variant v = list->items[of];
    status = add_variant(list, &(spec_file){v.spec, v.path}, v.index, diag);
    if (status == MC_OK) list->items[list->count - 1].ptx = ptx;
    else free(ptx);
    return status;
}

mc_status variants_add_others(variant_list *list, const char *folder, mc_diag *diag) {
    size_t count = list->count;
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) status = add_other(list, i, folder, diag);
    if (status == MC_OK && list->count == count)
        status = mc_fail(diag, MC_CANNOT, "%s: has no HASH.ptx of any variant", folder);
    return status;
}

/* -- Generating and loading ------------------------------------------------------------------------------ */

static int64_t fact(const json_t *facts, const char *name) {
    return json_integer_value(json_object_get(facts, name));
}

static void read_facts(variant *v) {
    char *text = mc_kernel_describe(v->kernel, true);
    json_t *root = text == NULL ? NULL : json_loads(text, 0, NULL);
    const json_t *facts = json_object_get(root, "facts");
    const char *staging = mc_kernel_field_text(v->kernel, "staging");
    bool sampled =
        mc_kernel_field_text(v->kernel, "method") != NULL; /* an SDDMM, whose floor has no tiles of B */
    const char *order = mc_kernel_field_text(v->kernel, "order");
    int small = order != NULL && strcmp(order, "paper") == 0 ? 4 : 1; /* m8n8k16 for one of m16n8k32 */
    v->facts = (variant_facts){.stride = mc_kernel_field(v->kernel, "stride"),
                               .stride_mma = fact(facts, "stride_mma") / small,
                               .fused = fact(facts, "row_lanes") > 0,
                               .tile_rows = fact(facts, "tile_rows"),
                               .tile_columns = fact(facts, "tile_columns"),
                               .group_mma = fact(facts, "group_mma"),
                               .panel_k = fact(facts, "panel_k"),
                               .staged = staging != NULL && !sampled &&
                                         (strcmp(staging, "tma") == 0 || strcmp(staging, "async") == 0)};
    json_decref(root);
    free(text);
}

static void name_series(variant *v) {
    const char *slash = strrchr(v->path, '/'), *name = slash == NULL ? v->path : slash + 1;
    snprintf(v->series, sizeof v->series, "%s, %.*s", v->label, (int)strcspn(name, "."), name);
}

static mc_status read_order(variant *v, const operation *op, mc_diag *diag) {
    mc_order order = MC_ORDER_BCRS;
    if (!operation_is_sampled(op)) return MC_OK;
    mc_status status = mc_order_of(v->kernel, &order, diag);
    v->order = order == MC_ORDER_SRBCRS16   ? ORDER_SRBCRS16
               : order == MC_ORDER_SRBCRS32 ? ORDER_SRBCRS32
                                            : ORDER_BCRS;
    return status;
}

/* Refuses what mcbench cannot verify. */
static mc_status check_output(const variant *v, mc_diag *diag) {
    const char *residual = mc_kernel_field_text(v->kernel, "residual"),
               *blocks = mc_kernel_field_text(v->kernel, "block_scales");
    if (v->output.exact)
        return mc_fail(diag, MC_CANNOT, "sum = exact: mcbench knows results modulo 2^32 only");
    if (mc_type_bytes(v->output.type) == 0)
        return mc_fail(diag, MC_CANNOT, "out = %s: mcbench knows results of whole bytes only",
                       mc_type_text(v->output.type));
    if (!helpers_compare_type(v->output.type))
        return mc_fail(diag, MC_CANNOT, "out = %s: mcbench has no kernel that compares such results",
                       mc_type_text(v->output.type));
    if (blocks != NULL && strcmp(blocks, "on") == 0)
        return mc_fail(diag, MC_CANNOT, "block_scales = on: mcbench has no scales of blocks");
    if (residual != NULL && strcmp(residual, "none") != 0)
        return mc_fail(diag, MC_CANNOT, "residual = %s: mcbench has none to add", residual);
    return MC_OK;
}

/* A product's B has k contiguous; that of an SDDMM lies as its kernels want it. */
static mc_status check_layout(const variant *v, const operation *op, mc_diag *diag) {
    mc_layout layout = MC_LAYOUT_COLUMNS;
    if (!op->k_contiguous || operation_is_sampled(op)) return MC_OK;
    mc_status status = mc_layout_of(v->kernel, &layout, diag);
    if (status != MC_OK || layout == MC_LAYOUT_COLUMNS) return status;
    return mc_fail(diag, MC_CANNOT, "layout = rows: mcbench has B by columns");
}

static mc_status read_types(variant *v, const char *settings, mc_diag *diag) {
    const char *lhs = mc_kernel_field_text(v->kernel, "lhs"), *rhs = mc_kernel_field_text(v->kernel, "rhs"),
               *out = mc_kernel_field_text(v->kernel, "out");
    const char *family = mc_kernel_contract(v->kernel)->family;
    const operation *op = operation_find(family);
    if (op == NULL || lhs == NULL || out == NULL)
        return mc_fail(diag, MC_CANNOT, "mcbench does not measure kernels of family %s", family);
    snprintf(v->label, sizeof v->label, "mcgen %s %s%s%s%s", lhs, rhs != NULL ? rhs : "",
             rhs != NULL ? " " : "", out, settings);
    if (v->ptx != NULL) strncat(v->label, " other", sizeof v->label - strlen(v->label) - 1);
    name_series(v);
    mc_status status = mc_output_of(v->kernel, &v->output, diag);
    if (status == MC_OK) status = check_output(v, diag);
    if (status == MC_OK) status = check_layout(v, op, diag);
    return status == MC_OK ? read_order(v, op, diag) : status;
}

/* Another generator's PTX is not what the cache knows by these fields. */
static mc_status load_variant(variant *v, mc_context *context, mc_diag *diag) {
    context_visit visit;
    if (v->ptx != NULL)
        return mc_module_load(context->device, v->ptx, mc_kernel_contract(v->kernel)->entry, &v->module,
                              diag);
    mc_status status = context_enter(context, &visit, diag);
    if (status == MC_OK) status = kernels_load(context, v->kernel, &v->module, diag);
    context_leave(context, &visit);
    return status;
}

mc_status variants_need(variant_list *list, size_t i, mc_context *context, mc_diag *diag) {
    return list->items[i].module == NULL ? load_variant(&list->items[i], context, diag) : MC_OK;
}

static void prepare_variant(variant *v, const char *settings, mc_context *context) {
    mc_diag *diag = mc_diag_create();
    mc_status status = mc_kernel_generate(v->spec, v->index, &v->kernel, diag);
    if (status == MC_OK) status = read_types(v, settings, diag);
    if (status == MC_OK) read_facts(v);
    if (status == MC_OK && context != NULL) status = load_variant(v, context, diag);
    if (status != MC_OK) v->error = strdup(diag != NULL ? mc_diag_text(diag) : mc_status_text(status));
    mc_diag_destroy(diag);
}

typedef struct load_work {
    variant_list *list;
    mc_context *context;
    atomic_size_t next;
} load_work;

static int load_some(void *argument) {
    load_work *load = argument;
    for (size_t i; (i = atomic_fetch_add(&load->next, 1)) < load->list->count;)
        prepare_variant(&load->list->items[i], load->list->settings, load->context);
    return 0;
}

static void load_all(variant_list *list, mc_context *context, int threads) {
    thrd_t started[MAX_THREADS];
    int count = 0;
    load_work load = {.list = list, .context = context};
    while (count < threads && count < MAX_THREADS &&
           thrd_create(&started[count], load_some, &load) == thrd_success)
        count++;
    (void)load_some(&load);
    for (int i = 0; i < count; i++) thrd_join(started[i], NULL);
}

/* -- Who packs alike ------------------------------------------------------------------------------------- */

/* Variants of one form share their packed matrices. A matrix is packed once for each form here, so that a
   variant whose packing refuses every matrix is left out, and not the matrices. */
static mc_status make_sample(const variant_list *list, mc_vsparse *a, mc_diag *diag) {
    const mc_pattern pattern = {
        .rows = 41, .cols = 5000, .sparsity = 0.9, .law = MC_PATTERN_REALISTIC, .cv = 0.5, .seed = 5};
    mc_csr csr;
    mc_status status = mc_csr_generate(&pattern, &csr, diag);
    if (status != MC_OK) return status;
    status = list->operation->dilate(list, &csr, 5, a, diag);
    mc_csr_free(&csr);
    return status;
}

static void set_error(variant *v, const char *text) { v->error = strdup(text); }

static mc_status group_variant(variant_list *list, variant *v, const mc_vsparse *sample, mc_diag *diag) {
    char form[MC_PACK_FORM], other[MC_PACK_FORM];
    mc_packed packed;
    mc_pack_form(v->kernel, form);
    for (v->packing = 0; v->packing < list->packing_count; v->packing++) {
        mc_pack_form(list->packings[v->packing], other);
        if (strcmp(form, other) == 0) return MC_OK;
    }
    mc_status status = mc_pack(v->kernel, sample, &packed, diag);
    if (status != MC_OK) return status;
    mc_packed_free(&packed);
    list->packings[list->packing_count++] = v->kernel;
    return MC_OK;
}

static mc_status group_all(variant_list *list, const mc_vsparse *sample, mc_diag *diag) {
    list->packings = calloc(list->count, sizeof *list->packings);
    if (list->packings == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t i = 0; i < list->count; i++) {
        variant *v = &list->items[i];
        if (v->error != NULL) continue;
        mc_diag_clear(diag);
        if (group_variant(list, v, sample, diag) != MC_OK) set_error(v, mc_diag_text(diag));
    }
    mc_diag_clear(diag);
    return MC_OK;
}

static mc_status none_left(const variant_list *list, mc_diag *diag) {
    return mc_fail(diag, MC_CANNOT, "no variant can be measured; the first: %s",
                   list->count > 0 && list->items[0].error != NULL ? list->items[0].error : "none chosen");
}

static bool is_by_columns(const mc_kernel *kernel, const char *field) {
    const char *major = mc_kernel_field_text(kernel, field);
    return major != NULL && strcmp(major, "column") == 0;
}

/* What all of a run's variants have in common: they share its matrices. */
static mc_status read_common(const variant *v, variant_list *common, mc_diag *diag) {
    common->operation = operation_find(mc_kernel_contract(v->kernel)->family);
    common->vec =
        operator_of(common->operation->op)->matrix.wanted ? (int)mc_kernel_field(v->kernel, "vec") : 1;
    if (common->vec < 1) common->vec = 1; /* kernels of 2:4 matrices have none */
    mc_status status = mc_type_of(v->kernel, "lhs", &common->lhs, diag);
    bool one_side = mc_kernel_field_text(v->kernel, "rhs") == NULL; /* the operator takes one matrix */
    if (status == MC_OK && !one_side) status = mc_type_of(v->kernel, "rhs", &common->rhs, diag);
    common->by_columns = is_by_columns(v->kernel, "b_major");
    if (status == MC_OK && is_by_columns(v->kernel, "c_major") != common->by_columns)
        return mc_fail(diag, MC_CANNOT, "mcbench has both B and C by columns, or by rows");
    const char *scales = mc_kernel_field_text(v->kernel, "scales");
    common->computed = scales != NULL && strcmp(scales, "computed") == 0;
    if (status != MC_OK || mc_kernel_field_text(v->kernel, "layout") == NULL) return status;
    return mc_layout_of(v->kernel, &common->layout, diag);
}

static const char *difference(const variant_list *list, const variant_list *other) {
    if (other->operation != list->operation)
        return "another family than the first variant's: one family a run";
    if (other->vec != list->vec) return "another vec than the first variant's: one V a run";
    if (other->lhs != list->lhs || other->rhs != list->rhs)
        return "other types than the first variant's: one pair of types a run";
    if (other->layout != list->layout)
        return "another layout than the first variant's: one layout of B a run";
    if (other->by_columns != list->by_columns) return "B and C by columns and by rows: one of both a run";
    if (other->computed != list->computed) return "scales computed and given: one of both a run";
    return NULL;
}

/* Those of the first that works. */
static mc_status settle_operands(variant_list *list, mc_diag *diag) {
    for (size_t i = 0; i < list->count; i++) {
        variant *v = &list->items[i];
        variant_list common = {0};
        if (v->error != NULL) continue;
        mc_status status = read_common(v, &common, diag);
        if (status != MC_OK) return status;
        if (list->operation == NULL) {
            list->operation = common.operation, list->vec = common.vec;
            list->lhs = common.lhs, list->rhs = common.rhs, list->layout = common.layout;
            list->computed = common.computed, list->by_columns = common.by_columns;
        }
        const char *different = difference(list, &common);
        if (different != NULL) set_error(v, different);
    }
    return list->operation != NULL ? MC_OK : none_left(list, diag);
}

mc_status variants_load(variant_list *list, mc_context *context, int threads, mc_diag *diag) {
    mc_vsparse sample = {0};
    load_all(list, context, threads);
    mc_status status = settle_operands(list, diag);
    if (status == MC_OK) status = make_sample(list, &sample, diag);
    if (status == MC_OK) status = group_all(list, &sample, diag);
    if (status == MC_OK && list->packing_count == 0) status = none_left(list, diag);
    mc_vsparse_free(&sample);
    return status;
}

unsigned variants_outs(const variant_list *list) {
    unsigned outs = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].error == NULL) outs |= 1u << list->items[i].output.type;
    return outs;
}

static void variant_close(variant *v) {
    mc_module_unload(v->module);
    mc_kernel_destroy(v->kernel);
    free(v->text);
    free(v->ptx);
    free(v->error);
}

void variants_close(variant_list *list) {
    for (size_t i = 0; i < list->count; i++) variant_close(&list->items[i]);
    for (size_t i = 0; i < list->spec_count; i++) mc_spec_destroy(list->specs[i]);
    free(list->items);
    free(list->specs);
    free(list->packings);
    *list = (variant_list){0};
}
