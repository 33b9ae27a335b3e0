/* NumPy's .npy ("NEP 1, A Simple File Format for NumPy Arrays"): magic, version, header length, the header (a
   Python dict of descr, fortran_order and shape), the data. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "text/file.h"
#include "base/memory.h"
#include "matrix/dense.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1, PREFIX_1 = MAGIC + 4, PREFIX_2 = MAGIC + 6, ALIGNMENT = 64 };

/* Whether elements of TYPE stand in files as DESCR says. A single byte has no order, whatever descr says, and
   neither do bytes of type V. */
static bool is_descr(mc_type type, const char *descr) {
    const char *own = element_rows[type].npy;
    if (strcmp(own, descr) == 0) return true;
    if (descr[0] == '\0' || strcmp(own + 1, descr + 1) != 0) return false;
    return own[0] == '|' ? descr[0] == '<' || descr[0] == '>' : own[1] == 'V' && descr[0] == '|';
}

/* What the header says. */
typedef struct npy_header {
    mc_type type;
    bool fortran_order;
    mc_dims dims;
    int64_t rows, cols;
} npy_header;

/* Which shapes will do: two sizes; at most two; one to three. */
typedef enum npy_wanted { WANT_MATRIX, WANT_VECTOR, WANT_DIMS } npy_wanted;

/* The header's text, and where reading stands. */
typedef struct scanner {
    const char *path, *at, *end;
    npy_wanted wanted;
    mc_diag *diag;
} scanner;

static mc_status refuse(const scanner *s, const char *why) {
    return mc_fail(s->diag, MC_FORMAT, "%s: .npy header: %s", s->path, why);
}

/* -- The header dict */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_space(scanner *s) {
    while (s->at < s->end && is_space(*s->at)) s->at++;
}

static bool skip_text(scanner *s, const char *text) {
    size_t length = strlen(text);
    skip_space(s);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, text, length) != 0) return false;
    s->at += length;
    return true;
}

/* A string in single or double quotes, without escapes: none that we read has any. */
static bool scan_string(scanner *s, char *text, size_t size) {
    skip_space(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return false;
    const char *first = s->at + 1, *close = memchr(first, *s->at, (size_t)(s->end - first));
    if (!close || (size_t)(close - first) >= size) return false;
    memcpy(text, first, (size_t)(close - first));
    text[close - first] = '\0';
    s->at = close + 1;
    return true;
}

enum { ALL_DESCRS = 128 };

/* "|i1, |u1 ... <f4", each once. */
static void list_descrs(char text[ALL_DESCRS]) {
    text[0] = '\0';
    for (int i = 0; i < MC_TYPE_COUNT; i++) {
        size_t used = strlen(text);
        if (strstr(text, element_rows[i].npy) == NULL)
            snprintf(text + used, ALL_DESCRS - used, "%s%s", used > 0 ? ", " : "", element_rows[i].npy);
    }
}

static mc_status scan_descr(scanner *s, npy_header *h) {
    char descr[32];
    if (skip_text(s, "[")) return mc_fail(s->diag, MC_CANNOT, "%s: structured dtypes are not read", s->path);
    if (!scan_string(s, descr, sizeof descr)) return refuse(s, "descr must be a string");
    for (int i = 0; i < MC_TYPE_COUNT; i++) { /* of several that stand there alike, the first */
        if (!is_descr((mc_type)i, descr)) continue;
        h->type = (mc_type)i;
        return MC_OK;
    }
    if (descr[0] == '>') return mc_fail(s->diag, MC_CANNOT, "%s: dtype '%s' is big-endian", s->path, descr);
    char all[ALL_DESCRS];
    list_descrs(all);
    return mc_fail(s->diag, MC_CANNOT, "%s: dtype '%s' is not read: %s", s->path, descr, all);
}

static mc_status scan_order(scanner *s, npy_header *h) {
    h->fortran_order = skip_text(s, "True");
    if (h->fortran_order || skip_text(s, "False")) return MC_OK;
    return refuse(s, "fortran_order must be True or False");
}

static bool scan_number(scanner *s, int64_t *number) {
    skip_space(s);
    const char *first = s->at;
    *number = 0;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, *s->at - '0', number))
            return false;
    return s->at > first;
}

/* A tuple: () or (3,) or (3, 4) or (3, 4,). */
static mc_status scan_sizes(scanner *s, mc_dims *dims) {
    int64_t size;
    *dims = (mc_dims){0};
    if (!skip_text(s, "(")) return refuse(s, "shape must be a tuple");
    while (!skip_text(s, ")")) {
        if (!scan_number(s, &size)) return refuse(s, "shape must hold sizes below 2^63");
        if (dims->count < 3) dims->size[dims->count] = size;
        dims->count++;
        if (skip_text(s, ",")) continue;
        if (!skip_text(s, ")")) return refuse(s, "shape does not end in )");
        break;
    }
    return MC_OK;
}

static mc_status scan_shape(scanner *s, npy_header *h) {
    mc_status status = scan_sizes(s, &h->dims);
    if (status != MC_OK) return status;
    const int64_t *sizes = h->dims.size;
    int count = h->dims.count;
    if (s->wanted == WANT_DIMS && (count < 1 || count > 3))
        return mc_fail(s->diag, MC_CANNOT, "%s: the array has %d dimensions, one to three are read", s->path,
                       count);
    if (s->wanted == WANT_MATRIX ? count != 2 : s->wanted == WANT_VECTOR && count > 2)
        return mc_fail(s->diag, MC_CANNOT, "%s: the array has %d dimensions, a matrix has 2", s->path, count);
    h->rows = count < 2 ? 1 : sizes[0];
    h->cols = count == 0   ? 1
              : count == 1 ? sizes[0]
              : count == 2 ? sizes[1]
                           : mcrt_product(sizes[1], sizes[2]);
    return h->cols >= 0 ? MC_OK : refuse(s, "shape must hold sizes whose product is below 2^63");
}

static const struct {
    const char *name;
    mc_status (*scan)(scanner *s, npy_header *h);
} keys[] = {{"descr", scan_descr}, {"fortran_order", scan_order}, {"shape", scan_shape}};

enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static mc_status scan_item(scanner *s, npy_header *h, bool *seen) {
    char name[32];
    if (!scan_string(s, name, sizeof name)) return refuse(s, "a key must be a string");
    int key = 0;
    while (key < KEY_COUNT && strcmp(name, keys[key].name) != 0) key++;
    if (key == KEY_COUNT)
        return mc_fail(s->diag, MC_FORMAT, "%s: .npy header: unknown key '%s'", s->path, name);
    if (seen[key]) return mc_fail(s->diag, MC_FORMAT, "%s: .npy header: '%s' occurs twice", s->path, name);
    seen[key] = true;
    if (!skip_text(s, ":")) return refuse(s, "a colon must follow a key");
    return keys[key].scan(s, h);
}

static mc_status scan_dict(scanner *s, npy_header *h) {
    bool seen[KEY_COUNT] = {false};
    if (!skip_text(s, "{")) return refuse(s, "not a dict");
    while (!skip_text(s, "}")) {
        mc_status status = scan_item(s, h, seen);
        if (status != MC_OK) return status;
        if (skip_text(s, ",")) continue;
        if (!skip_text(s, "}")) return refuse(s, "the dict does not end in }");
        break;
    }
    skip_space(s);
    if (s->at < s->end) return refuse(s, "text after the dict");
    for (int key = 0; key < KEY_COUNT; key++)
        if (!seen[key])
            return mc_fail(s->diag, MC_FORMAT, "%s: .npy header: '%s' is missing", s->path, keys[key].name);
    return MC_OK;
}

/* -- The file */

/* Bytes of the little-endian header length: 2 in version 1, 4 in versions 2 and 3. */
static mc_status find_header(scanner *s) {
    size_t size = (size_t)(s->end - s->at);
    const unsigned char *bytes = (const unsigned char *)s->at;
    if (size < PREFIX_1 || memcmp(bytes, magic, MAGIC) != 0)
        return mc_fail(s->diag, MC_FORMAT, "%s: not a .npy file", s->path);
    unsigned major = bytes[MAGIC], minor = bytes[MAGIC + 1];
    if (major < 1 || major > 3 || minor != 0)
        return mc_fail(s->diag, MC_CANNOT, "%s: .npy version %u.%u is not read: 1.0, 2.0 or 3.0", s->path,
                       major, minor);
    size_t prefix = major == 1 ? PREFIX_1 : PREFIX_2, length = 0;
    if (size < prefix) return refuse(s, "truncated");
    for (size_t i = prefix; i > MAGIC + 2; i--) length = length << 8 | bytes[i - 1];
    if (length > size - prefix) return refuse(s, "truncated");
    s->at += prefix;
    s->end = s->at + length;
    return MC_OK;
}

static mc_status check_data(const scanner *s, const npy_header *h, size_t size) {
    if (h->fortran_order && h->dims.count > 2)
        return mc_fail(s->diag, MC_CANNOT,
                       "%s: three dimensions in Fortran order are not read: numpy.ascontiguousarray",
                       s->path);
    int64_t bytes = mc_type_size(h->type, mcrt_product(h->rows, h->cols));
    if (bytes >= 0 && (size_t)bytes == size) return MC_OK;
    return mc_fail(
        s->diag, MC_FORMAT, "%s: %zu bytes of data, a %" PRId64 " x %" PRId64 " array of %s has %s", s->path,
        size, h->rows, h->cols, mc_type_text(h->type), bytes >= 0 && (size_t)bytes < size ? "less" : "more");
}

/* Column by column in DATA, row by row in DENSE. */
static void take_columns(const char *data, mc_dense *dense) {
    size_t bytes = mc_type_bytes(dense->type);
    for (int64_t j = 0; j < dense->cols; j++)
        for (int64_t i = 0; i < dense->rows; i++, data += bytes)
            memcpy((char *)dense->data + (size_t)(i * dense->ld + j) * bytes, data, bytes);
}

static mc_status parse(const char *path, npy_wanted wanted, const char *bytes, size_t size, mc_dense *dense,
                       mc_dims *dims, mc_diag *diag) {
    scanner s = {.path = path, .at = bytes, .end = bytes + size, .wanted = wanted, .diag = diag};
    npy_header h = {0};
    mc_status status = find_header(&s);
    const char *data = s.end;
    size_t data_size = (size_t)(bytes + size - data);
    if (status == MC_OK) status = scan_dict(&s, &h);
    if (status == MC_OK) status = check_data(&s, &h, data_size);
    if (status == MC_OK) status = mc_dense_create(h.type, h.rows, h.cols, h.cols, dense, diag);
    if (status == MC_OK && h.fortran_order) take_columns(data, dense);
    else if (status == MC_OK) memcpy(dense->data, data, data_size);
    *dims = h.dims;
    return status;
}

static mc_status read_array(const char *path, npy_wanted wanted, mc_dense *dense, mc_dims *dims,
                            mc_diag *diag) {
    *dense = (mc_dense){0};
    char *bytes;
    size_t size;
    mc_status status = file_read(path, NULL, &bytes, &size, diag);
    if (status != MC_OK) return status;
    status = parse(path, wanted, bytes, size, dense, dims, diag);
    free(bytes);
    return status;
}

mc_status mc_npy_read(const char *path, mc_dense *dense, mc_diag *diag) {
    mc_dims dims;
    return read_array(path, WANT_MATRIX, dense, &dims, diag);
}

mc_status mc_npy_read_vector(const char *path, mc_dense *dense, mc_diag *diag) {
    mc_dims dims;
    return read_array(path, WANT_VECTOR, dense, &dims, diag);
}

mc_status mcrt_npy_read_dims(const char *path, mc_dense *dense, mc_dims *dims, mc_diag *diag) {
    return read_array(path, WANT_DIMS, dense, dims, diag);
}

/* Version 1.0, padded with blanks so that the data begins at a multiple of 64 bytes. */
static void write_header(FILE *stream, mc_type type, const char *shape) {
    char dict[128];
    int length = snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                          element_rows[type].npy, shape);
    int whole = (PREFIX_1 + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    int header = whole - PREFIX_1;
    fwrite(magic, 1, MAGIC, stream);
    fprintf(stream, "%c%c%c%c%-*s\n", 1, 0, header & 255, header >> 8, header - 1, dict);
}

static void write_row(FILE *stream, const mc_dense *dense, int64_t row) {
    size_t bytes = mc_type_bytes(dense->type);
    if (bytes > 0)
        fwrite((const char *)dense->data + (size_t)(row * dense->ld) * bytes, bytes, (size_t)dense->cols,
               stream);
    for (int64_t col = 0; bytes == 0 && col < dense->cols; col++)
        fputc((int)mc_dense_get(dense, row, col) & 255, stream);
}

enum { SHAPE_TEXT = 64 };

/* The header's shape: of FLAT in one dimension. */
static void shape_text(const mc_dense *dense, bool flat, char shape[SHAPE_TEXT]) {
    if (flat) snprintf(shape, SHAPE_TEXT, "%" PRId64 ",", dense->rows * dense->cols);
    else snprintf(shape, SHAPE_TEXT, "%" PRId64 ", %" PRId64, dense->rows, dense->cols);
}

static void write_array(FILE *stream, const mc_npy_file *file) {
    char shape[SHAPE_TEXT];
    shape_text(file->dense, file->flat, shape);
    write_header(stream, file->dense->type, shape);
    int64_t rows = file->dense->cols > 0 ? file->dense->rows : 0;
    for (int64_t row = 0; row < rows; row++) write_row(stream, file->dense, row);
}

mc_status mc_npy_write(const char *path, const mc_dense *dense, mc_diag *diag) {
    return mc_npy_write_all(&(mc_npy_file){path, dense, false}, 1, diag);
}

mc_status mc_npy_write_vector(const char *path, const mc_dense *dense, mc_diag *diag) {
    return mc_npy_write_all(&(mc_npy_file){path, dense, true}, 1, diag);
}

/* Closes outputs that are open; they leave no files. */
static void drop(file_output *outputs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        outputs[i].error = ECANCELED;
        (void)file_commit(&outputs[i], NULL);
    }
}

static mc_status open_all(const mc_npy_file *files, size_t count, file_output *outputs, mc_diag *diag) {
    for (size_t i = 0; i < count; i++) {
        mc_status status = file_open(files[i].path, &outputs[i], diag);
        if (status == MC_OK) continue;
        drop(outputs, i);
        return status;
    }
    return MC_OK;
}

/* Whether all bytes of FILE are with the system. */
static bool write_whole(file_output *output, const mc_npy_file *file) {
    write_array(output->stream, file);
    if (fflush(output->stream) != 0) output->error = errno;
    return output->error == 0 && !ferror(output->stream);
}

mc_status mc_npy_write_all(const mc_npy_file *files, size_t count, mc_diag *diag) {
    file_output outputs[MC_NPY_MOST_FILES];
    size_t at = 0;
    if (count > MC_NPY_MOST_FILES)
        return mc_fail(diag, MC_USAGE, "%zu files: at most %d", count, MC_NPY_MOST_FILES);
    mc_status status = open_all(files, count, outputs, diag);
    if (status != MC_OK) return status;
    while (at < count && write_whole(&outputs[at], &files[at])) at++;
    if (at < count) { /* this one says why */
        drop(outputs, at);
        drop(outputs + at + 1, count - at - 1);
        return file_commit(&outputs[at], diag);
    }
    for (at = 0; status == MC_OK && at < count; at++) status = file_commit(&outputs[at], diag);
    drop(outputs + at, count - at);
    return status;
}
