/* How tensor cores add: experiments on one element of the result, each a sum of a few powers of two whose value says what
 * was done to them. The report's lines are explained in docs/simulator.md, "Sums of mma". `probe DEVICE` prints what it
 * finds; the same on a GPU (h200.probe) and on the simulator. */
#include "run.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 32, LANES = 32, B_WORD = 4, C_WORD = 6 };
enum {
    BIG = 15,
    TINY = -12
}; /* exponents that every format's products reach, further apart than sums keep */

/* A shape and its types. */
struct unit {
    const char *name;
    struct form_row row; /* inputs: kinds of a, b, c */
    int depth;
};

#define UNIT(shape, depth, sum, types, result, inputs, e, a, b, c)                                           \
    {shape " " sum " " types,                                                                                \
     {"mma.sync.aligned." shape ".row.col." sum "." types "." sum " {" e "}, {" a "}, {" b "}, {" c "};",    \
      "", "", result, inputs, FORM_SUM, 0},                                                                  \
     depth},
#define WORDS2(x) "%" x "0, %" x "1"
#define WORDS4(x) WORDS2(x) ", %" x "2, %" x "3"
static const struct unit units[] = {
    UNIT("m16n8k8", 8, "f16", "f16.f16", '2', "hhh", WORDS2("e"), WORDS2("a"), "%b0", WORDS2("c")) UNIT(
        "m16n8k16", 16, "f16", "f16.f16", '2', "hhh", WORDS2("e"), WORDS4("a"), WORDS2("b"), WORDS2("c"))
        UNIT("m16n8k8", 8, "f32", "f16.f16", '4', "hhf", WORDS4("e"), WORDS2("a"), "%b0", WORDS4("c")) UNIT(
            "m16n8k16", 16, "f32", "f16.f16", '4', "hhf", WORDS4("e"), WORDS4("a"), WORDS2("b"),
            WORDS4("c")) UNIT("m16n8k8", 8, "f32", "bf16.bf16", '4', "bbf", WORDS4("e"), WORDS2("a"), "%b0",
                              WORDS4("c")) UNIT("m16n8k16", 16, "f32", "bf16.bf16", '4', "bbf",
                                                WORDS4("e"), WORDS4("a"), WORDS2("b"), WORDS4("c"))
            UNIT("m16n8k4", 4, "f32", "tf32.tf32", '4', "ttf", WORDS4("e"), WORDS2("a"), "%b0", WORDS4("c"))
                UNIT("m16n8k8", 8, "f32", "tf32.tf32", '4', "ttf", WORDS4("e"), WORDS4("a"), WORDS2("b"),
                     WORDS4("c")) UNIT("m16n8k16", 16, "f32", "e4m3.e4m3", '4', "44f", WORDS4("e"),
                                       WORDS2("a"), "%b0", WORDS4("c"))
                    UNIT("m16n8k32", 32, "f32", "e4m3.e4m3", '4', "44f", WORDS4("e"), WORDS4("a"),
                         WORDS2("b"), WORDS4("c")) UNIT("m16n8k32", 32, "f32", "e5m2.e5m2", '4', "55f",
                                                        WORDS4("e"), WORDS4("a"), WORDS2("b"), WORDS4("c"))
                        UNIT("m16n8k32", 32, "f16", "e4m3.e4m3", '2', "44h", WORDS2("e"), WORDS4("a"),
                             WORDS2("b"), WORDS2("c"))
                            UNIT("m16n8k32", 32, "f16", "e5m2.e5m2", '2', "55h", WORDS2("e"), WORDS4("a"),
                                 WORDS2("b"), WORDS2("c"))};

/* The row of A, the column of B and the element of C that an experiment is about; all else is 0. */
struct sum {
    double a[MAX_DEPTH], b[MAX_DEPTH], c;
};

struct probe {
    struct runner runner;
    const struct unit *unit;
    bool failed;
};

static int bias(int exponent_bits) { return (1 << (exponent_bits - 1)) - 1; }

/* The bits of X, which the format holds exactly; a NaN is all ones. */
static uint32_t encode(char kind, double x) {
    int e = 0, f = 0, exponent;
    value_format(kind, &e, &f);
    uint32_t sign = signbit(x) ? 1u << (e + f) : 0, one = 1u << f, ones = (1u << e) - 1, bits;
    double fraction = frexp(fabs(x), &exponent) * 2;
    int field = exponent - 1 + bias(e);
    if (x != x) bits = (ones << f) + one - 1;
    else if (isinf(x)) bits = ones << f;
    else if (x == 0) bits = 0;
    else if (field < 1) bits = (uint32_t)ldexp(fabs(x), bias(e) - 1 + f);
    else bits = ((uint32_t)field << f) + (uint32_t)ldexp(fraction - 1, f);
    return (sign | bits) << (kind == 't' ? 13 : 0);
}

static int bits_of(char kind) {
    return kind == '4' || kind == '5' ? 8 : kind == 'h' || kind == 'b' ? 16 : 32;
}

/* Element k of a row of A or a column of B: of the registers that hold it, every STRIDE-th from FIRST on, which register
   and lane (ISA, "Matrix Fragments for mma"). */
static void put(uint32_t *words, char kind, int first, int stride, int k, double x) {
    int bits = bits_of(kind), count = 32 / bits, lane = k / count % 4, chunk = k / (4 * count);
    words[lane * FORM_INPUT_WORDS + first + chunk * stride] |= encode(kind, x) << bits * (k % count);
}

/* The bits of the sum. */
static uint32_t sum_bits(struct probe *probe, const struct sum *sum) {
    const struct unit *u = probe->unit;
    struct form form = {.row = &u->row, .blocks = 1};
    uint32_t words[LANES * FORM_INPUT_WORDS] = {0};
    snprintf(form.code, sizeof form.code, "%s", u->row.code);
    for (int k = 0; k < u->depth; k++) {
        put(words, u->row.inputs[0], 0, 2, k, sum->a[k]);
        put(words, u->row.inputs[1], B_WORD, 1, k, sum->b[k]);
    }
    words[C_WORD] = encode(u->row.inputs[2], sum->c);
    if (!runner_run(&probe->runner, &form, 1, words)) {
        if (!probe->failed) fprintf(stderr, "%s: %s\n", u->name, runner_reason(&probe->runner));
        probe->failed = true;
        return 0;
    }
    return u->row.inputs[2] == 'h' ? probe->runner.results[0] & 0xffff : probe->runner.results[0];
}

static double sum_value(struct probe *probe, const struct sum *sum) {
    return value_of(probe->unit->row.inputs[2], sum_bits(probe, sum));
}

/* Product K becomes X, of exponent E = ilogb(X). */
static void product(struct sum *sum, int k, double x) {
    int e = ilogb(x), half = e >> 1;
    sum->a[k] = ldexp(x, -e + half);
    sum->b[k] = ldexp(1, e - half);
}

static int least_exponent(char kind) {
    int e = 0, f = 0;
    value_format(kind, &e, &f);
    return 1 - bias(e);
}

static int fraction_of(char kind) {
    int e = 0, f = 0;
    value_format(kind, &e, &f);
    return f;
}

/* Which products are added in which step: beside 2^15 and -2^15 in a pair of products, what is tiny in product j survives
   if and only if j comes in a later step than they. */
static void report_steps(struct probe *probe) {
    int depth = probe->unit->depth, before[MAX_DEPTH], step[MAX_DEPTH] = {0};
    for (int j = 0; j < depth; j++) {
        before[j] = 0;
        for (int i = 0; i < depth; i++) {
            struct sum sum = {0};
            if (i / 2 == j / 2) continue;
            product(&sum, i, ldexp(1, BIG));
            product(&sum, i ^ 1, -ldexp(1, BIG));
            product(&sum, j, ldexp(1, TINY));
            before[j] += sum_value(probe, &sum) != 0;
        }
    }
    for (int j = 0; j < depth; j++) {
        bool seen[MAX_DEPTH + 1] = {false};
        for (int i = 0; i < depth; i++) {
            step[j] += before[i] < before[j] && !seen[before[i]];
            seen[before[i]] = true;
        }
    }
    printf("  step of each product: ");
    for (int j = 0; j < depth; j++) printf("%d", step[j]);
    printf("\n");
}

/* Places of three terms: a product's number, or C. */
enum { IN_C = -1 };

static void term(struct sum *sum, int place, double x) {
    if (place == IN_C) sum->c = x;
    else product(sum, place, x);
}

/* 2^15 at UP, its negative at DOWN, X at PLACE. */
static double beside_big(struct probe *probe, int up, int down, int place, double x) {
    struct sum sum = {0};
    term(&sum, up, ldexp(1, BIG));
    term(&sum, down, -ldexp(1, BIG));
    term(&sum, place, x);
    return sum_value(probe, &sum);
}

/* A third product of the same step as products 0 and 1. */
static int third(const struct probe *probe) { return probe->unit->depth > 4 ? 4 : 2; }

/* The most by which a term's exponent may lie below the largest. */
static int kept(struct probe *probe, int up, int down, int place) {
    int width = 0;
    while (BIG - width > TINY && beside_big(probe, up, down, place, ldexp(1, BIG - width - 1)) != 0) width++;
    return width;
}

static void report_width(struct probe *probe) {
    int at = third(probe), width = kept(probe, 0, 1, at), c_width = kept(probe, 0, 1, IN_C);
    double unit = ldexp(1, BIG - width);
    printf("  C is added %s\n", c_width == BIG - TINY ? "after the products" : "in the first step");
    printf("  bits kept below the largest: product %d, product beside C %d, C %d\n", width,
           kept(probe, IN_C, 1, at), c_width);
    printf("  of these units are left: 1.5 -> %g, -1.5 -> %g, 0.75 -> %g\n",
           beside_big(probe, 0, 1, at, 1.5 * unit) / unit, beside_big(probe, 0, 1, at, -1.5 * unit) / unit,
           beside_big(probe, 0, 1, at, 0.75 * unit) / unit);
}

/* What becomes of X units in the last place beside 2^12 (or, DOUBLED, two of 2^11). */
static double last_place(struct probe *probe, double x, bool doubled) {
    int fraction = fraction_of(probe->unit->row.inputs[2]);
    double unit = ldexp(1, 12 - fraction), base = ldexp(signbit(x) ? -1 : 1, 12);
    struct sum sum = {0};
    product(&sum, 0, doubled ? base / 2 : base);
    if (doubled) product(&sum, 1, base / 2);
    product(&sum, third(probe), x * unit);
    return (sum_value(probe, &sum) - base) / unit;
}

static void report_rounding(struct probe *probe) {
    printf("  result, in units of the last place: 1.5 -> %g, -1.5 -> %g, 0.5 -> %g, 0.75 -> %g, after a "
           "carry 1.5 -> %g\n",
           last_place(probe, 1.5, false), last_place(probe, -1.5, false), last_place(probe, 0.5, false),
           last_place(probe, 0.75, false), last_place(probe, 1.5, true));
}

/* The first products' 1 + 2^-24 (of f16: 2^-11) waits for the last one's -1. */
static void report_between(struct probe *probe) {
    double below = ldexp(1, 10 - 1 - fraction_of(probe->unit->row.inputs[2]));
    struct sum sum = {0};
    product(&sum, 0, 1024);
    product(&sum, 1, below);
    product(&sum, probe->unit->depth - 1, -1024);
    printf("  half a unit of the last place between the first and the last product: %s\n",
           sum_value(probe, &sum) == below ? "kept" : "lost");
}

/* The smallest subnormal times the largest power of two, its negative made of normals, and a term W bits below. */
static void report_subnormal(struct probe *probe) {
    char kind = probe->unit->row.inputs[0];
    int least = least_exponent(kind), most = kind == '4' ? 8 : -least + 1,
        at = least - fraction_of(kind) + most, width = 0;
    int lowest = probe->unit->row.inputs[2] == 'h' && 2 * least < -24 ? -24 : 2 * least;
    for (bool there = true; there && at - width > lowest; width += there) {
        struct sum sum = {0};
        sum.a[0] = ldexp(1, least - fraction_of(kind)), sum.b[0] = ldexp(1, most);
        product(&sum, 1, -ldexp(1, at));
        product(&sum, third(probe), ldexp(1, at - width - 1));
        there = sum_value(probe, &sum) != 0 && width < 40;
    }
    printf("  bits kept below a subnormal's product: %d%s\n", width, at - width == lowest ? " or more" : "");
}

static void report_zero(struct probe *probe) {
    char kind = probe->unit->row.inputs[0];
    int least = least_exponent(kind), most = kind == '4' ? 8 : -least + 1, tiny = least + most - 28;
    struct sum sum = {0};
    if (tiny < 2 * least) tiny = 2 * least;
    if (probe->unit->row.inputs[2] == 'h' && tiny < -24) tiny = -24;
    sum.b[0] = ldexp(1, most);
    product(&sum, 1, ldexp(1, tiny));
    printf("  beside 0 * 2^%d, 2^%d is %s\n", most, tiny, sum_value(probe, &sum) != 0 ? "kept" : "lost");
}

static void report_bits(struct probe *probe, const char *name, const struct sum *sum) {
    printf("  %s: %0*" PRIx32 "\n", name, probe->unit->row.inputs[2] == 'h' ? 4 : 8, sum_bits(probe, sum));
}

static void report_range(struct probe *probe) {
    char kind = probe->unit->row.inputs[0], c = probe->unit->row.inputs[2];
    struct sum sum = {.c = ldexp(1.5, c == 'h' ? -23 : -148)};
    report_bits(probe, "C subnormal, no products", &sum);
    sum.c = c == 'h' ? 65504 : ldexp(2 - 0x1p-23, 127);
    report_bits(probe, "C the largest, no products", &sum);
    if (c == 'h') product(&sum, 0, 8), report_bits(probe, "and 8", &sum);
    if (c == 'h') product(&sum, 0, 16), report_bits(probe, "and 16", &sum);
    if (kind != 'b' && kind != 't') return;
    product(&sum, 0, ldexp(1, 104)), report_bits(probe, "and 2^104", &sum);
    product(&sum, 0, -ldexp(1, 103)), report_bits(probe, "less 2^103", &sum);
    product(&sum, 0, ldexp(1, 127)), report_bits(probe, "and 2^127", &sum);
    product(&sum, 1, -ldexp(1, 127)), report_bits(probe, "and 2^127 - 2^127", &sum);
    sum = (struct sum){.c = 1};
    product(&sum, 0, ldexp(1, 200)), report_bits(probe, "1 + 2^200", &sum);
    product(&sum, 1, -ldexp(1, 200)), report_bits(probe, "1 + 2^200 - 2^200", &sum);
    sum = (struct sum){0};
    product(&sum, 0, ldexp(1.5, -148)), report_bits(probe, "1.5 * 2^-148", &sum);
    product(&sum, 0, ldexp(1.75, -149)), report_bits(probe, "1.75 * 2^-149", &sum);
    product(&sum, 0, ldexp(1, -200)), report_bits(probe, "2^-200", &sum);
    sum = (struct sum){.c = 0};
    product(&sum, 0, -ldexp(1, -200)), report_bits(probe, "-2^-200", &sum);
}

/* Products and sums that are not numbers; e4m3 has no infinity. */
static void report_special(struct probe *probe) {
    double infinity = (double)INFINITY, nan = (double)NAN;
    static const char *const names[] = {
        "-0 * 1, C -0", "0 * 1 - 0 * 1, C -0", "1 - 1",       "NaN * 0",        "C NaN", "C -inf", "inf * 1",
        "inf * 0",      "inf - inf",           "inf, C -inf", "-inf * 1, C NaN"};
    const struct sum sums[] = {
        {.a = {-0.0}, .b = {1}, .c = -0.0},
        {.a = {0, -0.0}, .b = {1, 1}, .c = -0.0},
        {.a = {1, -1}, .b = {1, 1}},
        {.a = {nan}},
        {.c = nan},
        {.c = -infinity},
        {.a = {infinity}, .b = {1}},
        {.a = {infinity}},
        {.a = {infinity, -infinity}, .b = {1, 1}},
        {.a = {infinity}, .b = {1}, .c = -infinity},
        {.a = {-infinity}, .b = {1}, .c = nan},
    };
    int count = (int)(sizeof sums / sizeof *sums);
    struct sum zeros = {.c = -0.0};
    for (int k = 0; k < MAX_DEPTH; k++) zeros.a[k] = -0.0, zeros.b[k] = 1;
    report_bits(probe, "all -0", &zeros);
    for (int i = 0; i < (probe->unit->row.inputs[0] == '4' ? 6 : count); i++)
        report_bits(probe, names[i], &sums[i]);
}

static void report(struct probe *probe) {
    printf("%s\n", probe->unit->name);
    report_steps(probe);
    report_width(probe);
    report_rounding(probe);
    report_between(probe);
    report_subnormal(probe);
    report_zero(probe);
    report_range(probe);
    report_special(probe);
}

int main(int argc, char **argv) {
    struct probe probe = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: probe DEVICE\n");
        return 2;
    }
    if (!runner_open(&probe.runner, argv[1], 1)) {
        fprintf(stderr, "%s: cannot be opened\n", argv[1]);
        return 1;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units && !probe.failed; i++) {
        probe.unit = &units[i];
        report(&probe);
    }
    runner_close(&probe.runner);
    return probe.failed;
}
