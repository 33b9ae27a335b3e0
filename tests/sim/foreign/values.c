/* Inputs, comparison and files of the foreign kernels. */
#include "foreign.h"
#include "half.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw(uint64_t *state) { /* xorshift64* */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * UINT64_C(2685821657736338717) >> 32);
}

void foreign_fill(void *to, size_t bytes, enum foreign_input kind, unsigned long long seed) {
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    unsigned char *at = to;
    size_t width = kind == FOREIGN_HALVES ? 2 : 4;
    for (size_t i = 0; i + width <= bytes; i += width) {
        uint32_t word = draw(&state);
        float number = (float)((int)(word % 257) - 128) / 64;
        uint16_t half = half_of((float)((int)(word % 65) - 32) / 16);
        if (kind == FOREIGN_FLOATS) memcpy(&word, &number, sizeof word);
        memcpy(at + i, kind == FOREIGN_HALVES ? (const void *)&half : &word, width);
    }
}

static size_t width_of(enum foreign_output output) {
    switch (output) {
    case FOREIGN_F64: return 8;
    case FOREIGN_F16: return 2;
    default: return 4;
    }
}

static double number_at(enum foreign_output output, const void *from, size_t i) {
    float single;
    double real;
    uint16_t half;
    switch (output) {
    case FOREIGN_F64: memcpy(&real, (const char *)from + 8 * i, sizeof real); return real;
    case FOREIGN_F16: memcpy(&half, (const char *)from + 2 * i, sizeof half); return (double)float_of(half);
    default: memcpy(&single, (const char *)from + 4 * i, sizeof single); return (double)single;
    }
}

static int is_near(double got, double want, double tolerance) {
    if (want != want) return got != got;
    return fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

int foreign_differs(const struct foreign_case *c, const void *got, const void *want, char *message,
                    size_t size) {
    size_t width = width_of(c->output);
    for (size_t i = 0; i < c->out_bytes / width; i++) {
        const char *x = (const char *)got + i * width, *y = (const char *)want + i * width;
        uint32_t x_bits, y_bits;
        if (memcmp(x, y, width) == 0) continue;
        memcpy(&x_bits, x, width < 4 ? width : 4);
        memcpy(&y_bits, y, width < 4 ? width : 4);
        if (c->output == FOREIGN_EXACT) {
            snprintf(message, size, "%s: word %zu is 0x%08x, not 0x%08x", c->name, i, x_bits, y_bits);
            return 1;
        }
        double a = number_at(c->output, got, i), b = number_at(c->output, want, i);
        if (is_near(a, b, c->tolerance)) continue;
        snprintf(message, size, "%s: element %zu is %.17g, not %.17g", c->name, i, a, b);
        return 1;
    }
    return 0;
}

char *foreign_text(const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
    FILE *file = fopen(path, "r");
    char *text = NULL;
    long size;
    if (!file) return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0 &&
        (text = calloc(1, (size_t)size + 1)) && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}
