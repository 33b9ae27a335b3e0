/* mma.sync on whole matrices against a product in int64_t. The fragments are packed here from the figures of
 * the ISA, element by element, and share nothing with the simulator. */
#include "harness.h"

struct shape {
    int m, k, bits;                   /* of an element of A or B */
    const char *name, *d, *a, *b, *c; /* the operand lists */
};

static const struct shape shapes[] = {
    {8, 16, 8, "m8n8k16", "{%d0, %d1}", "{%a0}", "{%b0}", "{%c0, %c1}"},
    {16, 16, 8, "m16n8k16", "{%d0, %d1, %d2, %d3}", "{%a0, %a1}", "{%b0}", "{%c0, %c1, %c2, %c3}"},
    {16, 32, 8, "m16n8k32", "{%d0, %d1, %d2, %d3}", "{%a0, %a1, %a2, %a3}", "{%b0, %b1}",
     "{%c0, %c1, %c2, %c3}"},
    {8, 32, 4, "m8n8k32", "{%d0, %d1}", "{%a0}", "{%b0}", "{%c0, %c1}"},
    {16, 32, 4, "m16n8k32", "{%d0, %d1, %d2, %d3}", "{%a0, %a1}", "{%b0}", "{%c0, %c1, %c2, %c3}"},
    {16, 64, 4, "m16n8k64", "{%d0, %d1, %d2, %d3}", "{%a0, %a1, %a2, %a3}", "{%b0, %b1}",
     "{%c0, %c1, %c2, %c3}"},
};

/* Row and column of element I (of all the lane's elements in order) of A, k and column of B, row and column of C. A
 * register holds 32 / bits of them, neighbours along k. */
static void place_a(const struct shape *s, int lane, int i, int *row, int *k) {
    int group = lane >> 2, in_group = lane & 3, each = 32 / s->bits, reg = i / each;
    if (s->m == 8) {
        *row = group;
        *k = in_group * each + i;
    } else {
        *row = reg % 2 == 0 ? group : group + 8;
        *k = in_group * each + i % each + (reg < 2 ? 0 : 4 * each);
    }
}

static void place_b(const struct shape *s, int lane, int i, int *k, int *column) {
    int each = 32 / s->bits;
    *k = (lane & 3) * each + i % each + (i < each ? 0 : 4 * each);
    *column = lane >> 2;
}

static void place_c(int lane, int i, int *row, int *column) {
    *row = (lane >> 2) + (i < 2 ? 0 : 8);
    *column = (lane & 3) * 2 + (i & 1);
}

static const char *type_name(const struct shape *s, int is_signed) {
    return s->bits == 8 ? (is_signed ? "s8" : "u8") : is_signed ? "s4" : "u4";
}

static void kernel_text(char *text, size_t size, const struct shape *s, int a_signed, int b_signed,
                        int saturate) {
    snprintf(
        text, size,
        PTX_HEADER
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n"
        " .reg .b32 %%a<4>, %%b<4>, %%l; .reg .s32 %%c<4>, %%d<4>; .reg .b64 %%p<4>;\n mov.u32 %%l, "
        "%%laneid;\n"
        " ld.param.u64 %%p0, [a]; ld.param.u64 %%p1, [b]; ld.param.u64 %%p2, [c]; ld.param.u64 %%p3, [d];\n"
        " mad.wide.u32 %%p0, %%l, 16, %%p0; mad.wide.u32 %%p1, %%l, 16, %%p1; mad.wide.u32 %%p2, %%l, 16, "
        "%%p2;\n"
        " mad.wide.u32 %%p3, %%l, 16, %%p3;\n"
        " ld.global.v4.b32 {%%a0, %%a1, %%a2, %%a3}, [%%p0]; ld.global.v4.b32 {%%b0, %%b1, %%b2, %%b3}, "
        "[%%p1];\n"
        " ld.global.v4.s32 {%%c0, %%c1, %%c2, %%c3}, [%%p2]; mov.u32 %%d2, 0; mov.u32 %%d3, 0;\n"
        " mma.sync.aligned.%s.row.col%s.s32.%s.%s.s32 %s, %s, %s, %s;\n"
        " st.global.v4.s32 [%%p3], {%%d0, %%d1, %%d2, %%d3};\n ret;\n}\n",
        s->name, saturate ? ".satfinite" : "", type_name(s, a_signed), type_name(s, b_signed), s->d, s->a,
        s->b, s->c);
}

/* Now and then an extreme value. */
static uint8_t random_byte(uint64_t *seed) {
    static const uint8_t extremes[] = {0x80, 0x7f, 0xff, 0};
    uint64_t r = next_random(seed);
    return (r & 0xff) < 64 ? extremes[r >> 8 & 3] : (uint8_t)(r >> 16);
}

static int32_t random_sum(uint64_t *seed) {
    uint64_t r = next_random(seed);
    if ((r & 3) == 0)
        return r & 4 ? INT32_MAX - (int32_t)(r >> 40 & 1023) : INT32_MIN + (int32_t)(r >> 40 & 1023);
    return (int32_t)(r >> 32);
}

static int32_t expected(int64_t sum, int saturate) {
    if (!saturate) return (int32_t)(uint32_t)(uint64_t)sum;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

struct matrices {
    uint8_t a[16][64], b[64][8];
    int32_t c[16][8];
    uint8_t a_lanes[32][16], b_lanes[32][16];
    int32_t c_lanes[32][4], d_lanes[32][4];
};

/* Element I among a lane's, the first in the lowest bits. */
static void put(const struct shape *s, uint8_t *lane, int i, uint8_t element) {
    if (s->bits == 8) lane[i] = element;
    else lane[i / 2] |= (uint8_t)((element & 15) << i % 2 * 4);
}

static void fill(struct matrices *m, const struct shape *s, uint64_t *seed) {
    memset(m, 0, sizeof *m);
    for (int i = 0; i < 16 * 64; i++) m->a[i / 64][i % 64] = random_byte(seed);
    for (int i = 0; i < 64 * 8; i++) m->b[i / 8][i % 8] = random_byte(seed);
    for (int i = 0; i < 16 * 8; i++) m->c[i / 8][i % 8] = random_sum(seed);
    for (int lane = 0; lane < 32; lane++) {
        int x, y;
        for (int i = 0; i < s->m * s->k / 32; i++)
            place_a(s, lane, i, &x, &y), put(s, m->a_lanes[lane], i, m->a[x][y]);
        for (int i = 0; i < s->k * 8 / 32; i++)
            place_b(s, lane, i, &x, &y), put(s, m->b_lanes[lane], i, m->b[x][y]);
        for (int i = 0; i < s->m * 8 / 32; i++) place_c(lane, i, &x, &y), m->c_lanes[lane][i] = m->c[x][y];
    }
}

static int64_t number(const struct shape *s, uint8_t element, int is_signed) {
    int low = element & ((1 << s->bits) - 1), half = 1 << (s->bits - 1);
    return is_signed && low >= half ? low - 2 * half : low;
}

static void check_product(const struct matrices *m, const struct shape *s, int a_signed, int b_signed,
                          int saturate) {
    int wrong = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < s->m * 8 / 32; i++) {
            int row, column;
            place_c(lane, i, &row, &column);
            int64_t sum = m->c[row][column];
            for (int k = 0; k < s->k; k++) {
                sum += number(s, m->a[row][k], a_signed) * number(s, m->b[k][column], b_signed);
            }
            wrong += m->d_lanes[lane][i] != expected(sum, saturate);
        }
    CHECK(wrong == 0, "%s a %s b %s %s: %d elements wrong", s->name, type_name(s, a_signed),
          type_name(s, b_signed), saturate ? "satfinite" : "", wrong);
}

static void run_case(const struct shape *s, int a_signed, int b_signed, int saturate, uint64_t *seed) {
    struct matrices m;
    char text[4096];
    uint64_t address[4];
    ptxsim *sim;
    void *from[] = {m.a_lanes, m.b_lanes, m.c_lanes};
    void *params[] = {&address[0], &address[1], &address[2], &address[3]};
    fill(&m, s, seed);
    kernel_text(text, sizeof text, s, a_signed, b_signed, saturate);
    ptxsim_create(NULL, &sim);
    for (int i = 0; i < 4; i++) ptxsim_alloc(sim, 512, &address[i]);
    for (int i = 0; i < 3; i++) ptxsim_write(sim, address[i], from[i], 512);
    ptxsim_status status = run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){32, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_counts_of(sim)->mma == 1);
    CHECK(ptxsim_read(sim, address[3], m.d_lanes, 512) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    check_product(&m, s, a_signed, b_signed, saturate);
    ptxsim_destroy(sim);
}

int main(int argc, char **argv) {
    uint64_t seed = 20240229;
    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        char text[4096];
        kernel_text(text, sizeof text, &shapes[2], 1, 0, 1);
        fputs(text, stdout);
        return 0;
    }
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int bits = 0; bits < 8; bits++)
            for (int repeat = 0; repeat < 4; repeat++)
                run_case(&shapes[s], bits & 1, bits >> 1 & 1, bits >> 2, &seed);
    return check_end();
}
