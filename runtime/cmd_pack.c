/* mcrun pack: a directory with all that launching a kernel needs: its PTX, its contract, its packed arrays.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmd_factors.h"
#include "file.h"

typedef struct pack_options {
    problem_options problem;
    const char *directory;
    int64_t n;
    bool force;
} pack_options;

static const cmd_option pack_table[] = {
    {"out", 'o', OPTION_TEXT, offsetof(pack_options, directory), "DIR", 0, 0,
     "directory to make: NAME.bin, contract.json, kernel.ptx"},
    {"n", 0, OPTION_INTEGER, offsetof(pack_options, n), "N", 1, INT32_MAX,
     "columns of C, where a scale or bias goes by columns (the spec's)"},
    {"force", 0, OPTION_SWITCH, offsetof(pack_options, force), NULL, 0, 0,
     "replace these files in a DIR that is not empty"},
};

/* -- The files */

/* One file to write; the order is the order of writing. */
typedef struct pack_file {
    char name[64];
    const void *data;
    size_t bytes;
} pack_file;

enum { MAX_FILES = MC_MAX_ARRAYS + 4 };

typedef struct pack_files {
    pack_file items[MAX_FILES];
    size_t count;
} pack_files;

static void add_file(pack_files *files, const char *stem, const char *ending, const void *data,
                     size_t bytes) {
    pack_file *file = &files->items[files->count++];
    snprintf(file->name, sizeof file->name, "%s%s", stem, ending);
    file->data = data;
    file->bytes = bytes;
}

static void list_files(const mc_kernel *kernel, const mc_packed *packed, const factors *f,
                       const char *contract, pack_files *files) {
    *files = (pack_files){0};
    for (size_t i = 0; i < packed->array_count; i++) {
        const mc_packed_array *array = &packed->arrays[i];
        add_file(files, array->name, ".bin", array->data, (size_t)mc_type_size(array->type, array->count));
    }
    if (f->scale) add_file(files, "scale", ".bin", f->scale, (size_t)f->scale_count * sizeof *f->scale);
    if (f->bias) add_file(files, "bias", ".bin", f->bias, (size_t)f->bias_count * sizeof *f->bias);
    add_file(files, "kernel", ".ptx", mc_kernel_ptx(kernel), strlen(mc_kernel_ptx(kernel)));
    add_file(files, "contract", ".json", contract, strlen(contract));
}

/* -- The directory: written beside its place, then renamed, so that it appears complete or not at all */

typedef struct staging {
    char *target, *directory;
    bool merge; /* into an existing directory with other files */
} staging;

static char *path_in(const char *directory, const char *name) {
    char *path;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static mc_status path_error(mc_diag *diag, const char *path) {
    return mc_fail(diag, MC_IO, "%s: %s", path, strerror(errno));
}

static bool is_empty(DIR *directory) {
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) return false;
    return true;
}

static mc_status check_target(staging *stage, bool force, mc_diag *diag) {
    DIR *directory = opendir(stage->target);
    if (directory == NULL) return errno == ENOENT ? MC_OK : path_error(diag, stage->target);
    stage->merge = !is_empty(directory);
    closedir(directory);
    if (stage->merge && !force)
        return mc_fail(diag, MC_CANNOT, "%s is not empty: --force replaces its files", stage->target);
    return MC_OK;
}

static mc_status stage_open(staging *stage, const char *target, bool force, mc_diag *diag) {
    *stage = (staging){.target = strdup(target)};
    if (stage->target == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t end = strlen(target); end > 1 && target[end - 1] == '/'; end--) stage->target[end - 1] = '\0';
    mc_status status = check_target(stage, force, diag);
    if (status != MC_OK) return status;
    if (asprintf(&stage->directory, "%s.%ld.tmp", stage->target, (long)getpid()) < 0) {
        stage->directory = NULL;
        return mc_fail(diag, MC_NOMEM, "out of memory");
    }
    if (mkdir(stage->directory, 0777) == 0) return MC_OK;
    status = path_error(diag, stage->directory);
    free(stage->directory); /* not ours: closing must not remove it */
    stage->directory = NULL;
    return status;
}

static mc_status write_file(const char *path, const pack_file *file, mc_diag *diag) {
    file_output output;
    mc_status status = file_open(path, &output, diag);
    if (status != MC_OK) return status;
    (void)fwrite(file->data, 1, file->bytes, output.stream); /* commit tells of errors */
    return file_commit(&output, diag);
}

static mc_status stage_write(const staging *stage, const pack_files *files, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < files->count && status == MC_OK; i++) {
        char *path = path_in(stage->directory, files->items[i].name);
        status = path != NULL ? write_file(path, &files->items[i], diag)
                              : mc_fail(diag, MC_NOMEM, "out of memory");
        free(path);
    }
    return status;
}

static mc_status move_file(const staging *stage, const char *name, mc_diag *diag) {
    char *from = path_in(stage->directory, name), *to = path_in(stage->target, name);
    mc_status status = MC_OK;
    if (from == NULL || to == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    else if (rename(from, to) != 0) status = path_error(diag, to);
    free(from);
    free(to);
    return status;
}

/* Into a directory with other files the files move one by one, the contract last. */
static mc_status stage_commit(const staging *stage, const pack_files *files, mc_diag *diag) {
    mc_status status = MC_OK;
    if (!stage->merge)
        return rename(stage->directory, stage->target) == 0 ? MC_OK : path_error(diag, stage->target);
    for (size_t i = 0; i < files->count && status == MC_OK; i++)
        status = move_file(stage, files->items[i].name, diag);
    return status;
}

/* Removes what is left of the staging directory: nothing, after a commit. */
static void stage_close(staging *stage, const pack_files *files) {
    for (size_t i = 0; i < files->count && stage->directory != NULL; i++) {
        char *path = path_in(stage->directory, files->items[i].name);
        if (path != NULL) (void)unlink(path);
        free(path);
    }
    if (stage->directory != NULL) (void)rmdir(stage->directory);
    free(stage->directory);
    free(stage->target);
}

static mc_status write_directory(const pack_files *files, const pack_options *options, mc_diag *diag) {
    staging stage;
    mc_status status = stage_open(&stage, options->directory, options->force, diag);
    if (status == MC_OK) status = stage_write(&stage, files, diag);
    if (status == MC_OK) status = stage_commit(&stage, files, diag);
    stage_close(&stage, files);
    return status;
}

/* -- The command */

static void print_summary(const mc_packed *packed, const factors *f) {
    for (size_t i = 0; i < packed->array_count; i++)
        printf("%s.bin  %s[%lld]\n", packed->arrays[i].name, mc_type_text(packed->arrays[i].type),
               (long long)packed->arrays[i].count);
    if (f->scale) printf("scale.bin  f32[%lld]\n", (long long)f->scale_count);
    if (f->bias) printf("bias.bin  f32[%lld]\n", (long long)f->bias_count);
    printf("kernel.ptx\ncontract.json\n");
}

static mc_status pack_factors(const problem *p, const mc_kernel *kernel, const pack_options *options,
                              factors *f, mc_diag *diag) {
    int64_t fixed = mc_kernel_field(kernel, "n"), n = options->n > 0 ? options->n : fixed > 0 ? fixed : 0;
    if (options->n > 0 && fixed > 0 && options->n != fixed)
        return mc_fail(diag, MC_USAGE, "--n is %lld, but the kernel's n is fixed at %lld",
                       (long long)options->n, (long long)fixed);
    return factors_make(&options->problem, kernel, p->a.rows, n, f, diag);
}

static mc_status pack_kernel(problem *p, const mc_kernel *kernel, const pack_options *options,
                             mc_diag *diag) {
    bool changed;
    mc_packed packed = {0};
    factors f = {0};
    pack_files files;
    char *contract = NULL;
    mc_status status = problem_fit(p, kernel, &changed, diag);
    if (status == MC_OK) status = mc_pack(kernel, &p->a, &packed, diag);
    if (status == MC_OK) status = pack_factors(p, kernel, options, &f, diag);
    if (status == MC_OK && (contract = mc_kernel_describe(kernel, true)) == NULL)
        status = mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK) {
        list_files(kernel, &packed, &f, contract, &files);
        status = write_directory(&files, options, diag);
    }
    if (status == MC_OK) print_summary(&packed, &f);
    free(contract);
    factors_free(&f);
    mc_packed_free(&packed);
    return status;
}

static int pack_run(int argc, char **argv) {
    pack_options options = {.problem.seed = 1};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_pack, argc, argv, &options, &operands, &exit_status)) return exit_status;
    if (options.directory == NULL || *options.directory == '\0') return cmd_usage("pack: --out is missing");
    mc_diag *diag = mc_diag_create();
    problem p;
    size_t variant;
    mc_kernel *kernel = NULL;
    mc_status status = problem_open(&p, operands[0], operands[1], &options.problem, diag);
    if (status == MC_OK) status = problem_variant(&p, &variant, diag);
    if (status == MC_OK) status = mc_kernel_generate(p.spec, variant, &kernel, diag);
    if (status == MC_OK) status = pack_kernel(&p, kernel, &options, diag);
    mc_kernel_destroy(kernel);
    problem_close(&p);
    return cmd_finish(status, diag);
}

const cmd cmd_pack = {
    "pack",
    "SPEC MATRIX",
    "writes packed arrays, PTX and contract into a directory",
    2,
    {{pack_table, sizeof pack_table / sizeof pack_table[0]}, {problem_option_table, PROBLEM_OPTION_COUNT}},
    pack_run};
