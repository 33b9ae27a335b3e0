#include "types.h"

#include <string.h>

const struct sim_type_info sim_types[SIM_TYPE_COUNT] = {{"none", 0, 0},
#define X(name, bytes, kind) {#name, bytes, kind},
                                                        SIM_TYPE_LIST(X)
#undef X
};

enum sim_type sim_type_named(const char *text, size_t length) {
    for (int type = SIM_none + 1; type < SIM_TYPE_COUNT; type++) {
        const char *name = sim_types[type].name;
        if (strlen(name) == length && memcmp(name, text, length) == 0) return (enum sim_type)type;
    }
    return SIM_none;
}

enum sim_type sim_type_declared(const char *text, size_t length) {
    enum sim_type type = sim_type_named(text, length);
    return sim_types[type].kind == 'a' ? SIM_none : type;
}

enum sim_type sim_type_doubled(enum sim_type type) {
    for (int t = SIM_none + 1; t < SIM_TYPE_COUNT; t++)
        if (sim_types[t].kind == sim_types[type].kind && sim_types[t].bytes == 2 * sim_types[type].bytes)
            return (enum sim_type)t;
    return SIM_none;
}

static bool is_integer(char kind) { return kind == 'u' || kind == 's'; }

static bool kinds_agree(char a, char b) {
    if (a == 'p' || b == 'p') return a == b;
    return a == 'b' || b == 'b' || a == b || (is_integer(a) && is_integer(b));
}

bool sim_type_fits(enum sim_type type, enum sim_type reg) {
    return sim_types[type].bytes == sim_types[reg].bytes &&
           kinds_agree(sim_types[type].kind, sim_types[reg].kind);
}

bool sim_type_fits_relaxed(enum sim_type type, enum sim_type reg) {
    if (sim_type_fits(type, reg)) return true;
    if (sim_types[reg].bytes <= sim_types[type].bytes || sim_types[reg].kind == 'p') return false;
    switch (sim_types[type].kind) {
    case 'b': return true;
    case 'x':
    case 'a': return false;
    case 'f': return sim_types[reg].kind == 'b';
    default: return sim_types[reg].kind != 'f';
    }
}
