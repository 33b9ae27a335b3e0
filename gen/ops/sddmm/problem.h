/* SDDMM: what all solvers have of the problem and its operands. A solver's plan begins with it. */
#ifndef MC_SDDMM_PROBLEM_H
#define MC_SDDMM_PROBLEM_H

#include "ops/sddmm/arithmetic.h"
#include "parts/batch.h"
#include "parts/output.h"

/* In the order of the spec's names. */
typedef enum sddmm_order { SDDMM_BCRS, SDDMM_SRBCRS16, SDDMM_SRBCRS32 } sddmm_order;
typedef enum sddmm_layout { SDDMM_COLUMNS, SDDMM_ROWS } sddmm_layout;
typedef enum sddmm_mask { SDDMM_PATTERN, SDDMM_VALUES } sddmm_mask;

/* What any kernel of the family computes. */
#define SDDMM_COMPUTES(b, sums)                                                                              \
    "C = A[m,k] B[k,n] where a mask of vec x 1 nonzero vectors is: A row-major, B " b "; " sums

/* The names of C's types and of sddmm_order, for fields: NULL-terminated. */
extern const char *const sddmm_out_names[], *const sddmm_order_names[];

/* The arrays that each product of a batch has for itself. */
enum { SDDMM_BATCH_ARRAYS = 3, SDDMM_TEXT = 96 };

typedef struct sddmm_problem {
    sddmm_arithmetic arithmetic;
    out_kind output;
    sddmm_mask mask;
    sddmm_order order;
    sddmm_layout layout;
    int vec, warps, align;
    int store; /* rows of C that one store takes: 1 or 2 */
    family_overlap overlap;
    bool batch; /* the grid's z counts products, whose operands lie strides apart (parts/batch.h) */
    int64_t m, n, k, lda, ldb;
    mc_batch_array batch_arrays[SDDMM_BATCH_ARRAYS];
    char c_doc[SDDMM_TEXT]; /* what the contract says of C */
} sddmm_problem;

/* Slots of SR-BCRS's strides; 0 in BCRS. */
static inline int sddmm_stride(const sddmm_problem *p) {
    static const int strides[] = {[SDDMM_BCRS] = 0, [SDDMM_SRBCRS16] = 16, [SDDMM_SRBCRS32] = 32};
    return strides[p->order];
}

/* Octets of a row block: rows of A that an mma has room for. A row block of 16 rows has two, which take the
   same operand of B. */
enum { SDDMM_MAX_OCTETS = 2 };
static inline int sddmm_octets(const sddmm_problem *p) {
    return p->vec > SDDMM_MMA_ROWS ? p->vec / SDDMM_MMA_ROWS : 1;
}
/* Of a vector a lane has rows 2 t and 2 t + 1 of each octet; vectors of one row have no second one. Rows of a
   vector that a lane has, and which one row ROW of these is, counted from row 2 t. */
enum { SDDMM_MAX_LANE_ROWS = 2 * SDDMM_MAX_OCTETS };
static inline int sddmm_lane_rows(const sddmm_problem *p) { return p->vec == 1 ? 1 : 2 * sddmm_octets(p); }
static inline int sddmm_lane_row(int row) { return row / 2 * SDDMM_MMA_ROWS + row % 2; }

/* Derives the problem from a point, and complains of what no solver can do. */
sddmm_problem sddmm_problem_of(const int64_t *point, mc_complaints *complaints);

/* A line of a kernel's header. */
const char *sddmm_computes(const void *plan);
/* The kernel's name up to what the solver adds. Returns its length. */
size_t sddmm_entry_name(const sddmm_problem *p, char name[MC_MAX_ENTRY]);
/* Appends FORMAT to a name of LENGTH characters. Returns the new length. */
size_t sddmm_name_add(char name[MC_MAX_ENTRY], size_t length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add to the contract what follows the packed arrays: A, B and C, of which rows of A and B must be multiples
   of so many elements (0: what their type wants); and k, lda, ldb. Then, behind all parameters, the rest. */
void sddmm_add_matrices(const sddmm_problem *p, unsigned a_multiple, unsigned b_multiple, mc_contract *c);
/* The same without B itself, which is then a tensor map, the last parameter: so the others lie side by side
   in constant memory. */
void sddmm_add_matrices_but_b(const sddmm_problem *p, unsigned a_multiple, unsigned b_multiple,
                              mc_contract *c);
void sddmm_add_map(const sddmm_problem *p, const mc_map_param *map, mc_contract *c);
void sddmm_add_shapes(const sddmm_problem *p, mc_contract *c);
void sddmm_end_contract(const sddmm_problem *p, mc_contract *c);

/* Begins the batch, if the kernel has one. */
void sddmm_begin(const sddmm_problem *p, mc_builder *b);

#endif
