/* The sums of tensor cores as the runtime's reference has them (arithmetic/mma_sum.h), against what a GPU recorded and
 * against the simulator.
 *
 *   reference_sums FILE     FILE: a record of an sm_90 */
#include "arithmetic/mma_sum.h"
#include "compare.h"
#include "record.h"
#include "run.h"
#include "sums.h"
#include "values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SIMULATED_BLOCKS = 240, SHOWN = 3 };

static mma_type type_of(char kind) {
    switch (kind) {
    case 'h': return MMA_F16;
    case 'b': return MMA_BF16;
    case 't': return MMA_TF32;
    case '4': return MMA_E4M3;
    case '5': return MMA_E5M2;
    default: return MMA_F32;
    }
}

/* How many of the results that WORDS hold are not the reference's. */
static int compare_sums(const struct form *form, int blocks, const uint32_t *inputs, const uint32_t *words,
                        const char *source) {
    const char *kind = form->row->inputs;
    mma_form mma = {type_of(kind[0]), type_of(kind[1]), type_of(kind[2]), 0};
    int wrong = 0, count = compare_count(form, blocks);
    for (int i = 0; i < count; i++) {
        struct sum_terms terms;
        sum_terms_of(form, inputs, i, &terms);
        mma.k = terms.depth;
        uint32_t got = mma_sum(&mma, terms.a, terms.b, terms.c);
        uint64_t want = compare_result(form, words, i);
        if (got == want || wrong++ >= SHOWN) continue;
        printf("%s\n  result %d: %08" PRIx32 ", %s %08" PRIx64 "\n", form->code, i, got, source, want);
    }
    if (wrong) printf("  %d of %d sums differ from %s's\n", wrong, count, source);
    return wrong;
}

/* The record's results of the inputs that FORM makes of its seed. */
static bool replay(const struct form *form, const struct record *record, long *compared) {
    const struct record_line *line = record_find(record, form->hash);
    if (!line) return printf("%s\n  not in the record\n", form->code), false;
    size_t words = form_warp_bytes(form) * (size_t)line->blocks / 4,
           lanes = (size_t)line->blocks * 32 * FORM_INPUT_WORDS;
    uint32_t *results = calloc(words, sizeof *results), *inputs = calloc(lanes, sizeof *inputs);
    bool good = results && inputs && record_decode(line, results, words);
    if (good) form_inputs(form, line->blocks, inputs);
    good = good && compare_sums(form, line->blocks, inputs, results, record->device) == 0;
    *compared += compare_count(form, line->blocks);
    free(results);
    free(inputs);
    return good;
}

/* Numbers of several shapes in one sum: now and then zeros, seldom infinities. */
static void mix_inputs(const struct form *form, uint64_t *seed, uint32_t *words) {
    for (int i = 0; i < FORM_INPUT_WORDS; i++) {
        unsigned r = (unsigned)(value_random(seed) >> 32);
        char kind = form->row->inputs[i < 4 ? 0 : i < 6 ? 1 : 2];
        enum value_shape shape = r % 64 == 0 ? VALUE_EDGES : (enum value_shape)(r / 64 % VALUE_EDGES);
        words[i] = r >> 29 == 0 ? 0 : (uint32_t)value_shaped(kind, shape, seed);
    }
}

static bool simulate(struct runner *runner, const struct form *form, long *compared) {
    enum { WORDS = SIMULATED_BLOCKS * 32 * FORM_INPUT_WORDS };
    static uint32_t inputs[WORDS];
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15) + form->hash;
    for (int i = 0; i < WORDS; i += FORM_INPUT_WORDS) mix_inputs(form, &seed, inputs + i);
    if (!runner_run(runner, form, SIMULATED_BLOCKS, inputs))
        return printf("%s\n  %s\n", form->code, runner_reason(runner)), false;
    *compared += compare_count(form, SIMULATED_BLOCKS);
    return compare_sums(form, SIMULATED_BLOCKS, runner->inputs, runner->results, "the simulator") == 0;
}

static int compare_all(struct runner *runner, const struct record *record) {
    struct form form;
    long recorded = 0, simulated = 0;
    int forms = 0, failed = 0;
    for (int i = 0; form_get(i, &form); i++) {
        if (form.row->compare != FORM_SUM) continue;
        bool good = replay(&form, record, &recorded);
        good = simulate(runner, &form, &simulated) && good;
        forms++, failed += !good;
    }
    printf("%d forms, %ld sums of %s, %ld of the simulator: %d forms differ\n", forms, recorded,
           record->device, simulated, failed);
    return failed > 0 || forms == 0;
}

int main(int argc, char **argv) {
    struct record record;
    struct runner runner;
    int status = 1;
    if (argc != 2 || !record_read(argv[1], &record)) return 2;
    if (record.capability != 90) printf("%s is no record of an sm_90\n", argv[1]);
    else if (runner_open(&runner, "sim", SIMULATED_BLOCKS)) status = compare_all(&runner, &record);
    else printf("the simulator cannot be opened\n");
    runner_close(&runner);
    record_free(&record);
    return status;
}
