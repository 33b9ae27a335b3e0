/* .func, call and ret. An entry's code holds, behind its own, that of each function that it calls, once: it
 * is parsed again for each entry, so that registers, shared variables and special registers get their
 * places there. A function is parsed where it is defined, too, for its errors. Recursion and indirect calls
 * are refused. */
#include "parse.h"

#include <string.h>

enum { MAX_ARGUMENTS = 64, MAX_TOTAL_CODE = 1 << 22, MAX_REPEATED = 1 << 24 };

/* (a, b, ...) of a function's results or parameters. */
struct arguments {
    struct sim_room room[MAX_ARGUMENTS];
    int count;
};

/* -- Declaration -------------------------------------------------------------------------------------- */

static bool parse_argument(struct sim_parser *p, bool size_only, struct sim_room *room) {
    bool present;
    if (sim_token_is(&p->token, SIM_TOKEN_DOT, "reg"))
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "a function with parameters in registers");
    if (!sim_accept_dot(p, "param", &present)) return false;
    if (!present) return sim_unexpected(p, "`.param`");
    return sim_parse_frame_variable(p, size_only, room);
}

static bool parse_arguments(struct sim_parser *p, bool size_only, struct arguments *a) {
    bool present;
    a->count = 0;
    if (!sim_accept(p, '(', &present) || !present) return p->fault->status == PTXSIM_OK;
    if (sim_is_punct(p, ')')) return sim_advance(p);
    for (bool more = true; more;) {
        if (a->count == MAX_ARGUMENTS)
            return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "more than %d parameters", MAX_ARGUMENTS);
        if (!parse_argument(p, size_only, &a->room[a->count++]) || !sim_accept(p, ',', &more)) return false;
    }
    return sim_expect(p, ')');
}

/* {(result)} name {(parameters)} */
static bool parse_signature(struct sim_parser *p, bool size_only, struct sim_token *name,
                            struct arguments *results, struct arguments *params) {
    if (!parse_arguments(p, size_only, results)) return false;
    *name = p->token;
    if (name->kind != SIM_TOKEN_WORD) return sim_unexpected(p, "the name of a function");
    return sim_advance(p) && parse_arguments(p, size_only, params);
}

static const struct sim_room *keep_rooms(struct sim_parser *p, const struct arguments *a) {
    struct sim_room *kept = sim_keep(p, (size_t)a->count * sizeof *kept + 1);
    if (kept && a->count) memcpy(kept, a->room, (size_t)a->count * sizeof *kept);
    return kept;
}

static bool same_sizes(const struct arguments *a, const struct sim_room *rooms, int count) {
    for (int i = 0; i < a->count && i < count; i++)
        if (a->room[i].bytes != rooms[i].bytes) return false;
    return a->count == count;
}

static struct sim_routine *declare(struct sim_parser *p, const struct sim_token *name,
                                   const struct arguments *results, const struct arguments *params) {
    struct sim_symbol *s = sim_lookup(p, name->text, name->length);
    if (s && s->kind == SIM_SYMBOL_FUNCTION) {
        const struct sim_routine *r = s->routine;
        if (same_sizes(results, r->results, r->result_count) && same_sizes(params, r->params, r->param_count))
            return s->routine;
        sim_error(p, PTXSIM_PARSE, name->line, "`%.100s` is declared with other parameters", r->name);
        return NULL;
    }
    s = sim_declare(p, name->text, name->length, SIM_SYMBOL_FUNCTION);
    struct sim_routine *r = s ? sim_scratch(p, sizeof *r) : NULL;
    char *text = r ? sim_keep(p, name->length + 1) : NULL;
    if (!text) return NULL;
    memcpy(text, name->text, name->length);
    *r = (struct sim_routine){.name = text, .result_count = results->count, .param_count = params->count};
    r->results = keep_rooms(p, results);
    r->params = keep_rooms(p, params);
    s->routine = r;
    return r->results && r->params ? r : NULL;
}

static bool parse_attributes(struct sim_parser *p) {
    bool present;
    while (p->token.kind == SIM_TOKEN_DOT) {
        if (!sim_accept_dot(p, "noreturn", &present)) return false;
        if (!present && !sim_parse_tuning(p)) return false;
    }
    return true;
}

/* -- Code --------------------------------------------------------------------------------------------- */

void sim_start_calls(struct sim_parser *p) {
    p->routine = NULL;
    p->waiting = NULL;
    p->edges = NULL;
    p->returns = NULL;
    p->switches = NULL;
    p->tables = NULL;
}

/* Code behind the last instruction can be jumped to. */
static bool has_label_at_end(const struct sim_parser *p) {
    for (int i = 0; i < p->labels.count; i++)
        if (p->labels.items[i].at == p->function->code_count) return true;
    return false;
}

/* The last instruction of a function leaves it. A ret that stands there becomes it. */
static bool append_leave(struct sim_parser *p, const struct sim_callee *c) {
    ptxsim_function *f = p->function;
    struct sim_insn *last = f->code_count > c->start ? &f->code[f->code_count - 1] : NULL;
    struct sim_value callee = {.kind = SIM_CONSTANT, .lanes = c}, *kept;
    struct sim_insn leave = {.line = p->token.line,
                             .guard = SIM_NO_REGISTER,
                             .op = &sim_leave_op,
                             .exec = sim_leave,
                             .value = &callee,
                             .value_count = 1};
    bool is_ret =
        last && p->returns && p->returns->insn == f->code_count - 1 && last->guard == SIM_NO_REGISTER;
    if (!is_ret || has_label_at_end(p)) return sim_append_insn(p, &leave);
    if (!(kept = sim_keep(p, sizeof *kept))) return false;
    *kept = callee;
    p->returns = p->returns->next;
    leave.line = last->line;
    leave.value = kept;
    leave.use = last->use;
    *last = leave;
    return true;
}

static bool add_part(struct sim_parser *p, int start) {
    ptxsim_function *f = p->function;
    int *parts = sim_keep(p, (size_t)(f->part_count + 1) * sizeof *parts);
    if (!parts) return false;
    if (f->part_count) memcpy(parts, f->parts, (size_t)f->part_count * sizeof *parts);
    parts[f->part_count++] = start;
    f->parts = parts;
    return true;
}

/* An instruction that nobody executes, between the functions' code, so that no place where a call ends is one
   where lanes of other code meet. */
static bool append_gap(struct sim_parser *p) {
    struct sim_insn gap = {
        .line = p->token.line, .guard = SIM_NO_REGISTER, .op = &sim_leave_op, .exec = sim_trap};
    return add_part(p, p->function->code_count) && sim_append_insn(p, &gap);
}

/* The function's text from behind `.func` to its last brace, as code of the entry in work. */
static bool parse_routine(struct sim_parser *p, struct sim_callee *c) {
    ptxsim_function *f = p->function;
    struct arguments results, params;
    struct sim_token name;
    if (!sim_scope_open(p) || !parse_signature(p, false, &name, &results, &params) || !parse_attributes(p))
        return false;
    c->result_count = results.count;
    c->param_count = params.count;
    c->results = keep_rooms(p, &results);
    c->params = keep_rooms(p, &params);
    if (!c->results || !c->params || !sim_parse_body(p) || !append_leave(p, c)) return false;
    if (!sim_labels_resolve(p) || !sim_tables_resolve(p)) return false;
    c->end = f->code_count - 1;
    for (const struct sim_jump *j = p->returns; j; j = j->next) f->code[j->insn].target = c->end;
    sim_scope_close(p);
    return true;
}

static bool append_routine(struct sim_parser *p, struct sim_routine *r) {
    ptxsim_function *f = p->function;
    struct sim_callee *c = r->callee;
    p->lexer = r->lexer;
    p->token = r->token;
    p->routine = r;
    p->returns = NULL;
    p->switches = NULL;
    p->tables = NULL;
    sim_labels_reset(p);
    f->thread_bytes = (f->thread_bytes + 15) / 16 * 16;
    if (!append_gap(p)) return false;
    c->start = f->code_count;
    c->first_register = f->register_count;
    c->first_byte = f->thread_bytes;
    if (!add_part(p, c->start) || !parse_routine(p, c)) return false;
    c->end_register = f->register_count;
    c->end_byte = f->thread_bytes;
    p->routine = NULL;
    p->repeated += (size_t)(p->token.text - r->token.text);
    if (p->repeated <= MAX_REPEATED) return true;
    return sim_error(
        p, PTXSIM_UNSUPPORTED, p->token.line,
        "more than %d letters of functions, those of a function counted in each entry that calls it",
        MAX_REPEATED);
}

/* How deep calls nest from the calls in EDGES on: NULL, or a routine that calls itself. */
static bool find_depth(struct sim_parser *p, const struct sim_edge *edges, int level, int *depth) {
    *depth = 0;
    for (; edges; edges = edges->next) {
        struct sim_routine *r = edges->routine;
        int below;
        if (r->depth < 0)
            return sim_error(p, PTXSIM_UNSUPPORTED, edges->line, "recursion: `%.100s` calls itself", r->name);
        if (r->depth == 0) {
            if (level == SIM_MAX_CALL_DEPTH)
                return sim_error(p, PTXSIM_UNSUPPORTED, edges->line, "calls nested more than %d deep",
                                 SIM_MAX_CALL_DEPTH);
            r->depth = -1;
            if (!find_depth(p, r->calls, level + 1, &below)) return false;
            r->depth = below + 1;
        }
        if (*depth < r->depth) *depth = r->depth;
    }
    return level + *depth <= SIM_MAX_CALL_DEPTH ||
           sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "calls nested more than %d deep",
                     SIM_MAX_CALL_DEPTH);
}

bool sim_finish_calls(struct sim_parser *p) {
    struct sim_lexer lexer = p->lexer;
    struct sim_token token = p->token;
    int depth;
    while (p->waiting) {
        struct sim_routine *r = p->waiting;
        p->waiting = r->waiting;
        r->callee->missing = !r->defined;
        if (!r->defined && !r->is_extern && !p->at_end) p->postponed = true;
        if (r->defined && !append_routine(p, r)) return false;
    }
    if (p->function->part_count > 0 && !append_gap(p)) return false;
    p->lexer = lexer;
    p->token = token;
    return find_depth(p, p->edges, 0, &depth);
}

/* Parses a function where it stands, into code that nobody runs. */
static bool check_routine(struct sim_parser *p, struct sim_routine *r) {
    if (!sim_new_function(p, r->name)) return false;
    struct sim_callee *c = sim_keep(p, sizeof *c);
    if (!c) return false;
    *c = (struct sim_callee){.name = r->name};
    r->callee = c;
    r->owner = p->function;
    r->calls = NULL;
    if (!append_routine(p, r)) return false;
    sim_fix_dynamic_addresses(p);
    p->function = NULL;
    return sim_advance(p);
}

bool sim_parse_func(struct sim_parser *p, bool is_extern) {
    struct sim_lexer lexer = p->lexer;
    struct sim_token token = p->token, name;
    struct arguments results, params;
    if (!parse_signature(p, true, &name, &results, &params)) return false;
    struct sim_routine *r = declare(p, &name, &results, &params);
    if (!r) return false;
    r->is_extern = is_extern;
    ptxsim_function attributes = {0};
    p->function = &attributes; /* what directives say of a function matters to nobody */
    bool parsed = parse_attributes(p);
    p->function = NULL;
    if (!parsed) return false;
    if (sim_is_punct(p, ';')) return sim_advance(p);
    if (r->defined) return sim_error(p, PTXSIM_PARSE, name.line, "`%.100s` is declared twice", r->name);
    r->defined = true;
    r->lexer = lexer;
    r->token = token;
    return check_routine(p, r);
}

/* -- Calls -------------------------------------------------------------------------------------------- */

/* (a, b, ...): variables in .param of the caller. */
static bool parse_actual(struct sim_parser *p, struct arguments *a) {
    a->count = 0;
    if (!sim_expect(p, '(')) return false;
    if (sim_is_punct(p, ')')) return sim_advance(p);
    for (bool more = true; more;) {
        const struct sim_symbol *s =
            p->token.kind == SIM_TOKEN_WORD ? sim_lookup(p, p->token.text, p->token.length) : NULL;
        if (!s || s->kind != SIM_SYMBOL_VARIABLE || s->space != SIM_FRAME)
            return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "an argument that is no .param variable");
        if (a->count == MAX_ARGUMENTS)
            return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "more than %d arguments", MAX_ARGUMENTS);
        a->room[a->count++] = (struct sim_room){s->at, s->bytes, false};
        if (!sim_advance(p) || !sim_accept(p, ',', &more)) return false;
    }
    return sim_expect(p, ')');
}

/* The function's code in the entry; it is queued where it is not there yet. */
static struct sim_callee *callee_of(struct sim_parser *p, struct sim_routine *r) {
    if (r->owner == p->function) return r->callee;
    r->callee = sim_keep(p, sizeof *r->callee);
    if (!r->callee) return NULL;
    *r->callee = (struct sim_callee){.name = r->name, .missing = true};
    r->owner = p->function;
    r->calls = NULL;
    r->depth = 0;
    r->waiting = p->waiting;
    p->waiting = r;
    return r->callee;
}

static bool note_edge(struct sim_parser *p, struct sim_routine *to) {
    struct sim_edge **edges = p->routine ? &p->routine->calls : &p->edges, *edge;
    for (edge = *edges; edge; edge = edge->next)
        if (edge->routine == to) return true;
    edge = sim_scratch(p, sizeof *edge);
    if (!edge) return false;
    *edge = (struct sim_edge){*edges, to, p->token.line};
    *edges = edge;
    return true;
}

static bool finish_call(struct sim_parser *p, struct sim_insn *insn, struct sim_routine *r,
                        const struct arguments *results, const struct arguments *params) {
    if (!same_sizes(results, r->results, r->result_count) || !same_sizes(params, r->params, r->param_count))
        return sim_error(p, PTXSIM_PARSE, insn->line, "`%.100s` is called with other parameters than it has",
                         r->name);
    struct sim_call *call = sim_keep(p, sizeof *call);
    if (!call || !note_edge(p, r)) return false;
    *call = (struct sim_call){callee_of(p, r), keep_rooms(p, results), keep_rooms(p, params)};
    if (!call->callee || !call->results || !call->params) return false;
    insn->value[insn->value_count++] = (struct sim_value){.kind = SIM_CONSTANT, .lanes = call};
    return true;
}

bool sim_parse_call(struct sim_parser *p, struct sim_insn *insn) {
    struct arguments results = {.count = 0}, params = {.count = 0};
    bool more;
    if (sim_is_punct(p, '(') && (!parse_actual(p, &results) || !sim_expect(p, ','))) return false;
    if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "the name of a function");
    const struct sim_symbol *s = sim_lookup(p, p->token.text, p->token.length);
    if (s && s->kind == SIM_SYMBOL_REGISTER)
        return sim_error(p, PTXSIM_UNSUPPORTED, insn->line, "an indirect call");
    if (!s || s->kind != SIM_SYMBOL_FUNCTION) return sim_unexpected(p, "the name of a function");
    if (!sim_advance(p) || !sim_accept(p, ',', &more)) return false;
    if (more && !parse_actual(p, &params)) return false;
    return finish_call(p, insn, s->routine, &results, &params);
}

bool sim_parse_return(struct sim_parser *p, struct sim_insn *insn) {
    struct sim_token bra = {.kind = SIM_TOKEN_WORD, .text = "bra", .length = 3};
    struct sim_opcode opcode = {.part = {bra}, .count = 1};
    struct sim_jump *jump = sim_scratch(p, sizeof *jump);
    char message[64];
    insn->modifiers = 0;
    if (!jump) return false;
    *jump = (struct sim_jump){p->returns, p->function->code_count};
    p->returns = jump;
    return sim_match(&opcode, insn, message, sizeof message);
}

bool sim_count_code(struct sim_parser *p, int line) {
    if (++p->total_code <= MAX_TOTAL_CODE) return true;
    return sim_error(p, PTXSIM_UNSUPPORTED, line,
                     "more than %d instructions, those of functions counted in each entry", MAX_TOTAL_CODE);
}
