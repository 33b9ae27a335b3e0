/* Records what a GPU makes of the forms, and holds the simulator against it.
 *
 *   conformance record DEVICE [SCALE]   a record on stdout, of SCALE times as many warps as usual
 *   conformance replay DEVICE FILE      runs the same on DEVICE (a name as of mc_device_open) and compares
 *   conformance dump                    the forms as one module, for ptxas */
#include "compare.h"
#include "record.h"
#include "run.h"
#include "sums.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 32, SHOWN = 3, MOST_SCALE = 1000, SKIPPED = 77 };

static int dump(void) {
    struct form form;
    char text[FORM_TEXT], name[16];
    printf(FORM_HEADER("sm_90a"));
    for (int i = 0; form_get(i, &form); i++) {
        snprintf(name, sizeof name, "e%d", i);
        form_entry(&form, name, text);
        printf("// %s\n%s", form.code, text);
    }
    return 0;
}

static int record_forms(struct runner *r, int scale) {
    const mc_device_info *info = mc_device_get_info(r->device);
    struct form form;
    int status = 0;
    record_write_head(stdout, info->name, info->capability, info->driver);
    for (int i = 0; form_get(i, &form); i++) {
        int blocks = form.blocks * scale;
        if (!runner_run(r, &form, blocks, NULL)) {
            fprintf(stderr, "%s: %s\n", form.code, runner_reason(r));
            status = 1;
            continue;
        }
        record_write_line(stdout, form.hash, blocks, r->results, runner_words(&form, blocks));
    }
    return status;
}

static void show(const struct runner *r, const struct form *form, int index, uint64_t got, uint64_t want) {
    const uint32_t *in = r->inputs + compare_lane(form, index) * FORM_INPUT_WORDS;
    printf("  lane %d, result %d: got %" PRIx64 ", recorded %" PRIx64 "; inputs", compare_lane(form, index),
           index, got, want);
    for (int i = 0; i < FORM_INPUT_WORDS; i++) printf(" %08" PRIx32, in[i]);
    printf("\n");
}

/* A chip's sum lies within the bound, and the simulator does what sm_90 does; from another chip it differs by no more than
   both bounds. */
static bool is_good_sum(const struct runner *r, const struct form *form, int index, int capability,
                        uint64_t got, uint64_t want) {
    struct sum_bound sum = sum_bound_of(form, r->inputs, index, capability);
    char kind = form->row->inputs[2];
    double x = value_of(kind, (uint32_t)got), y = value_of(kind, (uint32_t)want);
    if (isfinite(sum.bound) && !(fabs(y - sum.exact) <= sum.bound)) return false;
    return capability == 90 ? got == want
                            : got == want || !isfinite(sum.bound) || fabs(x - y) <= 2 * sum.bound;
}

/* How many results differ. */
static int compare_results(const struct runner *r, const struct form *form, int blocks, int capability,
                           const uint32_t *recorded) {
    int wrong = 0, count = compare_count(form, blocks);
    for (int i = 0; i < count; i++) {
        uint64_t got = compare_result(form, r->results, i), want = compare_result(form, recorded, i);
        bool is_sum = form->row->compare == FORM_SUM;
        if (is_sum ? is_good_sum(r, form, i, capability, got, want) : compare_equal(form, got, want))
            continue;
        if (wrong == 0) printf("%s\n", form->code);
        if (wrong++ < SHOWN) show(r, form, i, got, want);
    }
    if (wrong) printf("  %d of %d results differ\n", wrong, count);
    return wrong;
}

/* Returns whether the form does what was recorded, and adds its results to COMPARED. */
static bool replay_form(struct runner *r, const struct form *form, const struct record *record,
                        long *compared) {
    const struct record_line *line = record_find(record, form->hash);
    if (!line) {
        printf("%s\n  not in the record: it was added or changed, and wants a new recording\n", form->code);
        return false;
    }
    size_t words = runner_words(form, line->blocks);
    uint32_t *recorded = calloc(words, sizeof *recorded);
    bool good = recorded && record_decode(line, recorded, words) && line->blocks <= r->blocks;
    if (!good) printf("%s\n  the record's line is damaged\n", form->code);
    if (good && !runner_run(r, form, line->blocks, NULL)) {
        printf("%s\n  %s\n", form->code, runner_reason(r));
        good = false;
    }
    if (good) {
        *compared += compare_count(form, line->blocks);
        good = compare_results(r, form, line->blocks, record->capability, recorded) == 0;
    }
    free(recorded);
    return good;
}

static int replay_forms(struct runner *r, const struct record *record) {
    struct form form;
    int failed = 0, count = 0;
    long compared = 0;
    for (; form_get(count, &form); count++) failed += !replay_form(r, &form, record, &compared);
    if ((size_t)count != record->count)
        printf("the record has %zu forms, the tables have %d\n", record->count, count);
    printf("coverage: %d forms, %ld results of %s (sm_%d, driver %d): %d forms differ\n", count, compared,
           record->device, record->capability, record->driver, failed);
    return failed > 0 || (size_t)count != record->count;
}

static int replay(const char *device, const char *path) {
    struct record record;
    struct runner runner;
    int status = 1, blocks = 1;
    if (!record_read(path, &record)) return 1;
    for (size_t i = 0; i < record.count; i++)
        if (record.lines[i].blocks > blocks) blocks = record.lines[i].blocks;
    if (blocks <= MOST_BLOCKS * MOST_SCALE && runner_open(&runner, device, blocks)) {
        status = replay_forms(&runner, &record);
        runner_close(&runner);
    } else {
        fprintf(stderr, "%s: cannot be opened for %d warps\n", device, blocks);
    }
    record_free(&record);
    return status;
}

static int record_on(const char *device, int scale) {
    struct runner runner;
    if (strncmp(device, "cuda", 4) == 0 && mc_device_cuda_count() == 0) {
        fprintf(stderr, "SKIPPED: no CUDA device\n");
        return SKIPPED;
    }
    if (scale < 1 || scale > MOST_SCALE || !runner_open(&runner, device, MOST_BLOCKS * scale)) {
        fprintf(stderr, "%s: cannot be opened\n", device);
        return 1;
    }
    int status = record_forms(&runner, scale);
    runner_close(&runner);
    return status;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "dump") == 0) return dump();
    if (argc >= 3 && strcmp(argv[1], "record") == 0) return record_on(argv[2], argc > 3 ? atoi(argv[3]) : 1);
    if (argc == 4 && strcmp(argv[1], "replay") == 0) return replay(argv[2], argv[3]);
    fprintf(stderr, "usage: conformance record DEVICE [SCALE] | replay DEVICE FILE | dump\n");
    return 2;
}
