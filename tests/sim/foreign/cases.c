/* The launches of the foreign kernels. */
#include "references.h"

/* CASE(name, grid, block, n, inputs, bytes of a, b and the result, comparison, tolerance) */
#define DIM(...)                                                                                             \
    { __VA_ARGS__ }
#define CASE(name, grid, block, n, a, b, a_bytes, b_bytes, out_bytes, output, tolerance)                     \
    {                                                                                                        \
#name, reference_##name, grid, block, n, FOREIGN_##a, FOREIGN_##b, a_bytes, b_bytes, out_bytes,      \
            FOREIGN_##output, tolerance                                                                      \
    }

const struct foreign_case foreign_cases[] = {
    CASE(saxpy, DIM(2, 1, 1), DIM(96, 1, 1), 500, FLOATS, FLOATS, 2000, 2000, 2000, F32, 0),
    CASE(reduce, DIM(3, 1, 1), DIM(256, 1, 1), 700, WORDS, WORDS, 2800, 2800, 12, EXACT, 0),
    CASE(scan, DIM(3, 1, 1), DIM(128, 1, 1), 300, WORDS, WORDS, 1200, 1200, 1200, EXACT, 0),
    CASE(histogram, DIM(2, 1, 1), DIM(128, 1, 1), 600, WORDS, WORDS, 2400, 4, 1024, EXACT, 0),
    CASE(transpose, DIM(2, 3, 1), DIM(32, 8, 1), 64 * 96, WORDS, WORDS, 24576, 4, 24576, EXACT, 0),
    CASE(half2, DIM(2, 1, 1), DIM(128, 1, 1), 200, HALVES, HALVES, 800, 800, 800, F16, 0),
    CASE(half, DIM(2, 1, 1), DIM(64, 1, 1), 100, FLOATS, FLOATS, 400, 400, 400, F32, 5e-3),
    CASE(bf16, DIM(2, 1, 1), DIM(64, 1, 1), 100, FLOATS, FLOATS, 400, 400, 400, F32, 1e-6),
    CASE(shuffle, DIM(2, 1, 1), DIM(96, 1, 1), 192, WORDS, WORDS, 768, 768, 768, EXACT, 0),
    CASE(call, DIM(3, 1, 1), DIM(64, 1, 1), 192, WORDS, WORDS, 768, 768, 768, EXACT, 0),
    CASE(local, DIM(2, 1, 1), DIM(64, 1, 1), 128, WORDS, WORDS, 512, 512, 512, EXACT, 0),
    CASE(constant, DIM(2, 1, 1), DIM(64, 1, 1), 128, WORDS, WORDS, 512, 512, 512, EXACT, 0),
    CASE(global, DIM(4, 1, 1), DIM(64, 1, 1), 256, WORDS, WORDS, 1024, 1024, 1024, EXACT, 0),
    CASE(math, DIM(2, 1, 1), DIM(64, 1, 1), 100, FLOATS, FLOATS, 400, 400, 400, F32, 1e-4),
    CASE(fastmath, DIM(2, 1, 1), DIM(64, 1, 1), 100, FLOATS, FLOATS, 400, 400, 400, F32, 1e-4),
    CASE(double, DIM(2, 1, 1), DIM(64, 1, 1), 100, FLOATS, FLOATS, 400, 400, 800, F64, 1e-13),
    CASE(divide, DIM(2, 1, 1), DIM(64, 1, 1), 100, WORDS, WORDS, 400, 400, 800, EXACT, 0),
    CASE(bits, DIM(2, 1, 1), DIM(64, 1, 1), 128, WORDS, WORDS, 512, 512, 512, EXACT, 0),
    CASE(matmul, DIM(2, 2, 1), DIM(16, 16, 1), 1024, FLOATS, FLOATS, 4096, 4096, 4096, F32, 0),
    CASE(tensor, DIM(1, 1, 1), DIM(32, 1, 1), 128, FLOATS, FLOATS, 1024, 512, 512, F32, 0),
    CASE(pipeline, DIM(1, 1, 1), DIM(128, 1, 1), 2048, WORDS, WORDS, 8192, 512, 512, EXACT, 0),
    CASE(async, DIM(2, 1, 1), DIM(64, 1, 1), 512, WORDS, WORDS, 2048, 2048, 2048, EXACT, 0),
    CASE(barrier, DIM(1, 1, 1), DIM(128, 1, 1), 256, WORDS, WORDS, 1024, 256, 512, EXACT, 0),
    CASE(cluster, DIM(8, 1, 1), DIM(64, 1, 1), 512, WORDS, WORDS, 2048, 2048, 2048, EXACT, 0),
    CASE(template, DIM(2, 1, 1), DIM(64, 1, 1), 128, WORDS, WORDS, 512, 512, 512, EXACT, 0),
    CASE(switch, DIM(2, 1, 1), DIM(64, 1, 1), 128, WORDS, WORDS, 512, 512, 512, EXACT, 0),
    CASE(atomics, DIM(2, 1, 1), DIM(128, 1, 1), 256, WORDS, WORDS, 1024, 1024, 80, EXACT, 0),
    CASE(vector, DIM(2, 1, 1), DIM(64, 1, 1), 100, FLOATS, WORDS, 1600, 400, 1600, EXACT, 0),
    CASE(bulk, DIM(4, 1, 1), DIM(64, 1, 1), 256, WORDS, WORDS, 1024, 1024, 1024, EXACT, 0),
    CASE(wgmma, DIM(1, 1, 1), DIM(128, 1, 1), 4, HALVES, HALVES, 2048, 256, 2048, F32, 0),
};

const int foreign_count = (int)(sizeof foreign_cases / sizeof *foreign_cases);
