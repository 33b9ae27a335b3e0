/* mma.sp on whole matrices against a product in int64_t; of floats with small integers, whose sums are exact. Operands and metadata
 * are packed here from the ISA's figures, element by element, and share nothing with the simulator. Then metadata that it must
 * refuse. */
#include "harness.h"

#include <stdbool.h>

enum { ROWS = 16, COLUMNS = 8, MOST_K = 128 };

/* A type, how bits of a small integer are made, and what a group of it is. */
typedef struct kind {
    const char *name;
    int bits, group, unit;  /* elements that a group has; elements that a place names */
    bool one;               /* one of two; else two places of four */
    bool halves, is_signed; /* halves: rows g and g + 8 share a word of metadata */
    uint32_t (*encode)(int value);
    int least, most; /* values that are drawn */
} kind;

static uint32_t as_integer(int value) { return (uint32_t)value; }
static uint32_t as_f32(int value) {
    float x = (float)value;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static uint32_t as_bf16(int value) { return as_f32(value) >> 16; }
static uint32_t as_f16(int value) {
    uint32_t bits = as_f32(value);
    if (value == 0) return 0;
    return (bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 127 + 15) << 10 | (bits >> 13 & 0x3ff);
}
static uint32_t as_e5m2(int value) { return as_f16(value) >> 8; }
static uint32_t as_e4m3(int value) {
    uint32_t bits = as_f32(value);
    if (value == 0) return 0;
    return (bits >> 24 & 0x80) | ((bits >> 23 & 0xff) - 127 + 7) << 3 | (bits >> 20 & 7);
}

static const kind kinds[] = {
    {"s8", 8, 4, 1, false, false, true, as_integer, -128, 127},
    {"u8", 8, 4, 1, false, false, false, as_integer, 0, 255},
    {"s4", 4, 8, 2, false, false, true, as_integer, -8, 7},
    {"u4", 4, 8, 2, false, false, false, as_integer, 0, 15},
    {"f16", 16, 4, 1, false, true, true, as_f16, -15, 15},
    {"bf16", 16, 4, 1, false, true, true, as_bf16, -15, 15},
    {"tf32", 32, 2, 1, true, true, true, as_f32, -15, 15},
    {"e4m3", 8, 4, 1, false, false, true, as_e4m3, -7, 7},
    {"e5m2", 8, 4, 1, false, false, true, as_e5m2, -3, 3},
};

typedef struct shape {
    int a, b, k, selectors; /* kinds of A and B */
    const char *sum;        /* "s32", "f32", "f16" */
} shape;

static const shape shapes[] = {
    {0, 0, 32, 2, "s32"},  {0, 1, 32, 2, "s32"}, {1, 0, 32, 2, "s32"}, {1, 1, 64, 1, "s32"},
    {0, 1, 64, 1, "s32"},  {2, 2, 64, 2, "s32"}, {3, 2, 64, 2, "s32"}, {2, 3, 128, 1, "s32"},
    {3, 3, 128, 1, "s32"}, {4, 4, 16, 4, "f32"}, {4, 4, 32, 2, "f32"}, {4, 4, 16, 4, "f16"},
    {4, 4, 32, 2, "f16"},  {5, 5, 16, 4, "f32"}, {5, 5, 32, 2, "f32"}, {6, 6, 8, 4, "f32"},
    {6, 6, 16, 2, "f32"},  {7, 7, 64, 1, "f32"}, {7, 8, 64, 1, "f32"}, {8, 7, 64, 1, "f32"},
    {8, 8, 64, 1, "f32"},
};

typedef struct problem {
    int a[ROWS][MOST_K], b[MOST_K][COLUMNS], c[ROWS][COLUMNS]; /* A dense, with its zeros */
    uint32_t words[32][16]; /* a lane's A, B, C and metadata, 4 words each */
    uint32_t d[32][4];
} problem;

static int draw(const kind *of, uint64_t *seed) {
    return of->least + (int)(next_random(seed) >> 33) % (of->most - of->least + 1);
}

static void put(uint32_t *words, const kind *of, int i, int value) {
    int each = 32 / of->bits;
    uint32_t ones = of->bits == 32 ? UINT32_MAX : (1u << of->bits) - 1;
    words[i / each] |= (of->encode(value) & ones) << of->bits * (i % each);
}

/* Element I of those that ROW of A has, among N of half the K: its lane and its number there. */
static void put_a(problem *p, const kind *of, int row, int i, int value) {
    int each = 32 / of->bits, lane = row % 8 * 4 + i / each % 4;
    int reg = i / (4 * each) * 2 + row / 8;
    put(&p->words[lane][0], of, reg * each + i % each, value);
}

static void put_b(problem *p, const kind *of, int k, int column, int value) {
    int each = 32 / of->bits, lane = column * 4 + k / each % 4;
    put(&p->words[lane][4], of, k / (4 * each) * each + k % each, value);
}

/* The lane and the bit of ROW's group (ISA, "Matrix Fragments for sparse mma"). */
static void put_nibble(problem *p, const kind *of, int row, int group, int groups, int selector,
                       uint32_t nibble) {
    int lane = row % 8 * 4, bit;
    if (of->halves) {
        lane += groups == 4 ? selector : 2 * selector + group / 4;
        bit = row / 8 * 16 + group % 4 * 4;
    } else {
        lane += (groups == 8 ? 2 * selector : group / 8 * 2) + row / 8;
        bit = group % 8 * 4;
    }
    p->words[lane][12] |= nibble << bit;
}

/* Draws which places a group keeps, and their elements. */
static void fill_group(problem *p, const kind *of, const shape *s, int row, int group, int selector,
                       uint64_t *seed) {
    static const uint32_t pairs[] = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};
    int groups = s->k / of->group, kept = of->group / 2, first = group * of->group;
    uint32_t nibble =
        of->one ? (next_random(seed) >> 40 & 1 ? 0xe : 0x4) : pairs[(next_random(seed) >> 33) % 6];
    put_nibble(p, of, row, group, groups, selector, nibble);
    for (int i = 0; i < kept; i++) {
        int place =
            of->one ? nibble == 0xe : (int)(nibble >> 2 * (i / of->unit) & 3) * of->unit + i % of->unit;
        int value = draw(of, seed);
        p->a[row][first + place] = value;
        put_a(p, of, row, group * kept + i, value);
    }
}

static void fill(problem *p, const shape *s, int selector, uint64_t *seed) {
    const kind *a = &kinds[s->a], *b = &kinds[s->b];
    memset(p, 0, sizeof *p);
    for (int row = 0; row < ROWS; row++)
        for (int group = 0; group < s->k / a->group; group++) fill_group(p, a, s, row, group, selector, seed);
    for (int k = 0; k < s->k; k++)
        for (int column = 0; column < COLUMNS; column++)
            put_b(p, b, k, column, p->b[k][column] = draw(b, seed));
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int lane = row % 8 * 4 + column / 2, i = row / 8 * 2 + column % 2, value = draw(&kinds[4], seed);
            p->c[row][column] = value;
            if (strcmp(s->sum, "f16") == 0) p->words[lane][8 + i / 2] |= as_f16(value) << 16 * (i % 2);
            else p->words[lane][8 + i] = s->sum[0] == 'f' ? as_f32(value) : (uint32_t)value;
        }
}

static void kernel_text(char *text, size_t size, const char *name, const shape *s, int selector) {
    const char *registers[] = {"{%a0, %a1}", "{%a0, %a1, %a2, %a3}", "{%b0, %b1}", "{%b0, %b1, %b2, %b3}"};
    bool half = strcmp(s->sum, "f16") == 0;
    int wide = s->k * kinds[s->a].bits == 512;
    snprintf(
        text, size,
        PTX_HEADER
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        " .reg .b32 %%a<4>, %%b<4>, %%e<4>, %%l; .reg .%s %%c<4>, %%d<4>; .reg .b64 %%p<2>;\n"
        " mov.u32 %%l, %%laneid; ld.param.u64 %%p0, [in]; ld.param.u64 %%p1, [out];\n"
        " mad.wide.u32 %%p0, %%l, 64, %%p0; mad.wide.u32 %%p1, %%l, 16, %%p1;\n"
        " ld.global.v4.b32 {%%a0, %%a1, %%a2, %%a3}, [%%p0]; ld.global.v4.b32 {%%b0, %%b1, %%b2, %%b3}, "
        "[%%p0+16];\n"
        " ld.global.v4.b32 {%%c0, %%c1, %%c2, %%c3}, [%%p0+32]; ld.global.v4.b32 {%%e0, %%e1, %%e2, %%e3}, "
        "[%%p0+48];\n"
        " mov.b32 %%d2, %%c2; mov.b32 %%d3, %%c3;\n"
        " %s.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s %s, %s, %s, %s, %%e0, %d;\n"
        " st.global.v4.b32 [%%p1], {%%d0, %%d1, %%d2, %%d3};\n ret;\n}\n",
        half ? "b32" : s->sum, name, s->k, s->sum, kinds[s->a].name, kinds[s->b].name, s->sum,
        half ? "{%d0, %d1}" : "{%d0, %d1, %d2, %d3}", registers[wide], registers[2 + wide],
        half ? "{%c0, %c1}" : "{%c0, %c1, %c2, %c3}", selector);
}

static ptxsim_status run(problem *p, const char *name, const shape *s, int selector, ptxsim **sim) {
    char text[4096];
    uint64_t in, out;
    void *params[] = {&in, &out};
    kernel_text(text, sizeof text, name, s, selector);
    ptxsim_create(NULL, sim);
    ptxsim_alloc(*sim, sizeof p->words, &in), ptxsim_alloc(*sim, sizeof p->d, &out);
    ptxsim_write(*sim, in, p->words, sizeof p->words);
    ptxsim_status status = run_kernel(*sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){32, 1, 1}, 0, params);
    if (status == PTXSIM_OK) status = ptxsim_read(*sim, out, p->d, sizeof p->d);
    return status;
}

static uint32_t expected(const shape *s, int64_t sum) {
    if (s->sum[0] == 's') return (uint32_t)(uint64_t)sum;
    return strcmp(s->sum, "f16") == 0 ? as_f16((int)sum) : as_f32((int)sum);
}

static void check_product(const problem *p, const shape *s, int selector) {
    int wrong = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int lane = row % 8 * 4 + column / 2, i = row / 8 * 2 + column % 2;
            int64_t sum = p->c[row][column];
            for (int k = 0; k < s->k; k++) sum += (int64_t)p->a[row][k] * p->b[k][column];
            uint32_t got = p->d[lane][i];
            if (strcmp(s->sum, "f16") == 0) got = p->d[lane][i / 2] >> 16 * (i % 2) & 0xffff;
            wrong += got != expected(s, sum);
        }
    CHECK(wrong == 0, "m16n8k%d %s %s to %s, selector %d: %d elements wrong", s->k, kinds[s->a].name,
          kinds[s->b].name, s->sum, selector, wrong);
}

static void test_products(uint64_t *seed) {
    static const char *const names[] = {"mma.sp::ordered_metadata", "mma.sp"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int selector = 0; selector < shapes[i].selectors; selector++)
            for (int repeat = 0; repeat < 4; repeat++) {
                problem p;
                ptxsim *sim;
                fill(&p, &shapes[i], selector, seed);
                ptxsim_status status = run(&p, names[repeat % 2], &shapes[i], selector, &sim);
                CHECK(status == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
                CHECK(ptxsim_counts_of(sim)->mma == 1, "one mma");
                check_product(&p, &shapes[i], selector);
                ptxsim_destroy(sim);
            }
}

/* Saturated sums do not wrap. */
static void test_saturation(uint64_t *seed) {
    const shape s = {1, 1, 64, 1, "s32"};
    problem p;
    ptxsim *sim;
    char text[4096], *at;
    uint64_t in, out;
    void *params[] = {&in, &out};
    fill(&p, &s, 0, seed);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 8; i < 12; i++) p.words[lane][i] = INT32_MAX;
    kernel_text(text, sizeof text, "mma.sp::ordered_metadata", &s, 0);
    at = strstr(text, ".row.col.s32") + 8;
    memmove(at + 10, at, strlen(at) + 1);
    memcpy(at, ".satfinite", 10);
    ptxsim_create(NULL, &sim);
    ptxsim_alloc(sim, sizeof p.words, &in), ptxsim_alloc(sim, sizeof p.d, &out);
    ptxsim_write(sim, in, p.words, sizeof p.words);
    CHECK(run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){32, 1, 1}, 0, params) == PTXSIM_OK,
          "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_read(sim, out, p.d, sizeof p.d) == PTXSIM_OK && p.d[0][0] == INT32_MAX, "%x", p.d[0][0]);
    ptxsim_destroy(sim);
}

typedef struct refusal {
    const char *name;
    int shape, selector, lane, bit;
    uint32_t nibble;
    const char *message; /* NULL: it runs */
} refusal;

static void test_refusals(uint64_t *seed) {
    static const char ordered[] = "mma.sp::ordered_metadata", any[] = "mma.sp";
    static const refusal rows[] = {
        {ordered, 10, 0, 4, 0, 0x1, "metadata 0x1 of row 1, elements 0 to 3: no meaning, or not in order"},
        {any, 10, 0, 4, 0, 0x1, NULL},
        {any, 10, 0, 4, 20, 0x5, "metadata 0x5 of row 9, elements 4 to 7: no meaning"},
        {ordered, 10, 1, 7, 12, 0x0, "metadata 0x0 of row 1, elements 28 to 31"},
        {ordered, 10, 1, 4, 12, 0x0, NULL}, /* another selector's lane */
        {ordered, 15, 3, 31, 16, 0x9, "metadata 0x9 of row 15, elements 0 to 1"},
        {ordered, 4, 0, 2, 28, 0xf, "metadata 0xf of row 0, elements 60 to 63"},
        {ordered, 7, 0, 31, 0, 0x2, "metadata 0x2 of row 15, elements 64 to 71"},
        {ordered, 10, 2, 4, 0, 0x4, "selector 2, must be below 2"},
        {ordered, 17, 1, 4, 0, 0x4, "selector 1, must be below 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const refusal *r = &rows[i];
        problem p;
        ptxsim *sim;
        fill(&p, &shapes[r->shape], r->selector < shapes[r->shape].selectors ? r->selector : 0, seed);
        p.words[r->lane][12] = (p.words[r->lane][12] & ~(15u << r->bit)) | r->nibble << r->bit;
        ptxsim_status status = run(&p, r->name, &shapes[r->shape], r->selector, &sim);
        CHECK(status == (r->message != NULL ? PTXSIM_TRAP : PTXSIM_OK), "row %zu: %s", i,
              ptxsim_fault_text(sim));
        if (r->message != NULL) CHECK_TEXT(ptxsim_fault_text(sim), r->message);
        ptxsim_destroy(sim);
    }
}

int main(int argc, char **argv) {
    uint64_t seed = 20261126;
    if (argc > 1 && strcmp(argv[1], "dump") == 0) { /* for ptxas, a kernel a shape */
        char text[4096];
        int at = argc > 2 ? atoi(argv[2]) : 0;
        kernel_text(text, sizeof text, "mma.sp::ordered_metadata", &shapes[at], 0);
        fputs(text, stdout);
        return 0;
    }
    test_products(&seed);
    test_saturation(&seed);
    test_refusals(&seed);
    return check_end();
}
