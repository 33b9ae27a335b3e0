/* Which lanes have values of A: those of the rows that an mma takes of the packed values. */
#include "ops/spmm/sums.h"

static bool has_empty(const spmm_arithmetic *math, int mma) {
    return spmm_mma_rows(math, mma) < SPMM_MMA_ROWS;
}

/* Whether the mma before has the same empty columns. */
static bool is_as_before(const spmm_arithmetic *math, int mma) {
    return mma > 0 && spmm_mma_rows(math, mma) == spmm_mma_rows(math, mma - 1);
}

bool spmm_has_idle_lanes(const spmm_arithmetic *math) {
    for (int m = 0; m < math->mma; m++)
        if (has_empty(math, m)) return true;
    return false;
}

spmm_value_lanes lanes_with_values(const spmm_arithmetic *math, mc_builder *b, mc_reg g) {
    spmm_value_lanes lanes = {0};
    if (spmm_has_idle_lanes(math)) note(b, "lanes of the mma's empty columns have no values");
    for (int m = 0; m < math->mma; m++) {
        if (!has_empty(math, m)) continue;
        lanes.mma[m] = is_as_before(math, m)
                           ? lanes.mma[m - 1]
                           : setp_lt(b, m ? "has_last_values" : "has_values", g, I(spmm_mma_rows(math, m)));
    }
    return lanes;
}

spmm_value_lanes lanes_where(const spmm_arithmetic *math, mc_builder *b, const char *const names[2],
                             spmm_value_lanes of, mc_reg at, mc_reg end, mc_reg always) {
    spmm_value_lanes lanes = {0};
    for (int m = 0; m < math->mma; m++) {
        if (!has_empty(math, m)) lanes.mma[m] = always;
        else if (is_as_before(math, m)) lanes.mma[m] = lanes.mma[m - 1];
        else lanes.mma[m] = setp_lt_and(b, names[m > 0], at, end, of.mma[m]);
    }
    return lanes;
}

spmm_value_lanes lanes_declare(const spmm_arithmetic *math, mc_builder *b, const char *const names[2],
                               mc_reg always) {
    spmm_value_lanes lanes = {0};
    for (int m = 0; m < math->mma; m++) {
        if (!has_empty(math, m)) lanes.mma[m] = always;
        else lanes.mma[m] = is_as_before(math, m) ? lanes.mma[m - 1] : pred(b, names[m > 0]);
    }
    return lanes;
}

void lanes_set(const spmm_arithmetic *math, mc_builder *b, spmm_value_lanes of, mc_reg at, mc_reg end,
               spmm_value_lanes to) {
    for (int m = 0; m < math->mma; m++)
        if (has_empty(math, m) && !is_as_before(math, m)) EMIT(b, setp_lt_and, to.mma[m], at, end, of.mma[m]);
}
