/* What the ISA forbids, or the simulator does not do, beyond the types of operands. */
#include "format.h"
#include "lanes.h"
#include "parse.h"
#include "reduce.h"

#include <string.h>

static bool is_integer(unsigned type) { return sim_types[type].kind == 'u' || sim_types[type].kind == 's'; }

static const char *check_comparison(const struct sim_insn *insn, unsigned type) {
    unsigned c = insn->comparison;
    char kind = sim_types[type].kind;
    bool legal = c <= SIM_NE;
    if (kind == 's') legal = c <= SIM_GE;
    if (kind == 'u') legal = c <= SIM_HS;
    if (sim_format_of(type) || type == SIM_f64) legal = c <= SIM_GE || c >= SIM_EQU;
    return legal ? NULL : "the comparison is not defined for the type";
}

static const char *check_set(const struct sim_insn *insn) {
    if (insn->type != SIM_u32 && insn->type != SIM_s32 && insn->type != SIM_f32)
        return "set yields .u32, .s32 or .f32";
    if (sim_types[insn->type2].bytes < 2 || insn->type2 == SIM_pred || insn->type2 == SIM_f16 ||
        sim_types[insn->type2].kind >= 'w' || sim_types[insn->type2].kind == 'a')
        return "set does not compare this type";
    return check_comparison(insn, insn->type2);
}

static bool is_one_of(unsigned type, const uint8_t *types) {
    while (*types && *types != type) types++;
    return *types != SIM_none;
}

/* ISA, "set" of half precision: what is compared decides what it may yield. */
static const char *check_set_narrow(const struct sim_insn *insn) {
    static const uint8_t floats[] = {SIM_f16, SIM_bf16, SIM_f32, SIM_f64, SIM_none},
                         narrow[] = {SIM_f16, SIM_bf16, SIM_none},
                         whole[] = {SIM_u16, SIM_s16, SIM_u32, SIM_s32, SIM_none},
                         words[] = {SIM_u32, SIM_s32, SIM_none};
    unsigned to = insn->type, from = insn->type2;
    bool pair = from == SIM_f16x2 || from == SIM_bf16x2;
    bool legal =
        pair ? to == from || is_one_of(to, words)
             : (is_one_of(from, narrow) && is_one_of(to, whole)) ||
                   (is_one_of(from, floats) && is_one_of(to, narrow)) ||
                   (insn->modifiers & SIM_FTZ && from == SIM_f32 && (is_one_of(to, words) || to == SIM_f32));
    if (!legal) return "set of these types";
    return check_comparison(insn, from);
}

static bool is_scalar_float(unsigned type) {
    return sim_types[type].kind == 'f' || type == SIM_bf16 || type == SIM_tf32;
}

/* The rounding of a cvt between floating-point types. */
static const char *check_cvt_of_floats(const struct sim_insn *insn) {
    unsigned to = insn->type, from = insn->type2;
    bool same = to == from, narrows = !same && sim_types[to].bytes <= sim_types[from].bytes;
    if (to == SIM_tf32 && (from != SIM_f32 || (insn->modifiers & ~(uint32_t)SIM_RELU)))
        return "cvt to .tf32 is from .f32";
    if (insn->rounding == SIM_RNA) return to == SIM_tf32 ? NULL : "only cvt to .tf32 rounds so";
    if (insn->rounding >= SIM_RNI)
        return same ? NULL : "cvt rounds to an integral value only towards an integer or the same type";
    if (narrows && !insn->rounding) return "cvt needs a rounding modifier";
    if (!narrows && insn->rounding) return "this cvt is exact and takes no rounding modifier";
    return NULL;
}

/* ISA, "cvt": a rounding is required where the result may be inexact, and forbidden elsewhere. */
static const char *check_cvt(const struct sim_insn *insn) {
    bool from_float = is_scalar_float(insn->type2), to_float = is_scalar_float(insn->type);
    bool integer_rounding = insn->rounding >= SIM_RNI;
    if ((!from_float && !is_integer(insn->type2)) || (!to_float && !is_integer(insn->type)))
        return "cvt converts between integer and floating-point types";
    if (insn->type2 == SIM_tf32) return "cvt from .tf32: it is an .f32 already";
    if (from_float && to_float) return check_cvt_of_floats(insn);
    if (from_float)
        return integer_rounding ? NULL : "cvt from float to integer needs .rni, .rzi, .rmi or .rpi";
    if (!to_float) return insn->rounding ? "cvt between integers does not round" : NULL;
    if (integer_rounding || insn->rounding == SIM_RNA) return "cvt from an integer rounds to the type";
    if (insn->type == SIM_tf32) return "cvt to .tf32 is from .f32";
    if (insn->type == SIM_f64 && sim_types[insn->type2].bytes == 8 && insn->rounding > SIM_RN)
        return "cvt of 64 bits to .f64 with a rounding other than .rn is not simulated";
    return insn->rounding ? NULL : "cvt needs a rounding modifier";
}

static const char *check_cvt_relu(const struct sim_insn *insn) {
    bool rounds = insn->rounding == SIM_RN || insn->rounding == SIM_RZ;
    bool types =
        (insn->type == SIM_f16 || insn->type == SIM_bf16 || insn->type == SIM_tf32) && insn->type2 == SIM_f32;
    return rounds && types ? NULL : "cvt with .relu of these types";
}

/* Bytes take a third operand, halves do not. */
static const char *check_pack(const struct sim_insn *insn) {
    bool three = strlen(insn->op->operands) > strlen("=b d d");
    return is_integer(insn->type) && sim_types[insn->type].bytes == (three ? 1 : 2) ? NULL
                                                                                    : "cvt.pack of this type";
}

static const char *check_memory(const struct sim_insn *insn) {
    if (insn->vector * sim_types[insn->type].bytes > 16) return "a vector access of more than 16 bytes";
    return NULL;
}

static const char *check_reduction(const struct sim_insn *insn) {
    return sim_reduces(insn->reduction, insn->type) ? NULL : "a reduction of this type";
}

/* ISA, "Register Fragments and Shared Memory Matrix Layouts": K is 32 bytes, of a sparse A 64 of B. */
static const char *check_wgmma(const struct sim_insn *insn) {
    const bool is_integer = sim_types[insn->type2].kind == 'u' || sim_types[insn->type2].kind == 's',
               sparse = insn->modifiers & SIM_SPARSE;
    const unsigned type = insn->type, n = insn->columns, bytes = sim_types[insn->type2].bytes;
    if (n < 8 || n > 256 || n % 8) return "wgmma of this N: a multiple of 8 up to 256 is wanted";
    if (is_integer && n > 32 && n % 16)
        return "wgmma of integers with this N: above 32, a multiple of 16 is wanted";
    if (insn->depth != (sparse ? 64 : 32) / bytes) return "wgmma of these types with this K";
    if (bytes == 2 && insn->type2 != insn->type3) return "wgmma of these types";
    const bool has_half = insn->type2 == SIM_f16 || (bytes == 1 && !is_integer);
    if (is_integer ? type != SIM_s32 : type != SIM_f32 && !(type == SIM_f16 && has_half))
        return "wgmma with sums of this type";
    return NULL;
}

/* Rows that share a check have executors of one family. */
const char *sim_check(const struct sim_insn *insn, ptxsim_status *status) {
    const struct sim_op *op = insn->op;
    *status = PTXSIM_PARSE;
    if (op->by_type == sim_setp || op->by_type == sim_setp_rounded || op->by_type == sim_setp_half ||
        op->by_type == sim_setp_brain)
        return check_comparison(insn, insn->type);
    if (op->one == sim_set) return sim_set_is_narrow(insn) ? check_set_narrow(insn) : check_set(insn);
    if (op->one == sim_cvt) return check_cvt(insn);
    *status = PTXSIM_UNSUPPORTED;
    if (op->one == sim_bulk_store && insn->reduction) return check_reduction(insn);
    if (insn->columns) return check_wgmma(insn);
    if (op->one == sim_cvt_pack) return check_pack(insn);
    if (op->one == sim_cvt_relu) return check_cvt_relu(insn);
    if (op->by_type == sim_cvt_pair && insn->rounding > SIM_RZ) return "cvt to two halves with this rounding";
    if (op->by_type == sim_cvt_widen_pair && insn->type2 != SIM_e4m3x2 && insn->type2 != SIM_e5m2x2)
        return "cvt of this type to .f16x2";
    if (op->by_type == sim_ld || op->by_type == sim_st) {
        if (op->by_type == sim_st && insn->space == SIM_CONST)
            return "st.const: constant memory is read only";
        return check_memory(insn);
    }
    bool addresses = op->by_type == sim_cvta || op->by_type == sim_cvta_to ||
                     op->one == sim_prefetch_tensormap || op->one == sim_isspacep;
    if (insn->space == SIM_PARAM && !addresses) return "the state space .param of this instruction";
    if (sim_is_private(insn->space) && !addresses && op->one != sim_nop)
        return "the state space of this instruction";
    bool dots = op->by_type == sim_dp4a || op->by_type == sim_dp2a_lo || op->by_type == sim_dp2a_hi;
    if (op->by_type == sim_slct && insn->type2 != SIM_s32 && insn->type2 != SIM_f32)
        return "slct by this type";
    if (dots && insn->type2 != SIM_s32 && insn->type2 != SIM_u32) return "a dot product of this type";
    return NULL;
}
