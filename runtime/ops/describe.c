/* Operators as JSON, off their rows (mc_describe.h). */
#include "mc_describe.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "ops/operator.h"

/* All of it is null where there is no memory for a part: jansson passes NULL on. */

static json_t *text_or_null(const char *text) { return text != NULL ? json_string(text) : json_null(); }

static const char *member_name(problem_member member) {
    return member == NO_MEMBER ? NULL : problem_members[member].name;
}

static json_t *describe_types(void) {
    json_t *types = json_array();
#define X(NAME, text, bits_of, bytes_of, descr)                                                              \
    json_array_append_new(types, json_pack("{ss si si si ss}", "name", text, "value", (int)MC_##NAME,        \
                                           "bits", bits_of, "bytes", bytes_of, "npy", descr));
    MC_TYPE_LIST(X)
#undef X
    return types;
}

static json_t *describe_words(const member_word *words) {
    if (words == NULL) return json_null();
    json_t *values = json_object();
    for (; words->text != NULL; words++) json_object_set_new(values, words->text, json_integer(words->value));
    return values;
}

static json_t *describe_members(void) {
    static const int number_bytes = sizeof(int64_t), small_bytes = sizeof(int), switch_bytes = sizeof(bool);
    json_t *members = json_array();
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) {
        const member_row *row = &problem_members[i];
        int bytes = row->form == FORM_NUMBER   ? number_bytes
                    : row->form == FORM_SWITCH ? switch_bytes
                                               : small_bytes;
        json_array_append_new(members,
                              json_pack("{ss so sI si so}", "name", row->name, "config",
                                        text_or_null(row->config), "offset", (json_int_t)row->config_offset,
                                        "bytes", bytes, "words", describe_words(row->words)));
    }
    return members;
}

static json_t *describe_operand(const operand_row *o) {
    static const char *const kinds[] = {[OPERAND_DENSE] = "dense",
                                        [OPERAND_SAMPLED] = "sampled",
                                        [OPERAND_VALUES] = "values",
                                        [OPERAND_FACTOR] = "factor"};
    return json_pack("{ss ss sb sb so so so si si so so si so so si so so sb sb}", "name", o->name, "kind",
                     kinds[o->kind], "out", o->out, "in_place", o->in_place, "type",
                     text_or_null(member_name(o->type)), "rows", text_or_null(member_name(o->rows)), "cols",
                     text_or_null(member_name(o->cols)), "row_block", o->row_block, "col_block", o->col_block,
                     "ld", text_or_null(member_name(o->ld)), "only_if", text_or_null(member_name(o->only_if)),
                     "least", o->least, "stride", text_or_null(member_name(o->stride)), "per",
                     text_or_null(member_name(o->per)), "count", o->count, "computed",
                     text_or_null(member_name(o->computed)), "major", text_or_null(member_name(o->major)),
                     "by_layout", o->by_layout, "spread", o->spread && !o->by_layout);
}

static json_t *describe_matrix(const mc_operator *o) {
    if (!o->matrix.wanted) return json_null();
    return json_pack("{ss so ss ss so}", "title", o->matrix.title, "type",
                     text_or_null(member_name(o->matrix.type)), "rows", member_name(o->matrix.rows), "cols",
                     member_name(o->matrix.cols), "values_if",
                     text_or_null(member_name(o->matrix.values_if)));
}

static json_t *describe_set(uint64_t set) {
    json_t *members = json_array();
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++)
        if (set >> i & 1) json_array_append_new(members, json_string(problem_members[i].name));
    return members;
}

static json_t *describe_gradient(const gradient_row *g) {
    json_t *inputs = json_array();
    for (size_t i = 0; i < GRADIENT_INPUTS && g->inputs[i].name != NULL; i++)
        json_array_append_new(inputs, json_pack("{ss so sb}", "name", g->inputs[i].name, "from",
                                                text_or_null(g->inputs[i].from), "transposed",
                                                g->inputs[i].transposed));
    return json_pack("{ss so sb so so so}", "of", g->of, "by", text_or_null(g->by), "transposed",
                     g->transposed, "same", describe_set(g->same), "set", text_or_null(member_name(g->set)),
                     "inputs", inputs);
}

static json_t *describe_operator(const mc_operator *o) {
    json_t *operands = json_array(), *gradients = json_array();
    for (size_t i = 0; i < o->operand_count; i++)
        json_array_append_new(operands, describe_operand(&o->operands[i]));
    for (size_t i = 0; i < o->gradient_count; i++)
        json_array_append_new(gradients, describe_gradient(&o->gradients[i]));
    return json_pack("{ss ss si so so so so so}", "name", o->name, "title", o->title, "value", (int)o->op,
                     "matrix", describe_matrix(o), "members", describe_set(o->members), "operands", operands,
                     "gradients", gradients, "plain", describe_set(o->plain));
}

/* Where mc_plan_config has what is no member of a problem. */
static json_t *describe_places(void) {
    return json_pack("{sI sI sI sI}", "tuning", (json_int_t)offsetof(mc_plan_config, tuning), "specs",
                     (json_int_t)offsetof(mc_plan_config, specs), "spec_count",
                     (json_int_t)offsetof(mc_plan_config, spec_count), "dense",
                     (json_int_t)offsetof(mc_plan_config, dense));
}

static char *describe(void) {
    json_t *operators = json_array();
    const mc_operator *o;
    for (size_t i = 0; (o = operator_at(i)) != NULL; i++)
        json_array_append_new(operators, describe_operator(o));
    json_t *all = json_pack("{so so sI so so}", "types", describe_types(), "members", describe_members(),
                            "config_bytes", (json_int_t)sizeof(mc_plan_config), "config_places",
                            describe_places(), "operators", operators);
    char *text = all != NULL ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    return text;
}

size_t mc_describe(char *text, size_t size) {
    char *whole = describe();
    size_t length = whole != NULL ? strlen(whole) : 0;
    if (length > 0 && length < size) memcpy(text, whole, length + 1);
    free(whole);
    return length;
}
