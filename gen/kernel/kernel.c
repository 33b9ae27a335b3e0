/* One variant, whole: from its point to a plan, to instructions, which are checked, to text. */
#include "kernel/kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mc_status build_failure(const mc_builder *b, const mc_kernel *kernel, mc_diag *diag) {
    if (b->no_memory) return mc_fail(diag, MC_NOMEM, "out of memory");
    return mc_fail(diag, MC_CANNOT, "%s: %s (an error of the generator)", kernel->family->name, b->error);
}

/* -- Registers ---------------------------------------------------------------------------------------- */

/* These are the same for every architecture in arch.c (CUDA programming guide, "Technical Specifications per
   Compute Capability"). A multiprocessor has 1 KB of shared memory more than a thread block may have, and
   each thread block takes 1 KB beside its own. */
enum { SM_REGISTERS = 65536, BLOCK_SHARED = 1 << 10 };
enum { MOST_REGISTERS = 255, REGISTER_UNIT = 8, SPARE = 16 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned in_units(unsigned registers) {
    return (registers + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
}
static unsigned threads_of(const mc_contract *c) { return c->block[0] * c->block[1] * c->block[2]; }

static unsigned blocks_by_shared(const mc_contract *c, const mc_arch *arch) {
    unsigned blocks = least(arch->blocks, arch->threads / threads_of(c));
    return least(blocks, ((arch->shared << 10) + BLOCK_SHARED) /
                             (c->shared_static + c->shared_dynamic + BLOCK_SHARED));
}

/* Threads, rounded up to four warps: each quarter of a multiprocessor has a quarter of its registers. */
static unsigned register_threads(const mc_contract *c) {
    unsigned four_warps = 4 * 32;
    return (threads_of(c) + four_warps - 1) / four_warps * four_warps;
}

static unsigned blocks_by_registers(const mc_contract *c, unsigned registers) {
    return SM_REGISTERS / (register_threads(c) * registers);
}

/* A limit a little above the registers that are alive. Left alone, ptxas keeps registers few for the sake of
   more thread blocks, and serialises the gather's loads (fixed shapes at stride 64: 48 registers, half the
   speed). This limit makes it use what the kernel wants, and leaves it room to move without spills. It is at
   most what a multiprocessor has for the threads of one thread block. */
static unsigned generous(const mc_contract *c, unsigned alive) {
    unsigned most =
        SM_REGISTERS / register_threads(c) / REGISTER_UNIT * REGISTER_UNIT; /* for one thread block */
    return least(in_units(alive + SPARE), least(most, MOST_REGISTERS));
}

/* The registers that a thread can have if as many thread blocks run as shared memory allows, and if that is
   enough for the kernel. ptxas keeps what all lanes have in common in uniform registers, so that fewer than
   are alive are enough. */
static unsigned shared_out(const mc_contract *c, const mc_arch *arch, unsigned alive) {
    unsigned enough = in_units(alive - REGISTER_UNIT);
    unsigned blocks = least(blocks_by_shared(c, arch), blocks_by_registers(c, enough));
    unsigned share =
        SM_REGISTERS / (register_threads(c) * (blocks ? blocks : 1)) / REGISTER_UNIT * REGISTER_UNIT;
    return least(share, generous(c, alive));
}

void kernel_limit_registers(mc_kernel *kernel, unsigned limit) {
    mc_contract *c = &kernel->contract;
    const mc_arch *arch = &mc_archs[kernel->point[FIELD_ARCH]];
    kernel->register_limit = (int)limit;
    c->blocks_per_sm = least(blocks_by_shared(c, arch), blocks_by_registers(c, limit));
}

static unsigned wanted_limit(const mc_kernel *kernel, const mc_builder *b) {
    unsigned alive = (unsigned)(kernel->registers + b->spare);
    if (b->launch_registers) return (unsigned)b->launch_registers;
    return b->fills_shared ? shared_out(&kernel->contract, b->arch, alive)
                           : generous(&kernel->contract, alive);
}

/* -- Building ----------------------------------------------------------------------------------------- */

static bool finish(mc_kernel *kernel, mc_builder *b) {
    int *version = &kernel->contract.ptx_version;
    if (!builder_check(b, version, NULL) || !builder_simplify(b)) return false;
    if (!builder_check(b, version, &kernel->registers)) return false;
    kernel_limit_registers(kernel, wanted_limit(kernel, b));
    if (kernel->contract.blocks_per_sm == 0)
        builder_fail(b, "a multiprocessor has no room for a thread block");
    return b->error[0] == 0;
}

mc_status kernel_emit(mc_kernel *kernel, const char *spec_name, mc_diag *diag) {
    mc_builder b = {.arch = &mc_archs[kernel->point[FIELD_ARCH]]};
    mc_text text = {0};
    mc_status status = MC_OK;
    kernel->solver->emit(kernel->plan, &b);
    if (finish(kernel, &b)) {
        print_module(&b, kernel, spec_name, &text);
        kernel->ptx = text_take(&text);
        if (!kernel->ptx) status = mc_fail(diag, MC_NOMEM, "out of memory");
    } else {
        status = build_failure(&b, kernel, diag);
    }
    builder_free(&b);
    return status;
}

static void name_fields(mc_kernel *kernel) {
    const mc_family *family = kernel->family;
    mc_text text = {0};
    for (size_t i = 0; i < family->field_count; i++)
        field_value_text(&family->fields[i], kernel->point[i], kernel->texts[i]);
    point_text(family, kernel->point, NULL, &text);
    kernel->fields = text_take(&text);
    kernel->hash = point_hash(family, kernel->point);
}

/* Refuses a kernel of which the family lists more than there is room for: an error of the generator. */
static mc_status check_room(const mc_kernel *kernel, mc_diag *diag) {
    const struct {
        const char *things;
        size_t count, room;
    } lists[] = {{"parameters", kernel->contract.param_count, MC_MAX_PARAMS},
                 {"packed arrays", kernel->contract.array_count, MC_MAX_ARRAYS},
                 {"tensor maps", kernel->contract.map_count, MC_MAX_MAPS},
                 {"constraints", kernel->contract.constraint_count, MC_MAX_CONSTRAINTS},
                 {"facts", kernel->facts.count, MC_MAX_FACTS}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].count > lists[i].room)
            return mc_fail(diag, MC_CANNOT, "%s: %zu %s, room for %zu (an error of the generator)",
                           kernel->family->name, lists[i].count, lists[i].things, lists[i].room);
    return MC_OK;
}

static void outline(const mc_spec *spec, size_t variant, mc_kernel *kernel) {
    kernel->family = spec->family;
    space_point(spec, variant, kernel->point);
    name_fields(kernel);
    kernel->solver = family_try(spec->family, kernel->point, kernel->plan);
    kernel->solver->entry_name(kernel->plan, kernel->entry);
    kernel->solver->contract(kernel->plan, &kernel->contract);
    kernel->solver->facts(kernel->plan, &kernel->facts);
    kernel->contract.entry = kernel->entry;
    kernel->contract.family = spec->family->name;
    kernel->contract.target = mc_archs[kernel->point[FIELD_ARCH]].target;
}

mc_status kernel_of_variant(const mc_spec *spec, size_t variant, mc_kernel **out, mc_diag *diag) {
    mc_kernel *kernel = calloc(1, sizeof *kernel);
    mc_status status = MC_OK;
    if (kernel) outline(spec, variant, kernel);
    if (!kernel || !kernel->fields) status = mc_fail(diag, MC_NOMEM, "out of memory");
    else status = check_room(kernel, diag);
    *out = status == MC_OK ? kernel : NULL;
    if (status != MC_OK) mc_kernel_destroy(kernel);
    return status;
}

mc_status mc_kernel_outline(const mc_spec *spec, size_t variant, mc_kernel **out, mc_diag *diag) {
    *out = NULL;
    if (variant >= spec->variant_count)
        return mc_fail(diag, MC_USAGE, "%s: there is no variant %zu", spec->name, variant);
    return kernel_of_variant(spec, variant, out, diag);
}

mc_status mc_kernel_generate(const mc_spec *spec, size_t variant, mc_kernel **out, mc_diag *diag) {
    mc_kernel *kernel;
    mc_status status = mc_kernel_outline(spec, variant, &kernel, diag);
    *out = NULL;
    if (status == MC_OK) status = kernel_emit(kernel, spec->name, diag);
    if (status == MC_OK) *out = kernel;
    else mc_kernel_destroy(kernel);
    return status;
}

double mc_kernel_estimate(const mc_kernel *kernel, const mc_gpu *gpu, const mc_problem *problem) {
    return family_estimate(kernel->solver, kernel->point, kernel->plan, gpu, problem);
}

double mc_kernel_estimate_alone(const mc_kernel *kernel, const mc_gpu *gpu, const mc_problem *problem) {
    int overlap = family_field(kernel->family, "overlap");
    int64_t point[MC_MAX_FIELDS];
    _Alignas(16) unsigned char plan[MC_PLAN_BYTES] = {0};
    const mc_solver *solver = NULL;
    if (kernel->contract.overlap && overlap >= 0) {
        memcpy(point, kernel->point, sizeof point);
        point[overlap] = kernel->family->fields[overlap].standard;
        solver = family_try(kernel->family, point, plan);
    }
    return solver ? family_estimate(solver, point, plan, gpu, problem)
                  : mc_kernel_estimate(kernel, gpu, problem);
}

void mc_kernel_destroy(mc_kernel *kernel) {
    if (!kernel) return;
    free(kernel->fields);
    free(kernel->ptx);
    free(kernel);
}

const char *mc_kernel_ptx(const mc_kernel *kernel) { return kernel->ptx; }
const mc_contract *mc_kernel_contract(const mc_kernel *kernel) { return &kernel->contract; }
mc_constraint mc_contract_of_shape(const mc_contract *contract, const char *shape) {
    for (size_t i = 0; i < contract->constraint_count; i++)
        if (strcmp(contract->constraints[i].shape, shape) == 0) return contract->constraints[i];
    return (mc_constraint){.shape = shape};
}

const char *mc_kernel_fields(const mc_kernel *kernel) { return kernel->fields; }
uint64_t mc_kernel_hash(const mc_kernel *kernel) { return kernel->hash; }

int64_t mc_kernel_field(const mc_kernel *kernel, const char *name) {
    int field = family_field(kernel->family, name);
    return field < 0 ? -2 : kernel->point[field];
}

const char *mc_kernel_field_text(const mc_kernel *kernel, const char *name) {
    int field = family_field(kernel->family, name);
    return field < 0 ? NULL : kernel->texts[field];
}
