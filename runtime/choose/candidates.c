/* All variants of all specs that fit a problem. */
#include "choose/candidates.h"
#include <stdlib.h>
#include <string.h>
#include "base/fields.h"
#include "choose/fits.h"
#include "base/memory.h"
#include "problem/transpose.h"

candidate_target candidate_target_of(const mc_device *device) {
    return (candidate_target){mc_device_gpu(device), mc_device_get_info(device)->capability, false};
}

/* What the search goes by. */
typedef struct search {
    const plan_problem *problem;
    const candidate_target *target;
    problem_settings settings; /* and the target's arch */
    bool builtin;              /* no caller names the specs */
    mc_problem shape;
    candidate_list *list;
    size_t room;
    mc_diag *why, *diag; /* why: reasons of specs that were passed over */
} search;

/* -- Specs -------------------------------------------------------------------------------------------- */

/* How unlike a spec's own type is to the one that is wanted: the same type; the same bits; the same bytes in
   memory; neither. Shipped specs whose coding may not hold every value of the type come late, and so do those
   of single nonzeros where there are vectors: who wants them names them. Last are those of integers where
   floats are multiplied, and the other way round. */
enum { SAME_TYPE, SAME_BITS, SAME_BYTES, OTHER_BYTES, OTHER_CODING, OTHER_KIND, OTHER_FAMILY };

static int unlike_type(const mc_kernel *own, const char *field, mc_type wanted) {
    mc_type type;
    if (mc_type_of(own, field, &type, NULL) != MC_OK) return OTHER_BYTES;
    if (type == wanted) return SAME_TYPE;
    if (mc_type_bits(type) == mc_type_bits(wanted)) return SAME_BITS;
    return mc_type_bytes(type) == mc_type_bytes(wanted) ? SAME_BYTES : OTHER_BYTES;
}

/* Of a product, whose sides are of one kind. */
static bool is_other_kind(const mc_kernel *own, const plan_problem *problem) {
    mc_type type;
    return mc_type_of(own, "rhs", &type, NULL) == MC_OK && arithmetic_of(type) != arithmetic_of(problem->rhs);
}

/* Of single nonzeros, where the problem has vectors: its list of candidates is for short rows. */
static bool is_of_single_nonzeros(const mc_kernel *own, const plan_problem *problem) {
    const char *vec = mc_kernel_field_text(own, "vec");
    return problem->vec > 1 && vec != NULL && strcmp(vec, "1") == 0;
}

/* Where the matrix is CSR as it comes, what other kernels' specs leave to tuning says nothing. */
static bool is_packed(const mc_kernel *own, const plan_problem *problem) {
    const char *staging = mc_kernel_field_text(own, "staging");
    return problem->as_csr && (staging == NULL || strcmp(staging, "csr") != 0);
}

/* How a spec, as its file has it, stands to the problem and the GPU. */
typedef struct likeness {
    int unlike;
    bool keeps_arch; /* it names an architecture of this GPU's capability alone */
} likeness;

static bool keeps_arch(const search *s, const mc_kernel *own) {
    const char *arch = mc_kernel_field_text(own, "arch"), *usual = mc_arch_for(s->target->capability);
    return usual != NULL && strcmp(arch, usual) != 0 && mc_arch_suits(arch, s->target->capability);
}

/* Whether SOURCE, which is shipped, sets a field for each operand that lies by columns and is read so. */
static bool sets_majors(const search *s, const spec_source *source) {
    const mc_operator *o = operator_of(s->problem->op);
    for (size_t i = 0; i < o->operand_count; i++) {
        const operand_row *operand = &o->operands[i];
        const char *field = operand->major != NO_MEMBER ? problem_members[operand->major].field : NULL;
        if (field != NULL && operand_wants_pass(s->problem, operand) && !spec_text_sets(source->text, field))
            return false;
    }
    return true;
}

static bool may_be_of(const search *s, const spec_source *source) {
    return spec_text_is_of(source->text, plan_op_text(s->problem->op)) && sets_majors(s, source);
}

/* Reading it shows whether it is a spec at all. Shipped ones, which are, are not read where their text shows
   that they are of no use. */
static mc_status look_at_spec(const search *s, const spec_source *source, likeness *like) {
    int *unlike = &like->unlike;
    mc_spec *spec;
    mc_kernel *own = NULL;
    if (s->builtin && !may_be_of(s, source)) {
        *unlike = OTHER_FAMILY;
        return MC_OK;
    }
    mc_status status = mc_spec_read_text(source->path, source->text, source->size, NULL, 0, &spec, s->diag);
    if (status == MC_OK) status = mc_kernel_outline(spec, mc_spec_default(spec), &own, s->diag);
    if (status == MC_OK && strcmp(mc_kernel_contract(own)->family, plan_op_text(s->problem->op)) != 0)
        *unlike = OTHER_FAMILY;
    else if (status == MC_OK) {
        int lhs = unlike_type(own, "lhs", s->problem->lhs), rhs = unlike_type(own, "rhs", s->problem->rhs);
        *unlike = lhs > rhs ? lhs : rhs;
        if (s->builtin && code_of_kernel(own) != 0) *unlike = OTHER_CODING;
        if (s->builtin && is_of_single_nonzeros(own, s->problem)) *unlike = OTHER_CODING;
        if (s->builtin && is_other_kind(own, s->problem)) *unlike = OTHER_KIND;
        if (s->builtin && is_packed(own, s->problem)) *unlike = OTHER_FAMILY;
    }
    like->keeps_arch = status == MC_OK && keeps_arch(s, own);
    mc_kernel_destroy(own);
    mc_spec_destroy(spec);
    return status;
}

/* -- Variants ----------------------------------------------------------------------------------------- */

static bool make_room(search *s) {
    candidate *items = mcrt_room(s->list->items, s->list->count, &s->room, sizeof *items);
    if (items != NULL) s->list->items = items;
    return items != NULL;
}

mc_kernel *candidate_changed(const char *fields, const char *changes) {
    mc_kernel *kernel = NULL;
    char *changed = fields_change(fields, changes);
    if (changed != NULL) mc_kernel_outline_fields(changed, &kernel, NULL);
    free(changed);
    return kernel;
}

mc_kernel *candidate_alone(const char *fields) {
    mc_kernel *alone = candidate_changed(fields, "overlap=");
    return alone != NULL ? alone : candidate_changed(fields, "");
}

static mc_status add_candidate(search *s, const mc_spec *spec, size_t variant, const mc_kernel *kernel,
                               const char *name) {
    if (!make_room(s)) return mc_fail(s->diag, MC_NOMEM, "no memory for candidates");
    candidate *c = &s->list->items[s->list->count];
    *c = (candidate){.spec = name,
                     .fields = strdup(mc_kernel_fields(kernel)),
                     .tuned = mc_spec_variant_text(spec, variant, false),
                     .hash = mc_kernel_hash(kernel),
                     .estimate = mc_kernel_estimate_alone(kernel, &s->target->gpu, &s->shape),
                     .place = s->list->count,
                     .standard = variant == mc_spec_default(spec)};
    s->list->count++;
    return c->fields != NULL && c->tuned != NULL ? MC_OK
                                                 : mc_fail(s->diag, MC_NOMEM, "no memory for candidates");
}

/* Where no variant fits, the first one's reason is kept. */
static mc_status add_variants(search *s, const mc_spec *spec, const spec_source *source, const char *name) {
    size_t before = s->list->count;
    mc_status status = MC_OK;
    for (size_t i = 0; i < mc_spec_variant_count(spec) && status == MC_OK; i++) {
        mc_kernel *kernel;
        status = mc_kernel_outline(spec, i, &kernel, s->diag);
        if (status != MC_OK) break;
        if (kernel_fits(kernel, s->problem, NULL) == MC_OK) status = add_candidate(s, spec, i, kernel, name);
        else if (i == 0) {
            mc_fail(s->why, MC_CANNOT, "%s:", source->path);
            kernel_fits(kernel, s->problem, s->why);
        }
        mc_kernel_destroy(kernel);
    }
    if (s->list->count != before) mc_diag_clear(s->why);
    return status;
}

/* The spec with the problem's settings, of which the last is the arch. That these make no kernel of it is no
   error. */
static mc_status add_spec(search *s, const spec_source *source, const likeness *like) {
    mc_spec *spec;
    size_t count = s->settings.count - like->keeps_arch;
    mc_status status =
        mc_spec_read_text(source->path, source->text, source->size, s->settings.items, count, &spec, s->why);
    if (status == MC_USAGE) return MC_OK;
    if (status != MC_OK) return mc_fail(s->diag, status, "%s: out of memory", source->path);
    char *name = strdup(source->name);
    if (name == NULL) status = mc_fail(s->diag, MC_NOMEM, "no memory for candidates");
    else s->list->names[s->list->name_count++] = name;
    if (status == MC_OK) status = add_variants(s, spec, source, name);
    mc_spec_destroy(spec);
    return status;
}

/* -- Order -------------------------------------------------------------------------------------------- */

static int by_hash(const void *left, const void *right) {
    const candidate *a = left, *b = right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* Specs overlap: of equal kernels the first one stays, as a default if any of them is one. */
static void drop_doubles(candidate_list *list) {
    size_t kept = 0;
    qsort(list->items, list->count, sizeof *list->items, by_hash);
    for (size_t i = 0; i < list->count; i++) {
        candidate *last = kept != 0 ? &list->items[kept - 1] : NULL, *c = &list->items[i];
        if (last == NULL || last->hash != c->hash) {
            list->items[kept++] = *c;
            continue;
        }
        last->standard |= c->standard;
        free(c->fields);
        free(c->tuned);
    }
    list->count = kept;
}

static int by_merit(const void *left, const void *right) {
    const candidate *a = left, *b = right;
    if (a->estimate < b->estimate || a->estimate > b->estimate) return a->estimate < b->estimate ? -1 : 1;
    if (a->standard != b->standard) return a->standard ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status find_in(search *s, const spec_sources *sources) {
    mc_status status = MC_OK;
    likeness *like = calloc(sources->count + 1, sizeof *like);
    s->list->names = calloc(sources->count + 1, sizeof *s->list->names);
    if (like == NULL || s->list->names == NULL)
        status = mc_fail(s->diag, MC_NOMEM, "no memory for candidates");
    for (size_t i = 0; i < sources->count && status == MC_OK; i++)
        status = look_at_spec(s, &sources->items[i], &like[i]);
    /* Specs that a caller names all count. Of those built in the less likely ones count only where the likely
       ones make no kernel. */
    for (int level = 0; level < OTHER_FAMILY && status == MC_OK; level++) {
        if (s->builtin && s->list->count != 0) break;
        for (size_t i = 0; i < sources->count && status == MC_OK; i++)
            if (like[i].unlike == level) status = add_spec(s, &sources->items[i], &like[i]);
    }
    free(like);
    return status;
}

/* Whether a line of LENGTH is among those of TEXT before it. */
static bool is_told(const char *text, const char *line, size_t length) {
    for (const char *at = text; at < line; at = strchr(at, '\n') + 1)
        if (strncmp(at, line, length) == 0 && at[length] == '\n') return true;
    return false;
}

/* What the problem's settings are refused for begins so; other lines begin with a spec's path. */
static bool is_of_problem(const char *line) {
    static const char begin[] = "--set: ";
    return strncmp(line, begin, strlen(begin)) == 0;
}

/* The lines of TEXT OF_PROBLEM, or the others, each once: specs are often refused for the same reason. */
static void tell_lines(mc_diag *diag, mc_status status, const char *text, bool of_problem) {
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (is_of_problem(line) == of_problem && !is_told(text, line, length))
            mc_fail(diag, status, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static mc_status nothing_left(const search *s, const spec_sources *sources) {
    const char *family = plan_op_text(s->problem->op), *why = mc_diag_text(s->why);
    if (s->list->name_count == 0 && why[0] == '\0')
        return mc_fail(s->diag, MC_CANNOT, "none of %zu specs is of family %s", sources->count, family);
    mc_fail(s->diag, MC_CANNOT, "no kernel of family %s does this problem:", family);
    tell_lines(s->diag, MC_CANNOT, why, true);
    tell_lines(s->diag, MC_CANNOT, why, false);
    return MC_CANNOT;
}

mc_status candidates_of(const plan_problem *problem, const candidate_target *target,
                        const spec_sources *sources, candidate_list *list, mc_diag *diag) {
    search s = {.problem = problem,
                .target = target,
                .list = list,
                .builtin = sources->builtin,
                .why = mc_diag_create(),
                .diag = diag};
    const char *arch = mc_arch_for(target->capability);
    *list = (candidate_list){0};
    if (s.why == NULL) return mc_fail(diag, MC_NOMEM, "no memory for candidates");
    s.shape = plan_problem_estimate(problem);
    s.shape.cold = target->cold;
    plan_problem_settings(problem, &s.settings);
    if (arch != NULL) s.settings.items[s.settings.count++] = (mc_setting){"arch", arch};
    mc_status status = find_in(&s, sources);
    if (status == MC_OK && list->count == 0) status = nothing_left(&s, sources);
    mc_diag_destroy(s.why);
    if (status != MC_OK) {
        candidates_free(list);
        return status;
    }
    drop_doubles(list);
    qsort(list->items, list->count, sizeof *list->items, by_merit);
    return MC_OK;
}

mc_status candidates_find(const plan_problem *problem, const candidate_target *target,
                          const char *const *specs, size_t count, candidate_list *list, mc_diag *diag) {
    spec_sources sources;
    *list = (candidate_list){0};
    mc_status status = spec_sources_load(specs, count, &sources, diag);
    if (status == MC_OK) status = candidates_of(problem, target, &sources, list, diag);
    spec_sources_free(&sources);
    return status;
}

void candidates_free(candidate_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].fields);
        free(list->items[i].tuned);
    }
    for (size_t i = 0; i < list->name_count; i++) free(list->names[i]);
    free(list->items);
    free(list->names);
    *list = (candidate_list){0};
}

void candidates_tell_posed(const plan_problem *posed, const candidate_target *target,
                           const char *const *specs, size_t count, mc_diag *diag) {
    candidate_list list = {0};
    if (count == 0 || !plan_problem_may_stay(posed)) return;
    mc_fail(diag, MC_CANNOT, "with operands by columns, as they lie:");
    (void)candidates_find(posed, target, specs, count, &list, diag);
    candidates_free(&list);
}

mc_status candidates_pose(plan_problem *problem, const candidate_target *target, const char *const *specs,
                          size_t count, mc_diag *diag) {
    const plan_problem posed = *problem;
    const bool compared = count > 0 && plan_problem_may_stay(problem);
    candidate_list list = {0};
    problem_passes ahead;
    mc_status status = MC_CANNOT;
    if (compared) status = candidates_find(problem, target, specs, count, &list, NULL);
    candidates_free(&list);
    if (status == MC_OK) return MC_OK;
    status = plan_problem_transpose(problem, &ahead, diag);
    if (status == MC_OK && compared) status = candidates_find(problem, target, specs, count, &list, diag);
    candidates_free(&list);
    if (status == MC_CANNOT) candidates_tell_posed(&posed, target, specs, count, diag);
    return status;
}
