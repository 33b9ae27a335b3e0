/* Choices in the cache: a warm plan reads no spec and asks no model. */
#include "choose/choice_cache.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "records/text.h"

/* Another number where choose.c chooses in another way, or an entry has other members. */
static const char schema[] = "3";

/* Texts are many and long: a hash of each stands for it. */
static void add_specs(const spec_sources *sources, XXH128_canonical_t *hashes, mccache_field *fields) {
    for (size_t i = 0; i < sources->count; i++) {
        const spec_source *source = &sources->items[i];
        XXH128_canonicalFromHash(&hashes[i], XXH3_128bits(source->text, source->size));
        fields[i] = (mccache_field){source->name, &hashes[i], sizeof hashes[i]};
    }
}

bool choice_key(mc_context *context, const plan_problem *problem, const spec_sources *sources,
                mc_tuning tuning, uint64_t records, mccache_key *key) {
    enum { FIRST = 6 };
    const mc_device_info *gpu = mc_device_get_info(context->device);
    char numbers[96];
    mc_text text = {0};
    problem_print(problem, &text);
    char *canonical = text_take(&text);
    mccache_field *fields = calloc(FIRST + sources->count, sizeof *fields);
    XXH128_canonical_t *hashes = calloc(sources->count + 1, sizeof *hashes);
    bool memory = canonical != NULL && fields != NULL && hashes != NULL;
    if (memory) {
        snprintf(numbers, sizeof numbers, "%d %d %d %016" PRIx64 "%s", gpu->capability, gpu->multiprocessors,
                 tuning == MC_TUNING_OFF, records, problem->as_csr ? ", CSR as it comes" : "");
        fields[0] = mccache_text("choice", schema);
        fields[1] = mccache_text("version", MC_VERSION);
        fields[2] = mccache_text("generator", mc_generator_id());
        fields[3] = mccache_text("problem", canonical);
        fields[4] = mccache_text("gpu", gpu->name);
        fields[5] = mccache_text("capability, multiprocessors, tuning off, records", numbers);
        add_specs(sources, hashes, fields + FIRST);
        *key = mccache_key_of(fields, FIRST + sources->count);
    }
    free(canonical);
    free(fields);
    free(hashes);
    return memory;
}

/* -- Reading */

static bool take_origin(const json_t *object, mc_origin *origin) {
    const char *text;
    if (json_take_string(object, "origin", &text, NULL) != MC_OK) return false;
    for (int i = 0; i < CHOICE_ORIGINS; i++)
        if (strcmp(text, choice_origin_texts[i]) == 0) {
            *origin = (mc_origin)i;
            return true;
        }
    return false;
}

static bool take_choice(const json_t *object, choice *chosen) {
    const char *fields, *spec, *reason;
    if (!take_origin(object, &chosen->origin) || json_take_string(object, "fields", &fields, NULL) != MC_OK ||
        json_take_string(object, "spec", &spec, NULL) != MC_OK ||
        json_take_string(object, "reason", &reason, NULL) != MC_OK ||
        json_take_real(object, "us", &chosen->microseconds, NULL) != MC_OK ||
        json_take_real(object, "distance", &chosen->distance, NULL) != MC_OK)
        return false;
    chosen->fields = strdup(fields);
    chosen->spec = strdup(spec);
    chosen->reason = strdup(reason);
    return chosen->fields != NULL && chosen->spec != NULL && chosen->reason != NULL;
}

bool choice_cache_get(mc_context *context, const mccache_key *key, choice *chosen) {
    mccache_blob blob;
    *chosen = (choice){0};
    if (!mccache_get(context->cache, key, &blob)) return false;
    json_t *object = json_read(blob.data, blob.size, NULL);
    bool taken = object != NULL && take_choice(object, chosen);
    if (!taken) choice_free(chosen);
    json_decref(object);
    mccache_blob_free(&blob);
    return taken;
}

/* -- Writing */

void choice_cache_put(mc_context *context, const mccache_key *key, const plan_problem *problem,
                      const choice *chosen) {
    char title[PROBLEM_TITLE], label[MCCACHE_MAX_LABEL];
    mc_text text = {0};
    text_add(&text, "{\"origin\":\"%s\",\"us\":", choice_origin_texts[chosen->origin]);
    json_add_real(&text, chosen->microseconds);
    text_add(&text, ",\"distance\":");
    json_add_real(&text, chosen->distance);
    text_add(&text, ",\"reason\":");
    json_add_string(&text, chosen->reason);
    text_add(&text, ",\"spec\":");
    json_add_string(&text, chosen->spec);
    text_add(&text, ",\"fields\":");
    json_add_string(&text, chosen->fields);
    text_add(&text, "}");
    char *data = text_take(&text);
    if (data == NULL) return;
    problem_title(problem, title);
    snprintf(label, sizeof label, "choice %s: %s, %s", title, chosen->spec,
             choice_origin_texts[chosen->origin]);
    mccache_put(context->cache, key, label, data, strlen(data));
    free(data);
}

void choice_cache_put_none(mc_context *context, const mccache_key *key, const plan_problem *problem) {
    static char none[] = "", no_kernel[] = "no kernel";
    const choice chosen = {.fields = none, .spec = no_kernel, .reason = none, .origin = MC_ORIGIN_DEFAULT};
    choice_cache_put(context, key, problem, &chosen);
}
