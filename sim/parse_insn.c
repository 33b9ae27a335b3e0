/* One statement of a function's body that is an instruction. */
#include "parse.h"

#include <string.h>

/* A copy of BYTES that lives as long as the module; NULL after a fault. */
static void *keep_copy(struct sim_parser *p, const void *from, size_t bytes) {
    void *copy = sim_keep(p, bytes + 1);
    if (copy && bytes) memcpy(copy, from, bytes);
    return copy;
}

bool sim_append_insn(struct sim_parser *p, const struct sim_insn *insn) {
    ptxsim_function *f = p->function;
    void *code = f->code;
    if (f->code_count >= SIM_MAX_INSNS)
        return sim_error(p, PTXSIM_UNSUPPORTED, insn->line, "more than %d instructions", SIM_MAX_INSNS);
    if (!sim_count_code(p, insn->line)) return false;
    if (!sim_grow(p, &code, f->code_count, &p->code_capacity, sizeof *f->code)) return false;
    f->code = code;
    struct sim_insn *kept = &f->code[f->code_count++];
    *kept = *insn;
    kept->value = keep_copy(p, insn->value, insn->value_count * sizeof *insn->value);
    kept->use = keep_copy(p, insn->use, insn->use_count * sizeof *insn->use);
    return kept->value && kept->use;
}

/* @p or @!p */
static bool parse_guard(struct sim_parser *p, struct sim_insn *insn) {
    bool present;
    struct sim_value value;
    insn->guard = SIM_NO_REGISTER;
    if (!sim_accept(p, '@', &present)) return false;
    if (!present) return true;
    if (!sim_accept(p, '!', &insn->guard_negated)) return false;
    if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "a predicate register");
    struct sim_symbol *s = sim_lookup(p, p->token.text, p->token.length);
    if (!s || s->kind != SIM_SYMBOL_REGISTER || s->type != SIM_pred)
        return sim_unexpected(p, "a predicate register");
    if (!sim_use_register(p, s, &value)) return false;
    insn->guard = value.reg;
    insn->guard_at = value.at;
    return sim_advance(p);
}

static bool parse_opcode(struct sim_parser *p, struct sim_opcode *opcode) {
    if (p->token.kind != SIM_TOKEN_WORD) return sim_unexpected(p, "an instruction");
    opcode->count = 0;
    do {
        if (opcode->count == SIM_MAX_PARTS)
            return sim_error(p, PTXSIM_UNSUPPORTED, p->token.line, "an opcode with more than %d modifiers",
                             SIM_MAX_PARTS);
        opcode->part[opcode->count++] = p->token;
        if (!sim_advance(p)) return false;
    } while (p->token.kind == SIM_TOKEN_DOT);
    return true;
}

bool sim_parse_instruction(struct sim_parser *p) {
    struct sim_insn insn = {
        .line = p->token.line, .base = {.kind = SIM_SINK}, .value = p->value, .use = p->use};
    struct sim_opcode opcode;
    char message[192];
    if (!parse_guard(p, &insn) || !parse_opcode(p, &opcode)) return false;
    if (!sim_match(&opcode, &insn, message, sizeof message))
        return sim_error(p, PTXSIM_UNSUPPORTED, insn.line, "%s", message);
    ptxsim_status status;
    const char *refusal = sim_check(&insn, &status);
    if (refusal) return sim_error(p, status, insn.line, "%s", refusal);
    if (!sim_parse_operands(p, &insn)) return false;
    if (!sim_is_punct(p, ';')) return sim_unexpected(p, "`;`");
    if (p->routine && insn.exec == sim_ret && sim_token_is(&opcode.part[0], SIM_TOKEN_WORD, "ret") &&
        !sim_parse_return(p, &insn))
        return false;
    return sim_append_insn(p, &insn) && sim_advance(p);
}
