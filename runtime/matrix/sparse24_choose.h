/* Which units of a group are kept (sparse24.h), for groups of any length. */
#ifndef MCRT_SPARSE24_CHOOSE_H
#define MCRT_SPARSE24_CHOOSE_H

#include "base/element.h"
#include "matrix/sparse24.h"

enum { SPARSE24_MOST_UNITS = 64 };

/* A matrix, read in units. */
typedef struct unit_reader {
    const mc_dense *a;
    mc_sparse24_rule rule;
    bool is_real;
    float_bits floats;
} unit_reader;

/* MC_CANNOT for a type without a rule, and a matrix that is too large. */
mc_status unit_reader_open(const mc_dense *a, unit_reader *reader, mc_diag *diag);
/* The magnitude of unit UNIT of ROW: 0 where it has no nonzero, and beyond the last column. Magnitudes can be
   compared with those of the same type alone. */
int64_t unit_magnitude(const unit_reader *reader, int64_t row, int64_t unit);
/* Sets IS_KEPT of the KEPT greatest ones of COUNT magnitudes, of equal ones of the earlier. */
void keep_greatest(const int64_t *magnitudes, int count, int kept, bool *is_kept);

/* The metadata of a group that keeps the units CHOSEN, which ascend. */
int sparse24_code(const mc_sparse24_rule *rule, const int chosen[MC_SPARSE24_MOST_KEPT]);

/* Groups with more nonzeros than may be kept. The caller sets the first part. */
typedef struct full_groups {
    int units, kept; /* of a group */
    int unit;        /* elements of a unit */

    int64_t count, row, group; /* how many there are, and where the first is */
} full_groups;

/* Counts the group where more of its MAGNITUDES than may be kept are not 0. */
void full_groups_look(full_groups *full, const int64_t *magnitudes, int64_t row, int64_t group);
/* MC_FORMAT where there is one and MODE is strict. */
mc_status full_groups_end(const full_groups *full, mc_sparse24_mode mode, mc_diag *diag);

#endif
