/* The output of the kernels: sums in registers become elements of C.
 *
 *   s32, s64          C = sum: modulo 2^32, exact
 *   f16, bf16, f32    C = round(act(f32(sum) * scale)), or round(act(fma(f32(sum), scale, bias)))
 *   e4m3, e5m2        the same, cut off at the type's greatest finite number; sm_89 and later
 *   s8, u8, s4, u4    the same, rounded to the nearest integer and cut off at the type's ends; NaN becomes 0.
 *                     Two elements of 4 bits share a byte, the even column in its low half
 *
 * Each of the latter may have a residual r, a matrix of C's shape that is added before the activation:
 * act(fma(f32(sum), scale, bias) + r). It may have a factor, beta: then it is fma(r, beta, fma(...)), r may
 * be C itself, and where beta is 0 it is not read.
 *
 * An SpMM's sums may have a second scale, of B's columns, before the bias: fma(f32(sum) * scale, b_scale,
 * bias). Such integers may have a scale of their own and a zero point, as quantise has them: round(act(...) *
 * (1 / c_scale)) + zero, cut off at the end.
 *
 * The sums of floats are f32 already. They need no scale, but for integers: without one x is the sum, or the
 * sum plus the bias.
 *
 * Each of these is one instruction: f32() is cvt.rn.f32.s32, of exact sums cvt.rn.f32.s64; *, fma and + are
 * mul.rn.f32, fma.rn.f32 and add.rn.f32; round() is one cvt.rn, and nothing for f32. act() is a few such
 * instructions (mc_activation.h). So the bits are the same on every GPU, on the simulator and in the CPU
 * reference. docs/output.md has the error bounds.
 *
 * Nothing here knows which lane holds which column. A kernel says of each run of neighbouring columns where
 * it lies (out_run), and when scales and biases are loaded: early enough to hide their latency.
 *
 *   out_factors f; out_writer w;
 *   out_declare_factors(&f, ...);                 registers, the tensor's scale, the arrays' addresses
 *   out_declare_result(&f);                       the activation, C's own scale and zero point
 *   out_load_row_factors(&f, 0, row, 0, in_rows); scale and bias of a row: nothing where none goes by rows
 *   out_load_column_factors(&f, 0, col, 0, 16);   of 16 columns: nothing where none goes by columns
 *   ...
 *   out_declare_writer(&w);
 *   out_c_address(&w, row, col);                  w.at = address of C[row][col]
 *   out_residual_address(&w, row, col);           the same of the residual: nothing where there is none
 *   out_load_residual(&w, 0, col, 0, 16);         of 16 columns: nothing where there is none
 *   out_store_run(&w, &f, &(out_run){...});       once a run
 *
 * All of that is for a dense, row-major C. columns.h has the same for a column-major one. For any other C
 * there are out_scale, out_pack and out_store. */
#ifndef MC_OUTPUT_H
#define MC_OUTPUT_H

#include "mc_element.h"
#include "parts/activation.h"
#include "ptx/builder.h"
#include "schema/family.h"

/* OUT_S32 and so on: the types that C may have, in the order of their words in specs (mc_element.h). */
#define OUT(name, text, bytes, kind, round, place) OUT_##name = place,
#define NO(...)
typedef enum out_element { MC_ELEMENT_LIST(MC_ELEMENT_OUT, ) } out_element;
#undef NO
#undef OUT

typedef enum out_per { OUT_PER_NONE, OUT_PER_TENSOR, OUT_PER_ROW, OUT_PER_COLUMN } out_per;

/* The types that a residual may have. */
typedef enum out_addend { OUT_NO_ADDEND, OUT_ADDS_F16, OUT_ADDS_BF16, OUT_ADDS_F32 } out_addend;

/* The enums' names, for fields: NULL-terminated, in the enums' order. */
extern const char *const out_element_names[], *const out_per_names[], *const out_addend_names[];

typedef struct out_kind {
    out_element element;
    out_per scale, bias;
    bool exact; /* sums are s64, not s32 */
    bool real;  /* sums are f32 already, those of floats; a scale is not needed then */
    out_act act;
    bool b_scale;       /* by columns */
    bool c_scale, zero; /* of all C */
    out_addend residual;
    bool beta; /* a factor of the residual: for a writer of a row-major C that loads what it stores itself */
} out_kind;

/* Bytes of an element of C; 0: two share a byte. */
int out_element_bytes(out_element element);
/* Bits of one, and bytes of COUNT neighbours, an even number of those that share bytes. */
int out_element_bits(out_element element);
static inline int64_t out_bytes(out_element element, int64_t count) {
    return count * out_element_bits(element) / 8;
}
/* The fewest columns that a store takes: 2 where they share a byte. */
static inline int out_least_store(out_element element) { return out_element_bits(element) < 8 ? 2 : 1; }
/* Whether C holds integers that are made of sums. */
bool out_is_integer(out_element element);

/* Bytes of an element of the residual; 0: there is none. */
int out_residual_bytes(const out_kind *output);

/* The name of an element's type: "f16". */
const char *out_element_name(out_element element);

/* Whether C holds numbers made of sums, not the sums. */
bool out_is_scaled(out_element element);

/* Whether that is brought into a narrower type than f32. */
bool out_is_rounded(out_element element);

/* An activation in a kernel's name: "_" and "relu", or nothing. */
static inline const char *out_act_link(const out_kind *output) { return output->act != ACT_NONE ? "_" : ""; }
static inline const char *out_act_text(const out_kind *output) {
    return output->act != ACT_NONE ? out_act_names[output->act] : "";
}

/* The least architecture that has the instruction for it: 89 of sm_89. */
int out_least_sm(out_element element);

/* Whether a scale or bias goes by rows, by columns. */
bool out_by_rows(const out_kind *output);
bool out_by_columns(const out_kind *output);

/* Which of the family's fields say what C is; 0 for one that it lacks. out_check complains of what is wrong
   with OUTPUT, and of what ARCH cannot convert to. */
typedef struct out_fields {
    int out, scale, bias, sum, act, b_scale, c_scale, zero, residual;
    bool pairs; /* C may have elements of 4 bits */
    int beta;
} out_fields;

void out_check(const out_kind *output, const out_fields *fields, const mc_arch *arch,
               mc_complaints *complaints);

/* The multiple of bytes that C's address must be, where arrays are promised to be at multiples of ALIGN. */
unsigned out_align(out_element element, unsigned align);
/* What the contract says of a dense C, row-major or, with COLUMNS, column-major. */
enum { OUT_TEXT = 200 };
void out_describe(const out_kind *output, bool columns, char text[OUT_TEXT]);
/* Add parameters to the contract: scales, bias and zero point; a dense c before them, DOC being
   out_describe's, which stays. */
void out_add_factors(const out_kind *output, mc_contract *c);
/* Adds the residual, whose address is a multiple of ALIGN and of its elements' size, if there is one. It lies
   as C does. */
void out_add_residual(const out_kind *output, bool columns, unsigned align, mc_contract *c);
void out_add_dense(const out_kind *output, const char *doc, unsigned align, mc_contract *c);

enum {
    OUT_MAX_ROWS = 8,   /* whose factors a thread keeps */
    OUT_MAX_RUN = 32,   /* neighbouring columns */
    OUT_MAX_STORE = 16, /* elements of a store */
};

/* -- Any C -------------------------------------------------------------------------------------------- */

/* What a sum is multiplied by and what is added to it, in f32; the activation; what its result is multiplied
   by. A term that the output does not want is none. */
typedef struct out_terms {
    mc_reg scale, b_scale, bias, residual;
    mc_reg beta;           /* the residual's factor */
    const activation *act; /* NULL: none */
    mc_reg by;
} out_terms;

/* A zero point, and the integers that reach the type's ends once it is added. */
typedef struct out_point {
    mc_reg zero, low, high;
} out_point;

/* Sets P to the zero point that the kernel was given: the nearest integer that the type has. */
void out_declare_point(mc_builder *b, out_element element, out_point *p);

/* Scratch for elements; there is none where C is the sums. */
typedef struct out_scratch {
    mc_reg real[OUT_MAX_STORE], packed[OUT_MAX_STORE];
    mc_reg half[2]; /* of 16 bits: two floats of 8 bits each */
} out_scratch;

/* Declares scratch for COUNT elements at a time. */
void out_declare_scratch(out_scratch *s, mc_builder *b, out_element element, int count);
/* Sets REAL, which may be SUM, to what TERMS make of f32(SUM). */
void out_scale(mc_builder *b, const out_kind *output, mc_reg sum, out_terms terms, mc_reg real);
/* Rounds the first COUNT of s->real to elements of C. Returns the 32-bit registers that hold them. 16-bit
   elements stand two in a register, the first in its low half; a single one stands in both halves. Four
   8-bit ones or eight of 4 bits stand in a register, fewer in its low bytes; POINT (NULL: none) is added to
   them. COUNT is 1, 2, 4, 8 or 16. */
const mc_reg *out_pack(mc_builder *b, out_element element, const out_scratch *s, const out_point *point,
                       int count);
/* Stores COUNT elements, 1 to 16 bytes, at TO (AT(...)), in one store, where GUARD holds (none: always).
   WORDS are out_pack's, or the sums. */
void out_store(mc_builder *b, mc_reg guard, mc_operand to, out_element element, int count,
               const mc_reg *words);

/* -- Dense, row-major --------------------------------------------------------------------------------- */

/* Which columns C has. */
typedef struct out_columns {
    mc_operand n;
    bool clamp; /* columns can lie beyond n: factors are read inside, stores are guarded */
    /* with clamp, columns are inside n or outside in groups of this many, from a multiple of it on */
    int whole;
} out_columns;

/* Scales and biases in registers. A register that the output does not want is none. */
typedef struct out_factors {
    mc_builder *b;
    const out_kind *output;
    out_columns columns;
    mc_reg scale, bias; /* scale: the tensor's scale, or an array's address; bias: an array's address */
    mc_reg b_scale;     /* an array's address */
    activation act;
    mc_reg by;       /* 1 / c_scale */
    out_point point; /* none: no zero point */
    mc_reg row_scale[OUT_MAX_ROWS], row_bias[OUT_MAX_ROWS];
    mc_reg column_scale[OUT_MAX_RUN], column_b_scale[OUT_MAX_RUN], column_bias[OUT_MAX_RUN];
    /* for the caller to set: where it is false, factors of columns are 0 and not loaded */
    mc_reg inside;
    mc_reg at, col, last; /* scratch */
} out_factors;

/* Declares registers for the factors of ROWS rows and COLUMN_COUNT columns. */
void out_declare_factors(out_factors *f, mc_builder *b, const out_kind *output, out_columns columns, int rows,
                         int column_count);
/* Sets what follows the factors: the activation's constants, C's own scale and zero point. These may come
   behind the loop, where registers are few in it. */
void out_declare_result(out_factors *f);
/* Loads the factors of row ROW + OFFSET as the R-th row's; zeros where IN_ROWS is false (none: always
   loads). */
void out_load_row_factors(out_factors *f, int r, mc_reg row, int offset, mc_reg in_rows);
/* Loads the factors of COUNT columns as the C-th column's and on: from column COL + OFFSET on, a multiple of
   COUNT or of 4. */
void out_load_column_factors(out_factors *f, int c, mc_reg col, int offset, int count);

/* A matrix of C's shape whose elements are added. The caller sets the first part. A run's elements stand in
   WORD as they were loaded: two of 16 bits to a register where a load takes more than one. */
typedef struct out_residual {
    mc_reg array;
    mc_operand ld;
    int load;  /* columns of one load, as its alignment allows: a power of two that divides all runs */
    int count; /* elements that are held at a time, at most OUT_MAX_RUN */

    mc_reg at, word[OUT_MAX_RUN];
    mc_reg row, col, last, load_at; /* scratch */
    mc_reg real;                    /* scratch: an element in f32 */
    /* Its factor, the factor's bits without the sign, and whether a load is wanted; none without a beta */
    mc_reg beta, beta_bits, wanted;
} out_residual;

/* Where C lies and who writes it. The caller sets the first part. */
typedef struct out_writer {
    mc_builder *b;
    const out_kind *output;
    out_columns columns;
    mc_operand ldc;
    /* in_rows: whether this thread's row is one of C's; none where that is certain */
    mc_reg c_array, in_rows;
    /* columns of one store at most, as C's alignment allows: 1 (not of 4 bits), 2, 4, 8 or 16 */
    int store;
    out_residual residual; /* if the output has one */

    mc_reg row; /* for the caller's use */
    mc_reg at, guard, col;
    mc_reg pair, both; /* scratch, of elements that share bytes; ldc is half of C's then */
    out_scratch scratch;
} out_writer;

void out_declare_writer(out_writer *w);

/* IN_ROWS says from here on whether the row is one of C's; there was such a predicate before. */
void out_guard_rows(out_writer *w, mc_reg in_rows);
/* Sets w->at to the address of C[row][col]. */
void out_c_address(out_writer *w, mc_reg row, mc_reg col);
/* Sets w->residual.at to the address of the residual's element [row][col], or of the row's first one where
   columns are clamped; of row 0 where the row is none of C's. */
void out_residual_address(out_writer *w, mc_reg row, mc_reg col);
/* Move w->at, and w->residual.at, ROWS rows on. */
void out_advance_c(out_writer *w, int rows);
void out_advance_residual(out_writer *w, int rows);

/* A run: COUNT neighbouring columns of one row, from column COL + OFFSET on. w->at is the address of column
   COL. */
typedef struct out_run {
    mc_reg col;
    int offset, count;
    const mc_reg *sums; /* [count]: s32 or, where they are exact, s64 */
    /* factor_row, factor_column: which of the loaded factors are the row's and the first column's */
    int factor_row;
    int factor_column;
    int residual; /* which of the loaded elements of the residual is the first one's */
} out_run;

/* Loads COUNT neighbouring elements of the residual's row, from column COL + OFFSET on, as the FIRST and on.
   out_residual_address has been given COL. Nothing is guarded, since guarded loads make ptxas spill: for what
   is not stored some other element is read. So the residual must not be C. With a beta loads are guarded:
   what is not stored is not read, and nothing where beta is 0. */
void out_load_residual(out_writer *w, int first, mc_reg col, int offset, int count);

/* The terms of an element, by which of the loaded factors are its row's and its column's; all but the
   residual. And the I-th loaded element of the residual in f32; none: there is no residual. */
out_terms out_terms_of(const out_factors *f, int row, int column);
mc_reg out_residual_of(const out_writer *w, int i);

/* Columns I .. I + COUNT - 1 of RUN as elements of C, in the words that out_store takes; for those who store
   them elsewhere. */
const mc_reg *out_words(const out_writer *w, const out_factors *f, const out_run *run, int i, int count);
/* Converts and stores a run. COUNT is a multiple of w->store, or less than that and a power of two. */
void out_store_run(out_writer *w, const out_factors *f, const out_run *run);

#endif
