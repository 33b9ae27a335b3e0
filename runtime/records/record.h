/* Records of tuning: what was measured for a problem, on which GPU, by which generator. Text, one JSON object
   a line (docs/tuning.md); a line that makes no sense is passed over with a warning. */
#ifndef MCRT_RECORD_H
#define MCRT_RECORD_H

#include "problem/problem.h"

typedef enum record_status {
    RECORD_TIMED,
    RECORD_DROPPED, /* too slow to be timed well: microseconds is a first guess, or the median until then */
    RECORD_WRONG,
    RECORD_FAILED
} record_status;

typedef struct record_candidate {
    uint64_t hash; /* of the kernel's fields */
    record_status status;
    double microseconds;
    /* Spec file ("spmm_l8r8.lua"), and the kernel's fields, whole; "" where the line leaves them out: it has
       them of the fastest ones alone. */
    const char *spec, *fields;
} record_candidate;

typedef struct record {
    plan_problem problem;
    const char *gpu, *driver, *generator; /* mc_device_info.name, mc_device_build, mc_generator_id */
    int capability;
    bool cold;                 /* measured with operands outside of the L2 cache */
    int64_t time;              /* of the last measurement, seconds since 1970; 0: record_add sets it */
    const char *fields, *spec; /* of the fastest kernel, whole; its spec file */
    double microseconds;
    record_candidate *candidates; /* the fastest first, those that were not timed last */
    size_t candidate_count;
    /* In a record that is to be freed, all that it points to. In one that a caller fills with pointers of its
       own, NULL. */
    void *storage;
} record;

/* A copy that owns everything it points to. record_free frees what record_copy, record_parse, record_find and
   record_nearest make. */
mc_status record_copy(const record *from, record *to, mc_diag *diag);
void record_free(record *r);

/* -- Lines (line.c) */

/* One line, without newline; the caller frees. NULL: no memory. */
char *record_print(const record *r);
/* MC_FORMAT says what is wrong with LINE, SIZE bytes. */
mc_status record_parse(const char *line, size_t size, record *r, mc_diag *diag);

/* -- Stores (store.c): thread-safe */

typedef struct record_store record_store;

typedef struct record_store_config {
    const char *path; /* the file that own records are appended to; NULL: none. It need not be there */
    bool shipped;     /* those that the library ships are in it, too */
    const char *gpu;  /* of these only the ones for this GPU; NULL: all. Not kept */
    /* About bad lines, a line each, without newline. NULL: none */
    void (*log)(void *user, const char *message);
    void *log_user;
} record_store_config;

/* MC_NOMEM is the only failure: of a file that cannot be read the log tells. */
mc_status record_store_open(const record_store_config *config, record_store **store, mc_diag *diag);
void record_store_close(record_store *store); /* NULL is fine */
/* Whether there is a file, and all that was added stands in it. */
bool record_store_is_kept(const record_store *store);
/* Sets PATH to where own records go by default: MCGEN_RECORDS, XDG_DATA_HOME, HOME. False: nowhere. */
bool record_default_path(char *path, size_t size);

/* The record of exactly PROBLEM on the GPU NAME: of this generator before others', own before shipped, the
   newest of those. False: none, or no memory. FOUND is a copy. Who goes by its times compares
   FOUND->generator: another's kernels had other instructions. */
bool record_find(record_store *store, const char *gpu, const plan_problem *problem, bool cold, record *found);
/* The N records nearest PROBLEM (record_distance) on the GPU NAME, nearest first, with DISTANCES. Returns how
   many; copies. */
size_t record_nearest(record_store *store, const char *gpu, const plan_problem *problem, size_t n,
                      record *found, double *distances);
/* Remembers R, merged with what there is of its problem, GPU and generator, and appends the whole to the file
   in one write. A file that cannot be written is MC_IO: R is remembered all the same. R's candidates may
   stand in any order, its fastest is found. */
mc_status record_add(record_store *store, const record *r, mc_diag *diag);
/* Adds the records of a file; COUNT receives how many were new or better. They are written to STORE's own
   file, if it has one, at once and atomically. Bad lines go to the log. */
mc_status record_import(record_store *store, const char *path, size_t *count, mc_diag *diag);
/* What record_export writes: also the library's records; of each record's candidates only the three fastest:
   the chosen one, and what a plan falls back to; of a problem that several generators' kernels were measured
   for, only the last record. */
enum { RECORD_SHIPPED = 1, RECORD_BRIEF = 2, RECORD_LATEST = 4 };
/* Writes the own records, atomically: one for each problem, GPU and generator, the same bytes for the same
   records. WHAT: RECORD_*. */
mc_status record_export(record_store *store, const char *path, unsigned what, size_t *count, mc_diag *diag);
/* Calls VISIT for each record, own ones first, until it returns false. VISIT may not call the store. */
void record_walk(record_store *store, bool (*visit)(void *user, const record *r, bool own), void *user);
/* A digest of what choices are made from: it changes with every record of the GPU NAME. */
uint64_t record_digest(record_store *store, const char *gpu);

/* -- Other problems (near.c) */

/* How unlike two problems are: 0 for the same sizes, structure and output, about 1 where one of them is twice
   as large; INFINITY where a kernel for one says nothing of the other (another operator, other types, ...).
   Symmetric. */
double record_distance(const plan_problem *a, const plan_problem *b);
/* R's candidate I made into a kernel for PROBLEM: same tile, stride, ..., PROBLEM's types, shapes and output.
   An outline, which the caller destroys. NULL: there is no such kernel, the record lacks that candidate's
   fields, or no memory. Whether PROBLEM can run it, kernel_fits tells. */
mc_kernel *record_kernel_for(const record *r, size_t i, const plan_problem *problem);
/* Its fields, canonical; the caller frees. */
char *record_fields_for(const record *r, size_t i, const plan_problem *problem);

/* The library's records, a file each (shipped.c, generated from records/); NULL at the end. */
typedef struct record_shipped_file {
    const char *name, *text;
} record_shipped_file;
extern const record_shipped_file record_shipped[];

#endif
