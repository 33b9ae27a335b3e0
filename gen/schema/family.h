/* What a kernel family is, and what the families' schemas, contracts and facts share. */
#ifndef MC_FAMILY_H
#define MC_FAMILY_H

#include "arch/arch.h"
#include "schema/schema.h"

enum { MC_MAX_ENTRY = 80 }; /* characters of a kernel's name */

/* What is illegal in a point, field by field. */
typedef struct mc_complaint {
    int field;
    char text[160];
} mc_complaint;

typedef struct mc_complaints {
    mc_complaint list[MC_MAX_FIELDS];
    size_t count;
    bool only_counts; /* nobody reads the list, and it stays as it is */
} mc_complaints;

/* Complaints beyond MC_MAX_FIELDS are dropped: the point is refused anyway. */
void complain(mc_complaints *complaints, int field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A number that --describe reports. */
typedef struct mc_fact {
    const char *name;
    int64_t value;
    const char *doc;
} mc_fact;

enum { MC_MAX_FACTS = 24, MC_PLAN_BYTES = 1536 };

typedef struct mc_facts {
    mc_fact list[MC_MAX_FACTS];
    size_t count; /* facts that were added; beyond MC_MAX_FACTS none is kept */
} mc_facts;

/* Words of the literature that are no fields here, in small letters and with a space around each, and what
   field does that here. */
typedef struct mc_hint {
    const char *words, *text;
} mc_hint;

struct mc_builder;

/* A kernel of a family: one way to solve its problem. */
typedef struct mc_solver {
    const char *name;
    /* Derives PLAN (MC_PLAN_BYTES, zeroed) from POINT, which has a value for each field. Says in COMPLAINTS
       what cannot run. */
    void (*plan)(const int64_t *point, void *plan, mc_complaints *complaints);
    void (*contract)(const void *plan, mc_contract *contract);
    void (*facts)(const void *plan, mc_facts *facts);
    void (*emit)(const void *plan, struct mc_builder *builder);
    void (*entry_name)(const void *plan, char name[MC_MAX_ENTRY]);
    /* Microseconds, or INFINITY (mc_spec_estimate); NULL: there is no model. */
    double (*estimate)(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
    /* Lines of the PTX's header comment: what this kernel computes, and how. */
    const char *(*computes)(const void *plan);
    const char *(*how)(const void *plan);
} mc_solver;

/* What the models of a family's solvers add to a GPU's rates, and how much it is on each GPU that was
   measured. */
typedef struct mc_cost_table {
    const mc_cost *costs;
    size_t count;
    const double *values[MC_GPUS]; /* by mc_gpu.index */
} mc_cost_table;

/* GPU's costs of TABLE. */
static inline const double *costs_on(const mc_cost_table *table, const mc_gpu *gpu) {
    return gpu->costs != NULL ? gpu->costs : table->values[gpu->index];
}

/* An operator, as specs see it. Its schema has the operator's own fields and those of all solvers. */
typedef struct mc_family {
    const char *name, *summary;
    const char *computes; /* a line of help: what any kernel of the family computes */
    /* The first two are `op` and `arch`. Their order is that of hashes and of variants' numbers. */
    const mc_field *fields;
    size_t field_count;
    const mc_solver *(*solver)(const int64_t *point); /* the one that POINT asks for */
    int chooser;                /* the field by which a spec chooses its solver, first of all */
    const mc_hint *hints;       /* ends in a row without words */
    const mc_cost_table *costs; /* NULL: no solver has a model */
} mc_family;

enum { FIELD_OP, FIELD_ARCH };

/* Whether SOLVER, one of FAMILY's, has not got the field. The other complains that the one which POINT asks
   for has not. */
bool family_lacks(const mc_family *family, const mc_solver *solver, size_t field);
void complain_lacking(const mc_family *family, const int64_t *point, size_t field, mc_complaints *complaints);
int family_field(const mc_family *family, const char *name); /* -1: no such field */
/* Derives PLAN by the solver that POINT asks for, and complains of fields that this one has not. Returns the
   solver. */
const mc_solver *family_plan(const mc_family *family, const int64_t *point, void *plan,
                             mc_complaints *complaints);

/* The same for who asks only whether POINT can run. NULL: it cannot. */
const mc_solver *family_try(const mc_family *family, const int64_t *point, void *plan);
/* Microseconds, or INFINITY (mc_spec_estimate), of the kernel of PLAN, which SOLVER made of POINT. */
double family_estimate(const mc_solver *solver, const int64_t *point, const void *plan, const mc_gpu *gpu,
                       const mc_problem *problem);

/* -- Rows of a schema: {"vec", NUMBERS = vecs, .standard = 8, .doc = "..."} --------------------------- */

#define NAMES   .kind = MC_FIELD_NAME, .names
#define NUMBERS .kind = MC_FIELD_NUMBER, .numbers
#define SWITCH  .kind = MC_FIELD_SWITCH
#define SHAPE   .kind = MC_FIELD_SHAPE, .standard = MC_OPEN
/* Names and numbers that stand in the row itself. */
#define WORDS(...)                                                                                           \
    NAMES = (const char *const[]) { __VA_ARGS__, NULL }
#define COUNTS(...)                                                                                          \
    NUMBERS = (const int[]) { __VA_ARGS__, 0 }

#define ARCH_FIELD                                                                                           \
    {                                                                                                        \
        "arch",                                                                                              \
            NAMES = mc_arch_names,                                                                           \
            .doc =                                                                                           \
                "The .target of the PTX. It also runs on every later GPU, except for the targets "           \
                "that end in a. Where nothing names one the program mcgen takes that of this machine's GPU." \
    }

extern const int family_vecs[];   /* V */
extern const int family_aligns[]; /* bytes that an array's address is promised to be a multiple of */

/* The words of a field `overlap`: the kernel may start before the one ahead has ended; and, but for WAIT,
   lets the one behind do so. */
typedef enum family_overlap { OVERLAP_OFF, OVERLAP_ON, OVERLAP_WAIT } family_overlap;
extern const char *const family_overlaps[];
/* Complains where FIELD is on in POINT and its architecture has no programmatic dependent launch. */
void check_overlap(const int64_t *point, int field, mc_complaints *complaints);

/* Stands behind a schema and asserts that its rows, of which the last is LAST, fit where fields are kept. */
#define SCHEMA_FITS(fields, last)                                                                            \
    _Static_assert(sizeof(fields) / sizeof *(fields) == (last) + 1, "a row for each field");                 \
    _Static_assert(sizeof(fields) / sizeof *(fields) <= MC_MAX_FIELDS, "more rows than MC_MAX_FIELDS")

/* -- Contract and facts ------------------------------------------------------------------------------- */

/* What there is no room for is counted, but not kept. kernel_of_variant refuses a kernel with such a
   count. */
void add_param(mc_contract *c, mc_param param);
/* Adds a packed array, and its parameter. */
void add_array(mc_contract *c, unsigned align, mc_array array);
/* Why limits are: of k, and of leading dimensions. */
#define SUMS_ARE_EXACT "sums beyond it may be wrong (a spec that fixes k has no limit)"
#define ROWS_FIT       "a row has at most 2^31 - 1 bytes"
/* Adds a tensor map, and its parameter, of which DOC says what it is. */
void add_map(mc_contract *c, mc_map_param map, const char *doc);
/* Adds a constraint, unless it constrains nothing. */
void add_constraint(mc_contract *c, mc_constraint constraint);
/* The kernel is launched PASSES times, and learns from its parameter `pass` which time it is. */
void add_passes(mc_contract *c, unsigned passes, const char *doc);
/* The kernel has BYTES for itself, which lie at a multiple of ALIGN: its parameter MC_WORKSPACE. */
void add_workspace(mc_contract *c, unsigned bytes, unsigned align, const char *doc);
/* Adds a parameter for SHAPE, unless the spec fixes it or the kernel does not want it (0). */
void add_shape(mc_contract *c, const char *name, int64_t shape, const char *doc);
void add_fact(mc_facts *facts, const char *name, int64_t value, const char *doc);

#endif
