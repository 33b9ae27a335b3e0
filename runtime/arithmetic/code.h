/* How values lie in packed arrays: each as one piece or several, which are elements of a type of their own.
   Formats say where pieces lie; what they are is the arithmetic's business. The pieces of an integer are its
   digits (integer/digit.h), the low one first. A float is one piece, its bits. */
#ifndef MCRT_CODE_H
#define MCRT_CODE_H

#include "matrix/vsparse.h"

/* In which of the ways that its arithmetic knows a value becomes pieces: of integers an mc_digits. 0 is the
   usual way, which all values of all types have. */
typedef unsigned mc_coding;

enum { CODE_PIECES = 4 }; /* of a value, at most */

typedef struct value_code {
    mc_type type; /* of the values */
    mc_coding coding;
    mc_type unit; /* pieces lie one after another as its elements do: of a float its own type */
    int pieces;
    bool ones; /* packed values have a row more, 1 for each vector */
} value_code;

/* What an arithmetic implements: what the functions below do. */
typedef struct code_kind {
    mc_coding (*of_kernel)(const mc_kernel *kernel);
    mc_type (*unit)(mc_type type, mc_type digits);
    mc_status (*make)(value_code *code, mc_diag *diag); /* pieces and ones, of the rest */
    void (*split)(const value_code *code, int64_t value, int64_t pieces[CODE_PIECES]);
    int64_t (*join)(const value_code *code, const int64_t pieces[CODE_PIECES]);
    int64_t (*most)(const value_code *code);
    mc_status (*check)(const value_code *code, const mc_vsparse *a, mc_diag *diag);
} code_kind;

/* The unit for values of TYPE in a format that holds integers as digits, elements of DIGITS, and floats as
   they are. A format of integers alone takes DIGITS itself. */
mc_type code_unit(mc_type type, mc_type digits);
/* MC_CANNOT where values of TYPE have no such pieces, MC_USAGE where CODING is none. */
mc_status code_make(mc_type type, mc_coding coding, mc_type unit, value_code *code, mc_diag *diag);
/* The pieces of VALUE, an element as element_get has it, that are stored as elements of the unit; and the
   element that has such pieces, as they are read back. It is in the type's range if code_split made them. */
void code_split(const value_code *code, int64_t value, int64_t pieces[CODE_PIECES]);
int64_t code_join(const value_code *code, const int64_t pieces[CODE_PIECES]);
/* The greatest value that has pieces. The least one of the type always has some. */
int64_t code_most(const value_code *code);
/* MC_CANNOT names the first value of A beyond that. */
mc_status code_check(const value_code *code, const mc_vsparse *a, mc_diag *diag);

/* Rows of a stride's values: VEC for each piece, and the ones. */
static inline int code_rows(const value_code *code, int vec) { return code->pieces * vec + code->ones; }

/* The coding that KERNEL's fields say for the values of its lhs. */
mc_coding code_of_kernel(const mc_kernel *kernel);

#endif
