/* Kernels without their spec: by their fields, saved and restored, and what is damaged or nonsense. The specs are those built in. */
#include <stdlib.h>
#include "check.h"
#include "mcgen.h"

enum { VARIANTS = 3 }; /* of each spec: the first, one in the middle, the last */

static mc_diag *diag;

/* PTX without the line of its header that names the spec. */
static char *without_origin(const char *ptx) {
    const char *line = strstr(ptx, "// Made by mcgen "), *end = line ? strchr(line, '\n') : NULL;
    char *copy = malloc(strlen(ptx) + 1);
    if (copy && end) sprintf(copy, "%.*s%s", (int)(line - ptx), ptx, end);
    return copy;
}

static bool equal_without_origin(const char *a, const char *b) {
    char *copy_a = without_origin(a), *copy_b = without_origin(b);
    bool equal = copy_a && copy_b && strcmp(copy_a, copy_b) == 0;
    free(copy_a);
    free(copy_b);
    return equal;
}

static void check_alike(const mc_kernel *kernel, const mc_kernel *other) {
    const mc_contract *c = mc_kernel_contract(kernel), *o = mc_kernel_contract(other);
    CHECK(strcmp(mc_kernel_fields(kernel), mc_kernel_fields(other)) == 0, "fields");
    CHECK(mc_kernel_hash(kernel) == mc_kernel_hash(other), "hash");
    CHECK(strcmp(c->entry, o->entry) == 0 && c->param_count == o->param_count, "%s", c->entry);
    CHECK(c->entry != o->entry, "a contract of its own");
    for (int json = 0; json <= 1; json++) {
        char *a = mc_kernel_describe(kernel, json), *b = mc_kernel_describe(other, json);
        CHECK(a && b && strcmp(a, b) == 0, "%s: described differently", mc_kernel_fields(kernel));
        free(a);
        free(b);
    }
}

static void check_restored(const mc_kernel *kernel) {
    mc_kernel *restored = NULL;
    char *text = mc_kernel_save(kernel);
    CHECK(text && mc_kernel_restore(text, &restored, diag) == MC_OK, "%s", mc_diag_text(diag));
    if (text && restored) {
        check_alike(kernel, restored);
        CHECK(!mc_kernel_ptx(restored), "nothing was emitted");
        char *again = mc_kernel_save(restored);
        CHECK(again && strcmp(again, text) == 0, "saved again");
        free(again);
    }
    mc_kernel_destroy(restored);
    free(text);
}

static void check_variant(const mc_spec *spec, size_t variant) {
    mc_kernel *kernel, *same;
    char *fields = mc_spec_variant_text(spec, variant, true);
    CHECK(mc_kernel_generate(spec, variant, &kernel, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(mc_kernel_from_fields(fields, &same, diag) == MC_OK, "%s: %s", fields, mc_diag_text(diag));
    if (kernel && same) {
        CHECK(strcmp(mc_kernel_fields(kernel), fields) == 0, "%s", fields);
        CHECK(mc_kernel_hash(kernel) == mc_spec_variant_hash(spec, variant), "hash of %s", fields);
        CHECK(equal_without_origin(mc_kernel_ptx(kernel), mc_kernel_ptx(same)), "%s: other PTX", fields);
        CHECK_TEXT(mc_kernel_ptx(same), "// Made by mcgen " MC_VERSION ", variant ");
        check_alike(kernel, same);
        check_restored(kernel);
    }
    mc_kernel_destroy(same);
    mc_kernel_destroy(kernel);
    free(fields);
}

static void check_specs(void) {
    const mc_builtin_spec *shipped = mc_builtin_specs();
    size_t count = 0;
    for (; shipped[count].name; count++) {
        mc_spec *spec;
        CHECK(!count || strcmp(shipped[count - 1].name, shipped[count].name) < 0, "in the order of names");
        CHECK(mc_spec_read_text(shipped[count].name, shipped[count].text, strlen(shipped[count].text), NULL,
                                0, &spec, diag) == MC_OK,
              "%s", mc_diag_text(diag));
        if (!spec) continue;
        for (size_t i = 0; i < VARIANTS; i++)
            check_variant(spec, i * (mc_spec_variant_count(spec) - 1) / (VARIANTS - 1));
        mc_spec_destroy(spec);
    }
    CHECK(count >= 25, "%zu specs", count);
}

/* -- For a GPU ---------------------------------------------------------------------------------------- */

static void check_text_for(void) {
    static const char text[] = "op = 'spmm'", named[] = "op = 'spmm'; arch = 'sm_80'";
    const struct {
        const char *text;
        int capability;
        const char *arch;
    } rows[] = {{text, 0, "sm_80"}, {text, 90, "sm_90"}, {text, 103, "sm_100"}, {named, 90, "sm_80"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_spec *spec;
        CHECK(mc_spec_read_text_for("x.lua", rows[i].text, strlen(rows[i].text), NULL, 0, rows[i].capability,
                                    &spec, diag) == MC_OK,
              "%s", mc_diag_text(diag));
        char *fields = spec ? mc_spec_variant_text(spec, 0, true) : NULL, want[32];
        snprintf(want, sizeof want, "arch=%s ", rows[i].arch);
        if (fields) CHECK_TEXT(fields, want);
        free(fields);
        mc_spec_destroy(spec);
    }
}

/* -- Fields that no kernel has ------------------------------------------------------------------------ */

static void check_refused(const char *fields, size_t messages, const char *message) {
    mc_kernel *kernel;
    mc_diag_clear(diag);
    CHECK(mc_kernel_from_fields(fields, &kernel, diag) == MC_USAGE && !kernel, "%s", fields);
    CHECK(mc_diag_count(diag) == messages, "%s: %zu messages: %s", fields, mc_diag_count(diag),
          mc_diag_text(diag));
    CHECK_TEXT(mc_diag_text(diag), message);
}

static void check_errors(void) {
    char many[4096] = "op=spmm", longest[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (int i = 0; i < 80; i++) sprintf(many + strlen(many), " field%d=1", i);
    check_refused("", 1, "fields: op: missing");
    check_refused("vec=8", 1, "fields: op: missing");
    check_refused("op=spmv", 1, "fields: op: no such kernel family (did you mean \"spmm\"?)");
    check_refused("op=spmm tile_nn=8", 1, "fields: tile_nn: unknown field (did you mean 'tile_n'?)");
    check_refused("op=spmm tile_m=8", 1, "fields: tile_m: unknown field: a thread block has vec * warps");
    check_refused("op=spmm vec=3 prefetch=maybe out=s31", 3, "fields: vec: 3 is not one of 1, 2, 4, 8, 16");
    check_refused("op=spmm vec=3 tile_m=8 warps=2 split=8 rubbish", 4,
                  "fields: split: 8 warps cannot share a row block in a thread block of 2");
    check_refused("op=spmm stride=32,64", 1, "fields: stride: \"32,64\" is not one of 32, 64");
    check_refused("op=spmm vec=8 vec=8", 1, "fields: vec: stands twice");
    check_refused("op=spmm =8", 1, "fields: =8: want name=value");
    check_refused("op=spmm vec", 1, "fields: vec: want name=value");
    check_refused("op=spmm vec=", 1, "fields: vec: \"\" is not one of");
    check_refused("op=spmm vec=8\n", 1, "fields: vec: \"8");
    check_refused("op=spmm arch=sm_80 staging=tma", 1, "fields: staging: ");
    check_refused(longest, 2, "want name=value");
    check_refused(many, 80, "fields: field79: too many fields");
}

static void check_defaults(void) {
    mc_kernel *kernel, *spaced;
    CHECK(mc_kernel_from_fields("op=spmm", &kernel, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(mc_kernel_from_fields("  vec=8   op=spmm ", &spaced, diag) == MC_OK, "%s", mc_diag_text(diag));
    if (kernel && spaced) check_alike(kernel, spaced);
    if (kernel) CHECK_TEXT(mc_kernel_fields(kernel), "op=spmm arch=sm_80 lhs=");
    mc_kernel_destroy(kernel);
    mc_kernel_destroy(spaced);
}

/* -- Damage ------------------------------------------------------------------------------------------- */

/* Another kernel, whole, or none. */
static void restore_damaged(const char *text) {
    mc_kernel *kernel;
    mc_diag_clear(diag);
    mc_status status = mc_kernel_restore(text, &kernel, diag);
    CHECK(status == (kernel ? MC_OK : MC_FORMAT), "%s: %s", mc_status_text(status), text);
    CHECK(kernel || mc_diag_count(diag) > 0, "without a word");
    if (kernel) {
        char *again = mc_kernel_save(kernel), *described = mc_kernel_describe(kernel, true);
        CHECK(again && strcmp(again, text) == 0, "read %s, saved %s", text, again ? again : "");
        CHECK(described != NULL, "not described");
        free(again);
        free(described);
    }
    mc_kernel_destroy(kernel);
}

static void check_damage(const char *fields) {
    mc_kernel *kernel;
    CHECK(mc_kernel_from_fields(fields, &kernel, diag) == MC_OK, "%s", mc_diag_text(diag));
    char *text = mc_kernel_save(kernel), *copy = strdup(text);
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) { /* a byte that becomes 0 cuts the text */
            copy[i] = (char)(text[i] ^ 1 << bit);
            restore_damaged(copy);
        }
        copy[i] = text[i];
    }
    for (size_t i = 0; i < size; i++) {
        snprintf(copy, i + 1, "%s", text);
        mc_kernel *cut;
        CHECK(mc_kernel_restore(copy, &cut, NULL) == MC_FORMAT && !cut, "%zu bytes of %zu", i, size);
    }
    free(copy);
    free(text);
    mc_kernel_destroy(kernel);
}

static void check_foreign(void) {
    static const char *const texts[] = {"", "\n", "mcgen kernel 0000000000000000\nfields op=spmm\n",
                                        "fields op=spmm\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mc_kernel *kernel;
        CHECK(mc_kernel_restore(texts[i], &kernel, NULL) == MC_FORMAT && !kernel, "%s", texts[i]);
    }
    CHECK(strlen(mc_generator_id()) == 16 && strspn(mc_generator_id(), "0123456789abcdef") == 16, "%s",
          mc_generator_id());
}

int main(void) {
    diag = mc_diag_create();
    check_specs();
    check_text_for();
    check_errors();
    check_defaults();
    check_damage("op=spmm");
    check_damage("op=sddmm arch=sm_90 k=256");
    check_foreign();
    mc_diag_destroy(diag);
    return check_end();
}
