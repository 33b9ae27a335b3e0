/* packed24: a 2:4 matrix in atoms, as kernels copy them to shared memory (gen/parts/packed24.h). */
#include <inttypes.h>
#include <string.h>
#include "base/element.h"
#include "base/memory.h"
#include "base/real.h"
#include "formats/format.h"
#include "formats/stride.h"
#include "matrix/sparse24_groups.h"
#include "parts/packed24.h"

extern const packed_format format_packed24;

enum { CODE_FILL = 0x44, SWIZZLE_ROWS = 8 };

/* The sizes of a matrix's atoms. */
typedef struct atoms {
    int bytes;      /* of an element; of 4 bits, of the two that share a byte */
    int held;       /* elements that lie in so many bytes */
    int kept;       /* elements of a row in an atom */
    int group_bits; /* a row's groups in an atom are 2 to the power of this */
    int64_t blocks, steps;
} atoms;

static int64_t ceil_of(int64_t count, int64_t each) { return count / each + (count % each != 0); }

static atoms atoms_of(mc_type type, int64_t rows, int64_t cols) {
    int own = (int)mc_type_bytes(type), bytes = own > 0 ? own : 1, held = own > 0 ? 1 : 2;
    return (atoms){.bytes = bytes,
                   .held = held,
                   .kept = PACKED24_ROW_BYTES / bytes * held,
                   .group_bits = bytes == 1 ? 6 : 5, /* of 4 bits of metadata each */
                   .blocks = ceil_of(rows, PACKED24_ROWS),
                   .steps = ceil_of(cols, (int64_t)packed24_k(bytes) * held)};
}

static int64_t atom_count(const atoms *all) { return mcrt_product(all->blocks, all->steps); }
/* With the one of zeros, behind all others. */
static int64_t packed_count(const atoms *all) { return atom_count(all) + 1; }

/* Elements of the two arrays. */
static int64_t values_count(const atoms *all) {
    return packed_count(all) * packed24_values() / all->bytes * all->held;
}
static int64_t meta_count(const atoms *all) { return packed_count(all) * packed24_meta(all->bytes); }

static mc_status refuse_count(int64_t count, mc_diag *diag) {
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " atoms of 2:4, the kernel counts them in s32", count);
}

/* -- Places */

/* Where a group's elements and its code lie: which atom, row and group of that. */
typedef struct atom_place {
    int64_t atom;
    int line, group;
} atom_place;

static atom_place place_of(const atoms *all, const row_group *g) {
    return (atom_place){.atom = g->row / PACKED24_ROWS * all->steps + (g->group >> all->group_bits),
                        .line = (int)(g->row % PACKED24_ROWS),
                        .group = (int)(g->group & ((1 << all->group_bits) - 1))};
}

/* Where element COLUMN of those that LINE keeps lies in its atom, counted in elements: as
   packed24_value_place has it of bytes, with chunks of an eighth of a line. */
static int in_atom(const atoms *all, int line, int column) {
    return line * all->kept + (column ^ line % SWIZZLE_ROWS * (all->kept / SWIZZLE_ROWS));
}

/* Half of a byte: 4 bits for a group. */
static int64_t code_at(const atoms *all, const atom_place *p) {
    int place = packed24_meta_place(all->bytes, p->line, p->group / 2);
    return 2 * (p->atom * packed24_meta(all->bytes) + place) + p->group % 2;
}

/* -- Pack */

typedef struct filling {
    const mc_vsparse *a;
    atoms all;
    int kept; /* elements of a group */
    void *values, *meta;
} filling;

static int64_t packed_value(const mc_vsparse *a, int64_t vector) {
    int64_t value = mc_vsparse_value(a, vector, 0);
    return mc_type_is_real(a->type) ? real_packed(a->type, (uint32_t)value) : value;
}

static void put_group(void *user, const row_group *g) {
    const filling *f = user;
    const atoms *all = &f->all;
    const atom_place place = place_of(all, g);
    const int64_t first = place.atom * PACKED24_ROWS * all->kept;
    nibble_set(f->meta, code_at(all, &place), g->code);
    for (int i = 0; i < f->kept; i++)
        if (g->vector[i] >= 0)
            element_set(f->a->type, f->values, first + in_atom(all, place.line, place.group * f->kept + i),
                        packed_value(f->a, g->vector[i]));
}

static mc_status pack_vectors(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    mc_sparse24_rule rule;
    *packed = (mc_packed){0};
    mc_status status = mc_sparse24_rule_of(a->type, &rule, diag);
    if (status != MC_OK) return status;
    filling f = {.a = a, .all = atoms_of(a->type, a->rows, a->cols), .kept = sparse24_elements(&rule)};
    if (packed_count(&f.all) > INT32_MAX) return refuse_count(packed_count(&f.all), diag);
    status = packed_add(packed, "values", a->type, values_count(&f.all), diag);
    if (status == MC_OK) status = packed_add(packed, "meta", MC_U8, meta_count(&f.all), diag);
    if (status == MC_OK) {
        f.values = packed->arrays[0].data, f.meta = packed->arrays[1].data;
        memset(f.meta, CODE_FILL, (size_t)packed->arrays[1].count);
        status = sparse24_walk(a, put_group, &f, diag);
    }
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    (void)kernel;
    return pack_vectors(a->vectors, packed, diag);
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    (void)kernel;
    mc_packed want;
    const mc_packed_array *meta = NULL, *values = NULL;
    mc_status status = pack_vectors(a->vectors, &want, diag);
    if (status != MC_OK) return status;
    status = packed_get(packed, "meta", MC_U8, want.arrays[1].count, &meta, diag);
    if (status == MC_OK)
        status = packed_get(packed, "values", want.arrays[0].type, want.arrays[0].count, &values, diag);
    if (status == MC_OK && memcmp(meta->data, want.arrays[1].data, (size_t)meta->count) != 0)
        status = mc_fail(diag, MC_FORMAT, "meta is not that of this matrix");
    if (status == MC_OK)
        memcpy(values->data, want.arrays[0].data, (size_t)mc_type_size(values->type, values->count));
    mc_packed_free(&want);
    return status;
}

/* -- Slots: those of 8 rows of an atom are a group, in which the swizzle runs its course */

typedef struct placing {
    const atoms *all;
    int kept; /* elements of a group of columns */
    packed_slots *slots;
} placing;

static void place_group(void *user, const row_group *g) {
    const placing *p = user;
    const atom_place place = place_of(p->all, g);
    const int64_t line = place.atom * PACKED24_ROWS + place.line;
    for (int i = 0; i < p->kept; i++)
        p->slots->vectors[line * p->all->kept + place.group * p->kept + i] = (int32_t)g->vector[i];
}

typedef mc_status slots_maker(const char *array, int64_t groups, packed_slots *slots, mc_diag *diag);

/* Where values lie; which vectors slots hold is left open. */
static mc_status make_slots(const mc_kernel *kernel, mc_type type, const atoms *all, slots_maker *make,
                            packed_slots *slots, mc_diag *diag) {
    const int group = SWIZZLE_ROWS * all->kept;
    *slots = (packed_slots){.vec = 1, .group = group, .period = group};
    const mc_type digits = all->held > 1 ? MC_U4 : MC_U8;
    mc_status status = code_make(type, code_of_kernel(kernel), code_unit(type, digits), &slots->code, diag);
    if (status == MC_OK)
        status = make("values", packed_count(all) * (PACKED24_ROWS / SWIZZLE_ROWS), slots, diag);
    for (int slot = 0; status == MC_OK && slot < group; slot++)
        slots->pieces[in_atom(all, slot / all->kept, slot % all->kept)] = packed_piece(slots, slot, 0, 0);
    return status;
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    const mc_vsparse *v = a->vectors;
    const atoms all = atoms_of(v->type, v->rows, v->cols);
    mc_sparse24_rule rule;
    *slots = (packed_slots){0};
    mc_status status = mc_sparse24_rule_of(v->type, &rule, diag);
    if (status == MC_OK) status = make_slots(kernel, v->type, &all, packed_slots_create, slots, diag);
    placing p = {&all, sparse24_elements(&rule), slots};
    return status == MC_OK ? sparse24_walk(v, place_group, &p, diag) : status;
}

mc_status packed24_outline(const mc_kernel *kernel, const mc_vsparse *a, packed24_sizes *sizes,
                           mc_packed *packed, packed_slots *slots, mc_diag *diag) {
    const atoms all = atoms_of(a->type, a->rows, a->cols);
    *sizes = (packed24_sizes){all.steps, packed_count(&all)};
    *packed = (mc_packed){.array_count = 2};
    *slots = (packed_slots){0};
    if (sizes->atoms > INT32_MAX) return refuse_count(sizes->atoms, diag);
    packed->arrays[0] = (mc_packed_array){"values", a->type, values_count(&all), NULL};
    packed->arrays[1] = (mc_packed_array){"meta", MC_U8, meta_count(&all), NULL};
    return make_slots(kernel, a->type, &all, packed_slots_outline, slots, diag);
}

const packed_format format_packed24 = {.name = "packed24",
                                       .doc = "a 2:4 matrix in atoms of 64 rows, with its metadata",
                                       .kind = MATRIX_VECTORS,
                                       .unit = MC_U8,
                                       .floats = true,
                                       .type = "lhs",
                                       .cols = "k",
                                       .form = "lhs",
                                       .pack = pack,
                                       .pack_values = pack_values,
                                       .slots = slots_of};
