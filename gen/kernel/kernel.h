/* One variant, whole: its point, its plan, its contract and facts, its PTX. */
#ifndef MC_KERNEL_H
#define MC_KERNEL_H

#include "ptx/builder.h"
#include "spec/spec.h"

struct mc_kernel {
    const mc_family *family;
    const mc_solver *solver;
    int64_t point[MC_MAX_FIELDS];
    char texts[MC_MAX_FIELDS][MC_MAX_NAME]; /* each field's value as text */
    char *fields;                           /* all fields as text: point_text */
    char entry[MC_MAX_ENTRY];
    uint64_t hash;
    _Alignas(16) unsigned char plan[MC_PLAN_BYTES];
    mc_contract contract;
    mc_facts facts;
    int registers; /* the most that are alive at one point */
    int register_limit;
    char *ptx; /* NULL: restored */
};

/* Makes VARIANT of SPEC without its PTX and without what emission finds out: ptx_version, registers and their
   limit. MC_NOMEM, or MC_CANNOT where the family lists more parameters, arrays or facts than there is room
   for; *KERNEL is NULL then. */
mc_status kernel_of_variant(const mc_spec *spec, size_t variant, mc_kernel **kernel, mc_diag *diag);
/* Emits KERNEL. SPEC_NAME stands in the PTX header, unless it is NULL. */
mc_status kernel_emit(mc_kernel *kernel, const char *spec_name, mc_diag *diag);
/* Sets the limit of registers, and how many thread blocks fit with it. */
void kernel_limit_registers(mc_kernel *kernel, unsigned limit);

/* The launch contract as lines for people: in the PTX header (PREFIX "// ") and in --describe. */
void contract_text(const mc_kernel *kernel, const char *prefix, mc_text *text);

/* module.c. Appends the whole PTX module; its header names the spec, unless SPEC_NAME is NULL. */
void print_module(const mc_builder *b, const mc_kernel *kernel, const char *spec_name, mc_text *text);

#endif
