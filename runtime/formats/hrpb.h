/* Between the two ways of HRPB: a matrix becomes blocks, and blocks a matrix. */
#ifndef MCRT_HRPB_H
#define MCRT_HRPB_H

#include <string.h>
#include "formats/stride.h"
#include "parts/hrpb.h"

/* MC_USAGE where there is no such FORM; MC_CANNOT where values of TYPE do not fill bytes. */
mc_status hrpb_check_form(const mc_hrpb *form, mc_type type, mc_diag *diag);

static inline int64_t hrpb_panels(const mc_hrpb *form, int64_t rows) {
    return rows / form->tile_rows + (rows % form->tile_rows != 0);
}

/* Puts the values of MADE, which mc_hrpb_export or the kernel's format made in FORM, into PACKED. MC_FORMAT,
   and PACKED as before: it is of another pattern. */
mc_status hrpb_replace_values(const mc_hrpb *form, const mc_packed *made, mc_packed *packed, mc_diag *diag);

/* Into how many virtual panels PANEL is cut; ROW_PTR is blocked_row_ptr, WAVES as of mc_hrpb_split. */
int64_t hrpb_panel_parts(const mc_packed_array *row_ptr, int64_t panel, double waves);
/* The first block of part PART of a panel that has blocks FIRST to END - 1. */
static inline int32_t hrpb_cut(int32_t first, int32_t end, int64_t part, int64_t parts) {
    return (int32_t)(first + ((int64_t)end - first) * part / parts);
}

/* Element INDEX of an array in a block, whose address may be any. */
static inline uint32_t hrpb_get(const uint8_t *array, int64_t index) {
    uint32_t word;
    memcpy(&word, array + index * (int64_t)sizeof word, sizeof word);
    return word;
}
static inline void hrpb_set(uint8_t *array, int64_t index, uint32_t word) {
    memcpy(array + index * (int64_t)sizeof word, &word, sizeof word);
}
static inline uint64_t hrpb_pattern(const uint8_t *block, int64_t brick) {
    uint64_t pattern;
    memcpy(&pattern, block + brick * (int64_t)sizeof pattern, sizeof pattern);
    return pattern;
}

static inline int hrpb_bits(uint64_t mask) {
    int count = 0;
    for (; mask != 0; mask &= mask - 1) count++;
    return count;
}

#endif
