/* CSR that stays where it is in device memory: kernels that read it as it comes have a first product without
   a conversion. Settling it makes a second matrix behind the first one, of copies, which plans then get. */
#include <inttypes.h>
#include "context/matrix.h"
#include "context/matrix_make.h"
#include "context/matrix_segments.h"
#include "formats/csr.h"
#include "matrix/vsparse.h"

#define BORROW_FIRST STRUCT_SIZE_TO(mc_csr_config, values)

/* -- Borrowing ---------------------------------------------------------------------------------------- */

static mc_status check_nonzeros(const mc_csr_config *config, mc_diag *diag) {
    const int64_t most = config->rows * config->cols; /* both fit 31 bits */
    if (config->nonzeros < 0 || config->nonzeros > INT32_MAX || config->nonzeros > most)
        return mc_fail(diag, MC_USAGE,
                       "nonzeros is %" PRId64 ", must be 0 to %" PRId64
                       ": as many as there are elements, and as s32 counts",
                       config->nonzeros, most < INT32_MAX ? most : INT32_MAX);
    if (config->nonzeros == 0) return MC_OK;
    if (config->col_idx == 0) return mc_fail(diag, MC_USAGE, "col_idx is 0");
    return config->values != 0 ? MC_OK : mc_fail(diag, MC_USAGE, "values is 0");
}

static mc_status check_config(const mc_csr_config *config, mc_diag *diag) {
    mc_status status = matrix_check_shape(config->type, 1, config->rows, config->cols, diag);
    if (status != MC_OK) return status;
    if (config->type != MC_F32 && config->type != MC_F16 && config->type != MC_BF16)
        return mc_fail(diag, MC_CANNOT,
                       "type is %s: kernels that read CSR as it comes take f32, f16 and bf16",
                       mc_type_text(config->type));
    status = check_nonzeros(config, diag);
    if (status == MC_OK && config->row_ptr == 0) status = mc_fail(diag, MC_USAGE, "row_ptr is 0");
    if (status == MC_OK) status = matrix_check_address("row_ptr", config->row_ptr, MC_S32, diag);
    if (status == MC_OK) status = matrix_check_address("col_idx", config->col_idx, MC_S32, diag);
    if (status == MC_OK) status = matrix_check_address("values", config->values, config->type, diag);
    return status;
}

/* Nobody has looked at the rows. For estimates they are alike but for one that is so many times as long, as
   in graphs: a kernel whose thread blocks have few lanes for it would be slow. */
enum { LONGER = 64 };

static mc_status outline(const mc_csr_config *config, mc_vsparse *host, mc_diag *diag) {
    mc_status status =
        mcrt_vsparse_outline(config->type, 1, config->rows, config->cols, config->nonzeros, host, diag);
    if (status != MC_OK || config->rows == 0) return status;
    const int64_t others = config->rows > 1 ? config->rows - 1 : 1;
    int64_t longest = LONGER * (config->nonzeros / config->rows);
    if (longest > config->cols) longest = config->cols;
    if (config->rows == 1 || longest > config->nonzeros) longest = config->nonzeros / config->rows;
    for (int64_t i = 1; i <= config->rows; i++)
        host->row_ptr[i] = longest + (config->nonzeros - longest) * (i - 1) / others;
    return status;
}

static mc_status borrow(mc_context *context, const mc_csr_config *config, mc_matrix **matrix, mc_diag *diag) {
    mc_vsparse host;
    mc_status status = outline(config, &host, diag);
    if (status == MC_OK) status = matrix_new(context, &host, matrix, diag);
    if (status != MC_OK) return status;
    (*matrix)->has_columns = false;
    (*matrix)->borrowed = (borrowed_csr){config->row_ptr, config->col_idx, config->values};
    return MC_OK;
}

mc_status mc_matrix_borrow(mc_context *context, const mc_csr_config *config, mc_matrix **matrix,
                           mc_diag *diag) {
    mc_csr_config whole;
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    *matrix = NULL;
    mc_status status = check_handle(context, "context", diag);
    if (status == MC_OK)
        status = take_struct(&whole, sizeof whole, config, BORROW_FIRST, "mc_csr_config", diag);
    if (status == MC_OK) status = check_config(&whole, diag);
    return status == MC_OK ? borrow(context, &whole, matrix, diag) : status;
}

bool matrix_is_borrowed(const mc_matrix *matrix) { return matrix != NULL && matrix->borrowed.row_ptr != 0; }

mc_status matrix_refuse_borrowed(const mc_matrix *matrix, mc_diag *diag) {
    if (!matrix_is_borrowed(matrix)) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "the matrix borrows its arrays, and nobody has looked at them: mc_matrix_settle does");
}

/* -- What kernels read -------------------------------------------------------------------------------- */

static void lend(matrix_packing *packing, const char *name, mc_type type, int64_t count, mc_address address) {
    packing->arrays[packing->host.array_count] = address;
    packing->host.arrays[packing->host.array_count++] = (mc_packed_array){name, type, count, NULL};
}

mc_status matrix_lend(const mc_matrix *matrix, const mc_kernel *kernel, matrix_packing *packing,
                      mc_diag *diag) {
    const mc_vsparse *host = &matrix->host;
    const borrowed_csr *from = &matrix->borrowed;
    if (kernel == NULL || !csr_reads_as_it_comes(kernel)) return matrix_refuse_borrowed(matrix, diag);
    mc_status status = mc_pack_fits(kernel, host, diag);
    if (status != MC_OK) return status;
    /* Without nonzeros two arrays may be nowhere, and neither is read: an address stands for them. */
    const bool any = host->vectors > 0;
    packing->borrowed = true;
    lend(packing, "row_ptr", MC_S32, host->rows + 1, from->row_ptr);
    lend(packing, "col_idx", MC_S32, host->vectors, any ? from->col_idx : from->row_ptr);
    lend(packing, "values", host->type, host->vectors, any ? from->values : from->row_ptr);
    return MC_OK;
}

/* -- Settling ----------------------------------------------------------------------------------------- */

mc_matrix *matrix_now(mc_matrix *matrix) {
    mc_matrix *settled = matrix != NULL ? atomic_load_explicit(&matrix->settled, memory_order_acquire) : NULL;
    return settled != NULL ? settled : matrix;
}

/* Before anything is read that row_ptr says is there. */
static mc_status check_end(const device_work *work, const mc_matrix *borrowed, mc_diag *diag) {
    const mc_vsparse *host = &borrowed->host;
    int32_t end = 0;
    mc_status status = mc_device_read_on(work->context->device,
                                         borrowed->borrowed.row_ptr + (uint64_t)host->rows * sizeof end, &end,
                                         sizeof end, work->stream, diag);
    if (status != MC_OK || end == host->vectors) return status;
    return mc_fail(diag, MC_FORMAT, "row_ptr[%" PRId64 "] is %" PRId32 ", nonzeros %" PRId64, host->rows, end,
                   host->vectors);
}

static mc_status make_settled(device_work *work, const void *data, mc_matrix **matrix, mc_diag *diag) {
    const mc_matrix *borrowed = data;
    const mc_device_matrix_config config = {.size = sizeof config,
                                            .type = borrowed->host.type,
                                            .vec = 1,
                                            .rows = borrowed->host.rows,
                                            .cols = borrowed->host.cols,
                                            .row_ptr = borrowed->borrowed.row_ptr,
                                            .col_idx = borrowed->borrowed.col_idx,
                                            .values = borrowed->borrowed.values};
    mc_status status = check_end(work, borrowed, diag);
    return status == MC_OK ? matrix_make_bcrs(work, &config, matrix, diag) : status;
}

/* Of two threads that settle at once the later one's is not wanted. */
mc_status mc_matrix_settle(mc_matrix *matrix, void *stream, mc_diag *diag) {
    mc_matrix *made = NULL, *before = NULL;
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    if (!matrix_is_borrowed(matrix_now(matrix))) return MC_OK;
    mc_status status = matrix_on_stream(matrix->context, make_settled, matrix, stream, &made, diag);
    if (status == MC_OK && !atomic_compare_exchange_strong(&matrix->settled, &before, made))
        mc_matrix_destroy(made);
    return status;
}
