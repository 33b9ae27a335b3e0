#include "floor.h"

enum { MMA_MACS = 16 * 8 * 32 };

static double blocks(int64_t extent, int64_t tile) {
    return tile < 1 ? 1 : (double)((extent + tile - 1) / tile);
}

static double gathered_bytes(const variant_facts *f, const floor_problem *p) {
    double column_tiles = blocks(p->n, f->tile_columns), a = p->packed_bytes * column_tiles;
    double b = f->staged ? blocks(p->m, f->tile_rows) * (double)p->k : (double)p->vectors;
    return a + b * (double)p->row_bytes;
}

static double issued_macs(const variant_facts *f, const floor_problem *p) {
    if (f->stride < 1 || f->stride_mma < 1) return (double)p->slots * (double)p->n * 8;
    double strides = (double)p->slots / (double)f->stride;
    return strides * (double)f->stride_mma * blocks(p->n, f->tile_columns) * MMA_MACS;
}

floor_times floor_of(const ceilings *c, const variant *v, const floor_problem *p) {
    const variant_facts *f = &v->facts;
    double b_bytes = (double)p->k * (double)p->row_bytes;
    double c_bytes = (double)p->m * (double)p->n * (double)mc_type_bytes(v->output.type);
    double all = p->packed_bytes + b_bytes + c_bytes;
    return (floor_times){
        .launch = c->launch_us,
        .memory = all / ceiling_at(c, c->copy, all),
        .gather = gathered_bytes(f, p) / ceiling_at(c, c->gather, b_bytes + p->packed_bytes),
        .shared = f->staged ? (double)p->vectors * (double)p->row_bytes / c->shared : 0,
        .mma = issued_macs(f, p) / c->mma_s8,
    };
}

double floor_us(const floor_times *t, const char **limit) {
    const struct {
        const char *name;
        double us;
    } rows[] = {{"launch", t->launch},
                {"memory", t->memory},
                {"gather", t->gather},
                {"shared", t->shared},
                {"mma", t->mma}};
    size_t most = 0;
    for (size_t i = 1; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].us > rows[most].us) most = i;
    *limit = rows[most].name;
    return rows[most].us;
}
