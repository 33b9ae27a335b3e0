/* What the families share. */
#include "schema/family.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int family_field(const mc_family *family, const char *name) {
    for (size_t i = 0; i < family->field_count; i++) {
        if (strcmp(family->fields[i].name, name) == 0) return (int)i;
    }
    return -1;
}

void complain(mc_complaints *complaints, int field, const char *format, ...) {
    if (complaints->count == MC_MAX_FIELDS) return;
    mc_complaint *complaint = &complaints->list[complaints->count++];
    complaint->field = field;
    va_list args;
    va_start(args, format);
    vsnprintf(complaint->text, sizeof complaint->text, format, args);
    va_end(args);
}

const int family_vecs[] = {2, 4, 8, 0}, family_aligns[] = {1, 4, 16, 0};

void check_overlap(const int64_t *point, int field, mc_complaints *complaints) {
    const mc_arch *arch = &mc_archs[point[FIELD_ARCH]];
    if (point[field] && !arch->overlap)
        complain(complaints, field, "%s has no programmatic dependent launch", arch->target);
}

void add_param(mc_contract *c, mc_param param) {
    if (c->param_count++ < MC_MAX_PARAMS) c->params[c->param_count - 1] = param;
}

void add_array(mc_contract *c, unsigned align, mc_array array) {
    if (c->array_count++ < MC_MAX_ARRAYS) c->arrays[c->array_count - 1] = array;
    add_param(c, (mc_param){array.name, "u64", MC_PARAM_ARRAY, align, "packed array"});
}

void add_shape(mc_contract *c, const char *name, int64_t shape, const char *doc) {
    if (shape == MC_OPEN) add_param(c, (mc_param){name, "s32", MC_PARAM_SHAPE, 4, doc});
}

void add_fact(mc_facts *facts, const char *name, int64_t value, const char *doc) {
    if (facts->count++ < MC_MAX_FACTS) facts->list[facts->count - 1] = (mc_fact){name, value, doc};
}
