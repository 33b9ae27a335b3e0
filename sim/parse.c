/* Modules and entry functions. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

static bool accept_dot(struct sim_parser *p, const char *text, bool *accepted) {
    *accepted = sim_token_is(&p->token, SIM_TOKEN_DOT, text);
    return *accepted ? sim_advance(p) : true;
}

/* `.ptr .space .align n` behind a parameter's type tells the compiler about a pointer; nothing here needs it.
 */
static bool skip_pointer_attributes(struct sim_parser *p) {
    static const char *const spaces[] = {"global", "shared", "const", "local"};
    bool present, align_present;
    uint32_t align;
    if (!accept_dot(p, "ptr", &present) || !present) return p->fault->status == PTXSIM_OK;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (!accept_dot(p, spaces[i], &present)) return false;
    if (!accept_dot(p, "align", &align_present)) return false;
    return align_present ? sim_parse_align(p, &align) : true;
}

static bool add_param(struct sim_parser *p, struct sim_symbol *s, enum sim_type type, uint32_t align,
                      uint64_t elements) {
    ptxsim_function *f = p->function;
    uint64_t at = ((uint64_t)f->param_bytes + align - 1) / align * align,
             bytes = elements * sim_types[type].bytes;
    if (bytes > SIM_MAX_PARAM_BYTES || at + bytes > SIM_MAX_PARAM_BYTES)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "more than %d bytes of parameters",
                         SIM_MAX_PARAM_BYTES);
    struct sim_param *params = sim_keep(p, (size_t)(f->param_count + 1) * sizeof *params);
    char *name = sim_keep(p, s->length + 1);
    if (!params || !name) return false;
    if (f->param_count) memcpy(params, f->params, (size_t)f->param_count * sizeof *params);
    memcpy(name, s->name, s->length);
    params[f->param_count++] = (struct sim_param){name, (uint32_t)at, (uint32_t)bytes};
    f->params = params;
    f->param_bytes = (uint32_t)(at + bytes);
    s->space = SIM_PARAM;
    s->owner = f;
    s->at = (uint32_t)at;
    s->bytes = (uint32_t)bytes;
    return true;
}

/* .param {.align n} .type {.ptr ...} name{[n]} */
static bool parse_param(struct sim_parser *p) {
    bool present, array;
    uint32_t align = 0;
    uint64_t elements = 1;
    if (!accept_dot(p, "param", &present)) return false;
    if (!present) return sim_unexpected(p, "`.param`");
    if (!accept_dot(p, "align", &present) || (present && !sim_parse_align(p, &align))) return false;
    enum sim_type type =
        p->token.kind == SIM_TOKEN_DOT ? sim_type_declared(p->token.text, p->token.length) : SIM_none;
    if (type == SIM_none || type == SIM_pred) return sim_unexpected(p, "the type of a parameter");
    if (!sim_advance(p) || !skip_pointer_attributes(p)) return false;
    if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "the name of a parameter");
    struct sim_symbol *s = sim_declare(p, p->token.text, p->token.length, SIM_SYMBOL_VARIABLE);
    if (!s || !sim_advance(p) || !sim_accept(p, '[', &array)) return false;
    if (array && (!sim_parse_integer(p, 1, SIM_MAX_PARAM_BYTES, &elements) || !sim_expect(p, ']')))
        return false;
    return add_param(p, s, type, align ? align : sim_types[type].bytes, elements);
}

static bool parse_params(struct sim_parser *p) {
    bool present;
    if (!sim_accept(p, '(', &present) || !present) return p->fault->status == PTXSIM_OK;
    if (sim_is_punct(p, ')')) return sim_advance(p);
    for (bool more = true; more;)
        if (!parse_param(p) || !sim_accept(p, ',', &more)) return false;
    return sim_expect(p, ')');
}

/* nx{, ny{, nz}} */
static bool parse_extent(struct sim_parser *p, unsigned extent[3]) {
    bool more = true;
    for (int i = 0; i < 3; i++) extent[i] = 1;
    for (int i = 0; more && i < 3; i++) {
        uint64_t n;
        if (!sim_parse_integer(p, 1, 65535, &n) || !sim_accept(p, ',', &more)) return false;
        extent[i] = (unsigned)n;
    }
    return true;
}

static bool parse_pragma(struct sim_parser *p) {
    for (bool more = true; more;) {
        if (p->token.kind != SIM_TOKEN_STRING) return sim_unexpected(p, "a string");
        if (!sim_advance(p) || !sim_accept(p, ',', &more)) return false;
    }
    return sim_expect(p, ';');
}

/* NAME is .reqnctapercluster, .maxclusterrank or .explicitcluster (ISA, "Cluster Dimension Directives"), or
   *KNOWN becomes false. */
static bool parse_cluster(struct sim_parser *p, const struct sim_token *name, bool *known) {
    ptxsim_function *f = p->function;
    uint64_t most;
    *known = true;
    if (sim_token_is(name, SIM_TOKEN_DOT, "reqnctapercluster")) {
        if (!parse_extent(p, f->cluster)) return false;
    } else if (sim_token_is(name, SIM_TOKEN_DOT, "maxclusterrank")) {
        if (!sim_parse_integer(p, 1, UINT32_MAX, &most)) return false;
        f->max_cluster_rank = true;
    } else if (sim_token_is(name, SIM_TOKEN_DOT, "explicitcluster")) {
        f->explicit_cluster = true;
    } else {
        *known = false;
    }
    if (!f->cluster[0] || !f->max_cluster_rank) return true;
    return sim_error(p, PTXSIM_PARSE, name->line, ".reqnctapercluster and .maxclusterrank of one entry");
}

/* More than MOST is as if MOST was said. */
static bool parse_count(struct sim_parser *p, unsigned most, unsigned *count) {
    uint64_t value;
    if (!sim_parse_integer(p, 0, UINT32_MAX, &value)) return false;
    *count = value > most ? most : (unsigned)value;
    return true;
}

/* Directives between the parameters and the body (ISA, "Performance-Tuning Directives"). */
static bool parse_tuning(struct sim_parser *p) {
    struct sim_token name = p->token;
    unsigned extent[3];
    uint64_t ignored;
    bool known;
    if (!sim_advance(p) || !parse_cluster(p, &name, &known)) return false;
    if (known) return true;
    if (sim_token_is(&name, SIM_TOKEN_DOT, "maxntid")) {
        if (!parse_extent(p, extent)) return false;
        uint64_t most = (uint64_t)extent[0] * extent[1] * extent[2];
        p->function->maxntid = most > SIM_MAX_BLOCK ? SIM_MAX_BLOCK : (unsigned)most;
        return true;
    }
    if (sim_token_is(&name, SIM_TOKEN_DOT, "reqntid")) return parse_extent(p, p->function->reqntid);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "minnctapersm"))
        return parse_count(p, 32, &p->function->minnctapersm);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "maxnreg")) return parse_count(p, 255, &p->function->maxnreg);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "maxnctapersm"))
        return sim_parse_integer(p, 0, UINT32_MAX, &ignored);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "pragma")) return parse_pragma(p);
    return sim_error(p, PTXSIM_UNSUPPORTED, name.line, "directive .%.*s", (int)name.length, name.text);
}

/* .loc and .file end with their line. */
static bool skip_line(struct sim_parser *p, int line) {
    while (p->token.line == line && p->token.kind != SIM_TOKEN_END)
        if (!sim_advance(p)) return false;
    return true;
}

/* .section name { debugging information } */
static bool skip_section(struct sim_parser *p) {
    while (!sim_is_punct(p, '}')) {
        if (p->token.kind == SIM_TOKEN_END) return sim_unexpected(p, "`}`");
        if (!sim_advance(p)) return false;
    }
    return sim_advance(p);
}

static bool parse_body_directive(struct sim_parser *p) {
    struct sim_token name = p->token;
    if (!sim_advance(p)) return false;
    if (sim_token_is(&name, SIM_TOKEN_DOT, "reg")) return sim_parse_reg(p);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "shared")) return sim_parse_shared(p, false);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "pragma")) return parse_pragma(p);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "loc")) return skip_line(p, name.line);
    return sim_error(p, PTXSIM_UNSUPPORTED, name.line, "directive .%.*s", (int)name.length, name.text);
}

/* A word is a label if a colon is behind it. */
static bool parse_word_statement(struct sim_parser *p) {
    struct sim_lexer ahead = p->lexer;
    struct sim_token next, name = p->token;
    sim_lex(&ahead, &next);
    if (next.kind != SIM_TOKEN_PUNCT || next.text[0] != ':') return sim_parse_instruction(p);
    return sim_label_define(p, &name) && sim_advance(p) && sim_advance(p);
}

static bool parse_statement(struct sim_parser *p) {
    if (p->token.kind == SIM_TOKEN_DOT) return parse_body_directive(p);
    if (p->token.kind == SIM_TOKEN_WORD) return parse_word_statement(p);
    if (sim_is_punct(p, '{')) return sim_scope_open(p) && sim_advance(p);
    return sim_parse_instruction(p);
}

/* Statements up to the brace that closes the function. */
static bool parse_body(struct sim_parser *p) {
    int outer = p->depth;
    if (!sim_expect(p, '{')) return false;
    for (;;) {
        if (p->token.kind == SIM_TOKEN_END) return sim_unexpected(p, "`}`");
        if (!sim_is_punct(p, '}')) {
            if (!parse_statement(p)) return false;
            continue;
        }
        if (p->depth == outer) return true;
        sim_scope_close(p);
        if (!sim_advance(p)) return false;
    }
}

/* Running past the end of the body ends the thread, as ret does. */
static bool append_return(struct sim_parser *p) {
    struct sim_token ret = {.kind = SIM_TOKEN_WORD, .text = "ret", .length = 3};
    struct sim_opcode opcode = {.part = {ret}, .count = 1};
    struct sim_insn insn = {.line = p->token.line, .guard = SIM_NO_REGISTER};
    char message[64];
    return sim_match(&opcode, &insn, message, sizeof message) && sim_append_insn(p, &insn);
}

/* Moves ITEMS from the parser's memory to the module's. */
static bool keep_array(struct sim_parser *p, void **items, int count, size_t size) {
    void *copy = sim_keep(p, (size_t)count * size + 1);
    if (!copy) return false;
    if (count) memcpy(copy, *items, (size_t)count * size);
    *items = copy;
    return true;
}

static bool finish_function(struct sim_parser *p) {
    ptxsim_function *f = p->function;
    void *code, *registers;
    if (!append_return(p) || !sim_labels_resolve(p)) return false;
    code = f->code, registers = f->registers;
    if (!keep_array(p, &code, f->code_count, sizeof *f->code)) return false;
    if (!keep_array(p, &registers, f->register_count, sizeof *f->registers)) return false;
    f->code = code;
    f->registers = registers;
    sim_fix_dynamic_addresses(p);
    if (!sim_find_reconvergence(f)) return sim_no_memory(p);
    f->next = p->module->functions;
    p->module->functions = f;
    return true;
}

static bool start_function(struct sim_parser *p) {
    ptxsim_function *f = sim_keep(p, sizeof *f);
    if (!f) return false;
    f->specials = sim_keep(p, SIM_SPECIAL_COUNT * sizeof *f->specials);
    char *name = sim_keep(p, p->token.length + 1);
    if (!f->specials || !name) return false;
    memcpy(name, p->token.text, p->token.length);
    f->name = name;
    for (const ptxsim_function *other = p->module->functions; other; other = other->next)
        if (strcmp(other->name, name) == 0)
            return sim_error(p, PTXSIM_PARSE, p->token.line, "`%s` is declared twice", name);
    p->function = f;
    p->code_capacity = p->register_capacity = 0;
    p->dynamic_align = 16;
    sim_labels_reset(p);
    for (int i = 0; i < SIM_SPECIAL_COUNT; i++) p->special_reg[i] = SIM_NO_REGISTER;
    return true;
}

static bool parse_entry(struct sim_parser *p) {
    if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "the name of an entry");
    if (!start_function(p) || !sim_advance(p) || !sim_scope_open(p) || !parse_params(p)) return false;
    while (p->token.kind == SIM_TOKEN_DOT)
        if (!parse_tuning(p)) return false;
    if (!parse_body(p) || !finish_function(p)) return false;
    sim_scope_close(p);
    p->function = NULL;
    return sim_advance(p);
}

/* A directive of the module behind its linkage. */
static bool parse_definition(struct sim_parser *p, bool is_extern) {
    struct sim_token name = p->token;
    if (name.kind != SIM_TOKEN_DOT) return sim_unexpected(p, "a directive");
    if (!sim_advance(p)) return false;
    if (sim_token_is(&name, SIM_TOKEN_DOT, "entry") && !is_extern) return parse_entry(p);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "shared")) return sim_parse_shared(p, is_extern);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "file")) return skip_line(p, name.line);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "section")) return skip_section(p);
    if (sim_token_is(&name, SIM_TOKEN_DOT, "pragma")) return parse_pragma(p);
    return sim_error(p, PTXSIM_UNSUPPORTED, name.line, "directive .%.*s", (int)name.length, name.text);
}

static bool parse_linked(struct sim_parser *p) {
    bool is_extern, present;
    if (!accept_dot(p, "extern", &is_extern)) return false;
    if (!accept_dot(p, "visible", &present) || !accept_dot(p, "weak", &present)) return false;
    return parse_definition(p, is_extern);
}

static bool parse_version(struct sim_parser *p) {
    if (!sim_token_is(&p->token, SIM_TOKEN_DOT, "version")) return sim_unexpected(p, "`.version`");
    if (!sim_advance(p)) return false;
    if (p->token.kind != SIM_TOKEN_FLOAT) return sim_unexpected(p, "a version number");
    return sim_advance(p);
}

static bool parse_target(struct sim_parser *p) {
    if (!sim_token_is(&p->token, SIM_TOKEN_DOT, "target")) return sim_unexpected(p, "`.target`");
    bool more = true;
    if (!sim_advance(p)) return false;
    while (more) {
        if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "a target");
        if (!sim_advance(p) || !sim_accept(p, ',', &more)) return false;
    }
    return true;
}

static bool parse_address_size(struct sim_parser *p) {
    int line = p->token.line;
    uint64_t bits;
    if (!sim_token_is(&p->token, SIM_TOKEN_DOT, "address_size")) return sim_unexpected(p, "`.address_size`");
    if (!sim_advance(p) || !sim_parse_integer(p, 32, 64, &bits)) return false;
    return bits == 64 ? true : sim_error(p, PTXSIM_UNSUPPORTED, line, ".address_size other than 64");
}

static bool parse_module(struct sim_parser *p) {
    if (!sim_scope_open(p) || !sim_advance(p)) return false;
    if (!parse_version(p) || !parse_target(p) || !parse_address_size(p)) return false;
    while (p->token.kind != SIM_TOKEN_END)
        if (!parse_linked(p)) return false;
    return true;
}

ptxsim_status sim_parse(const char *text, ptxsim_module **module, ptxsim_fault *fault) {
    struct sim_parser *p = calloc(1, sizeof *p);
    ptxsim_module *m = calloc(1, sizeof *m);
    *fault = (ptxsim_fault){.status = PTXSIM_OK};
    if (!p || !m) {
        free(p);
        free(m);
        sim_fault_set(fault, PTXSIM_NOMEM, 0, "out of memory");
        return PTXSIM_NOMEM;
    }
    p->lexer = (struct sim_lexer){text, 1};
    p->fault = fault;
    p->module = m;
    bool parsed = parse_module(p);
    sim_arena_free(&p->scratch);
    free(p);
    if (parsed) *module = m;
    else sim_module_free(m);
    return fault->status;
}
