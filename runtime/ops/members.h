/* A problem, and its members as a table: whoever prints, reads, compares, checks or passes on a problem walks the
   table, so that a member is a row of members.def and nothing else. */
#ifndef MCRT_MEMBERS_H
#define MCRT_MEMBERS_H

#include "matrix/vsparse.h"

enum { ROW_QUANTILES = 5 };

/* How the vectors lie in the row blocks: lengths are a row block's vectors. */
typedef struct matrix_features {
    int64_t vectors;
    int64_t quantiles[ROW_QUANTILES]; /* of the lengths: least, quarter, median, three quarters, longest */
    double spread;                    /* standard deviation of the lengths */
} matrix_features;

/* What is computed, whole and canonical: what records are kept for, what candidates are made for, what the choice of a
   kernel is cached under. Members that the operator has not are 0. Leading dimensions that it has are never 0, and
   even where two elements share a byte. */
typedef struct plan_problem {
#define M(name, type, ...) type name;
#include "ops/members.def"
#undef M
    matrix_features features;
} plan_problem;

typedef enum problem_member {
    NO_MEMBER,
#define M(name, ...) MEMBER_##name,
#include "ops/members.def"
#undef M
    MEMBERS,
    FIRST_MEMBER = NO_MEMBER + 1 /* for those that walk the table */
} problem_member;

typedef enum member_form { FORM_WORD, FORM_SWITCH, FORM_SMALL, FORM_NUMBER } member_form;
typedef enum member_setting {
    SETTING_NEVER,
    SETTING_ALWAYS,
    SETTING_UNLESS_ZERO,
    SETTING_SHAPE,
    SETTING_MANY
} member_setting;
/* Each counts once, however many members of it differ. */
typedef enum member_far {
    FAR_NOT,
    FAR_ALIEN,
    FAR_OUT,
    FAR_FACTORS,
    FAR_ORDER,
    FAR_SHAPES,
    FAR_ALIGN,
    FAR_KINDS
} member_far;

typedef struct member_word {
    const char *text; /* NULL: the end */
    int value;
} member_word;

typedef struct member_row {
    const char *name;
    member_form form;
    size_t offset, size; /* in plan_problem */
    const member_word *words;
    bool quiet;
    const char *field;
    const member_word *field_words;
    member_setting setting;
    const char *config;   /* NULL: mc_plan_config has none */
    size_t config_offset; /* there it has the same type */
    member_far far;
} member_row;

extern const member_row problem_members[MEMBERS]; /* by problem_member; that of NO_MEMBER is zero */

/* Members of one operator, a bit each. */
#define HAS(member) ((uint64_t)1 << MEMBER_##member)

int64_t member_get(const plan_problem *problem, problem_member member); /* NO_MEMBER: 0 */
void member_set(plan_problem *problem, problem_member member, int64_t value);
/* That of CONFIG; 0 where it has none. */
int64_t member_of_config(const mc_plan_config *config, problem_member member);
void member_set_config(mc_plan_config *config, problem_member member, int64_t value);

/* NULL: no word of WORDS has VALUE. */
const char *word_text(const member_word *words, int64_t value);
bool word_value(const member_word *words, const char *text, int64_t *value);

#endif
