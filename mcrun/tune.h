/* mcrun tune, part by part:
 *
 *   tune.c           the command: options, and one problem after the other
 *   tune_kind.c      what the specs or the options say of the problem: all but the matrix and a size
 *   tune_sources.c   where matrices come from: files, or the shapes of --shapes
 *   tune_progress.c  what is said meanwhile
 *   tune_report.c    what is said at the end
 *   tune_stop.c      Ctrl-C
 *   tune_worker.c    mcrun tune-worker, the process that kernels run in
 *
 * mcrun plan (plan.c) takes its problems from tune_kind.c and tune_sources.c, too. */
#ifndef MCRUN_TUNE_H
#define MCRUN_TUNE_H

#include <jansson.h>
#include "options.h"

enum { TUNE_MAX_SIZES = 32 };

/* Of mcrun tune, and, but for the last three lines, of mcrun plan. */
typedef struct tune_options {
    const char *command; /* "tune" or "plan", for messages */
    cmd_settings settings;
    int op;      /* mc_op, from 1; 0: not given */
    int b_major; /* mc_major, from 1; 0: not given */
    const char *n, *k, *device, *shapes_file, *records;
    int64_t seed;
    bool dilate, unite, open, json;
    const char *pattern; /* of --pattern */
    const char *worker;
    int64_t candidates;
    double seconds;
    bool again, cold, in_process, dry_run;
} tune_options;

/* The rows of both commands, a table of each (tune_kind.c). */
enum { TUNE_PROBLEM_OPTIONS = 18 };
extern const cmd_option tune_problem_table[TUNE_PROBLEM_OPTIONS];

/* Puts the specs among OPERANDS in front, in their order; *COUNT receives how many operands there are.
   Returns how many specs. */
size_t tune_sort_specs(char **operands, size_t *count);

/* -- Kinds (tune_kind.c) */

typedef struct tune_kind {
    const mc_operator *op;
    mc_plan_config config; /* without matrix; the operator's size 0 where the specs leave it open */
    mc_type type;          /* of the matrix's values */
    int vec;
} tune_kind;

/* Of the COUNT specs at PATHS, which must agree, or, without any, of the options; for a GPU of CAPABILITY. */
mc_status tune_kind_read(const tune_options *options, char **paths, size_t count, int capability,
                         tune_kind *kind, mc_diag *diag);

/* The problem of KIND that MATRIX and a size make; HANDLE is the context's MATRIX, or NULL. */
mc_plan_config tune_problem_at(const tune_kind *kind, const mc_vsparse *matrix, mc_matrix *handle,
                               int64_t size);

/* -- Sources (tune_sources.c) */

/* A matrix, and the sizes that it is tuned for: what the operator's member `size` is to be. */
typedef struct tune_source {
    char *name;     /* a path, or "shapes.txt:3" */
    bool generated; /* from PATTERN, whose rows are those of the matrix; else the file NAME */
    mc_pattern pattern;
    int64_t sizes[TUNE_MAX_SIZES];
    size_t size_count;
} tune_source;

typedef struct tune_sources {
    tune_source *items;
    size_t count;
    size_t problems; /* sizes of all of them */
} tune_sources;

/* The COUNT files at PATHS and the lines of --shapes. */
mc_status tune_sources_read(const tune_options *options, const tune_kind *kind, char **paths, size_t count,
                            tune_sources *sources, mc_diag *diag);
void tune_sources_free(tune_sources *sources);
/* The nonzero vectors; values are zeros. */
mc_status tune_source_load(const tune_source *source, const tune_options *options, const tune_kind *kind,
                           mc_vsparse *matrix, mc_diag *diag);

/* -- Results (tune_report.c) */

typedef struct tune_outcome {
    const tune_source *source;
    int64_t size;
    const mc_operator *op;
    int64_t rows, cols, vectors;
    int vec;
    mc_status status;
    char *message;       /* what went wrong, NULL: nothing; owned */
    char *spec, *fields; /* of the fastest kernel, whole fields; NULL: not known; owned */
    char *tuned;         /* of these, what its spec leaves to tuning; likewise */
    mc_tune_result result;
    double seconds;
    bool simulated; /* costs are instructions (costs.h) */
} tune_outcome;

void tune_outcome_free(tune_outcome *outcome);
/* One line of JSON, at once, so that nothing is lost. */
mc_status tune_report_json(const tune_outcome *outcome, mc_diag *diag);
/* Prints JSON, an object a line, and frees it; NULL: memory is out. */
mc_status tune_print_json(json_t *json, mc_diag *diag);
void tune_report_head(bool simulated);
void tune_report_row(const tune_outcome *outcome);
/* "N 256" or "K 64". */
typedef struct tune_label {
    char text[24];
} tune_label;
tune_label tune_size_of(const tune_outcome *outcome);

/* What the kernel HASH of PROBLEM's candidates leaves to tuning, on a GPU of CAPABILITY; the caller frees.
   NULL: it is none of them. */
char *tune_fields_of(const mc_plan_config *problem, const mc_vsparse *matrix, int capability, uint64_t hash);
/* --dry-run: the candidates of PROBLEM on DEVICE, with their estimates. */
mc_status tune_report_candidates(const tune_options *options, const tune_outcome *outcome,
                                 const mc_plan_config *problem, const mc_vsparse *matrix,
                                 const mc_device *device, mc_diag *diag);

/* -- Progress (tune_progress.c) */

/* On stderr: one line rewritten, or, where that is no terminal, a line now and then. */

typedef struct tune_view {
    bool terminal, shown; /* shown: a line that is rewritten stands there */
    bool simulated;       /* costs are instructions (costs.h) */
    size_t problem, problems;
    const char *name; /* of the problem */
    tune_label size;
    double started, told;  /* clock_seconds; told: when the last line was written */
    char best_fields[256]; /* of the problem's fastest so far, "" before */
} tune_view;

void tune_view_begin(tune_view *view, size_t problems, bool simulated);
/* The next problem. */
void tune_view_problem(tune_view *view, const tune_outcome *outcome);
/* mc_tune_config.progress with a tune_view as user: false once Ctrl-C was pressed. */
bool tune_view_progress(void *view, const mc_tune_progress *progress);
/* mc_context_config.log: what is to be shown becomes lines. */
void tune_view_log(void *view, mc_log_level level, const char *message);
/* Removes the line, so that others may write. */
void tune_view_clear(tune_view *view);

/* -- Stopping (tune_stop.c) */

/* From now on SIGINT and SIGTERM ask to stop; the second one ends the program at once. */
void tune_stop_catch(void);
bool tune_stop_asked(void);

#endif
