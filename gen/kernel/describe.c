/* The launch contract and the plan's facts, for people and as JSON. */
#include "kernel/kernel.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest sum of as many products as k. It fits: products are below 2^32, k below 2^31. */
static int64_t largest_sum(const mc_sums *sums) { return sums->k * sums->largest_product; }
static bool can_leave_s32(const mc_sums *sums) { return sums->k > sums->bound; }

static void axis_text(const mc_grid_axis *axis, char text[MC_MAX_NAME]) {
    if (!axis->dim) snprintf(text, MC_MAX_NAME, "%lld", (long long)(axis->per_cta ? axis->per_cta : 1));
    else snprintf(text, MC_MAX_NAME, "ceil(%s / %lld)", axis->dim, (long long)axis->per_cta);
}

/* Axis AXIS of the grid. */
static void grid_text(const mc_contract *c, int axis, char text[2 * MC_MAX_NAME]) {
    char columns[MC_MAX_NAME] = "";
    axis_text(&c->grid[axis], text);
    if (axis > 0 || !c->columns.dim) return;
    axis_text(&c->columns, columns);
    size_t used = strlen(text);
    snprintf(text + used, 2 * MC_MAX_NAME - used, " * %s", columns);
}

static void map_text(const mc_map_param *map, const char *prefix, mc_text *text) {
    static const char *const elements[] = {[1] = "bytes", [2] = "u16", [4] = "u32"},
                             *const times[] = {[1] = "", [2] = "2 ", [4] = "4 "};
    bool halves = map->per_byte > 1;
    unsigned bytes = map->element_bytes;
    text_add(text, "%sTensor map %s: %s as %s, %s%s x %s%s%s, rows %s%s%s bytes apart", prefix, map->param,
             map->array, elements[bytes], map->stride ? "batch x " : "", map->rows, halves ? "ceil(" : "",
             map->cols, halves ? " / 2)" : "", times[bytes], map->ld, halves ? " / 2" : "");
    if (map->stride)
        text_add(text, ", products %s%s%s, and only one where that is 0", times[bytes], map->stride,
                 halves ? " / 2" : "");
    text_add(text, "; boxes of %u x %u, %u-byte swizzle; %s at a multiple of %d bytes\n", map->box_rows,
             map->box_cols, map->swizzle, map->array, MC_TENSOR_MAP_ALIGN);
}

static void passes_text(const mc_contract *c, const char *prefix, mc_text *text) {
    bool batch = c->grid[2].dim != NULL;
    if (c->passes > 1)
        text_add(text, "%sLaunch it %u times, one after another, with pass from 0 to %u\n", prefix, c->passes,
                 c->passes - 1);
    if (c->workspace)
        text_add(text, "%sArray " MC_WORKSPACE ": %u bytes%s%s\n", prefix, c->workspace,
                 batch ? " for each product" : "",
                 c->workspace_each.dim ? " for each piece of the packed matrix and tile of columns" : "");
    if (c->flags)
        text_add(text,
                 "%s  of which the first %u are flags; each launch leaves them as the next one wants them\n",
                 prefix, c->flags);
}

static void constraints_text(const mc_contract *c, const char *prefix, mc_text *text) {
    for (size_t i = 0; i < c->constraint_count; i++)
        if (c->constraints[i].multiple)
            text_add(text, "%s%s must be a multiple of %u\n", prefix, c->constraints[i].shape,
                     c->constraints[i].multiple);
    for (size_t i = 0; i < c->constraint_count; i++)
        if (c->constraints[i].limit)
            text_add(text, "%s%s must be at most %lld\n", prefix, c->constraints[i].shape,
                     (long long)c->constraints[i].limit);
}

static void overlap_text(const mc_contract *c, const char *prefix, mc_text *text) {
    if (!c->overlap) return;
    text_add(text, "%sMay start before the kernel before it has finished", prefix);
    if (c->array_count > 0)
        text_add(text, "; nothing in the stream may be writing the packed arrays%s%s",
                 c->awaited ? ", but for " : "", c->awaited ? c->awaited : "");
    text_add(text, "\n");
}

void contract_text(const mc_kernel *kernel, const char *prefix, mc_text *text) {
    const mc_contract *c = &kernel->contract;
    char grid[3][2 * MC_MAX_NAME];
    for (int i = 0; i < 3; i++) grid_text(c, i, grid[i]);
    text_add(text, "%sLaunch %s\n", prefix, c->entry);
    text_add(text, "%s  grid (%s, %s, %s), block (%u, %u, %u)\n", prefix, grid[0], grid[1], grid[2],
             c->block[0], c->block[1], c->block[2]);
    if (c->cluster[0])
        text_add(text, "%s  clusters of (%u, %u, %u) thread blocks\n", prefix, c->cluster[0], c->cluster[1],
                 c->cluster[2]);
    text_add(text, "%s  shared memory: %u bytes static, %u bytes dynamic\n", prefix, c->shared_static,
             c->shared_dynamic);
    text_add(text, "%sParameters, in order\n", prefix);
    for (size_t i = 0; i < c->param_count; i++) {
        const mc_param *p = &c->params[i];
        text_add(text, "%s  %-8s %s  %s", prefix, p->name, p->type, p->doc);
        if (p->kind == MC_PARAM_ARRAY) text_add(text, "; %u-byte aligned", p->align);
        text_add(text, "\n");
    }
    for (size_t i = 0; i < c->map_count; i++) map_text(&c->maps[i], prefix, text);
    passes_text(c, prefix, text);
    constraints_text(c, prefix, text);
    if (c->turn_k)
        text_add(text,
                 "%sWhere k <= %lld, grid %c may be smaller: best as many thread blocks as run at once, %u a "
                 "multiprocessor of %s\n",
                 prefix, (long long)c->turn_k, 'x' + c->turn_axis, c->blocks_per_sm, c->target);
    if (c->turn_most)
        text_add(text, "%s  so many even if there is less work than thread blocks, and at most %d\n", prefix,
                 c->turn_most);
    overlap_text(c, prefix, text);
    if (c->format != NULL) text_add(text, "%sPacked arrays (format %s)\n", prefix, c->format);
    for (size_t i = 0; i < c->array_count; i++)
        text_add(text, "%s  %-8s %s[%s]: %s\n", prefix, c->arrays[i].name, c->arrays[i].type,
                 c->arrays[i].extent, c->arrays[i].doc);
}

/* What stands in no PTX header, since it is about the caller's values and not about launching. */
static void sums_text(const mc_sums *sums, mc_text *text) {
    long long bound = sums->bound;
    text_add(text, "Sums of %s x %s: products up to %lld in magnitude, ", sums->lhs, sums->rhs,
             (long long)sums->largest_product);
    if (bound == 0)
        text_add(text, "one of which can leave s32: %s\n", sums->exact ? "exact in s64" : "modulo 2^32");
    else if (sums->exact)
        text_add(text, "exact in s64; s32 holds them up to %lld %s\n", bound, sums->products);
    else text_add(text, "exact in s32 up to %lld %s; modulo 2^32 beyond\n", bound, sums->products);
    if (sums->k == MC_OPEN) return;
    text_add(text, "  k = %lld: sums up to %lld, which %s s32\n", (long long)sums->k,
             (long long)largest_sum(sums), can_leave_s32(sums) ? "can leave" : "stay in");
}

static char *describe_text(const mc_kernel *kernel) {
    mc_text text = {0};
    text_add(&text, "%s: %s\n", kernel->family->name, kernel->family->summary);
    text_add(&text, "Variant %016llx for %s, PTX %d.%d\n  ", (unsigned long long)kernel->hash,
             kernel->contract.target, kernel->contract.ptx_version / 10, kernel->contract.ptx_version % 10);
    text_add(&text, "%s\n", kernel->fields);
    contract_text(kernel, "", &text);
    if (kernel->contract.sums.lhs != NULL) sums_text(&kernel->contract.sums, &text);
    text_add(&text, "Facts\n");
    for (size_t i = 0; i < kernel->facts.count; i++)
        text_add(&text, "  %-28s %8lld  %s\n", kernel->facts.list[i].name,
                 (long long)kernel->facts.list[i].value, kernel->facts.list[i].doc);
    text_add(&text, "  %-28s %8d  %s\n", "register_estimate", kernel->registers,
             "most 32-bit registers alive at once, a thread");
    return text_take(&text);
}

/* -- JSON --------------------------------------------------------------------------------------------- */

/* Makes JSON by Jansson's calls, and remembers whether all had their memory. */
typedef struct maker {
    bool failed;
} maker;

static void put(maker *m, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) m->failed = true;
}

static void append(maker *m, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) m->failed = true;
}

static json_t *fields_json(maker *m, const mc_kernel *kernel) {
    json_t *fields = json_object();
    for (size_t i = 0; i < kernel->family->field_count; i++) {
        const mc_field *field = &kernel->family->fields[i];
        bool number =
            field->kind == MC_FIELD_NUMBER || (field->kind == MC_FIELD_SHAPE && kernel->point[i] != MC_OPEN);
        put(m, fields, field->name, number ? json_integer(kernel->point[i]) : json_string(kernel->texts[i]));
    }
    return fields;
}

static json_t *params_json(maker *m, const mc_contract *c) {
    static const char *const kinds[] = {[MC_PARAM_ARRAY] = "array",
                                        [MC_PARAM_SHAPE] = "shape",
                                        [MC_PARAM_SCALAR] = "scalar",
                                        [MC_PARAM_TENSOR_MAP] = "tensor_map",
                                        [MC_PARAM_PASS] = "pass"};
    json_t *params = json_array();
    for (size_t i = 0; i < c->param_count; i++) {
        const mc_param *p = &c->params[i];
        append(m, params,
               json_pack("{ss ss ss si ss}", "name", p->name, "type", p->type, "kind", kinds[p->kind],
                         "align", (int)p->align, "doc", p->doc));
    }
    return params;
}

static json_t *map_json(maker *m, const mc_map_param *map) {
    json_t *json = json_pack("{ss ss ss ss ss s[ii] si si si}", "param", map->param, "array", map->array,
                             "rows", map->rows, "cols", map->cols, "ld", map->ld, "box", (int)map->box_rows,
                             (int)map->box_cols, "swizzle", (int)map->swizzle, "element_bytes",
                             (int)map->element_bytes, "per_byte", (int)map->per_byte);
    if (map->stride) put(m, json, "stride", json_string(map->stride));
    return json;
}

static json_t *maps_json(maker *m, const mc_contract *c) {
    json_t *maps = json_array();
    for (size_t i = 0; i < c->map_count; i++) append(m, maps, map_json(m, &c->maps[i]));
    return maps;
}

static json_t *constraints_json(maker *m, const mc_contract *c) {
    json_t *constraints = json_array();
    for (size_t i = 0; i < c->constraint_count; i++)
        append(m, constraints,
               json_pack("{ss si sI}", "shape", c->constraints[i].shape, "multiple",
                         (int)c->constraints[i].multiple, "limit", (json_int_t)c->constraints[i].limit));
    return constraints;
}

static json_t *grid_json(maker *m, const mc_contract *c) {
    json_t *grid = json_array();
    for (int i = 0; i < 3; i++) {
        char formula[2 * MC_MAX_NAME];
        grid_text(c, i, formula);
        append(m, grid,
               json_pack("{ss? sI ss}", "shape", c->grid[i].dim, "per_block", (json_int_t)c->grid[i].per_cta,
                         "formula", formula));
    }
    return grid;
}

static json_t *arrays_json(maker *m, const mc_contract *c) {
    json_t *arrays = json_array();
    for (size_t i = 0; i < c->array_count; i++)
        append(m, arrays,
               json_pack("{ss ss ss ss}", "name", c->arrays[i].name, "type", c->arrays[i].type, "extent",
                         c->arrays[i].extent, "doc", c->arrays[i].doc));
    return arrays;
}

static json_t *sums_json(const mc_sums *sums) {
    bool fixed = sums->k != MC_OPEN;
    return json_pack("{ss sI sI so so}", "type", sums->exact ? "s64" : "s32", "largest_product",
                     (json_int_t)sums->largest_product, "sum_bound", (json_int_t)sums->bound, "largest_sum",
                     fixed ? json_integer(largest_sum(sums)) : json_null(), "can_leave_s32",
                     fixed ? json_boolean(can_leave_s32(sums)) : json_null());
}

static json_t *facts_json(maker *m, const mc_kernel *kernel) {
    json_t *facts = json_object();
    for (size_t i = 0; i < kernel->facts.count; i++)
        put(m, facts, kernel->facts.list[i].name, json_integer(kernel->facts.list[i].value));
    put(m, facts, "register_estimate", json_integer(kernel->registers));
    return facts;
}

static char *describe_json(const mc_kernel *kernel) {
    const mc_contract *c = &kernel->contract;
    maker m = {0};
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kernel->hash);
    json_t *root = json_object();
    put(&m, root, "generator", json_string("mcgen " MC_VERSION));
    put(&m, root, "family", json_string(c->family));
    put(&m, root, "entry", json_string(c->entry));
    put(&m, root, "target", json_string(c->target));
    put(&m, root, "ptx_version_x10", json_integer(c->ptx_version));
    put(&m, root, "hash", json_string(hash));
    put(&m, root, "fields", fields_json(&m, kernel));
    put(&m, root, "params", params_json(&m, c));
    put(&m, root, "grid", grid_json(&m, c));
    put(&m, root, "block", json_pack("[iii]", (int)c->block[0], (int)c->block[1], (int)c->block[2]));
    if (c->cluster[0])
        put(&m, root, "cluster",
            json_pack("[iii]", (int)c->cluster[0], (int)c->cluster[1], (int)c->cluster[2]));
    put(&m, root, "shared",
        json_pack("{si si}", "static", (int)c->shared_static, "dynamic", (int)c->shared_dynamic));
    if (c->passes > 1) put(&m, root, "passes", json_integer(c->passes));
    if (c->workspace) put(&m, root, MC_WORKSPACE, json_integer(c->workspace));
    if (c->workspace_each.dim)
        put(&m, root, "workspace_each",
            json_pack("{ss si}", "shape", c->workspace_each.dim, "per", c->workspace_each.per_cta));
    if (c->flags) put(&m, root, "flags", json_integer(c->flags));
    put(&m, root, "tensor_maps", maps_json(&m, c));
    put(&m, root, "constraints", constraints_json(&m, c));
    if (c->sums.lhs != NULL) put(&m, root, "sums", sums_json(&c->sums));
    put(&m, root, "overlap", json_boolean(c->overlap));
    if (c->awaited != NULL) put(&m, root, "awaited", json_string(c->awaited));
    put(&m, root, "turn_k", json_integer(c->turn_k));
    put(&m, root, "turn_axis", json_integer(c->turn_axis));
    if (c->turn_most) put(&m, root, "turn_most", json_integer(c->turn_most));
    put(&m, root, "blocks_per_sm", json_integer(c->blocks_per_sm));
    put(&m, root, "arrays", arrays_json(&m, c));
    if (c->format != NULL) put(&m, root, "format", json_string(c->format));
    put(&m, root, "facts", facts_json(&m, kernel));
    mc_text text = {.failed = m.failed};
    if (!text.failed && json_dump_callback(root, text_sink, &text, JSON_INDENT(2)) != 0) text.failed = true;
    json_decref(root);
    return text_take(&text);
}

char *mc_kernel_describe(const mc_kernel *kernel, bool json) {
    return json ? describe_json(kernel) : describe_text(kernel);
}
