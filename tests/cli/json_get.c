/* json_get FILE PATH: prints the value at PATH ("0.shape.m", "" for the size of the whole) of a JSON file;
   exit 1 where the file is no JSON or has no such value. What the command line tests read --json output with.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *find(const json_t *value, char *path) {
    char *rest = path;
    for (char *key; value != NULL && (key = strsep(&rest, ".")) != NULL && *key != '\0';)
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                     : json_object_get(value, key);
    return value;
}

static void print(const json_t *value) {
    if (json_is_string(value)) printf("%s\n", json_string_value(value));
    else if (json_is_integer(value)) printf("%lld\n", (long long)json_integer_value(value));
    else if (json_is_real(value)) printf("%.4f\n", json_real_value(value));
    else printf("%zu\n", json_is_array(value) ? json_array_size(value) : json_object_size(value));
}

int main(int argc, char **argv) {
    json_error_t error;
    json_t *root = argc == 3 ? json_load_file(argv[1], 0, &error) : NULL;
    const json_t *value = root != NULL ? find(root, argv[2]) : NULL;
    if (value == NULL) printf("%s\n", root == NULL && argc == 3 ? error.text : "no such value");
    else print(value);
    int status = value == NULL;
    json_decref(root);
    return status;
}
