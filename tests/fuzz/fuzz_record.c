/* Any bytes as a line of records: refused with a reason, or a record whose line says the same when it is read again. */
#include <stdlib.h>
#include <string.h>
#include "mcrt_internal.h"
#include "records/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const record *r) {
    char *line = record_print(r);
    if (line == NULL || strchr(line, '\n') != NULL) abort();
    return line;
}

/* Not byte for byte what was read: a line may have its members in another order, and more of them. */
static void check_again(const record *r, mc_diag *diag) {
    record again;
    char *line = print(r);
    if (record_parse(line, strlen(line), &again, diag) != MC_OK) abort();
    char *second = print(&again);
    if (strcmp(line, second) != 0) abort();
    record_free(&again);
    free(second);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    record r;
    mc_diag *diag = mc_diag_create();
    mc_status status = record_parse((const char *)data, size, &r, diag);
    if ((status != MC_OK) != (mc_diag_count(diag) > 0)) abort();
    if (status == MC_OK) {
        check_again(&r, diag);
        record_free(&r);
    }
    mc_diag_destroy(diag);
    return 0;
}
