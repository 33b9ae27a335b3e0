/* The instruction table and how an opcode is looked up in it. */
#ifndef SIM_OPS_H
#define SIM_OPS_H

#include "lex.h"
#include "module.h"

enum sim_op_flag {
    SIM_OP_BRANCH = 1,
    SIM_OP_EXIT = 2,       /* ends the threads that execute it */
    SIM_OP_CONVERGED = 4,  /* every thread of the warp that has not exited must execute it together */
    SIM_OP_WHOLE_WARP = 8, /* all 32 lanes must */
    SIM_OP_NO_RESULT = 16, /* the executor's destination is not an operand */
    SIM_OP_ASYNC = 32,     /* needs the block's sim_async */
    SIM_OP_CLUSTER = 64,   /* needs the state of the cluster's barrier */
    SIM_OP_WARPGROUP = 128 /* wgmma: needs the block's sim_wgmma */
};

/* wgmma: the whole warp together, with what copies know. */
#define SIM_OP_WGMMA (SIM_OP_WHOLE_WARP | SIM_OP_ASYNC | SIM_OP_WARPGROUP)

struct sim_op {
    const char *pattern, *operands;
    sim_exec *const *by_type; /* indexed by the type that %t matched, or NULL and: */
    sim_exec *one;
    unsigned flags;
};

enum { SIM_MAX_PARTS = 16 };

/* An opcode as it was written: the mnemonic and its modifiers. */
struct sim_opcode {
    struct sim_token part[SIM_MAX_PARTS];
    int count;
};

/* Finds the row that OPCODE matches and sets what the modifiers say in INSN (op, exec, types, space ...). On
   failure says in MESSAGE (of SIZE bytes) what is not known, and returns false. */
bool sim_match(const struct sim_opcode *opcode, struct sim_insn *insn, char *message, size_t size);

/* X(name in the code, PTX name, type) of the special registers. */
#define SIM_SPECIAL_LIST(X)                                                                                  \
    X(tid_x, "%tid.x", u32)                                                                                  \
    X(tid_y, "%tid.y", u32)                                                                                  \
    X(tid_z, "%tid.z", u32)                                                                                  \
    X(ntid_x, "%ntid.x", u32)                                                                                \
    X(ntid_y, "%ntid.y", u32)                                                                                \
    X(ntid_z, "%ntid.z", u32)                                                                                \
    X(ctaid_x, "%ctaid.x", u32)                                                                              \
    X(ctaid_y, "%ctaid.y", u32)                                                                              \
    X(ctaid_z, "%ctaid.z", u32)                                                                              \
    X(nctaid_x, "%nctaid.x", u32)                                                                            \
    X(nctaid_y, "%nctaid.y", u32)                                                                            \
    X(nctaid_z, "%nctaid.z", u32)                                                                            \
    X(laneid, "%laneid", u32)                                                                                \
    X(warpid, "%warpid", u32)                                                                                \
    X(nwarpid, "%nwarpid", u32)                                                                              \
    X(smid, "%smid", u32)                                                                                    \
    X(nsmid, "%nsmid", u32)                                                                                  \
    X(gridid, "%gridid", u64)                                                                                \
    X(lanemask_eq, "%lanemask_eq", u32)                                                                      \
    X(lanemask_le, "%lanemask_le", u32)                                                                      \
    X(lanemask_lt, "%lanemask_lt", u32)                                                                      \
    X(lanemask_ge, "%lanemask_ge", u32)                                                                      \
    X(lanemask_gt, "%lanemask_gt", u32)                                                                      \
    X(dynamic_smem_size, "%dynamic_smem_size", u32)                                                          \
    X(total_smem_size, "%total_smem_size", u32)                                                              \
    X(cluster_ctarank, "%cluster_ctarank", u32)                                                              \
    X(cluster_nctarank, "%cluster_nctarank", u32)                                                            \
    X(cluster_ctaid_x, "%cluster_ctaid.x", u32)                                                              \
    X(cluster_ctaid_y, "%cluster_ctaid.y", u32)                                                              \
    X(cluster_ctaid_z, "%cluster_ctaid.z", u32)                                                              \
    X(cluster_nctaid_x, "%cluster_nctaid.x", u32)                                                            \
    X(cluster_nctaid_y, "%cluster_nctaid.y", u32)                                                            \
    X(cluster_nctaid_z, "%cluster_nctaid.z", u32)                                                            \
    X(clusterid_x, "%clusterid.x", u32)                                                                      \
    X(clusterid_y, "%clusterid.y", u32)                                                                      \
    X(clusterid_z, "%clusterid.z", u32)                                                                      \
    X(nclusterid_x, "%nclusterid.x", u32)                                                                    \
    X(nclusterid_y, "%nclusterid.y", u32)                                                                    \
    X(nclusterid_z, "%nclusterid.z", u32)                                                                    \
    X(is_explicit_cluster, "%is_explicit_cluster", pred)                                                     \
    X(clock, "%clock", u32)                                                                                  \
    X(clock_hi, "%clock_hi", u32)                                                                            \
    X(clock64, "%clock64", u64)                                                                              \
    X(globaltimer, "%globaltimer", u64)

enum sim_special_name {
#define X(name, text, type) SIM_SPECIAL_##name,
    SIM_SPECIAL_LIST(X)
#undef X
        SIM_SPECIAL_COUNT
};

#define ONE(pattern, operands, name, flags)     extern sim_exec sim_##name;
#define BY_TYPE(pattern, operands, name, flags) extern sim_exec *const sim_##name[SIM_TYPE_COUNT];
#include "ops.def"
#undef ONE
#undef BY_TYPE

#endif
