#include "lex.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool starts_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }

static bool in_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

static void bad(struct sim_token *token, const char *message) {
    token->kind = SIM_TOKEN_BAD;
    token->message = message;
}

/* Moves past blanks and comments; false if a comment never ends. */
static bool skip_blanks(struct sim_lexer *lexer) {
    for (;;) {
        const char *s = lexer->at;
        if (*s == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\f' || *s == '\v') {
            lexer->at++;
        } else if (s[0] == '/' && s[1] == '/') {
            lexer->at += strcspn(s, "\n");
        } else if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            if (!end) return false;
            for (; s < end; s++) lexer->line += *s == '\n';
            lexer->at = end + 2;
        } else {
            return true;
        }
    }
}

/* Digits of RADIX at S; sets *OVERFLOWED if they do not fit 64 bits. Returns where they end. */
static const char *read_digits(const char *s, unsigned radix, uint64_t *value, bool *overflowed) {
    uint64_t v = 0;
    for (; digit_value(*s) < (int)radix; s++) {
        if (__builtin_mul_overflow(v, (uint64_t)radix, &v)) *overflowed = true;
        if (__builtin_add_overflow(v, (uint64_t)digit_value(*s), &v)) *overflowed = true;
    }
    *value = v;
    return s;
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: the bits of a float (ISA, "Floating-Point Constants"). */
static void lex_float_bits(struct sim_lexer *lexer, struct sim_token *token, unsigned bytes) {
    bool overflowed = false;
    const char *start = lexer->at + 2;
    const char *end = read_digits(start, 16, &token->bits, &overflowed);
    lexer->at = end;
    token->kind = SIM_TOKEN_FLOAT;
    token->float_bytes = bytes;
    if ((size_t)(end - start) != 2 * (size_t)bytes) bad(token, "wrong number of digits in a float constant");
}

/* PTX has a decimal point, whatever the locale that the program has set. */
static void lex_decimal_float(struct sim_lexer *lexer, struct sim_token *token) {
    char *end;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        bad(token, "no memory for a number");
        return;
    }
    double value = strtod_l(lexer->at, &end, plain);
    freelocale(plain);
    lexer->at = end;
    token->kind = SIM_TOKEN_FLOAT;
    token->float_bytes = 8;
    memcpy(&token->bits, &value, sizeof value);
}

static bool is_decimal_float(const char *s) {
    while (is_digit(*s)) s++;
    return *s == '.' || *s == 'e' || *s == 'E';
}

static void lex_integer(struct sim_lexer *lexer, struct sim_token *token) {
    const char *s = lexer->at;
    char mark = s[0] == '0' ? s[1] : 0;
    unsigned radix = 10;
    if (mark == 'x' || mark == 'X') radix = 16;
    if (mark == 'b' || mark == 'B') radix = 2;
    if (radix != 10) s += 2;
    if (is_digit(mark)) radix = 8;
    bool overflowed = false;
    const char *end = read_digits(s, radix, &token->bits, &overflowed);
    token->kind = SIM_TOKEN_INT;
    if (end == s) bad(token, "a number without digits");
    if (overflowed) bad(token, "a number that does not fit 64 bits");
    if (*end == 'U') end++;
    if (in_word(*end)) bad(token, "a wrong digit in a number");
    lexer->at = end;
}

static void lex_number(struct sim_lexer *lexer, struct sim_token *token) {
    const char *s = lexer->at;
    char mark = s[0] == '0' ? s[1] : 0;
    if (mark == 'f' || mark == 'F') lex_float_bits(lexer, token, 4);
    else if (mark == 'd' || mark == 'D') lex_float_bits(lexer, token, 8);
    else if (is_decimal_float(s)) lex_decimal_float(lexer, token);
    else lex_integer(lexer, token);
}

static void lex_string(struct sim_lexer *lexer, struct sim_token *token) {
    token->text = ++lexer->at;
    token->length = strcspn(lexer->at, "\"\n");
    lexer->at += token->length;
    token->kind = SIM_TOKEN_STRING;
    if (*lexer->at != '"') bad(token, "a string that does not end on its line");
    else lexer->at++;
}

/* A modifier may hold colons: .L1::no_allocate. */
static void lex_dot(struct sim_lexer *lexer, struct sim_token *token) {
    const char *s = ++lexer->at;
    while (in_word(*s) || (s[0] == ':' && s[1] == ':') || (*s == ':' && s[-1] == ':')) s++;
    token->kind = SIM_TOKEN_DOT;
    token->text = lexer->at;
    token->length = (size_t)(s - lexer->at);
    lexer->at = s;
    if (token->length == 0) bad(token, "a dot without a name");
}

static void lex_word(struct sim_lexer *lexer, struct sim_token *token) {
    const char *s = lexer->at + 1;
    while (in_word(*s)) s++;
    token->kind = SIM_TOKEN_WORD;
    token->length = (size_t)(s - lexer->at);
    lexer->at = s;
}

void sim_lex(struct sim_lexer *lexer, struct sim_token *token) {
    bool closed = skip_blanks(lexer);
    *token = (struct sim_token){.text = lexer->at, .line = lexer->line, .length = 1};
    const char *s = lexer->at;
    if (!closed) {
        bad(token, "a comment that never ends");
        lexer->at += strlen(lexer->at);
    } else if (*s == 0) {
        token->kind = SIM_TOKEN_END;
        token->length = 0;
    } else if (starts_word(*s)) {
        lex_word(lexer, token);
    } else if (is_digit(*s)) {
        lex_number(lexer, token);
        if (token->kind != SIM_TOKEN_BAD) token->length = (size_t)(lexer->at - s);
    } else if (*s == '.') {
        lex_dot(lexer, token);
    } else if (*s == '"') {
        lex_string(lexer, token);
    } else {
        token->kind = SIM_TOKEN_PUNCT;
        lexer->at++;
    }
}
