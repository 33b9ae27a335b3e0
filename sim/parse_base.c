#include "parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool sim_error(struct sim_parser *p, ptxsim_status status, int line, const char *format, ...) {
    char message[sizeof p->fault->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    sim_fault_set(p->fault, status, line, "%s", message);
    return false;
}

bool sim_unexpected(struct sim_parser *p, const char *wanted) {
    const struct sim_token *t = &p->token;
    if (t->kind == SIM_TOKEN_END)
        return sim_error(p, PTXSIM_PARSE, t->line, "the text ends where %s should stand", wanted);
    int length = (int)(t->length < 64 ? t->length : 64);
    return sim_error(p, PTXSIM_PARSE, t->line, "`%s%.*s` where %s should stand",
                     t->kind == SIM_TOKEN_DOT ? "." : "", length, t->text, wanted);
}

bool sim_no_memory(struct sim_parser *p) {
    return sim_error(p, PTXSIM_NOMEM, p->token.line, "out of memory");
}

bool sim_advance(struct sim_parser *p) {
    sim_lex(&p->lexer, &p->token);
    if (p->token.kind != SIM_TOKEN_BAD) return true;
    return sim_error(p, PTXSIM_PARSE, p->token.line, "%s", p->token.message);
}

bool sim_is_punct(const struct sim_parser *p, char c) {
    return p->token.kind == SIM_TOKEN_PUNCT && p->token.text[0] == c;
}

bool sim_accept(struct sim_parser *p, char c, bool *accepted) {
    *accepted = sim_is_punct(p, c);
    return *accepted ? sim_advance(p) : true;
}

bool sim_expect(struct sim_parser *p, char c) {
    char wanted[] = {'`', c, '`', 0};
    return sim_is_punct(p, c) ? sim_advance(p) : sim_unexpected(p, wanted);
}

bool sim_token_is(const struct sim_token *token, enum sim_token_kind kind, const char *text) {
    return token->kind == kind && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

void *sim_keep(struct sim_parser *p, size_t bytes) {
    void *memory = sim_arena_alloc(&p->module->arena, bytes);
    if (!memory) sim_no_memory(p);
    return memory;
}

void *sim_scratch(struct sim_parser *p, size_t bytes) {
    void *memory = sim_arena_alloc(&p->scratch, bytes);
    if (!memory) sim_no_memory(p);
    return memory;
}

bool sim_grow(struct sim_parser *p, void **array, int count, int *capacity, size_t size) {
    if (count < *capacity) return true;
    int larger = *capacity ? 2 * *capacity : 32;
    void *copy = sim_scratch(p, (size_t)larger * size);
    if (!copy) return false;
    if (count) memcpy(copy, *array, (size_t)count * size);
    *array = copy;
    *capacity = larger;
    return true;
}
