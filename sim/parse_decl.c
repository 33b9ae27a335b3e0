/* Declarations: .reg and .shared. */
#include "parse.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PARAMETERISED = 1 << 16, MAX_ALIGN = 1 << 16 };
enum { MAX_DECLARED = 1 << 20 }; /* registers that a module's ranges declare, named or not */

bool sim_parse_align(struct sim_parser *p, uint32_t *align) {
    uint64_t value;
    int line = p->token.line;
    if (!sim_parse_integer(p, 1, MAX_ALIGN, &value)) return false;
    if (value & (value - 1))
        return sim_error(p, PTXSIM_PARSE, line, "an alignment that is not a power of two");
    *align = (uint32_t)value;
    return true;
}

static bool declare_register(struct sim_parser *p, const char *name, size_t length, enum sim_type type) {
    struct sim_symbol *s = sim_declare(p, name, length, SIM_SYMBOL_REGISTER);
    if (!s) return false;
    s->type = type;
    return true;
}

/* name<count> declares name0 ... */
static bool declare_range(struct sim_parser *p, const struct sim_token *prefix, enum sim_type type) {
    uint64_t count;
    char name[160];
    if (prefix->length > 128)
        return sim_error(p, PTXSIM_PARSE, prefix->line, "a register name longer than 128 letters");
    if (p->token.kind != SIM_TOKEN_INT) return sim_unexpected(p, "a number of registers");
    count = p->token.bits;
    if (count > MAX_PARAMETERISED)
        return sim_error(p, PTXSIM_PARSE, prefix->line, "more than %d registers of one name",
                         MAX_PARAMETERISED);
    p->declared += count;
    if (p->declared > MAX_DECLARED)
        return sim_error(p, PTXSIM_UNSUPPORTED, prefix->line, "more than %d declared registers",
                         MAX_DECLARED);
    for (uint64_t i = 0; i < count; i++) {
        int length =
            snprintf(name, sizeof name, "%.*s%llu", (int)prefix->length, prefix->text, (unsigned long long)i);
        if (!declare_register(p, name, (size_t)length, type)) return false;
    }
    return sim_advance(p) && sim_expect(p, '>');
}

static bool parse_one_register(struct sim_parser *p, enum sim_type type) {
    struct sim_token name = p->token;
    bool is_range;
    if (name.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "the name of a register");
    if (!sim_advance(p) || !sim_accept(p, '<', &is_range)) return false;
    return is_range ? declare_range(p, &name, type) : declare_register(p, name.text, name.length, type);
}

bool sim_parse_reg(struct sim_parser *p) {
    if (p->token.kind != SIM_TOKEN_DOT) return sim_unexpected(p, "a type");
    enum sim_type type = sim_type_declared(p->token.text, p->token.length);
    if (type == SIM_none)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "registers of type .%.*s",
                         (int)p->token.length, p->token.text);
    bool more = true;
    if (!sim_advance(p)) return false;
    while (more)
        if (!parse_one_register(p, type) || !sim_accept(p, ',', &more)) return false;
    return sim_expect(p, ';');
}

bool sim_place_shared(struct sim_parser *p, struct sim_symbol *s) {
    ptxsim_function *f = p->function;
    if (s->owner == f) return true;
    s->owner = f;
    if (s->dynamic) {
        if (s->align > p->dynamic_align) p->dynamic_align = s->align;
        return true;
    }
    uint64_t at = ((uint64_t)f->shared_bytes + s->align - 1) / s->align * s->align;
    if (at + s->bytes > SIM_MAX_SHARED)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "`%s`: more than %d bytes of shared memory", s->name,
                         SIM_MAX_SHARED);
    s->at = (uint32_t)at;
    f->shared_bytes = (uint32_t)(at + s->bytes);
    return true;
}

bool sim_parse_dimensions(struct sim_parser *p, uint64_t most, uint64_t *elements, bool *open) {
    bool more;
    *elements = 1;
    *open = false;
    while (sim_accept(p, '[', &more) && more) {
        uint64_t n;
        if (sim_is_punct(p, ']')) {
            *open = true;
        } else {
            if (!sim_parse_integer(p, 0, most, &n)) return false;
            if (n > 0 && *elements > most / n)
                return sim_error(p, PTXSIM_PARSE, p->token.line, "a variable of more than %llu bytes",
                                 (unsigned long long)most);
            *elements *= n;
        }
        if (!sim_expect(p, ']')) return false;
    }
    return p->fault->status == PTXSIM_OK;
}

static bool parse_one_shared(struct sim_parser *p, enum sim_type type, uint32_t align, bool is_extern) {
    struct sim_token name = p->token;
    uint64_t elements;
    bool open;
    if (name.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "the name of a variable");
    struct sim_symbol *s = sim_declare(p, name.text, name.length, SIM_SYMBOL_VARIABLE);
    if (!s || !sim_advance(p) || !sim_parse_dimensions(p, SIM_MAX_SHARED, &elements, &open)) return false;
    if (open != is_extern)
        return sim_error(p, PTXSIM_PARSE, name.line,
                         is_extern ? "an .extern .shared variable is declared name[]"
                                   : "a variable without a size");
    s->space = SIM_SHARED;
    s->dynamic = open;
    s->align = align;
    s->bytes = (uint32_t)elements * sim_types[type].bytes;
    return p->function ? sim_place_shared(p, s) : true;
}

bool sim_parse_shared(struct sim_parser *p, bool is_extern) {
    uint32_t align = 0;
    if (sim_token_is(&p->token, SIM_TOKEN_DOT, "align"))
        if (!sim_advance(p) || !sim_parse_align(p, &align)) return false;
    if (p->token.kind != SIM_TOKEN_DOT) return sim_unexpected(p, "a type");
    enum sim_type type = sim_type_declared(p->token.text, p->token.length);
    if (type == SIM_none || type == SIM_pred)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "variables of type .%.*s",
                         (int)p->token.length, p->token.text);
    if (align == 0) align = sim_types[type].bytes;
    bool more = true;
    if (!sim_advance(p)) return false;
    while (more)
        if (!parse_one_shared(p, type, align, is_extern) || !sim_accept(p, ',', &more)) return false;
    if (sim_is_punct(p, '='))
        return sim_error(p, PTXSIM_PARSE, p->token.line, "a .shared variable cannot be initialised");
    return sim_expect(p, ';');
}
