/* Variables outside of shared memory: those of each thread, in .local and in .param of calls, and the
 * module's, in .global and .const. */
#include "parse.h"

#include <string.h>

enum { MAX_NESTING = 16 };
static const uint64_t most_bytes = UINT64_C(1) << 30; /* of a module's variables */

/* What stands in front of a variable's name. */
struct declaration {
    enum sim_type type;
    uint32_t align;
};

static bool parse_declaration(struct sim_parser *p, struct declaration *d) {
    bool present;
    d->align = 0;
    if (!sim_accept_dot(p, "align", &present) || (present && !sim_parse_align(p, &d->align))) return false;
    d->type = p->token.kind == SIM_TOKEN_DOT ? sim_type_declared(p->token.text, p->token.length) : SIM_none;
    if (p->token.kind != SIM_TOKEN_DOT) return sim_unexpected(p, "a type");
    if (d->type == SIM_none || d->type == SIM_pred)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "variables of type .%.*s",
                         (int)p->token.length, p->token.text);
    if (d->align == 0) d->align = sim_types[d->type].bytes;
    return sim_advance(p);
}

/* -- Of each thread ----------------------------------------------------------------------------------- */

static bool place(struct sim_parser *p, const struct declaration *d, uint64_t bytes, bool local,
                  struct sim_room *room) {
    ptxsim_function *f = p->function;
    void *rooms = f->rooms;
    uint64_t at = f->thread_bytes ? f->thread_bytes : 16; /* nothing lies at address 0 */
    at = (at + d->align - 1) / d->align * d->align;
    if (bytes > SIM_MAX_THREAD_BYTES || at + bytes > SIM_MAX_THREAD_BYTES)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "more than %d bytes of local memory",
                         SIM_MAX_THREAD_BYTES);
    if (!sim_grow(p, &rooms, f->room_count, &p->room_capacity, sizeof *f->rooms)) return false;
    f->rooms = rooms;
    *room = (struct sim_room){(uint32_t)at, (uint32_t)bytes, local};
    f->rooms[f->room_count++] = *room;
    f->thread_bytes = (uint32_t)(at + bytes);
    return true;
}

/* name{[n]...}; the variable becomes a symbol unless SIZE_ONLY. */
static bool parse_own_variable(struct sim_parser *p, const struct declaration *d, enum sim_space space,
                               bool size_only, struct sim_room *room) {
    struct sim_symbol *s = NULL;
    struct sim_token name = p->token;
    uint64_t elements;
    bool open;
    if (name.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "the name of a variable");
    if (!size_only && !(s = sim_declare(p, name.text, name.length, SIM_SYMBOL_VARIABLE))) return false;
    if (!sim_advance(p) || !sim_parse_dimensions(p, SIM_MAX_THREAD_BYTES, &elements, &open)) return false;
    if (open) return sim_error(p, PTXSIM_UNSUPPORTED, name.line, "a variable without a size");
    uint64_t bytes = elements * sim_types[d->type].bytes;
    *room = (struct sim_room){0, (uint32_t)bytes, false};
    if (size_only) return true;
    if (!place(p, d, bytes, space == SIM_LOCAL, room)) return false;
    s->space = space;
    s->owner = p->function;
    s->at = room->at;
    s->bytes = room->bytes;
    return true;
}

bool sim_parse_frame_variable(struct sim_parser *p, bool size_only, struct sim_room *room) {
    struct declaration d;
    return parse_declaration(p, &d) && parse_own_variable(p, &d, SIM_FRAME, size_only, room);
}

static bool parse_own(struct sim_parser *p, enum sim_space space) {
    struct declaration d;
    struct sim_room room;
    bool more = true;
    if (!parse_declaration(p, &d)) return false;
    while (more)
        if (!parse_own_variable(p, &d, space, false, &room) || !sim_accept(p, ',', &more)) return false;
    return sim_expect(p, ';');
}

bool sim_parse_local(struct sim_parser *p) { return parse_own(p, SIM_LOCAL); }

bool sim_parse_frame(struct sim_parser *p) { return parse_own(p, SIM_FRAME); }

/* -- Of the module ------------------------------------------------------------------------------------ */

static bool relocate(struct sim_parser *p, const struct sim_relocation *relocation) {
    struct sim_relocation *kept = sim_keep(p, sizeof *kept);
    if (!kept) return false;
    *kept = *relocation;
    kept->next = p->module->relocations;
    p->module->relocations = kept;
    return true;
}

bool sim_refer_variable(struct sim_parser *p, const struct sim_symbol *s, uint64_t offset, void *lanes,
                        unsigned bytes) {
    if (!s->variable)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line,
                         "`%.100s` is .extern: nothing in the module defines it", s->name);
    if (bytes != 8)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "the address of `%.100s` in %u bytes", s->name,
                         bytes);
    struct sim_relocation r = {
        .variable = s->variable, .offset = offset, .to = lanes, .bytes = bytes, .count = SIM_LANES};
    return relocate(p, &r);
}

/* An initial value on its way: DATA has room for the variable, NEXT is the next element's place. */
struct filling {
    const struct declaration *d;
    unsigned char *data;
    uint64_t bytes, next;
};

/* name, generic(name), with +constant behind it or without */
static bool fill_address(struct sim_parser *p, struct filling *f) {
    struct sim_relocation r = {
        .to = f->data + f->next, .bytes = sim_types[f->d->type].bytes, .count = 1, .generic = false};
    struct sim_number offset = {.is_float = false};
    bool plus;
    if (sim_token_is(&p->token, SIM_TOKEN_WORD, "generic")) {
        r.generic = true;
        if (!sim_advance(p) || !sim_expect(p, '(')) return false;
    }
    const struct sim_symbol *s =
        p->token.kind == SIM_TOKEN_WORD ? sim_lookup(p, p->token.text, p->token.length) : NULL;
    if (!s || s->kind == SIM_SYMBOL_FUNCTION || !s->variable)
        return sim_error(
            p, PTXSIM_UNSUPPORTED, p->token.line,
            "`%.*s` as an initial value: only addresses of .global and .const variables are supported",
            (int)(p->token.length < 64 ? p->token.length : 64), p->token.text);
    r.variable = s->variable;
    if (r.bytes != 8)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "an address in less than 64 bits");
    if (!sim_advance(p) || (r.generic && !sim_expect(p, ')')) || !sim_accept(p, '+', &plus)) return false;
    if (plus && !sim_parse_number(p, &offset)) return false;
    if (offset.is_float) return sim_error(p, PTXSIM_PARSE, p->token.line, "a float in an address");
    r.offset = offset.bits;
    return relocate(p, &r);
}

static bool fill_element(struct sim_parser *p, struct filling *f) {
    unsigned bytes = sim_types[f->d->type].bytes;
    struct sim_number number;
    struct sim_value value;
    if (f->next + bytes > f->bytes)
        return sim_error(p, PTXSIM_PARSE, p->token.line,
                         "more initial values than the variable has elements");
    if (p->token.kind == SIM_TOKEN_WORD && !sim_token_is(&p->token, SIM_TOKEN_WORD, "WARP_SZ")) {
        if (!fill_address(p, f)) return false;
    } else {
        if (!sim_parse_number(p, &number) || !sim_constant_value(p, &number, f->d->type, &value))
            return false;
        memcpy(f->data + f->next, value.lanes, bytes);
    }
    f->next += bytes;
    return true;
}

/* {a, b, {c, d}}: what braces inside leave out at their end is not known here, so that they must be full,
   as nvcc makes them. */
static bool fill(struct sim_parser *p, struct filling *f, int nesting) {
    bool open, more = true;
    if (nesting > MAX_NESTING)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "an initial value nested too deep");
    if (!sim_accept(p, '{', &open)) return false;
    if (!open) return fill_element(p, f);
    if (nesting > 0)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line,
                         "an initial value with braces inside of braces");
    if (sim_is_punct(p, '}')) return sim_advance(p);
    while (more)
        if (!fill(p, f, nesting + 1) || !sim_accept(p, ',', &more)) return false;
    return sim_expect(p, '}');
}

/* {= value} behind the name of S, which becomes a variable. OPEN: its size is that of its value. */
static bool define(struct sim_parser *p, struct sim_symbol *s, const struct declaration *d,
                   uint64_t elements) {
    bool initialised;
    struct sim_variable *v = sim_keep(p, sizeof *v);
    char *name = sim_keep(p, s->length + 1);
    if (!v || !name) return false;
    memcpy(name, s->name, s->length);
    p->module->variable_bytes += elements * sim_types[d->type].bytes;
    if (p->module->variable_bytes > most_bytes)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "more than %llu bytes of variables",
                         (unsigned long long)most_bytes);
    *v = (struct sim_variable){.next = p->module->variables,
                               .name = name,
                               .space = s->space,
                               .bytes = (size_t)elements * sim_types[d->type].bytes};
    s->bytes = 0;
    if (!sim_accept(p, '=', &initialised)) return false;
    if (initialised) {
        struct filling f = {.d = d, .bytes = v->bytes};
        if (v->bytes > SIM_MAX_INITIAL)
            return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "an initial value of %zu bytes", v->bytes);
        f.data = v->initial = sim_keep(p, v->bytes + 1);
        if (!f.data || !fill(p, &f, 0)) return false;
    }
    s->variable = v;
    p->module->variables = v;
    return true;
}

static bool parse_module_variable(struct sim_parser *p, const struct declaration *d, enum sim_space space,
                                  bool is_extern) {
    struct sim_token name = p->token;
    uint64_t elements;
    bool open;
    if (name.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "the name of a variable");
    struct sim_symbol *s = sim_lookup(p, name.text, name.length);
    bool declared = s && s->kind == SIM_SYMBOL_VARIABLE && s->space == space && !s->variable;
    if (!declared) s = sim_declare(p, name.text, name.length, SIM_SYMBOL_VARIABLE);
    if (!s) return false;
    s->space = space;
    if (!sim_advance(p) || !sim_parse_dimensions(p, most_bytes, &elements, &open)) return false;
    if (is_extern) return true;
    if (open) return sim_error(p, PTXSIM_UNSUPPORTED, name.line, "a variable without a size");
    if (space == SIM_CONST && elements * sim_types[d->type].bytes > SIM_MAX_CONST)
        return sim_error(p, PTXSIM_PARSE, name.line, "more than %d bytes of constant memory", SIM_MAX_CONST);
    return define(p, s, d, elements);
}

/* .attribute(.managed) and the like say where a variable lies. */
static bool skip_attribute(struct sim_parser *p) {
    bool present;
    if (!sim_accept_dot(p, "attribute", &present) || !present) return p->fault->status == PTXSIM_OK;
    while (!sim_is_punct(p, ')')) {
        if (p->token.kind == SIM_TOKEN_END) return sim_unexpected(p, "`)`");
        if (!sim_advance(p)) return false;
    }
    return sim_advance(p);
}

bool sim_parse_module_variable(struct sim_parser *p, enum sim_space space, bool is_extern) {
    struct declaration d;
    bool more = true;
    if (!skip_attribute(p) || !parse_declaration(p, &d)) return false;
    if (d.align > SIM_MAX_VARIABLE_ALIGN)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "a variable aligned to %u bytes", d.align);
    while (more)
        if (!parse_module_variable(p, &d, space, is_extern) || !sim_accept(p, ',', &more)) return false;
    return sim_expect(p, ';');
}
