/* A float of 8 bits that is nothing but a row of the table: its values, its rounding, matrices, files,
   sums within bounds. The row is T(X, E3M4, "e3m4", 8, 1, "<c1", FINITE, 1, 3, ...). */
#include <math.h>
#include "base/real.h"
#include "check.h"
#include "mcrt_internal.h"

static void test_values(void) {
    static const struct {
        uint32_t bits;
        float value;
    } known[] = {{0x00, 0},  {0x01, 0x1p-6f}, {0x0f, 0xfp-6f}, {0x10, 0x1p-2f},
                 {0x30, 1},  {0x38, 1.5f},    {0x6f, 15.5f},   {0x70, 16},
                 {0x7e, 30}, {0xfe, -30},     {0x81, -0x1p-6f}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK(real_from_bits(MC_E3M4, known[i].bits) == known[i].value, "%#x: %g", known[i].bits,
              (double)real_from_bits(MC_E3M4, known[i].bits));
        CHECK(real_to_bits(MC_E3M4, known[i].value) == known[i].bits, "%g", (double)known[i].value);
    }
    CHECK(isnan(real_from_bits(MC_E3M4, 0x7f)) && isnan(real_from_bits(MC_E3M4, 0xff)), "NaNs");
    CHECK(real_to_bits(MC_E3M4, NAN) == 0x7f, "the NaN");
    CHECK(real_to_bits(MC_E3M4, 1e30f) == 0x7e && real_to_bits(MC_E3M4, -INFINITY) == 0xfe, "no infinities");
    CHECK(real_to_bits(MC_E3M4, 1.03125f) == 0x30 && real_to_bits(MC_E3M4, 1.09375f) == 0x32, "ties to even");
    for (uint32_t bits = 0; bits < 256; bits++)
        if ((bits & 0x7f) != 0x7f)
            CHECK(real_to_bits(MC_E3M4, real_from_bits(MC_E3M4, bits)) == bits, "%#x", bits);
}

static void test_matrices(mc_diag *diag) {
    mc_dense a, back;
    CHECK(mc_dense_create(MC_E3M4, 3, 5, 5, &a, diag) == MC_OK, "%s", mc_diag_text(diag));
    for (int64_t i = 0; i < 15; i++) mc_dense_set(&a, i / 5, i % 5, 16 * i);
    CHECK(mc_dense_real(&a, 0, 4) == 2 && mc_dense_get(&a, 2, 4) == 224, "elements");
    CHECK(mc_npy_write("e3m4.npy", &a, diag) == MC_OK && mc_npy_read("e3m4.npy", &back, diag) == MC_OK, "%s",
          mc_diag_text(diag));
    CHECK(back.type == MC_E3M4 && mc_dense_compare(&back, &a, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_dense_free(&a);
    mc_dense_free(&back);
}

static void test_sums(mc_diag *diag) {
    int64_t row_ptr[] = {0, 3};
    int32_t columns[] = {0, 1, 2};
    uint8_t values[] = {0x30, 0x01, 0xfe}, rows[] = {0x7e, 0x30, 0x30};
    const mc_vsparse a = {MC_E3M4, 1, 1, 3, 1, 3, row_ptr, columns, values, {0}};
    const mc_dense b = {MC_E3M4, 3, 1, 1, rows};
    mc_dense sums, bounds;
    CHECK(mc_reference_spmm(&a, &b, &sums, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(mc_dense_real(&sums, 0, 0) == 0x1p-6, "30 + 2^-6 - 30 is %g", mc_dense_real(&sums, 0, 0));
    CHECK(mc_reference_spmm_bounds(&a, &b, &bounds, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(mc_dense_real(&bounds, 0, 0) > 0 && mc_dense_real(&bounds, 0, 0) < 0x1p-8, "bound %g",
          mc_dense_real(&bounds, 0, 0));
    mc_dense_free(&sums);
    mc_dense_free(&bounds);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    mc_type type;
    CHECK(mc_type_from_text("e3m4", &type, diag) == MC_OK && type == MC_E3M4 && mc_type_is_real(type),
          "e3m4");
    test_values();
    test_matrices(diag);
    test_sums(diag);
    mc_diag_destroy(diag);
    return check_end();
}
