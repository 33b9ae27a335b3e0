/* Runs the foreign kernels on the simulator, in every order and with copies that land early and late, against their
 * references. test_foreign FOLDER [NAME] */
#include "../harness.h"
#include "foreign.h"

#include <string.h>

enum { ORDERS = 5 };

static void choose_order(ptxsim *sim, int order) {
    ptxsim_set_order(sim, order == 1 ? PTXSIM_REVERSED : PTXSIM_IN_ORDER);
    ptxsim_set_landing(sim, order == 1 ? PTXSIM_LANDING_FIRST : PTXSIM_LANDING_ANY);
    if (order > 1) ptxsim_set_seed(sim, (uint64_t)order);
}

/* An allocation with BYTES of FROM in it, or of zeros. */
static uint64_t put(ptxsim *sim, size_t bytes, const void *from) {
    uint64_t address = 0;
    CHECK(ptxsim_alloc(sim, bytes, &address) == PTXSIM_OK);
    if (from) CHECK(ptxsim_write(sim, address, from, bytes) == PTXSIM_OK);
    else CHECK(ptxsim_fill(sim, address, 0, bytes) == PTXSIM_OK);
    return address;
}

static ptxsim_dim3 extent(const unsigned size[3]) { return (ptxsim_dim3){size[0], size[1], size[2]}; }

/* The kernel's result in GOT; false after a fault. */
static int launch(ptxsim *sim, const struct foreign_case *c, const ptxsim_module *module, const void *a,
                  const void *b, void *got) {
    const ptxsim_function *kernel = NULL;
    uint64_t left = put(sim, c->a_bytes, a), right = put(sim, c->b_bytes, b),
             out = put(sim, c->out_bytes, NULL);
    unsigned n = c->n;
    void *params[] = {&left, &right, &out, &n};
    ptxsim_status status = ptxsim_module_function(sim, module, "kernel", &kernel);
    if (status == PTXSIM_OK)
        status = ptxsim_launch(sim, kernel, extent(c->grid), extent(c->block), 0, params);
    if (status == PTXSIM_OK) status = ptxsim_read(sim, out, got, c->out_bytes);
    CHECK(status == PTXSIM_OK, "%s: %s", c->name, ptxsim_fault_text(sim));
    return status == PTXSIM_OK;
}

/* What `global` leaves behind: a launch of 4 blocks adds 4 to the first word, and counts the odd elements of A. */
static void check_variables(ptxsim *sim, const ptxsim_module *module, const unsigned *a, unsigned n) {
    uint64_t address;
    size_t bytes;
    unsigned history[4], odd = 0;
    for (unsigned i = 0; i < n; i++) odd += a[i] & 1;
    CHECK(ptxsim_module_variable(sim, module, "history", &address, &bytes) == PTXSIM_OK &&
          bytes == sizeof history);
    CHECK(ptxsim_read(sim, address, history, sizeof history) == PTXSIM_OK);
    CHECK(history[0] == 15 && history[1] == 22 && history[2] == odd && history[3] == 44, "%u %u %u %u",
          history[0], history[1], history[2], history[3]);
}

static void run(const struct foreign_case *c, const char *text, int order, const void *a, const void *b,
                const void *want) {
    ptxsim *sim = NULL;
    ptxsim_module *module = NULL;
    char message[256];
    void *got = calloc(1, c->out_bytes);
    CHECK(got && ptxsim_create(NULL, &sim) == PTXSIM_OK);
    choose_order(sim, order);
    ptxsim_status status = ptxsim_module_load(sim, text, &module);
    CHECK(status == PTXSIM_OK, "%s: %s", c->name, ptxsim_fault_text(sim));
    if (status == PTXSIM_OK && launch(sim, c, module, a, b, got)) {
        int differs = foreign_differs(c, got, want, message, sizeof message);
        CHECK(!differs, "%s", message);
        if (strcmp(c->name, "global") == 0) check_variables(sim, module, a, c->n);
    }
    ptxsim_destroy(sim);
    free(got);
}

static void test(const struct foreign_case *c, const char *folder) {
    void *a = calloc(1, c->a_bytes), *b = calloc(1, c->b_bytes), *want = calloc(1, c->out_bytes);
    char *text = foreign_text(folder, c->name);
    CHECK(text != NULL, "%s/%s.ptx", folder, c->name);
    CHECK(a && b && want);
    foreign_fill(a, c->a_bytes, c->a, 1);
    foreign_fill(b, c->b_bytes, c->b, 2);
    c->reference(a, b, want, c->n);
    for (int order = 0; text && order < ORDERS; order++) run(c, text, order, a, b, want);
    free(text);
    free(a);
    free(b);
    free(want);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    for (int i = 0; i < foreign_count; i++)
        if (argc < 3 || strcmp(argv[2], foreign_cases[i].name) == 0) test(&foreign_cases[i], argv[1]);
    return check_end();
}
