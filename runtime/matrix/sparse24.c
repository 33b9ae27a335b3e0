#include "matrix/sparse24.h"
#include <inttypes.h>
#include <string.h>
#include "base/element.h"
#include "matrix/sparse24_choose.h"

static const struct {
    mc_type type;
    mc_sparse24_rule rule;
} rules[] = {{MC_F16, {1, 4, 2}},    {MC_BF16, {1, 4, 2}}, {MC_S8, {1, 4, 2}},   {MC_U8, {1, 4, 2}},
             {MC_E4M3, {1, 4, 2}},   {MC_E5M2, {1, 4, 2}}, {MC_TF32, {1, 2, 1}}, {MC_F32, {1, 2, 1}},
             {MC_TF32RZ, {1, 2, 1}}, {MC_S4, {2, 4, 2}},   {MC_U4, {2, 4, 2}}};

enum { RULES = sizeof rules / sizeof *rules, CODE_FILL = 0x44 };

static bool has_rule(mc_type type, const void *user) {
    (void)user;
    for (int i = 0; i < RULES; i++)
        if (rules[i].type == type) return true;
    return false;
}

mc_status mc_sparse24_rule_of(mc_type type, mc_sparse24_rule *rule, mc_diag *diag) {
    char all[TYPES_TEXT];
    for (int i = 0; i < RULES; i++)
        if (rules[i].type == type) {
            *rule = rules[i].rule;
            return MC_OK;
        }
    type_list(has_rule, NULL, " and ", all);
    return mc_fail(diag, MC_CANNOT, "%s: sparse tensor cores have %s", mc_type_text(type), all);
}

int64_t mc_sparse24_groups(const mc_sparse24_rule *rule, int64_t cols) {
    int64_t elements = (int64_t)rule->unit * rule->group;
    return cols / elements + (cols % elements != 0);
}

/* -- Codes */

/* 1:2 has the codes of 2:4 where an element is two halves. */
int sparse24_code(const mc_sparse24_rule *rule, const int chosen[MC_SPARSE24_MOST_KEPT]) {
    if (rule->kept == 1) return 2 * chosen[0] | (2 * chosen[0] + 1) << 2;
    return chosen[0] | chosen[1] << 2;
}

/* The way back. False: CODE is none of the legal ones. */
static bool decode(const mc_sparse24_rule *rule, int code, int chosen[MC_SPARSE24_MOST_KEPT]) {
    chosen[0] = rule->kept == 1 ? (code & 3) / 2 : code & 3;
    chosen[1] = code >> 2;
    return chosen[1] > (code & 3) && code == sparse24_code(rule, chosen);
}

/* -- Sizes */

static int64_t value_cols(const mc_sparse24_rule *rule, int64_t groups) {
    return groups * rule->kept * rule->unit;
}

static int64_t even(int64_t count) { return count + count % 2; }

static mc_status create(const mc_dense *a, const mc_sparse24_rule *rule, mc_sparse24 *out, mc_diag *diag) {
    int64_t groups = mc_sparse24_groups(rule, a->cols), cols = value_cols(rule, groups);
    int64_t bytes = even(groups) / 2;
    *out = (mc_sparse24){.rows = a->rows, .cols = a->cols};
    mc_status status = mc_dense_create(a->type, a->rows, cols, even(cols), &out->values, diag);
    if (status == MC_OK) status = mc_dense_create(MC_U8, a->rows, bytes, bytes, &out->meta, diag);
    if (status == MC_OK) memset(out->meta.data, CODE_FILL, (size_t)(a->rows * bytes));
    return status;
}

static mc_status check_array(const char *name, const mc_dense *array, int64_t rows, int64_t cols,
                             mc_diag *diag) {
    if (array->rows == rows && array->cols == cols) return MC_OK;
    return mc_fail(diag, MC_FORMAT, "%s are %" PRId64 " x %" PRId64 ", must be %" PRId64 " x %" PRId64, name,
                   array->rows, array->cols, rows, cols);
}

static mc_status check(const mc_sparse24 *s, mc_sparse24_rule *rule, mc_diag *diag) {
    mc_status status = mc_sparse24_rule_of(s->values.type, rule, diag);
    if (status != MC_OK) return status;
    if (s->rows < 0 || s->cols < 0 || s->rows > INT32_MAX || s->cols > INT32_MAX)
        return mc_fail(diag, MC_FORMAT, "%" PRId64 " x %" PRId64 " elements: at most %d each way", s->rows,
                       s->cols, INT32_MAX);
    int64_t groups = mc_sparse24_groups(rule, s->cols);
    status = check_array("values", &s->values, s->rows, value_cols(rule, groups), diag);
    if (status == MC_OK) status = check_array("metadata", &s->meta, s->rows, even(groups) / 2, diag);
    if (status == MC_OK && s->meta.type != MC_U8)
        status = mc_fail(diag, MC_FORMAT, "metadata are %s, must be u8", mc_type_text(s->meta.type));
    return status;
}

/* -- Groups */

/* Copies unit TO_UNIT of ROW from FROM_UNIT. What FROM has no columns for is 0, and what TO has none for is
   dropped. False: that was not 0. */
static bool copy_unit(const mc_dense *from, int64_t from_unit, mc_dense *to, int64_t to_unit, int64_t row,
                      int unit) {
    bool whole = true;
    for (int i = 0; i < unit; i++) {
        int64_t source = from_unit * unit + i, target = to_unit * unit + i;
        if (target >= to->cols) whole &= mc_dense_real(from, row, source) == 0;
        else mc_dense_set(to, row, target, source < from->cols ? mc_dense_get(from, row, source) : 0);
    }
    return whole;
}

static void compress_group(const unit_reader *reader, int64_t row, int64_t group, mc_sparse24 *out,
                           full_groups *full) {
    const mc_sparse24_rule *rule = &reader->rule;
    int64_t magnitudes[SPARSE24_MOST_UNITS], first = group * rule->group;
    bool is_kept[SPARSE24_MOST_UNITS];
    int chosen[MC_SPARSE24_MOST_KEPT] = {0}, count = 0;
    for (int i = 0; i < rule->group; i++) magnitudes[i] = unit_magnitude(reader, row, first + i);
    full_groups_look(full, magnitudes, row, group);
    keep_greatest(magnitudes, rule->group, rule->kept, is_kept);
    for (int i = 0; i < rule->group; i++) {
        if (!is_kept[i]) continue;
        (void)copy_unit(reader->a, first + i, &out->values, group * rule->kept + count, row, rule->unit);
        chosen[count++] = i;
    }
    nibble_set(out->meta.data, row * 2 * out->meta.ld + group, sparse24_code(rule, chosen));
}

mc_status mc_sparse24_compress(const mc_dense *a, mc_sparse24_mode mode, mc_sparse24 *out, mc_diag *diag) {
    unit_reader reader;
    *out = (mc_sparse24){0};
    mc_status status = unit_reader_open(a, &reader, diag);
    const mc_sparse24_rule *rule = &reader.rule;
    full_groups full = {.units = rule->group, .kept = rule->kept, .unit = rule->unit};
    if (status == MC_OK) status = create(a, rule, out, diag);
    int64_t groups = status == MC_OK ? mc_sparse24_groups(rule, a->cols) : 0;
    for (int64_t row = 0; groups > 0 && row < a->rows; row++)
        for (int64_t group = 0; group < groups; group++) compress_group(&reader, row, group, out, &full);
    if (status == MC_OK) status = full_groups_end(&full, mode, diag);
    out->lost = full.count;
    if (status != MC_OK) mc_sparse24_free(out);
    return status;
}

static mc_status decompress_group(const mc_sparse24 *s, const mc_sparse24_rule *rule, int64_t row,
                                  int64_t group, mc_dense *out, mc_diag *diag) {
    int code = nibble_get(s->meta.data, row * 2 * s->meta.ld + group), chosen[MC_SPARSE24_MOST_KEPT];
    if (!decode(rule, code, chosen))
        return mc_fail(diag, MC_FORMAT, "metadata of row %" PRId64 ", group %" PRId64 " are %X, must be %s",
                       row, group, (unsigned)code, rule->kept == 1 ? "4 or E" : "4, 8, 9, C, D or E");
    bool whole = true;
    for (int i = 0; i < rule->kept; i++)
        whole &= copy_unit(&s->values, group * rule->kept + i, out, group * rule->group + chosen[i], row,
                           rule->unit);
    if (whole) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "row %" PRId64 ", group %" PRId64 " have a nonzero beyond the last of %" PRId64 " columns",
                   row, group, s->cols);
}

mc_status mc_sparse24_decompress(const mc_sparse24 *s, mc_dense *out, mc_diag *diag) {
    mc_sparse24_rule rule;
    *out = (mc_dense){0};
    mc_status status = check(s, &rule, diag);
    if (status == MC_OK) status = mc_dense_create(s->values.type, s->rows, s->cols, even(s->cols), out, diag);
    int64_t groups = status == MC_OK ? mc_sparse24_groups(&rule, s->cols) : 0;
    for (int64_t row = 0; status == MC_OK && groups > 0 && row < s->rows; row++)
        for (int64_t group = 0; status == MC_OK && group < groups; group++)
            status = decompress_group(s, &rule, row, group, out, diag);
    if (status != MC_OK) mc_dense_free(out);
    return status;
}

/* -- Codes of groups without nonzeros */

static bool is_mendable(const mc_sparse24 *s, const mc_sparse24_rule *rule, int64_t row, int64_t group) {
    int chosen[MC_SPARSE24_MOST_KEPT], values = rule->kept * rule->unit;
    if (decode(rule, nibble_get(s->meta.data, row * 2 * s->meta.ld + group), chosen)) return false;
    for (int i = 0; i < values; i++)
        if (mc_dense_real(&s->values, row, group * values + i) != 0) return false;
    return true;
}

mc_status mc_sparse24_mend(mc_sparse24 *s, int64_t *mended, mc_diag *diag) {
    mc_sparse24_rule rule;
    *mended = 0;
    mc_status status = check(s, &rule, diag);
    int64_t groups = status == MC_OK ? mc_sparse24_groups(&rule, s->cols) : 0;
    for (int64_t row = 0; groups > 0 && row < s->rows; row++)
        for (int64_t group = 0; group < groups; group++) {
            if (!is_mendable(s, &rule, row, group)) continue;
            nibble_set(s->meta.data, row * 2 * s->meta.ld + group, CODE_FILL & 15);
            ++*mended;
        }
    return status;
}

void mc_sparse24_free(mc_sparse24 *s) {
    mc_dense_free(&s->values);
    mc_dense_free(&s->meta);
    *s = (mc_sparse24){0};
}
