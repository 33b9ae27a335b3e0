#include "record_filter.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_OF offsetof(record_filter, members)

const cmd_option record_filter_table[RECORD_FILTER_OPTIONS] = {
    {"gpu", 0, OPTION_TEXT, offsetof(record_filter, gpu), "NAME", 0, 0,
     "list: only records of GPUs with NAME in their names, as h200 or simulator"},
    {"op", 0, OPTION_SETTING, MEMBERS_OF, "OP", 0, 0,
     "list: only records of this operator; here and below values may have commas between"},
    {"lhs", 0, OPTION_SETTING, MEMBERS_OF, "TYPE", 0, 0, "list: only with this type of A"},
    {"rhs", 0, OPTION_SETTING, MEMBERS_OF, "TYPE", 0, 0, "list: only with this type of B"},
    {"vec", 0, OPTION_SETTING, MEMBERS_OF, "V", 0, 0, "list: only with vectors of V rows"},
    {"m", 0, OPTION_SETTING, MEMBERS_OF, "M", 0, 0, "list: only with M rows"},
    {"n", 'n', OPTION_SETTING, MEMBERS_OF, "N", 0, 0, "list: only with N columns"},
    {"k", 0, OPTION_SETTING, MEMBERS_OF, "K", 0, 0, "list: only with this k"},
    {"spec", 0, OPTION_TEXT, offsetof(record_filter, spec), "SPEC", 0, 0,
     "list: only where the fastest kernel is of SPEC, as spmm_l8r8_tiled"},
    {"where", 0, OPTION_ASSIGN, MEMBERS_OF, "MEMBER=VALUE", 0, 0,
     "list: only with this value of another member, as out=f16, scale=row, order=bcrs, shapes=open"},
    {"cold", 0, OPTION_SWITCH, offsetof(record_filter, cold), NULL, 0, 0,
     "list: only measured with cold operands"},
};

bool record_filter_given(const record_filter *f) {
    return f->members.count > 0 || f->gpu != NULL || f->spec != NULL || f->cold;
}

/* -- Members */

static problem_member find_member(const char *name) {
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++)
        if (strcmp(problem_members[i].name, name) == 0) return i;
    return NO_MEMBER;
}

/* TEXT, of LENGTH characters, as a value of ROW's member. */
static bool take_value(const member_row *row, const char *text, size_t length, int64_t *value) {
    char word[32], *end;
    if (length == 0 || length >= sizeof word) return false;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (row->words != NULL) return word_value(row->words, word, value);
    errno = 0;
    *value = strtoll(word, &end, 10);
    return strchr("0123456789", word[0]) != NULL && *end == '\0' && errno == 0;
}

static mc_status refuse(const mc_setting *setting, const member_row *row, mc_diag *diag) {
    char all[512] = "a number";
    size_t used = 0;
    for (const member_word *word = row->words; word != NULL && word->text != NULL; word++) {
        int length = snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "", word->text);
        if (length < 0 || used + (size_t)length >= sizeof all) break;
        used += (size_t)length;
    }
    return mc_fail(diag, MC_USAGE, "records: %s: '%s' is not %s%s", setting->field, setting->value,
                   row->words != NULL ? "one of " : "", all);
}

static mc_status check_setting(const mc_setting *setting, mc_diag *diag) {
    problem_member member = find_member(setting->field);
    if (member == NO_MEMBER)
        return mc_fail(diag, MC_USAGE, "records: --where: no problem has a member '%s'", setting->field);
    for (const char *at = setting->value;; at++) {
        size_t length = strcspn(at, ",");
        int64_t value;
        if (!take_value(&problem_members[member], at, length, &value))
            return refuse(setting, &problem_members[member], diag);
        at += length;
        if (*at == '\0') return MC_OK;
    }
}

mc_status record_filter_check(const record_filter *f, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < f->members.count && status == MC_OK; i++)
        status = check_setting(&f->members.items[i], diag);
    return status;
}

static bool member_passes(const mc_setting *setting, const plan_problem *p) {
    problem_member member = find_member(setting->field);
    for (const char *at = setting->value;; at++) {
        size_t length = strcspn(at, ",");
        int64_t value;
        if (take_value(&problem_members[member], at, length, &value) && member_get(p, member) == value)
            return true;
        at += length;
        if (*at == '\0') return false;
    }
}

/* -- The whole */

static bool is_spec(const char *name, const char *wanted) {
    size_t length = strlen(wanted);
    return strncmp(name, wanted, length) == 0 && (name[length] == '\0' || strcmp(name + length, ".lua") == 0);
}

bool record_filter_passes(const record_filter *f, const record *r) {
    for (size_t i = 0; i < f->members.count; i++)
        if (!member_passes(&f->members.items[i], &r->problem)) return false;
    return (f->gpu == NULL || strcasestr(r->gpu, f->gpu) != NULL) &&
           (f->spec == NULL || is_spec(r->spec, f->spec)) && (!f->cold || r->cold);
}
