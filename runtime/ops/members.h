/* A problem, and its members as a table. Whoever prints, reads, compares, checks or passes on a problem walks
   the table, so that a member is a row of members.def and nothing else. */
#ifndef MCRT_MEMBERS_H
#define MCRT_MEMBERS_H

#include "matrix/vsparse.h"

enum { ROW_QUANTILES = 5 };

/* How nonzero vectors lie in row blocks. A row block's length is the number of its vectors. */
typedef struct matrix_features {
    int64_t vectors;
    /* of the lengths: least, lower quarter, median, upper quarter, longest */
    int64_t quantiles[ROW_QUANTILES];
    double spread; /* standard deviation of the lengths */
    /* Of vectors of one element; else all 0. It is for estimates, and no part of which problem it is: older
       records know nothing of it */
    mc_row_panels panels;
    int64_t span; /* likewise */
} matrix_features;

/* What is computed, in full and in one form only. Records are kept for it, candidates are made for it, and
   the choice of a kernel is cached under it. Members that the operator has not are 0. Leading dimensions that
   it has are never 0, and are even where two elements share a byte. */
typedef struct plan_problem {
#define M(name, type, ...) type name;
#include "ops/members.def"
#undef M
    matrix_features features;
    /* Only kernels that read CSR as it comes will do. It is no part of which problem it is, as records have
       it: none are kept for such a one */
    bool as_csr;
} plan_problem;

typedef enum problem_member {
    NO_MEMBER,
#define M(name, ...) MEMBER_##name,
#include "ops/members.def"
#undef M
    MEMBERS,
    FIRST_MEMBER = NO_MEMBER + 1 /* where walks of the table begin */
} problem_member;

typedef enum member_form { FORM_WORD, FORM_SWITCH, FORM_SMALL, FORM_NUMBER } member_form;
typedef enum member_setting {
    SETTING_NEVER,
    SETTING_ALWAYS,
    SETTING_UNLESS_ZERO,
    SETTING_SHAPE,
    SETTING_MANY
} member_setting;
/* How much a member counts where problems are compared. Each kind counts once, however many members of it
   differ. */
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
    const char *config;   /* NULL: mc_plan_config has no such member */
    size_t config_offset; /* where it is there, of the same type */
    member_far far;
} member_row;

extern const member_row problem_members[MEMBERS]; /* by problem_member; the row of NO_MEMBER is zero */

/* The bit of a member in mc_operator.members. */
#define HAS(member) ((uint64_t)1 << MEMBER_##member)

int64_t member_get(const plan_problem *problem, problem_member member); /* NO_MEMBER: 0 */
void member_set(plan_problem *problem, problem_member member, int64_t value);
/* The member's value in CONFIG; 0 where CONFIG has none. */
int64_t member_of_config(const mc_plan_config *config, problem_member member);
void member_set_config(mc_plan_config *config, problem_member member, int64_t value);

/* NULL: no word of WORDS has VALUE. */
const char *word_text(const member_word *words, int64_t value);
bool word_value(const member_word *words, const char *text, int64_t *value);

#endif
