#include <inttypes.h>
#include <stdio.h>
#include "costs.h"
#include "report.h"
#include "shown.h"

double report_sparsity(const mc_vsparse *a) {
    double places = (double)a->row_blocks * (double)a->cols;
    return places > 0 ? 1 - (double)a->vectors / places : 0;
}

static double gathered_gbs(const run_shape *shape, double microseconds) {
    return (double)shape->vectors * (double)shape->bytes / (1e3 * microseconds);
}

static double effective_tops(const run_shape *shape, double microseconds) {
    return 2 * (double)shape->vectors * shape->vec * (double)shape->length / (1e6 * microseconds);
}

static double moved_gbs(const run_shape *shape, double microseconds) {
    return (double)shape->moved / (1e3 * microseconds);
}

static const char *verdict_of(const run_result *result) {
    if (result->status == MC_OK) return result->bounded ? "within bounds" : "exact";
    return result->status == MC_MISMATCH ? "wrong" : "failed";
}

/* Of a line. */
static const char *short_verdict(const run_result *result) {
    return result->status == MC_OK && result->bounded ? "right" : verdict_of(result);
}

static void print_sources(const run_shape *shape) {
    for (size_t i = 0; i < shape->source_count; i++) {
        const value_source *s = &shape->sources[i];
        printf("%s %s %s%s", i ? "," : "\nvalues    ", s->title, s->from ? "of " : "random",
               s->from ? shown(s->from).text : "");
    }
    if (shape->quantised > 0)
        printf("\nquantised  a value of the file is %.9g times %s's", shape->quantised,
               shape->sources[0].title);
}

static void print_blocks(const run_shape *shape) {
    const mc_blocks *b = &shape->blocks;
    printf("\nblocks     %" PRId64 " x %" PRId64 " of a BSR", b->rows, b->cols);
    if (b->rows % shape->vec == 0)
        printf(", %" PRId64 " vector%s each", b->rows / shape->vec * b->cols,
               b->rows == shape->vec && b->cols == 1 ? "" : "s");
}

static void print_shape(const run_shape *shape, const char *device) {
    printf("shape      M %" PRId64 "  K %" PRId64 "  N %" PRId64, shape->m, shape->k, shape->n);
    for (size_t i = 0; i < shape->ld_count; i++)
        if (shape->ld[i].value != shape->ld[i].row)
            printf("  %s %" PRId64, shape->ld[i].name, shape->ld[i].value);
    if (shape->sparse)
        printf("\nvectors    %" PRId64 " of %d x 1, sparsity %.4f", shape->vectors, shape->vec,
               shape->sparsity);
    if (shape->sparse && shape->fill < 1) printf(", fill %.4f", shape->fill);
    if (shape->given_rows >= 0)
        printf("\nrows       %" PRId64 " of the file, and %" PRId64 " empty ones", shape->given_rows,
               shape->m - shape->given_rows);
    if (shape->blocks.rows > 0) print_blocks(shape);
    print_sources(shape);
    printf("\ndevice     %s\n", device);
}

void report_print_table(const run_shape *shape, const run_result *result, const char *device) {
    double time = result->microseconds;
    print_shape(shape, device);
    if (result->variant == NO_VARIANT) printf("kernel     %016" PRIx64 "  %s\n", result->hash, result->text);
    else printf("variant    %zu  %016" PRIx64 "  %s\n", result->variant, result->hash, result->text);
    if (result->recorded > 0)
        printf("spec       %s\nrecorded   %s%s%s\n", shown(result->spec).text,
               cost_text(result->recorded, result->simulated, 2).text,
               result->cold ? ", with cold operands" : "",
               result->other_generator ? ", with another generator" : "");
    if (result->estimate > 0) {
        printf("spec       %s\n", shown(result->spec).text);
        printf("estimate   %.2f us%s\n", result->estimate, result->simulated ? " on a GPU" : "");
    }
    if (time > 0) {
        printf("time       %.2f us\n", time);
        if (!shape->sparse) printf("moved      %.1f GB/s\n", moved_gbs(shape, time));
        else
            printf("gathered   %.1f GB/s\neffective  %.2f TOPS\n", gathered_gbs(shape, time),
                   effective_tops(shape, time));
    }
    printf("verdict    %s\n", verdict_of(result));
    if (result->message != NULL) printf("           %s\n", shown_message(result->message).text);
}

void report_print_line(const run_shape *shape, const run_result *result, const char *mark) {
    double time = result->microseconds;
    printf("%-5s%5zu  %016" PRIx64 "  %-7s", mark, result->variant, result->hash, short_verdict(result));
    if (time > 0 && shape->sparse)
        printf("%9.2f us %9.1f GB/s %8.2f TOPS", time, gathered_gbs(shape, time),
               effective_tops(shape, time));
    else if (time > 0) printf("%9.2f us %9.1f GB/s", time, moved_gbs(shape, time));
    printf("  %s\n", shown_message(result->message != NULL ? result->message : result->text).text);
}

static json_t *variant_json(const run_result *result) {
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, result->hash);
    json_t *index = result->variant != NO_VARIANT ? json_integer((json_int_t)result->variant) : NULL;
    return json_pack("{s:o*, s:s, s:s}", "index", index, "hash", hash, "fields", result->text);
}

static json_t *shape_json(const run_shape *shape) {
    json_t *json = json_pack("{s:I, s:I, s:I}", "m", (json_int_t)shape->m, "n", (json_int_t)shape->n, "k",
                             (json_int_t)shape->k);
    for (size_t i = 0; i < shape->ld_count; i++)
        json_object_set_new(json, shape->ld[i].name, json_integer((json_int_t)shape->ld[i].value));
    json_t *sparse = json_pack("{s:i, s:I, s:f, s:f}", "vec", shape->vec, "vectors",
                               (json_int_t)shape->vectors, "sparsity", shape->sparsity, "fill", shape->fill);
    if (shape->sparse) json_object_update(json, sparse);
    json_decref(sparse);
    if (shape->given_rows >= 0)
        json_object_set_new(json, "file_rows", json_integer((json_int_t)shape->given_rows));
    if (shape->blocks.rows > 0)
        json_object_set_new(json, "blocks",
                            json_pack("{s:I, s:I}", "rows", (json_int_t)shape->blocks.rows, "cols",
                                      (json_int_t)shape->blocks.cols));
    return json;
}

/* By the matrices' names: the file, or "random". */
static json_t *values_json(const run_shape *shape) {
    json_t *json = json_object();
    for (size_t i = 0; i < shape->source_count; i++) {
        const char *from = shape->sources[i].from;
        json_object_set_new(json, shape->sources[i].title, shown_json(from != NULL ? from : "random"));
    }
    return json;
}

static json_t *timing_json(const run_shape *shape, double time) {
    if (!shape->sparse)
        return json_pack("{s:f, s:f}", "microseconds", time, "moved_gbs", moved_gbs(shape, time));
    return json_pack("{s:f, s:f, s:f}", "microseconds", time, "gathered_gbs", gathered_gbs(shape, time),
                     "effective_tops", effective_tops(shape, time));
}

/* s:o* leaves out a member without a value. */
json_t *report_json(const run_shape *shape, const run_result *result, const char *device) {
    json_t *timing = result->microseconds > 0 ? timing_json(shape, result->microseconds) : NULL;
    json_t *estimate = result->estimate > 0 ? json_real(result->estimate) : NULL;
    json_t *quantised = shape->quantised > 0 ? json_real(shape->quantised) : NULL;
    json_t *json =
        json_pack("{s:o, s:o, s:o, s:o, s:o*, s:s, s:s, s:o*, s:o*, s:o*}", "shape", shape_json(shape),
                  "variant", variant_json(result), "spec", shown_json(result->spec), "values",
                  values_json(shape), "quantised", quantised, "device", device, "verdict", verdict_of(result),
                  "message", shown_json(result->message), "estimate", estimate, "timing", timing);
    if (json != NULL && cost_put(json, "recorded", result->recorded, result->simulated)) return json;
    json_decref(json);
    return NULL;
}
