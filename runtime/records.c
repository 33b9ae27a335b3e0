/* What mcrt.h offers of records. */
#include "context.h"
#include "record.h"

mc_status mc_records_import(mc_context *context, const char *path, size_t *count, mc_diag *diag) {
    if (count != NULL) *count = 0;
    if (context == NULL || path == NULL)
        return check_handle(NULL, context == NULL ? "context" : "path", diag);
    return record_import(context->records, path, count, diag);
}

mc_status mc_records_export(mc_context *context, const char *path, size_t *count, mc_diag *diag) {
    if (count != NULL) *count = 0;
    if (context == NULL || path == NULL)
        return check_handle(NULL, context == NULL ? "context" : "path", diag);
    return record_export(context->records, path, 0, count, diag);
}
