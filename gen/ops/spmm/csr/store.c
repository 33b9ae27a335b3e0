/* Sums become C: this lane's columns of a row. */
#include "ops/spmm/csr/emit.h"

out_columns spmm_csr_columns_of(const csr_emitter *e, const csr_path *path) {
    return (out_columns){dim_operand(e->plan->base.n, e->at.n), path->last, 1};
}

out_writer spmm_csr_declare_writer(const csr_emitter *e, const csr_path *path, mc_reg stores) {
    out_writer w = {.b = e->b,
                    .output = &e->plan->base.output,
                    .columns = spmm_csr_columns_of(e, path),
                    .ldc = dim_operand(e->plan->base.ldc, e->at.ldc),
                    .c_array = e->at.c_array,
                    .in_rows = stores,
                    .store = path->store,
                    .residual = e->residual};
    w.residual.load = path->residual;
    w.residual.count = path->load;
    out_declare_writer(&w);
    return w;
}

/* Of the lanes that share a row the first part stores. */
static mc_reg find_stores(const csr_emitter *e) {
    if (e->plan->stream) return e->stores;
    if (e->plan->lanes == 1) return e->in_rows;
    return setp_lt_and(e->b, "stores", e->part, I(1), e->in_rows);
}

void spmm_csr_emit_store(csr_emitter *e, const csr_path *path, mc_reg lane_col) {
    mc_builder *b = e->b;
    const out_kind *output = &e->plan->base.output;
    heading(b, "Store: this lane's columns of the row");
    mc_reg stores = find_stores(e);
    out_factors factors = {0};
    out_declare_factors(&factors, b, output, spmm_csr_columns_of(e, path), 1, path->load);
    out_declare_result(&factors);
    if (out_by_rows(output)) out_load_row_factors(&factors, 0, e->row, 0, stores);
    out_writer w = spmm_csr_declare_writer(e, path, stores);
    out_c_address(&w, e->row, lane_col);
    out_residual_address(&w, e->row, lane_col);
    for (int j = 0; j < path->runs; j++) {
        int offset = j * csr_pitch(e->plan, path);
        out_load_column_factors(&factors, 0, lane_col, offset, path->load);
        out_load_residual(&w, 0, lane_col, offset, path->load);
        out_store_run(
            &w, &factors,
            &(out_run){
                .col = lane_col, .offset = offset, .count = path->load, .sums = &e->sum[j * path->load]});
    }
}
