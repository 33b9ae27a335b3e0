#include "context/matrix_segments.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/element.h"
#include "base/memory.h"
#include "base/type.h"

enum {
    FIELDS_TEXT = 96,
    HELD = 32 /* elements that a thread asks for at once */,
    HOLD = 4,
    NONE = INT32_MAX
};

mc_status segments_of_rows(int64_t rows, int64_t length, row_segments *segments, mc_diag *diag) {
    *segments = (row_segments){rows, length / MC_SEGMENT + (length % MC_SEGMENT != 0)};
    int64_t count = mcrt_product(rows, segments->each);
    if (count >= 0 && count <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " row blocks of up to %" PRId64 " are too many for a launch",
                   rows, length);
}

mc_status segments_scratch(device_work *work, const row_segments *segments, mc_address *address,
                           mc_diag *diag) {
    return work_scratch(work, (size_t)segment_count(segments) * sizeof(int32_t), address, diag);
}

mc_status segments_read(const device_work *work, const row_segments *segments, mc_address address,
                        int32_t **numbers, mc_diag *diag) {
    int64_t count = segment_count(segments);
    *numbers = mcrt_array(count, sizeof **numbers);
    if (*numbers == NULL) return mcrt_no_memory(diag, count, "segments");
    return mc_device_read_on(work->context->device, address, *numbers, (size_t)count * sizeof **numbers,
                             work->stream, diag);
}

/* -- Dense matrices ----------------------------------------------------------------------------------- */

/* As they lie in memory. */
static int element_bits(mc_type type) { return mc_type_bytes(type) > 0 ? 8 * (int)mc_type_bytes(type) : 4; }

mc_status dense_put_find(device_work *work, const device_dense *dense, const row_segments *segments,
                         mc_address bits, mc_address counts, mc_address wrong, mc_diag *diag) {
    const bool ranged = dense_is_ranged(dense->type);
    const int64_t below = ranged ? -mc_type_min(dense->type) : 0,
                  above = ranged ? mc_type_max(dense->type) : 0;
    const mc_binding bindings[] = {
        {"data", (int64_t)dense->data}, {"bits", (int64_t)bits}, {"counts", (int64_t)counts},
        {"wrong", (int64_t)wrong},      {"below", below},        {"values", below + above + 1},
        {"cols", dense->cols},          {"ld", dense->ld},       {"items", segment_count(segments)},
        {"segments", segments->each}};
    char fields[FIELDS_TEXT];
    int hold = HELD / dense->vec < HOLD ? HELD / dense->vec : HOLD;
    snprintf(fields, sizeof fields, "step=find element=%c%d range=%s major=%s vec=%d hold=%d",
             mc_type_is_real(dense->type) ? 'f' : 'b', element_bits(dense->type), ranged ? "some" : "all",
             dense->by_columns ? "column" : "row", dense->vec, hold);
    return work_put(work, "pattern", fields, bindings, sizeof bindings / sizeof *bindings, diag);
}

/* A segment says the row of its row block, times MC_SEGMENT, plus the column in the segment. */
static dense_place place_of(const device_dense *dense, const row_segments *segments, int64_t segment,
                            int32_t wrong) {
    return (dense_place){segment / segments->each * dense->vec + wrong / MC_SEGMENT,
                         segment % segments->each * MC_SEGMENT + wrong % MC_SEGMENT};
}

/* Segments of a row block come by ascending columns, and so the first of a row is the first there is. */
mc_status dense_first_wrong(const device_work *work, const device_dense *dense, const row_segments *segments,
                            mc_address wrong, dense_place *place, mc_diag *diag) {
    int32_t *numbers = NULL;
    *place = (dense_place){-1, 0};
    mc_status status = segments_read(work, segments, wrong, &numbers, diag);
    for (int64_t i = 0; i < segment_count(segments) && status == MC_OK; i++) {
        if (numbers[i] == NONE) continue;
        dense_place found = place_of(dense, segments, i, numbers[i]);
        if (place->row < 0 || found.row < place->row) *place = found;
    }
    free(numbers);
    return status;
}

mc_status dense_read(const device_work *work, const device_dense *dense, dense_place place, int64_t *value,
                     mc_diag *diag) {
    int64_t major = dense->by_columns ? place.column : place.row,
            minor = dense->by_columns ? place.row : place.column;
    size_t bytes = mc_type_bytes(dense->type);
    unsigned char element[sizeof(int64_t)] = {0};
    mc_status status =
        mc_device_read_on(work->context->device, dense->data + (uint64_t)(major * dense->ld + minor) * bytes,
                          element, bytes, work->stream, diag);
    *value = element_get(dense->type, element, 0);
    return status;
}
