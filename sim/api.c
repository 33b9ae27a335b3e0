/* The public functions, apart from launch. */
#include "sim.h"
#include "metric.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t default_limit = UINT64_C(1) << 40;

const char *ptxsim_status_text(ptxsim_status status) {
    static const char *const texts[] = {
#define X(name, text) text,
        PTXSIM_STATUS_LIST(X)
#undef X
    };
    size_t i = (size_t)status;
    return i < sizeof texts / sizeof *texts ? texts[i] : "unknown status";
}

ptxsim_status ptxsim_create(const ptxsim_options *options, ptxsim **sim) {
    if (!sim) return PTXSIM_INVALID;
    *sim = NULL;
    ptxsim_options o = {.order = PTXSIM_IN_ORDER};
    if (options && (options->size < sizeof o.size || options->size > sizeof o)) return PTXSIM_INVALID;
    if (options) memcpy(&o, options, options->size);
    ptxsim *s = calloc(1, sizeof *s);
    if (!s) return PTXSIM_NOMEM;
    s->order = o.order;
    s->seed = o.seed;
    s->threads = o.threads;
    s->races = !o.no_races;
    s->landing = o.landing;
    s->max_instructions = o.max_instructions ? o.max_instructions : default_limit;
    *sim = s;
    return PTXSIM_OK;
}

void ptxsim_destroy(ptxsim *sim) {
    if (!sim) return;
    while (sim->modules) {
        ptxsim_module *next = sim->modules->next;
        sim_module_free(sim->modules);
        sim->modules = next;
    }
    sim_memory_free_all(&sim->memory);
    free(sim->lines);
    free(sim);
}

void ptxsim_set_order(ptxsim *sim, ptxsim_order order) { sim->order = order; }

void ptxsim_watch_races(ptxsim *sim, int watch) { sim->races = watch != 0; }

void ptxsim_set_seed(ptxsim *sim, uint64_t seed) {
    sim->order = PTXSIM_SEEDED;
    sim->seed = seed;
}

void ptxsim_set_landing(ptxsim *sim, ptxsim_landing landing) { sim->landing = landing; }

const ptxsim_fault *ptxsim_fault_of(const ptxsim *sim) { return &sim->fault; }

const ptxsim_counts *ptxsim_counts_of(const ptxsim *sim) { return &sim->counts; }

size_t ptxsim_line_count(const ptxsim *sim) { return sim->line_count; }

const ptxsim_line *ptxsim_line_at(const ptxsim *sim, size_t index) {
    return index < sim->line_count ? &sim->lines[index] : NULL;
}

ptxsim_line ptxsim_line_sum(const ptxsim *sim) {
    ptxsim_line sum = {0};
    for (size_t i = 0; i < sim->line_count; i++) sim_metric_add(&sum, &sim->lines[i]);
    return sum;
}

uint64_t ptxsim_class_count(const ptxsim *sim, ptxsim_class kind) {
    return (size_t)kind < PTXSIM_CLASS_COUNT ? sim->by_class[kind] : 0;
}

const char *ptxsim_class_text(ptxsim_class kind) {
    static const char *const texts[] = {
#define X(name, text) text,
        PTXSIM_CLASS_LIST(X)
#undef X
    };
    return (size_t)kind < sizeof texts / sizeof *texts ? texts[kind] : "unknown class";
}

const char *ptxsim_fault_text(ptxsim *sim) {
    const ptxsim_fault *f = &sim->fault;
    char where[128] = "", line[32] = "";
    if (f->line) snprintf(line, sizeof line, "line %d", f->line);
    if (f->in_kernel)
        snprintf(where, sizeof where, "%sblock (%u,%u,%u), thread (%u,%u,%u)", f->line ? ", " : "",
                 f->block.x, f->block.y, f->block.z, f->thread.x, f->thread.y, f->thread.z);
    const char *message = f->message[0] ? f->message : ptxsim_status_text(f->status);
    snprintf(sim->text, sizeof sim->text, "%s%s%s%s", line, where, *line || *where ? ": " : "", message);
    return sim->text;
}

ptxsim_status sim_fail(ptxsim *sim, ptxsim_status status, const char *format, ...) {
    va_list arguments;
    sim->fault = (ptxsim_fault){.status = status};
    va_start(arguments, format);
    vsnprintf(sim->fault.message, sizeof sim->fault.message, format, arguments);
    va_end(arguments);
    return status;
}

ptxsim_status sim_done(ptxsim *sim) {
    sim->fault = (ptxsim_fault){.status = PTXSIM_OK};
    return PTXSIM_OK;
}

ptxsim_status ptxsim_alloc(ptxsim *sim, size_t bytes, uint64_t *address) {
    *address = 0;
    if (sim_memory_alloc(&sim->memory, bytes, address)) return sim_done(sim);
    return sim_fail(sim, PTXSIM_NOMEM, "no memory for an allocation of %zu bytes", bytes);
}

ptxsim_status ptxsim_free(ptxsim *sim, uint64_t address) {
    const struct sim_allocation *a = sim_memory_find(&sim->memory, address);
    if (a && a->variable)
        return sim_fail(sim, PTXSIM_INVALID, "0x%llx is a variable of a module", (unsigned long long)address);
    if (sim_memory_free(&sim->memory, address)) return sim_done(sim);
    return sim_fail(sim, PTXSIM_INVALID, "nothing is allocated at 0x%llx", (unsigned long long)address);
}

/* The allocation that holds the range; NULL after setting the fault. */
static struct sim_allocation *range(ptxsim *sim, uint64_t address, size_t bytes) {
    struct sim_allocation *a = sim_memory_find(&sim->memory, address);
    if (a && sim_allocation_holds(a, address, bytes)) return a;
    sim_fail(sim, PTXSIM_BOUNDS, "%zu bytes at 0x%llx are not inside an allocation", bytes,
             (unsigned long long)address);
    return NULL;
}

ptxsim_status ptxsim_write(ptxsim *sim, uint64_t address, const void *data, size_t bytes) {
    struct sim_allocation *a = range(sim, address, bytes);
    if (!a) return sim->fault.status;
    if (bytes) memcpy(a->data + (address - a->base), data, bytes);
    sim_shadow_write_range(a->shadow, address - a->base, bytes);
    return sim_done(sim);
}

ptxsim_status ptxsim_read(ptxsim *sim, uint64_t address, void *data, size_t bytes) {
    struct sim_allocation *a = range(sim, address, bytes);
    if (!a) return sim->fault.status;
    size_t at = address - a->base, first = sim_shadow_first_unwritten(a->shadow, at, bytes);
    if (first < at + bytes)
        return sim_fail(sim, PTXSIM_UNINIT, "nothing wrote byte %zu of the allocation at 0x%llx", first,
                        (unsigned long long)a->base);
    if (bytes) memcpy(data, a->data + at, bytes);
    return sim_done(sim);
}

ptxsim_status ptxsim_fill(ptxsim *sim, uint64_t address, int byte, size_t bytes) {
    struct sim_allocation *a = range(sim, address, bytes);
    if (!a) return sim->fault.status;
    if (bytes) memset(a->data + (address - a->base), byte, bytes);
    sim_shadow_write_range(a->shadow, address - a->base, bytes);
    return sim_done(sim);
}

ptxsim_status ptxsim_module_load(ptxsim *sim, const char *text, ptxsim_module **module) {
    if (!module) return sim_fail(sim, PTXSIM_INVALID, "nowhere to put the module");
    *module = NULL;
    if (!text) return sim_fail(sim, PTXSIM_INVALID, "no text");
    if (sim_parse(text, module, &sim->fault) != PTXSIM_OK) return sim->fault.status;
    if (!sim_variables_open(sim, *module)) {
        sim_variables_free(sim, *module);
        sim_module_free(*module);
        *module = NULL;
        return sim_fail(sim, PTXSIM_NOMEM, "no memory for the module's variables");
    }
    (*module)->next = sim->modules;
    sim->modules = *module;
    return sim_done(sim);
}

ptxsim_status ptxsim_module_unload(ptxsim *sim, ptxsim_module *module) {
    ptxsim_module **link = &sim->modules;
    while (*link && *link != module) link = &(*link)->next;
    if (!*link) return sim_fail(sim, PTXSIM_INVALID, "not a module of this simulator");
    *link = module->next;
    sim_variables_free(sim, module);
    sim_module_free(module);
    return sim_done(sim);
}

const char *ptxsim_module_entry(const ptxsim_module *module, size_t index) {
    size_t count = 0;
    for (const ptxsim_function *f = module->functions; f; f = f->next) count++;
    if (index >= count) return NULL;
    const ptxsim_function *f = module->functions; /* the last one comes first */
    for (size_t i = count - 1; i > index; i--) f = f->next;
    return f->name;
}

size_t ptxsim_function_params(const ptxsim_function *function, size_t *sizes, size_t room) {
    size_t count = (size_t)function->param_count;
    for (size_t i = 0; sizes && i < count && i < room; i++) sizes[i] = function->params[i].bytes;
    return count;
}

ptxsim_status ptxsim_module_function(ptxsim *sim, const ptxsim_module *module, const char *name,
                                     const ptxsim_function **function) {
    if (!function || !module || !name) return sim_fail(sim, PTXSIM_INVALID, "no module, name or function");
    for (*function = module->functions; *function; *function = (*function)->next)
        if (strcmp((*function)->name, name) == 0) return sim_done(sim);
    return sim_fail(sim, PTXSIM_INVALID, "the module has no entry `%.100s`", name);
}
