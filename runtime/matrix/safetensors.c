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

/* What the format calls TYPE: its name in specs in capitals, but of signed integers with an I: "F16", "I8".
   Of types whose elements do not fill their bytes "". */
static void dtype_of(int type, char text[8]) {
    const element_row *row = &element_rows[type];
    snprintf(text, 8, "%s", row->bits == 8 * row->bytes ? row->text : "");
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

/* Two integers from 0 on. */
static bool two_of(const json_t *array, int64_t two[2]) {
    for (size_t i = 0; i < 2; i++) {
        const json_t *item = json_array_get(array, i);
        two[i] = json_integer_value(item);
        if (!json_is_integer(item) || two[i] < 0) return false;
    }
    return json_array_size(array) == 2;
}

static mc_status read_tensor(const tensors *t, const char *name, const json_t *tensor, mc_dense *dense) {
    const char *dtype = json_string_value(json_object_get(tensor, "dtype"));
    int64_t shape[2], offsets[2];
    mc_type type;
    if (!type_of(dtype, &type)) return refuse_dtype(t, name, dtype);
    if (!two_of(json_object_get(tensor, "shape"), shape))
        return mc_fail(t->diag, MC_CANNOT, "%s: %s is no matrix: its shape must have two sizes", t->file,
                       name);
    int64_t size = mc_type_size(type, mcrt_product(shape[0], shape[1]));
    if (!two_of(json_object_get(tensor, "data_offsets"), offsets) || offsets[1] < offsets[0] ||
        (uint64_t)offsets[1] > t->parts.size - t->data || offsets[1] - offsets[0] != size)
        return mc_fail(t->diag, MC_FORMAT,
                       "%s: data_offsets of %s are not those of %" PRId64 " x %" PRId64
                       " elements of %s in this file",
                       t->file, name, shape[0], shape[1], dtype);
    mc_status status = mc_dense_create(type, shape[0], shape[1], shape[1], dense, t->diag);
    if (status == MC_OK && size > 0)
        status =
            file_read_part(&t->parts, t->data + (uint64_t)offsets[0], (size_t)size, dense->data, t->diag);
    return status;
}

static mc_status read_safetensors(const char *path, mc_dense *dense, mc_diag *diag) {
    tensors t = {.diag = diag, .parts.descriptor = -1};
    const char *name = NULL;
    const json_t *tensor = NULL;
    size_t length;
    *dense = (mc_dense){0};
    (void)mc_is_safetensors(path, &length);
    if (path[length] == ':') t.name = path + length + 1;
    t.file = strndup(path, length);
    if (t.file == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = file_open_parts(t.file, &t.parts, diag);
    if (status == MC_OK) status = read_header(&t);
    if (status == MC_OK) status = choose(&t, &name, &tensor);
    if (status == MC_OK) status = read_tensor(&t, name, tensor, dense);
    if (status != MC_OK) mc_dense_free(dense);
    file_close_parts(&t.parts);
    json_decref(t.header);
    free(t.file);
    return status;
}

mc_status mc_dense_read(const char *path, mc_dense *dense, mc_diag *diag) {
    size_t length;
    return mc_is_safetensors(path, &length) ? read_safetensors(path, dense, diag)
                                            : mc_npy_read(path, dense, diag);
}
