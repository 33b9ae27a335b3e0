/* The family `values`: values of nonzero vectors, as applications have them on the device, become the packed
 * values that another kernel reads. No operator of the runtime: matrices launch it for their packed arrays.
 *
 *   values.c    schema, hints, the family
 *   plan.c      the plan, and what fields have against each other
 *   contract.c  what a launch takes, facts, names
 *   kernel.c    the kernel: slots, elements, words
 *   piece.c     one element becomes a piece
 *
 * Packed values are groups of slots, all laid out alike. A value is one piece or several (its digits), and a
 * group is a row of pieces, its period. A thread has one word of the period, in `hold` groups. It is told by
 * the array `pieces` which slot, row and digit each piece of the word is, and by the array `slots` which
 * vector a slot holds. So the kernel knows no format. */
#ifndef MC_VALUES_FAMILY_H
#define MC_VALUES_FAMILY_H

#include "parts/pieces.h"
#include "parts/emit.h"
#include "schema/family.h"
#include "parts/fragment.h"
#include "parts/integer/integer.h"
#include "parts/side.h"

extern const mc_family mc_family_values;

typedef enum values_unit { VALUES_ELEMENT, VALUES_ROUNDED, VALUES_BYTE, VALUES_HALF } values_unit;
typedef enum values_from { VALUES_VECTORS, VALUES_ROWS, VALUES_COLUMNS } values_from;

enum {
    VALUES_THREADS = 256,
    VALUES_MAX_PIECES = 8, /* of a word: halves of bytes */
    VALUES_MAX_HOLD = 8,
    VALUES_MAX_HELD = 32, /* pieces that a thread holds */
};

/* The fields, in the order of the schema. */
enum { F_LHS = FIELD_ARCH + 1, F_UNIT, F_DIGITS, F_FROM, F_VEC, F_GROUP, F_HOLD };

typedef struct values_plan {
    const char *type; /* of the source's elements */
    digit_side side;  /* of integers */
    int bits;         /* of an element in memory */
    values_unit unit;
    digit_mode mode;
    digit_set digits; /* of floats one, of all bits */
    int piece_bits;
    values_from from;
    int vec, group, hold;
    int period; /* words */
    int wide;   /* words of a period that a thread block takes, one a thread */
    int beside; /* groups that it takes at once */
} values_plan;

static inline int values_pieces(const values_plan *plan) { return 8 * WORD / plan->piece_bits; }
static inline bool values_is_integer(const values_plan *plan) { return plan->side.name != NULL; }
/* Groups of a thread block. */
static inline int values_groups(const values_plan *plan) { return plan->beside * plan->hold; }
/* Words that say where a slot's vector lies: its number, or its first row and its column. */
static inline int values_slot_words(const values_plan *plan) { return plan->from == VALUES_VECTORS ? 1 : 2; }

void values_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
void values_contract(const void *plan, mc_contract *contract);
void values_facts(const void *plan, mc_facts *facts);
void values_entry_name(const void *plan, char name[MC_MAX_ENTRY]);
const char *values_computes(const void *plan);
void values_emit(const void *plan, mc_builder *b);

/* -- piece.c ------------------------------------------------------------------------------------------ */

/* What makes a digit of a value is a thread's own: (value + add) >> shift, without what is above. */
typedef struct values_digit {
    mc_reg add, shift; /* none: 0 */
} values_digit;

/* ENTRY: what `pieces` says of a piece. */
values_digit values_prepare_digit(const values_plan *plan, mc_builder *b, mc_reg entry);
/* Makes a piece of ELEMENT, an integer's value or a float's bits, in its low bits. */
void values_make_piece(const values_plan *plan, mc_builder *b, const values_digit *digit, mc_reg element);

#endif
