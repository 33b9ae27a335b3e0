#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "text/file.h"
#include "base/gunzip.h"
#include "base/text_input.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_delimiter(char c) { return is_blank(c) || c == '\n' || c == ','; }
static bool is_printable(char c) { return c > ' ' && c <= '~'; }
static bool at_delimiter(const text_input *in) { return in->at == in->end || is_delimiter(*in->at); }

/* FILE_READ, of PATH.gz with what is in it. */
static mc_status read_text(const char *path, char **bytes, size_t *size, mc_diag *diag) {
    char *compressed;
    size_t length;
    if (!gunzip_is(path, &length)) return file_read(path, NULL, bytes, size, diag);
    mc_status status = file_read(path, NULL, &compressed, &length, diag);
    if (status != MC_OK) return status;
    status = gunzip(path, compressed, length, bytes, size, diag);
    free(compressed);
    return status;
}

mc_status input_open(text_input *in, const char *path, mc_diag *diag) {
    *in = (text_input){.path = path, .line = 1, .diag = diag};
    size_t size;
    mc_status status = read_text(path, &in->bytes, &size, diag);
    if (status != MC_OK) return status;
    in->at = in->bytes;
    in->end = in->bytes + size;
    if (size > 0) return MC_OK;
    input_close(in);
    return mc_fail(diag, MC_FORMAT, "%s:1: the file is empty", path);
}

void input_close(text_input *in) {
    free(in->bytes);
    in->bytes = NULL;
    in->at = in->end = NULL;
}

mc_status input_fail(const text_input *in, mc_status status, const char *format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return mc_fail(in->diag, status, "%s:%" PRId64 ": %s", in->path, in->line, message);
}

/* A comma is a token of its own. */
static size_t token_length(const text_input *in) {
    if (in->at < in->end && *in->at == ',') return 1;
    size_t length = 0;
    while (in->at + length < in->end && is_printable(in->at[length]) && in->at[length] != ',') length++;
    return length;
}

input_quote input_token(const text_input *in) {
    enum { SHOWN = 20 };
    input_quote quote;
    size_t length = token_length(in);
    if (length > SHOWN) snprintf(quote.text, sizeof quote.text, "'%.*s...'", SHOWN, in->at);
    else if (length > 0 || in->at == in->end)
        snprintf(quote.text, sizeof quote.text, "'%.*s'", (int)length, in->at);
    else snprintf(quote.text, sizeof quote.text, "byte 0x%02x", (unsigned)(unsigned char)*in->at);
    return quote;
}

void input_skip_blanks(text_input *in) {
    while (in->at < in->end && is_blank(*in->at)) in->at++;
}

void input_skip_space(text_input *in) {
    for (; in->at < in->end && (is_blank(*in->at) || *in->at == '\n'); in->at++) in->line += *in->at == '\n';
}

void input_skip_line(text_input *in) {
    const char *newline = memchr(in->at, '\n', input_left(in));
    in->at = newline ? newline + 1 : in->end;
    in->line += newline != NULL;
}

bool input_at_line_end(const text_input *in) { return in->at == in->end || *in->at == '\n'; }

size_t input_left(const text_input *in) { return (size_t)(in->end - in->at); }

/* Skips blanks; an error where the line or the file ends before WHAT. */
static mc_status expect(text_input *in, const char *what) {
    input_skip_blanks(in);
    if (in->at == in->end) return input_fail(in, MC_FORMAT, "the file ends where %s must be", what);
    if (*in->at == '\n') return input_fail(in, MC_FORMAT, "the line ends where %s must be", what);
    return MC_OK;
}

static mc_status refuse_token(text_input *in, const char *token, const char *what) {
    bool negative = *token == '-' && token + 1 < in->end && is_digit(token[1]);
    in->at = token;
    if (negative) return input_fail(in, MC_FORMAT, "%s is negative: %s", what, input_token(in).text);
    return input_fail(in, MC_FORMAT, "%s must be a whole number, not %s", what, input_token(in).text);
}

mc_status input_integer(text_input *in, const char *what, int64_t least, int64_t most, int64_t *value) {
    mc_status status = expect(in, what);
    if (status != MC_OK) return status;
    const char *token = in->at;
    int64_t number = 0;
    bool overflow = false;
    for (; in->at < in->end && is_digit(*in->at); in->at++) {
        overflow |= __builtin_mul_overflow(number, 10, &number);
        overflow |= __builtin_add_overflow(number, *in->at - '0', &number);
    }
    if (in->at == token || !at_delimiter(in)) return refuse_token(in, token, what);
    if (!overflow && number >= least && number <= most) {
        *value = number;
        return MC_OK;
    }
    in->at = token;
    return input_fail(in, MC_FORMAT, "%s is out of range: %s is not in %" PRId64 " to %" PRId64, what,
                      input_token(in).text, least, most);
}

static bool skip_digits(text_input *in) {
    const char *first = in->at;
    while (in->at < in->end && is_digit(*in->at)) in->at++;
    return in->at > first;
}

static bool skip_one_of(text_input *in, const char *set) {
    if (in->at == in->end || *in->at == '\0' || !strchr(set, *in->at)) return false;
    in->at++;
    return true;
}

/* Fortran writers print exponents with d. */
static bool skip_real(text_input *in) {
    skip_one_of(in, "+-");
    bool digits = skip_digits(in);
    if (skip_one_of(in, ".") && skip_digits(in)) digits = true;
    if (!digits) return false;
    if (!skip_one_of(in, "eEdD")) return true;
    skip_one_of(in, "+-");
    return skip_digits(in);
}

mc_status input_skip_number(text_input *in, const char *what) {
    mc_status status = expect(in, what);
    if (status != MC_OK) return status;
    const char *token = in->at;
    if (skip_real(in) && at_delimiter(in)) return MC_OK;
    in->at = token;
    return input_fail(in, MC_FORMAT, "%s must be a number, not %s", what, input_token(in).text);
}

mc_status input_real(text_input *in, const char *what, double least, double most, double *value) {
    char text[64], *end;
    input_skip_blanks(in);
    const char *token = in->at;
    mc_status status = input_skip_number(in, what);
    if (status != MC_OK) return status;
    size_t length = (size_t)(in->at - token);
    if (length < sizeof text) {
        memcpy(text, token, length);
        text[length] = '\0';
        for (char *at = text; *at != '\0'; at++)
            if (*at == 'd' || *at == 'D') *at = 'e'; /* as Fortran writes an exponent */
        *value = strtod(text, &end);
        if (*end == '\0' && *value >= least && *value <= most) return MC_OK;
    }
    in->at = token;
    return input_fail(in, MC_FORMAT, "%s is out of range: %s is not in %g to %g", what, input_token(in).text,
                      least, most);
}

mc_status input_end_line(text_input *in, const char *after) {
    input_skip_blanks(in);
    if (!input_at_line_end(in)) return input_fail(in, MC_FORMAT, "%s after %s", input_token(in).text, after);
    input_skip_line(in);
    return MC_OK;
}
