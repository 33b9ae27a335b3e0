/* The schemas: what is on or off takes booleans, and hints are about words that are no fields. */
#include "check.h"
#include "ops/families.h"
#include "spec/spec.h"
#include <ctype.h>
#include <stdlib.h>

/* -- Switches ----------------------------------------------------------------------------------------- */

static mc_raw switch_raw(bool on) { return (mc_raw){.kind = MC_RAW_SWITCH, .number = on}; }

static mc_raw text_raw(const char *text) {
    mc_raw raw = {.kind = MC_RAW_TEXT};
    snprintf(raw.text, sizeof raw.text, "%s", text);
    return raw;
}

static bool takes(const mc_field *field, mc_raw raw, int64_t *value) {
    return field_accepts(field, &raw, value);
}

/* Returns whether FIELD is on or off in nature; then a boolean is the same as the name. */
static bool test_switch(const mc_field *field) {
    int64_t named[2] = {-1, -2}, boolean[2] = {-3, -4};
    bool names = takes(field, text_raw("off"), &named[0]) && takes(field, text_raw("on"), &named[1]);
    bool booleans =
        takes(field, switch_raw(false), &boolean[0]) && takes(field, switch_raw(true), &boolean[1]);
    CHECK(names == booleans, "%s: names %d, booleans %d", field->name, names, booleans);
    if (!names) return false;
    CHECK(named[0] == boolean[0] && named[1] == boolean[1], "%s", field->name);
    return true;
}

static void test_switches(void) {
    static const char *const wanted[] = {
        "prefetch", "stacking",     "shuffle", "padding",   "heads",       "resident",   "overlap",
        "batch",    "deal",         "stream",  "segmented", "prefetch_l2", "sparse_mma", "stream_k",
        "prefetch", "prefetch_lhs", "overlap", "batch",     "overlap",     "batch",      "batch",
        "batch",    "master",       "turns",   "overlap",   "early",       "once",       "batch",
        "stream",   "block_scales", "turns",   "overlap",   "early",       "once",       "batch",
        "stream",   "overlap",      "batch",   "ones",      "segmented"};
    size_t found = 0;
    for (int f = 0; mc_families[f]; f++)
        for (size_t i = 0; i < mc_families[f]->field_count; i++) {
            const mc_field *field = &mc_families[f]->fields[i];
            if (!test_switch(field)) continue;
            CHECK(found < sizeof wanted / sizeof *wanted && strcmp(field->name, wanted[found]) == 0,
                  "%s is a switch", field->name);
            found++;
        }
    CHECK(found == sizeof wanted / sizeof *wanted, "%zu switches", found);
}

/* -- Hints -------------------------------------------------------------------------------------------- */

/* WORD of the hint ROW: no field of FAMILY, in small letters, and in no later row. */
static void test_word(const mc_family *family, const mc_hint *row, const char *word) {
    char padded[MC_MAX_NAME + 2];
    snprintf(padded, sizeof padded, " %s ", word);
    CHECK(family_field(family, word) < 0, "%s: %s is a field", family->name, word);
    for (const char *at = word; *at; at++) CHECK(!isupper((unsigned char)*at), "%s: %s", family->name, word);
    for (const mc_hint *later = row + 1; later->words; later++)
        CHECK(!strstr(later->words, padded), "%s: %s has two hints", family->name, word);
    mc_text text = {0};
    hint_text(family, word, &text);
    char *got = text_take(&text);
    CHECK(got && strncmp(got, ": ", 2) == 0 && strcmp(got + 2, row->text) == 0, "%s: %s: %s", family->name,
          word, got ? got : "out of memory");
    free(got);
}

static void test_hints(const mc_family *family) {
    for (const mc_hint *row = family->hints; row->words; row++) {
        size_t length = strlen(row->words);
        CHECK(row->words[0] == ' ' && row->words[length - 1] == ' ', "%s:%s", family->name, row->words);
        char words[400], *rest = NULL;
        snprintf(words, sizeof words, "%s", row->words);
        for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
            test_word(family, row, word);
    }
}

int main(void) {
    test_switches();
    for (int f = 0; mc_families[f]; f++) test_hints(mc_families[f]);
    return check_end();
}
