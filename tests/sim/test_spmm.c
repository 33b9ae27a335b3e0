/* A gather SpMM kernel written by hand, in the form that the generator's have: C^T = B^T A^T with A
 * vector-sparse. Checked against a plain product; with an argument it is a benchmark and prints the simulated
 * instructions a second. */
#include "harness.h"

#include <time.h>

enum { V = 8, STRIDE = 32, COLUMNS = 128 };

/* A string that grows. */
struct text {
    char *s;
    size_t used, size;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...) {
    va_list arguments;
    if (t->size - t->used < 512) t->s = realloc(t->s, t->size += 1 << 16);
    va_start(arguments, format);
    t->used += (size_t)vsnprintf(t->s + t->used, t->size - t->used, format, arguments);
    va_end(arguments);
}

/* Bytes of 4 rows b, one 32-bit word each, to 4 columns: registers x (rows) to y (columns). */
static void add_transpose(struct text *t, const char *y, const char *x, int word, int row) {
    const char *f = " prmt.b32 %%%s, %%%s, %%%s, 0x%s;\n";
    char r[4][16], d[4][16];
    for (int i = 0; i < 4; i++) {
        snprintf(r[i], sizeof r[i], "%s%d", x, 4 * (row + i) + word);
        snprintf(d[i], sizeof d[i], "%s%d", y, 4 * (row / 4) + 8 * word + i);
    }
    add(t, f, "u0", r[0], r[1], "5140");
    add(t, f, "u1", r[0], r[1], "7362");
    add(t, f, "u2", r[2], r[3], "5140");
    add(t, f, "u3", r[2], r[3], "7362");
    add(t, f, d[0], "u0", "u2", "5410");
    add(t, f, d[1], "u0", "u2", "7632");
    add(t, f, d[2], "u1", "u3", "5410");
    add(t, f, d[3], "u1", "u3", "7632");
}

/* Lane 4 g + t gathers rows idx[8 t .. 8 t + 7], bytes 16 g .. 16 g + 15: 32-bit word w of them is columns 16
   g + 4 w ... . After the transposes y<8 w + h * 4 + c> holds, of column 16 g + 4 w + c, rows 8 t + 4 h ... .
   mma m then has column 16 g + m as row g of its A operand and 16 g + m + 8 as row g + 8; its k slots are 4 t
   + i: row 8 t + i, 16 + 4 t + i: row 8 t + 4 + i. The sparse operand uses the same order. */
static void add_gather(struct text *t) {
    for (int row = 0; row < 8; row++) {
        add(t,
            " setp.ge.s32 %%q%d, %%i%d, 0;\n mov.u32 %%x%d, 0;\n mov.u32 %%x%d, 0;\n mov.u32 %%x%d, 0;\n "
            "mov.u32 %%x%d, 0;\n",
            row, row, 4 * row, 4 * row + 1, 4 * row + 2, 4 * row + 3);
        add(t, " mad.wide.s32 %%bd, %%i%d, %%ldb, %%b;\n", row);
        add(t, " @%%q%d ld.global.nc.L1::no_allocate.v4.b32 {%%x%d, %%x%d, %%x%d, %%x%d}, [%%bd];\n", row,
            4 * row, 4 * row + 1, 4 * row + 2, 4 * row + 3);
    }
    for (int word = 0; word < 4; word++)
        for (int row = 0; row < 8; row += 4) add_transpose(t, "y", "x", word, row);
    for (int m = 0; m < 8; m++) {
        int low = 8 * (m / 4) + m % 4, high = low + 16;
        add(t,
            " mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%%c%d, %%c%d, %%c%d, %%c%d}, {%%y%d, %%y%d, "
            "%%y%d, %%y%d}, {%%v0, %%v1}, {%%c%d, %%c%d, %%c%d, %%c%d};\n",
            4 * m, 4 * m + 1, 4 * m + 2, 4 * m + 3, low, high, low + 4, high + 4, 4 * m, 4 * m + 1, 4 * m + 2,
            4 * m + 3);
    }
}

static void add_store(struct text *t) {
    for (int m = 0; m < 8; m++)
        for (int r = 0; r < 4; r++) /* column 16 g + m (+ 8), row 2 t (+ 1) of the row block */
            add(t, " st.global.s32 [%%out+%d], %%c%d;\n", 4 * (m + r / 2 * 8) + (r % 2) * 4 * COLUMNS,
                4 * m + r);
}

static char *spmm_text(void) {
    struct text t = {0};
    add(&t,
        PTX_HEADER "// one warp a row block of 8 rows, 128 columns\n.visible .entry k(.param .u64 idx, "
                   ".param .u64 val, .param .u64 ptr,\n"
                   " .param .u64 .ptr .global .align 16 b, .param .u64 out)\n.maxntid 32\n{\n .reg .b32 "
                   "%%x<32>, %%y<32>, %%u<4>, %%i<8>, %%v<2>, %%r<8>, %%ldb;\n"
                   " .reg .s32 %%c<32>;\n .reg .b64 %%idx, %%val, %%b, %%bd, %%out, %%ptr, %%rd;\n .reg "
                   ".pred %%p, %%q<8>;\n"
                   " ld.param.u64 %%idx, [idx];\n ld.param.u64 %%val, [val];\n ld.param.u64 %%b, [b];\n "
                   "ld.param.u64 %%out, [out];\n ld.param.u64 %%ptr, [ptr];\n"
                   " cvta.to.global.u64 %%b, %%b;\n mov.u32 %%ldb, %d;\n mov.u32 %%r0, %%tid.x;\n and.b32 "
                   "%%r1, %%r0, 3;\n shr.u32 %%r2, %%r0, 2;\n mov.u32 %%r3, %%ctaid.x;\n",
        COLUMNS);
    add(&t, " mad.wide.u32 %%b, %%r2, 16, %%b;\n mad.wide.u32 %%ptr, %%r3, 4, %%ptr;\n ld.global.u32 %%r4, "
            "[%%ptr];\n ld.global.u32 %%r5, [%%ptr+4];\n");
    add(&t,
        " mad.wide.u32 %%out, %%r3, %d, %%out;\n mad.wide.u32 %%out, %%r2, 64, %%out;\n mad.wide.u32 %%out, "
        "%%r1, %d, %%out;\n",
        V * COLUMNS * 4, 2 * COLUMNS * 4);
    add(&t, " mad.wide.u32 %%idx, %%r4, 128, %%idx;\n mad.wide.u32 %%idx, %%r1, 32, %%idx;\n");
    add(&t, " mad.wide.u32 %%val, %%r4, 256, %%val;\n mad.wide.u32 %%val, %%r0, 8, %%val;\n");
    for (int i = 0; i < 32; i++) add(&t, " mov.u32 %%c%d, 0;\n", i);
    add(&t, " setp.ge.u32 %%p, %%r4, %%r5;\n @%%p bra DONE;\nLOOP:\n");
    add(&t, " ld.global.v4.u32 {%%i0, %%i1, %%i2, %%i3}, [%%idx];\n ld.global.v4.u32 {%%i4, %%i5, %%i6, "
            "%%i7}, [%%idx+16];\n");
    add(&t, " ld.global.nc.v2.b32 {%%v0, %%v1}, [%%val];\n");
    add_gather(&t);
    add(&t, " add.s64 %%idx, %%idx, 128;\n add.s64 %%val, %%val, 256;\n add.u32 %%r4, %%r4, 1;\n setp.lt.u32 "
            "%%p, %%r4, %%r5;\n @%%p bra LOOP;\nDONE:\n");
    add_store(&t);
    add(&t, " ret;\n}\n");
    return t.s;
}

struct problem {
    int blocks, k, strides; /* strides: of all row blocks */
    int *ptr, *idx;         /* ptr[blocks + 1]; idx[strides][32], -1 where padded */
    int8_t *a, *b;          /* a[strides][row][slot], b[k][COLUMNS] */
    int8_t *val;            /* a as the lanes load it */
};

static void make_problem(struct problem *p, int blocks, int k, int strides_a_block) {
    uint64_t seed = 88172645463325252u;
    *p = (struct problem){.blocks = blocks, .k = k};
    p->ptr = calloc((size_t)blocks + 1, sizeof *p->ptr);
    for (int i = 0; i < blocks; i++) p->ptr[i + 1] = p->ptr[i] + (i == 1 ? 0 : strides_a_block);
    p->strides = p->ptr[blocks];
    size_t slots = (size_t)p->strides * STRIDE;
    p->idx = calloc(slots, sizeof *p->idx);
    p->a = calloc(slots, V);
    p->val = calloc(slots, V);
    p->b = calloc((size_t)k, COLUMNS);
    for (size_t i = 0; i < slots; i++)
        p->idx[i] = next_random(&seed) % 16 ? (int)(next_random(&seed) % (unsigned)k) : -1;
    for (size_t i = 0; i < slots * V; i++) p->a[i] = (int8_t)(next_random(&seed) >> 56);
    for (size_t i = 0; i < (size_t)k * COLUMNS; i++) p->b[i] = (int8_t)(next_random(&seed) >> 56);
    for (size_t i = 0; i < slots; i++)
        for (int r = 0; r < V; r++)
            if (p->idx[i] < 0) p->a[(i / STRIDE * V + (size_t)r) * STRIDE + i % STRIDE] = 0;
    /* lane 4 r + t, register h, byte i: row r, slot 8 t + 4 h + i */
    for (int s = 0; s < p->strides; s++)
        for (int j = 0; j < 256; j++) {
            int lane = j / 8, h = j / 4 % 2, i = j % 4;
            p->val[s * 256 + j] = p->a[(s * V + lane / 4) * STRIDE + 8 * (lane % 4) + 4 * h + i];
        }
}

static void reference(const struct problem *p, int32_t *c) {
    memset(c, 0, (size_t)p->blocks * V * COLUMNS * sizeof *c);
    for (int block = 0; block < p->blocks; block++)
        for (int s = p->ptr[block]; s < p->ptr[block + 1]; s++)
            for (int j = 0; j < STRIDE; j++)
                for (int r = 0; r < V && p->idx[s * STRIDE + j] >= 0; r++)
                    for (int n = 0; n < COLUMNS; n++)
                        c[(block * V + r) * COLUMNS + n] +=
                            p->a[(s * V + r) * STRIDE + j] *
                            p->b[(size_t)p->idx[s * STRIDE + j] * COLUMNS + (size_t)n];
}

static uint64_t upload(ptxsim *sim, const void *data, size_t bytes) {
    uint64_t address;
    CHECK(ptxsim_alloc(sim, bytes, &address) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_write(sim, address, data, bytes) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    return address;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a launch counted does not depend on how many threads ran it. */
static void check_counts(ptxsim *sim) {
    static ptxsim_counts first;
    static ptxsim_line first_sum;
    ptxsim_line sum = ptxsim_line_sum(sim);
    const ptxsim_counts *counts = ptxsim_counts_of(sim);
    if (first.mma == 0) first = *counts, first_sum = sum;
    CHECK(memcmp(&first, counts, sizeof first) == 0 && memcmp(&first_sum, &sum, sizeof sum) == 0);
}

static void run_spmm(int blocks, int k, int strides, unsigned threads, int report) {
    struct problem p;
    ptxsim *sim;
    ptxsim_options options = {.size = sizeof options, .threads = threads};
    make_problem(&p, blocks, k, strides);
    size_t slots = (size_t)p.strides * STRIDE, size = (size_t)blocks * V * COLUMNS * sizeof(int32_t);
    int32_t *want = malloc(size), *got = calloc(1, size);
    ptxsim_create(&options, &sim);
    uint64_t idx = upload(sim, p.idx, slots * sizeof *p.idx), val = upload(sim, p.val, slots * V);
    uint64_t ptr = upload(sim, p.ptr, ((size_t)blocks + 1) * sizeof *p.ptr),
             b = upload(sim, p.b, (size_t)k * COLUMNS), out;
    CHECK(ptxsim_alloc(sim, size, &out) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    char *text = spmm_text();
    void *params[] = {&idx, &val, &ptr, &b, &out};
    double start = seconds();
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){(unsigned)blocks, 1, 1}, (ptxsim_dim3){32, 1, 1}, 0, params);
    double time = seconds() - start;
    CHECK(status == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_read(sim, out, got, size) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    reference(&p, want);
    CHECK(memcmp(want, got, size) == 0, "%d blocks, k %d: the product is wrong", blocks, k);
    const ptxsim_counts *counts = ptxsim_counts_of(sim);
    CHECK(counts->mma == 8u * (unsigned)p.strides, "%llu mma", (unsigned long long)counts->mma);
    if (threads > 0) check_counts(sim);
    if (report > 0)
        printf("%llu thread instructions in %.3f s: %.1f million a second\n",
               (unsigned long long)counts->thread_instructions, time,
               1e-6 * (double)counts->thread_instructions / time);
    ptxsim_destroy(sim);
    free(want), free(got), free(text), free(p.ptr), free(p.idx), free(p.a), free(p.b), free(p.val);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        char *text = spmm_text();
        fputs(text, stdout);
        free(text);
        return 0;
    }
    int report = argc > 1 ? atoi(argv[1]) : 0;
    run_spmm(3, 40, 2, 0, 0);
    if (report > 0) run_spmm(64, 4096, report, 0, 1);
    else
        for (unsigned threads = 1; threads <= 8; threads++) run_spmm(70, 200, 3, threads, 0);
    return check_end();
}
