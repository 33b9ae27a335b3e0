/* Kernels without their spec: by their fields, and as text that a cache keeps beside the machine code. */
#include "kernel/kernel.h"
#include "generator_id.h"
#include <stdlib.h>
#include <string.h>

const char *mc_generator_id(void) { return GENERATOR_ID; }

/* Makes the kernel that the SIZE bytes at FIELDS name, not yet emitted. */
static mc_status kernel_of_fields(const char *fields, size_t size, mc_kernel **kernel, mc_diag *diag) {
    mc_spec *spec = NULL;
    char *copy = strndup(fields, size);
    mc_status status = copy ? spec_of_fields(copy, &spec, diag) : mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK) status = kernel_of_variant(spec, 0, kernel, diag);
    mc_spec_destroy(spec);
    free(copy);
    return status;
}

mc_status mc_kernel_outline_fields(const char *fields, mc_kernel **kernel, mc_diag *diag) {
    *kernel = NULL;
    return kernel_of_fields(fields, strlen(fields), kernel, diag);
}

mc_status mc_kernel_from_fields(const char *fields, mc_kernel **out, mc_diag *diag) {
    mc_kernel *kernel = NULL;
    mc_status status = kernel_of_fields(fields, strlen(fields), &kernel, diag);
    if (status == MC_OK) status = kernel_emit(kernel, NULL, diag);
    *out = status == MC_OK ? kernel : NULL;
    if (status != MC_OK) mc_kernel_destroy(kernel);
    return status;
}

/* -- Text --------------------------------------------------------------------------------------------- */

/* The generator's id stands in front, since everything but the numbers below follows from its sources. */
static const char first_line[] = "mcgen kernel " GENERATOR_ID "\n", fields_name[] = "fields ";

/* A number that emission finds out. */
typedef struct finding {
    const char *name;
    int least, most, value;
} finding;

enum { PTX_VERSION, REGISTERS, REGISTER_LIMIT, FINDINGS };

static void list_findings(const mc_kernel *kernel, finding list[FINDINGS]) {
    list[PTX_VERSION] = (finding){"ptx_version", 10, 999, kernel->contract.ptx_version};
    list[REGISTERS] = (finding){"registers", 1, UINT16_MAX, kernel->registers};
    list[REGISTER_LIMIT] = (finding){"register_limit", 1, 255, kernel->register_limit};
}

char *mc_kernel_save(const mc_kernel *kernel) {
    finding list[FINDINGS];
    mc_text text = {0};
    list_findings(kernel, list);
    text_add(&text, "%s%s%s\n", first_line, fields_name, kernel->fields);
    for (int i = 0; i < FINDINGS; i++) text_add(&text, "%s %d\n", list[i].name, list[i].value);
    return text_take(&text);
}

/* Goes past PREFIX at *AT. */
static bool pass(const char **at, const char *prefix) {
    size_t length = strlen(prefix);
    if (strncmp(*at, prefix, length) != 0) return false;
    *at += length;
    return true;
}

/* "name number\n" */
static bool read_finding(const char **at, finding *row) {
    if (!pass(at, row->name) || !pass(at, " ")) return false;
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > 6 || **at == '0') return false;
    row->value = atoi(*at);
    *at += digits;
    return row->value >= row->least && row->value <= row->most && pass(at, "\n");
}

static bool read_findings(const char *text, mc_kernel *kernel) {
    finding list[FINDINGS];
    list_findings(kernel, list);
    for (int i = 0; i < FINDINGS; i++)
        if (!read_finding(&text, &list[i])) return false;
    kernel->contract.ptx_version = list[PTX_VERSION].value;
    kernel->registers = list[REGISTERS].value;
    kernel_limit_registers(kernel, (unsigned)list[REGISTER_LIMIT].value);
    return *text == '\0';
}

mc_status mc_kernel_restore(const char *text, mc_kernel **out, mc_diag *diag) {
    mc_kernel *kernel = NULL;
    *out = NULL;
    if (!pass(&text, first_line) || !pass(&text, fields_name))
        return mc_fail(diag, MC_FORMAT, "a saved kernel: not of generator %s", mc_generator_id());
    size_t size = strcspn(text, "\n");
    mc_status status = kernel_of_fields(text, size, &kernel, diag);
    if (status == MC_USAGE) return mc_fail(diag, MC_FORMAT, "a saved kernel: no kernel has its fields");
    if (status != MC_OK) return status;
    bool canonical = strlen(kernel->fields) == size && strncmp(text, kernel->fields, size) == 0;
    if (canonical && text[size] == '\n' && read_findings(text + size + 1, kernel)) *out = kernel;
    else mc_kernel_destroy(kernel);
    return *out ? MC_OK : mc_fail(diag, MC_FORMAT, "a saved kernel: damaged");
}
