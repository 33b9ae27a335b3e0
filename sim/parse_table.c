/* Tables of labels: .branchtargets, and brx.idx that jumps by them. */
#include "parse.h"

#include <string.h>

enum { MAX_TARGETS = 1 << 16, MAX_TOTAL_TARGETS = 1 << 20 };

static bool skip_statement(struct sim_parser *p) {
    while (!sim_is_punct(p, ';')) {
        if (p->token.kind == SIM_TOKEN_END) return sim_unexpected(p, "`;`");
        if (!sim_advance(p)) return false;
    }
    return sim_advance(p);
}

/* a, b, c; of which TABLE has room for as many as there are commas before the semicolon, and one. */
static bool parse_labels(struct sim_parser *p, struct sim_table *table) {
    int room = 1;
    for (const char *s = p->token.text; *s && *s != ';'; s++) room += *s == ',';
    if (room > MAX_TARGETS)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "more than %d targets", MAX_TARGETS);
    struct sim_token *labels = sim_scratch(p, (size_t)room * sizeof *labels);
    if (!labels) return false;
    for (bool more = true; more;) {
        if (p->token.kind != SIM_TOKEN_WORD || table->count == room) return sim_unexpected(p, "a label");
        labels[table->count++] = p->token;
        if (!sim_advance(p) || !sim_accept(p, ',', &more)) return false;
    }
    table->labels = labels;
    return sim_expect(p, ';');
}

/* The token is the directive behind a label and its colon. Only .branchtargets means something: what stands
   at .callprototype and .calltargets is for indirect calls, which are refused. */
bool sim_parse_label_directive(struct sim_parser *p, const struct sim_token *label) {
    bool present;
    if (sim_token_is(&p->token, SIM_TOKEN_DOT, "callprototype") ||
        sim_token_is(&p->token, SIM_TOKEN_DOT, "calltargets"))
        return skip_statement(p);
    if (!sim_accept_dot(p, "branchtargets", &present)) return false;
    if (!present) return sim_label_define(p, label);
    struct sim_table *table = sim_scratch(p, sizeof *table);
    if (!table) return false;
    *table = (struct sim_table){.next = p->tables, .name = *label, .scope = p->scope};
    p->tables = table;
    return parse_labels(p, table);
}

/* The name of a table, which may come later. */
bool sim_parse_targets(struct sim_parser *p, struct sim_insn *insn) {
    struct sim_switch *s = sim_scratch(p, sizeof *s);
    struct sim_targets *targets = sim_keep(p, sizeof *targets);
    if (!s || !targets) return false;
    if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "a label");
    *s = (struct sim_switch){p->switches, p->token, targets};
    p->switches = s;
    insn->value[insn->value_count++] = (struct sim_value){.kind = SIM_CONSTANT, .lanes = targets};
    return sim_advance(p);
}

static const struct sim_table *find_table(const struct sim_parser *p, const struct sim_token *name) {
    for (const struct sim_table *t = p->tables; t; t = t->next)
        if (t->name.length == name->length && memcmp(t->name.text, name->text, name->length) == 0) return t;
    return NULL;
}

static bool resolve(struct sim_parser *p, const struct sim_switch *s) {
    const struct sim_table *table = find_table(p, &s->name);
    if (!table)
        return sim_error(p, PTXSIM_PARSE, s->name.line, "`%.*s` is no .branchtargets of the function",
                         (int)(s->name.length < 64 ? s->name.length : 64), s->name.text);
    p->total_targets += table->count;
    if (p->total_targets > MAX_TOTAL_TARGETS)
        return sim_error(p, PTXSIM_UNSUPPORTED, s->name.line, "more than %d targets", MAX_TOTAL_TARGETS);
    s->targets->at = sim_keep(p, (size_t)table->count * sizeof *s->targets->at);
    if (!s->targets->at) return false;
    for (int i = 0; i < table->count; i++) {
        int at = sim_label_find(p, &table->labels[i], table->scope);
        if (at < 0) return false;
        s->targets->at[s->targets->count++] = at;
    }
    return true;
}

bool sim_tables_resolve(struct sim_parser *p) {
    for (const struct sim_switch *s = p->switches; s; s = s->next)
        if (!resolve(p, s)) return false;
    return true;
}
