/* Forms of instructions as tiny kernels with inputs: what a GPU records and the simulator must reproduce. */
#ifndef TESTS_SIM_CONFORMANCE_FORM_H
#define TESTS_SIM_CONFORMANCE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a result compares with the recorded one. */
enum form_compare {
    FORM_EXACT,    /* bit for bit */
    FORM_ANY_NAN,  /* bit for bit, but the ISA does not say which NaN */
    FORM_RELATIVE, /* the ISA bounds the relative error; zeros, infinities and NaNs are exact */
    FORM_LOG2,     /* the ISA bounds the absolute error near 1, the relative one elsewhere ("lg2") */
    FORM_SUM,      /* products summed by a tensor core (sums.h) */
    FORM_DIGEST    /* bit for bit; of many sums, of which one warpgroup's are enough */
};

/* The code has $ for each word of the list `types`, and # for each of `more`: a form each. @N is register N of the
 * letter that holds the first type. Registers of lane values have a letter, and 0 is the result:
 *   %h .b16, %r .b32, %d .b64, %f .f32, %g .f64, %p .pred
 *
 * Scalar forms, whose result is such a letter: three operands, in registers 1 to 3 of every letter (of %p, bit 0).
 * %m is the address of 64 global bytes, %s of 32 shared bytes of the lane's own (`buf`, 1024 bytes, in all); %l the
 * lane.
 *
 * Warpgroup forms, whose result is W (four registers) or w (two), of 128 threads: the same inputs, but %l is the thread,
 * and %s the address of 40 KiB, of which the first 8 hold the threads' a0 to a3 and the others b0 and b1, again and again
 * with other fractions. Accumulators are %d0 and on, as many as wgmma's N in `more` asks for: they begin as c0 to c3 again
 * and again, and what is stored is a digest of them (of four, themselves). %x and %y are .b64, for descriptors.
 *
 * Matrix forms, whose result is the number of registers %e0.. that hold it: %a0 to %a3, %b0, %b1, %c0 to %c3, all
 * .b32. %s is the address of 2048 shared bytes, %l the lane. */
struct form_row {
    const char *code, *types, *more;
    char result;
    const char *inputs; /* what operands a, b, c hold (values.h) */
    enum form_compare compare;
    double bound; /* of FORM_RELATIVE and FORM_LOG2 */
};

struct form {
    const struct form_row *row;
    char type[32], more[32], code[4096];
    uint32_t hash; /* of the code and the kinds of inputs: names the form in a record */
    int blocks;    /* warps that a record holds */
};

enum {
    FORM_TEXT = 24576,      /* characters of an entry, at most */
    FORM_HEADER_TEXT = 64,
    FORM_INPUT_WORDS = 10,  /* 32-bit words of inputs a lane */
    FORM_OUTPUT_BYTES = 16, /* room of a lane's result */
    FORM_SCRATCH_BYTES = 64
};

#define FORM_HEADER(target) ".version 8.7\n.target " target "\n.address_size 64\n"

/* Form number INDEX; false if there is none. */
bool form_get(int index, struct form *form);
bool form_is_matrix(const struct form *form); /* warpgroup forms, too */
/* Warps of a thread block: 4 of a warpgroup form, else 1. */
int form_warps(const struct form *form);
/* Bytes that the results of one warp take, packed: predicates are bits. */
size_t form_warp_bytes(const struct form *form);
/* The entry NAME(in, scratch, out), PTX text without a header. */
void form_entry(const struct form *form, const char *name, char text[FORM_TEXT]);
/* The inputs of BLOCKS warps: FORM_INPUT_WORDS words a lane. Those of fewer warps are the first of those of more. */
void form_inputs(const struct form *form, int blocks, uint32_t *words);

#endif
