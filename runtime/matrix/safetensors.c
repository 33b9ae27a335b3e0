/* .safetensors, as Hugging Face describes it: eight bytes, little-endian, with the length of a JSON object;
 * the object, which has a member for each tensor (dtype, shape, and data_offsets from the object's end on)
 * and perhaps __metadata__; the tensors' data, in C order, little-endian. Of a file only the object and one
 * tensor are read. */
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/type.h"
#include "matrix/dense.h"
#include "text/file.h"

enum { LENGTH_BYTES = 8, MOST_HEADER = 100 << 20, MOST_LISTED = 200 };
static const char ending[] = ".safetensors";

typedef struct tensors {
    char *file;
    const char *name; /* of the tensor that is wanted; NULL: the only one */
    file_parts parts;
    uint64_t data; /* where the tensors' begins */
    json_t *header;
    bool any_dims; /* one to three; else two */
    mc_diag *diag;
} tensors;

/* -- Paths -------------------------------------------------------------------------------------------- */

bool mc_is_safetensors(const char *path, size_t *file_length) {
    size_t length = strlen(path), tail = sizeof ending - 1;
    *file_length = length;
    if (length >= tail && strcmp(path + length - tail, ending) == 0) return true;
    for (const char *at = path; (at = strstr(at, ending)) != NULL; at += tail)
        if (at[tail] == ':') {
            *file_length = (size_t)(at + tail - path);
            return true;
        }
    return false;
}

/* -- The object --------------------------------------------------------------------------------------- */

static mc_status read_header(tensors *t) {
    unsigned char bytes[LENGTH_BYTES] = {0};
    uint64_t length = 0;
    json_error_t error;
    if (t->parts.size < LENGTH_BYTES)
        return mc_fail(t->diag, MC_FORMAT, "%s: not a .safetensors file", t->file);
    mc_status status = file_read_part(&t->parts, 0, LENGTH_BYTES, bytes, t->diag);
    for (int i = LENGTH_BYTES; i-- > 0;) length = length << 8 | bytes[i];
    if (status != MC_OK) return status;
    if (length > MOST_HEADER || length > t->parts.size - LENGTH_BYTES)
        return mc_fail(t->diag, MC_FORMAT, "%s: not a .safetensors file, or one that was cut off", t->file);
    t->data = LENGTH_BYTES + length;
    char *text = malloc((size_t)length + 1);
    if (text == NULL) return mc_fail(t->diag, MC_NOMEM, "out of memory");
    status = file_read_part(&t->parts, LENGTH_BYTES, (size_t)length, text, t->diag);
    if (status == MC_OK) t->header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (status == MC_OK && !json_is_object(t->header))
        status = mc_fail(t->diag, MC_FORMAT, "%s: its header is no JSON object%s%s", t->file,
                         t->header == NULL ? ": " : "", t->header == NULL ? error.text : "");
    free(text);
    return status;
}

static bool is_matrix(const char *name, const json_t *tensor) {
    return strcmp(name, "__metadata__") != 0 && json_array_size(json_object_get(tensor, "shape")) == 2;
}

/* Names of the matrices, as many as fit. */
static void list_names(const tensors *t, char text[MOST_LISTED + 8]) {
    const char *name;
    json_t *tensor;
    size_t used = 0;
    text[0] = '\0';
    json_object_foreach(t->header, name, tensor) {
        size_t length = strlen(name);
        if (!is_matrix(name, tensor)) continue;
        if (used + length + 2 > MOST_LISTED) {
            strcpy(text + used, ", ...");
            return;
        }
        used += (size_t)sprintf(text + used, "%s%s", used > 0 ? ", " : "", name);
    }
}

static mc_status choose(const tensors *t, const char **name, const json_t **tensor) {
    const char *key;
    json_t *value;
    char names[MOST_LISTED + 8];
    size_t count = 0;
    list_names(t, names);
    if (t->name != NULL) {
        *name = t->name;
        *tensor = strcmp(t->name, "__metadata__") == 0 ? NULL : json_object_get(t->header, t->name);
        return *tensor != NULL ? MC_OK
                               : mc_fail(t->diag, MC_USAGE, "%s: there is no %s; its matrices are %s",
                                         t->file, t->name, *names ? names : "none");
    }
    json_object_foreach(t->header, key, value) if (is_matrix(key, value)) {
        *name = key, *tensor = value;
        count++;
    }
    if (count == 0) return mc_fail(t->diag, MC_CANNOT, "%s: no matrix is in it", t->file);
    return count == 1 ? MC_OK
                      : mc_fail(t->diag, MC_USAGE, "%s: %zu matrices are in it: name one, %s:NAME, of %s",
                                t->file, count, t->file, names);
}

/* -- A tensor ----------------------------------------------------------------------------------------- */

/* What the format calls TYPE: its name in specs in capitals, but of signed integers with an I, and of
   floats of 8 bits with F8 before it: "F16", "I8", "F8_E4M3". Of types whose elements do not fill their
   bytes, or are of another type in files, "". */
static void dtype_of(int type, char text[8]) {
    const element_row *row = &element_rows[type];
    bool own = row->bits == 8 * row->bytes && type_of_elements((mc_type)type) == (mc_type)type;
    bool byte_float = row->bytes == 1 && mc_type_is_real((mc_type)type);
    snprintf(text, 8, "%s%s", own && byte_float ? "f8_" : "", own ? row->text : "");
    if (text[0] == 's') text[0] = 'i';
    for (char *c = text; *c != '\0'; c++) *c = (char)toupper((unsigned char)*c);
}

static bool type_of(const char *text, mc_type *type) {
    char dtype[8];
    for (int i = 0; text != NULL && *text != '\0' && i < MC_TYPE_COUNT; i++) {
        dtype_of(i, dtype);
        if (strcmp(text, dtype) != 0) continue;
        *type = (mc_type)i;
        return true;
    }
    return false;
}

/* Reals before integers. */
static mc_status refuse_dtype(const tensors *t, const char *name, const char *dtype) {
    char all[MOST_LISTED] = "", own[8];
    size_t used = 0;
    for (int i = 0; i < 2 * MC_TYPE_COUNT; i++) {
        bool real = i < MC_TYPE_COUNT;
        dtype_of(i % MC_TYPE_COUNT, own);
        if (*own == '\0' || mc_type_is_real((mc_type)(i % MC_TYPE_COUNT)) != real) continue;
        if (used < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "", own);
    }
    return mc_fail(t->diag, MC_CANNOT, "%s: %s holds %s: %s are read", t->file, name,
                   dtype != NULL ? dtype : "no dtype", all);
}

/* COUNT integers from 0 on. */
static bool take_integers(const json_t *array, int64_t *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        items[i] = json_integer_value(item);
        if (!json_is_integer(item) || items[i] < 0) return false;
    }
    return json_array_size(array) == count;
}

static mc_status take_shape(const tensors *t, const char *name, const json_t *shape, mc_dims *dims) {
    size_t count = json_array_size(shape);
    bool right = t->any_dims ? count >= 1 && count <= 3 : count == 2;
    *dims = (mc_dims){.count = (int)count};
    if (right && take_integers(shape, dims->size, count)) return MC_OK;
    return t->any_dims ? mc_fail(t->diag, MC_CANNOT, "%s: the shape of %s must have one to three sizes",
                                 t->file, name)
                       : mc_fail(t->diag, MC_CANNOT, "%s: %s is no matrix: its shape must have two sizes",
                                 t->file, name);
}

/* "2 x 3 x 4". */
static void dims_text(const mc_dims *dims, char text[64]) {
    size_t used = 0;
    for (int i = 0; i < dims->count && used < 64; i++)
        used += (size_t)snprintf(text + used, 64 - used, "%s%" PRId64, i > 0 ? " x " : "", dims->size[i]);
}

static mc_status read_tensor(const tensors *t, const char *name, const json_t *tensor, mc_dense *dense,
                             mc_dims *dims) {
    const char *dtype = json_string_value(json_object_get(tensor, "dtype"));
    int64_t offsets[2], rows, cols = 1;
    char text[64] = "";
    mc_type type;
    if (!type_of(dtype, &type)) return refuse_dtype(t, name, dtype);
    mc_status status = take_shape(t, name, json_object_get(tensor, "shape"), dims);
    if (status != MC_OK) return status;
    rows = dims->count > 1 ? dims->size[0] : 1;
    for (int i = dims->count > 1; i < dims->count; i++) cols = mcrt_product(cols, dims->size[i]);
    int64_t size = mc_type_size(type, mcrt_product(rows, cols));
    dims_text(dims, text);
    if (!take_integers(json_object_get(tensor, "data_offsets"), offsets, 2) || offsets[1] < offsets[0] ||
        (uint64_t)offsets[1] > t->parts.size - t->data || offsets[1] - offsets[0] != size)
        return mc_fail(t->diag, MC_FORMAT,
                       "%s: data_offsets of %s are not those of %s elements of %s in this file", t->file,
                       name, text, dtype);
    status = mc_dense_create(type, rows, cols, cols, dense, t->diag);
    if (status == MC_OK && size > 0)
        status =
            file_read_part(&t->parts, t->data + (uint64_t)offsets[0], (size_t)size, dense->data, t->diag);
    return status;
}

/* Splits PATH, and reads the header of its file; to be closed in any case. */
static mc_status open_tensors(const char *path, tensors *t, mc_diag *diag) {
    size_t length;
    *t = (tensors){.diag = diag, .parts.descriptor = -1};
    (void)mc_is_safetensors(path, &length);
    if (path[length] == ':') t->name = path + length + 1;
    t->file = strndup(path, length);
    if (t->file == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = file_open_parts(t->file, &t->parts, diag);
    return status == MC_OK ? read_header(t) : status;
}

static void close_tensors(tensors *t) {
    file_close_parts(&t->parts);
    json_decref(t->header);
    free(t->file);
}

static mc_status read_safetensors(const char *path, bool any_dims, mc_dense *dense, mc_dims *dims,
                                  mc_diag *diag) {
    tensors t;
    const char *name = NULL;
    const json_t *tensor = NULL;
    *dense = (mc_dense){0};
    mc_status status = open_tensors(path, &t, diag);
    t.any_dims = any_dims;
    if (status == MC_OK) status = choose(&t, &name, &tensor);
    if (status == MC_OK) status = read_tensor(&t, name, tensor, dense, dims);
    if (status != MC_OK) mc_dense_free(dense);
    close_tensors(&t);
    return status;
}

bool mc_has_tensor(const char *path) {
    tensors t;
    bool has =
        open_tensors(path, &t, NULL) == MC_OK && t.name != NULL && json_object_get(t.header, t.name) != NULL;
    close_tensors(&t);
    return has;
}

mc_status mc_dense_read_dims(const char *path, mc_dense *dense, mc_dims *dims, mc_diag *diag) {
    size_t length;
    return mc_is_safetensors(path, &length) ? read_safetensors(path, true, dense, dims, diag)
                                            : mcrt_npy_read_dims(path, dense, dims, diag);
}

mc_status mc_dense_read(const char *path, mc_dense *dense, mc_diag *diag) {
    size_t length;
    mc_dims dims;
    return mc_is_safetensors(path, &length) ? read_safetensors(path, false, dense, &dims, diag)
                                            : mc_npy_read(path, dense, diag);
}
