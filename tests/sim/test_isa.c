/* Runs the rows of isa.h. With the argument `dump` it prints those for sm_80, with `dump 90` those for sm_90, with
 * `dump foreign` the others, for ptxas. */
#include "harness.h"
#include "isa.h"

static void run_row(const char *header, const struct isa_row *row) {
    char text[ISA_TEXT + ISA_HEADER_TEXT];
    uint64_t scratch, out, got = 0;
    ptxsim *sim;
    strcpy(text, header);
    isa_entry(text + strlen(text), "k", row);
    ptxsim_options options = {.size = sizeof options, .no_races = 1}; /* all lanes store in one place */
    CHECK(ptxsim_create(&options, &sim) == PTXSIM_OK);
    ptxsim_alloc(sim, 64 * 32, &scratch);
    ptxsim_alloc(sim, 8, &out);
    uint64_t a = row->a, b = row->b, c = row->c;
    void *params[] = {&a, &b, &c, &scratch, &out};
    ptxsim_status status = run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){32, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "%s: %s", row->code, ptxsim_fault_text(sim));
    if (status == PTXSIM_OK) {
        status = ptxsim_read(sim, out, &got, isa_result_bytes(row));
        CHECK(status == PTXSIM_OK, "%s: %s", row->code, ptxsim_fault_text(sim));
        CHECK(got == row->want, "%s (0x%llx, 0x%llx, 0x%llx): got 0x%llx, want 0x%llx", row->code,
              (unsigned long long)a, (unsigned long long)b, (unsigned long long)c, (unsigned long long)got,
              (unsigned long long)row->want);
    }
    ptxsim_destroy(sim);
}

static void dump(const struct isa_module *module) {
    char text[ISA_TEXT], name[16];
    printf("%s", module->header);
    for (int i = 0; i < module->count; i++) {
        snprintf(name, sizeof name, "e%d", i);
        isa_entry(text, name, &module->rows[i]);
        printf("%s", text);
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        dump(&isa_modules[argc < 3 ? 0 : strcmp(argv[2], "90") == 0 ? 1 : 2]);
        return 0;
    }
    for (int m = 0; m < ISA_MODULES; m++)
        for (int i = 0; i < isa_modules[m].count; i++)
            run_row(isa_modules[m].header, &isa_modules[m].rows[i]);
    return check_end();
}
