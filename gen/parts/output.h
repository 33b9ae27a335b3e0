/* The output of the kernels: sums in registers become elements of C.
 *
 *   s32, s64          C = sum: modulo 2^32, exact
 *   f16, bf16, f32    C = round(act(f32(sum) * scale)), or round(act(fma(f32(sum), scale, bias)))
 *   s8, u8            the same, rounded to the nearest integer and cut off at the type's ends; NaN becomes 0
 *
 * f32() is cvt.rn.f32.s32, of exact sums cvt.rn.f32.s64, * and fma are mul.rn.f32 and fma.rn.f32, act() is nothing or, for relu, max.NaN.f32
 * with +0, round() is one cvt.rn (nothing for f32): the same bits on every GPU, on the simulator and in the CPU reference. docs/output.md
 * has the error bound.
 *
 * Nothing here knows which lane holds which column. A kernel says of each run of neighbouring columns where it
 * lies (out_run), and when scales and biases are loaded: early enough to hide their latency.
 *
 *   out_factors f; out_writer w;
 *   out_declare_factors(&f, ...);                 registers, the tensor's scale, the arrays' addresses
 *   out_load_row_factors(&f, 0, row, 0, in_rows); scale and bias of a row: nothing where none goes by rows
 *   out_load_column_factors(&f, 0, col, 0, 16);   of 16 columns: nothing where none goes by columns
 *   ...
 *   out_declare_writer(&w);
 *   out_c_address(&w, row, col);                  w.at = address of C[row][col]
 *   out_store_run(&w, &f, &(out_run){...});       once a run
 *
 * That is for a dense, row-major C. Where C is none, out_scale, out_pack and out_store are the parts.
 */
#ifndef MC_OUTPUT_H
#define MC_OUTPUT_H

#include "ptx/builder.h"
#include "schema/family.h"

typedef enum out_element { OUT_S32, OUT_F16, OUT_BF16, OUT_F32, OUT_S64, OUT_S8, OUT_U8 } out_element;
typedef enum out_per { OUT_PER_NONE, OUT_PER_TENSOR, OUT_PER_ROW, OUT_PER_COLUMN } out_per;
typedef enum out_act { OUT_ACT_NONE, OUT_ACT_RELU } out_act;

/* For a field's rows: NULL-terminated, in the order of the enums. */
extern const char *const out_element_names[], *const out_per_names[], *const out_act_names[];

typedef struct out_kind {
    out_element element;
    out_per scale, bias;
    bool exact; /* sums are s64, not s32 */
    out_act act;
} out_kind;

/* Bytes of an element of C. */
int out_element_bytes(out_element element);

/* The name of an element's type: "f16". */
const char *out_element_name(out_element element);

/* Whether C holds numbers made of sums, not the sums. */
bool out_is_scaled(out_element element);

/* Whether a scale or bias goes by rows, by columns. */
bool out_by_rows(const out_kind *output);
bool out_by_columns(const out_kind *output);

/* The family's fields that say what C is; those that it lacks are 0. Says what is wrong with OUTPUT. */
typedef struct out_fields {
    int out, scale, bias, sum, act;
} out_fields;

void out_check(const out_kind *output, const out_fields *fields, mc_complaints *complaints);

/* Bytes that C's address is a multiple of, where arrays are promised to be of ALIGN. */
unsigned out_align(out_element element, unsigned align);
/* Adds scale and bias to the contract's parameters; c before them, dense and row-major. */
void out_add_factors(const out_kind *output, mc_contract *c);
void out_add_dense(const out_kind *output, unsigned align, mc_contract *c);

enum {
    OUT_MAX_ROWS = 8,  /* whose factors a thread keeps */
    OUT_MAX_RUN = 32,  /* neighbouring columns */
    OUT_MAX_STORE = 8, /* elements of a store */
};

/* -- Any C -------------------------------------------------------------------------------------------- */

/* What a sum is multiplied by, what is added, and what the result is at least; f32. A term that the output does not want is none. */
typedef struct out_terms {
    mc_reg scale, bias, least;
} out_terms;

/* Elements on their way, none of them where C is the sums. */
typedef struct out_scratch {
    mc_reg real[OUT_MAX_STORE], packed[OUT_MAX_STORE / 2];
} out_scratch;

/* For COUNT elements at a time. */
void out_declare_scratch(out_scratch *s, mc_builder *b, out_element element, int count);
/* REAL = f32(SUM) * scale, + bias, or least where that is more. */
void out_scale(mc_builder *b, const out_kind *output, mc_reg sum, out_terms terms, mc_reg real);
/* The first COUNT of s->real, rounded to elements of C. Returns registers of 32 bits that hold them, 16-bit elements two in each,
   the first in its low half. A single one stands in both halves. COUNT is 1 or even, of 8-bit elements 1 or 2. */
const mc_reg *out_pack(mc_builder *b, out_element element, const out_scratch *s, int count);
/* Where GUARD holds (none: always), one store of COUNT elements, 1 to 16 bytes, at TO (AT(...)): out_pack's words, or the sums. */
void out_store(mc_builder *b, mc_reg guard, mc_operand to, out_element element, int count,
               const mc_reg *words);

/* -- Dense, row-major --------------------------------------------------------------------------------- */

/* Which columns exist. */
typedef struct out_columns {
    mc_operand n;
    bool clamp; /* columns can lie beyond n: factors are read inside, stores are guarded */
    int whole; /* clamp: this many neighbours (from a multiple of it on) lie inside n or beyond it together */
} out_columns;

/* Scales and biases in registers. A register that the output does not want is none. */
typedef struct out_factors {
    mc_builder *b;
    const out_kind *output;
    out_columns columns;
    mc_reg scale, bias; /* the tensor's scale; the address of an array */
    mc_reg least;       /* relu: 0 */
    mc_reg row_scale[OUT_MAX_ROWS], row_bias[OUT_MAX_ROWS];
    mc_reg column_scale[OUT_MAX_RUN], column_bias[OUT_MAX_RUN];
    mc_reg inside;        /* for the caller to set: where it is false, factors of columns are 0, not loaded */
    mc_reg at, col, last; /* scratch */
} out_factors;

/* Registers for the factors of ROWS rows and COLUMNS columns. */
void out_declare_factors(out_factors *f, mc_builder *b, const out_kind *output, out_columns columns, int rows,
                         int column_count);
/* Loads the factors of row ROW + OFFSET into place R; where IN_ROWS (none: always) is false, zeros. */
void out_load_row_factors(out_factors *f, int r, mc_reg row, int offset, mc_reg in_rows);
/* Loads the factors of COUNT columns from COL + OFFSET on, a multiple of COUNT or of 4, into places C and up. */
void out_load_column_factors(out_factors *f, int c, mc_reg col, int offset, int count);

/* Where C lies and who writes it; the caller sets the first part. */
typedef struct out_writer {
    mc_builder *b;
    const out_kind *output;
    out_columns columns;
    mc_operand ldc;
    mc_reg c_array, in_rows; /* in_rows: this thread's row is one of C's; none where that is certain */
    int store;               /* most columns of one store, as C's alignment allows: 1, 2, 4 or 8 */

    mc_reg row; /* for the caller's use */
    mc_reg at, guard, col;
    out_scratch scratch;
} out_writer;

void out_declare_writer(out_writer *w);

/* w->at = address of C[row][col]. */
void out_c_address(out_writer *w, mc_reg row, mc_reg col);
/* w->at moves ROWS rows on. */
void out_advance_c(out_writer *w, int rows);

/* COUNT neighbouring columns of one row, from COL + OFFSET on; w->at is the address of column COL. */
typedef struct out_run {
    mc_reg col;
    int offset, count;
    const mc_reg *sums; /* [count], s32 or, where they are exact, s64 */
    int factor_row;     /* places of the row's and the first column's factors */
    int factor_column;
} out_run;

/* Converts and stores. COUNT is a multiple of w->store, or less and a power of two. */
void out_store_run(out_writer *w, const out_factors *f, const out_run *run);

#endif
