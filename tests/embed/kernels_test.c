/* Kernels by their fields: made once, however many threads and contexts ask; found in the cache after that;
   and a cache whose entries are nonsense changes nothing but the time. */
#include <pthread.h>
#include <stdlib.h>
#include "check.h"
#include "mcrt_internal.h"
#include "context/kernels.h"
#include "tree.h"

#define FIELDS_OF(n)                                                                                         \
    "op=spmm arch=sm_80 lhs=s8 rhs=s8 out=s32 vec=8 stride=32 tile_n=64 warps=4 split=1 prefetch=on "        \
    "stacking=auto staging=direct align=16 m=open n=" n " k=open ldb=open ldc=open"

static const char fields[] = FIELDS_OF("open");
static char root[] = "kernels-XXXXXX", directory[64], records[64];
static mc_diag *diag;
static char notes[16384]; /* what contexts log at level NOTE */
static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_note(void *user, mc_log_level level, const char *message) {
    (void)user;
    if (level != MC_LOG_NOTE) return;
    pthread_mutex_lock(&notes_lock);
    size_t used = strlen(notes);
    snprintf(notes + used, sizeof notes - used, "%s\n", message);
    pthread_mutex_unlock(&notes_lock);
}

static void empty_cache(void) { tree_remove(directory); }

static mc_context *open_context(mc_cache_mode mode) {
    mc_context *context;
    const mc_context_config config = {.size = sizeof config,
                                      .device = "sim",
                                      .cache = mode,
                                      .cache_directory = directory,
                                      .records = records,
                                      .log = keep_note};
    notes[0] = '\0';
    CHECK(mc_context_create(&config, &context, diag) == MC_OK, "%s", mc_diag_text(diag));
    if (context == NULL) exit(1);
    return context;
}

static void expect_counts(const mc_context *context, int loads, int compiled, int from_cache) {
    CHECK(context->loads == (uint64_t)loads && context->compiled == (uint64_t)compiled &&
              context->from_cache == (uint64_t)from_cache,
          "%d loads, %d compiled, %d from the cache", (int)context->loads, (int)context->compiled,
          (int)context->from_cache);
}

static loaded_kernel *obtain(mc_context *context, const char *text) {
    loaded_kernel *kernel;
    mc_diag_clear(diag);
    CHECK(kernels_obtain(context, text, &kernel, diag) == MC_OK, "%s", mc_diag_text(diag));
    return kernel;
}

/* What launching needs is the same whether generated or out of the cache. */
static void check_alike(const loaded_kernel *a, const loaded_kernel *b) {
    char *of_a = mc_kernel_describe(a->kernel, true), *of_b = mc_kernel_describe(b->kernel, true);
    CHECK(of_a && of_b && strcmp(of_a, of_b) == 0, "described differently");
    free(of_a);
    free(of_b);
}

/* -- Once */

static void test_once(void) {
    empty_cache();
    mc_context *cold = open_context(MC_CACHE_READ_WRITE), *warm = open_context(MC_CACHE_READ_WRITE);
    loaded_kernel *kernel = obtain(cold, fields), *again = obtain(cold, fields), *cached;
    CHECK(kernel == again && kernel->users == 2 && mc_kernel_ptx(kernel->kernel) != NULL);
    expect_counts(cold, 1, 1, 0);
    cached = obtain(warm, fields);
    CHECK(cached->module != NULL && mc_kernel_ptx(cached->kernel) == NULL, "generated again");
    CHECK(strcmp(cached->jit_log, "") == 0, "%s", cached->jit_log);
    expect_counts(warm, 1, 0, 1);
    check_alike(kernel, cached);
    kernels_release(cold, kernel);
    kernels_release(cold, again);
    again = obtain(cold, fields);
    CHECK(again == kernel, "unloaded, although there is room");
    expect_counts(cold, 1, 1, 0);
    kernels_release(cold, again);
    kernels_release(warm, cached);
    mc_context_destroy(warm);
    mc_context_destroy(cold);
    CHECK(notes[0] == '\0', "%s", notes);
}

static void test_no_cache(void) {
    for (int i = 0; i < 2; i++) {
        mc_context *context = open_context(MC_CACHE_OFF);
        kernels_release(context, obtain(context, fields));
        expect_counts(context, 1, 1, 0);
        mc_context_destroy(context);
    }
}

/* Other words for the same kernel make it, and are not cached. */
static void test_other_words(void) {
    empty_cache();
    mc_context *context = open_context(MC_CACHE_MEMORY);
    loaded_kernel *kernel = obtain(context, "vec=8 op=spmm");
    CHECK_TEXT(mc_kernel_fields(kernel->kernel), "op=spmm arch=sm_80 ");
    kernels_release(context, kernel);
    for (int i = 0; i < 2; i++) {
        mc_kernel *made;
        mc_image image;
        char *log;
        bool from_cache = true;
        CHECK(kernels_make(context, "vec=8 op=spmm", &made, &image, &from_cache, &log, diag) == MC_OK);
        CHECK(!from_cache && log != NULL && image.size > 0);
        mc_kernel_destroy(made);
        mc_image_free(&image);
        free(log);
    }
    mc_context_destroy(context);
}

static void test_failures(void) {
    static const char *const texts[] = {"", "op=spmm vec=3", "op=spmm arch=sm_80 staging=tma", "rubbish"};
    mc_context *context = open_context(MC_CACHE_READ_WRITE);
    for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        loaded_kernel *kernel;
        mc_diag_clear(diag);
        CHECK(kernels_obtain(context, texts[i / 2], &kernel, diag) == MC_USAGE && kernel == NULL, "%s",
              texts[i / 2]);
        CHECK(mc_diag_count(diag) > 0 && context->kernels == NULL, "a failure is not kept");
    }
    expect_counts(context, 0, 0, 0);
    mc_context_destroy(context);
}

/* -- Threads */

enum { THREADS = 8 };

typedef struct asking {
    mc_context *context;
    const char *fields;
    mc_status want;
    loaded_kernel *kernel;
    bool right;
} asking;

static void *ask(void *data) {
    asking *a = data;
    mc_diag *own = mc_diag_create();
    mc_status status = kernels_obtain(a->context, a->fields, &a->kernel, own);
    a->right = status == a->want && (status == MC_OK) == (a->kernel != NULL) &&
               (mc_diag_count(own) == 0) == (status == MC_OK);
    mc_diag_destroy(own);
    return NULL;
}

static void ask_all(asking list[THREADS]) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, ask, &list[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(list[i].right, "thread %d", i);
    }
}

/* Two contexts, four threads each: one of the contexts makes the kernel, the other finds it. */
static void test_threads(void) {
    empty_cache();
    mc_context *contexts[] = {open_context(MC_CACHE_READ_WRITE), open_context(MC_CACHE_READ_WRITE)};
    asking list[THREADS];
    for (int i = 0; i < THREADS; i++) list[i] = (asking){contexts[i % 2], fields, MC_OK, NULL, false};
    ask_all(list);
    for (int i = 0; i < THREADS; i++) CHECK(list[i].kernel == list[i % 2].kernel, "thread %d", i);
    uint64_t compiled = contexts[0]->compiled + contexts[1]->compiled;
    CHECK(compiled == 1, "%d times compiled", (int)compiled);
    CHECK(contexts[0]->loads == 1 && contexts[1]->loads == 1);
    for (int i = 0; i < THREADS; i++) kernels_release(list[i].context, list[i].kernel);
    for (int i = 0; i < THREADS; i++) list[i] = (asking){contexts[0], "op=spmm vec=3", MC_USAGE, NULL, false};
    ask_all(list);
    mc_context_destroy(contexts[0]);
    mc_context_destroy(contexts[1]);
}

/* -- Nonsense in the cache */

static mccache_key key;

static bool take_key(void *user, const mccache_item *item) {
    ++*(int *)user;
    key = item->key;
    CHECK(strcmp(item->label, fields) == 0, "%s", item->label);
    return true;
}

/* The one entry, as it should be. */
static mccache_blob good_entry(mc_context *context) {
    int count = 0;
    mccache_blob blob = {0};
    kernels_release(context, obtain(context, fields));
    CHECK(mccache_walk(context->cache, true, take_key, &count) && count == 1, "%d entries", count);
    CHECK(mccache_get(context->cache, &key, &blob));
    return blob;
}

/* With DATA as the entry the kernel is made anew, and the entry is good again. NOTE is told. */
static void expect_anew(const void *data, size_t size, int from_cache, const char *note) {
    mc_context *context = open_context(MC_CACHE_READ_WRITE), *next;
    mccache_put(context->cache, &key, fields, data, size);
    loaded_kernel *kernel = obtain(context, fields);
    CHECK(kernel != NULL && mc_kernel_ptx(kernel->kernel) != NULL);
    expect_counts(context, 1, 1, from_cache);
    CHECK_TEXT(notes, note);
    CHECK_TEXT(notes, ": made anew: op=spmm ");
    kernels_release(context, kernel);
    mc_context_destroy(context);
    next = open_context(MC_CACHE_READ_WRITE);
    kernels_release(next, obtain(next, fields));
    expect_counts(next, 1, 0, 1);
    CHECK(notes[0] == '\0', "%s", notes);
    mc_context_destroy(next);
}

static void test_nonsense(void) {
    empty_cache();
    mc_context *context = open_context(MC_CACHE_READ_WRITE);
    mccache_blob good = good_entry(context);
    unsigned char *data = malloc(good.size);
    size_t text = (size_t)((unsigned char *)good.data)[0] | (size_t)((unsigned char *)good.data)[1] << 8;
    expect_anew("", 0, 0, "cut off");
    expect_anew(good.data, 7, 0, "cut off");
    expect_anew(good.data, 8 + text, 0, "cut off");
    expect_anew(good.data, 8 + text + 100, 1, "not of the simulator");
    memcpy(data, good.data, good.size);
    memset(data, 0xff, 8);
    expect_anew(data, good.size, 0, "cut off");
    memcpy(data, good.data, good.size);
    data[8] = 'M';
    expect_anew(data, good.size, 0, "not of generator");
    memcpy(data, good.data, good.size);
    char *n = strstr((char *)data + 8, " n=open ");
    memcpy(n, " n=1000 ", 8);
    expect_anew(data, good.size, 0, "another one");
    memcpy(data, good.data, good.size);
    memcpy(strstr((char *)data + 8 + text, ".version"), "nonsense", 8);
    expect_anew(data, good.size, 1, "simulator: the PTX does not parse");
    free(data);
    mccache_blob_free(&good);
    mc_context_destroy(context);
}

/* Where the cache cannot be written the kernel is made anew each time. */
static void test_read_only(void) {
    empty_cache();
    mc_context *context = open_context(MC_CACHE_READ_WRITE);
    mccache_blob good = good_entry(context);
    mccache_put(context->cache, &key, fields, good.data, good.size - 1);
    mccache_blob_free(&good);
    mc_context_destroy(context);
    for (int i = 0; i < 2; i++) {
        context = open_context(MC_CACHE_READ_ONLY);
        kernels_release(context, obtain(context, fields));
        expect_counts(context, 1, 1, 1);
        CHECK_TEXT(notes, "not of the simulator");
        mc_context_destroy(context);
    }
}

/* -- Kept */

static int unused_kernels(const mc_context *context) {
    int count = 0;
    for (const loaded_kernel *kernel = context->kernels; kernel != NULL; kernel = kernel->next)
        count += kernel->users == 0;
    return count;
}

static bool is_loaded(const mc_context *context, const char *text) {
    for (const loaded_kernel *kernel = context->kernels; kernel != NULL; kernel = kernel->next)
        if (strcmp(kernel->fields, text) == 0) return true;
    return false;
}

static void test_kept(void) {
    enum { MORE = KERNELS_KEPT + 6 };
    mc_context *context = open_context(MC_CACHE_MEMORY);
    loaded_kernel *used = obtain(context, fields);
    char text[MORE][sizeof fields + 8];
    for (int i = 0; i < MORE; i++) {
        snprintf(text[i], sizeof text[i], FIELDS_OF("%d"), 8 * (i + 1));
        kernels_release(context, obtain(context, text[i]));
        if (i >= 1) kernels_release(context, obtain(context, text[0]));
        CHECK(unused_kernels(context) <= KERNELS_KEPT, "%d", unused_kernels(context));
    }
    CHECK(unused_kernels(context) == KERNELS_KEPT, "%d", unused_kernels(context));
    CHECK(is_loaded(context, fields), "one that is used was unloaded");
    CHECK(is_loaded(context, text[0]) && !is_loaded(context, text[1]) && is_loaded(context, text[MORE - 1]),
          "not the one that was used longest ago");
    expect_counts(context, MORE + 1, MORE + 1, 0);
    kernels_release(context, obtain(context, text[1]));
    expect_counts(context, MORE + 2, MORE + 1, 1);
    kernels_release(context, used);
    mc_context_destroy(context);
}

int main(void) {
    if (mkdtemp(root) == NULL) return 1;
    snprintf(directory, sizeof directory, "%s/cache", root);
    snprintf(records, sizeof records, "%s/records.jsonl", root);
    diag = mc_diag_create();
    test_once();
    test_no_cache();
    test_other_words();
    test_failures();
    test_threads();
    test_nonsense();
    test_read_only();
    test_kept();
    mc_diag_destroy(diag);
    tree_remove(root);
    return check_end();
}
