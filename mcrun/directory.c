#include "directory.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "text/file.h"

void out_add(out_files *files, const char *stem, const char *ending, const void *data, size_t bytes) {
    out_file *file = &files->items[files->count++];
    *file = (out_file){.data = data, .bytes = bytes};
    snprintf(file->name, sizeof file->name, "%s%s", stem, ending);
}

void out_add_array(out_files *files, const char *stem, const mc_dense *array, bool flat) {
    out_add(files, stem, ".npy", NULL, 0);
    files->items[files->count - 1].array = *array;
    files->items[files->count - 1].flat = flat;
}

/* The files are written into a directory beside DIRECTORY's place, which is then renamed. */

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

static mc_status write_file(const char *path, const out_file *file, mc_diag *diag) {
    file_output output;
    if (file->data == NULL)
        return file->flat ? mc_npy_write_vector(path, &file->array, diag)
                          : mc_npy_write(path, &file->array, diag);
    mc_status status = file_open(path, &output, diag);
    if (status != MC_OK) return status;
    (void)fwrite(file->data, 1, file->bytes, output.stream); /* commit tells of errors */
    return file_commit(&output, diag);
}

static mc_status stage_write(const staging *stage, const out_files *files, mc_diag *diag) {
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

static mc_status check_file(const staging *stage, const char *name, mc_diag *diag) {
    char *to = path_in(stage->target, name);
    mc_status status = to != NULL ? file_check_target(to, diag) : mc_fail(diag, MC_NOMEM, "out of memory");
    free(to);
    return status;
}

/* Into a directory with other files the files move one by one. */
static mc_status stage_commit(const staging *stage, const out_files *files, mc_diag *diag) {
    mc_status status = MC_OK;
    if (!stage->merge)
        return rename(stage->directory, stage->target) == 0 ? MC_OK : path_error(diag, stage->target);
    for (size_t i = 0; i < files->count && status == MC_OK; i++)
        status = check_file(stage, files->items[i].name, diag);
    for (size_t i = 0; i < files->count && status == MC_OK; i++)
        status = move_file(stage, files->items[i].name, diag);
    return status;
}

/* Removes what is left of the staging directory: nothing, after a commit. */
static void stage_close(staging *stage, const out_files *files) {
    for (size_t i = 0; i < files->count && stage->directory != NULL; i++) {
        char *path = path_in(stage->directory, files->items[i].name);
        if (path != NULL) (void)unlink(path);
        free(path);
    }
    if (stage->directory != NULL) (void)rmdir(stage->directory);
    free(stage->directory);
    free(stage->target);
}

mc_status out_write(const char *directory, bool force, const out_files *files, mc_diag *diag) {
    staging stage;
    mc_status status = stage_open(&stage, directory, force, diag);
    if (status == MC_OK) status = stage_write(&stage, files, diag);
    if (status == MC_OK) status = stage_commit(&stage, files, diag);
    stage_close(&stage, files);
    return status;
}
