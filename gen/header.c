#include "header.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What a header is made of. Every name in it begins with NAME. */
typedef struct maker {
    const mc_kernel *kernel;
    const mc_contract *contract;
    const char *name;
    mc_text *out;
} maker;

/* #define NAME_MEMBER VALUE */
static void define(const maker *m, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void define(const maker *m, const char *member, const char *format, ...) {
    va_list arguments;
    text_add(m->out, "#define %s_%s ", m->name, member);
    va_start(arguments, format);
    text_add_list(m->out, format, arguments);
    va_end(arguments);
    text_add(m->out, "\n");
}

/* A shape's name in capitals: ldb has the macro LDB_MULTIPLE. */
typedef struct capitals {
    char text[MC_MAX_NAME];
} capitals;

static capitals in_capitals(const char *name) {
    capitals c = {{0}};
    for (size_t i = 0; name[i] != '\0' && i + 1 < sizeof c.text; i++)
        c.text[i] = (char)toupper((unsigned char)name[i]);
    return c;
}

/* -- Parts */

/* The comment at the head of the header is what --describe says. */
static mc_status add_description(const maker *m, mc_diag *diag) {
    char *text = mc_kernel_describe(m->kernel, false);
    if (!text) return mc_fail(diag, MC_NOMEM, "mcgen: out of memory");
    text_add(m->out, "/* A kernel made by mcgen %s, generator %s.\n *\n", MC_VERSION, mc_generator_id());
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        text_add(m->out, " *%s%.*s\n", length ? "  " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
    text_add(m->out, " */\n");
    free(text);
    return MC_OK;
}

/* All tiles of a matrix, along x. */
static void add_tiles(const maker *m, const mc_grid_axis *rows, const mc_grid_axis *columns) {
    text_add(m->out, "#define %s_GRID_X(%s, %s) (((%s) + %lld) / %lld * (((%s) + %lld) / %lld))\n", m->name,
             rows->dim, columns->dim, rows->dim, (long long)rows->per_cta - 1, (long long)rows->per_cta,
             columns->dim, (long long)columns->per_cta - 1, (long long)columns->per_cta);
}

static void add_axis(const maker *m, char axis, const mc_grid_axis *grid) {
    const char *dim = grid->dim;
    long long share = grid->per_cta > 0 ? (long long)grid->per_cta : 1;
    text_add(m->out, "#define %s_GRID_%c", m->name, axis);
    if (!dim) text_add(m->out, " %lld\n", share);
    else if (share == 1) text_add(m->out, "(%s) (%s)\n", dim, dim);
    else text_add(m->out, "(%s) (((%s) + %lld) / %lld)\n", dim, dim, share - 1, share);
}

static void add_launch(const maker *m) {
    const mc_contract *c = m->contract;
    define(m, "ENTRY", "\"%s\"", c->entry);
    define(m, "TARGET", "\"%s\"", c->target);
    define(m, "HASH", "\"%016" PRIx64 "\"", mc_kernel_hash(m->kernel));
    define(m, "FIELDS", "\\\n    \"%s\"", mc_kernel_fields(m->kernel));
    text_add(m->out,
             "\n/* The grid, in thread blocks: where an axis depends on a shape, the macro takes it. */\n");
    for (int i = 0; i < 3; i++)
        if (i == 0 && c->columns.dim) add_tiles(m, &c->grid[0], &c->columns);
        else add_axis(m, "XYZ"[i], &c -> grid[i]);
    for (int i = 0; i < 3; i++)
        text_add(m->out, "#define %s_BLOCK_%c %u\n", m->name, "XYZ"[i], c -> block[i]);
    for (int i = 0; i < 3 && c->cluster[0]; i++)
        text_add(m->out, "#define %s_CLUSTER_%c %u /* the PTX declares it */\n", m->name, "XYZ"[i],
                 c -> cluster[i]);
    define(m, "SHARED_STATIC", "%u /* bytes, which the PTX declares */", c->shared_static);
    define(m, "SHARED_DYNAMIC", "%u /* bytes, which the launch asks for */", c->shared_dynamic);
    define(m, "PASSES", "%u /* launches of one execution, one after another */", c->passes ? c->passes : 1);
    define(m, "WORKSPACE", "%u /* bytes, of each product of a batch */", c->workspace);
    if (c->turn_most)
        define(m, "MOST_BLOCKS", "%d /* along %c: the workspace has room for so many */", c->turn_most,
               'x' + c->turn_axis);
    define(m, "OVERLAP", "%d /* 1: it may start while what was launched before it runs */", c->overlap);
}

static void add_params(const maker *m) {
    text_add(m->out, "\n/* Where each parameter stands in kernelParams of cuLaunchKernel. */\nenum {\n");
    for (size_t i = 0; i < m->contract->param_count; i++) {
        const mc_param *p = &m->contract->params[i];
        text_add(m->out, "    %s_PARAM_%s, /* %s: %s", m->name, p->name, p->type, p->doc ? p->doc : "");
        if (p->kind == MC_PARAM_ARRAY && p->align > 1)
            text_add(m->out, "; at a multiple of %u bytes", p->align);
        text_add(m->out, " */\n");
    }
    text_add(m->out, "    %s_PARAMS\n};\n", m->name);
}

static void add_constraints(const maker *m) {
    for (size_t i = 0; i < m->contract->constraint_count; i++) {
        const mc_constraint *c = &m->contract->constraints[i];
        const capitals shape = in_capitals(c->shape);
        if (i == 0) text_add(m->out, "\n/* A shape must be a multiple of _MULTIPLE and at most _LIMIT. */\n");
        if (c->multiple) text_add(m->out, "#define %s_%s_MULTIPLE %u\n", m->name, shape.text, c->multiple);
        if (c->limit)
            text_add(m->out, "#define %s_%s_LIMIT %lld\n", m->name, shape.text, (long long)c->limit);
    }
}

/* What cuTensorMapEncodeTiled is given for each tensor map. */
static void add_maps(const maker *m) {
    for (size_t i = 0; i < m->contract->map_count; i++) {
        const mc_map_param *map = &m->contract->maps[i];
        const struct {
            const char *name;
            unsigned value;
        } numbers[] = {{"BOX_ROWS", map->box_rows},
                       {"BOX_COLS", map->box_cols},
                       {"SWIZZLE", map->swizzle},
                       {"ELEMENT_BYTES", map->element_bytes},
                       {"PER_BYTE", map->per_byte}};
        text_add(m->out, "\n/* The tensor map %s: of %s, %s x %s, %s from row to row", map->param, map->array,
                 map->rows, map->cols, map->ld);
        if (map->stride) text_add(m->out, "; a batch of them, %s from product to product", map->stride);
        text_add(m->out, ". */\n");
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++)
            text_add(m->out, "#define %s_MAP_%s_%s %u\n", m->name, map->param, numbers[j].name,
                     numbers[j].value);
    }
}

/* Adds a character of a string literal. A question mark is escaped, since two could begin a trigraph. */
static void add_character(mc_text *out, char c) {
    if (c == '"' || c == '\\' || c == '?') text_add(out, "\\%c", c);
    else if (c == '\n') text_add(out, "\\n");
    else if ((unsigned char)c < ' ' || c == 127) text_add(out, "\\%03o", (unsigned)c);
    else text_add(out, "%c", c);
}

/* Each line of the PTX is a string literal of its own. */
static void add_ptx(const maker *m) {
    text_add(m->out,
             "\n/* The PTX ends in NUL, as cuModuleLoadData wants it. */\n"
             "#ifdef __GNUC__ /* the literal is longer than what every compiler must take */\n"
             "#pragma GCC diagnostic push\n"
             "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
             "static const char %s_ptx[] =\n    \"",
             m->name);
    for (const char *c = mc_kernel_ptx(m->kernel); *c; c++) {
        add_character(m->out, *c);
        if (*c == '\n' && c[1]) text_add(m->out, "\"\n    \"");
    }
    text_add(m->out, "\";\n#ifdef __GNUC__\n#pragma GCC diagnostic pop\n#endif\n");
}

static bool is_identifier(const char *name) {
    bool letters = isalpha((unsigned char)*name) || *name == '_';
    for (const char *c = name; *c; c++) letters = letters && (isalnum((unsigned char)*c) || *c == '_');
    return letters;
}

mc_status header_write(const mc_kernel *kernel, const char *name, mc_text *out, mc_diag *diag) {
    const mc_contract *c = mc_kernel_contract(kernel);
    const maker m = {kernel, c, name ? name : c->entry, out};
    if (!is_identifier(m.name))
        return mc_fail(diag, MC_USAGE, "--name: '%s' cannot begin names of C: letters, digits and _", name);
    mc_status status = add_description(&m, diag);
    if (status != MC_OK) return status;
    text_add(out, "#ifndef %s_H\n#define %s_H\n\n", m.name, m.name);
    add_launch(&m);
    add_params(&m);
    add_constraints(&m);
    add_maps(&m);
    add_ptx(&m);
    text_add(out, "\n#endif\n");
    return MC_OK;
}
