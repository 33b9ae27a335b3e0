#include <string.h>
#include "operation.h"

#define O(upper, lower) extern const operation operation_##lower;
#include "ops/operators.def"
#undef O

const operation *operation_find(const char *family) {
    static const operation *const all[] = {
#define O(upper, lower) &operation_##lower,
#include "ops/operators.def"
#undef O
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(operation_name(all[i]), family) == 0) return all[i];
    return NULL;
}

const char *operation_name(const operation *o) { return operator_of(o->op)->name; }

const char *operation_size(const operation *o) { return problem_members[operator_of(o->op)->size].name; }

bool operation_is_sampled(const operation *o) {
    return operator_out(operator_of(o->op))->kind == OPERAND_SAMPLED;
}
