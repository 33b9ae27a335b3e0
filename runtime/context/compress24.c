#include "context/compress24.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "context/matrix_segments.h"
#include "parts/compress24.h"
#include "parts/packed24.h"

#define CONFIG_FIRST STRUCT_SIZE_TO(mc_compress24_config, meta)
#define SIZE_FIRST   STRUCT_SIZE_TO(mc_compress24_size, meta_pitch)
#define REPORT_FIRST STRUCT_SIZE_TO(mc_compress24_report, group)

enum { FIELDS_TEXT = 96, ALIGNED = 16, PIECE_BYTES = 32, PIECE_VALUES = PIECE_BYTES / 2, SLAB_PIECES = 8 };

/* -- Shapes ------------------------------------------------------------------------------------------- */

/* What a launch for a matrix is made of (gen/ops/compress24/compress24.h). An atom of metadata is so many
   rows by so many pieces; natural ones have no atoms, but rows of pieces. */
typedef struct compress24_shape {
    mc_sparse24_rule rule;
    int bytes;      /* of an element; of 4 bits, of a pair */
    int piece_meta; /* bytes of a piece's metadata */
    int atom_rows, atom_pieces;
    int64_t pieces;            /* of a row */
    int64_t meta_pieces, down; /* with whole atoms; atoms one below the other */
    int64_t steps, items;      /* slabs */
} compress24_shape;

/* As the kernel's field has them. */
static const char *const layout_names[] = {"packed24", "natural", "cutlass-sm80", "cutlass-sm90"};

static int64_t ceil_of(int64_t count, int64_t each) { return count / each + (count % each != 0); }

static void take_atom(const mc_compress24_config *config, compress24_shape *s) {
    const bool is_byte = s->bytes == 1;
    s->atom_rows = s->atom_pieces = 1;
    if (config->layout == MC_LAYOUT24_PACKED) s->atom_rows = PACKED24_ROWS, s->atom_pieces = SLAB_PIECES;
    if (config->layout == MC_LAYOUT24_SM80) s->atom_rows = is_byte ? 16 : 32, s->atom_pieces = 2;
    if (config->layout == MC_LAYOUT24_SM90) s->atom_rows = 64, s->atom_pieces = is_byte ? 4 : 4 * s->bytes;
}

static mc_status take_shape(const mc_compress24_config *config, compress24_shape *s, mc_diag *diag) {
    *s = (compress24_shape){.bytes = (int)mc_type_size(config->type, 1)};
    mc_status status = mc_sparse24_rule_of(config->type, &s->rule, diag);
    if (status == MC_OK && s->rule.unit > 1 && config->layout == MC_LAYOUT24_SM90)
        return mc_fail(diag, MC_CANNOT, "%s has no metadata of %s", layout_names[config->layout],
                       mc_type_text(config->type));
    if (status != MC_OK) return status;
    s->piece_meta = s->bytes == 1 ? 4 : 2;
    take_atom(config, s);
    s->pieces = ceil_of(config->cols, (int64_t)PIECE_BYTES / s->bytes * s->rule.unit);
    s->meta_pieces = ceil_of(s->pieces, s->atom_pieces) * s->atom_pieces;
    s->down = ceil_of(config->rows, s->atom_rows);
    s->steps = ceil_of(s->meta_pieces, SLAB_PIECES);
    s->items = ceil_of(s->down * s->atom_rows, PACKED24_ROWS) * s->steps;
    if (config->layout == MC_LAYOUT24_PACKED) s->items++;
    if (s->items <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " x %" PRId64 " elements are too many for a launch",
                   config->rows, config->cols);
}

static mc_compress24_size sizes_of(const mc_compress24_config *config, const compress24_shape *s) {
    mc_compress24_size sizes = {.size = sizeof sizes};
    if (config->layout == MC_LAYOUT24_PACKED) {
        sizes.values = s->items * packed24_values();
        sizes.meta = s->items * packed24_meta(s->bytes);
        return sizes;
    }
    sizes.values_pitch = s->pieces * PIECE_VALUES;
    sizes.values = config->rows * sizes.values_pitch;
    sizes.meta = s->down * s->atom_rows * s->meta_pieces * s->piece_meta;
    if (config->layout == MC_LAYOUT24_NATURAL) sizes.meta_pitch = s->pieces * s->piece_meta;
    return sizes;
}

/* -- What is refused ---------------------------------------------------------------------------------- */

static mc_status check_count(const char *name, int64_t count, mc_diag *diag) {
    if (count >= 0 && count <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", must be 0 to %d", name, count, INT32_MAX);
}

/* An ld of 0 becomes that of rows without gaps. */
static mc_status check_ld(mc_compress24_config *config, mc_diag *diag) {
    const bool has_pairs = mc_type_bytes(config->type) == 0;
    if (config->ld == 0) config->ld = config->cols + (has_pairs ? config->cols % 2 : 0);
    if (config->ld < config->cols || config->ld > (int64_t)INT32_MAX + has_pairs)
        return mc_fail(diag, MC_USAGE, "ld is %" PRId64 ", must be %" PRId64 ", the columns, to %d",
                       config->ld, config->cols, INT32_MAX);
    if (!has_pairs || config->ld % 2 == 0) return MC_OK;
    return mc_fail(diag, MC_USAGE, "ld is %" PRId64 ", must be even: two elements of %s share a byte",
                   config->ld, mc_type_text(config->type));
}

static mc_status check_config(mc_compress24_config *config, mc_diag *diag) {
    if ((unsigned)config->type >= MC_TYPE_COUNT)
        return mc_fail(diag, MC_USAGE, "type is %d, must be an mc_type", (int)config->type);
    if ((unsigned)config->layout > MC_LAYOUT24_SM90)
        return mc_fail(diag, MC_USAGE, "layout is %d, must be an mc_layout24", (int)config->layout);
    mc_status status = check_count("rows", config->rows, diag);
    if (status == MC_OK) status = check_count("cols", config->cols, diag);
    if (status != MC_OK) return status;
    return check_ld(config, diag);
}

static mc_status check_target(const char *name, mc_address address, int64_t bytes, mc_diag *diag) {
    if (address == 0 && bytes > 0) return mc_fail(diag, MC_USAGE, "%s is 0", name);
    if (address % ALIGNED == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is 0x%" PRIx64 ", which is not a multiple of %d", name, address,
                   ALIGNED);
}

static mc_status check_addresses(const mc_compress24_config *config, const compress24_shape *shape,
                                 mc_diag *diag) {
    const mc_compress24_size sizes = sizes_of(config, shape);
    if (config->data == 0 && config->rows > 0 && config->cols > 0)
        return mc_fail(diag, MC_USAGE, "data is 0");
    mc_status status = matrix_check_address("data", config->data, config->type, diag);
    if (status == MC_OK) status = check_target("values", config->values, sizes.values, diag);
    return status == MC_OK ? check_target("meta", config->meta, sizes.meta, diag) : status;
}

static mc_status take_config(const mc_compress24_config *given, mc_compress24_config *config,
                             compress24_shape *shape, mc_diag *diag) {
    mc_status status = take_struct(config, sizeof *config, given, CONFIG_FIRST, "mc_compress24_config", diag);
    if (status == MC_OK) status = check_config(config, diag);
    return status == MC_OK ? take_shape(config, shape, diag) : status;
}

mc_status mc_compress24_sizes(const mc_compress24_config *config, mc_compress24_size *sizes, mc_diag *diag) {
    mc_compress24_config whole;
    compress24_shape shape;
    mc_status status = take_config(config, &whole, &shape, diag);
    if (status != MC_OK) return status;
    const mc_compress24_size all = sizes_of(&whole, &shape);
    return give_struct(sizes, SIZE_FIRST, &all, sizeof all, "mc_compress24_size", diag);
}

/* -- A launch ----------------------------------------------------------------------------------------- */

enum { MOST_BINDINGS = 16 };

typedef struct compress24_launch {
    char fields[FIELDS_TEXT];
    mc_binding bindings[MOST_BINDINGS];
    size_t count;
} compress24_launch;

/* MODE NULL: as CONFIG says. */
static compress24_launch launch_of(const mc_compress24_config *config, const compress24_shape *s,
                                   const char *mode, mc_address report) {
    const mc_compress24_size sizes = sizes_of(config, s);
    const mc_binding bindings[] = {{"a", (int64_t)config->data},
                                   {"values", (int64_t)config->values},
                                   {"meta", (int64_t)config->meta},
                                   {"report", (int64_t)report},
                                   {"rows", config->rows},
                                   {"cols", config->cols},
                                   {"ld", config->ld / s->rule.unit},
                                   {"steps", s->steps > 0 ? s->steps : 1},
                                   {"pieces", s->pieces},
                                   {"values_pitch", sizes.values_pitch},
                                   {"meta_pitch", sizes.meta_pitch},
                                   {"atoms", s->down},
                                   {"meta_pieces", s->meta_pieces},
                                   {"items", s->items}};
    compress24_launch launch = {.count = sizeof bindings / sizeof *bindings};
    memcpy(launch.bindings, bindings, sizeof bindings);
    if (mode == NULL) mode = config->prune ? "prune" : "strict";
    snprintf(launch.fields, FIELDS_TEXT, "element=%s mode=%s layout=%s source=dense",
             s->bytes == (int)sizeof(float) ? "f32" : mc_type_text(config->type), mode,
             layout_names[config->layout]);
    return launch;
}

/* -- The report --------------------------------------------------------------------------------------- */

typedef struct report_slot {
    uint64_t first;
    uint32_t count, unused;
} report_slot;

_Static_assert(sizeof(report_slot) == COMPRESS24_SLOT_BYTES, "a slot of the kernel's report");

mc_status compress24_start_report(device_work *work, mc_address *address, mc_diag *diag) {
    static const report_slot zeros[COMPRESS24_SLOTS];
    mc_status status = work_scratch(work, sizeof zeros, address, diag);
    if (status != MC_OK) return status;
    work->running = true;
    return mc_device_write_on(work->context->device, *address, zeros, sizeof zeros, work->stream, diag);
}

mc_status compress24_read_report(const device_work *work, mc_address address, full_groups *full,
                                 mc_diag *diag) {
    enum { ROW_SHIFT = 32 };
    report_slot slots[COMPRESS24_SLOTS];
    uint64_t first = 0;
    mc_status status =
        mc_device_read_on(work->context->device, address, slots, sizeof slots, work->stream, diag);
    if (status != MC_OK) return status;
    for (int i = 0; i < COMPRESS24_SLOTS; i++) {
        full->count += slots[i].count;
        if (slots[i].first > first) first = slots[i].first;
    }
    full->row = full->group = -1;
    if (first == 0) return MC_OK;
    full->row = (int64_t)(~first >> ROW_SHIFT);
    full->group = (int64_t)(uint32_t)~first;
    return MC_OK;
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status compress(device_work *work, const mc_compress24_config *config,
                          const compress24_shape *shape, full_groups *full, mc_diag *diag) {
    mc_address report = 0;
    if (shape->items == 0) return MC_OK;
    mc_status status = compress24_start_report(work, &report, diag);
    const compress24_launch launch = launch_of(config, shape, NULL, report);
    if (status == MC_OK)
        status = work_put(work, "compress24", launch.fields, launch.bindings, launch.count, diag);
    return status == MC_OK ? compress24_read_report(work, report, full, diag) : status;
}

static mc_status on_stream(mc_context *context, const mc_compress24_config *config,
                           const compress24_shape *shape, void *stream, full_groups *full, mc_diag *diag) {
    context_visit visit;
    device_work work;
    mc_status status = context_enter(context, &visit, diag);
    if (status != MC_OK) return status;
    status = work_begin(&work, context, stream, diag);
    if (status == MC_OK) status = work_end(&work, compress(&work, config, shape, full, diag), diag);
    context_leave(context, &visit);
    return status;
}

mc_status mc_compress24(mc_context *context, const mc_compress24_config *config, void *stream,
                        mc_compress24_report *report, mc_diag *diag) {
    mc_compress24_config whole;
    compress24_shape shape;
    full_groups full = {.row = -1, .group = -1};
    mc_status status = check_handle(context, "context", diag);
    if (status == MC_OK && report != NULL)
        status = check_struct_size(report->size, REPORT_FIRST, sizeof *report, "mc_compress24_report", diag);
    if (status == MC_OK) status = take_config(config, &whole, &shape, diag);
    if (status == MC_OK) status = check_addresses(&whole, &shape, diag);
    if (status != MC_OK) return status;
    full.units = shape.rule.group, full.kept = shape.rule.kept, full.unit = shape.rule.unit;
    status = on_stream(context, &whole, &shape, stream, &full, diag);
    if (status != MC_OK) return status;
    const mc_compress24_report all = {.full = full.count, .row = full.row, .group = full.group};
    if (report != NULL)
        status = give_struct(report, REPORT_FIRST, &all, sizeof all, "mc_compress24_report", diag);
    return status == MC_OK
               ? full_groups_end(&full, whole.prune ? MC_SPARSE24_PRUNE : MC_SPARSE24_STRICT, diag)
               : status;
}

/* -- Times -------------------------------------------------------------------------------------------- */

static mc_status time_launch(device_work *work, const compress24_launch *launch, double *us, mc_diag *diag) {
    enum { LAUNCHES = 50, ROUNDS = 31 };
    loaded_kernel *kernel = NULL;
    mc_launch bound;
    mc_binding all[MOST_BINDINGS + 1] = {{"m", 0}};
    memcpy(&all[1], launch->bindings, launch->count * sizeof *all);
    mc_status status = helper_obtain(work->context, "compress24", launch->fields, &kernel, diag);
    if (status != MC_OK) return status;
    status = mc_bind(kernel->kernel, all, launch->count + 1, &bound, diag);
    if (status == MC_OK) status = mc_module_time(kernel->module, &bound, LAUNCHES, ROUNDS, us, diag);
    kernels_release(work->context, kernel);
    return status;
}

static mc_status time_both(device_work *work, const mc_compress24_config *config,
                           const compress24_shape *shape, compress24_times *times, mc_diag *diag) {
    mc_address report = 0;
    mc_status status = compress24_start_report(work, &report, diag);
    const compress24_launch copy = launch_of(config, shape, "copy", report),
                            own = launch_of(config, shape, NULL, report);
    if (status == MC_OK) status = mc_device_synchronize(work->context->device, work->stream, diag);
    if (status == MC_OK) status = time_launch(work, &copy, &times->copy, diag);
    return status == MC_OK ? time_launch(work, &own, &times->compress, diag) : status;
}

mc_status compress24_time(mc_context *context, const mc_compress24_config *config, compress24_times *times,
                          mc_diag *diag) {
    mc_compress24_config whole;
    compress24_shape shape;
    context_visit visit;
    device_work work;
    mc_status status = take_config(config, &whole, &shape, diag);
    if (status == MC_OK) status = check_addresses(&whole, &shape, diag);
    if (status == MC_OK && shape.items == 0) status = mc_fail(diag, MC_CANNOT, "there is nothing to time");
    if (status == MC_OK) status = context_enter(context, &visit, diag);
    if (status != MC_OK) return status;
    const mc_compress24_size sizes = sizes_of(&whole, &shape);
    times->bytes = whole.rows * mc_type_size(whole.type, whole.cols) + sizes.values + sizes.meta;
    status = work_begin(&work, context, NULL, diag);
    if (status == MC_OK) status = work_end(&work, time_both(&work, &whole, &shape, times, diag), diag);
    context_leave(context, &visit);
    return status;
}
