/* The output of the SpMM kernels: sums in registers become elements of C.
 *
 *   s32, s64          C = sum: modulo 2^32, exact
 *   f16, bf16, f32    C = round(f32(sum) * scale), or round(fma(f32(sum), scale, bias))
 *
 * f32() is cvt.rn.f32.s32, of exact sums cvt.rn.f32.s64, * and fma are mul.rn.f32 and fma.rn.f32, round() is one cvt.rn (nothing for f32): the same
 * bits on every GPU, on the simulator and in the CPU reference. docs/output.md has the error bound.
 *
 * Nothing here knows which lane holds which column. A kernel says of each run of neighbouring columns where it
 * lies (spmm_run), and when scales and biases are loaded: early enough to hide their latency.
 *
 *   spmm_factors f; spmm_writer w;
 *   spmm_declare_factors(&f, ...);                 registers, the tensor's scale, the arrays' addresses
 *   spmm_load_row_factors(&f, 0, row, 0, in_rows); scale and bias of a row: nothing where none goes by rows
 *   spmm_load_column_factors(&f, 0, col, 0, 16);   of 16 columns: nothing where none goes by columns
 *   ...
 *   spmm_declare_writer(&w);
 *   spmm_emit_c_address(&w, row, col);             w.at = address of C[row][col]
 *   spmm_store_run(&w, &f, &(spmm_run){...});      once a run
 */
#ifndef MC_SPMM_OUTPUT_H
#define MC_SPMM_OUTPUT_H

#include "builder.h"

/* In the order of the spec's names. */
typedef enum spmm_element { SPMM_S32, SPMM_F16, SPMM_BF16, SPMM_F32, SPMM_S64 } spmm_element;
typedef enum spmm_per { SPMM_PER_NONE, SPMM_PER_TENSOR, SPMM_PER_ROW, SPMM_PER_COLUMN } spmm_per;

typedef struct spmm_output {
    spmm_element element;
    spmm_per scale, bias;
    bool exact; /* sums are s64, not s32 */
} spmm_output;

/* Bytes of an element of C. */
int spmm_element_bytes(spmm_element element);

/* The name of an element's type: "f16". */
const char *spmm_element_name(spmm_element element);

/* Whether C holds numbers made of sums, not the sums. */
bool spmm_is_scaled(spmm_element element);

/* Whether a scale or bias goes by rows, by columns. */
bool spmm_by_rows(const spmm_output *output);
bool spmm_by_columns(const spmm_output *output);

/* Adds c, scale and bias to the contract's parameters. ALIGN: bytes that C's address is promised to be a multiple of. */
void spmm_output_params(const spmm_output *output, unsigned align, mc_contract *c);

enum {
    SPMM_MAX_ROWS = 8, /* whose factors a thread keeps */
    SPMM_MAX_RUN = 32, /* neighbouring columns */
};

/* Which columns exist. */
typedef struct spmm_columns {
    mc_operand n;
    bool clamp; /* columns can lie beyond n: factors are read inside, stores are guarded */
    int whole; /* clamp: this many neighbours (from a multiple of it on) lie inside n or beyond it together */
} spmm_columns;

/* Scales and biases in registers. A register that the output does not want is none. */
typedef struct spmm_factors {
    mc_builder *b;
    const spmm_output *output;
    spmm_columns columns;
    mc_reg scale, bias; /* the tensor's scale; the address of an array */
    mc_reg row_scale[SPMM_MAX_ROWS], row_bias[SPMM_MAX_ROWS];
    mc_reg column_scale[SPMM_MAX_RUN], column_bias[SPMM_MAX_RUN];
    mc_reg inside;        /* for the caller to set: where it is false, factors of columns are 0, not loaded */
    mc_reg at, col, last; /* scratch */
} spmm_factors;

/* Registers for the factors of ROWS rows and COLUMNS columns. */
void spmm_declare_factors(spmm_factors *f, mc_builder *b, const spmm_output *output, spmm_columns columns,
                          int rows, int column_count);
/* Loads the factors of row ROW + OFFSET into place R; where IN_ROWS (none: always) is false, zeros. */
void spmm_load_row_factors(spmm_factors *f, int r, mc_reg row, int offset, mc_reg in_rows);
/* Loads the factors of COUNT columns from COL + OFFSET on, a multiple of COUNT or of 4, into places C and up. */
void spmm_load_column_factors(spmm_factors *f, int c, mc_reg col, int offset, int count);

/* Where C lies and who writes it; the caller sets the first part. */
typedef struct spmm_writer {
    mc_builder *b;
    const spmm_output *output;
    spmm_columns columns;
    mc_operand ldc;
    mc_reg c_array, in_rows; /* in_rows: this thread's row is one of C's; none where that is certain */
    int store;               /* most columns of one store, as C's alignment allows: 1, 2, 4 or 8 */

    mc_reg row; /* for the caller's use */
    mc_reg at, guard, col;
    mc_reg real[SPMM_MAX_RUN / 2], packed[SPMM_MAX_RUN / 4];
} spmm_writer;

void spmm_declare_writer(spmm_writer *w);

/* w->at = address of C[row][col]. */
void spmm_emit_c_address(spmm_writer *w, mc_reg row, mc_reg col);
/* w->at moves ROWS rows on. */
void spmm_advance_c(spmm_writer *w, int rows);

/* COUNT neighbouring columns of one row, from COL + OFFSET on; w->at is the address of column COL. */
typedef struct spmm_run {
    mc_reg col;
    int offset, count;
    const mc_reg *sums; /* [count], s32 or, where they are exact, s64 */
    int factor_row;     /* places of the row's and the first column's factors */
    int factor_column;
} spmm_run;

/* Converts and stores. COUNT is a multiple of w->store, or less and a power of two. */
void spmm_store_run(spmm_writer *w, const spmm_factors *f, const spmm_run *run);

#endif
