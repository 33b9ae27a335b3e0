/* What matrices from device memory have in common while they are made: what is refused, and rows cut into
   segments (gen/parts/segments.h), which kernels look at. */
#ifndef MCRT_MATRIX_SEGMENTS_H
#define MCRT_MATRIX_SEGMENTS_H

#include "base/type.h"
#include "context/matrix.h"
#include "parts/segment.h"

mc_status matrix_check_device_type(mc_type type, mc_diag *diag);
/* MC_CANNOT where ADDRESS, called NAME, is no multiple of an element's size. */
mc_status matrix_check_address(const char *name, mc_address address, mc_type type, mc_diag *diag);

/* Makes a matrix of CONFIG by WORK; on failure it may leave one, which is destroyed. */
typedef mc_status matrix_maker(device_work *work, const void *config, mc_matrix **matrix, mc_diag *diag);
/* Calls MAKE for work on STREAM, which it waits for. */
mc_status matrix_on_stream(mc_context *context, matrix_maker *make, const void *config, void *stream,
                           mc_matrix **matrix, mc_diag *diag);
/* Of an mc_device_matrix_config that makes sense. */
matrix_maker matrix_make_bcrs;

typedef struct row_segments {
    int64_t rows, each; /* rows, and segments of a row */
} row_segments;

/* Of ROWS rows of up to LENGTH elements; MC_CANNOT where there are more than a launch takes. */
mc_status segments_of_rows(int64_t rows, int64_t length, row_segments *segments, mc_diag *diag);
static inline int64_t segment_count(const row_segments *segments) { return segments->rows * segments->each; }
/* An s32 for each segment, in memory until WORK ends. */
mc_status segments_scratch(device_work *work, const row_segments *segments, mc_address *address,
                           mc_diag *diag);
/* What WORK's kernels wrote there; the caller frees. */
mc_status segments_read(const device_work *work, const row_segments *segments, mc_address address,
                        int32_t **numbers, mc_diag *diag);

/* A dense matrix in device memory, that is looked at. */
typedef struct device_dense {
    mc_type type;
    int vec;
    int64_t rows, cols, ld;
    bool by_columns;
    mc_address data;
} device_dense;

/* The kernel of step "find": BITS and COUNTS, and, where the type has a range, WRONG are written. */
mc_status dense_put_find(device_work *work, const device_dense *dense, const row_segments *segments,
                         mc_address bits, mc_address counts, mc_address wrong, mc_diag *diag);
/* Whether elements of TYPE can be out of its range. */
static inline bool dense_is_ranged(mc_type type) { return !type_fills_bytes(type); }
/* The first element out of range, by rows and then by columns, or ROW -1: there is none. */
typedef struct dense_place {
    int64_t row, column;
} dense_place;
mc_status dense_first_wrong(const device_work *work, const device_dense *dense, const row_segments *segments,
                            mc_address wrong, dense_place *place, mc_diag *diag);
/* The element at PLACE. */
mc_status dense_read(const device_work *work, const device_dense *dense, dense_place place, int64_t *value,
                     mc_diag *diag);

#endif
