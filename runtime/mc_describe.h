/* What there is to plan, as data: for those who make something of every operator without a line about any,
 * such as the bindings of another language (docs/python.md). */
#ifndef MC_DESCRIBE_H
#define MC_DESCRIBE_H

#include "mcrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All element types, the members of mc_plan_config and all operators with their operands, as one JSON object.
   Writes it to TEXT, NUL and all, if it fits into SIZE bytes, and returns its length without the NUL; 0: out
   of memory. TEXT may be NULL where SIZE is 0. */
MC_API size_t mc_describe(char *text, size_t size);

/* An operand of a plan's problem. */
typedef struct mc_operand_info {
    size_t size;
    const char *name; /* that an mc_argument has */
    bool in, out;     /* mc_execute reads it; writes it; both of one that is changed in place */
    bool wanted;      /* mc_execute wants its address */
    bool by_value;    /* mc_execute takes its value: a factor per tensor */
    mc_type type;
    /* Of one product, as it is stored: rows of cols elements, ld from one to the next. Factors are one row */
    int64_t rows, cols, ld;
    int64_t products, stride; /* that have one each, elements from one to the next; 1, 0: all share it */
    int64_t bytes;            /* from its first to its last element */
    unsigned align;           /* its address is a multiple of so many bytes */
} mc_operand_info;

/* Fills INFO, whose size is set, with operand INDEX of PLAN's operator, counted from 0, whether the problem
   has it or not. Strings live as long as the library. MC_USAGE, and no message, where there are fewer. */
MC_API mc_status mc_plan_get_operand(const mc_plan *plan, size_t index, mc_operand_info *info, mc_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
