/* mcrun compress: a dense matrix becomes what sparse tensor cores read, its values and their metadata, and
   back. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compress_device.h"
#include "matrix/slide24.h"
#include "matrix/sparse24_layout.h"
#include "options.h"
#include "shown.h"

enum { MODE_STRICT = 1, MODE_PRUNE };
enum { ATOMS_ROWS = 1, ATOMS_GROUPS };
enum { SPAN_1_2 = 2, SPAN_2_4 = 4 };

#define LAYOUT_WORDS "natural8|natural16|natural32|cutlass-sm80|cutlass-sm90|table=FILE.npy"

typedef struct compress_options {
    const char *out, *layout, *pattern, *device;
    int type, mode, word, atoms;
    int64_t tile_k, cols; /* cols -1: not given */
    bool decompress, mend, bench, json;
} compress_options;

static const cmd_option table[] = {
    {"out", 'o', OPTION_TEXT, offsetof(compress_options, out), "PREFIX", 0, 0,
     "PREFIX.values.npy and PREFIX.meta.npy are written; with --decompress the file to write"},
    {"decompress", 0, OPTION_SWITCH, offsetof(compress_options, decompress), NULL, 0, 0,
     "the way back: FILE is a PREFIX, and --out FILE.npy"},
    {"type", 0, OPTION_CHOICE, offsetof(compress_options, type),
     "f16|bf16|tf32|tf32rz|f32|s8|u8|s4|u4|e4m3|e5m2", 0, 0, "type of the elements (the file's)"},
    {"mode", 0, OPTION_CHOICE, offsetof(compress_options, mode), "strict|prune", 0, 0,
     "a group with too many nonzeros is an error, or keeps the greatest magnitudes (strict)"},
    {"layout", 0, OPTION_TEXT, offsetof(compress_options, layout), LAYOUT_WORDS, 0, 0,
     "how the metadata lie; table: the offset of each code in an atom (natural8)"},
    {"tile-k", 0, OPTION_INTEGER, offsetof(compress_options, tile_k), "K", 1, INT32_MAX,
     "cutlass-sm90: the tile of the kernel in k, in elements (128)"},
    {"word", 0, OPTION_CHOICE, offsetof(compress_options, word), "8|16|32", 0, 0,
     "table: bits of a word (8)"},
    {"atoms", 0, OPTION_CHOICE, offsetof(compress_options, atoms), "rows|groups", 0, 0,
     "table: which atom follows one in memory, that of the next rows or of the next groups (rows)"},
    {"pattern", 0, OPTION_TEXT, offsetof(compress_options, pattern), "2:4|4:6|6:8|8:10|...", 0, 0,
     "nonzeros of so many elements. Beyond 2:4 (tf32: 1:2) A has more columns, and PREFIX.rows.npy says "
     "which row "
     "of B each takes"},
    {"cols", 'k', OPTION_INTEGER, offsetof(compress_options, cols), "K", 0, INT32_MAX,
     "--decompress: columns of the matrix (as many as there is room for)"},
    {"mend", 0, OPTION_SWITCH, offsetof(compress_options, mend), NULL, 0, 0,
     "--decompress: groups of zeros may have codes without a meaning, as CUTLASS writes them for sm_90"},
    {"device", 0, OPTION_TEXT, offsetof(compress_options, device), "DEVICE", 0, 0,
     "where it is compressed: cuda:I, or sim, the simulator (on none, by this program)"},
    {"bench", 0, OPTION_SWITCH, offsetof(compress_options, bench), NULL, 0, 0,
     "--device: tells the time of the kernel, beside one that moves as many bytes"},
    {"json", 0, OPTION_SWITCH, offsetof(compress_options, json), NULL, 0, 0, "print JSON"},
};

/* A run. */
typedef struct compression {
    const compress_options *options;
    const char *file;
    int span; /* of --pattern; 0: none */
    mc_meta_layout layout;
    mc_dense dense, expanded, rows, meta;
    mc_sparse24 sparse;
    int64_t lost, mended;
    device_compression there; /* with --device */
    char *values_path, *meta_path, *rows_path;
} compression;

/* -- Options */

/* "A:B" into *SPAN: 1:2, or B - 2 of an even B. */
static bool take_pattern(const char *text, int *span) {
    int kept = 0, all = 0, length = 0;
    if (text == NULL) return true;
    bool whole = strspn(text, "0123456789:") == strlen(text) &&
                 sscanf(text, "%3d:%3d%n", &kept, &all, &length) == 2 && text[length] == '\0';
    *span = all;
    return whole && ((kept == 1 && all == SPAN_1_2) ||
                     (all % 2 == 0 && all - kept == 2 && all >= MC_SLIDE24_LEAST && all <= MC_SLIDE24_MOST));
}

static const char table_word[] = "table=";

/* The file of --layout table=FILE.npy; NULL: another layout. */
static const char *table_file(const compress_options *o) {
    const size_t length = sizeof table_word - 1;
    return o->layout != NULL && strncmp(o->layout, table_word, length) == 0 ? o->layout + length : NULL;
}

static bool is_layout(const char *name) {
    for (int i = 0; mc_meta_layout_name(i) != NULL; i++)
        if (strcmp(mc_meta_layout_name(i), name) == 0) return true;
    return false;
}

static int check_layout(const compress_options *o) {
    if (o->layout != NULL && table_file(o) == NULL && !is_layout(o->layout))
        return cmd_usage("--layout: '%s' is not one of " LAYOUT_WORDS, shown(o->layout).text);
    if (table_file(o) == NULL && (o->word != 0 || o->atoms != 0))
        return cmd_usage("compress: --word and --atoms go with --layout table=FILE.npy");
    if (o->tile_k > 0 && (o->layout == NULL || strcmp(o->layout, "cutlass-sm90") != 0))
        return cmd_usage("compress: --tile-k goes with --layout cutlass-sm90");
    return CMD_DONE;
}

static int check_options(compression *c) {
    const compress_options *o = c->options;
    if (o->out == NULL || *o->out == '\0') return cmd_usage("compress: --out is missing");
    if (!take_pattern(o->pattern, &c->span))
        return cmd_usage("--pattern: '%s' is not 1:2, 2:4, 4:6, 6:8 and so on to 62:64",
                         shown(o->pattern).text);
    if (o->decompress && o->mode != 0) return cmd_usage("compress: --mode goes without --decompress");
    if (!o->decompress && (o->cols >= 0 || o->mend))
        return cmd_usage("compress: --cols and --mend go with --decompress");
    if (o->decompress && o->device != NULL) return cmd_usage("compress: --device goes without --decompress");
    if (o->bench && o->device == NULL) return cmd_usage("compress: --bench goes with --device");
    return check_layout(o);
}

/* The files of PREFIX. */
static mc_status make_paths(compression *c, const char *prefix, mc_diag *diag) {
    static const char *const endings[] = {".values.npy", ".meta.npy", ".rows.npy"};
    char **const paths[] = {&c->values_path, &c->meta_path, &c->rows_path};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (asprintf(paths[i], "%s%s", prefix, endings[i]) < 0) {
            *paths[i] = NULL;
            return mc_fail(diag, MC_NOMEM, "out of memory");
        }
    return MC_OK;
}

/* MC_USAGE where an output would replace an input. */
static mc_status check_files(const compression *c, mc_diag *diag) {
    bool back = c->options->decompress;
    const char *const in[] = {back ? c->values_path : c->file, back ? c->meta_path : c->file,
                              table_file(c->options)};
    const char *const out[] = {back ? c->options->out : c->values_path, back ? c->options->out : c->meta_path,
                               back ? c->options->out : c->rows_path};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        for (size_t j = 0; j < sizeof out / sizeof *out; j++)
            if (in[i] != NULL && cmd_reads(in[i], out[j]))
                return mc_fail(diag, MC_USAGE, "compress: --out %s would overwrite %s, which is read",
                               c->options->out, in[i]);
    return MC_OK;
}

/* -- What both ways share */

/* Adds WHY, with the file's name in front, to DIAG, and ends it. */
static mc_status name_file(const char *file, mc_status status, mc_diag *why, mc_diag *diag) {
    if (status != MC_OK && why != NULL) (void)mc_fail(diag, status, "%s: %s", file, mc_diag_text(why));
    mc_diag_destroy(why);
    return status;
}

/* Reads DENSE of --type. */
static mc_status read_elements(const compression *c, const char *path, mc_dense *dense, mc_diag *diag) {
    static const mc_type types[] = {MC_S8, MC_F16, MC_BF16, MC_TF32, MC_TF32RZ, MC_F32,
                                    MC_S8, MC_U8,  MC_S4,   MC_U4,   MC_E4M3,   MC_E5M2};
    mc_dense read;
    mc_status status = mc_dense_read(path, &read, diag);
    if (status != MC_OK) return status;
    if (c->options->type == 0) {
        *dense = read;
        return MC_OK;
    }
    status = mc_dense_convert(&read, path, types[c->options->type], read.cols + read.cols % 2, dense, diag);
    mc_dense_free(&read);
    return status;
}

static mc_status read_table(compression *c, const char *path, mc_diag *diag) {
    const compress_options *o = c->options;
    mc_dense offsets;
    mc_status status = mc_dense_read(path, &offsets, diag);
    if (status != MC_OK) return status;
    mc_diag *why = mc_diag_create();
    status = mc_meta_layout_table(&offsets, o->word == 0 ? 8 : 4 << o->word, o->atoms != ATOMS_GROUPS,
                                  &c->layout, why);
    mc_dense_free(&offsets);
    return name_file(path, status, why, diag);
}

static mc_status make_layout(compression *c, mc_type type, mc_diag *diag) {
    const compress_options *o = c->options;
    if (table_file(o) != NULL) return read_table(c, table_file(o), diag);
    return mc_meta_layout_named(o->layout != NULL ? o->layout : mc_meta_layout_name(0), type,
                                o->tile_k > 0 ? o->tile_k : MC_META_TILE_K, &c->layout, diag);
}

/* MC_USAGE and MC_CANNOT for a pattern that TYPE does not have. */
static mc_status check_span(mc_type type, int span, mc_diag *diag) {
    mc_sparse24_rule rule;
    int64_t cols;
    mc_status status = mc_sparse24_rule_of(type, &rule, diag);
    if (status != MC_OK || span == 0) return status;
    if (span > SPAN_1_2) return mc_slide24_cols(type, span, 0, &cols, diag);
    if (rule.group == SPAN_1_2) return MC_OK;
    return mc_fail(diag, MC_USAGE, "--pattern 1:2 is that of tf32, not of %s", mc_type_text(type));
}

static mc_status check_pattern(const compression *c, mc_type type, mc_diag *diag) {
    mc_diag *why = mc_diag_create();
    return name_file(c->file, check_span(type, c->span, why), why, diag);
}

static bool is_spread(const compression *c) { return c->span > SPAN_2_4; }

/* -- There */

static mc_status spread(compression *c, mc_sparse24_mode mode, mc_diag *diag) {
    mc_status status = mc_slide24_expand(&c->dense, c->span, mode, &c->expanded, &c->lost, diag);
    if (status != MC_OK) return status;
    return mc_slide24_rows(c->dense.type, c->span, c->dense.cols, &c->rows, diag);
}

/* What the device itself writes; other layouts are made of the natural one. */
static mc_layout24 device_layout(const compress_options *o) {
    const bool usual = o->tile_k == 0 || o->tile_k == MC_META_TILE_K;
    if (o->layout != NULL && strcmp(o->layout, "cutlass-sm80") == 0) return MC_LAYOUT24_SM80;
    if (o->layout != NULL && strcmp(o->layout, "cutlass-sm90") == 0 && usual) return MC_LAYOUT24_SM90;
    return MC_LAYOUT24_NATURAL;
}

static mc_status compress_dense(compression *c, const mc_dense *a, mc_sparse24_mode mode, mc_diag *diag) {
    const compress_options *o = c->options;
    if (o->device == NULL) return mc_sparse24_compress(a, mode, &c->sparse, diag);
    c->there.prune = mode == MC_SPARSE24_PRUNE;
    c->there.layout = device_layout(o);
    return compress_on_device(&c->there, a, &c->layout, &c->sparse, &c->meta, diag);
}

static mc_status compress(compression *c, mc_diag *diag) {
    mc_sparse24_mode mode = c->options->mode == MODE_PRUNE ? MC_SPARSE24_PRUNE : MC_SPARSE24_STRICT;
    mc_diag *why = mc_diag_create();
    mc_status status = is_spread(c) ? spread(c, mode, why) : MC_OK;
    if (status == MC_OK) status = compress_dense(c, is_spread(c) ? &c->expanded : &c->dense, mode, why);
    c->lost += c->sparse.lost;
    status = name_file(c->file, status, why, diag);
    if (status != MC_OK || c->meta.data != NULL) return status;
    return mc_meta_export(&c->sparse, &c->layout, &c->meta, diag);
}

static mc_status open_device(compression *c, mc_diag *diag) {
    c->there = (device_compression){.device = c->options->device, .bench = c->options->bench};
    return compress_open_device(&c->there, diag);
}

static mc_status there(compression *c, mc_diag *diag) {
    mc_status status = make_paths(c, c->options->out, diag);
    if (status == MC_OK) status = check_files(c, diag);
    if (status == MC_OK && c->options->device != NULL) status = open_device(c, diag);
    if (status == MC_OK) status = read_elements(c, c->file, &c->dense, diag);
    if (status == MC_OK) status = check_pattern(c, c->dense.type, diag);
    if (status == MC_OK) status = make_layout(c, c->dense.type, diag);
    if (status == MC_OK) status = compress(c, diag);
    if (status != MC_OK) return status;
    const mc_npy_file files[] = {{c->values_path, &c->sparse.values, false},
                                 {c->meta_path, &c->meta, false},
                                 {c->rows_path, &c->rows, true}};
    return mc_npy_write_all(files, is_spread(c) ? 3 : 2, diag);
}

/* -- Back */

/* Columns of the matrix that was compressed: of A, or where it was spread of A'. */
static mc_status compressed_cols(compression *c, mc_diag *diag) {
    mc_sparse24_rule rule;
    int64_t given = c->options->cols;
    mc_type type = c->sparse.values.type;
    c->sparse.rows = c->sparse.values.rows;
    if (given >= 0 && is_spread(c)) return mc_slide24_cols(type, c->span, given, &c->sparse.cols, diag);
    mc_status status = mc_sparse24_rule_of(type, &rule, diag);
    if (status != MC_OK) return status;
    if (c->sparse.values.cols > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " columns of values: at most %d", c->sparse.values.cols,
                       INT32_MAX);
    int64_t groups = c->sparse.values.cols / (rule.kept * rule.unit);
    c->sparse.cols = given >= 0 ? given : groups * rule.group * rule.unit;
    return MC_OK;
}

/* As many columns of A as were spread over those of A'. */
static int64_t spread_cols(const compression *c) {
    int64_t groups = c->span / 2 - 1, given = c->options->cols;
    return given >= 0 ? given : c->sparse.cols / (groups * SPAN_2_4) * c->span;
}

static mc_status decompress(compression *c, mc_diag *diag) {
    mc_diag *why = mc_diag_create();
    mc_status status = compressed_cols(c, why);
    if (status == MC_OK) status = mc_meta_import(&c->meta, &c->layout, &c->sparse, why);
    if (status == MC_OK && c->options->mend) status = mc_sparse24_mend(&c->sparse, &c->mended, why);
    if (status == MC_OK)
        status = mc_sparse24_decompress(&c->sparse, is_spread(c) ? &c->expanded : &c->dense, why);
    if (status == MC_OK && is_spread(c))
        status = mc_slide24_collapse(&c->expanded, c->span, spread_cols(c), &c->dense, why);
    return name_file(c->file, status, why, diag);
}

static mc_status back(compression *c, mc_diag *diag) {
    mc_status status = make_paths(c, c->file, diag);
    if (status == MC_OK) status = check_files(c, diag);
    if (status == MC_OK) status = read_elements(c, c->values_path, &c->sparse.values, diag);
    if (status == MC_OK) status = mc_npy_read_vector(c->meta_path, &c->meta, diag);
    if (status == MC_OK) status = check_pattern(c, c->sparse.values.type, diag);
    if (status == MC_OK) status = make_layout(c, c->sparse.values.type, diag);
    if (status == MC_OK) status = decompress(c, diag);
    return status == MC_OK ? mc_npy_write(c->options->out, &c->dense, diag) : status;
}

/* -- What is told */

static void print_array(const char *what, const char *path, const mc_dense *array) {
    printf("%-10s %s, %s[%" PRId64 "][%" PRId64 "]\n", what, shown(path).text, mc_type_text(array->type),
           array->rows, array->cols);
}

static const char *layout_text(const compression *c) {
    return c->options->layout != NULL ? c->options->layout : mc_meta_layout_name(0);
}

static double copy_share(const compress24_times *times) { return times->copy / times->compress; }

static void print_device(const compression *c) {
    const compress24_times *times = &c->there.times;
    printf("device     %s\n", c->there.device_text);
    if (!c->options->bench) return;
    printf("time       %.2f us, %.0f GB/s\n", times->compress, (double)times->bytes / times->compress * 1e-3);
    printf(
        "copy       %.2f us for a kernel that moves the same bytes and chooses nothing: %.3f of its speed\n",
        times->copy, copy_share(times));
}

static json_t *bench_json(const compression *c) {
    const compress24_times *times = &c->there.times;
    return json_pack("{s:f, s:f, s:f, s:I}", "us", times->compress, "copy_us", times->copy, "of_copy",
                     copy_share(times), "bytes", (json_int_t)times->bytes);
}

static void print(const compression *c) {
    printf("shape      %" PRId64 " x %" PRId64 ", %s\n", c->dense.rows, c->dense.cols,
           mc_type_text(c->dense.type));
    if (c->options->mend) printf("mended     %" PRId64 " codes\n", c->mended);
    if (c->options->decompress) {
        print_array("written", c->options->out, &c->dense);
        return;
    }
    printf("pruned     %" PRId64 " groups\n", c->lost);
    print_array("values", c->values_path, &c->sparse.values);
    print_array("metadata", c->meta_path, &c->meta);
    printf("layout     %s\n", shown(layout_text(c)).text);
    if (c->options->device != NULL) print_device(c);
    if (c->rows.data != NULL)
        printf("rows       %s: which row of B each of its %" PRId64 " columns takes\n",
               shown(c->rows_path).text, c->rows.cols);
}

static json_t *array_json(const char *path, const mc_dense *array) {
    return json_pack("{s:o, s:s, s:I, s:I}", "file", shown_json(path), "type", mc_type_text(array->type),
                     "rows", (json_int_t)array->rows, "cols", (json_int_t)array->cols);
}

static mc_status print_json(const compression *c, mc_diag *diag) {
    json_t *json = json_pack("{s:I, s:I, s:s, s:o}", "rows", (json_int_t)c->dense.rows, "cols",
                             (json_int_t)c->dense.cols, "type", mc_type_text(c->dense.type), "layout",
                             shown_json(layout_text(c)));
    if (json == NULL) return cmd_print_json(json, diag);
    if (c->options->decompress) {
        json_object_set_new(json, "out", shown_json(c->options->out));
        json_object_set_new(json, "mended", json_integer((json_int_t)c->mended));
    } else {
        json_object_set_new(json, "pruned", json_integer((json_int_t)c->lost));
        json_object_set_new(json, "values", array_json(c->values_path, &c->sparse.values));
        json_object_set_new(json, "metadata", array_json(c->meta_path, &c->meta));
        if (c->options->device != NULL)
            json_object_set_new(json, "device", json_string(c->there.device_text));
        if (c->options->bench) json_object_set_new(json, "bench", bench_json(c));
        if (c->rows.data != NULL) json_object_set_new(json, "b_rows", array_json(c->rows_path, &c->rows));
    }
    return cmd_print_json(json, diag);
}

/* -- The command */

static void close_all(compression *c) {
    mc_dense *const all[] = {&c->dense, &c->expanded, &c->rows, &c->meta};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mc_dense_free(all[i]);
    mc_sparse24_free(&c->sparse);
    mc_meta_layout_free(&c->layout);
    compress_close_device(&c->there);
    free(c->values_path);
    free(c->meta_path);
    free(c->rows_path);
}

static int run(int argc, char **argv) {
    compress_options options = {.cols = -1};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_compress, argc, argv, &options, &operands, &exit_status)) return exit_status;
    compression c = {.options = &options, .file = operands[0]};
    exit_status = check_options(&c);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    mc_status status = options.decompress ? back(&c, diag) : there(&c, diag);
    if (status == MC_OK && options.json) status = print_json(&c, diag);
    else if (status == MC_OK) print(&c);
    close_all(&c);
    return cmd_finish(status, diag);
}

const cmd cmd_compress = {
    "compress",
    "FILE.npy",
    "a dense matrix with 2:4 zeros to values and metadata of sparse tensor cores, and back",
    1,
    {{table, sizeof table / sizeof table[0]}},
    run};
