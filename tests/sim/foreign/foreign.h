/* Kernels that nvcc compiled, with the inputs of one launch each and a reference in C. Every kernel has the parameters
 * (const void *a, const void *b, void *out, unsigned n). The simulator runs them (test_foreign.c), and so does a GPU
 * (foreign_gpu.c). */
#ifndef TESTS_SIM_FOREIGN_H
#define TESTS_SIM_FOREIGN_H

#include <stddef.h>

/* What random elements of an input look like. */
enum foreign_input {
    FOREIGN_WORDS,  /* of 32 bits */
    FOREIGN_FLOATS, /* between -2 and 2, multiples of 1/64 */
    FOREIGN_HALVES  /* the same, as f16, multiples of 1/16 */
};

/* How results are compared. */
enum foreign_output {
    FOREIGN_EXACT, /* bytes */
    FOREIGN_F32,   /* within TOLERANCE of the reference's magnitude, or of 1 */
    FOREIGN_F64,
    FOREIGN_F16
};

typedef void foreign_reference(const void *a, const void *b, void *out, unsigned n);

struct foreign_case {
    const char *name; /* of the file */
    foreign_reference *reference;
    unsigned grid[3], block[3];
    unsigned n;
    enum foreign_input a, b;
    size_t a_bytes, b_bytes, out_bytes;
    enum foreign_output output;
    double tolerance;
};

extern const struct foreign_case foreign_cases[];
extern const int foreign_count;

/* Fills BYTES by a seed. */
void foreign_fill(void *to, size_t bytes, enum foreign_input kind, unsigned long long seed);
/* Where GOT differs from WANT, as text in MESSAGE (of SIZE bytes); 0 if it does not. */
int foreign_differs(const struct foreign_case *c, const void *got, const void *want, char *message,
                    size_t size);
/* The text of FOLDER/NAME.ptx; NULL if it cannot be read. The caller frees it. */
char *foreign_text(const char *folder, const char *name);

#endif
