#include "published.h"
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "directory.h"
#include "matrix/bsr.h"
#include "text/file.h"

static const char *const names[] = {[PUBLISHED_BCRS] = "bcrs", [PUBLISHED_SRBCRS] = "srbcrs"};
enum { NAMES = sizeof names / sizeof names[0] };

static mc_status no_memory(mc_diag *diag) { return mc_fail(diag, MC_NOMEM, "out of memory"); }

/* -- Writing ------------------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static char *describe(const published_form *form, const mc_vsparse *a) {
    json_t *json =
        json_pack("{s:s, s:s, s:i, s:I, s:I}", "format", names[form->name], "type", mc_type_text(a->type),
                  "vec", a->vec, "rows", (json_int_t)a->rows, "cols", (json_int_t)a->cols);
    if (form->name == PUBLISHED_SRBCRS) {
        json_object_set_new(json, "k", json_integer(form->srbcrs.k));
        json_object_set_new(json, "digit_bits", json_integer(form->srbcrs.piece_bits));
        json_object_set_new(json, "shuffle", json_boolean(form->srbcrs.shuffle));
    }
    char *text = json_dumps(json, JSON_INDENT(2));
    json_decref(json);
    return text;
}

/* BCRS's values as a matrix of vectors, which `--a` takes, too; all else in one dimension. */
static void list_arrays(const published_form *form, const mc_vsparse *a, const mc_packed *packed,
                        out_files *files) {
    for (size_t i = 0; i < packed->array_count; i++) {
        const mc_packed_array *array = &packed->arrays[i];
        mc_dense flat = {array->type, 1, array->count, array->count, array->data};
        const mc_dense vectors = {a->type, a->vectors, a->vec, a->vec, array->data};
        bool is_matrix = form->name == PUBLISHED_BCRS && strcmp(array->name, "values") == 0;
        out_add_array(files, array->name, is_matrix ? &vectors : &flat, !is_matrix);
    }
}

static void print_files(const out_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        const out_file *file = &files->items[i];
        if (file->data != NULL) printf("%s\n", file->name);
        else if (file->flat)
            printf("%s  %s[%lld]\n", file->name, mc_type_text(file->array.type), (long long)file->array.cols);
        else
            printf("%s  %s[%lld][%lld]\n", file->name, mc_type_text(file->array.type),
                   (long long)file->array.rows, (long long)file->array.cols);
    }
}

mc_status published_write(const published_form *form, const mc_vsparse *a, const published_beside *beside,
                          size_t count, const char *directory, bool force, bool list, mc_diag *diag) {
    mc_packed packed;
    out_files files = {0};
    mc_status status = form->name == PUBLISHED_BCRS ? mc_bcrs_export(a, &packed, diag)
                                                    : mc_srbcrs_export(a, &form->srbcrs, &packed, diag);
    if (status != MC_OK) return status;
    char *text = describe(form, a);
    if (text == NULL) {
        status = no_memory(diag);
    } else {
        list_arrays(form, a, &packed, &files);
        for (size_t i = 0; i < count; i++) out_add_array(&files, beside[i].name, beside[i].array, true);
        out_add(&files, "format", ".json", text, strlen(text)); /* the last: it stands for all */
        status = out_write(directory, force, &files, diag);
    }
    if (status == MC_OK && list) print_files(&files);
    free(text);
    mc_packed_free(&packed);
    return status;
}

/* -- Reading ------------------------------------------------------------------------------------------- */

/* What format.json says. */
typedef struct description {
    published_form form;
    mc_type type;
    int vec;
    int64_t rows, cols;
} description;

static mc_status take_name(const char *path, const char *text, published_name *name, mc_diag *diag) {
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *name = (published_name)i;
        return MC_OK;
    }
    return mc_fail(diag, MC_FORMAT, "%s: format '%s' is neither bcrs nor srbcrs", path, text);
}

/* NAME of the file, where it fits. */
static mc_status take_int(const char *path, const char *name, json_int_t value, int *number, mc_diag *diag) {
    *number = (int)value;
    if (value >= 0 && value <= INT_MAX) return MC_OK;
    return mc_fail(diag, MC_FORMAT, "%s: %s is %lld", path, name, (long long)value);
}

static mc_status take_description(const char *path, json_t *json, description *d, mc_diag *diag) {
    static const char plain[] = "{s:s, s:s, s:I, s:I, s:I !}",
                      strided[] = "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b !}";
    const char *format = "", *type = "";
    json_int_t vec = 0, rows = 0, cols = 0, k = 0, piece_bits = 0;
    int shuffle = 0;
    json_error_t error = {0};
    mc_srbcrs *srbcrs = &d->form.srbcrs;
    if (json_unpack_ex(json, &error, 0, "{s:s}", "format", &format) != 0)
        return mc_fail(diag, MC_FORMAT, "%s: %s", path, error.text);
    mc_status status = take_name(path, format, &d->form.name, diag);
    if (status != MC_OK) return status;
    if (json_unpack_ex(json, &error, 0, d->form.name == PUBLISHED_BCRS ? plain : strided, "format", &format,
                       "type", &type, "vec", &vec, "rows", &rows, "cols", &cols, "k", &k, "digit_bits",
                       &piece_bits, "shuffle", &shuffle) != 0)
        return mc_fail(diag, MC_FORMAT, "%s: %s", path, error.text);
    srbcrs->shuffle = shuffle;
    d->rows = rows, d->cols = cols;
    status = take_int(path, "vec", vec, &d->vec, diag);
    if (status == MC_OK) status = take_int(path, "k", k, &srbcrs->k, diag);
    if (status == MC_OK) status = take_int(path, "digit_bits", piece_bits, &srbcrs->piece_bits, diag);
    if (status != MC_OK || mc_type_from_text(type, &d->type, NULL) == MC_OK) return status;
    return mc_fail(diag, MC_FORMAT, "%s: '%s' is no type", path, type);
}

static mc_status read_description(const char *path, description *d, mc_diag *diag) {
    char *bytes;
    size_t size;
    json_error_t error;
    *d = (description){0};
    mc_status status = file_read(path, NULL, &bytes, &size, diag);
    if (status != MC_OK) return status;
    json_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL) status = mc_fail(diag, MC_FORMAT, "%s:%d: %s", path, error.line, error.text);
    else status = take_description(path, json, d, diag);
    json_decref(json);
    free(bytes);
    return status;
}

/* Bytes as they are, and integers as the type that the format has. */
static mc_status take_array(const char *path, const mc_dense *read, const char *name, mc_type type,
                            bool bytes, mc_packed *packed, mc_diag *diag) {
    mc_dense flat = *read, array;
    flat.cols = flat.ld = read->rows * read->cols;
    flat.rows = 1;
    if (bytes && flat.type != MC_S8 && flat.type != MC_U8)
        return mc_fail(diag, MC_FORMAT, "%s holds %s, must hold bytes, s8 or u8", path,
                       mc_type_text(flat.type));
    if (bytes) flat.type = MC_S8;
    int64_t ld = mc_type_bytes(type) > 0 ? flat.cols : flat.cols + flat.cols % 2;
    mc_status status = mc_dense_convert(&flat, name, type, ld, &array, diag);
    if (status != MC_OK) return status;
    bool words = type == MC_S32;
    packed->arrays[packed->array_count++] = (mc_packed_array){
        name, words ? MC_S32 : MC_S8, words ? flat.cols : mc_type_size(type, flat.cols), array.data};
    return MC_OK;
}

static mc_status read_array(const char *directory, const char *name, mc_type type, bool bytes,
                            mc_packed *packed, mc_diag *diag) {
    char *path;
    mc_dense read;
    if (asprintf(&path, "%s/%s.npy", directory, name) < 0) return no_memory(diag);
    mc_status status = mc_npy_read_vector(path, &read, diag);
    if (status == MC_OK) {
        status = take_array(path, &read, name, type, bytes, packed, diag);
        mc_dense_free(&read);
    }
    free(path);
    return status;
}

static mc_status read_arrays(const char *directory, const description *d, mc_packed *packed, mc_diag *diag) {
    bool digits = d->form.name == PUBLISHED_SRBCRS;
    mc_status status = read_array(directory, "row_ptr", MC_S32, false, packed, diag);
    if (status == MC_OK) status = read_array(directory, "col_idx", MC_S32, false, packed, diag);
    if (status != MC_OK) return status;
    return read_array(directory, "values", digits ? MC_S8 : d->type, digits, packed, diag);
}

static mc_status import(const char *directory, const description *d, const mc_packed *packed, mc_vsparse *a,
                        mc_diag *diag) {
    mc_diag *inner = mc_diag_create();
    mc_status status =
        d->form.name == PUBLISHED_BCRS
            ? mc_bcrs_import(packed, d->type, d->vec, d->rows, d->cols, a, inner)
            : mc_srbcrs_import(packed, d->type, d->vec, &d->form.srbcrs, d->rows, d->cols, a, inner);
    if (status != MC_OK && inner != NULL) mc_fail(diag, status, "%s: %s", directory, mc_diag_text(inner));
    mc_diag_destroy(inner);
    return status == MC_USAGE ? MC_FORMAT : status; /* it is not the command line that is wrong */
}

mc_status published_read(const char *directory, mc_vsparse *a, mc_diag *diag) {
    description d;
    mc_packed packed = {0};
    char *path;
    *a = (mc_vsparse){0};
    if (asprintf(&path, "%s/format.json", directory) < 0) return no_memory(diag);
    mc_status status = read_description(path, &d, diag);
    free(path);
    if (status == MC_OK && mc_type_is_real(d.type))
        status =
            mc_fail(diag, MC_CANNOT, "%s holds %s: only integers are read", directory, mc_type_text(d.type));
    if (status == MC_OK) status = read_arrays(directory, &d, &packed, diag);
    if (status == MC_OK) status = import(directory, &d, &packed, a, diag);
    mc_packed_free(&packed);
    return status;
}

bool published_is_directory(const char *path) {
    struct stat state;
    return stat(path, &state) == 0 && S_ISDIR(state.st_mode) && !mc_bsr_is(path);
}
