/* PTX text to tokens. */
#ifndef SIM_LEX_H
#define SIM_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_token_kind {
    SIM_TOKEN_END,
    SIM_TOKEN_WORD,   /* name, %name, $name */
    SIM_TOKEN_DOT,    /* .name; text and length leave the dot out */
    SIM_TOKEN_INT,    /* bits holds the value */
    SIM_TOKEN_FLOAT,  /* bits holds an f32 or f64 pattern, of float_bytes bytes */
    SIM_TOKEN_STRING, /* text and length leave the quotes out */
    SIM_TOKEN_PUNCT,  /* one character */
    SIM_TOKEN_BAD     /* message says why */
};

struct sim_token {
    enum sim_token_kind kind;
    const char *text;
    size_t length;
    int line;
    uint64_t bits;
    unsigned float_bytes;
    const char *message;
};

/* AT points into NUL-terminated text that outlives the tokens. */
struct sim_lexer {
    const char *at;
    int line;
};

void sim_lex(struct sim_lexer *lexer, struct sim_token *token);

#endif
