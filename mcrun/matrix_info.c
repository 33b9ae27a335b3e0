/* mcrun matrix-info */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include "matrix/row_panels.h"
#include "problem.h"

enum { INFO_STRIDE = 32 };            /* the least stride of the strided format */
static const double nearly_full = .9; /* the fill from which vectors are what the matrix was pruned in */

typedef struct info_options {
    int64_t vec; /* 0: not given */
    bool json, dilate;
} info_options;

static const cmd_option info_table[] = {
    {"vec", 0, OPTION_INTEGER, offsetof(info_options, vec), "V", 1, 64,
     "also: vectors of V rows, their fill and padding"},
    {"dilate", 0, OPTION_SWITCH, offsetof(info_options, dilate), NULL, 0, 0,
     "with --vec: each nonzero becomes a vector, as mcrun spmm reads .smtx (V rows share vectors)"},
    {"json", 0, OPTION_SWITCH, offsetof(info_options, json), NULL, 0, 0, "print JSON"},
};

typedef struct row_lengths {
    int64_t min, max, empty;
    double mean, cv;
} row_lengths;

/* Where vectors of several rows were asked for. */
typedef struct vector_info {
    int64_t vectors, slots; /* slots: vectors with the padding to whole strides */
    double fill;
} vector_info;

/* Panels as FlashSparse and others cut them, and tiles of HRPB; the first one is cuTeSpMM's. */
static const int panel_rows[] = {8, 16}, tile_rows[] = {16, 32, 64};
enum { PANELS = sizeof panel_rows / sizeof panel_rows[0], TILES = sizeof tile_rows / sizeof tile_rows[0] };
static const char *const synergies[] = {[HRPB_LOW] = "low", [HRPB_MEDIUM] = "medium", [HRPB_HIGH] = "high"};

/* All that is told of a matrix. */
typedef struct matrix_info {
    const mc_csr *csr;
    mc_blocks blocks;
    row_lengths rows;
    int vec; /* 0: nothing is told of vectors */
    bool dilated;
    vector_info vectors;
    row_panel_facts panels[PANELS];
    hrpb_facts tiles[TILES];
} matrix_info;

static row_lengths measure_rows(const mc_csr *csr) {
    row_lengths lengths = {.min = csr->rows > 0 ? INT64_MAX : 0};
    double squares = 0;
    if (csr->rows == 0) return lengths;
    lengths.mean = (double)csr->nnz / (double)csr->rows;
    for (int64_t row = 0; row < csr->rows; row++) {
        int64_t length = csr->row_ptr[row + 1] - csr->row_ptr[row];
        if (length < lengths.min) lengths.min = length;
        if (length > lengths.max) lengths.max = length;
        lengths.empty += length == 0;
        squares += ((double)length - lengths.mean) * ((double)length - lengths.mean);
    }
    if (csr->nnz > 0) lengths.cv = sqrt(squares / (double)csr->rows) / lengths.mean;
    return lengths;
}

static mc_status measure_vectors(const mc_csr *csr, int vec, bool dilate, vector_info *info, mc_diag *diag) {
    mc_vsparse a;
    *info = (vector_info){.fill = 1};
    mc_status status = dilate ? mc_vsparse_dilate(csr, vec, MC_S8, &a, diag)
                              : mc_vsparse_union(csr, vec, MC_S8, &a, &info->fill, NULL, diag);
    if (status != MC_OK) return status;
    info->vectors = a.vectors;
    for (int64_t i = 0; i < a.row_blocks; i++) {
        int64_t length = a.row_ptr[i + 1] - a.row_ptr[i];
        info->slots += (length + INFO_STRIDE - 1) / INFO_STRIDE * INFO_STRIDE;
    }
    mc_vsparse_free(&a);
    return MC_OK;
}

static double sparsity_of(const mc_csr *csr) {
    double elements = (double)csr->rows * (double)csr->cols;
    return elements > 0 ? 1 - (double)csr->nnz / elements : 0;
}

static double padding_of(const vector_info *info) {
    return info->slots > 0 ? 1 - (double)info->vectors / (double)info->slots : 0;
}

static mc_status measure_panels(matrix_info *info, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; status == MC_OK && i < PANELS; i++)
        status = row_panel_facts_of(info->csr, panel_rows[i], &info->panels[i], diag);
    for (int i = 0; status == MC_OK && i < TILES; i++)
        status = hrpb_facts_of(info->csr, tile_rows[i], &info->tiles[i], diag);
    return status;
}

static mc_status measure(matrix_info *info, mc_diag *diag) {
    info->rows = measure_rows(info->csr);
    mc_status status = measure_panels(info, diag);
    if (status != MC_OK || info->vec == 0) return status;
    return measure_vectors(info->csr, info->vec, info->dilated, &info->vectors, diag);
}

/* Blocks of the fullest panel for each that panels have on average: num_loads of equation 6. */
static double load_of(const hrpb_facts *hrpb) {
    return hrpb->blocks > 0 ? (double)hrpb->most_blocks * (double)hrpb->panels / (double)hrpb->blocks : 0;
}

/* -- As text */

static void print_panels(const matrix_info *info) {
    for (int i = 0; i < PANELS; i++)
        printf("%s of %2d  %" PRId64 " with %" PRId64 " columns, at most %" PRId64
               " in one; %.2f nonzeros a column\n",
               i == 0 ? "panels" : "      ", panel_rows[i], info->panels[i].panels, info->panels[i].columns,
               info->panels[i].most_columns, info->panels[i].reuse);
    const hrpb_facts *hrpb = info->tiles;
    printf("HRPB         %" PRId64 " bricks of 16 x 4, alpha %.4f, OI %.1f, synergy %s\n", hrpb->bricks,
           hrpb->alpha, hrpb->intensity, synergies[hrpb->synergy]);
    printf("             %" PRId64 " blocks of 16 columns, the fullest panel has %" PRId64
           ", %.2f of the mean\n",
           hrpb->blocks, hrpb->most_blocks, load_of(hrpb));
    for (int i = 1; i < TILES; i++)
        printf("             panels of %d rows: alpha %.4f, beta %.3f, OI %.1f\n", tile_rows[i],
               info->tiles[i].alpha, info->tiles[i].beta, info->tiles[i].intensity);
}

static void print_vectors(const matrix_info *info) {
    const vector_info *vectors = &info->vectors;
    printf("vectors      %" PRId64 " of %d x 1, fill %.4f\n", vectors->vectors, info->vec, vectors->fill);
    if (vectors->fill < nearly_full)
        printf("             not vector-sparse: %.1f values stand there for each nonzero\n",
               1 / vectors->fill);
    printf("padding      %.4f of %" PRId64 " slots in strides of %d\n", padding_of(vectors), vectors->slots,
           INFO_STRIDE);
}

static void print_info(const matrix_info *info) {
    const mc_csr *csr = info->csr;
    const row_lengths *rows = &info->rows;
    printf("shape        %" PRId64 " x %" PRId64 "\n", csr->rows, csr->cols);
    const double sparsity = sparsity_of(csr);
    printf("nonzeros     %" PRId64 ", sparsity %.*f\n", csr->nnz, sparsity > .9999 && sparsity < 1 ? 8 : 4,
           sparsity);
    printf("row length   %" PRId64 " to %" PRId64 ", mean %.2f, cv %.3f, %" PRId64 " rows empty\n", rows->min,
           rows->max, rows->mean, rows->cv, rows->empty);
    if (csr->summed > 0)
        printf("summed       %" PRId64 " entries added to others in their place\n", csr->summed);
    if (info->blocks.rows > 0)
        printf("blocks       %" PRId64 " x %" PRId64 " of a BSR\n", info->blocks.rows, info->blocks.cols);
    if (info->vec > 0) print_vectors(info);
    print_panels(info);
}

/* -- As JSON */

static json_t *panels_json(const matrix_info *info) {
    json_t *list = json_array();
    for (int i = 0; i < PANELS; i++) {
        const row_panel_facts *p = &info->panels[i];
        json_array_append_new(list,
                              json_pack("{s:i, s:I, s:I, s:I, s:f}", "rows", panel_rows[i], "panels",
                                        (json_int_t)p->panels, "columns", (json_int_t)p->columns,
                                        "most_columns", (json_int_t)p->most_columns, "reuse", p->reuse));
    }
    return list;
}

static json_t *tiles_json(const matrix_info *info) {
    json_t *list = json_array();
    for (int i = 0; i < TILES; i++) {
        const hrpb_facts *h = &info->tiles[i];
        json_array_append_new(list, json_pack("{s:i, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:s}", "rows",
                                              tile_rows[i], "bricks", (json_int_t)h->bricks, "brick_columns",
                                              (json_int_t)h->brick_columns, "blocks", (json_int_t)h->blocks,
                                              "most_blocks", (json_int_t)h->most_blocks, "load", load_of(h),
                                              "alpha", h->alpha, "beta", h->beta, "intensity", h->intensity,
                                              "synergy", synergies[h->synergy]));
    }
    return list;
}

static json_t *vectors_json(const matrix_info *info) {
    const vector_info *vectors = &info->vectors;
    return json_pack("{s:i, s:I, s:f, s:I, s:f}", "vec", info->vec, "vectors", (json_int_t)vectors->vectors,
                     "fill", vectors->fill, "slots", (json_int_t)vectors->slots, "padding",
                     padding_of(vectors));
}

static mc_status print_info_json(const matrix_info *info, mc_diag *diag) {
    const mc_csr *csr = info->csr;
    const row_lengths *rows = &info->rows;
    json_t *json =
        json_pack("{s:I, s:I, s:I, s:f, s:{s:I, s:f, s:I, s:f, s:I}}", "rows", (json_int_t)csr->rows, "cols",
                  (json_int_t)csr->cols, "nonzeros", (json_int_t)csr->nnz, "sparsity", sparsity_of(csr),
                  "row_length", "min", (json_int_t)rows->min, "mean", rows->mean, "max",
                  (json_int_t)rows->max, "cv", rows->cv, "empty", (json_int_t)rows->empty);
    json_object_set_new(json, "summed", json_integer((json_int_t)csr->summed));
    if (info->blocks.rows > 0)
        json_object_set_new(json, "blocks",
                            json_pack("{s:I, s:I}", "rows", (json_int_t)info->blocks.rows, "cols",
                                      (json_int_t)info->blocks.cols));
    if (info->vec > 0) json_object_set_new(json, info->dilated ? "dilated" : "union", vectors_json(info));
    json_object_set_new(json, "panels", panels_json(info));
    json_object_set_new(json, "hrpb", tiles_json(info));
    return cmd_print_json(json, diag);
}

static int info_run(int argc, char **argv) {
    info_options options = {0};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_matrix_info, argc, argv, &options, &operands, &exit_status)) return exit_status;
    if (options.dilate && options.vec == 0) return cmd_usage("matrix-info: --dilate goes with --vec");
    mc_diag *diag = mc_diag_create();
    mc_csr csr;
    matrix_info info = {.csr = &csr, .vec = (int)options.vec, .dilated = options.dilate};
    mc_status status = problem_read_pattern(operands[0], &csr, &info.blocks, diag);
    if (status == MC_OK && options.dilate && info.blocks.rows > 0)
        status = mc_fail(diag, MC_USAGE, "--dilate: %s holds blocks", operands[0]);
    if (status == MC_OK) status = measure(&info, diag);
    if (status == MC_OK && options.json) status = print_info_json(&info, diag);
    else if (status == MC_OK) print_info(&info);
    mc_csr_free(&csr);
    return cmd_finish(status, diag);
}

const cmd cmd_matrix_info = {"matrix-info",
                             "MATRIX",
                             "tells a sparsity pattern's size, row lengths, vectors and row panels",
                             1,
                             {{info_table, sizeof info_table / sizeof info_table[0]}},
                             info_run};
