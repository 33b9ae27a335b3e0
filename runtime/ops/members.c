#include "ops/members.h"
#include "mc_activation.h"
#include <string.h>
#include "parts/slide24.h"

_Static_assert(MEMBERS <= 64, "a set of members has 64 bits");

/* -- Words */

static const member_word op_words[] = {
#define O(upper, lower) {#lower, MC_OP_##upper},
#include "ops/operators.def"
#undef O
    {0}};
static const member_word types[] = {
#define X(name, text, bits, bytes, descr) {text, MC_##name},
    MC_TYPE_LIST(X)
#undef X
        {0}};
static const member_word pers[] = {
    {"none", MC_PER_NONE}, {"tensor", MC_PER_TENSOR}, {"row", MC_PER_ROW}, {"column", MC_PER_COLUMN}, {0}};
static const member_word activations[] = {
#define A(NAME, text) {text, MC_ACTIVATION_##NAME},
    MC_ACTIVATION_LIST(A)
#undef A
        {0}};
static const member_word residuals[] = {{"none", MC_RESIDUAL_NONE},
                                        {"f16", MC_RESIDUAL_F16},
                                        {"bf16", MC_RESIDUAL_BF16},
                                        {"f32", MC_RESIDUAL_F32},
                                        {0}};
static const member_word exps[] = {{"polynomial", MC_EXP_POLYNOMIAL}, {"approx", MC_EXP_APPROX}, {0}};
static const member_word rules[] = {MC_RULE_WORDS, {0}};
static const member_word patterns[] = {{"none", 0},
#define X(text, span) {text, span},
                                       SLIDE24_PATTERNS(X)
#undef X
                                           {0}};
static const member_word majors[] = {{"row", MC_MAJOR_ROW}, {"column", MC_MAJOR_COLUMN}, {0}};
static const member_word switches[] = {{"off", false}, {"on", true}, {0}};
static const member_word sums[] = {{"wrap", false}, {"exact", true}, {0}};
static const member_word ways_to_add[] = {
    {"fast", MC_SUMS_FAST}, {"promoted", MC_SUMS_PROMOTED}, {"f16", MC_SUMS_F16}, {0}};
static const member_word masks[] = {{"pattern", false}, {"values", true}, {0}};
static const member_word heads[] = {{"on", false}, {"off", true}, {0}};
static const member_word sources[] = {{"given", false}, {"computed", true}, {0}};
static const member_word layouts[] = {{"columns", MC_LAYOUT_COLUMNS}, {"rows", MC_LAYOUT_ROWS}, {0}};
static const member_word orders[] = {
    {"bcrs", MC_ORDER_BCRS}, {"srbcrs16", MC_ORDER_SRBCRS16}, {"srbcrs32", MC_ORDER_SRBCRS32}, {0}};
static const member_word shape_words[] = {{"fixed", MC_SHAPES_FIXED}, {"open", MC_SHAPES_OPEN}, {0}};

const char *word_text(const member_word *words, int64_t value) {
    for (; words->text != NULL; words++)
        if (words->value == value) return words->text;
    return NULL;
}

bool word_value(const member_word *words, const char *text, int64_t *value) {
    for (; words->text != NULL; words++)
        if (strcmp(words->text, text) == 0) {
            *value = words->value;
            return true;
        }
    return false;
}

/* -- The table */

_Static_assert(sizeof(mc_op) == sizeof(int) && sizeof(mc_type) == sizeof(int) &&
                   sizeof(mc_per) == sizeof(int) && sizeof(mc_activation) == sizeof(int) &&
                   sizeof(mc_layout) == sizeof(int) && sizeof(mc_order) == sizeof(int) &&
                   sizeof(mc_shapes) == sizeof(int) && sizeof(mc_residual) == sizeof(int) &&
                   sizeof(mc_exp) == sizeof(int) && sizeof(mc_sum_mode) == sizeof(int),
               "a word is read and written as an int");

#define AT(member) #member, offsetof(mc_plan_config, member)
#define NOWHERE    NULL, 0
#define ROW(name, type, form, words, quiet, field, field_words, setting, config, config_offset, far)         \
    {#name,        FORM_##form,   offsetof(plan_problem, name),                                              \
     sizeof(type), words,         quiet,                                                                     \
     field,        field_words,   SETTING_##setting,                                                         \
     config,       config_offset, far},
/* Once more, so that AT and NOWHERE become the two columns that they stand for. */
#define M(...) ROW(__VA_ARGS__)
const member_row problem_members[MEMBERS] = {
    {0},
#include "ops/members.def"
};
#undef M

/* -- Values */

static int64_t get(const char *at, member_form form) {
    int64_t number = 0;
    int small = 0;
    if (form == FORM_SWITCH) return *(const bool *)at;
    if (form == FORM_NUMBER) memcpy(&number, at, sizeof number);
    else memcpy(&small, at, sizeof small), number = small;
    return number;
}

static void set(char *at, member_form form, int64_t value) {
    int small = (int)value;
    if (form == FORM_SWITCH) *(bool *)at = value != 0;
    else if (form == FORM_NUMBER) memcpy(at, &value, sizeof value);
    else memcpy(at, &small, sizeof small);
}

int64_t member_get(const plan_problem *problem, problem_member member) {
    if (member == NO_MEMBER) return 0;
    const member_row *row = &problem_members[member];
    return get((const char *)problem + row->offset, row->form);
}

void member_set(plan_problem *problem, problem_member member, int64_t value) {
    const member_row *row = &problem_members[member];
    set((char *)problem + row->offset, row->form, value);
}

int64_t member_of_config(const mc_plan_config *config, problem_member member) {
    const member_row *row = &problem_members[member];
    return row->config != NULL ? get((const char *)config + row->config_offset, row->form) : 0;
}

void member_set_config(mc_plan_config *config, problem_member member, int64_t value) {
    const member_row *row = &problem_members[member];
    if (row->config != NULL) set((char *)config + row->config_offset, row->form, value);
}
