/* The few central structs of libmcgen, and what each stage offers the next:
 *
 *   sandbox   Lua text              -> assignments (name, values, where)
 *   spec      assignments, settings -> mc_spec: candidates a field, checked against the family's schema
 *   space     mc_spec               -> the legal variants; a variant -> a point (one value a field)
 *   family    a point               -> its plan; plan -> instructions (builder.h), contract, facts
 *   kernel    all of it, for one variant */
#ifndef MC_ALL_H
#define MC_ALL_H

#include "mcgen.h"
#include "text/text.h"

enum {
    MC_MAX_FIELDS = 32,
    MC_MAX_CANDIDATES = 32,
    MC_MAX_NAME = 48,
    MC_MAX_ENTRY = 80,       /* of a kernel's name */
    MC_MAX_POINTS = 1 << 16, /* of a tuning space, legal or not */
};

/* -- arch.c: one record an architecture --------------------------------------------------------------- */

typedef struct mc_arch {
    const char *target;
    int sm;                   /* 90 for sm_90 and sm_90a */
    int ptx_version;          /* least .version that knows the target */
    unsigned shared;          /* KiB that a thread block can have */
    unsigned threads, blocks; /* that a multiprocessor can hold at once; blocks are thread blocks */
    bool tma;                 /* bulk tensor copies and mbarriers that count their bytes */
    bool overlap;             /* programmatic dependent launch (griddepcontrol) */
    bool int4;                /* mma of 4-bit integers; elsewhere ptxas makes several instructions of one */
} mc_arch;

extern const mc_arch mc_archs[];
/* The newest that a GPU of CAPABILITY runs, but for those that run on no other; NULL: none. */
const mc_arch *arch_of_capability(int capability);
extern const char *const mc_arch_names[]; /* the targets, NULL-terminated, in the order of mc_archs */

/* -- schema.c: one row a field ------------------------------------------------------------------------ */

typedef enum mc_field_kind {
    MC_FIELD_NAME,   /* one of `names`; the value is the index */
    MC_FIELD_NUMBER, /* one of `numbers` */
    MC_FIELD_SWITCH, /* "on" or "off" (also true and false); the value is 1 or 0 */
    MC_FIELD_SHAPE,  /* 1 .. 2^31 - 1, or "open": MC_OPEN */
} mc_field_kind;

typedef struct mc_field {
    const char *name;
    mc_field_kind kind;
    const char *const *names; /* NULL-terminated */
    const int *numbers;       /* 0-terminated, ascending */
    int64_t standard;         /* the default */
    bool tunable;             /* may be a list of candidates */
    bool quiet; /* at its default it stands in no header and no hash: kernels that do not use it stay */
    const char *doc;
} mc_field;

typedef enum mc_raw_kind { MC_RAW_INTEGER, MC_RAW_SWITCH, MC_RAW_TEXT, MC_RAW_OTHER } mc_raw_kind;

/* A value as the spec file or the command line gave it. */
typedef struct mc_raw {
    mc_raw_kind kind;
    int64_t number;         /* INTEGER, SWITCH */
    char text[MC_MAX_NAME]; /* TEXT; OTHER: what it is ("a function", "0.5") */
} mc_raw;

bool field_accepts(const mc_field *field, const mc_raw *raw, int64_t *value);
void field_value_text(const mc_field *field, int64_t value, char text[MC_MAX_NAME]);
void field_allowed_text(const mc_field *field, mc_text *text);
/* The name most like WORD among COUNT names that NAME_AT gives, or NULL where none is near. */
const char *nearest_name(const char *word, const void *names, size_t count,
                         const char *(*name_at)(const void *, size_t));

/* -- sandbox.c: runs a spec script -------------------------------------------------------------------- */

typedef struct mc_assignment {
    char name[MC_MAX_NAME];
    int line; /* of the spec file; 0: a setting of the command line */
    bool list;
    size_t count;
    mc_raw values[MC_MAX_CANDIDATES];
} mc_assignment;

enum { MC_MAX_ASSIGNMENTS = 64 };

typedef struct mc_script {
    mc_assignment assignments[MC_MAX_ASSIGNMENTS];
    size_t count;
} mc_script;

mc_status sandbox_run(const char *name, const char *text, size_t size, mc_script *script, mc_diag *diag);
/* The assignment of NAME, made if it is new. NULL: there are too many. */
mc_assignment *script_assign(mc_script *script, const char *name);

/* -- family.c: one record a kernel family ------------------------------------------------------------- */

/* What a plan finds illegal in a point, field by field. */
typedef struct mc_complaint {
    int field;
    char text[160];
} mc_complaint;

typedef struct mc_complaints {
    mc_complaint list[MC_MAX_FIELDS];
    size_t count;
} mc_complaints;

void complain(mc_complaints *complaints, int field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A number that --describe reports. */
typedef struct mc_fact {
    const char *name;
    int64_t value;
    const char *doc;
} mc_fact;

enum { MC_MAX_FACTS = 24, MC_PLAN_BYTES = 1024 };

typedef struct mc_facts {
    mc_fact list[MC_MAX_FACTS];
    size_t count;
} mc_facts;

struct mc_builder;

typedef struct mc_family {
    const char *name, *summary;
    const mc_field *fields; /* the first two are `op` and `arch` */
    size_t field_count;
    /* Derives PLAN (MC_PLAN_BYTES, zeroed) from POINT (a value a field); says in COMPLAINTS
       what cannot run. */
    void (*plan)(const int64_t *point, void *plan, mc_complaints *complaints);
    void (*contract)(const void *plan, mc_contract *contract);
    void (*facts)(const void *plan, mc_facts *facts);
    void (*emit)(const void *plan, struct mc_builder *builder);
    void (*entry_name)(const void *plan, char name[MC_MAX_ENTRY]);
    /* Microseconds, or INFINITY (mc_spec_estimate); NULL: there is no model. */
    double (*estimate)(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
    /* Lines of the header comment: what this kernel computes (any of the family's, where PLAN is NULL), and how. */
    const char *(*computes)(const void *plan);
    const char *(*how)(const void *plan);
} mc_family;

enum { FIELD_OP, FIELD_ARCH };

extern const mc_family *const mc_families[]; /* NULL-terminated */
const mc_family *family_find(const char *name);
int family_field(const mc_family *family, const char *name); /* -1: no such field */

/* -- spec.c, space.c ---------------------------------------------------------------------------------- */

typedef struct mc_candidates {
    int line; /* where the spec sets the field; 0: it does not, or a setting did */
    bool set; /* by the file or a setting */
    size_t count;
    int64_t values[MC_MAX_CANDIDATES];
} mc_candidates;

struct mc_spec {
    char *name;           /* path, as errors say it; "fields" without a file */
    const char *settings; /* what errors call what no line of the file says: "--set", "fields" */
    const mc_family *family;
    mc_candidates fields[MC_MAX_FIELDS];
    size_t variant_count;
    uint32_t *variants; /* mixed-radix code of each legal point, ascending */
};

/* Finds the legal variants. MC_USAGE with the complaints about the first point where there is none. */
mc_status space_build(mc_spec *spec, mc_diag *diag);
/* Says why the first point is not legal: what a spec without lists gets to read. Returns MC_USAGE. */
mc_status space_explain(const mc_spec *spec, mc_diag *diag);
void space_point(const mc_spec *spec, size_t variant, int64_t point[MC_MAX_FIELDS]);
/* The spec whose one variant has FIELDS ("op=spmm vec=8 ..."), and defaults elsewhere. */
mc_status spec_of_fields(const char *fields, mc_spec **spec, mc_diag *diag);
/* "op=spmm vec=8 ...": fields for which WANTED (NULL: all) is true, without quiet ones. */
void point_text(const mc_family *family, const int64_t *point, const bool *wanted, mc_text *text);
uint64_t point_hash(const mc_family *family, const int64_t *point);

/* -- kernel.c, saved.c, describe.c -------------------------------------------------------------------- */

struct mc_kernel {
    const mc_family *family;
    int64_t point[MC_MAX_FIELDS];
    char texts[MC_MAX_FIELDS][MC_MAX_NAME]; /* each field's value as text */
    char *fields;                           /* all of them: point_text */
    char entry[MC_MAX_ENTRY];
    uint64_t hash;
    _Alignas(16) unsigned char plan[MC_PLAN_BYTES];
    mc_contract contract;
    mc_facts facts;
    int registers; /* the most alive at one point */
    int register_limit;
    char *ptx; /* NULL: restored */
};

/* VARIANT of SPEC without its PTX and what emission finds out: ptx_version, registers and their limit. NULL: out of memory. */
mc_kernel *kernel_of_variant(const mc_spec *spec, size_t variant);
/* Emits it. SPEC_NAME stands in the PTX header, unless it is NULL. */
mc_status kernel_emit(mc_kernel *kernel, const char *spec_name, mc_diag *diag);
/* The limit, and how many thread blocks fit with it. */
void kernel_limit_registers(mc_kernel *kernel, unsigned limit);

/* The launch contract as lines for people: in the PTX header (PREFIX "// ") and in --describe. */
void contract_text(const mc_kernel *kernel, const char *prefix, mc_text *text);

#endif
