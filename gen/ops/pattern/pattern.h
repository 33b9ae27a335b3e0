/* The family `pattern`: where a matrix has nonzero vectors, out of what applications have in device memory.
 * No operator of the runtime: matrices made from device memory launch it (docs/matrices.md).
 *
 *   pattern.c   schema, hints, the family
 *   plan.c      the plan
 *   contract.c  what each step's launch takes
 *   find.c      step "find": which columns of a dense matrix have a vector, a bit each
 *   list.c      step "list": bits become columns
 *   columns.c   step "columns": columns are checked and copied
 *   slots.c     steps "number" and "places": what slots hold, by number, or by row and column
 *
 * A step tells the host what is wrong, or how much there is, by a number for each segment of a row; the host
 * takes the first one, or adds them up. */
#ifndef MC_PATTERN_FAMILY_H
#define MC_PATTERN_FAMILY_H

#include "parts/segments.h"

extern const mc_family mc_family_pattern;

typedef enum pattern_step {
    PATTERN_FIND,
    PATTERN_LIST,
    PATTERN_COLUMNS,
    PATTERN_NUMBER,
    PATTERN_PLACES
} pattern_step;

/* The fields, in the order of the schema. */
enum { F_STEP = FIELD_ARCH + 1, F_ELEMENT, F_RANGE, F_MAJOR, F_VEC, F_HOLD };

/* Elements of a dense matrix: their bits in memory, and those of which one is set where they are not 0. */
typedef struct pattern_element {
    int bits;
    uint32_t counted;
} pattern_element;

extern const pattern_element pattern_elements[];
extern const char *const pattern_element_names[]; /* NULL-terminated */

enum {
    PATTERN_THREADS = 256,     /* of steps that take slots */
    PATTERN_NONE = 0x7fffffff, /* of a segment in which nothing is wrong */
    PATTERN_MAX_HELD = 32,     /* elements that a lane holds */
};

typedef struct pattern_plan {
    pattern_step step;
    const pattern_element *element;
    bool ranged;     /* elements may be out of range */
    bool by_columns; /* the dense matrix is column-major */
    int vec, hold;
} pattern_plan;

void pattern_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
void pattern_contract(const void *plan, mc_contract *contract);
void pattern_facts(const void *plan, mc_facts *facts);
void pattern_entry_name(const void *plan, char name[MC_MAX_ENTRY]);
const char *pattern_computes(const void *plan);

void pattern_emit_find(const pattern_plan *plan, mc_builder *b);
void pattern_emit_list(mc_builder *b);
void pattern_emit_columns(const pattern_plan *plan, mc_builder *b);
void pattern_emit_number(mc_builder *b);
void pattern_emit_places(const pattern_plan *plan, mc_builder *b);

#endif
