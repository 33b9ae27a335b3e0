#include "gemm.h"
#include "parts/wgmma/wgmma.h"
#include <stdio.h>

static out_element element_of(const char *name) {
    int element = 0;
    while (strcmp(out_element_names[element], name) != 0) element++;
    return (out_element)element;
}

static wgmma_plan plan_of(const gemm_config *c) {
    const wgmma_form *form = wgmma_form_of(c->lhs, c->rhs, c->sums);
    return (wgmma_plan){.problem = {.lhs.name = c->lhs,
                                    .rhs.name = c->rhs,
                                    .output = {.element = element_of(c->out), .real = form->signs > 0},
                                    .sparse = c->sparse,
                                    .b_rows = c->b_mn_major,
                                    .align = TILE_CHUNK,
                                    .m = MC_OPEN,
                                    .n = MC_OPEN,
                                    .k = MC_OPEN,
                                    .lda = MC_OPEN,
                                    .ldb = MC_OPEN,
                                    .ldc = MC_OPEN,
                                    .ldr = MC_OPEN},
                        .form = form,
                        .tile_m = c->tile_m,
                        .tile_n = c->tile_n,
                        .stages = c->stages,
                        .consumers = c->consumers,
                        .group = GEMM_GROUP,
                        .store = c->direct ? STORE_PAIRS : STORE_TENSOR,
                        .turns = c->turns,
                        .cluster = c->cluster,
                        .split = c->split,
                        .span = c->span,
                        .a_registers = c->a_registers,
                        .a_mn_major = c->a_mn_major,
                        .adds = c->adds};
}

shared_tile gemm_lhs(const gemm_config *c) {
    const wgmma_plan plan = plan_of(c);
    return wgmma_lhs(&plan);
}

shared_tile gemm_rhs(const gemm_config *c) {
    const wgmma_plan plan = plan_of(c);
    return wgmma_rhs(&plan);
}

int gemm_out_bytes(const gemm_config *c) { return out_element_bytes(element_of(c->out)); }

int gemm_result_columns(const gemm_config *c) {
    const wgmma_plan plan = plan_of(c);
    return wgmma_result_columns(&plan);
}

int gemm_store_rows(const gemm_config *c) {
    const wgmma_plan plan = plan_of(c);
    return wgmma_slots(&plan).rows;
}

int gemm_shared(const gemm_config *c) {
    const wgmma_plan plan = plan_of(c);
    return wgmma_shared_bytes(&plan);
}

int gemm_threads(const gemm_config *c) { return roles_threads(c->consumers, 0); }

/* -- The text ----------------------------------------------------------------------------------------- */

static void print_entry(const gemm_config *c, const char *name, const mc_builder *b, int version,
                        mc_text *text) {
    text_add(
        text,
        ".version %d.%d\n.target sm_90a\n.address_size 64\n\n.extern .shared .align %d .b8 room[];\n\n"
        ".visible .entry %s(\n    .param .u64 c,\n    .param .u64 values,\n    .param .u64 meta,\n"
        "    .param .s32 m,\n    .param .s32 n,\n    .param .s32 k,\n    .param .s32 ldc,\n    .param .align "
        "64 .b8 a_map[128],\n"
        "    .param .align 64 .b8 b_map[128],\n    .param .align 64 .b8 c_map[128]\n)\n.reqntid %d, 1, 1\n",
        version / 10, version % 10, TILE_ALIGN, name, gemm_threads(c));
    if (c->cluster) text_add(text, ".reqnctapercluster %d, 1, 1\n", c->cluster);
    if (c->split) text_add(text, ".reqnctapercluster 1, %d, 1\n", c->split);
    text_add(text, ".maxnreg %d\n", b->launch_registers);
}

char *gemm_ptx(const gemm_config *c, const char *name) {
    const wgmma_plan plan = plan_of(c);
    mc_builder b = {0};
    mc_text text = {0};
    int version = 0, registers = 0;
    for (int i = 0; mc_arch_names[i]; i++)
        if (strcmp(mc_arch_names[i], "sm_90a") == 0) b.arch = &mc_archs[i];
    wgmma_emit(&plan, &b);
    bool good =
        builder_check(&b, &version, NULL) && builder_simplify(&b) && builder_check(&b, &version, &registers);
    if (good) {
        print_entry(c, name, &b, version, &text);
        print_body(&b, &text);
    } else {
        fprintf(stderr, "%s: %s\n", c->name, b.error);
    }
    builder_free(&b);
    return good ? text_take(&text) : NULL;
}
