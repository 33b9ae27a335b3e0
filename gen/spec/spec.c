/* From a spec file and settings to mc_spec. It requires the script's assignments. Every error of a field is
   reported, not only the first. */
#include "ops/families.h"
#include "spec/spec.h"
#include "text/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC_SIZE_CAP = 1 << 20 };

/* What the checks below need to say where an error is. */
typedef struct reader {
    const char *name, *settings; /* as in mc_spec */
    mc_diag *diag;
    size_t errors;
} reader;

/* "specs/a.lua:12: vec: " or "--set: vec: ", then the message. */
static void field_error(reader *r, int line, const char *field, const char *message) {
    r->errors++;
    if (line) mc_fail(r->diag, MC_USAGE, "%s:%d: %s: %s", r->name, line, field, message);
    else mc_fail(r->diag, MC_USAGE, "%s: %s: %s", r->settings, field, message);
}

/* -- Settings ----------------------------------------------------------------------------------------- */

/* Digits with or without a minus, as the command line writes an integer. */
static bool is_integer(const char *text) {
    size_t sign = *text == '-', digits = strspn(text + sign, "0123456789");
    return digits >= 1 && digits <= 18 && !text[sign + digits];
}

static mc_raw raw_from_text(const char *text, size_t length) {
    mc_raw raw = {.kind = MC_RAW_TEXT};
    snprintf(raw.text, sizeof raw.text, "%.*s", (int)length, text);
    if (length >= sizeof raw.text) {
        raw.kind = MC_RAW_OTHER;
        snprintf(raw.text, sizeof raw.text, "a text of %zu characters", length);
    } else if (is_integer(raw.text)) {
        raw.kind = MC_RAW_INTEGER;
        raw.number = strtoll(raw.text, NULL, 10);
    } else if (strcmp(raw.text, "true") == 0 || strcmp(raw.text, "false") == 0) {
        raw.kind = MC_RAW_SWITCH;
        raw.number = raw.text[0] == 't';
    }
    return raw;
}

/* The value at TEXT, which ends before a comma. Blanks around it do not count. Returns where it ends. */
static const char *read_value(const char *text, mc_raw *value) {
    text += strspn(text, " ");
    size_t length = strcspn(text, ","), end = length;
    while (end > 0 && text[end - 1] == ' ') end--;
    *value = raw_from_text(text, end);
    return text + length;
}

/* "32,64" is a list of values. */
static void apply_setting(reader *r, const mc_setting *setting, mc_script *script) {
    if (strlen(setting->field) >= MC_MAX_NAME) {
        field_error(r, 0, setting->field, "unknown field");
        return;
    }
    mc_assignment *assignment = script_assign(script, setting->field);
    if (!assignment) {
        field_error(r, 0, setting->field, "too many fields");
        return;
    }
    assignment->line = 0;
    assignment->wrong[0] = '\0';
    assignment->count = 0;
    assignment->list = strchr(setting->value, ',') != NULL;
    for (const char *at = setting->value;; at++) {
        if (assignment->count == MC_MAX_CANDIDATES) {
            field_error(r, 0, setting->field, "too many candidates");
            return;
        }
        at = read_value(at, &assignment->values[assignment->count++]);
        if (!*at) return;
    }
}

/* -- Fields of one kernel ----------------------------------------------------------------------------- */

/* "vec=8", of LENGTH characters. */
static void assign_field(reader *r, const char *word, size_t length, mc_script *script) {
    const char *equals = memchr(word, '=', length);
    size_t name_length = equals ? (size_t)(equals - word) : 0;
    char name[MC_MAX_NAME];
    snprintf(name, sizeof name, "%.*s", (int)(length < MC_MAX_NAME ? length : MC_MAX_NAME), word);
    if (name_length == 0 || name_length >= sizeof name) {
        field_error(r, 0, name, "want name=value");
        return;
    }
    name[name_length] = '\0';
    mc_assignment *assignment = script_assign(script, name);
    if (!assignment) {
        field_error(r, 0, name, "too many fields");
        return;
    }
    if (assignment->count) field_error(r, 0, name, "stands twice");
    assignment->count = 1;
    assignment->values[0] = raw_from_text(equals + 1, length - name_length - 1);
}

static void assign_fields(reader *r, const char *fields, mc_script *script) {
    for (fields += strspn(fields, " "); *fields; fields += strspn(fields, " ")) {
        size_t length = strcspn(fields, " ");
        assign_field(r, fields, length, script);
        fields += length;
    }
}

/* -- Validation --------------------------------------------------------------------------------------- */

static const char *family_name_at(const void *list, size_t i) {
    return ((const mc_family *const *)list)[i]->name;
}
static const char *name_at(const void *list, size_t i) { return ((const char *const *)list)[i]; }

static size_t count_of(const char *const *names) {
    size_t n = 0;
    while (names[n]) n++;
    return n;
}

static void raw_text(const mc_raw *raw, char text[MC_MAX_NAME + 2]) {
    if (raw->kind == MC_RAW_INTEGER) snprintf(text, MC_MAX_NAME, "%lld", (long long)raw->number);
    else if (raw->kind == MC_RAW_SWITCH) snprintf(text, MC_MAX_NAME, "%s", raw->number ? "true" : "false");
    else if (raw->kind == MC_RAW_TEXT) snprintf(text, MC_MAX_NAME + 2, "\"%s\"", raw->text);
    else snprintf(text, MC_MAX_NAME, "%s", raw->text);
}

/* A name is near because of its letters; widths such as "8+4" have none. */
static bool is_word(const mc_raw *raw) { return raw->kind == MC_RAW_TEXT && !strchr(raw->text, '+'); }

static void refuse_value(reader *r, const mc_assignment *assignment, const mc_field *field,
                         const mc_raw *raw) {
    char given[MC_MAX_NAME + 2];
    raw_text(raw, given);
    mc_text message = {0};
    text_add(&message, "%s is not one of ", given);
    field_allowed_text(field, &message);
    if (field->kind == MC_FIELD_NAME && is_word(raw)) {
        const char *near = nearest_name(raw->text, field->names, count_of(field->names), name_at);
        if (near) text_add(&message, " (did you mean \"%s\"?)", near);
    }
    char *text = text_take(&message);
    field_error(r, assignment->line, field->name, text ? text : "out of memory");
    free(text);
}

static void read_candidates(reader *r, const mc_assignment *assignment, const mc_field *field,
                            mc_candidates *out) {
    *out = (mc_candidates){.line = assignment->line, .set = true};
    if (assignment->list && !field->tunable) {
        field_error(r, assignment->line, field->name, "takes one value, not a list of candidates");
        return;
    }
    if (assignment->wrong[0]) field_error(r, assignment->line, field->name, assignment->wrong);
    else if (assignment->count == 0)
        field_error(r, assignment->line, field->name, "the list of candidates is empty");
    for (size_t i = 0; i < assignment->count; i++) {
        int64_t value;
        if (!field_accepts(field, &assignment->values[i], &value)) {
            refuse_value(r, assignment, field, &assignment->values[i]);
            continue;
        }
        for (size_t j = 0; j < out->count; j++) {
            if (out->values[j] == value)
                field_error(r, assignment->line, field->name, "a candidate stands twice");
        }
        out->values[out->count++] = value;
    }
}

static void unknown_field(reader *r, const mc_assignment *assignment, const mc_family *family) {
    mc_text message = {0};
    text_add(&message, "unknown field");
    hint_text(family, assignment->name, &message);
    char *text = text_take(&message);
    field_error(r, assignment->line, assignment->name, text ? text : "out of memory");
    free(text);
}

/* The script's `op`; NULL: it has none. */
static const mc_assignment *find_op(const mc_script *script) {
    for (size_t i = 0; i < script->count; i++)
        if (strcmp(script->assignments[i].name, "op") == 0) return &script->assignments[i];
    return NULL;
}

/* The family whose name OP most likely is; NULL: none is near. */
static const char *near_family(const mc_assignment *op) {
    size_t count = 0;
    while (mc_families[count]) count++;
    if (op->count == 0 || op->values[0].kind != MC_RAW_TEXT) return NULL;
    return nearest_name(op->values[0].text, mc_families, count, family_name_at);
}

static const mc_family *read_family(reader *r, const mc_assignment *op) {
    char message[160];
    if (!op) {
        r->errors++;
        mc_fail(r->diag, MC_USAGE, "%s: op: missing: which kernel family is it (op = \"spmm\")?", r->name);
        return NULL;
    }
    bool one = !op->list && op->values[0].kind == MC_RAW_TEXT;
    const mc_family *family = one ? family_find(op->values[0].text) : NULL;
    if (family) return family;
    const char *near = near_family(op);
    snprintf(message, sizeof message,
             near ? "no such kernel family (did you mean \"%s\"?)"
                  : "no such kernel family; mcgen --help lists them",
             near);
    field_error(r, op->line, "op", message);
    return NULL;
}

static size_t known_fields(const mc_family *family, const mc_script *script) {
    size_t known = 0;
    for (size_t i = 0; i < script->count; i++)
        known += family_field(family, script->assignments[i].name) >= 0;
    return known;
}

/* By which family the other fields of a script without a family are read, so that their errors are told, too:
   the one whose name is near, else the one that knows most of the fields. */
static const mc_family *guess_family(const mc_assignment *op, const mc_script *script) {
    const char *near = op ? near_family(op) : NULL;
    const mc_family *most = near ? family_find(near) : mc_families[0];
    for (size_t i = 0; !near && mc_families[i]; i++)
        if (known_fields(mc_families[i], script) > known_fields(most, script)) most = mc_families[i];
    return most;
}

static void read_fields(reader *r, const mc_script *script, mc_spec *spec) {
    for (size_t i = 0; i < spec->family->field_count; i++)
        spec->fields[i] = (mc_candidates){.count = 1, .values = {spec->family->fields[i].standard}};
    for (size_t i = 0; i < script->count; i++) {
        const mc_assignment *assignment = &script->assignments[i];
        int field = family_field(spec->family, assignment->name);
        if (field == FIELD_OP && r->errors) continue; /* read_family said what is wrong */
        if (field < 0) unknown_field(r, assignment, spec->family);
        else read_candidates(r, assignment, &spec->family->fields[field], &spec->fields[field]);
    }
}

/* -- Reading ------------------------------------------------------------------------------------------ */

/* Every field has one value; one whose values were refused gets its default. */
static bool is_one_point(mc_spec *spec) {
    for (size_t i = 0; i < spec->family->field_count; i++) {
        mc_candidates *field = &spec->fields[i];
        if (field->count > 1) return false;
        if (field->count == 0)
            *field = (mc_candidates){.count = 1, .values = {spec->family->fields[i].standard}};
    }
    return true;
}

static mc_status read_script(reader *r, const mc_script *script, mc_spec *spec) {
    const mc_assignment *op = find_op(script);
    const mc_family *family = read_family(r, op);
    spec->family = family ? family : guess_family(op, script);
    read_fields(r, script, spec);
    if (!r->errors) return space_build(spec, r->diag);
    if (family && is_one_point(spec))
        space_explain(spec, r->diag); /* what the other fields have against each other */
    return MC_USAGE;
}

static bool names_arch(const mc_script *script) {
    for (size_t i = 0; i < script->count; i++)
        if (strcmp(script->assignments[i].name, "arch") == 0) return true;
    return false;
}

/* What a spec is read into. spec_end frees the script, and the spec unless it is whole. */
static mc_status spec_begin(const reader *r, mc_spec **spec, mc_script **script) {
    *spec = calloc(1, sizeof **spec);
    *script = calloc(1, sizeof **script);
    if (*spec) (*spec)->name = strdup(r->name);
    if (!*script || !*spec || !(*spec)->name) return mc_fail(r->diag, MC_NOMEM, "%s: out of memory", r->name);
    (*spec)->settings = r->settings;
    return MC_OK;
}

static mc_status spec_end(mc_status status, mc_spec *spec, mc_script *script, mc_spec **out) {
    free(script);
    if (status == MC_OK) *out = spec;
    else mc_spec_destroy(spec);
    return status;
}

mc_status spec_of_fields(const char *fields, mc_spec **out, mc_diag *diag) {
    *out = NULL;
    reader r = {.name = "fields", .settings = "fields", .diag = diag};
    mc_spec *spec;
    mc_script *script;
    mc_status status = spec_begin(&r, &spec, &script);
    if (status == MC_OK) {
        assign_fields(&r, fields, script);
        status = read_script(&r, script, spec);
    }
    return spec_end(status, spec, script, out);
}

static void apply_default(reader *r, const mc_arch_default *arch, mc_script *script) {
    const char *target = names_arch(script) ? NULL : arch->target(arch->user);
    if (target) apply_setting(r, &(mc_setting){"arch", target}, script);
}

static mc_status read_text(const char *name, const char *text, size_t size, const mc_setting *settings,
                           size_t setting_count, const mc_arch_default *arch, mc_spec **out, mc_diag *diag) {
    *out = NULL;
    reader r = {.name = name, .settings = "--set", .diag = diag};
    mc_spec *spec;
    mc_script *script;
    mc_status status = spec_begin(&r, &spec, &script);
    if (status == MC_OK) status = sandbox_run(name, text, size, script, diag);
    if (status == MC_OK) {
        for (size_t i = 0; i < setting_count; i++) apply_setting(&r, &settings[i], script);
        apply_default(&r, arch, script);
        status = read_script(&r, script, spec);
    }
    return spec_end(status, spec, script, out);
}

mc_status spec_read_path(const char *path, const mc_setting *settings, size_t setting_count,
                         const mc_arch_default *arch, mc_spec **spec, mc_diag *diag) {
    static const file_limit limit = {SPEC_SIZE_CAP >> 20, "a spec"};
    const mc_builtin_spec *shipped;
    char *text = NULL;
    size_t size = 0;
    *spec = NULL;
    mc_status status = mc_builtin_spec_find(path, &shipped, diag);
    if (status != MC_OK) return status;
    if (shipped)
        return read_text(shipped->name, shipped->text, strlen(shipped->text), settings, setting_count, arch,
                         spec, diag);
    status = file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, &limit, &text, &size, diag);
    if (status == MC_OK) status = read_text(path, text, size, settings, setting_count, arch, spec, diag);
    free(text);
    return status;
}

static const char *target_for(void *capability) { return mc_arch_for(*(const int *)capability); }

mc_status mc_spec_read_text_for(const char *name, const char *text, size_t size, const mc_setting *settings,
                                size_t setting_count, int capability, mc_spec **spec, mc_diag *diag) {
    const mc_arch_default arch = {target_for, &capability};
    return read_text(name, text, size, settings, setting_count, &arch, spec, diag);
}

mc_status mc_spec_read_text(const char *name, const char *text, size_t size, const mc_setting *settings,
                            size_t setting_count, mc_spec **spec, mc_diag *diag) {
    return mc_spec_read_text_for(name, text, size, settings, setting_count, 0, spec, diag);
}

mc_status mc_spec_read_for(const char *path, const mc_setting *settings, size_t setting_count, int capability,
                           mc_spec **spec, mc_diag *diag) {
    const mc_arch_default arch = {target_for, &capability};
    return spec_read_path(path, settings, setting_count, &arch, spec, diag);
}

mc_status mc_spec_read(const char *path, const mc_setting *settings, size_t setting_count, mc_spec **spec,
                       mc_diag *diag) {
    return mc_spec_read_for(path, settings, setting_count, 0, spec, diag);
}

void mc_spec_destroy(mc_spec *spec) {
    if (!spec) return;
    free(spec->name);
    free(spec->variants);
    free(spec);
}
