#include "floor.h"

enum { MMA_MACS = 16 * 8 * 32 };

static double blocks(int64_t extent, int64_t tile) {
    return tile < 1 ? 1 : (double)((extent + tile - 1) / tile);
}

static double b_row_bytes(const floor_problem *p) { return (double)p->b_bytes / (double)p->k; }

static double gathered_bytes(const variant_facts *f, const floor_problem *p) {
    double column_tiles = blocks(p->n, f->tile_columns), a = p->packed_bytes * column_tiles;
    double b_rows = f->staged ? blocks(p->m, f->tile_rows) * (double)p->k : (double)p->vectors;
    return a + b_rows * b_row_bytes(p);
}

/* Of tensor cores alone. */
static double issued_macs(const variant_facts *f, const floor_problem *p) {
    if (f->fused) return 0;
    if (f->stride < 1 || f->stride_mma < 1) return (double)p->slots * (double)p->n * 8;
    double strides = (double)p->slots / (double)f->stride;
    return strides * (double)f->stride_mma * blocks(p->n, f->tile_columns) * MMA_MACS;
}

static double result_bytes(const variant *v, const floor_problem *p) {
    return (double)p->elements * (double)mc_type_bytes(v->output.type);
}

floor_load floor_load_spmm(const variant *v, const floor_problem *p) {
    const variant_facts *f = &v->facts;
    double b_bytes = (double)p->b_bytes;
    return (floor_load){
        .memory = p->packed_bytes + b_bytes + result_bytes(v, p),
        .gathered = gathered_bytes(f, p),
        .footprint = b_bytes + p->packed_bytes,
        .shared = f->staged ? (double)p->vectors * b_row_bytes(p) : 0,
        .macs = issued_macs(f, p),
    };
}

/* 16 slots are the rows of an mma, the vector's rows its columns. */
static double sampled_macs(const variant_facts *f, const floor_problem *p) {
    return blocks(p->slots, 16) * blocks(p->k, f->panel_k) * (double)f->group_mma * MMA_MACS;
}

floor_load floor_load_sddmm(const variant *v, const floor_problem *p) {
    double a_bytes = (double)p->a_bytes, b_bytes = (double)p->b_bytes;
    return (floor_load){
        .memory = p->packed_bytes + a_bytes + b_bytes + result_bytes(v, p),
        .gathered = p->packed_bytes + a_bytes + (double)p->vectors * b_bytes / (double)p->n,
        .footprint = b_bytes,
        .macs = sampled_macs(&v->facts, p),
    };
}

floor_times floor_of(const ceilings *c, const floor_load *load) {
    return (floor_times){
        .launch = c->launch_us,
        .memory = load->memory / ceiling_at(c, c->copy, load->memory),
        .gather = load->gathered / ceiling_at(c, c->gather, load->footprint),
        .shared = load->shared / c->shared,
        .mma = load->macs / c->mma_s8,
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
