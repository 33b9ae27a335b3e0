/* A job in a file: items one after another, each its length in bytes (u64) and so many bytes, filled up to a
   multiple of 8, so that a reader can use arrays where they lie. Both sides run on one machine: numbers are
   as that has them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "tune/wire.h"

static const char magic[] = "mcgen tuning job 1"; /* and WIRE_VERSION */

/* -- Writing */

typedef struct writer {
    int file, error; /* errno of the first failure */
    int64_t at;
} writer;

static void write_all(writer *w, const void *data, size_t size) {
    const char *bytes = data;
    while (size > 0 && w->error == 0) {
        ssize_t done = pwrite(w->file, bytes, size, w->at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            w->error = done < 0 ? errno : ENOSPC;
            return;
        }
        bytes += done, size -= (size_t)done, w->at += done;
    }
}

static size_t filling(size_t size) { return (8 - size % 8) % 8; }

static void put(writer *w, const void *data, size_t size) {
    static const char zeros[8] = {0};
    uint64_t length = size;
    write_all(w, &length, sizeof length);
    write_all(w, data, size);
    write_all(w, zeros, filling(size));
}

static void put_number(writer *w, int64_t value) { put(w, &value, sizeof value); }
static void put_real(writer *w, double value) { put(w, &value, sizeof value); }
/* With its NUL; NULL is an item of no bytes. */
static void put_text(writer *w, const char *text) { put(w, text, text != NULL ? strlen(text) + 1 : 0); }

/* The GPU and the directory that CONTEXT has, as "auto" or a relative path may be others by now. */
static void put_context(writer *w, const mc_context *context) {
    const mc_context_config *config = &context->config;
    const mc_device_info *device = mc_device_get_info(context->device);
    char gpu[32];
    snprintf(gpu, sizeof gpu, "cuda:%d", device->ordinal);
    put_text(w, device->kind == MC_DEVICE_CUDA ? gpu : config->device);
    put_number(w, (int64_t)config->cache);
    put_text(w, mccache_directory(context->cache));
    put_number(w, (int64_t)config->cache_bytes);
    put_number(w, (int64_t)config->cache_files);
}

/* Its features are the matrix's. */
static void put_problem(writer *w, const plan_problem *problem) {
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) put_number(w, member_get(problem, i));
}

static size_t value_bytes(const mc_vsparse *m) {
    return (size_t)mc_type_size(m->type, mcrt_product(m->vectors, m->vec));
}

static void put_matrix(writer *w, const mc_vsparse *m) {
    put_number(w, (int64_t)m->type);
    put_number(w, m->vec);
    put_number(w, m->rows);
    put_number(w, m->cols);
    put_number(w, m->row_blocks);
    put_number(w, m->vectors);
    put(w, m->row_ptr, (size_t)(m->row_blocks + 1) * sizeof *m->row_ptr);
    put(w, m->col_idx, (size_t)m->vectors * sizeof *m->col_idx);
    put(w, m->values, value_bytes(m));
}

static mc_status finish(const writer *w, mc_diag *diag) {
    if (w->error == 0) return MC_OK;
    return mc_fail(diag, MC_IO, "the job of a tuning worker: %s", strerror(w->error));
}

mc_status wire_write_race(int file, const mc_context *context, const tune_race *race, int64_t *tail,
                          mc_diag *diag) {
    writer w = {.file = file};
    put_text(&w, magic);
    put_text(&w, mc_generator_id());
    put_context(&w, context);
    put_problem(&w, race->problem);
    put_matrix(&w, race->matrix);
    put_number(&w, race->cold);
    *tail = w.at;
    return finish(&w, diag);
}

mc_status wire_write_entrants(int file, int64_t tail, const tune_race *race, const size_t *left, size_t count,
                              double seconds, mc_diag *diag) {
    writer w = {.file = file, .at = tail};
    put_real(&w, seconds);
    put_number(&w, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        put_number(&w, race->entrants[left[i]].standard);
        put_text(&w, race->entrants[left[i]].fields);
    }
    if (w.error == 0 && ftruncate(file, w.at) != 0) w.error = errno;
    return finish(&w, diag);
}

/* -- Reading */

typedef struct reader {
    char *at;
    size_t left;
    bool failed; /* for good: what is taken then is 0 */
} reader;

static void *take(reader *r, size_t *size) {
    uint64_t length = 0;
    r->failed |= r->left < sizeof length;
    if (!r->failed) memcpy(&length, r->at, sizeof length);
    r->failed |= !r->failed && length > r->left - sizeof length;
    r->failed |= !r->failed && filling(length) > r->left - sizeof length - length;
    *size = r->failed ? 0 : (size_t)length;
    if (r->failed) return NULL;
    char *content = r->at + sizeof length;
    r->at = content + length + filling(length);
    r->left -= sizeof length + length + filling(length);
    return content;
}

/* An item of exactly SIZE bytes. */
static void *take_exactly(reader *r, size_t size) {
    size_t got;
    void *content = take(r, &got);
    r->failed |= got != size;
    return r->failed ? NULL : content;
}

static int64_t take_number(reader *r) {
    const int64_t *content = take_exactly(r, sizeof *content);
    return content != NULL ? *content : 0;
}

static double take_real(reader *r) {
    const double *content = take_exactly(r, sizeof *content);
    return content != NULL ? *content : 0;
}

static const char *take_text(reader *r) {
    size_t size;
    const char *text = take(r, &size);
    if (size == 0) return NULL;
    r->failed |= text[size - 1] != '\0';
    return r->failed ? NULL : text;
}

static bool is_text(const char *text, const char *want) { return text != NULL && strcmp(text, want) == 0; }

static void take_context(reader *r, mc_context_config *config) {
    *config = (mc_context_config){.size = sizeof *config};
    config->device = take_text(r);
    config->cache = (mc_cache_mode)take_number(r);
    config->cache_directory = take_text(r);
    config->cache_bytes = (uint64_t)take_number(r);
    config->cache_files = (uint64_t)take_number(r);
    config->records = ""; /* the tuner's matter */
}

static void take_problem(reader *r, plan_problem *problem) {
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) member_set(problem, i, take_number(r));
}

/* An array of COUNT elements; *FAILED also where their bytes leave size_t. */
static void *take_array(reader *r, int64_t count, size_t size) {
    int64_t bytes = mcrt_product(count, (int64_t)size);
    r->failed |= bytes < 0;
    return take_exactly(r, r->failed ? 0 : (size_t)bytes);
}

static void take_matrix(reader *r, mc_vsparse *m) {
    m->type = (mc_type)take_number(r);
    m->vec = (int)take_number(r);
    m->rows = take_number(r);
    m->cols = take_number(r);
    m->row_blocks = take_number(r);
    m->vectors = take_number(r);
    r->failed |= m->row_blocks < 0 || m->row_blocks == INT64_MAX || (unsigned)m->type >= MC_TYPE_COUNT;
    if (r->failed) return;
    m->row_ptr = take_array(r, m->row_blocks + 1, sizeof *m->row_ptr);
    m->col_idx = take_array(r, m->vectors, sizeof *m->col_idx);
    m->values = take_array(r, mc_type_size(m->type, mcrt_product(m->vectors, m->vec)), 1);
}

/* Whether what follows may go by M's numbers. */
static bool is_matrix(const mc_vsparse *m) {
    bool whole = m->vec > 0 && m->rows == mcrt_product(m->row_blocks, m->vec) && m->row_ptr[0] == 0 &&
                 m->row_ptr[m->row_blocks] == m->vectors;
    for (int64_t i = 0; whole && i < m->row_blocks; i++) whole = m->row_ptr[i] <= m->row_ptr[i + 1];
    for (int64_t i = 0; whole && i < m->vectors; i++) whole = m->col_idx[i] >= 0 && m->col_idx[i] < m->cols;
    return whole;
}

static mc_status take_entrants(reader *r, wire_job *job, mc_diag *diag) {
    job->race.seconds = take_real(r);
    int64_t count = take_number(r);
    if (r->failed || count < 0 || (uint64_t)count > r->left / 16) {
        r->failed = true;
        return MC_OK;
    }
    job->entrants = mcrt_array(count, sizeof *job->entrants);
    if (job->entrants == NULL) return mcrt_no_memory(diag, count, "entrants");
    for (int64_t i = 0; i < count; i++) {
        job->entrants[i].standard = take_number(r) != 0;
        job->entrants[i].fields = take_text(r);
        r->failed |= job->entrants[i].fields == NULL;
    }
    job->race.count = (size_t)count;
    return MC_OK;
}

static mc_status parse(reader *r, wire_job *job, mc_diag *diag) {
    if (!is_text(take_text(r), magic) || !is_text(take_text(r), mc_generator_id()))
        return mc_fail(diag, MC_FORMAT, "this is no job of this version's tuner");
    take_context(r, &job->context);
    take_problem(r, &job->problem);
    take_matrix(r, &job->matrix);
    job->race.cold = take_number(r) != 0;
    mc_status status = take_entrants(r, job, diag);
    if (status != MC_OK) return status;
    if (r->failed || r->left > 0 || operator_of(job->problem.op) == NULL || !is_matrix(&job->matrix))
        return mc_fail(diag, MC_FORMAT, "the job is damaged");
    job->problem.features = matrix_features_of(&job->matrix);
    job->race.problem = &job->problem;
    job->race.matrix = &job->matrix;
    job->race.entrants = job->entrants;
    return MC_OK;
}

static mc_status read_all(int file, reader *r, mc_diag *diag) {
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return mc_fail(diag, MC_FORMAT, "there is no job in descriptor %d", file);
    r->at = mcrt_array(info.st_size, 1);
    if (r->at == NULL) return mcrt_no_memory(diag, info.st_size, "bytes of a job");
    while (r->left < (size_t)info.st_size) {
        ssize_t got = pread(file, r->at + r->left, (size_t)info.st_size - r->left, (off_t)r->left);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return mc_fail(diag, MC_IO, "the job: %s", got < 0 ? strerror(errno) : "it shrank");
        r->left += (size_t)got;
    }
    return MC_OK;
}

mc_status wire_read_job(int file, wire_job *job, mc_diag *diag) {
    reader r = {0};
    *job = (wire_job){0};
    mc_status status = read_all(file, &r, diag);
    job->bytes = r.at;
    if (status == MC_OK) status = parse(&r, job, diag);
    if (status != MC_OK) wire_free_job(job);
    return status;
}

void wire_free_job(wire_job *job) {
    free(job->bytes);
    free(job->entrants);
    *job = (wire_job){0};
}
