/* Records of tuning: what was measured for a problem, on which GPU, by which generator. Text, one JSON object a line
   (docs/tuning.md); a line that makes no sense is passed over with a warning. */
#ifndef MCRT_RECORD_H
#define MCRT_RECORD_H

#include "context.h"
#include "plan_problem.h"

typedef enum record_status {
    RECORD_TIMED,
    RECORD_DROPPED /* too slow to be timed well: microseconds is a first guess */,
    RECORD_WRONG,
    RECORD_FAILED
} record_status;

typedef struct record_candidate {
    uint64_t hash; /* of the kernel's fields */
    record_status status;
    double microseconds;
    const char *spec,
        *tuned; /* spec file, and the fields that it leaves to tuning; "" where the line leaves them out */
} record_candidate;

typedef struct record {
    plan_problem problem;
    const char *gpu, *driver, *generator; /* mc_device_info.name, mc_device_build, mc_generator_id */
    int capability;
    bool cold;    /* measured with operands outside of the L2 cache */
    char *fields; /* of the fastest kernel, whole */
    double microseconds;
    record_candidate *candidates; /* the fastest first */
    size_t candidate_count;
} record;

typedef struct record_store record_store;

/* A record and everything it points to belong to the store that has it; those that a caller makes are freed by record_free, which
   frees what record_copy and the reader allocate. */
mc_status record_copy(const record *from, record *to, mc_diag *diag);
void record_free(record *r);

/* -- Lines (record_line.c) */

/* One line, without newline; the caller frees. NULL: no memory. */
char *record_print(const record *r);
/* MC_FORMAT says what is wrong with LINE. */
mc_status record_parse(const char *line, record *r, mc_diag *diag);

/* -- Stores (record_store.c): thread-safe */

/* PATH: the file that own records are appended to, NULL: none; it need not be there. Bad lines go to the log. */
mc_status record_store_open(mc_context *context, const char *path, record_store **store, mc_diag *diag);
void record_store_close(record_store *store);
/* Where own records go by default: MCGEN_RECORDS, XDG_DATA_HOME, HOME. False: nowhere. */
bool record_default_path(char *path, size_t size);

/* The record of exactly PROBLEM on the GPU NAME: own before shipped, the newest of those. False: none. FOUND is a copy. */
bool record_find(record_store *store, const char *gpu, const plan_problem *problem, bool cold, record *found);
/* The N records nearest PROBLEM (same operator, types and kind of output on the same GPU), nearest first, with DISTANCES: 0 for the same
   sizes and structure, about 1 where one of them is twice as large. Returns how many; copies. */
size_t record_nearest(record_store *store, const char *gpu, const plan_problem *problem, size_t n,
                      record *found, double *distances);
/* Remembers R, merged with what there is of its problem, and appends the whole to the file in one write. A file that cannot be written is MC_IO: R is remembered all
   the same. */
mc_status record_add(record_store *store, const record *r, mc_diag *diag);
/* The files of others; atomically written. SHIPPED: also the library's own. */
mc_status record_import(record_store *store, const char *path, size_t *count, mc_diag *diag);
mc_status record_export(record_store *store, const char *path, bool shipped, size_t *count, mc_diag *diag);
/* The fields of R's fastest kernel (or of its candidate I), made into those of PROBLEM: same tile, stride, ..., PROBLEM's shapes and output. The
   caller frees; NULL: no memory. Whether such a kernel exists only its generation shows. */
char *record_fields_for(const record *r, size_t i, const plan_problem *problem);

/* The library's records, a file's content each (record_shipped.c, generated from records/). */
extern const char *const record_shipped[];
extern const size_t record_shipped_count;

#endif
