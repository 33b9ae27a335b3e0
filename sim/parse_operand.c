/* Operands, as the operand column of ops.def asks for them. */
#include "parse.h"

#include <stdio.h>
#include <string.h>

static const char *spell_token(const struct sim_token *t, char *text, size_t size) {
    snprintf(text, size, "%.*s", (int)(t->length < 64 ? t->length : 64), t->text);
    return text;
}

/* Registers get their place when they are first used: declared and unused ones cost nothing. */
static bool place_register(struct sim_parser *p, const char *name, size_t length, enum sim_type type,
                           uint16_t *reg, uint32_t *at) {
    ptxsim_function *f = p->function;
    void *registers = f->registers;
    if (f->register_count >= SIM_MAX_REGISTERS)
        return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "more than %d registers", SIM_MAX_REGISTERS);
    if (!sim_grow(p, &registers, f->register_count, &p->register_capacity, sizeof *f->registers))
        return false;
    f->registers = registers;
    char *copy = sim_keep(p, length + 1);
    if (!copy) return false;
    memcpy(copy, name, length);
    uint32_t align = type == SIM_pred ? 4 : 32;
    *reg = (uint16_t)f->register_count;
    *at = (f->file_bytes + align - 1) / align * align;
    f->file_bytes = *at + (type == SIM_pred ? 4u : (uint32_t)SIM_LANES * sim_types[type].bytes);
    f->registers[f->register_count++] = (struct sim_register){copy, type};
    return true;
}

bool sim_use_register(struct sim_parser *p, struct sim_symbol *s, struct sim_value *value) {
    if (s->owner != p->function) {
        if (!place_register(p, s->name, s->length, s->type, &s->reg, &s->at)) return false;
        s->owner = p->function;
    }
    *value = (struct sim_value){.kind = SIM_REGISTER, .type = (uint8_t)s->type, .reg = s->reg, .at = s->at};
    return true;
}

static const struct {
    const char *text;
    enum sim_type type;
} special_names[] = {
#define X(name, text, type) {text, SIM_##type},
    SIM_SPECIAL_LIST(X)
#undef X
};

static bool add_special(struct sim_parser *p, int which) {
    const char *name = special_names[which].text;
    if (!place_register(p, name, strlen(name), special_names[which].type, &p->special_reg[which],
                        &p->special_at[which]))
        return false;
    p->function->specials[p->function->special_count++] =
        (struct sim_special){(uint8_t)which, p->special_reg[which], p->special_at[which]};
    return true;
}

static bool use_special(struct sim_parser *p, int which, struct sim_insn *insn, struct sim_value *value) {
    if (p->special_reg[which] == SIM_NO_REGISTER && !add_special(p, which)) return false;
    if (which >= SIM_SPECIAL_clock) insn->reads_clock = true;
    *value = (struct sim_value){.kind = SIM_REGISTER,
                                .type = (uint8_t)special_names[which].type,
                                .reg = p->special_reg[which],
                                .at = p->special_at[which]};
    return true;
}

/* Whether TEXT is a special register of the ISA (PTX ISA, Special Registers) that SIM_SPECIAL_LIST lacks. A
   '#' stands for a number. */
static bool is_other_special(const char *text) {
    static const char *const names[] = {"%envreg#",
                                        "%pm#",
                                        "%pm#_64",
                                        "%globaltimer_lo",
                                        "%globaltimer_hi",
                                        "%aggr_smem_size",
                                        "%current_graph_exec",
                                        "%reserved_smem_offset_begin",
                                        "%reserved_smem_offset_end",
                                        "%reserved_smem_offset_cap",
                                        "%reserved_smem_offset_#"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t before = strcspn(names[i], "#"), digits = 0;
        if (strncmp(text, names[i], before) != 0) continue;
        const char *rest = text + before, *after = names[i] + before;
        if (*after == '#') digits = strspn(rest, "0123456789"), after++;
        else if (*rest == '\0') return true;
        if (digits > 0 && strcmp(rest + digits, after) == 0) return true;
    }
    return false;
}

/* NAME, which is no symbol: a special register (some have a .x behind the name), or an error. */
static bool parse_special(struct sim_parser *p, const struct sim_token *name, struct sim_insn *insn,
                          bool allowed, struct sim_value *value) {
    char text[160], part[80];
    spell_token(name, text, 80);
    if (text[0] == '%' && p->token.kind == SIM_TOKEN_DOT) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, ".%s", spell_token(&p->token, part, sizeof part));
        if (!sim_advance(p)) return false;
    }
    for (int i = 0; i < SIM_SPECIAL_COUNT; i++) {
        if (strcmp(text, special_names[i].text) != 0) continue;
        if (allowed) return use_special(p, i, insn, value);
        return sim_error(p, PTXSIM_PARSE, name->line, "special register `%s`: move it to a register first",
                         text);
    }
    if (is_other_special(text))
        return sim_error(p, PTXSIM_UNSUPPORTED, name->line, "special register `%s` is not supported", text);
    return sim_error(p, PTXSIM_PARSE, name->line, "`%s` is not declared", text);
}

static bool add_use(struct sim_parser *p, struct sim_insn *insn, const struct sim_value *value) {
    if (value->kind != SIM_REGISTER) return true;
    if (insn->use_count == SIM_MAX_VALUES) return sim_error(p, PTXSIM_PARSE, insn->line, "too many operands");
    insn->use[insn->use_count++] = value->reg;
    return true;
}

static bool add_value(struct sim_parser *p, struct sim_insn *insn, const struct sim_value *value,
                      bool destination) {
    if (insn->value_count == SIM_MAX_VALUES)
        return sim_error(p, PTXSIM_PARSE, insn->line, "too many operands");
    insn->value[insn->value_count++] = *value;
    if (!destination) return add_use(p, insn, value);
    insn->destination_count++;
    return true;
}

static bool add_sink(struct sim_parser *p, struct sim_insn *insn, bool destination) {
    struct sim_value sink = {.kind = SIM_SINK};
    return add_value(p, insn, &sink, destination);
}

static bool check_register(struct sim_parser *p, const struct sim_token *name, const struct sim_value *value,
                           enum sim_type type, bool relaxed) {
    bool fits = relaxed ? sim_type_fits_relaxed(type, value->type) : sim_type_fits(type, value->type);
    char text[80];
    if (fits) return true;
    return sim_error(p, PTXSIM_PARSE, name->line, "`%s` is .%s where .%s is needed",
                     spell_token(name, text, sizeof text), sim_types[value->type].name, sim_types[type].name);
}

struct slot {
    enum sim_type type;
    bool relaxed, destination;
    bool variable_allowed; /* the address of a variable may be the source */
    bool special_allowed;  /* a special register may */
    bool sink_allowed;     /* `_` may be the destination */
};

static bool parse_destination(struct sim_parser *p, struct sim_insn *insn, const struct slot *slot) {
    struct sim_token name = p->token;
    struct sim_value value;
    char text[80];
    if (name.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "a destination register");
    if (slot->sink_allowed && sim_token_is(&name, SIM_TOKEN_WORD, "_"))
        return sim_advance(p) && add_sink(p, insn, true);
    struct sim_symbol *s = sim_lookup(p, name.text, name.length);
    if (!s || s->kind != SIM_SYMBOL_REGISTER)
        return sim_error(p, PTXSIM_PARSE, name.line, "`%s` is not a register",
                         spell_token(&name, text, sizeof text));
    return sim_advance(p) && sim_use_register(p, s, &value) &&
           check_register(p, &name, &value, slot->type, slot->relaxed) && add_value(p, insn, &value, true);
}

/* +constant behind a name; 0 if there is none. */
static bool parse_offset(struct sim_parser *p, uint64_t *offset) {
    bool plus;
    struct sim_number number;
    *offset = 0;
    if (!sim_accept(p, '+', &plus) || !plus) return p->fault->status == PTXSIM_OK;
    if (!sim_parse_number(p, &number)) return false;
    if (number.is_float) return sim_error(p, PTXSIM_PARSE, p->token.line, "a float in an address");
    *offset = number.bits;
    return true;
}

static bool parse_variable_address(struct sim_parser *p, struct sim_symbol *s, const struct slot *slot,
                                   struct sim_value *value) {
    uint64_t offset;
    if (!slot->variable_allowed)
        return sim_error(p, PTXSIM_PARSE, p->token.line,
                         "`%s` is a variable: move its address to a register first", s->name);
    if (s->space == SIM_SHARED && !sim_place_shared(p, s)) return false;
    return parse_offset(p, &offset) && sim_constant_address(p, s, offset, slot->type, value);
}

static bool parse_named_source(struct sim_parser *p, struct sim_insn *insn, const struct slot *slot,
                               struct sim_value *value) {
    struct sim_token name = p->token;
    struct sim_symbol *s = sim_lookup(p, name.text, name.length);
    if (!sim_advance(p)) return false;
    if (s && s->kind == SIM_SYMBOL_VARIABLE) return parse_variable_address(p, s, slot, value);
    bool found =
        s ? sim_use_register(p, s, value) : parse_special(p, &name, insn, slot->special_allowed, value);
    return found && check_register(p, &name, value, slot->type, slot->relaxed);
}

/* A register, a special register, a constant or the address of a variable; !p for predicates. */
static bool parse_source(struct sim_parser *p, struct sim_insn *insn, const struct slot *slot) {
    struct sim_value value = {.kind = SIM_SINK};
    struct sim_number number;
    bool negated = false, parsed;
    if (slot->type == SIM_pred && !sim_accept(p, '!', &negated)) return false;
    if (p->token.kind == SIM_TOKEN_WORD && !sim_token_is(&p->token, SIM_TOKEN_WORD, "WARP_SZ"))
        parsed = parse_named_source(p, insn, slot, &value);
    else parsed = sim_parse_number(p, &number) && sim_constant_value(p, &number, slot->type, &value);
    value.negated = negated;
    return parsed && add_value(p, insn, &value, false);
}

static bool parse_scalar(struct sim_parser *p, struct sim_insn *insn, const struct slot *slot) {
    return slot->destination ? parse_destination(p, insn, slot) : parse_source(p, insn, slot);
}

static bool parse_vector(struct sim_parser *p, struct sim_insn *insn, struct slot slot, int count) {
    slot.sink_allowed = true;
    if (!sim_expect(p, '{')) return false;
    for (int i = 0; i < count; i++)
        if ((i && !sim_expect(p, ',')) || !parse_scalar(p, insn, &slot)) return false;
    return sim_expect(p, '}');
}

/* The number of commas up to the closing brace, plus one: how many elements the vector at the token has. */
static int count_elements(const struct sim_parser *p) {
    int count = 1;
    for (const char *s = p->token.text; *s && *s != '}' && *s != ';'; s++) count += *s == ',';
    return count;
}

/* mov: a scalar, or a vector whose elements fill the type together. */
static bool parse_packed(struct sim_parser *p, struct sim_insn *insn, struct slot slot) {
    if (!sim_is_punct(p, '{')) return parse_scalar(p, insn, &slot);
    int count = count_elements(p), bytes = sim_types[slot.type].bytes;
    if (sim_types[slot.type].kind != 'b' || (count != 2 && count != 4) || bytes < count)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "a vector of %d cannot be packed in .%s", count,
                         sim_types[slot.type].name);
    static const enum sim_type by_bytes[] = {SIM_none, SIM_b8, SIM_b16, SIM_none, SIM_b32};
    slot.type = by_bytes[bytes / count];
    slot.variable_allowed = false;
    return parse_vector(p, insn, slot, count);
}

/* |q behind a destination: an additional predicate result. */
static bool parse_second_predicate(struct sim_parser *p, struct sim_insn *insn, bool required) {
    bool present;
    struct slot slot = {.type = SIM_pred, .destination = true, .sink_allowed = true};
    if (!sim_accept(p, '|', &present)) return false;
    if (!present && required) return sim_unexpected(p, "`|` and a predicate");
    return present ? parse_destination(p, insn, &slot) : add_sink(p, insn, true);
}

static bool parse_variable_base(struct sim_parser *p, struct sim_insn *insn, struct sim_symbol *s) {
    bool within = s->space == SIM_SHARED && insn->space == SIM_SHARED_CLUSTER;
    if (s->space != insn->space && !within)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "`%s` is not in the state space of the access",
                         s->name);
    if (s->space == SIM_SHARED && !sim_place_shared(p, s)) return false;
    if (s->space == SIM_PARAM) {
        insn->low = s->at;
        insn->high = s->at + s->bytes;
    }
    if (s->dynamic) return sim_constant_address(p, s, 0, SIM_u64, &insn->base);
    insn->offset = s->at;
    return true;
}

static bool parse_base(struct sim_parser *p, struct sim_insn *insn) {
    struct sim_token name = p->token;
    char text[80];
    struct sim_symbol *s = sim_lookup(p, name.text, name.length);
    if (!s)
        return sim_error(p, PTXSIM_PARSE, name.line, "`%s` is not declared",
                         spell_token(&name, text, sizeof text));
    if (!sim_advance(p)) return false;
    if (s->kind == SIM_SYMBOL_VARIABLE) return parse_variable_base(p, insn, s);
    if (!sim_use_register(p, s, &insn->base)) return false;
    bool narrow = insn->space == SIM_SHARED || insn->space == SIM_SHARED_CLUSTER || insn->space == SIM_PARAM;
    if (narrow && sim_type_fits(SIM_u32, s->type)) return add_use(p, insn, &insn->base);
    return check_register(p, &name, &insn->base, SIM_u64, false) && add_use(p, insn, &insn->base);
}

static bool parse_address(struct sim_parser *p, struct sim_insn *insn) {
    uint64_t offset;
    insn->low = 0;
    insn->high = p->function->param_bytes;
    if (!sim_expect(p, '[')) return false;
    if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "a register or a variable");
    if (!parse_base(p, insn) || !parse_offset(p, &offset)) return false;
    insn->offset = (int64_t)((uint64_t)insn->offset + offset);
    return sim_expect(p, ']');
}

/* One of several addresses: its base and its offset become values. The coordinates of a tensor stand behind
   its address, in the same brackets. */
static bool parse_address_values(struct sim_parser *p, struct sim_insn *insn, enum sim_space space,
                                 bool coordinates) {
    struct sim_number offset = {.is_float = false};
    struct sim_value value;
    insn->high = p->function->param_bytes;
    struct sim_insn part = *insn;
    part.space = (uint8_t)space;
    part.offset = 0;
    part.base = (struct sim_value){.kind = SIM_SINK};
    if (!sim_expect(p, '[')) return false;
    if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "a register or a variable");
    if (!parse_base(p, &part) || !parse_offset(p, &offset.bits)) return false;
    offset.bits += (uint64_t)part.offset;
    if (!sim_constant_value(p, &offset, SIM_s64, &value)) return false;
    if (!add_value(p, insn, &part.base, false) || !add_value(p, insn, &value, false)) return false;
    if (coordinates &&
        (!sim_expect(p, ',') || !parse_vector(p, insn, (struct slot){.type = SIM_s32}, insn->vector)))
        return false;
    return sim_expect(p, ']');
}

static bool parse_label_operand(struct sim_parser *p) {
    struct sim_token name = p->token;
    if (name.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "a label");
    return sim_label_refer(p, &name, p->function->code_count) && sim_advance(p);
}

/* lop3's table and other constants. */
static bool parse_constant_operand(struct sim_parser *p, struct sim_insn *insn, uint64_t least,
                                   uint64_t most) {
    struct sim_number number = {.is_float = false};
    struct sim_value value;
    return sim_parse_integer(p, least, most, &number.bits) &&
           sim_constant_value(p, &number, SIM_u32, &value) && add_value(p, insn, &value, false);
}

static bool parse_register_count(struct sim_parser *p, struct sim_insn *insn) {
    int line = p->token.line;
    if (!parse_constant_operand(p, insn, 24, 256)) return false;
    uint32_t count = *(const uint32_t *)insn->value[insn->value_count - 1].lanes;
    return count % 8 == 0 || sim_error(p, PTXSIM_PARSE, line, "setmaxnreg %u: not a multiple of 8", count);
}

/* How many bytes a cp.async copies. */
static bool parse_copy_size(struct sim_parser *p, struct sim_insn *insn, uint64_t least) {
    int line = p->token.line;
    if (!parse_constant_operand(p, insn, least, 16)) return false;
    uint32_t size = *(const uint32_t *)insn->value[insn->value_count - 1].lanes;
    return (size & (size - 1)) == 0 ? true : sim_error(p, PTXSIM_PARSE, line, "a copy of %u bytes", size);
}

/* cp.async: how many bytes are read, or a predicate, where none are. */
static enum sim_type type_of_source_size(const struct sim_parser *p) {
    if (sim_is_punct(p, '!')) return SIM_pred;
    const struct sim_symbol *s =
        p->token.kind == SIM_TOKEN_WORD ? sim_lookup(p, p->token.text, p->token.length) : NULL;
    return s && s->kind == SIM_SYMBOL_REGISTER && s->type == SIM_pred ? SIM_pred : SIM_u32;
}

static struct slot slot_of(char letter, const struct sim_insn *insn) {
    switch (letter) {
    case 't':
    case 'x':
    case 'n':
        return (struct slot){
            .type = insn->type, .variable_allowed = letter != 't', .special_allowed = letter == 'x'};
    case 'r': return (struct slot){.type = insn->type, .relaxed = true};
    case 's': return (struct slot){.type = insn->type2};
    case 'R': return (struct slot){.type = insn->type2, .relaxed = true, .special_allowed = true};
    case 'w': return (struct slot){.type = sim_type_doubled(insn->type)};
    case 'u': return (struct slot){.type = SIM_u32};
    case 'd': return (struct slot){.type = SIM_s32};
    case 'f': return (struct slot){.type = SIM_f32};
    case 'b': return (struct slot){.type = SIM_b32};
    case 'M': return (struct slot){.type = SIM_b16};
    case 'c':
    case 'B': return (struct slot){.type = SIM_b64};
    default: return (struct slot){.type = SIM_pred};
    }
}

/* The accumulators of a wgmma: two of f16 to a register. */
static bool parse_accumulators(struct sim_parser *p, struct sim_insn *insn) {
    const bool is_half = insn->type == SIM_f16;
    const struct slot slot = {.type = is_half ? SIM_b32 : insn->type, .destination = true};
    if (!sim_expect(p, '{')) return false;
    for (int i = 0; i < insn->columns / (is_half ? 4 : 2); i++)
        if ((i && !sim_expect(p, ',')) || !parse_destination(p, insn, &slot)) return false;
    return sim_expect(p, '}');
}

static bool parse_factor(struct sim_parser *p, struct sim_insn *insn) {
    if (sim_is_punct(p, '{')) return parse_vector(p, insn, (struct slot){.type = SIM_b32}, 4);
    return parse_source(p, insn, &(struct slot){.type = SIM_b64});
}

/* 1 or -1, as a number of 32 bits. */
static bool parse_sign(struct sim_parser *p, struct sim_insn *insn) {
    int line = p->token.line;
    struct sim_number number;
    struct sim_value value;
    if (!sim_parse_number(p, &number)) return false;
    if (number.is_float || (number.bits != 1 && number.bits != UINT64_MAX))
        return sim_error(p, PTXSIM_PARSE, line, "a scale of 1 or -1 is wanted here");
    return sim_constant_value(p, &number, SIM_s32, &value) && add_value(p, insn, &value, false);
}

/* One operand as FORM, a word of the operand column, describes it. */
static bool parse_operand(struct sim_parser *p, struct sim_insn *insn, const char *form) {
    bool destination = *form == '=';
    form += destination;
    int count = 0;
    bool braces = *form >= '1' && *form <= '9';
    if (braces) count = *form++ - '0';
    if (*form == 'v') {
        count = insn->vector;
        braces = count > 0;
        form++;
    }
    if (*form == 'N') return parse_accumulators(p, insn);
    if (*form == 'A') return parse_factor(p, insn);
    if (*form == 'j') return parse_sign(p, insn);
    if (*form == 'k' || *form == 'K') return parse_constant_operand(p, insn, 0, 1);
    if (*form == 'a') return parse_address(p, insn);
    if (*form == 'l') return parse_label_operand(p);
    if (*form == 'i') return parse_constant_operand(p, insn, 0, 255);
    if (*form == 'm') return parse_register_count(p, insn);
    if (*form == 'C') return parse_constant_operand(p, insn, 0, UINT32_MAX);
    if (*form == 'z' || *form == 'Z') return parse_copy_size(p, insn, *form == 'z' ? 4 : 16);
    if (*form == 'S') return parse_address_values(p, insn, SIM_SHARED, false);
    if (*form == 'G') return parse_address_values(p, insn, SIM_GLOBAL, false);
    if (*form == 'T') return parse_address_values(p, insn, SIM_GENERIC, true);
    struct slot slot = slot_of(*form, insn);
    if (*form == 'I') slot.type = type_of_source_size(p);
    slot.destination = destination;
    const char *suffix = form + 1 + (form[1] == '_');
    slot.sink_allowed = form[1] == '_' || *form == 'p';
    if (*form == 'x') return parse_packed(p, insn, slot);
    if (braces) return parse_vector(p, insn, slot, count);
    if (!parse_scalar(p, insn, &slot)) return false;
    return *suffix == 'p' || *suffix == 'P' ? parse_second_predicate(p, insn, *suffix == 'P') : true;
}

/* The operands from the token on that lie behind a comma. */
static int operands_left(const struct sim_parser *p) {
    int count = 0, depth = 0;
    for (const char *s = p->token.text; *s && *s != ';'; s++) {
        depth += (*s == '{' || *s == '[') - (*s == '}' || *s == ']');
        count += *s == ',' && depth == 0;
    }
    return count;
}

/* The operands that FORM and what follows ask for. A cache policy is there or not by itself. */
static int forms_left(const struct sim_insn *insn, const char *form) {
    int count = 1;
    for (; *form; form++) count += *form == ' ' && (form[1] != 'c' || (insn->modifiers & SIM_CACHE_POLICY));
    return count;
}

/* Whether the operand that FORM, with what follows it, describes was left out. */
static bool is_left_out(const struct sim_parser *p, const struct sim_insn *insn, const char *form,
                        size_t length) {
    if (*form == 'c') return !(insn->modifiers & SIM_CACHE_POLICY);
    if (*form == 'M') return !(insn->modifiers & SIM_MULTICAST);
    if (*form == 'K') return sim_types[insn->value[insn->destination_count].type].bytes != 8;
    return form[length - 1] == '?' && (sim_is_punct(p, ';') || operands_left(p) < forms_left(insn, form));
}

bool sim_parse_operands(struct sim_parser *p, struct sim_insn *insn) {
    const char *form = insn->op->operands;
    if ((insn->op->flags & SIM_OP_NO_RESULT) && !add_sink(p, insn, true)) return false;
    for (bool first = true; *form; first = false) {
        size_t length = strcspn(form, " ");
        if (is_left_out(p, insn, form, length)) {
            if (!add_sink(p, insn, false)) return false;
        } else if ((!first && !sim_expect(p, ',')) || !parse_operand(p, insn, form)) {
            return false;
        }
        form += length;
        form += *form == ' ';
    }
    return true;
}
