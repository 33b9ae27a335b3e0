/* What a family lists has room, or the kernel is refused: never a write out of bounds. */
#include "check.h"
#include "kernel/kernel.h"
#include "ops/families.h"
#include <stdlib.h>

/* What the bytes behind a list hold. */
enum { SENTINEL = 0x5a };

static bool is_untouched(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != SENTINEL) return false;
    return true;
}

static void test_complaints(void) {
    struct {
        mc_complaints list;
        unsigned char behind[sizeof(mc_complaint)];
    } room = {0};
    memset(room.behind, SENTINEL, sizeof room.behind);
    for (int i = 0; i < 2 * MC_MAX_FIELDS; i++) complain(&room.list, i, "complaint %d", i);
    CHECK(room.list.count == MC_MAX_FIELDS, "%zu complaints", room.list.count);
    char last[32];
    snprintf(last, sizeof last, "complaint %d", MC_MAX_FIELDS - 1);
    CHECK_TEXT(room.list.list[MC_MAX_FIELDS - 1].text, last);
    CHECK(is_untouched(room.behind, sizeof room.behind), "complaints beyond their list");
}

/* -- A family that lists too much --------------------------------------------------------------------- */

static size_t params, arrays, facts; /* that the family adds */

static void make_plan(const int64_t *point, void *plan, mc_complaints *complaints) {
    (void)point, (void)plan, (void)complaints;
}

static void make_contract(const void *plan, mc_contract *c) {
    (void)plan;
    for (size_t i = 0; i < params; i++) add_shape(c, "m", MC_OPEN, "a parameter");
    for (size_t i = 0; i < arrays; i++) add_array(c, 16, (mc_array){"a", "s32", "m", "an array"});
    c->shared_static = 77; /* behind the lists */
}

static void make_facts(const void *plan, mc_facts *list) {
    (void)plan;
    for (size_t i = 0; i < facts; i++) add_fact(list, "fact", (int64_t)i, "a fact");
}

static void entry_name(const void *plan, char name[MC_MAX_ENTRY]) {
    (void)plan;
    snprintf(name, MC_MAX_ENTRY, "entry");
}

static const char *const ops[] = {"greedy", NULL};
static const mc_field fields[] = {{"op", NAMES = ops, .doc = ""}, ARCH_FIELD};
SCHEMA_FITS(fields, FIELD_ARCH);
static const mc_solver kernels = {.name = "kernels",
                                  .plan = make_plan,
                                  .contract = make_contract,
                                  .facts = make_facts,
                                  .entry_name = entry_name};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &kernels;
}

static const mc_family greedy = {
    .name = "greedy", .fields = fields, .field_count = sizeof fields / sizeof *fields, .solver = solver};

/* An array is a parameter, too. */
static const struct {
    size_t params, arrays, facts;
    const char *message; /* NULL: it fits */
} rows[] = {
    {MC_MAX_PARAMS, 0, MC_MAX_FACTS, NULL},
    {MC_MAX_PARAMS - MC_MAX_ARRAYS, MC_MAX_ARRAYS, 0, NULL},
    {MC_MAX_PARAMS + 1, 0, 0, "greedy: 25 parameters, room for 24 (an error of the generator)"},
    {MC_MAX_PARAMS, 1, 0, "greedy: 25 parameters, room for 24"},
    {0, MC_MAX_ARRAYS + 1, 0, "greedy: 9 packed arrays, room for 8"},
    {0, 0, MC_MAX_FACTS + 1, "greedy: 25 facts, room for 24"},
    {3 * MC_MAX_PARAMS, 3 * MC_MAX_ARRAYS, 3 * MC_MAX_FACTS, "greedy: 96 parameters, room for 24"},
};

static void test_row(size_t row, const mc_spec *spec) {
    mc_diag *diag = mc_diag_create();
    mc_kernel *kernel = NULL;
    params = rows[row].params, arrays = rows[row].arrays, facts = rows[row].facts;
    mc_status status = mc_kernel_outline(spec, 0, &kernel, diag);
    if (rows[row].message) {
        CHECK(status == MC_CANNOT && !kernel, "row %zu: status %d", row, (int)status);
        CHECK_TEXT(mc_diag_text(diag), rows[row].message);
    } else {
        CHECK(status == MC_OK && kernel, "row %zu: %s", row, mc_diag_text(diag));
        CHECK(!kernel || mc_kernel_contract(kernel)->shared_static == 77, "row %zu", row);
    }
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
}

static void test_kernels(void) {
    uint32_t first = 0;
    mc_spec spec = {.family = &greedy, .variant_count = 1, .variants = &first};
    for (size_t i = 0; i < greedy.field_count; i++) spec.fields[i].count = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) test_row(i, &spec);
}

/* -- The families there are --------------------------------------------------------------------------- */

/* What point_hash and a kernel's texts have room for. */
static void test_schemas(void) {
    for (int f = 0; mc_families[f]; f++) {
        const mc_family *family = mc_families[f];
        CHECK(family->field_count <= MC_MAX_FIELDS, "%s: %zu fields", family->name, family->field_count);
        for (size_t i = 0; i < family->field_count; i++) {
            const mc_field *field = &family->fields[i];
            CHECK(strlen(field->name) < MC_MAX_NAME, "%s", field->name);
            for (int j = 0; field->kind == MC_FIELD_NAME && field->names[j]; j++)
                CHECK(strlen(field->names[j]) < MC_MAX_NAME, "%s: %s", field->name, field->names[j]);
        }
    }
}

int main(void) {
    test_complaints();
    test_kernels();
    test_schemas();
    return check_end();
}
