/* Values that a kernel makes wider before it multiplies them: all 256 bytes of A by 1, and of B by 1, are what they are
 * as elements of their types, to the bit. forms_test SPEC ARCH LHS RHS; on the simulator. */
#include "check.h"
#include "base/element.h"
#include "base/real.h"
#include "mcrt_internal.h"
#include "verify/run.h"
#include <math.h>
#include <string.h>

enum { BYTES = 256, VEC = 8, BLOCKS = BYTES / VEC };

typedef struct session {
    mc_device *device;
    mc_kernel *kernel;
    mc_type lhs, rhs;
    mc_diag *diag;
} session;

/* Element BYTE of a type of at most 8 bits; of 4 bits its low half. */
static int64_t element_of(mc_type type, int byte) { return element_wrap(type, byte); }
static int64_t one_of(mc_type type) { return mc_type_is_real(type) ? (int64_t)real_to_bits(type, 1) : 1; }

static float value_of(mc_type type, int64_t element) {
    return mc_type_is_real(type) ? real_from_bits(type, (uint32_t)element) : (float)element;
}

/* A column of BYTES rows times a row of BYTES columns: A's bytes by 1, or 1 by B's. */
static void check_side(session *s, bool of_a) {
    int64_t row_ptr[BLOCKS + 1];
    int32_t col_idx[BLOCKS] = {0};
    char values[4 * BYTES] = {0};
    mc_vsparse a = {s->lhs, VEC, BYTES, 1, BLOCKS, BLOCKS, row_ptr, col_idx, values, {0}};
    mc_dense b, got = {0};
    mc_run run = {.operands = {.matrix = &a}};
    for (int64_t i = 0; i <= BLOCKS; i++) row_ptr[i] = i;
    CHECK(mc_dense_create(s->rhs, 1, BYTES, BYTES, &b, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    for (int i = 0; i < BYTES; i++) {
        mc_vsparse_set_value(&a, i / VEC, i % VEC, of_a ? element_of(s->lhs, i) : one_of(s->lhs));
        mc_dense_set(&b, 0, i, of_a ? one_of(s->rhs) : element_of(s->rhs, i));
    }
    run.operands.inputs[operator_operand(operator_named("spmm"), "b")] = &b;
    mc_status status = mc_operator_run(s->device, s->kernel, NULL, &run, NULL, &got, s->diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(s->diag));
    for (int i = 0; status == MC_OK && i < BYTES * BYTES; i++) {
        mc_type type = of_a ? s->lhs : s->rhs;
        int byte = of_a ? i / BYTES : i % BYTES;
        float want = value_of(type, element_of(type, byte)),
              is = (float)mc_dense_real(&got, i / BYTES, i % BYTES);
        CHECK(is == want || (isnan(is) && isnan(want)), "%s %d of %c: %g, must be %g", mc_type_text(type),
              byte, of_a ? 'A' : 'B', (double)is, (double)want);
    }
    mc_dense_free(&got);
    mc_dense_free(&b);
}

int main(int argc, char **argv) {
    session s = {.diag = mc_diag_create()};
    mc_spec *spec = NULL;
    if (argc < 5 || mc_device_open("sim", &s.device, s.diag) != MC_OK) return 2;
    const mc_setting settings[] = {{"arch", argv[2]}, {"lhs", argv[3]},  {"rhs", argv[4]},
                                   {"out", "f32"},    {"scale", "none"}, {"vec", "8"}};
    mc_status status = mc_spec_read(argv[1], settings, sizeof settings / sizeof *settings, &spec, s.diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &s.kernel, s.diag);
    if (status == MC_OK) status = mc_type_of(s.kernel, "lhs", &s.lhs, s.diag);
    if (status == MC_OK) status = mc_type_of(s.kernel, "rhs", &s.rhs, s.diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(s.diag));
    if (status == MC_OK) check_side(&s, true);
    if (status == MC_OK && mc_type_bits(s.rhs) == 8) check_side(&s, false);
    mc_kernel_destroy(s.kernel);
    mc_spec_destroy(spec);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}
