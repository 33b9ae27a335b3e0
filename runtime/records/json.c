/* Values of record lines as JSON, and back. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "records/text.h"

/* -- Writing */

/* printf's decimal point is the locale's, of one byte or more: JSON's is a dot. */
static void add_with_dot(mc_text *text, const char *number) {
    size_t before = strspn(number, "-0123456789e+");
    text_add(text, "%.*s", (int)before, number);
    number += before;
    if (*number == '\0') return;
    text_add(text, ".%s", number + strcspn(number, "0123456789"));
}

void json_add_real(mc_text *text, double value) {
    enum { MOST_DIGITS = 17 };
    char number[40] = "0";
    if (isfinite(value))
        for (int digits = 1; digits <= MOST_DIGITS; digits++) {
            snprintf(number, sizeof number, "%.*g", digits, value);
            if (strtod(number, NULL) == value) break;
        }
    add_with_dot(text, number);
}

/* NULL: no memory, or no UTF-8. */
static char *quoted(const char *string) {
    json_t *value = json_string(string);
    char *text = value != NULL ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    return text;
}

void json_add_string(mc_text *text, const char *string) {
    char *whole = quoted(string), *plain = whole == NULL ? strdup(string) : NULL;
    if (plain != NULL) {
        for (char *c = plain; *c != '\0'; c++)
            if ((unsigned char)*c >= 0x80) *c = '?';
        whole = quoted(plain);
        free(plain);
    }
    if (whole != NULL) text_put(text, whole);
    else text->failed = true;
    free(whole);
}

/* -- Reading */

/* Jansson puts the locale's decimal point in the place of the dot, and asserts that it is of one byte. */
json_t *json_read(const char *text, size_t size, json_error_t *error) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, error);
    (void)uselocale(before);
    if (plain != (locale_t)0) freelocale(plain);
    return value;
}

static mc_status take(const json_t *object, const char *name, json_t **value, mc_diag *diag) {
    *value = json_object_get(object, name);
    return *value != NULL ? MC_OK : mc_fail(diag, MC_FORMAT, "%s is missing", name);
}

mc_status json_take_integer(const json_t *object, const char *name, int64_t least, int64_t most,
                            int64_t *value, mc_diag *diag) {
    json_t *member;
    mc_status status = take(object, name, &member, diag);
    if (status != MC_OK) return status;
    *value = json_integer_value(member);
    if (json_is_integer(member) && *value >= least && *value <= most) return MC_OK;
    return mc_fail(diag, MC_FORMAT, "%s is not a whole number from %" PRId64 " to %" PRId64, name, least,
                   most);
}

mc_status json_take_real(const json_t *object, const char *name, double *value, mc_diag *diag) {
    json_t *member;
    mc_status status = take(object, name, &member, diag);
    if (status != MC_OK) return status;
    *value = json_number_value(member);
    if (json_is_number(member) && isfinite(*value) && *value >= 0) return MC_OK;
    return mc_fail(diag, MC_FORMAT, "%s is not a number from 0 on", name);
}

mc_status json_take_string(const json_t *object, const char *name, const char **value, mc_diag *diag) {
    json_t *member;
    mc_status status = take(object, name, &member, diag);
    if (status != MC_OK) return status;
    *value = json_string_value(member);
    return *value != NULL ? MC_OK : mc_fail(diag, MC_FORMAT, "%s is not a text", name);
}
