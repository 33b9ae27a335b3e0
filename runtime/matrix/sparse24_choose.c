#include "matrix/sparse24_choose.h"
#include <inttypes.h>

mc_status unit_reader_open(const mc_dense *a, unit_reader *reader, mc_diag *diag) {
    *reader = (unit_reader){.a = a, .is_real = mc_type_is_real(a->type)};
    if (reader->is_real) reader->floats = float_bits_of(a->type);
    if (a->rows > INT32_MAX || a->cols > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " x %" PRId64 " elements: at most %d each way", a->rows,
                       a->cols, INT32_MAX);
    return mc_sparse24_rule_of(a->type, &reader->rule, diag);
}

static int64_t element_magnitude(const unit_reader *reader, int64_t row, int64_t col) {
    int64_t element = mc_dense_get(reader->a, row, col);
    if (!reader->is_real) return element < 0 ? -element : element;
    bool is_nan = float_is_nan(&reader->floats, element);
    return is_nan ? reader->floats.magnitude + 1 : element & reader->floats.magnitude;
}

int64_t unit_magnitude(const unit_reader *reader, int64_t row, int64_t unit) {
    int64_t sum = 0, first = unit * reader->rule.unit;
    for (int64_t col = first; col < first + reader->rule.unit && col < reader->a->cols; col++)
        sum += element_magnitude(reader, row, col);
    return sum;
}

void keep_greatest(const int64_t *magnitudes, int count, int kept, bool *is_kept) {
    for (int i = 0; i < count; i++) is_kept[i] = false;
    for (int n = 0; n < kept; n++) {
        int greatest = -1;
        for (int i = 0; i < count; i++)
            if (!is_kept[i] && (greatest < 0 || magnitudes[i] > magnitudes[greatest])) greatest = i;
        if (greatest >= 0) is_kept[greatest] = true;
    }
}

void full_groups_look(full_groups *full, const int64_t *magnitudes, int64_t row, int64_t group) {
    int nonzeros = 0;
    for (int i = 0; i < full->units; i++) nonzeros += magnitudes[i] != 0;
    if (nonzeros <= full->kept) return;
    if (full->count++ == 0) full->row = row, full->group = group;
}

mc_status full_groups_end(const full_groups *full, mc_sparse24_mode mode, mc_diag *diag) {
    if (full->count == 0 || mode == MC_SPARSE24_PRUNE) return MC_OK;
    return mc_fail(
        diag, MC_FORMAT,
        "groups with more than %d of %d %snonzero: %" PRId64 ", the first in row %" PRId64 ", group %" PRId64,
        full->kept, full->units, full->unit > 1 ? "pairs " : "", full->count, full->row, full->group);
}
