/* What tools/tour compares its steps with: pruning, quantising and products in plain C, without the project's
 * code. It goes by what docs/output.md and runtime/matrix/prune.h promise. Data that it draws are the
 * same in every run.
 *
 * Writing:
 *   tour_reference weight ROWS COLS SEED W.npy      a dense weight in f32, rows of different magnitudes
 *   tour_reference integers ROWS COLS SEED X.npy    s8 from -128 to 127
 *   tour_reference constants N VALUE F.npy          N times VALUE, in f32
 *   tour_reference biases N SEED F.npy              f32 of both signs
 * Comparing:
 *   tour_reference pruned SPARSITY W.npy DIR VECTORS ENERGY    DIR, and the two numbers that mcrun has said
 *   tour_reference product SPARSITY W.npy X.npy C.npy          C, sums in s32, or f16 with scales by row
 *   tour_reference layer SPARSITY W.npy X.npy BIAS.npy C_SCALE.npy C.npy    C in s8, behind a relu
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arrays.h"

enum { V = 8, MOST = 127 };

static void free_all(array **arrays, int count) {
    for (int i = 0; i < count; i++) array_free(arrays[i]);
}

/* -- Data */

static uint32_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (uint32_t)(*state >> 33);
}

static array sized(const char *type, const char *rows, const char *cols) {
    return array_create(type, atol(rows), atol(cols));
}

/* Multiples of 2^-12, so that sums of magnitudes and of squares are exact in any order. */
static void weight(char **a) {
    array w = sized("<f4", a[0], a[1]);
    uint64_t state = strtoull(a[2], NULL, 10);
    for (long i = 0; i < w.rows * w.cols; i++) {
        int value = (int)(draw(&state) % 8191) - 4095;
        floats(&w)[i] = (float)(value * (1 + i / w.cols % 5)) / 4096;
    }
    array_write(&w, a[3]);
    array_free(&w);
}

static void integers(char **a) {
    array x = sized("|i1", a[0], a[1]);
    uint64_t state = strtoull(a[2], NULL, 10);
    for (long i = 0; i < x.rows * x.cols; i++) x.data[i] = (unsigned char)(draw(&state) % 256);
    array_write(&x, a[3]);
    array_free(&x);
}

static void constants(char **a) {
    array f = sized("<f4", "1", a[0]);
    for (long i = 0; i < f.cols; i++) floats(&f)[i] = strtof(a[1], NULL);
    array_write(&f, a[2]);
    array_free(&f);
}

static void biases(char **a) {
    array f = sized("<f4", "1", a[0]);
    uint64_t state = strtoull(a[1], NULL, 10);
    for (long i = 0; i < f.cols; i++) floats(&f)[i] = (float)((int)(draw(&state) % 2001) - 1000) / 7;
    array_write(&f, a[2]);
    array_free(&f);
}

/* -- A pruned, quantised weight */

/* Dense: `kept` says which vectors there are, q are the integers, zero where no vector is. */
typedef struct layer {
    long blocks, rows, cols, vectors; /* rows: of whole blocks */
    bool *kept;                       /* [blocks][cols] */
    int *q;                           /* [rows][cols] */
    float *scale;                     /* [rows] */
    double energy;                    /* that is kept, of all */
} layer;

typedef struct worth {
    double sum;
    long at;
} worth;

/* The greater sum first, of equal ones the first vector. */
static int by_worth(const void *a, const void *b) {
    const worth *x = a, *y = b;
    return x->sum != y->sum ? (x->sum < y->sum ? 1 : -1) : (x->at > y->at) - (x->at < y->at);
}

static double element(const array *w, long row, long col) {
    return row < w->rows ? (double)floats(w)[row * w->cols + col] : 0;
}

static void choose(const array *w, layer *l, double sparsity) {
    long all = l->blocks * l->cols;
    worth *worths = calloc((size_t)all, sizeof *worths);
    if (worths == NULL) fail("out of memory");
    for (long i = 0; i < all; i++) {
        worths[i].at = i;
        for (int r = 0; r < V; r++) worths[i].sum += fabs(element(w, i / l->cols * V + r, i % l->cols));
    }
    qsort(worths, (size_t)all, sizeof *worths, by_worth);
    l->vectors = lrint((1 - sparsity) * (double)all);
    for (long i = 0; i < l->vectors; i++) l->kept[worths[i].at] = true;
    free(worths);
}

static bool is_kept(const layer *l, long row, long col) { return l->kept[row / V * l->cols + col]; }

/* The scale takes the row's greatest magnitude that is kept to 127. */
static void quantise_row(const array *w, layer *l, long row) {
    float most = 0;
    for (long col = 0; col < l->cols; col++)
        if (is_kept(l, row, col)) most = fmaxf(most, (float)fabs(element(w, row, col)));
    l->scale[row] = fmaxf(most / MOST, 0x1p-126F);
    for (long col = 0; col < l->cols; col++)
        if (is_kept(l, row, col))
            l->q[row * l->cols + col] = (int)nearbyint(element(w, row, col) / (double)l->scale[row]);
}

static layer layer_of(const char *sparsity, const char *path) {
    array w = array_read(path);
    layer l = {.blocks = (w.rows + V - 1) / V, .cols = w.cols};
    l.rows = l.blocks * V;
    l.kept = calloc((size_t)(l.blocks * l.cols), sizeof *l.kept);
    l.q = calloc((size_t)(l.rows * l.cols), sizeof *l.q);
    l.scale = calloc((size_t)l.rows, sizeof *l.scale);
    if (l.kept == NULL || l.q == NULL || l.scale == NULL) fail("out of memory");
    choose(&w, &l, atof(sparsity));
    double all = 0, kept = 0;
    for (long row = 0; row < l.rows; row++) {
        quantise_row(&w, &l, row);
        for (long col = 0; col < l.cols; col++) {
            double square = element(&w, row, col) * element(&w, row, col);
            all += square;
            kept += is_kept(&l, row, col) ? square : 0;
        }
    }
    l.energy = kept / all;
    array_free(&w);
    return l;
}

static void layer_free(layer *l) {
    free(l->kept);
    free(l->q);
    free(l->scale);
}

static array read_in(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return array_read(path);
}

/* DIR is BCRS: of each row block its vectors, columns ascending, the V integers of a vector side by side. */
static void compare_vectors(const layer *l, const char *directory) {
    array row_ptr = read_in(directory, "row_ptr.npy"), col_idx = read_in(directory, "col_idx.npy");
    array values = read_in(directory, "values.npy"), scale = read_in(directory, "scale.npy");
    if (row_ptr.cols != l->blocks + 1 || col_idx.cols != l->vectors || values.rows != l->vectors)
        fail("%s: %ld vectors in %ld row blocks, want %ld in %ld", directory, values.rows, row_ptr.cols - 1,
             l->vectors, l->blocks);
    if (values.cols != V || scale.cols != l->rows)
        fail("%s: vectors of %ld, %ld scales", directory, values.cols, scale.cols);
    long v = 0;
    for (long i = 0; i < l->blocks * l->cols; i++) {
        if (i % l->cols == 0 && integer(&row_ptr, i / l->cols) != v) fail("row_ptr[%ld]", i / l->cols);
        if (!l->kept[i]) continue;
        if (integer(&col_idx, v) != i % l->cols)
            fail("col_idx[%ld] is %d, want %ld", v, integer(&col_idx, v), i % l->cols);
        for (long r = 0; r < V; r++) {
            int got = integer(&values, v * V + r), want = l->q[(i / l->cols * V + r) * l->cols + i % l->cols];
            if (got != want) fail("values[%ld][%ld] is %d, want %d", v, r, got, want);
        }
        v++;
    }
    if (integer(&row_ptr, l->blocks) != v) fail("row_ptr[%ld]", l->blocks);
    for (long row = 0; row < l->rows; row++)
        if (floats(&scale)[row] != l->scale[row])
            fail("scale[%ld] is %.9g, want %.9g", row, (double)floats(&scale)[row], (double)l->scale[row]);
    free_all((array *[]){&row_ptr, &col_idx, &values, &scale}, 4);
}

static void pruned(char **a) {
    layer l = layer_of(a[0], a[1]);
    compare_vectors(&l, a[2]);
    if (atol(a[3]) != l.vectors) fail("%s vectors, want %ld", a[3], l.vectors);
    if (!(fabs(atof(a[4]) - l.energy) < 0.5001e-4)) fail("energy %s, want %g", a[4], l.energy);
    printf("%ld of %ld vectors, %ld scales, %.4f of the energy\n", l.vectors, l.blocks * l.cols, l.rows,
           l.energy);
    layer_free(&l);
}

/* -- Products */

static long sum_at(const layer *l, const array *x, long row, long col) {
    long sum = 0;
    for (long k = 0; k < l->cols; k++) sum += (long)l->q[row * l->cols + k] * integer(x, k * x->cols + col);
    return sum;
}

/* The bits of x in f16, rounded to nearest even: steps are 2^-24 below 2^-14, above it x has 11 digits. */
static unsigned f16(float x) {
    int exponent = 0;
    frexp((double)x, &exponent);
    int step = x != 0 && exponent - 11 > -24 ? exponent - 11 : -24;
    long digits = lrint(ldexp(fabs((double)x), -step)), bits = 1024L * (step + 24) + digits;
    return (signbit(x) ? 0x8000U : 0) | (bits < 0x7c00 ? (unsigned)bits : 0x7c00U);
}

static void compare_element(const layer *l, const array *x, const array *c, long row, long col) {
    bool scaled = strcmp(c->type, "<f2") == 0;
    long sum = sum_at(l, x, row, col), i = row * c->cols + col;
    long got = scaled ? half_bits(c, i) : integer(c, i);
    long want = scaled ? (long)f16((float)sum * l->scale[row]) : sum;
    if (got != want) fail("C[%ld][%ld] is %ld, want %ld%s", row, col, got, want, scaled ? " (bits)" : "");
}

static void check_shapes(const layer *l, const array *x, const array *c) {
    if (x->rows != l->cols || c->rows != l->rows || c->cols != x->cols)
        fail("C is %ld x %ld, A %ld x %ld, B %ld x %ld", c->rows, c->cols, l->rows, l->cols, x->rows,
             x->cols);
}

static void product(char **a) {
    layer l = layer_of(a[0], a[1]);
    array x = array_read(a[2]), c = array_read(a[3]);
    check_shapes(&l, &x, &c);
    for (long i = 0; i < c.rows * c.cols; i++) compare_element(&l, &x, &c, i / c.cols, i % c.cols);
    bool scaled = strcmp(c.type, "<f2") == 0;
    printf("%ld x %ld %s to the bit\n", c.rows, c.cols, scaled ? "in f16" : "sums");
    free_all((array *[]){&x, &c}, 2);
    layer_free(&l);
}

/* s8(relu(sum * scale + bias) / c_scale), with one rounding for the product and sum (docs/output.md). */
static int s8_at(const layer *l, long sum, long row, float bias, float c_scale) {
    float y = fmaf((float)sum, l->scale[row], bias);
    float own = rintf(fmaxf(y, 0) * (1 / c_scale));
    return own > MOST ? MOST : (int)own;
}

static void layer_command(char **a) {
    layer l = layer_of(a[0], a[1]);
    array x = array_read(a[2]), bias = array_read(a[3]), c_scale = array_read(a[4]), c = array_read(a[5]);
    long zeros = 0, most = 0;
    check_shapes(&l, &x, &c);
    for (long i = 0; i < c.rows * c.cols; i++) {
        long row = i / c.cols, col = i % c.cols;
        int want = s8_at(&l, sum_at(&l, &x, row, col), row, floats(&bias)[row], floats(&c_scale)[0]);
        if (integer(&c, i) != want) fail("C[%ld][%ld] is %d, want %d", row, col, integer(&c, i), want);
        zeros += want == 0;
        most += want == MOST;
    }
    if (zeros == 0 || most == 0) fail("%ld zeros and %ld elements of 127: that tests little", zeros, most);
    printf("%ld x %ld in s8 to the bit, %ld of them 0, %ld 127\n", c.rows, c.cols, zeros, most);
    free_all((array *[]){&x, &bias, &c_scale, &c}, 4);
    layer_free(&l);
}

typedef struct command {
    const char *name;
    int arguments;
    void (*run)(char **arguments);
} command;

static const command commands[] = {
    {"weight", 4, weight}, {"integers", 4, integers}, {"constants", 3, constants}, {"biases", 3, biases},
    {"pruned", 5, pruned}, {"product", 4, product},   {"layer", 6, layer_command},
};

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (argc != 2 + commands[i].arguments || strcmp(argv[1], commands[i].name) != 0) continue;
        commands[i].run(argv + 2);
        return 0;
    }
    fail("no such command: see the top of tests/tour/reference.c");
}
