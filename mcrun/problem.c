#include "problem.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "matrix/slide24.h"
#include "pattern.h"
#include "published.h"

const cmd_option problem_spec_table[PROBLEM_SPEC_OPTIONS] = {
    {"vec", 0, OPTION_SETTING, offsetof(problem_options, settings), "V", 0, 0, "rows of a nonzero vector"},
    {"arch", 0, OPTION_SETTING, offsetof(problem_options, settings), "A", 0, 0,
     "target, such as sm_90, or native: the newest for the GPU (the spec's; else native, sm_80 without a "
     "GPU)"},
    {"set", 0, OPTION_ASSIGN, offsetof(problem_options, settings), "FIELD=VALUE", 0, 0,
     "override a field of the spec"},
    {"variant", 0, OPTION_TEXT, offsetof(problem_options, variant), "WHICH", 0, 0,
     "index or hash of the variant (the spec's default)"},
};

const cmd_option problem_value_table[PROBLEM_VALUE_OPTIONS] = {
    {"a", 0, OPTION_TEXT, offsetof(problem_options, a_file), "FILE.npy", 0, 0,
     "values of A: rows x columns, or vectors x V (random, or those of a MATRIX that has some)"},
    {"a-order", 0, OPTION_CHOICE, offsetof(problem_options, order), "matrix|vectors", 0, 0,
     "which of the two --a or --mask-values is (its shape tells, but of a full matrix of V columns)"},
    {"scale", 0, OPTION_TEXT, offsetof(problem_options, scale_file), "FILE.npy", 0, 0,
     "scales, where the kernel's output has some: f32, 1, M or N of them (random)"},
    {"bias", 0, OPTION_TEXT, offsetof(problem_options, bias_file), "FILE.npy", 0, 0,
     "biases, likewise: f32, M or N of them (random)"},
    {"mask-values", 0, OPTION_TEXT, offsetof(problem_options, mask_file), "FILE.npy", 0, 0,
     "values of a mask, f32: rows x columns, or vectors x V (random, or those of a MATRIX that has some)"},
};

const cmd_option problem_pattern_table[PROBLEM_PATTERN_OPTIONS] = {
    {"seed", 0, OPTION_INTEGER, offsetof(problem_options, seed), "S", 0, INT64_MAX,
     "seed of random values (1)"},
    {"dilate", 0, OPTION_SWITCH, offsetof(problem_options, dilate), NULL, 0, 0,
     "each nonzero becomes a vector (usual for .smtx)"},
    {"union", 0, OPTION_SWITCH, offsetof(problem_options, unite), NULL, 0, 0,
     "V rows share the union of their columns (usual for all but .smtx)"},
    {"quantise", 0, OPTION_SWITCH, offsetof(problem_options, quantise), NULL, 0, 0,
     "a MATRIX's real values, divided by a scale for all and rounded (refused)"},
    {"random-values", 0, OPTION_SWITCH, offsetof(problem_options, random_values), NULL, 0, 0,
     "random values, though MATRIX has some (its own)"},
};

bool problem_is_dilated(const char *path) { return mc_csr_is_smtx(path); }

mc_status problem_respec(problem *p, const mc_setting *extra, size_t count, mc_diag *diag) {
    mc_setting settings[2 * CMD_MAX_SETTINGS];
    const cmd_settings *given = &p->options->settings;
    if (count > CMD_MAX_SETTINGS) return mc_fail(diag, MC_USAGE, "more than %d settings", CMD_MAX_SETTINGS);
    memcpy(settings, given->items, given->count * sizeof settings[0]);
    if (count > 0) memcpy(settings + given->count, extra, count * sizeof settings[0]);
    for (size_t i = 0; i < given->count; i++) {
        if (strcmp(settings[i].field, "arch") != 0 || strcmp(settings[i].value, "native") != 0) continue;
        settings[i].value = mc_arch_for(p->capability);
        if (settings[i].value == NULL)
            return mc_fail(diag, MC_CANNOT, "--arch native: no GPU here that there are targets for");
    }
    mc_spec_destroy(p->spec);
    p->spec = NULL;
    return mc_spec_read_for(p->spec_path, settings, given->count + count, p->capability, &p->spec, diag);
}

/* The pattern of vectors. */
static mc_status copy_pattern(const mc_vsparse *a, mc_csr *csr, mc_diag *diag) {
    size_t offsets = (size_t)(a->row_blocks + 1) * sizeof *a->row_ptr,
           columns = (size_t)a->vectors * sizeof *a->col_idx;
    *csr = (mc_csr){.rows = a->row_blocks,
                    .cols = a->cols,
                    .nnz = a->vectors,
                    .row_ptr = malloc(offsets),
                    .col_idx = malloc(columns + 1)};
    if (csr->row_ptr == NULL || csr->col_idx == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    memcpy(csr->row_ptr, a->row_ptr, offsets);
    memcpy(csr->col_idx, a->col_idx, columns);
    return MC_OK;
}

mc_status problem_read_pattern(const char *path, mc_csr *csr, mc_blocks *blocks, mc_diag *diag) {
    *blocks = (mc_blocks){0};
    return mc_bsr_is(path) ? mc_bsr_read(path, csr, blocks, diag) : mc_csr_read(path, csr, diag);
}

/* The longest vectors, of those that kernels have, that blocks of so many rows are cut into. */
static int64_t fitting_vec(int64_t rows) {
    int64_t vec = rows & -rows;
    return vec < 8 ? vec : 8;
}

mc_status problem_check_blocks(const char *path, const mc_blocks *blocks, int vec, mc_diag *diag) {
    if (blocks->rows % vec == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%s holds blocks of %" PRId64 " rows, the kernel's vectors have %d: --vec %" PRId64
                   ", or --union, which fills up with zeros%s",
                   path, blocks->rows, vec, fitting_vec(blocks->rows),
                   blocks->rows == 1 && blocks->cols > 1
                       ? "; the arrays of a transpose are called ccol_indices and row_indices"
                       : "");
}

static mc_status read_matrix(problem *p, mc_diag *diag) {
    if (!published_is_directory(p->matrix_path))
        return problem_read_pattern(p->matrix_path, &p->pattern, &p->blocks, diag);
    mc_status status = published_read(p->matrix_path, &p->given, diag);
    return status == MC_OK ? copy_pattern(&p->given, &p->pattern, diag) : status;
}

mc_status problem_open(problem *p, const char *spec_path, const char *matrix_path,
                       const problem_options *options, int capability, mc_diag *diag) {
    *p = (problem){
        .options = options, .spec_path = spec_path, .matrix_path = matrix_path, .capability = capability};
    if (options->dilate && options->unite)
        return mc_fail(diag, MC_USAGE, "--dilate and --union exclude each other");
    if (options->quantise && options->random_values)
        return mc_fail(diag, MC_USAGE, "--quantise and --random-values exclude each other");
    if (matrix_path == NULL) return problem_respec(p, NULL, 0, diag);
    bool vectors = published_is_directory(matrix_path);
    if (options->unite && vectors)
        return mc_fail(diag, MC_USAGE, "--union: %s holds vectors already", matrix_path);
    p->dilate = options->dilate || vectors || (!options->unite && problem_is_dilated(matrix_path));
    mc_status status = problem_respec(p, NULL, 0, diag);
    if (status == MC_OK) status = read_matrix(p, diag);
    if (status == MC_OK && options->dilate && p->blocks.rows > 0)
        status = mc_fail(diag, MC_USAGE, "--dilate: %s holds blocks", matrix_path);
    return status;
}

void problem_close(problem *p) {
    mc_vsparse_free(&p->a);
    mc_vsparse_free(&p->given);
    mc_csr_free(&p->pattern);
    mc_spec_destroy(p->spec);
}

mc_status problem_variant(const problem *p, size_t *variant, mc_diag *diag) {
    *variant = mc_spec_default(p->spec);
    if (p->options->variant == NULL) return MC_OK;
    return mc_spec_find_variant(p->spec, p->options->variant, variant, diag);
}

/* Whether values of type FROM are values of TO by their bits: floats of 32 bits are one another's. */
static bool are_alike(mc_type from, mc_type to) {
    return from == to || (mc_type_is_real(from) && mc_type_is_real(to) &&
                          mc_type_bytes(from) == sizeof(float) && mc_type_bytes(to) == sizeof(float));
}

/* Of the same pattern. */
static mc_status copy_values(problem *p, mc_diag *diag) {
    const mc_type type = p->a.type;
    const bool alike = are_alike(p->given.type, type);
    if (!alike && (mc_type_is_real(type) || mc_type_is_real(p->given.type)))
        return mc_fail(diag, MC_CANNOT,
                       "%s: its values are %s, the kernel's %s: --random-values takes its pattern alone",
                       p->matrix_path, mc_type_text(p->given.type), mc_type_text(type));
    for (int64_t v = 0; v < p->a.vectors; v++)
        for (int r = 0; r < p->a.vec; r++) {
            int64_t value = mc_vsparse_value(&p->given, v, r);
            if (!alike && (value < mc_type_min(type) || value > mc_type_max(type)))
                return mc_fail(diag, MC_CANNOT,
                               "%s: vector %" PRId64 " holds %" PRId64 ", out of the range of the spec's %s",
                               p->matrix_path, v, value, mc_type_text(type));
            mc_vsparse_set_value(&p->a, v, r, value);
        }
    p->values_from = p->matrix_path;
    return MC_OK;
}

static mc_status take_file(problem *p, const char *path, mc_diag *diag) {
    mc_dense values;
    mc_status status = mc_dense_read(path, &values, diag);
    if (status != MC_OK) return status;
    bool both = values.rows == p->a.rows && values.cols == p->a.cols && values.rows == p->a.vectors &&
                values.cols == p->a.vec;
    if (both && p->options->order == MC_TAKE_BY_SHAPE)
        status = mc_fail(diag, MC_USAGE,
                         "%s is rows x columns and vectors x V alike: --a-order says which it is", path);
    else status = mc_vsparse_take_as(&p->a, &values, (mc_take_order)p->options->order, diag);
    mc_dense_free(&values);
    p->values_from = path;
    return status;
}

/* -- Values that MATRIX has for its nonzeros */

static bool has_own_values(const problem *p) {
    return p->pattern.field != MC_CSR_PATTERN && !p->options->random_values;
}

/* Why they cannot be taken. */
static mc_status check_own_values(const problem *p, mc_diag *diag) {
    if (p->pattern.field == MC_CSR_COMPLEX)
        return mc_fail(diag, MC_CANNOT,
                       "%s: its values are complex, kernels multiply real ones: --random-values takes its "
                       "pattern alone",
                       p->matrix_path);
    if (!p->dilate) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%s: it has a value for a nonzero, not for each element of a vector: --union takes its "
                   "values, --random-values its pattern alone",
                   p->matrix_path);
}

/* The greatest magnitude becomes the greatest number that the type and the kernel's digits have. It is an
   f32, and a normal one: kernels multiply by it. */
static mc_status find_scale(problem *p, mc_diag *diag) {
    int64_t most = mc_type_max(p->a.type);
    double greatest = 0;
    for (int64_t i = 0; i < p->pattern.nnz; i++) greatest = fmax(greatest, fabs(p->pattern.values[i]));
    double scale = greatest > 0 ? greatest / (double)(most < p->most ? most : p->most) : 1;
    if (scale > (double)FLT_MAX)
        return mc_fail(diag, MC_CANNOT, "--quantise: %s holds %g, for which there is no scale in f32",
                       p->matrix_path, greatest);
    p->scale = fmax((double)(float)scale, (double)FLT_MIN);
    return MC_OK;
}

static mc_status take_own_values(problem *p, mc_diag *diag) {
    mc_status status = check_own_values(p, diag);
    if (status != MC_OK) return status;
    if (p->options->quantise) status = find_scale(p, diag);
    if (status != MC_OK) return status;
    mc_diag *why = mc_diag_create();
    status = mc_vsparse_take_csr(&p->a, &p->pattern, p->scale, why);
    if (status != MC_OK)
        (void)mc_fail(diag, status, "%s: %s: %s--random-values takes its pattern alone", p->matrix_path,
                      mc_diag_text(why),
                      p->options->quantise || mc_type_is_real(p->a.type) ? ""
                                                                         : "--quantise scales its values, ");
    mc_diag_destroy(why);
    p->values_from = p->matrix_path;
    return status;
}

/* A's. INSIDE: NULL, or which values are in the pattern. */
static mc_status fill_values(problem *p, const uint8_t *inside, mc_diag *diag) {
    if (p->options->quantise && mc_type_is_real(p->a.type))
        return mc_fail(diag, MC_USAGE, "--quantise: the kernel's A is %s, and takes values as they are",
                       mc_type_text(p->a.type));
    if (p->options->quantise && (p->options->a_file != NULL || p->given.vec > 0))
        return mc_fail(diag, MC_USAGE,
                       "--quantise goes with the values of a .mtx, .npy, .safetensors or BSR MATRIX");
    if (p->options->a_file != NULL) return take_file(p, p->options->a_file, diag);
    if (p->given.vec > 0 && !p->options->random_values) return copy_values(p, diag);
    if (has_own_values(p)) return take_own_values(p, diag);
    if (p->options->quantise) return mc_fail(diag, MC_USAGE, "--quantise: %s has no values", p->matrix_path);
    mc_vsparse_fill(&p->a, MC_VALUES_FULL, (uint64_t)p->options->seed, inside);
    if (!mc_type_is_real(p->a.type)) mc_vsparse_clamp(&p->a, p->most);
    return MC_OK;
}

static float number_of(mc_type type, int64_t element) {
    return mc_type_is_real(type) ? real_from_bits(type, (uint32_t)element) : (float)element;
}

/* A mask's, which are f32. */
static mc_status fill_mask(problem *p, const uint8_t *inside, mc_diag *diag) {
    int64_t count = p->a.vectors * p->a.vec;
    float *values = p->a.values;
    if (p->options->mask_file != NULL) return take_file(p, p->options->mask_file, diag);
    if (p->given.vec > 0 && !p->options->random_values) {
        for (int64_t i = 0; i < count; i++)
            values[i] =
                number_of(p->given.type, mc_vsparse_value(&p->given, i / p->a.vec, (int)(i % p->a.vec)));
        p->values_from = p->matrix_path;
        return MC_OK;
    }
    if (has_own_values(p) && check_own_values(p, NULL) == MC_OK) return take_own_values(p, diag);
    mc_scale_fill(values, count, MC_VALUES_FULL, (uint64_t)p->options->seed + 3);
    for (int64_t i = 0; inside != NULL && i < count; i++)
        if (!inside[i]) values[i] = 0;
    return MC_OK;
}

static void drop_a(problem *p) {
    mc_vsparse_free(&p->a);
    p->a = (mc_vsparse){0};
}

/* With --pattern A is what its spans become, once it has its values. */
static mc_status take_spans(problem *p, mc_diag *diag) {
    mc_diag *why = mc_diag_create();
    mc_status status = mc_slide24_take(&p->a, pattern_span(p->options->pattern), why);
    if (status != MC_OK) (void)mc_fail(diag, status, "%s: %s", p->matrix_path, mc_diag_text(why));
    mc_diag_destroy(why);
    return status;
}

static mc_status build_a(problem *p, int vec, mc_type type, mc_diag *diag) {
    uint8_t *inside = NULL;
    if (p->given.vec > 0 && p->given.vec != vec)
        return mc_fail(diag, MC_CANNOT, "%s holds vectors of %d elements, the kernel's have %d",
                       p->matrix_path, p->given.vec, vec);
    p->fill = 1;
    p->values_from = NULL;
    p->scale = 0;
    mc_status status =
        p->options->unite ? MC_OK : problem_check_blocks(p->matrix_path, &p->blocks, vec, diag);
    if (status != MC_OK) return status;
    status = p->dilate ? mc_vsparse_dilate(&p->pattern, vec, type, &p->a, diag)
                       : mc_vsparse_union(&p->pattern, vec, type, &p->a, &p->fill, &inside, diag);
    if (status == MC_OK) status = p->is_mask ? fill_mask(p, inside, diag) : fill_values(p, inside, diag);
    if (status == MC_OK) status = take_spans(p, diag);
    free(inside);
    if (status != MC_OK) drop_a(p);
    return status;
}

bool problem_is_mask(const mc_kernel *kernel) { return mc_kernel_field_text(kernel, "mask") != NULL; }

/* What A's elements are, and the greatest that the kernel takes. Those of a mask are always there, so that
   variants which use and which ignore them share it. */
static mc_status values_of(const mc_kernel *kernel, mc_type *type, int64_t *most, mc_diag *diag) {
    *type = MC_F32, *most = 0;
    if (problem_is_mask(kernel)) return MC_OK;
    mc_status status = mc_type_of(kernel, "lhs", type, diag);
    if (status == MC_OK) *most = mc_pack_most(kernel, *type);
    return status;
}

static mc_status check_files(const problem *p, const mc_kernel *kernel, mc_diag *diag) {
    const char *mask = mc_kernel_field_text(kernel, "mask");
    if (p->options->mask_file != NULL && (mask == NULL || strcmp(mask, "values") != 0))
        return mc_fail(diag, MC_CANNOT, "--mask-values: the kernel takes none");
    if (p->options->a_file != NULL && mask != NULL)
        return mc_fail(diag, MC_CANNOT, "--a: the kernel's A is dense, and read as it is");
    if (p->options->quantise && mask != NULL)
        return mc_fail(diag, MC_CANNOT, "--quantise: the kernel's matrix is a mask");
    bool used = mask != NULL && strcmp(mask, "values") == 0 && p->options->mask_file == NULL;
    return used && has_own_values(p) ? check_own_values(p, diag) : MC_OK;
}

mc_status problem_fit(problem *p, const mc_kernel *kernel, bool *changed, mc_diag *diag) {
    mc_type type;
    int64_t most, vec = mc_kernel_field(kernel, "vec");
    *changed = false;
    if (p->matrix_path == NULL) return MC_OK;
    if (vec < 1 || vec > INT32_MAX)
        return mc_fail(diag, MC_CANNOT,
                       "%s: a kernel of family %s has no vec: it multiplies no vector-sparse "
                       "matrix",
                       p->spec_path, mc_kernel_contract(kernel)->family);
    mc_status status = check_files(p, kernel, diag);
    if (status == MC_OK) status = values_of(kernel, &type, &most, diag);
    if (status != MC_OK) return status;
    if (p->a.vec == vec && p->a.type == type && p->most == most && p->is_mask == problem_is_mask(kernel))
        return MC_OK;
    drop_a(p);
    p->most = most;
    p->is_mask = problem_is_mask(kernel);
    *changed = true;
    return build_a(p, (int)vec, type, diag);
}
