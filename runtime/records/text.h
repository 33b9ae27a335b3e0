/* What lines of records are written with and read by (line.c), and what else goes by all members of a problem
   (problem.c). */
#ifndef MCRT_RECORD_TEXT_H
#define MCRT_RECORD_TEXT_H

#include <jansson.h>
#include "problem/problem.h"
#include "text/text.h"

/* -- JSON (json.c) */

/* VALUE in the fewest digits that read back as VALUE, whatever the locale; 0 where it is not finite. */
void json_add_real(mc_text *text, double value);
/* STRING with quotes. Bytes that are no UTF-8 become '?'. */
void json_add_string(mc_text *text, const char *string);

/* Jansson's json_loadb, with names once, and whatever the locale. ERROR may be NULL. */
json_t *json_read(const char *text, size_t size, json_error_t *error);
/* Member NAME of OBJECT: MC_FORMAT names what is missing, or of another type, or out of LEAST to MOST. */
mc_status json_take_integer(const json_t *object, const char *name, int64_t least, int64_t most,
                            int64_t *value, mc_diag *diag);
/* Finite, not negative. */
mc_status json_take_real(const json_t *object, const char *name, double *value, mc_diag *diag);
/* The string stays OBJECT's. */
mc_status json_take_string(const json_t *object, const char *name, const char **value, mc_diag *diag);

/* -- Problems (problem.c) */

/* A JSON object. Members that hardly any problem uses are left out at their usual value. Equal texts, equal
   problems. */
void problem_print(const plan_problem *problem, mc_text *text);
mc_status problem_parse(const json_t *object, plan_problem *problem, mc_diag *diag);
/* For people: "spmm s8 x s8 -> f16, vec 8, m 512 n 256 k 64, 1228 vectors". */
enum { PROBLEM_TITLE = 160 };
void problem_title(const plan_problem *problem, char title[PROBLEM_TITLE]);
bool problem_same(const plan_problem *a, const plan_problem *b);
uint64_t problem_hash(const plan_problem *problem);

#endif
