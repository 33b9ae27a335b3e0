/* What the commands that run kernels share: a device, a spec and its sparse matrix, variants, and a result
   that is compared with the exact one before anything is said of it. */
#ifndef MCRUN_SESSION_H
#define MCRUN_SESSION_H

#include "context/context.h"
#include "factors.h"
#include "report.h"

enum { VARIANTS_ALL = 1, VARIANTS_BEST, VARIANTS_TUNED };

/* First member of a command's struct of options. */
typedef struct session_options {
    problem_options problem;
    const char *ptx_file, *out_file, *device, *records;
    int variants;   /* VARIANTS_*; 0: one */
    int64_t repeat; /* launches of a kernel behind its first one, which must give the same bytes */
    bool specialise, bench, report, json, no_cache;
} session_options;

/* Their rows, a table of a command. */
enum { SESSION_OPTION_COUNT = 11 };
extern const cmd_option session_option_table[SESSION_OPTION_COUNT];

typedef struct session_calls session_calls;

/* First member of what a command holds. */
typedef struct session {
    const mc_operator *op;
    const session_calls *calls;
    const session_options *options;
    problem problem;
    mc_context *context;
    mc_device *device; /* the context's */
    mc_module *module; /* of the kernel that runs, where it comes of the cache or goes there; else NULL */
    char device_text[192];
    char *ptx, *ran;    /* of --ptx; what ran last, for --report */
    unsigned passes;    /* of what ran last */
    plan_problem shape; /* of the default variant: types, sizes, leading dimensions */
    /* By place in the operator's list: what is given, and what comes of further outputs */
    mc_dense inputs[MAX_OPERANDS];
    float *factors[MAX_OPERANDS];
    reference_result want_others[MAX_OPERANDS];
    mc_dense others[MAX_OPERANDS];
    reference_result want;
    mc_dense c;      /* of the last run, as `others` */
    double estimate; /* of the variant that --variants best picked, us; 0: none */
} session;

/* Called in this order; all of them but `prepare` once the problem's sparse matrix is as KERNEL wants it
   (problem_fit). */
struct session_calls {
    /* Finds `shape`, for the spec's default variant. */
    mc_status (*prepare)(session *s, const mc_kernel *kernel, mc_diag *diag);
    /* Makes operands, and the result that KERNEL must give. */
    mc_status (*expect)(session *s, const mc_kernel *kernel, mc_diag *diag);
    /* Makes C on the device; TIMING may be NULL. */
    mc_status (*run)(session *s, const mc_kernel *kernel, mc_timing *timing, mc_diag *diag);
    /* MC_MISMATCH where C is not what KERNEL had to make. */
    mc_status (*judge)(const session *s, const mc_kernel *kernel, mc_diag *diag);
    /* Writes C to --out, and whatever else files are asked for. */
    mc_status (*write)(const session *s, mc_diag *diag);
    /* Fills LIST, which has room for MAX_SOURCES, with where the problem's values came from; returns how
       many. */
    size_t (*sources)(const session *s, value_source *list);
};

/* Runs SPECS, COUNT paths, on the matrix at MATRIX, and prints what came of it.
   S has op and options, and is closed. */
mc_status session_run(session *s, char **specs, size_t count, const char *matrix, mc_diag *diag);
/* CMD_DONE, or CMD_USAGE after a message on options that exclude each other. */
int session_check_options(const session_options *options, const mc_operator *op, size_t specs);
/* Of the problem as it is now, for reports. */
run_shape session_shape(const session *s);

/* -- Parts of it (session.c, variants.c, best.c, tuned.c) */

/* Drops what the last run came to; what a run must come to, with the factors that it is made of. */
void session_drop_results(session *s);
void session_drop_wanted(session *s);

/* Loads KERNEL on a GPU, by the cache; not where --ptx runs in its place. On the simulator there is nothing
   to compile, and lines of the PTX are wanted. */
mc_status session_load(session *s, const mc_kernel *kernel, mc_diag *diag);
void session_unload(session *s);

mc_status session_check_family(const session *s, const mc_kernel *kernel, mc_diag *diag);
/* Reads the spec again with all shapes fixed to the problem's, and the default variant's V. The problem is
   fit for KERNEL. */
mc_status session_specialise(session *s, const mc_kernel *kernel, mc_diag *diag);
mc_status session_run_one(session *s, size_t variant, mc_diag *diag);
mc_status session_run_all(session *s, mc_diag *diag);
/* The fastest kernel of a record, and what the record says of it. */
typedef struct tuned_kernel {
    mc_kernel *kernel; /* the caller destroys */
    char spec[256];    /* its file, without folder */
    double microseconds;
    bool cold, other_generator;
} tuned_kernel;
/* For the problem of the spec's default variant, on the session's device. MC_CANNOT: there is no record. */
mc_status session_find_tuned(session *s, tuned_kernel *tuned, mc_diag *diag);
mc_status session_run_tuned(session *s, const tuned_kernel *tuned, mc_diag *diag);
/* Makes that of SPECS the problem's which has the variant that should be fastest. */
mc_status session_pick(session *s, char **specs, size_t count, size_t *variant, mc_diag *diag);

#endif
