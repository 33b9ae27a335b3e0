/* mcrun cache: what lies in the cache's directory, and less of it (docs/cache.md). The environment says which
   directory. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "options.h"
#include "shown.h"
#include "mccache.h"

typedef struct cache_options {
    bool json;
    int64_t bytes, files; /* -1: not given */
} cache_options;

static const cmd_option words_table[] = {
    {"path", 0, OPTION_WORD, 0, NULL, 0, 0,
     "print the directory, by MCGEN_CACHE_DIR, XDG_CACHE_HOME or HOME"},
    {"list", 0, OPTION_WORD, 0, NULL, 0, 0, "print each entry: when it was used last, its bytes, what it is"},
    {"verify", 0, OPTION_WORD, 0, NULL, 0, 0,
     "read each entry whole; status 1 if one is damaged or not to be trusted"},
    {"prune", 0, OPTION_WORD, 0, NULL, 0, 0,
     "remove what is damaged, then what was used longest ago, down to limits"},
    {"clear", 0, OPTION_WORD, 0, NULL, 0, 0, "remove all entries, and nothing else that lies there"},
    {"stats", 0, OPTION_WORD, 0, NULL, 0, 0, "print how many entries and bytes there are, and may be"},
};

static const cmd_option options_table[] = {
    {"bytes", 0, OPTION_SIZE, offsetof(cache_options, bytes), "SIZE", 0, INT64_MAX,
     "prune: keep at most SIZE, as 64M (MCGEN_CACHE_MAX, or 512M)"},
    {"files", 0, OPTION_INTEGER, offsetof(cache_options, files), "N", 0, INT64_MAX,
     "prune: keep at most N entries (10000)"},
    {"json", 0, OPTION_SWITCH, offsetof(cache_options, json), NULL, 0, 0, "print JSON"},
};

/* -- One call */

typedef struct session {
    const cache_options *options;
    const char *path;
    mccache *cache;
    bool empty; /* the directory is not there: nothing is in it, and nothing is made */
    mc_diag *diag;
    json_t *json; /* NULL: print text */
    uint64_t states[MCCACHE_STALE + 1], bytes;
    bool shards; /* one of those that are foreign is a shard */
} session;

static const char *const state_names[] = {"good", "damaged", "foreign", "stale"};

static mc_status no_memory(mc_diag *diag) { return mc_fail(diag, MC_NOMEM, "out of memory"); }

static void print_time(uint64_t seconds) {
    char text[32] = "-";
    time_t time = (time_t)seconds;
    struct tm local;
    if (localtime_r(&time, &local) != NULL) strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
    printf("%s", text);
}

static void print_size(uint64_t bytes) {
    bool small = bytes < 1 << 20;
    printf("%.1f %s", (double)bytes / (small ? 1 << 10 : 1 << 20), small ? "KiB" : "MiB");
}

/* -- list and verify */

static json_t *item_json(const mccache_item *item) {
    char key[MCCACHE_KEY_TEXT];
    mccache_key_text(&item->key, key);
    return json_pack("{s:s, s:o, s:s, s:I, s:I, s:o, s:s?}", "key", key, "file", shown_json(item->file),
                     "state", state_names[item->state], "bytes", (json_int_t)item->size, "used",
                     (json_int_t)item->used, "label", json_string(shown(item->label).text), "fault",
                     item->fault);
}

static void print_item(const mccache_item *item) {
    print_time(item->used);
    printf("  %10" PRIu64 "  ", item->size);
    if (item->state == MCCACHE_GOOD) printf("%s\n", shown(item->label).text);
    else printf("%s: %s (%s)\n", state_names[item->state], item->fault, shown(item->file).text);
}

static bool list_item(void *user, const mccache_item *item) {
    session *s = user;
    if (s->json == NULL) print_item(item);
    else if (json_array_append_new(s->json, item_json(item)) != 0) return false;
    return true;
}

static bool verify_item(void *user, const mccache_item *item) {
    session *s = user;
    s->states[item->state]++;
    s->bytes += item->size;
    s->shards |= item->state == MCCACHE_FOREIGN && strchr(item->file, '/') == NULL;
    if (s->json != NULL) return item->state == MCCACHE_GOOD || list_item(user, item);
    if (item->state == MCCACHE_DAMAGED || item->state == MCCACHE_FOREIGN)
        mc_fail(s->diag, MC_FORMAT, "%s/%s: %s: %s", s->path, item->file, state_names[item->state],
                item->fault);
    return true;
}

static mc_status walk(session *s, bool check, bool (*visit)(void *, const mccache_item *)) {
    if (s->empty || mccache_walk(s->cache, check, visit, s)) return MC_OK;
    return mc_fail(s->diag, MC_IO, "%s: not all of it can be read", s->path);
}

static mc_status list_entries(session *s) {
    if (s->options->json && (s->json = json_array()) == NULL) return no_memory(s->diag);
    return walk(s, false, list_item);
}

/* What is wrong is printed by cmd_finish, or is in the list "bad" on standard output. */
static mc_status verify_entries(session *s) {
    json_t *bad = s->options->json ? json_array() : NULL;
    s->json = bad;
    mc_status status = walk(s, true, verify_item);
    uint64_t wrong = s->states[MCCACHE_DAMAGED] + s->states[MCCACHE_FOREIGN];
    if (status == MC_OK && wrong > 0)
        status = mc_fail(s->diag, MC_FORMAT,
                         "%" PRIu64 " damaged or not to be trusted, %" PRIu64
                         " good: `%s cache prune` removes them%s",
                         wrong, s->states[MCCACHE_GOOD], cmd_program,
                         s->shards ? ", but for folders that are open to others or theirs" : "");
    if (s->options->json)
        s->json =
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "bytes", (json_int_t)s->bytes, "good",
                      (json_int_t)s->states[MCCACHE_GOOD], "damaged", (json_int_t)s->states[MCCACHE_DAMAGED],
                      "foreign", (json_int_t)s->states[MCCACHE_FOREIGN], "stale",
                      (json_int_t)s->states[MCCACHE_STALE], "bad", bad);
    else if (status == MC_OK) {
        printf("%" PRIu64 " entries, ", s->states[MCCACHE_GOOD]);
        print_size(s->bytes);
        printf(", all good; %" PRIu64 " files left behind\n", s->states[MCCACHE_STALE]);
    }
    return status;
}

/* -- prune and clear */

static mc_status remove_down_to(session *s, uint64_t bytes, uint64_t files) {
    uint64_t gone = s->empty ? 0 : mccache_prune(s->cache, bytes, files);
    mccache_stats stats = {.size = sizeof stats};
    mccache_get_stats(s->cache, &stats);
    if (s->options->json) {
        s->json = json_pack("{s:I, s:I, s:I}", "removed", (json_int_t)gone, "files", (json_int_t)stats.files,
                            "bytes", (json_int_t)stats.bytes);
        return MC_OK;
    }
    printf("%" PRIu64 " files removed; %" PRIu64 " entries left, ", gone, stats.files);
    print_size(stats.bytes);
    printf("\n");
    return MC_OK;
}

static mc_status prune(session *s) {
    mccache_stats stats = {.size = sizeof stats};
    mccache_get_stats(s->cache, &stats);
    return remove_down_to(s, s->options->bytes >= 0 ? (uint64_t)s->options->bytes : stats.max_bytes,
                          s->options->files >= 0 ? (uint64_t)s->options->files : stats.max_files);
}

static mc_status clear(session *s) { return remove_down_to(s, 0, 0); }

/* -- path and stats */

static mc_status print_path(session *s) {
    if (s->options->json) s->json = json_pack("{s:o, s:b}", "path", shown_json(s->path), "exists", !s->empty);
    else printf("%s\n", shown(s->path).text);
    return MC_OK;
}

static mc_status print_stats(session *s) {
    mccache_stats stats = {.size = sizeof stats};
    mccache_get_stats(s->cache, &stats);
    if (s->options->json) {
        s->json = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "path", shown_json(s->path), "files",
                            (json_int_t)stats.files, "bytes", (json_int_t)stats.bytes, "stale",
                            (json_int_t)stats.stale, "max_files", (json_int_t)stats.max_files, "max_bytes",
                            (json_int_t)stats.max_bytes);
        return MC_OK;
    }
    printf("directory  %s\nentries    %" PRIu64 " of at most %" PRIu64 "\nsize       ", shown(s->path).text,
           stats.files, stats.max_files);
    print_size(stats.bytes);
    printf(" of at most ");
    print_size(stats.max_bytes);
    printf("\nleft over  %" PRIu64 " files of processes that died\n", stats.stale);
    return MC_OK;
}

/* -- The command */

/* In the order of words_table. PATH works on what cannot be read, too. */
static const struct action {
    mc_status (*run)(session *s);
    bool writes, any_path;
} actions[] = {
    {print_path, false, true}, {list_entries, false, false}, {verify_entries, false, false},
    {prune, true, false},      {clear, true, false},         {print_stats, false, false},
};

/* Whether MCGEN_CACHE says off or mem, this is about the directory; ro it means. */
static mc_status open_cache(session *s, const struct action *action, mccache_config *config) {
    const char *why;
    if (config->directory == NULL)
        return mc_fail(s->diag, MC_CANNOT,
                       "no directory: MCGEN_CACHE_DIR, XDG_CACHE_HOME and HOME name none");
    if (action->writes && config->mode == MCCACHE_READ_ONLY)
        return mc_fail(s->diag, MC_CANNOT, "nothing is removed: MCGEN_CACHE is ro");
    s->empty = access(config->directory, F_OK) != 0 && errno == ENOENT;
    config->mode = action->writes && !s->empty ? MCCACHE_READ_WRITE : MCCACHE_READ_ONLY;
    s->cache = mccache_open(config);
    if (s->cache == NULL) return no_memory(s->diag);
    s->path = mccache_directory(s->cache);
    if (action->any_path || s->empty || mccache_usable(s->cache, &why)) return MC_OK;
    return mc_fail(s->diag, MC_IO, "%s: %s", s->path, why);
}

static mc_status run_action(const struct action *action, mccache_config *config, session *s) {
    mc_status status = open_cache(s, action, config);
    if (status == MC_OK) status = action->run(s);
    if (s->options->json && s->json == NULL && status == MC_OK) status = no_memory(s->diag);
    if (s->json != NULL) (void)cmd_print_json(s->json, s->diag);
    mccache_close(s->cache);
    return status;
}

static int cache_run(int argc, char **argv) {
    cache_options options = {.bytes = -1, .files = -1};
    mccache_config config = {.size = sizeof config};
    mccache_paths paths;
    char **operands;
    const char *why;
    int exit_status;
    if (!cmd_parse(&cmd_cache, argc, argv, &options, &operands, &exit_status)) return exit_status;
    int word = cmd_word(&cmd_cache, operands[0]);
    if (word < 0) return CMD_USAGE;
    if ((options.bytes >= 0 || options.files >= 0) && actions[word].run != prune)
        return cmd_usage("cache: --bytes and --files go with prune");
    if (!mccache_environment(&config, &paths, &why)) return cmd_usage("cache: %s", why);
    session s = {.options = &options, .diag = mc_diag_create()};
    return cmd_finish(run_action(&actions[word], &config, &s), s.diag);
}

const cmd cmd_cache = {"cache",
                       "path|list|verify|prune|clear|stats",
                       "looks after the cache of compiled kernels",
                       1,
                       {{words_table, sizeof words_table / sizeof words_table[0]},
                        {options_table, sizeof options_table / sizeof options_table[0]}},
                       cache_run};
