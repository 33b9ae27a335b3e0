/* What both ways to store of the gather kernel have in common: which sums are a lane's, and who writes C. */
#include "ops/spmm/gather/store.h"

void spmm_gather_run_of_sums(const gather_emitter *e, int word, int run, int count, mc_reg *out) {
    const mc_reg *sums = sums_result(&e->sums);
    bool tall = spmm_is_tall(e->sums.of);
    for (int column = 0; column < count; column++) {
        int mma = 2 * (word + column / 4) + column % 4 / 2, all = 4 * word + column;
        out[column] =
            tall ? sums[4 * all + frag_c_reg(run / 2, run % 2)] : sums[4 * mma + frag_c_reg(column % 2, run)];
    }
}

out_columns spmm_gather_columns_of(const gather_emitter *e, const gather_path *path) {
    return (out_columns){dim_operand(e->plan->base.n, e->at.n), path->clamp, path->whole};
}

out_writer spmm_gather_declare_writer(const gather_emitter *e, const gather_path *path, int run) {
    out_writer w = {.b = e->b,
                    .output = &e->plan->base.output,
                    .columns = spmm_gather_columns_of(e, path),
                    .ldc = dim_operand(e->plan->base.ldc, e->at.ldc),
                    .c_array = e->at.c_array,
                    .in_rows = e->at.stores,
                    .store = path->store,
                    .residual = e->residual};
    w.residual.load = path->residual;
    w.residual.count = run;
    out_declare_writer(&w);
    return w;
}

mc_operand spmm_gather_log_vec(const gather_emitter *e) { return I(log2_of(e->plan->base.vec)); }
