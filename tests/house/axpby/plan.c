/* An axpby by the C interface: a plan, and executions whose operands are members of mc_args or named in its list. */
#include <stdio.h>
#include "mcrt.h"

enum { ROWS = 3, COLUMNS = 40 };

static int8_t a[ROWS][COLUMNS], b[ROWS][COLUMNS];
static int32_t c[ROWS][COLUMNS];

static int wrong(void) {
    int count = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) count += c[i][j] != 2 * a[i][j] - b[i][j];
    return count;
}

static mc_address upload(mc_context *context, const void *data, size_t bytes, mc_status *status,
                         mc_diag *diag) {
    mc_address address = 0;
    if (*status == MC_OK) *status = mc_memory_create(context, bytes, &address, diag);
    if (*status == MC_OK) *status = mc_memory_write(context, address, data, bytes, diag);
    return address;
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    mc_context *context = NULL;
    mc_plan *plan = NULL;
    int bad = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) a[0][i] = (int8_t)(7 * i), b[0][i] = (int8_t)(11 * i + 3);
    mc_status status = mc_context_create(
        &(mc_context_config){.size = sizeof(mc_context_config), .device = "sim", .records = ""}, &context,
        diag);
    const mc_plan_config problem = {.size = sizeof problem,
                                    .op = MC_OP_AXPBY,
                                    .a = MC_S8,
                                    .b = MC_S8,
                                    .c = MC_S32,
                                    .m = ROWS,
                                    .n = COLUMNS};
    if (status == MC_OK) status = mc_plan_create(context, &problem, &plan, diag);
    mc_address at = upload(context, a, sizeof a, &status, diag),
               bt = upload(context, b, sizeof b, &status, diag),
               ct = upload(context, c, sizeof c, &status, diag);
    const mc_argument list[] = {{.name = "b", .address = bt}, {.name = "a", .address = at}};
    const mc_args args[] = {{.size = sizeof *args, .a = at, .b = bt, .c = ct},
                            {.size = sizeof *args, .b = 1, .c = ct, .list = list, .list_count = 2}};
    for (int i = 0; i < 2 && status == MC_OK; i++) {
        if (status == MC_OK) status = mc_execute(plan, &args[i], 0, NULL, diag);
        if (status == MC_OK) status = mc_memory_read(context, ct, c, sizeof c, diag);
        bad += wrong();
        for (int j = 0; j < ROWS * COLUMNS; j++) c[0][j] = 1 << 20;
        if (status == MC_OK) status = mc_memory_write(context, ct, c, sizeof c, diag);
    }
    if (status != MC_OK) fprintf(stderr, "%s: %s\n", mc_status_text(status), mc_diag_text(diag));
    else printf("planned and executed, %d wrong\n", bad);
    return status != MC_OK || bad > 0;
}
