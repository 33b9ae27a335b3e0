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

/* -- The formats --------------------------------------------------------------------------------------- */

/* What format.json says. */
typedef struct description {
    published_form form;
    mc_type type;
    int vec;
    int64_t rows, cols;
} description;

/* How an array lies in its file: as s32, as elements of the matrix's type, or as bytes. */
typedef enum array_kind { WORDS, ELEMENTS, BYTES } array_kind;

enum { MOST_ARRAYS = 4, MOST_NUMBERS = 2 };

typedef struct published_format {
    const char *name;
    bool floats; /* it is read, too, with values of floats */
    struct {
        const char *name;
        array_kind kind;
    } arrays[MOST_ARRAYS];
    /* What format.json has beside the matrix's type and shape: all of it as json_unpack's format, the names
       of numbers, each with its place in published_form, and of a flag, srbcrs.shuffle */
    const char *members;
    const char *numbers[MOST_NUMBERS];
    size_t number_at[MOST_NUMBERS];
    const char *flag;
    mc_status (*export)(const published_form *form, const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
    mc_status (*import)(const description *d, const mc_packed *packed, mc_vsparse *a, mc_diag *diag);
} published_format;

#define SHAPE "s:s, s:s, s:I, s:I, s:I"

static mc_status export_bcrs(const published_form *form, const mc_vsparse *a, mc_packed *packed,
                             mc_diag *diag) {
    (void)form;
    return mc_bcrs_export(a, packed, diag);
}

static mc_status import_bcrs(const description *d, const mc_packed *packed, mc_vsparse *a, mc_diag *diag) {
    return mc_bcrs_import(packed, d->type, d->vec, d->rows, d->cols, a, diag);
}

static mc_status export_srbcrs(const published_form *form, const mc_vsparse *a, mc_packed *packed,
                               mc_diag *diag) {
    return mc_srbcrs_export(a, &form->srbcrs, packed, diag);
}

static mc_status import_srbcrs(const description *d, const mc_packed *packed, mc_vsparse *a, mc_diag *diag) {
    return mc_srbcrs_import(packed, d->type, d->vec, &d->form.srbcrs, d->rows, d->cols, a, diag);
}

static mc_status export_hrpb(const published_form *form, const mc_vsparse *a, mc_packed *packed,
                             mc_diag *diag) {
    return mc_hrpb_export(a, &form->hrpb, packed, diag);
}

static mc_status import_hrpb(const description *d, const mc_packed *packed, mc_vsparse *a, mc_diag *diag) {
    *a = (mc_vsparse){0};
    if (d->vec != 1) return mc_fail(diag, MC_FORMAT, "vec is %d, HRPB has single nonzeros", d->vec);
    return mc_hrpb_import(packed, d->type, &d->form.hrpb, d->rows, d->cols, a, diag);
}

static const published_format formats[] = {
    [PUBLISHED_BCRS] = {.name = "bcrs",
                        .arrays = {{"row_ptr", WORDS}, {"col_idx", WORDS}, {"values", ELEMENTS}},
                        .members = "{" SHAPE " !}",
                        .export = export_bcrs,
                        .import = import_bcrs},
    [PUBLISHED_SRBCRS] = {.name = "srbcrs",
                          .arrays = {{"row_ptr", WORDS}, {"col_idx", WORDS}, {"values", BYTES}},
                          .members = "{" SHAPE ", s:I, s:I, s:b !}",
                          .numbers = {"k", "digit_bits"},
                          .number_at = {offsetof(published_form, srbcrs.k),
                                        offsetof(published_form, srbcrs.piece_bits)},
                          .flag = "shuffle",
                          .export = export_srbcrs,
                          .import = import_srbcrs},
    [PUBLISHED_HRPB] = {.name = "hrpb",
                        .floats = true,
                        .arrays = {{"blocked_row_ptr", WORDS},
                                   {"size_ptr", WORDS},
                                   {"active_cols", WORDS},
                                   {"packed_blocks", BYTES}},
                        .members = "{" SHAPE ", s:I, s:I !}",
                        .numbers = {"tile_rows", "tile_cols"},
                        .number_at = {offsetof(published_form, hrpb.tile_rows),
                                      offsetof(published_form, hrpb.tile_cols)},
                        .export = export_hrpb,
                        .import = import_hrpb},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* The number I of FORM that format.json has. */
static int *number_of(const published_format *format, published_form *form, int i) {
    return (int *)((char *)form + format->number_at[i]);
}

static mc_status no_memory(mc_diag *diag) { return mc_fail(diag, MC_NOMEM, "out of memory"); }

/* -- Writing ------------------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static char *describe(const published_form *form, const mc_vsparse *a) {
    const published_format *format = &formats[form->name];
    published_form of = *form;
    json_t *json =
        json_pack("{s:s, s:s, s:i, s:I, s:I}", "format", format->name, "type", mc_type_text(a->type), "vec",
                  a->vec, "rows", (json_int_t)a->rows, "cols", (json_int_t)a->cols);
    for (int i = 0; i < MOST_NUMBERS && format->numbers[i] != NULL; i++)
        json_object_set_new(json, format->numbers[i], json_integer(*number_of(format, &of, i)));
    if (format->flag != NULL) json_object_set_new(json, format->flag, json_boolean(form->srbcrs.shuffle));
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
    mc_status status = formats[form->name].export(form, a, &packed, diag);
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

static mc_status take_name(const char *path, const char *text, published_name *name, mc_diag *diag) {
    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(text, formats[i].name) != 0) continue;
        *name = (published_name)i;
        return MC_OK;
    }
    return mc_fail(diag, MC_FORMAT, "%s: format '%s' is none of bcrs, srbcrs and hrpb", path, text);
}

/* NAME of the file, where it fits. */
static mc_status take_int(const char *path, const char *name, json_int_t value, int *number, mc_diag *diag) {
    *number = (int)value;
    if (value >= 0 && value <= INT_MAX) return MC_OK;
    return mc_fail(diag, MC_FORMAT, "%s: %s is %lld", path, name, (long long)value);
}

/* What the format has beside the type and the shape of the matrix. */
static mc_status take_members(const char *path, json_t *json, description *d, mc_diag *diag) {
    const published_format *format = &formats[d->form.name];
    const char *word[2] = {"", ""};
    json_int_t vec = 0, rows = 0, cols = 0, number[MOST_NUMBERS] = {0};
    int flag = 0;
    json_error_t error = {0};
    if (json_unpack_ex(json, &error, 0, format->members, "format", &word[0], "type", &word[1], "vec", &vec,
                       "rows", &rows, "cols", &cols, format->numbers[0], &number[0], format->numbers[1],
                       &number[1], format->flag, &flag) != 0)
        return mc_fail(diag, MC_FORMAT, "%s: %s", path, error.text);
    d->form.srbcrs.shuffle = flag;
    d->rows = rows, d->cols = cols;
    mc_status status = take_int(path, "vec", vec, &d->vec, diag);
    for (int i = 0; i < MOST_NUMBERS && format->numbers[i] != NULL && status == MC_OK; i++)
        status = take_int(path, format->numbers[i], number[i], number_of(format, &d->form, i), diag);
    if (status != MC_OK || mc_type_from_text(word[1], &d->type, NULL) == MC_OK) return status;
    return mc_fail(diag, MC_FORMAT, "%s: '%s' is no type", path, word[1]);
}

static mc_status take_description(const char *path, json_t *json, description *d, mc_diag *diag) {
    const char *format = "";
    json_error_t error = {0};
    if (json_unpack_ex(json, &error, 0, "{s:s}", "format", &format) != 0)
        return mc_fail(diag, MC_FORMAT, "%s: %s", path, error.text);
    mc_status status = take_name(path, format, &d->form.name, diag);
    return status == MC_OK ? take_members(path, json, d, diag) : status;
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
    const published_format *format = &formats[d->form.name];
    mc_status status = MC_OK;
    for (int i = 0; i < MOST_ARRAYS && format->arrays[i].name != NULL && status == MC_OK; i++) {
        const array_kind kind = format->arrays[i].kind;
        const mc_type type = kind == WORDS ? MC_S32 : kind == BYTES ? MC_S8 : d->type;
        status = read_array(directory, format->arrays[i].name, type, kind == BYTES, packed, diag);
    }
    return status;
}

static mc_status import(const char *directory, const description *d, const mc_packed *packed, mc_vsparse *a,
                        mc_diag *diag) {
    mc_diag *inner = mc_diag_create();
    mc_status status = formats[d->form.name].import(d, packed, a, inner);
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
    if (status == MC_OK && mc_type_is_real(d.type) && !formats[d.form.name].floats)
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
