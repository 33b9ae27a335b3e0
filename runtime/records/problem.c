/* All members of a problem, as one table: printing, reading, comparing and hashing walk it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "records/text.h"

typedef struct word {
    const char *text; /* NULL: the end */
    int value;
} word;

static const word ops[] = {{"spmm", MC_OP_SPMM}, {"sddmm", MC_OP_SDDMM}, {0}};
static const word types[] = {
#define X(name, text, bits, bytes, descr) {text, MC_##name},
    MC_TYPE_LIST(X)
#undef X
        {0}};
static const word pers[] = {
    {"none", MC_PER_NONE}, {"tensor", MC_PER_TENSOR}, {"row", MC_PER_ROW}, {"column", MC_PER_COLUMN}, {0}};
static const word activations[] = {{"none", MC_ACTIVATION_NONE}, {"relu", MC_ACTIVATION_RELU}, {0}};
static const word switches[] = {{"off", false}, {"on", true}, {0}};
static const word layouts[] = {{"columns", MC_LAYOUT_COLUMNS}, {"rows", MC_LAYOUT_ROWS}, {0}};
static const word orders[] = {
    {"bcrs", MC_ORDER_BCRS}, {"srbcrs16", MC_ORDER_SRBCRS16}, {"srbcrs32", MC_ORDER_SRBCRS32}, {0}};
static const word shapes[] = {{"fixed", MC_SHAPES_FIXED}, {"open", MC_SHAPES_OPEN}, {0}};

typedef enum member_kind {
    MEMBER_WORD,    /* an enumeration or unsigned, of `words` */
    MEMBER_SWITCH,  /* bool */
    MEMBER_SMALL,   /* int or unsigned */
    MEMBER_NUMBER,  /* int64_t */
    MEMBER_LENGTHS, /* int64_t[ROW_QUANTILES] */
    MEMBER_REAL
} member_kind;

_Static_assert(sizeof(mc_op) == sizeof(int) && sizeof(mc_type) == sizeof(int) &&
                   sizeof(mc_per) == sizeof(int) && sizeof(mc_activation) == sizeof(int) &&
                   sizeof(mc_layout) == sizeof(int) && sizeof(mc_order) == sizeof(int) &&
                   sizeof(mc_shapes) == sizeof(int),
               "a word is read and written as an int");

static const struct member {
    const char *name;
    member_kind kind;
    size_t offset;
    const word *words;
    bool quiet; /* left out where it is 0 */
} members[] = {
#define AT(member) offsetof(plan_problem, member)
    {"op", MEMBER_WORD, AT(op), ops, false},
    {"lhs", MEMBER_WORD, AT(lhs), types, false},
    {"rhs", MEMBER_WORD, AT(rhs), types, false},
    {"out", MEMBER_WORD, AT(out), types, false},
    {"scale", MEMBER_WORD, AT(scale), pers, true},
    {"bias", MEMBER_WORD, AT(bias), pers, true},
    {"activation", MEMBER_WORD, AT(activation), activations, true},
    {"exact", MEMBER_SWITCH, AT(exact), switches, true},
    {"mask_values", MEMBER_SWITCH, AT(mask_values), switches, true},
    {"layout", MEMBER_WORD, AT(layout), layouts, true},
    {"order", MEMBER_WORD, AT(order), orders, true},
    {"shapes", MEMBER_WORD, AT(shapes), shapes, true},
    {"align", MEMBER_SMALL, AT(align), NULL, false},
    {"vec", MEMBER_SMALL, AT(vec), NULL, false},
    {"m", MEMBER_NUMBER, AT(m), NULL, false},
    {"n", MEMBER_NUMBER, AT(n), NULL, false},
    {"k", MEMBER_NUMBER, AT(k), NULL, false},
    {"lda", MEMBER_NUMBER, AT(lda), NULL, true},
    {"ldb", MEMBER_NUMBER, AT(ldb), NULL, false},
    {"ldc", MEMBER_NUMBER, AT(ldc), NULL, true},
    {"vectors", MEMBER_NUMBER, AT(features.vectors), NULL, false},
    {"lengths", MEMBER_LENGTHS, AT(features.quantiles), NULL, false},
    {"spread", MEMBER_REAL, AT(features.spread), NULL, false},
#undef AT
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

static size_t size_of(const struct member *member) {
    static const size_t sizes[] = {[MEMBER_WORD] = sizeof(int),
                                   [MEMBER_SWITCH] = sizeof(bool),
                                   [MEMBER_SMALL] = sizeof(int),
                                   [MEMBER_NUMBER] = sizeof(int64_t),
                                   [MEMBER_LENGTHS] = sizeof(int64_t[ROW_QUANTILES]),
                                   [MEMBER_REAL] = sizeof(double)};
    return sizes[member->kind];
}

/* Of a WORD, SWITCH, SMALL or NUMBER. */
static int64_t get(const plan_problem *problem, const struct member *member) {
    const char *at = (const char *)problem + member->offset;
    int64_t number = 0;
    int small = 0;
    if (member->kind == MEMBER_SWITCH) return *(const bool *)at;
    if (member->kind == MEMBER_NUMBER) memcpy(&number, at, sizeof number);
    else memcpy(&small, at, sizeof small), number = small;
    return number;
}

static void set(plan_problem *problem, const struct member *member, int64_t value) {
    char *at = (char *)problem + member->offset;
    int small = (int)value;
    if (member->kind == MEMBER_SWITCH) *(bool *)at = value != 0;
    else if (member->kind == MEMBER_NUMBER) memcpy(at, &value, sizeof value);
    else memcpy(at, &small, sizeof small);
}

/* -- Printing */

static const char *word_text(const struct member *member, int64_t value) {
    for (const word *w = member->words; w->text != NULL; w++)
        if (w->value == value) return w->text;
    return "";
}

static void add_lengths(const plan_problem *problem, mc_text *text) {
    for (int i = 0; i < ROW_QUANTILES; i++)
        text_add(text, "%c%" PRId64, i ? ',' : '[', problem->features.quantiles[i]);
    text_add(text, "]");
}

void problem_print(const plan_problem *problem, mc_text *text) {
    char separator = '{';
    for (int i = 0; i < MEMBER_COUNT; i++) {
        const struct member *member = &members[i];
        if (member->quiet && get(problem, member) == 0) continue;
        text_add(text, "%c\"%s\":", separator, member->name);
        separator = ',';
        if (member->kind == MEMBER_LENGTHS) add_lengths(problem, text);
        else if (member->kind == MEMBER_REAL) json_add_real(text, problem->features.spread);
        else if (member->words != NULL) text_add(text, "\"%s\"", word_text(member, get(problem, member)));
        else text_add(text, "%" PRId64, get(problem, member));
    }
    text_add(text, "}");
}

void problem_title(const plan_problem *p, char title[PROBLEM_TITLE]) {
    snprintf(title, PROBLEM_TITLE,
             "%s %s x %s -> %s, vec %d, m %" PRId64 " n %" PRId64 " k %" PRId64 ", %" PRId64 " vectors%s",
             plan_op_text(p->op), mc_type_text(p->lhs), mc_type_text(p->rhs), mc_type_text(p->out), p->vec,
             p->m, p->n, p->k, p->features.vectors, p->shapes == MC_SHAPES_OPEN ? ", open shapes" : "");
}

/* -- Reading */

static mc_status take_word(const json_t *object, const struct member *member, int64_t *value, mc_diag *diag) {
    const char *text;
    mc_status status = json_take_string(object, member->name, &text, diag);
    if (status != MC_OK) return status;
    for (const word *w = member->words; w->text != NULL; w++)
        if (strcmp(w->text, text) == 0) {
            *value = w->value;
            return MC_OK;
        }
    return mc_fail(diag, MC_FORMAT, "%s is '%.40s', which it cannot be", member->name, text);
}

static mc_status take_lengths(const json_t *object, const char *name, int64_t *lengths, mc_diag *diag) {
    const json_t *array = json_object_get(object, name);
    if (json_array_size(array) != ROW_QUANTILES)
        return mc_fail(diag, MC_FORMAT, "%s are not %d whole numbers", name, ROW_QUANTILES);
    for (size_t i = 0; i < ROW_QUANTILES; i++) {
        const json_t *length = json_array_get(array, i);
        lengths[i] = json_integer_value(length);
        if (!json_is_integer(length) || lengths[i] < 0)
            return mc_fail(diag, MC_FORMAT, "%s are not %d whole numbers", name, ROW_QUANTILES);
    }
    return MC_OK;
}

static mc_status take_member(const json_t *object, const struct member *member, plan_problem *problem,
                             mc_diag *diag) {
    int64_t value = 0, most = member->kind == MEMBER_SMALL ? INT32_MAX : INT64_MAX;
    mc_status status;
    if (member->quiet && json_object_get(object, member->name) == NULL) return MC_OK;
    if (member->kind == MEMBER_LENGTHS)
        return take_lengths(object, member->name, problem->features.quantiles, diag);
    if (member->kind == MEMBER_REAL)
        return json_take_real(object, member->name, &problem->features.spread, diag);
    if (member->words != NULL) status = take_word(object, member, &value, diag);
    else status = json_take_integer(object, member->name, 0, most, &value, diag);
    if (status == MC_OK) set(problem, member, value);
    return status;
}

mc_status problem_parse(const json_t *object, plan_problem *problem, mc_diag *diag) {
    *problem = (plan_problem){0};
    mc_status status = MC_OK;
    if (!json_is_object(object)) status = mc_fail(diag, MC_FORMAT, "problem is missing, or no object");
    for (int i = 0; i < MEMBER_COUNT && status == MC_OK; i++)
        status = take_member(object, &members[i], problem, diag);
    return status;
}

/* -- Comparing */

/* By member: between them a problem has bytes of no meaning. */
bool problem_same(const plan_problem *a, const plan_problem *b) {
    for (int i = 0; i < MEMBER_COUNT; i++) {
        size_t at = members[i].offset;
        if (memcmp((const char *)a + at, (const char *)b + at, size_of(&members[i])) != 0) return false;
    }
    return true;
}

/* FNV-1a. */
uint64_t problem_hash(const plan_problem *problem) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < MEMBER_COUNT; i++) {
        const unsigned char *bytes = (const unsigned char *)problem + members[i].offset;
        for (size_t j = 0; j < size_of(&members[i]); j++) hash = (hash ^ bytes[j]) * 0x100000001b3u;
    }
    return hash;
}
