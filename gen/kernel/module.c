/* A whole PTX module: the header that says what the kernel is, its entry, its body (ptx/print.c). */
#include "kernel/kernel.h"
#include <string.h>

/* Prints a file's name. PTX is ASCII text: what is not printable shows as '?'. */
static void print_name(const char *name, mc_text *text) {
    for (; *name; name++) text_add(text, "%c", *name > ' ' && *name < 127 ? *name : '?');
}

static void print_lines(const char *line, mc_text *text) {
    while (*line) {
        int length = (int)strcspn(line, "\n");
        text_add(text, "// %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

/* Prints where the kernel comes from: nothing for one that was asked for by its fields, which comes from no
   file. */
static void print_origin(const char *spec_name, mc_text *text) {
    if (!spec_name) return;
    const char *slash = strrchr(spec_name, '/');
    text_add(text, " from ");
    print_name(slash ? slash + 1 : spec_name, text);
}

static void print_header(const mc_kernel *kernel, const char *spec_name, mc_text *text) {
    text_add(text, "// %s\n", kernel->contract.entry);
    print_lines(kernel->solver->computes(kernel->plan), text);
    print_lines(kernel->solver->how(kernel->plan), text);
    text_add(text, "//\n// Made by mcgen " MC_VERSION);
    print_origin(spec_name, text);
    text_add(text, ", variant %016llx:\n", (unsigned long long)kernel->hash);
    text_add(text, "//   %s\n//\n", kernel->fields);
    contract_text(kernel, "// ", text);
}

static void print_param(const mc_param *param, bool last, mc_text *text) {
    if (param->kind == MC_PARAM_TENSOR_MAP)
        text_add(text, "    .param .align %u .b8 %s[%d]", param->align, param->name, MC_TENSOR_MAP_BYTES);
    else text_add(text, "    .param .%s %s", param->type, param->name);
    text_add(text, last ? "\n" : ",\n");
}

static const char *why_so_many(const mc_builder *b) {
    if (b->launch_registers) return "warpgroups exchange registers: setmaxnreg";
    return b->fills_shared ? "as many thread blocks a multiprocessor as shared memory allows"
                           : "spend registers on loads in flight";
}

static void print_entry(const mc_builder *b, const mc_kernel *kernel, mc_text *text) {
    const mc_contract *contract = &kernel->contract;
    text_add(text, "\n.version %d.%d\n.target %s\n.address_size 64\n\n", contract->ptx_version / 10,
             contract->ptx_version % 10, contract->target);
    for (size_t i = 0; i < b->shared_count; i++)
        if (b->shareds[i].bytes == 0)
            text_add(text, ".extern .shared .align %u .b8 %s[];\n\n", b->shareds[i].align,
                     b->shareds[i].name);
    text_add(text, ".visible .entry %s(\n", contract->entry);
    for (size_t i = 0; i < contract->param_count; i++)
        print_param(&contract->params[i], i + 1 == contract->param_count, text);
    text_add(text, ")\n.reqntid %u, %u, %u\n", contract->block[0], contract->block[1], contract->block[2]);
    if (contract->cluster[0])
        text_add(text, ".reqnctapercluster %u, %u, %u\n", contract->cluster[0], contract->cluster[1],
                 contract->cluster[2]);
    text_add(text, ".maxnreg %d // %s\n", kernel->register_limit, why_so_many(b));
}

void print_module(const mc_builder *b, const mc_kernel *kernel, const char *spec_name, mc_text *text) {
    print_header(kernel, spec_name, text);
    print_entry(b, kernel, text);
    print_body(b, text);
}
