/* What the ISA forbids, or the simulator does not do, beyond the types of operands. */
#include "parse.h"

#include <string.h>

static bool is_integer(unsigned type) { return sim_types[type].kind == 'u' || sim_types[type].kind == 's'; }

static const char *check_comparison(const struct sim_insn *insn, unsigned type) {
    unsigned c = insn->comparison;
    char kind = sim_types[type].kind;
    bool legal = c <= SIM_NE;
    if (kind == 's') legal = c <= SIM_GE;
    if (kind == 'u') legal = c <= SIM_HS;
    if (kind == 'f') legal = c <= SIM_GE || c >= SIM_EQU;
    return legal ? NULL : "the comparison is not defined for the type";
}

static const char *check_set(const struct sim_insn *insn) {
    if (insn->type != SIM_u32 && insn->type != SIM_s32 && insn->type != SIM_f32)
        return "set yields .u32, .s32 or .f32";
    if (sim_types[insn->type2].bytes < 2 || insn->type2 == SIM_pred || insn->type2 == SIM_f16)
        return "set does not compare this type";
    return check_comparison(insn, insn->type2);
}

/* ISA, "cvt": a rounding is required where the result may be inexact, and forbidden elsewhere. */
static const char *check_cvt(const struct sim_insn *insn) {
    bool from_float = sim_types[insn->type2].kind == 'f', to_float = sim_types[insn->type].kind == 'f';
    bool integer_rounding = insn->rounding >= SIM_RNI;
    if ((!from_float && !is_integer(insn->type2)) || (!to_float && !is_integer(insn->type)))
        return "cvt converts between integer and floating-point types";
    if (!from_float && !to_float) return insn->rounding ? "cvt between integers does not round" : NULL;
    if (from_float && !to_float)
        return integer_rounding ? NULL : "cvt from float to integer needs .rni, .rzi, .rmi or .rpi";
    if (integer_rounding) return "cvt rounds to an integral value only towards an integer type";
    bool narrows = !from_float || sim_types[insn->type].bytes < sim_types[insn->type2].bytes;
    if (narrows && !insn->rounding) return "cvt needs a rounding modifier";
    if (!narrows && insn->rounding) return "this cvt is exact and takes no rounding modifier";
    return NULL;
}

/* Bytes take a third operand, halves do not. */
static const char *check_pack(const struct sim_insn *insn) {
    bool three = strlen(insn->op->operands) > strlen("=b d d");
    return is_integer(insn->type) && sim_types[insn->type].bytes == (three ? 1 : 2) ? NULL
                                                                                    : "cvt.pack of this type";
}

static const char *check_mma(const struct sim_insn *insn) {
    bool a = insn->type2 == SIM_s8 || insn->type2 == SIM_u8,
         b = insn->type3 == SIM_s8 || insn->type3 == SIM_u8;
    return a && b ? NULL : "mma with these operand types";
}

static const char *check_memory(const struct sim_insn *insn) {
    if (insn->vector * sim_types[insn->type].bytes > 16) return "a vector access of more than 16 bytes";
    return NULL;
}

/* Rows that share a check have executors of one family. */
const char *sim_check(const struct sim_insn *insn, ptxsim_status *status) {
    const struct sim_op *op = insn->op;
    *status = PTXSIM_PARSE;
    if (op->by_type == sim_setp) return check_comparison(insn, insn->type);
    if (op->one == sim_set) return check_set(insn);
    if (op->one == sim_cvt) return check_cvt(insn);
    *status = PTXSIM_UNSUPPORTED;
    if (op->one == sim_cvt_pack) return check_pack(insn);
    if (op->one == sim_mma_m8n8k16 || op->one == sim_mma_m16n8k16 || op->one == sim_mma_m16n8k32)
        return check_mma(insn);
    if (op->by_type == sim_ld || op->by_type == sim_st) {
        if (op->by_type == sim_st && insn->space == SIM_PARAM)
            return "st.param: kernel parameters are read only";
        return check_memory(insn);
    }
    if (insn->space == SIM_PARAM) return "the state space .param of this instruction";
    if (op->by_type == sim_dp4a && insn->type2 != SIM_s32 && insn->type2 != SIM_u32)
        return "dp4a of this type";
    return NULL;
}
