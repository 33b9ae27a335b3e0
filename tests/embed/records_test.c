/* Files of records that are damaged, hostile, or name kernels that there are not: contexts open, plans are
   made, results are right. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"
#include "layer.h"
#include "tree.h"

enum { N = 32, SEED = 5, MOST_BYTES = 1 << 16 };

static char root[] = "records-XXXXXX", cache_directory[64], records[64];
static char good[MOST_BYTES]; /* the file that tuning wrote */
static size_t good_size;
static mc_diag *diag;
static int notes;

static void note(void *user, mc_log_level level, const char *message) {
    (void)user, (void)message;
    notes += level == MC_LOG_NOTE;
}

static mc_context *open_context(void) {
    mc_context *context;
    mc_context_config config = layer_context(cache_directory, records);
    config.log = note;
    notes = 0;
    mc_diag_clear(diag);
    CHECK(mc_context_create(&config, &context, diag) == MC_OK, "%s", mc_diag_text(diag));
    if (context == NULL) exit(1);
    return context;
}

/* Why the kernel of the layer's plan was chosen; its product is compared. */
static mc_origin plan(const char *what) {
    mc_context *context = open_context();
    mc_matrix *matrix = NULL;
    mc_plan *made = NULL;
    mc_plan_info info = {.size = sizeof info};
    int wrong = 0;
    mc_status status = layer_matrix(context, SEED, &matrix, diag);
    if (status == MC_OK) status = layer_plan(context, matrix, N, &made, diag);
    if (status == MC_OK) status = layer_execute(context, made, SEED, N, &wrong, diag);
    if (status == MC_OK) status = mc_plan_get_info(made, &info, diag);
    CHECK(status == MC_OK && wrong == 0, "%s: %s; %d wrong", what, mc_diag_text(diag), wrong);
    mc_plan_destroy(made);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
    return info.origin;
}

static void write_records(const void *bytes, size_t size) {
    (void)remove(records);
    FILE *file = fopen(records, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) exit(1);
}

/* -- A good one --------------------------------------------------------------------------------------- */

static void make_good(void) {
    mc_context *context = open_context();
    mc_matrix *matrix = NULL;
    const mc_tune_config few = {.size = sizeof few, .candidates = 3};
    mc_status status = layer_matrix(context, SEED, &matrix, diag);
    const mc_plan_config problem = layer_problem(matrix, N);
    if (status == MC_OK) status = mc_tune(context, &problem, &few, NULL, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
    FILE *file = fopen(records, "rb");
    if (file != NULL) good_size = fread(good, 1, sizeof good - 1, file);
    if (file != NULL) fclose(file);
    CHECK(good_size > 100 && good_size < sizeof good - 1 && good[good_size - 1] == '\n', "%zu bytes",
          good_size);
    CHECK(plan("as tuning wrote it") == MC_ORIGIN_MEASURED && notes == 0, "%d notes", notes);
}

/* -- Damaged ------------------------------------------------------------------------------------------ */

static void test_cut_off(void) {
    for (size_t size = 0; size < good_size - 1; size += 1 + good_size / 20) {
        write_records(good, size);
        CHECK(plan("cut off") != MC_ORIGIN_MEASURED, "%zu of %zu bytes", size, good_size);
        CHECK(notes == (size > 0), "%zu of %zu bytes: %d notes", size, good_size, notes);
    }
}

static void test_flipped(void) {
    char bytes[MOST_BYTES];
    for (size_t i = 0; i < good_size; i += 1 + good_size / 60) {
        memcpy(bytes, good, good_size);
        bytes[i] = (char)(bytes[i] ^ 1 << i % 7);
        write_records(bytes, good_size);
        plan("one bit changed");
    }
}

/* What a line says is replaced; records of what there is not are passed over, in the log or in silence. */
static const struct lie {
    const char *from, *to;
} lies[] = {
    {"\"fields\":\"op=spmm ", "\"fields\":\"op=sddmm "},
    {"\"fields\":\"op=spmm ", "\"fields\":\"op=spmm op=spmm "},
    {"\"fields\":\"op=spmm ", "\"fields\":\" "},
    {" vec=8 ", " vec=4 "},
    {" vec=8 ", " vec=9999999999999999999999 "},
    {" arch=sm_", " arch=sm_9"},
    {" stride=", " stride=-"},
    {" tile_n=", " tile_n=10000000"},
    {" warps=", " warps=0"},
    {" staging=", " staging=tma staging="},
    {"\"spec\":\"", "\"spec\":\"../../../etc/passwd"},
    {"\"us\":", "\"us\":-"},
    {"\"us\":", "\"us\":1e308"},
    {"\"schema\":", "\"schema\":9"},
    {"\"problem\":{", "\"problem\":{\"problem\":{},"},
    {"\"vectors\":", "\"vectors\":-"},
    {"\"vectors\":", "\"vectors\":92233720368547"},
    {"\"lengths\":[", "\"lengths\":[["},
    {"\"candidates\":[", "\"candidates\":[[],"},
    {"\"timed\"", "\"\\u0000timed\""},
    {"\"gpu\":\"", "\"gpu\":\"\xff\xfe"},
    {"{", "[[[[[[[[[["},
};

static void test_lies(void) {
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        char bytes[MOST_BYTES + 256];
        size_t count = 0;
        int replaced = 0;
        for (const char *at = good; *at != '\0';) {
            size_t length = strlen(lies[i].from);
            bool here = strncmp(at, lies[i].from, length) == 0 && count + strlen(lies[i].to) < MOST_BYTES;
            replaced += here;
            if (here) count += (size_t)sprintf(bytes + count, "%s", lies[i].to), at += length;
            else bytes[count++] = *at++;
        }
        CHECK(replaced > 0, "\"%s\" is not in %s", lies[i].from, good);
        write_records(bytes, count);
        plan(lies[i].to);
        CHECK(notes <= 4, "%s: %d notes", lies[i].to, notes);
    }
}

static void test_deep(void) {
    static char bytes[MOST_BYTES];
    memset(bytes, '[', sizeof bytes);
    write_records(bytes, sizeof bytes);
    plan("brackets alone");
    memset(bytes, 0, sizeof bytes);
    write_records(bytes, sizeof bytes);
    plan("NULs alone");
    memset(bytes, '\n', sizeof bytes);
    memcpy(bytes + 1000, good, good_size);
    write_records(bytes, sizeof bytes);
    CHECK(plan("empty lines") == MC_ORIGIN_MEASURED && notes == 0, "%d notes", notes);
}

/* -- Not a file ----------------------------------------------------------------------------------------- */

static bool make_fifo(void) { return mkfifo(records, 0600) == 0; }
static bool make_directory(void) { return mkdir(records, 0700) == 0; }
static bool make_loop(void) { return symlink("records.jsonl", records) == 0; }
static bool make_endless(void) { return symlink("/dev/zero", records) == 0; }
static bool make_huge(void) {
    write_records(good, good_size);
    return truncate(records, (off_t)1 << 40) == 0;
}

static void test_kinds(void) {
    static bool (*const makers[])(void) = {make_fifo, make_directory, make_loop, make_endless, make_huge};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        (void)remove(records);
        CHECK(makers[i](), "%zu", i);
        CHECK(plan("not a file") != MC_ORIGIN_MEASURED && notes == 1, "%zu: %d notes", i, notes);
    }
    (void)remove(records);
}

int main(void) {
    alarm(120); /* what waits without end has failed */
    diag = mc_diag_create();
    if (diag == NULL || mkdtemp(root) == NULL) return 1;
    snprintf(cache_directory, sizeof cache_directory, "%s/cache", root);
    snprintf(records, sizeof records, "%s/records.jsonl", root);
    make_good();
    if (check_failed == 0) {
        test_cut_off();
        test_flipped();
        test_lies();
        test_deep();
        test_kinds();
    }
    mc_diag_destroy(diag);
    tree_remove(root);
    return check_end();
}
