/* A program whose locale has a decimal comma and one without share a cache and records; on the simulator,
   which reads PTX. The locale is made here: no system has it. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "layer.h"
#include "tree.h"

enum { SKIPPED = 77, SEED = 5, N = 24, CANDIDATES = 2 };

static char root[] = "locale-XXXXXX", cache_directory[64], records[64];
static mc_diag *diag;
static int notes;

static void note(void *user, mc_log_level level, const char *message) {
    (void)user;
    if (level == MC_LOG_NOTE) printf("note: %s\n", message);
    notes += level == MC_LOG_NOTE;
}

typedef struct point {
    const char *locale, *definition, *options;
    const char *half; /* .5, as the locale has it */
} point;

static const point comma = {"comma", ",", "", "0,5"}, wide = {"wide", "<U066B>", "-f UTF-8",
                                                              "0\xd9\xab"
                                                              "5"};

static bool make_locale(const point *p) {
    char path[64], command[256], half[8];
    snprintf(path, sizeof path, "%s/source", root);
    FILE *source = fopen(path, "w");
    if (source == NULL) return false;
    fprintf(source,
            "comment_char %%\nescape_char /\nLC_NUMERIC\ndecimal_point \"%s\"\nthousands_sep \"\"\n"
            "grouping -1\nEND LC_NUMERIC\n",
            p->definition);
    fclose(source);
    /* It warns of what is not defined, and makes it all the same. */
    snprintf(command, sizeof command, "localedef -c --no-archive %s -i %s ./%s/%s >%s/said 2>&1", p->options,
             path, root, p->locale, root);
    (void)!system(command);
    setenv("LOCPATH", root, 1);
    bool set = setlocale(LC_NUMERIC, p->locale) != NULL;
    snprintf(half, sizeof half, "%g", .5);
    return set && strcmp(half, p->half) == 0;
}

static mc_status tune(mc_context *context, mc_matrix *matrix, double *microseconds) {
    const mc_plan_config problem = layer_problem(matrix, N);
    const mc_tune_config config = {.size = sizeof config, .candidates = CANDIDATES, .worker = ""};
    mc_tune_result result = {.size = sizeof result};
    mc_status status = mc_tune(context, &problem, &config, &result, diag);
    *microseconds = result.microseconds;
    return status;
}

/* Tunes, plans and executes; how many kernels were compiled, and the time that the plan's record tells. */
static double work(const char *what, uint64_t *compiled) {
    mc_context *context = NULL;
    mc_matrix *matrix = NULL;
    mc_plan *plan = NULL;
    mc_plan_info plan_info = {.size = sizeof plan_info};
    mc_context_info info = {.size = sizeof info};
    double tuned = 0;
    int wrong = 0;
    mc_context_config config = layer_context(cache_directory, records);
    config.log = note;
    mc_status status = mc_context_create(&config, &context, diag);
    if (status == MC_OK) status = layer_matrix(context, SEED, &matrix, diag);
    if (status == MC_OK) status = tune(context, matrix, &tuned);
    if (status == MC_OK) status = layer_plan(context, matrix, N, &plan, diag);
    if (status == MC_OK) status = layer_execute(context, plan, SEED, N, &wrong, diag);
    if (status == MC_OK) status = mc_plan_get_info(plan, &plan_info, diag);
    if (status == MC_OK) status = mc_context_get_info(context, &info, diag);
    CHECK(status == MC_OK && wrong == 0, "%s: %s; %d wrong", what, mc_diag_text(diag), wrong);
    CHECK(plan_info.origin == MC_ORIGIN_MEASURED && plan_info.microseconds > 0 &&
              plan_info.microseconds <= tuned && plan_info.microseconds >= tuned,
          "%s: origin %d, %g us of %g", what, (int)plan_info.origin, plan_info.microseconds, tuned);
    *compiled = info.kernels_compiled;
    mc_plan_destroy(plan);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
    return plan_info.microseconds;
}

/* What one locale leaves, the others take. */
static void test_order(const char *const locales[3]) {
    uint64_t compiled = 0;
    double first = 0;
    (void)unlink(records);
    tree_remove(cache_directory);
    for (int i = 0; i < 3; i++) {
        CHECK(setlocale(LC_NUMERIC, locales[i]) != NULL);
        double time = work(locales[i], &compiled);
        if (i == 0) first = time;
        CHECK((compiled > 0) == (i == 0), "%s: %d kernels compiled", locales[i], (int)compiled);
        CHECK(time <= first && time >= first, "%s: %g us, %g before", locales[i], time, first);
    }
}

int main(void) {
    if (mkdtemp(root) == NULL) return 1;
    bool made = make_locale(&comma);
    if (made) {
        diag = mc_diag_create();
        snprintf(cache_directory, sizeof cache_directory, "%s/cache", root);
        snprintf(records, sizeof records, "%s/records.jsonl", root);
        test_order((const char *const[]){"comma", "C", "comma"});
        test_order((const char *const[]){"C", "comma", "C"});
        if (make_locale(&wide)) {
            test_order((const char *const[]){"wide", "C", "comma"});
            test_order((const char *const[]){"comma", "wide", "C"});
        } else {
            printf("a decimal point of two bytes: not looked at\n");
        }
        CHECK(notes == 0, "%d notes in the log", notes);
        mc_diag_destroy(diag);
    } else {
        printf("SKIPPED: localedef makes no locale\n");
    }
    tree_remove(root);
    return made ? check_end() : SKIPPED;
}
