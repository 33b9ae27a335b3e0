/* Opcodes against the patterns of ops.def. */
#include "ops.h"

#include <stdio.h>
#include <string.h>

static const struct sim_op ops[] = {
#define ONE(pattern, operands, name, flags)     {pattern, operands, NULL, sim_##name, flags},
#define BY_TYPE(pattern, operands, name, flags) {pattern, operands, sim_##name, NULL, flags},
#include "ops.def"
#undef ONE
#undef BY_TYPE
};

struct word {
    const char *text;
    int value;
};

static const struct word space_words[] = {
    {"global", SIM_GLOBAL}, {"shared", SIM_SHARED},      {"shared::cta", SIM_SHARED},
    {"param", SIM_PARAM},   {"param::entry", SIM_PARAM}, {"param::func", SIM_PARAM},
    {"local", SIM_LOCAL},   {"const", SIM_CONST},        {NULL, 0}};

/* Those of instructions that reach the shared memory of a cluster's other blocks. */
static const struct word wide_space_words[] = {{"shared::cluster", SIM_SHARED_CLUSTER}, {NULL, 0}};

static const struct word comparison_words[] = {
    {"eq", SIM_EQ},   {"ne", SIM_NE},   {"lt", SIM_LT},   {"le", SIM_LE},   {"gt", SIM_GT},
    {"ge", SIM_GE},   {"lo", SIM_LO},   {"ls", SIM_LS},   {"hi", SIM_HI},   {"hs", SIM_HS},
    {"equ", SIM_EQU}, {"neu", SIM_NEU}, {"ltu", SIM_LTU}, {"leu", SIM_LEU}, {"gtu", SIM_GTU},
    {"geu", SIM_GEU}, {"num", SIM_NUM}, {"nan", SIM_NAN}, {NULL, 0}};

static const struct word combine_words[] = {
    {"and", SIM_COMBINE_AND}, {"or", SIM_COMBINE_OR}, {"xor", SIM_COMBINE_XOR}, {NULL, 0}};

static const struct word matrix_words[] = {{"x1", 1}, {"x2", 2}, {"x4", 4}, {NULL, 0}};

static const struct word vector_words[] = {{"v2", 2}, {"v4", 4}, {NULL, 0}};

static const struct word rounding_words[] = {
    {"rn", SIM_RN},   {"rz", SIM_RZ},   {"rm", SIM_RM},   {"rp", SIM_RP},   {"rna", SIM_RNA},
    {"rni", SIM_RNI}, {"rzi", SIM_RZI}, {"rmi", SIM_RMI}, {"rpi", SIM_RPI}, {NULL, 0}};

static const struct word float_rounding_words[] = {
    {"rn", SIM_RN}, {"rz", SIM_RZ}, {"rm", SIM_RM}, {"rp", SIM_RP}, {NULL, 0}};

static const struct word order_words[] = {{"relaxed", SIM_RELAXED},
                                          {"acquire", SIM_ACQUIRE},
                                          {"release", SIM_RELEASE},
                                          {"acq_rel", SIM_ACQ_REL},
                                          {NULL, 0}};

static const struct word reduction_words[] = {{"add", SIM_ADD}, {"min", SIM_MIN}, {"max", SIM_MAX},
                                              {"and", SIM_AND}, {"or", SIM_OR},   {"xor", SIM_XOR},
                                              {"inc", SIM_INC}, {"dec", SIM_DEC}, {NULL, 0}};

static const struct word scope_words[] = {
    {"cta", SIM_CTA}, {"cluster", SIM_CLUSTER}, {"gpu", SIM_GPU}, {"sys", SIM_SYS}, {NULL, 0}};

static const struct word hint_words[] = {{"ca", 1},
                                         {"cg", 1},
                                         {"cs", 1},
                                         {"cv", 1},
                                         {"lu", 1},
                                         {"wb", 1},
                                         {"wt", 1},
                                         {"L1::evict_normal", 1},
                                         {"L1::evict_unchanged", 1},
                                         {"L1::evict_first", 1},
                                         {"L1::evict_last", 1},
                                         {"L1::no_allocate", 1},
                                         {"L2::64B", 1},
                                         {"L2::128B", 1},
                                         {"L2::256B", 1},
                                         {"L2::evict_first", 1},
                                         {"L2::evict_last", 1},
                                         {"L2::evict_normal", 1},
                                         {NULL, 0}};

static const struct word shared_words[] = {{"shared", SIM_SHARED}, {"shared::cta", SIM_SHARED}, {NULL, 0}};

/* Of copies and mbarriers, which may be those of another block of the cluster. */
static const struct word cluster_words[] = {
    {"shared::cta", SIM_SHARED}, {"shared::cluster", SIM_SHARED_CLUSTER}, {NULL, 0}};

static const struct word dimension_words[] = {{"1d", 1}, {"2d", 2}, {"3d", 3}, {NULL, 0}};

static const struct word prefetch_words[] = {{"L2::64B", 1}, {"L2::128B", 1}, {"L2::256B", 1}, {NULL, 0}};

static const struct word release_words[] = {{"release", 0}, {"relaxed", 1}, {NULL, 0}};

static const struct word acquire_words[] = {{"acquire", 0}, {"relaxed", 1}, {NULL, 0}};

static const struct word sparse_words[] = {{"sp", 0}, {"sp::ordered_metadata", SIM_ORDERED}, {NULL, 0}};

static const struct word modifier_words[] = {{"sat", SIM_SAT},
                                             {"satfinite", SIM_SATFINITE},
                                             {"uni", SIM_UNI},
                                             {"ftz", SIM_FTZ},
                                             {"aligned", SIM_ALIGNED},
                                             {"relu", SIM_RELU},
                                             {"NaN", SIM_NAN_WINS},
                                             {"trans", SIM_TRANSPOSED},
                                             {"L2::cache_hint", SIM_CACHE_POLICY},
                                             {"noinc", SIM_NOINC},
                                             {"read", SIM_READ_ONLY},
                                             {"sp", SIM_SPARSE},
                                             {"multicast::cluster", SIM_MULTICAST},
                                             {"inc", SIM_INCREASE},
                                             {"cc", SIM_SET_CARRY},
                                             {"xorsign", SIM_XOR_SIGN},
                                             {NULL, 0}};

static bool is_text(const struct sim_token *token, const char *text, size_t length) {
    return token->length == length && memcmp(token->text, text, length) == 0;
}

/* Whether the token, which is not empty, may be TEXT: most rows of a table differ in their first letter. */
static bool may_be(const struct sim_token *token, const char *text) { return token->text[0] == text[0]; }

static const struct word *find_word(const struct word *words, const struct sim_token *token) {
    for (; words->text; words++)
        if (may_be(token, words->text) && is_text(token, words->text, strlen(words->text))) return words;
    return NULL;
}

/* Sets FIELD to the value of the word that TOKEN is. */
static bool take_word(const struct word *words, const struct sim_token *token, uint8_t *field) {
    const struct word *word = find_word(words, token);
    if (word) *field = (uint8_t)word->value;
    return word != NULL;
}

static bool take_flag(const struct word *words, const struct sim_token *token, bool *flag) {
    const struct word *word = find_word(words, token);
    if (word) *flag = word->value;
    return word != NULL;
}

static bool take_sparse(const struct sim_token *token, struct sim_insn *insn) {
    const struct word *word = find_word(sparse_words, token);
    if (word) insn->modifiers |= (uint32_t)word->value;
    return word != NULL;
}

static bool take_type(const struct sim_token *token, uint8_t *field) {
    enum sim_type type = sim_type_named(token->text, token->length);
    if (type != SIM_none) *field = (uint8_t)type;
    return type != SIM_none;
}

static bool take_either(enum sim_type a, enum sim_type b, const struct sim_token *token, uint8_t *field) {
    uint8_t type;
    if (!take_type(token, &type) || (type != a && type != b)) return false;
    *field = type;
    return true;
}

/* wgmma's shape, m64nNkK. */
static bool take_shape(const struct sim_token *token, struct sim_insn *insn) {
    unsigned n, k;
    char text[16], rest;
    if (token->length >= sizeof text) return false;
    snprintf(text, sizeof text, "%.*s", (int)token->length, token->text);
    if (sscanf(text, "m64n%3uk%3u%c", &n, &k, &rest) != 2) return false;
    insn->columns = (uint16_t)n;
    insn->depth = (uint16_t)k;
    return true;
}

static bool take_class(char class, const struct sim_token *token, struct sim_insn *insn) {
    uint8_t ignored;
    switch (class) {
    case 't': return take_type(token, &insn->type);
    case 's': return take_type(token, &insn->type2);
    case 'y': return take_type(token, &insn->type3);
    case 'c': return take_word(comparison_words, token, &insn->comparison);
    case 'b': return take_word(combine_words, token, &insn->combine);
    case 'x': return take_word(space_words, token, &insn->space);
    case 'X':
        return take_word(space_words, token, &insn->space) ||
               take_word(wide_space_words, token, &insn->space);
    case 'v': return take_word(vector_words, token, &insn->vector);
    case 'r': return take_word(rounding_words, token, &insn->rounding);
    case 'q': return take_word(order_words, token, &insn->order);
    case 'o': return take_word(scope_words, token, &insn->scope);
    case 'h': return take_word(hint_words, token, &ignored);
    case 'f': return take_word(float_rounding_words, token, &insn->rounding);
    case 'z': return take_word(shared_words, token, &insn->space);
    case 'Z': return take_word(cluster_words, token, &insn->space);
    case 'C':
        return take_word(shared_words, token, &insn->space) || take_word(cluster_words, token, &insn->space);
    case 'L': return take_word(prefetch_words, token, &ignored);
    case 'd': return take_word(dimension_words, token, &insn->vector);
    case 'w': return take_flag(release_words, token, &insn->relaxed);
    case 'a': return take_flag(acquire_words, token, &insn->relaxed);
    case 'm': return take_word(matrix_words, token, &insn->vector);
    case 'O': return take_sparse(token, insn);
    case 'i': return take_either(SIM_s8, SIM_u8, token, &insn->type2);
    case 'I': return take_either(SIM_s8, SIM_u8, token, &insn->type3);
    case 'k': return take_either(SIM_s4, SIM_u4, token, &insn->type2);
    case 'K': return take_either(SIM_s4, SIM_u4, token, &insn->type3);
    case 'g': return take_either(SIM_f16, SIM_bf16, token, &insn->type2);
    case 'G': return take_either(SIM_f16, SIM_bf16, token, &insn->type3);
    case 'u': return take_either(SIM_tf32, SIM_tf32, token, &insn->type2);
    case 'U': return take_either(SIM_tf32, SIM_tf32, token, &insn->type3);
    case 'p': return take_word(reduction_words, token, &insn->reduction);
    case 'n': return take_shape(token, insn);
    case 'e': return take_either(SIM_e4m3, SIM_e5m2, token, &insn->type2);
    case 'E': return take_either(SIM_e4m3, SIM_e5m2, token, &insn->type3);
    default: return false;
    }
}

/* One class of the pattern, with its repetition mark, against the parts from *AT on. */
static bool match_class(const char **pattern, const struct sim_opcode *opcode, int *at,
                        struct sim_insn *insn) {
    char class = (*pattern)[1], mark = (*pattern)[2];
    *pattern += mark == '?' || mark == '*' ? 3 : 2;
    int most = mark == '*' ? SIM_MAX_PARTS : 1, taken = 0;
    while (taken < most && *at < opcode->count && take_class(class, &opcode->part[*at], insn)) {
        taken++;
        (*at)++;
    }
    return taken > 0 || mark == '?' || mark == '*';
}

static void take_modifier(const struct sim_token *token, struct sim_insn *insn) {
    const struct word *word = find_word(modifier_words, token);
    if (word) insn->modifiers |= (uint32_t)word->value;
}

/* `[word]` of the pattern. */
static void match_optional(const char **pattern, const struct sim_opcode *opcode, int *at,
                           struct sim_insn *insn) {
    size_t length = strcspn(*pattern + 1, "]");
    if (*at < opcode->count && is_text(&opcode->part[*at], *pattern + 1, length)) {
        take_modifier(&opcode->part[*at], insn);
        (*at)++;
    }
    *pattern += length + 2;
}

static bool match_literal(const char **pattern, const struct sim_opcode *opcode, int *at,
                          struct sim_insn *insn) {
    const char *text = *pattern + 1;
    size_t length = strcspn(text, ".%[");
    if (*at >= opcode->count || !is_text(&opcode->part[*at], text, length)) return false;
    take_word(space_words, &opcode->part[*at], &insn->space);
    take_word(order_words, &opcode->part[*at], &insn->order);
    take_word(scope_words, &opcode->part[*at], &insn->scope);
    take_modifier(&opcode->part[*at], insn);
    *pattern = text + length;
    (*at)++;
    return true;
}

/* What is behind the mnemonic. */
static bool match_pattern(const char *pattern, const struct sim_opcode *opcode, struct sim_insn *insn) {
    int at = 1;
    pattern += strcspn(pattern, ".%[");
    while (*pattern) {
        if (*pattern == '%') {
            if (!match_class(&pattern, opcode, &at, insn)) return false;
        } else if (*pattern == '[') {
            match_optional(&pattern, opcode, &at, insn);
        } else if (!match_literal(&pattern, opcode, &at, insn)) {
            return false;
        }
    }
    return at == opcode->count;
}

static bool is_mnemonic_of(const struct sim_token *token, const struct sim_op *op) {
    return may_be(token, op->pattern) && is_text(token, op->pattern, strcspn(op->pattern, ".%["));
}

/* Writes the opcode as it was written, as far as it fits. */
static void spell(const struct sim_opcode *opcode, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < opcode->count && used < size; i++) {
        int length = (int)(opcode->part[i].length < 64 ? opcode->part[i].length : 64);
        int n = snprintf(text + used, size - used, "%s%.*s", i ? "." : "", length, opcode->part[i].text);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* Whether the ISA has an instruction of which the table has no form. */
static bool is_of_isa(const struct sim_token *mnemonic) {
    static const struct word names[] = {
        {"alloca", 0},    {"applypriority", 0}, {"brkpt", 0},     {"discard", 0},
        {"istypep", 0},   {"multimem", 0},      {"pmevent", 0},   {"stackrestore", 0},
        {"stacksave", 0}, {"suld", 0},          {"suq", 0},       {"sured", 0},
        {"sust", 0},      {"tcgen05", 0},       {"tensormap", 0}, {"tex", 0},
        {"tld4", 0},      {"txq", 0},           {"vabsdiff", 0},  {"vabsdiff2", 0},
        {"vabsdiff4", 0}, {"vadd", 0},          {"vadd2", 0},     {"vadd4", 0},
        {"vavrg2", 0},    {"vavrg4", 0},        {"vmad", 0},      {"vmax", 0},
        {"vmax2", 0},     {"vmax4", 0},         {"vmin", 0},      {"vmin2", 0},
        {"vmin4", 0},     {"vset", 0},          {"vset2", 0},     {"vset4", 0},
        {"vshl", 0},      {"vshr", 0},          {"vsub", 0},      {"vsub2", 0},
        {"vsub4", 0},     {"wmma", 0},          {NULL, 0}};
    return find_word(names, mnemonic) != NULL;
}

bool sim_match(const struct sim_opcode *opcode, struct sim_insn *insn, char *message, size_t size) {
    char text[128];
    bool known = false;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (!is_mnemonic_of(&opcode->part[0], &ops[i])) continue;
        known = true;
        struct sim_insn trial = *insn;
        if (!match_pattern(ops[i].pattern, opcode, &trial)) continue;
        trial.op = &ops[i];
        trial.exec = ops[i].by_type ? ops[i].by_type[trial.type] : ops[i].one;
        if (!trial.exec) continue;
        *insn = trial;
        return true;
    }
    spell(opcode, text, sizeof text);
    if (known) snprintf(message, size, "%s: this form of the instruction is not supported", text);
    else if (is_of_isa(&opcode->part[0]))
        snprintf(message, size, "%.*s: not supported", (int)opcode->part[0].length, opcode->part[0].text);
    else snprintf(message, size, "%s: unknown instruction", text);
    return false;
}
