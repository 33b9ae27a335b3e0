/* Constant expressions (ISA, "Constant Expressions") and the constants that instructions read. A constant is
 * kept as 32 equal lanes, so that executors read it as they read a register. */
#include "parse.h"

#include <string.h>

enum { MAX_NESTING = 64 };

static bool parse_binary(struct sim_parser *p, struct sim_number *number, int least, int nesting);

static bool integer_only(struct sim_parser *p, const struct sim_number *number) {
    if (!number->is_float) return true;
    return sim_error(p, PTXSIM_PARSE, p->token.line, "a float where the expression needs an integer");
}

static bool parse_primary(struct sim_parser *p, struct sim_number *number, int nesting) {
    const struct sim_token *t = &p->token;
    if (t->kind == SIM_TOKEN_INT || t->kind == SIM_TOKEN_FLOAT) {
        *number = (struct sim_number){t->kind == SIM_TOKEN_FLOAT, t->float_bytes, t->bits};
        return sim_advance(p);
    }
    if (sim_token_is(t, SIM_TOKEN_WORD, "WARP_SZ")) {
        *number = (struct sim_number){.bits = SIM_LANES};
        return sim_advance(p);
    }
    if (!sim_is_punct(p, '(')) return sim_unexpected(p, "a constant");
    return sim_advance(p) && parse_binary(p, number, 0, nesting + 1) && sim_expect(p, ')');
}

static bool parse_unary(struct sim_parser *p, struct sim_number *number, int nesting) {
    if (nesting > MAX_NESTING)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "an expression nested too deep");
    bool is_unary =
        sim_is_punct(p, '-') || sim_is_punct(p, '~') || sim_is_punct(p, '!') || sim_is_punct(p, '+');
    if (!is_unary) return parse_primary(p, number, nesting);
    char op = p->token.text[0];
    if (!sim_advance(p) || !parse_unary(p, number, nesting + 1)) return false;
    if (op == '-' && number->is_float) {
        number->bits ^= UINT64_C(1) << (8 * number->float_bytes - 1);
        return true;
    }
    if (op == '+') return true;
    if (!integer_only(p, number)) return false;
    number->bits = op == '-' ? 0 - number->bits : op == '~' ? ~number->bits : !number->bits;
    return true;
}

static const struct binary {
    char text[3];
    int level;
} binaries[] = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4}, {"+", 5}, {"-", 5}, {"*", 6}, {"/", 6}};

/* The binary operator that starts at the token, or NULL. */
static const struct binary *binary_here(const struct sim_parser *p) {
    if (p->token.kind != SIM_TOKEN_PUNCT) return NULL;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (strncmp(p->token.text, binaries[i].text, strlen(binaries[i].text)) == 0) return &binaries[i];
    return NULL;
}

static uint64_t shift_left(uint64_t a, uint64_t n) { return n < 64 ? a << n : 0; }

static uint64_t shift_right(uint64_t a, uint64_t n) { return (uint64_t)((int64_t)a >> (n < 64 ? n : 63)); }

static bool divide(struct sim_parser *p, uint64_t *a, uint64_t b) {
    int64_t dividend = (int64_t)*a, divisor = (int64_t)b;
    if (divisor == 0)
        return sim_error(p, PTXSIM_PARSE, p->token.line, "a constant expression divides by zero");
    *a = divisor == -1 ? 0 - *a : (uint64_t)(dividend / divisor); /* INT64_MIN / -1 overflows in C */
    return true;
}

static bool apply(struct sim_parser *p, char op, uint64_t *a, uint64_t b) {
    switch (op) {
    case '|': *a |= b; return true;
    case '^': *a ^= b; return true;
    case '&': *a &= b; return true;
    case '<': *a = shift_left(*a, b); return true;
    case '>': *a = shift_right(*a, b); return true;
    case '+': *a += b; return true;
    case '-': *a -= b; return true;
    case '*': *a *= b; return true;
    default: return divide(p, a, b);
    }
}

/* Operators of level LEAST and above, by precedence climbing. */
static bool parse_binary(struct sim_parser *p, struct sim_number *number, int least, int nesting) {
    if (!parse_unary(p, number, nesting)) return false;
    const struct binary *op;
    while ((op = binary_here(p)) && op->level >= least) {
        struct sim_number right;
        for (size_t i = 0; i < strlen(op->text); i++)
            if (!sim_advance(p)) return false;
        if (!parse_binary(p, &right, op->level + 1, nesting + 1)) return false;
        if (!integer_only(p, number) || !integer_only(p, &right)) return false;
        if (!apply(p, op->text[0], &number->bits, right.bits)) return false;
    }
    return true;
}

bool sim_parse_number(struct sim_parser *p, struct sim_number *number) {
    return parse_binary(p, number, 0, 0);
}

bool sim_parse_integer(struct sim_parser *p, uint64_t low, uint64_t high, uint64_t *value) {
    struct sim_number number;
    int line = p->token.line;
    if (!sim_parse_number(p, &number) || !integer_only(p, &number)) return false;
    if (number.bits < low || number.bits > high)
        return sim_error(p, PTXSIM_PARSE, line, "%lld is not between %llu and %llu", (long long)number.bits,
                         (unsigned long long)low, (unsigned long long)high);
    *value = number.bits;
    return true;
}

/* Writes BITS to 32 lanes of BYTES each. */
static void fill_lanes(void *lanes, uint64_t bits, unsigned bytes) {
    for (unsigned lane = 0; lane < SIM_LANES; lane++) memcpy((char *)lanes + lane * bytes, &bits, bytes);
}

static void *new_lanes(struct sim_parser *p, uint64_t bits, unsigned bytes) {
    void *lanes = sim_keep(p, (size_t)SIM_LANES * bytes);
    if (lanes) fill_lanes(lanes, bits, bytes);
    return lanes;
}

/* The lanes of a constant; equal ones are shared. */
static const void *constant_lanes(struct sim_parser *p, uint64_t bits, unsigned bytes, bool predicate) {
    struct sim_constant **bucket = &p->constant[(bits * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SIM_BUCKETS];
    for (struct sim_constant *c = *bucket; c; c = c->next)
        if (c->bits == bits && c->bytes == bytes && c->predicate == predicate) return c->lanes;
    struct sim_constant *c = sim_scratch(p, sizeof *c);
    if (!c) return NULL;
    *c = (struct sim_constant){*bucket, bits, bytes, predicate, new_lanes(p, bits, bytes)};
    if (c->lanes) *bucket = c;
    return c->lanes;
}

static uint64_t float_bits(const struct sim_number *number, unsigned bytes) {
    float single;
    double real;
    uint64_t bits = 0;
    if (number->float_bytes == bytes) return number->bits;
    if (bytes == 4) {
        memcpy(&real, &number->bits, sizeof real);
        single = (float)real;
        memcpy(&bits, &single, sizeof single);
    } else {
        memcpy(&single, &number->bits, sizeof single);
        real = (double)single;
        memcpy(&bits, &real, sizeof real);
    }
    return bits;
}

/* Whether BITS, read as signed or as unsigned, fit in BYTES. */
static bool integer_fits(uint64_t bits, unsigned bytes) {
    if (bytes == 8) return true;
    uint64_t high = UINT64_C(1) << 8 * bytes;
    return bits < high || bits >= 0 - high / 2;
}

static bool constant_bits(struct sim_parser *p, const struct sim_number *number, enum sim_type type,
                          uint64_t *bits) {
    const struct sim_type_info *info = &sim_types[type];
    bool takes_float = info->kind == 'f' || (info->kind == 'b' && info->bytes >= 4);
    if (number->is_float ? !takes_float : info->kind == 'f')
        return sim_error(p, PTXSIM_PARSE, p->token.line, "%s constant as a .%s operand",
                         number->is_float ? "a float" : "an integer", info->name);
    if (!number->is_float && !integer_fits(number->bits, info->bytes))
        return sim_error(p, PTXSIM_PARSE, p->token.line, "constant 0x%llx does not fit .%s",
                         (unsigned long long)number->bits, info->name);
    *bits = number->is_float ? float_bits(number, info->bytes) : number->bits;
    if (info->kind == 'p') *bits = number->bits ? UINT32_MAX : 0;
    return true;
}

bool sim_constant_value(struct sim_parser *p, const struct sim_number *number, enum sim_type type,
                        struct sim_value *value) {
    uint64_t bits = 0;
    if (!constant_bits(p, number, type, &bits)) return false;
    *value = (struct sim_value){.kind = SIM_CONSTANT, .type = (uint8_t)type};
    value->lanes = constant_lanes(p, bits, sim_types[type].bytes, sim_types[type].kind == 'p');
    return value->lanes != NULL;
}

static bool add_fixup(struct sim_parser *p, void *lanes, unsigned bytes, uint64_t offset) {
    struct sim_fixup *fixup = sim_scratch(p, sizeof *fixup);
    if (!fixup) return false;
    *fixup = (struct sim_fixup){p->fixups, lanes, bytes, offset};
    p->fixups = fixup;
    return true;
}

bool sim_constant_address(struct sim_parser *p, const struct sim_symbol *symbol, uint64_t offset,
                          enum sim_type type, struct sim_value *value) {
    const struct sim_type_info *info = &sim_types[type];
    if (info->bytes < 4 || info->kind == 'f' || info->kind == 'p')
        return sim_error(p, PTXSIM_PARSE, p->token.line, "the address of `%s` as a .%s operand", symbol->name,
                         info->name);
    void *lanes = new_lanes(p, symbol->at + offset, info->bytes);
    *value = (struct sim_value){.kind = SIM_CONSTANT, .type = (uint8_t)type, .lanes = lanes};
    if (!lanes) return false;
    if (symbol->space == SIM_GLOBAL || symbol->space == SIM_CONST)
        return sim_refer_variable(p, symbol, offset, lanes, info->bytes);
    return symbol->dynamic ? add_fixup(p, lanes, info->bytes, offset) : true;
}

void sim_fix_dynamic_addresses(struct sim_parser *p) {
    uint32_t base = (p->function->shared_bytes + p->dynamic_align - 1) / p->dynamic_align * p->dynamic_align;
    if (p->fixups) p->function->shared_bytes = base;
    for (struct sim_fixup *f = p->fixups; f; f = f->next) fill_lanes(f->lanes, base + f->offset, f->bytes);
    p->fixups = NULL;
}
