/* The command of an operator, "mcrun NAME SPEC... [MATRIX]". Its options and operands are made of the
 * operator's row (ops/operator.h).
 *
 *   product.c   the command, and what is done with the result
 *   inputs.c    sizes, leading dimensions and dense operands: from options, files, the kernel, or at random
 */
#ifndef MCRUN_PRODUCT_H
#define MCRUN_PRODUCT_H

#include "session.h"

enum { PRODUCT_ALIASES = 2 };

/* What the options of an operator's command say: by member, or by index in the operator's list. 0 or NULL:
   nothing. */
typedef struct product_options {
    session_options session;
    int64_t members[MEMBERS]; /* sizes and leading dimensions */
    const char *files[MAX_OPERANDS];
    int majors[MAX_OPERANDS];              /* how a file lies: mc_major, from 1 */
    const char *other_files[MAX_OPERANDS]; /* to write further outputs to */
    int64_t aliases[PRODUCT_ALIASES];      /* sizes by the operator's own names, in its order */
    int format;                            /* of a SAMPLED output: SAMPLED_*; 0: not given */
    bool force;
} product_options;

typedef struct product_session {
    session base;
    mc_dense given[MAX_OPERANDS]; /* files, as they were read */
} product_session;

/* For the spec's default variant: what is known before the sparse matrix is as a variant wants it. */
mc_status inputs_prepare(product_session *s, const mc_kernel *kernel, mc_diag *diag);
/* MC_CANNOT where KERNEL does not take a leading dimension because it is too long. */
mc_status inputs_check_limits(const product_session *s, const mc_kernel *kernel, mc_diag *diag);
/* The dense operands, once the matrix is. */
mc_status inputs_make(product_session *s, mc_diag *diag);
/* Scales and the like as KERNEL wants them, once the matrix is. */
mc_status inputs_make_factors(product_session *s, const mc_kernel *kernel, mc_diag *diag);
/* Fills LIST with where values of the problem came from, of the sparse matrix first; returns how many. */
size_t inputs_sources(const session *s, value_source *list);
void inputs_free(product_session *s);

/* The command of the operator at INDEX of the list; NULL: there is none. It is valid until the next call. It
   has no `run`: product_run runs it. */
const cmd *product_command(size_t index);
int product_run(const cmd *command, int argc, char **argv);

#endif
