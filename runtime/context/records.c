/* What mcrt.h offers of records. */
#include "context/context.h"
#include "records/record.h"

static mc_status check_call(const mc_context *context, const char *path, mc_diag *diag) {
    mc_status status = check_handle(context, "context", diag);
    return status == MC_OK ? check_handle(path, "path", diag) : status;
}

mc_status mc_records_import(mc_context *context, const char *path, size_t *count, mc_diag *diag) {
    if (count != NULL) *count = 0;
    mc_status status = check_call(context, path, diag);
    return status == MC_OK ? record_import(context->records, path, count, diag) : status;
}

mc_status mc_records_export(mc_context *context, const char *path, size_t *count, mc_diag *diag) {
    if (count != NULL) *count = 0;
    mc_status status = check_call(context, path, diag);
    return status == MC_OK ? record_export(context->records, path, 0, count, diag) : status;
}
