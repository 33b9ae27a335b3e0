/* A kernel's contract and a problem's numbers become a launch. */
#include <string.h>
#include "problem/bind.h"
#include "ops/operator.h"
#include "parts/clusters.h"

enum { NO_FIELD = -2 };

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": largest grid, x y z. */
static const int64_t grid_limits[3] = {INT32_MAX, 65535, 65535};

typedef struct binding_list {
    const mc_binding *items;
    size_t count;
} binding_list;

static mc_status find(const binding_list *bindings, const char *name, int64_t *value, mc_diag *diag) {
    for (size_t i = 0; i < bindings->count; i++)
        if (strcmp(bindings->items[i].name, name) == 0) {
            *value = bindings->items[i].value;
            return MC_OK;
        }
    return mc_fail(diag, MC_CANNOT, "%s is not bound", name);
}

static mc_status check_s32(const char *name, int64_t value, mc_diag *diag) {
    if (value >= 0 && value <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %lld: the kernel's shapes are s32, at most %lld", name,
                   (long long)value, (long long)INT32_MAX);
}

/* Those that the kernel has as fields must be bound. */
static mc_status check_shape(const mc_kernel *kernel, const char *name, const binding_list *bindings,
                             mc_diag *diag) {
    int64_t fixed = mc_kernel_field(kernel, name), value = 0;
    if (fixed == NO_FIELD) return MC_OK;
    mc_status status = find(bindings, name, &value, diag);
    if (status == MC_OK) status = check_s32(name, value, diag);
    if (status == MC_OK && fixed != MC_OPEN && fixed != value)
        return mc_fail(diag, MC_CANNOT, "%s is fixed at %lld in this kernel, the problem has %lld", name,
                       (long long)fixed, (long long)value);
    return status;
}

/* A field's value that is a word, as a problem has it; 0 where the kernel has no such field. */
static int64_t word_of(const mc_kernel *kernel, problem_member member) {
    const member_row *row = &problem_members[member];
    const char *text = row->field != NULL ? mc_kernel_field_text(kernel, row->field) : NULL;
    int64_t value = 0;
    if (text != NULL) (void)word_value(row->field_words, text, &value);
    return value;
}

/* Whether KERNEL has no such operand. */
static bool is_left_out(const mc_kernel *kernel, const operand_row *operand) {
    return !operand_is_there_with(operand, word_of(kernel, operand->only_if));
}

/* Whether LD is the leading dimension of an operand that KERNEL has not. */
static bool lacks_ld(const mc_kernel *kernel, problem_member ld) {
    const mc_operator *o = operator_named(mc_kernel_contract(kernel)->family);
    for (size_t i = 0; o != NULL && i < o->operand_count; i++)
        if (o->operands[i].ld == ld && is_left_out(kernel, &o->operands[i])) return true;
    return false;
}

static mc_status check_even(const mc_kernel *kernel, const operand_row *operand, int64_t ld, mc_diag *diag) {
    mc_type type = (mc_type)word_of(kernel, operand->type);
    if (ld % 2 == 0 || mc_type_bytes(type) != 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %lld, must be even: two elements of %s share a byte",
                   problem_members[operand->ld].name, (long long)ld, mc_type_text(type));
}

/* Whether KERNEL has OPERAND stored by columns. */
static bool is_turned(const mc_kernel *kernel, const operand_row *operand) {
    if (operand->by_layout) return word_of(kernel, MEMBER_layout) == MC_LAYOUT_COLUMNS;
    return operand->major != NO_MEMBER && word_of(kernel, operand->major) == MC_MAJOR_COLUMN;
}

/* Rows of OPERAND, as it is stored, fit their leading dimension. */
static mc_status check_leading(const mc_kernel *kernel, const operand_row *operand,
                               const binding_list *bindings, mc_diag *diag) {
    bool columns = is_turned(kernel, operand);
    const char *name = problem_members[operand->ld].name,
               *row = problem_members[columns ? operand->rows : operand->cols].name;
    int64_t length = 0, value = 0;
    mc_status status = find(bindings, row, &length, diag);
    if (status == MC_OK) status = find(bindings, name, &value, diag);
    if (status == MC_OK && value < length)
        return mc_fail(diag, MC_CANNOT, "%s is %lld, less than the row length %s of %lld", name,
                       (long long)value, row, (long long)length);
    return status == MC_OK ? check_even(kernel, operand, value, diag) : status;
}

static mc_status check_leadings(const mc_kernel *kernel, const binding_list *bindings, mc_diag *diag) {
    const mc_operator *o = operator_named(mc_kernel_contract(kernel)->family);
    mc_status status = MC_OK;
    for (size_t i = 0; o != NULL && i < o->operand_count && status == MC_OK; i++)
        if (o->operands[i].ld != NO_MEMBER && !is_left_out(kernel, &o->operands[i]))
            status = check_leading(kernel, &o->operands[i], bindings, diag);
    return status;
}

static mc_status check_k(const mc_kernel *kernel, const binding_list *bindings, mc_diag *diag) {
    const mc_operator *o = operator_named(mc_kernel_contract(kernel)->family);
    int64_t k = 0;
    if (o == NULL || !o->some_k) return MC_OK;
    mc_status status = find(bindings, "k", &k, diag);
    return status == MC_OK ? operator_check_k(o, k, diag) : status;
}

mc_status mc_bind_check_limit(const mc_constraint *c, int64_t value, mc_diag *diag) {
    if (c->limit == 0 || value <= c->limit) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %lld, the kernel takes at most %lld: %s", c->shape,
                   (long long)value, (long long)c->limit, c->why);
}

/* What the contract says of a shape. */
static mc_status check_constraint(const mc_constraint *c, const binding_list *bindings, mc_diag *diag) {
    int64_t value = 0;
    mc_status status = find(bindings, c->shape, &value, diag);
    if (status == MC_OK) status = mc_bind_check_limit(c, value, diag);
    if (status != MC_OK || !c->multiple || value % c->multiple == 0) return status;
    return mc_fail(diag, MC_CANNOT, "%s is %lld, not a multiple of the %u that the kernel's copies need",
                   c->shape, (long long)value, c->multiple);
}

static mc_status check_constraints(const mc_contract *c, const binding_list *bindings, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < c->constraint_count && status == MC_OK; i++)
        status = check_constraint(&c->constraints[i], bindings, diag);
    return status;
}

/* A kernel of V x 1 vectors works on whole row blocks. */
static mc_status check_rows(const mc_kernel *kernel, const binding_list *bindings, mc_diag *diag) {
    int64_t m = 0, vec = mc_kernel_field(kernel, "vec");
    mc_status status = find(bindings, "m", &m, diag);
    if (status != MC_OK || vec < 1 || m % vec == 0) return status;
    return mc_fail(diag, MC_CANNOT, "m is %lld, not a multiple of the kernel's vec of %lld", (long long)m,
                   (long long)vec);
}

static mc_status check_shapes(const mc_kernel *kernel, const binding_list *bindings, mc_diag *diag) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    mc_status status = MC_OK;
    for (problem_member i = FIRST_MEMBER; i < MEMBERS && status == MC_OK; i++)
        if (problem_members[i].setting == SETTING_SHAPE && !lacks_ld(kernel, i))
            status = check_shape(kernel, problem_members[i].field, bindings, diag);
    if (status == MC_OK) status = check_rows(kernel, bindings, diag);
    if (status == MC_OK) status = check_leadings(kernel, bindings, diag);
    if (status == MC_OK) status = check_k(kernel, bindings, diag);
    return status == MC_OK ? check_constraints(contract, bindings, diag) : status;
}

/* Packed arrays must be bound even where the entry takes none of them as a parameter. */
static mc_status check_arrays(const mc_contract *contract, const binding_list *bindings, mc_diag *diag) {
    int64_t address;
    mc_status status = MC_OK;
    for (size_t i = 0; i < contract->array_count && status == MC_OK; i++)
        status = find(bindings, contract->arrays[i].name, &address, diag);
    return status;
}

static int64_t pieces_of(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

size_t mc_workspace_bytes(const mc_kernel *kernel, const mc_packed *packed, int64_t n, int64_t batch) {
    const mc_contract *c = mc_kernel_contract(kernel);
    int64_t pieces = 1;
    if (c->workspace_each.dim != NULL)
        pieces = (packed != NULL ? packed->pieces : 0) * pieces_of(n, c->workspace_each.per_cta);
    return (size_t)c->workspace * (size_t)pieces * (size_t)(batch > 1 ? batch : 1);
}

mc_binding mc_bind_f32(const char *name, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (mc_binding){name, bits};
}

static mc_status bind_param(const mc_param *param, const binding_list *bindings, uint64_t *slot,
                            mc_diag *diag) {
    int64_t value = 0;
    *slot = 0;
    if (param->kind == MC_PARAM_PASS) return MC_OK;
    mc_status status = find(bindings, param->name, &value, diag);
    if (status != MC_OK) return status;
    if (param->kind == MC_PARAM_ARRAY && param->align > 1 && (uint64_t)value % param->align != 0)
        return mc_fail(diag, MC_CANNOT, "%s lies at 0x%llx, which is not a multiple of the %u bytes it needs",
                       param->name, (unsigned long long)value, param->align);
    *slot = (uint64_t)value;
    return param->kind == MC_PARAM_SHAPE ? check_s32(param->name, value, diag) : MC_OK;
}

static mc_status bind_params(const mc_contract *contract, const binding_list *bindings, mc_launch *launch,
                             mc_diag *diag) {
    mc_status status = MC_OK;
    launch->count = contract->param_count;
    for (size_t i = 0; i < contract->param_count && status == MC_OK; i++) {
        status = bind_param(&contract->params[i], bindings, &launch->values[i], diag);
        if (status == MC_OK && contract->params[i].kind == MC_PARAM_TENSOR_MAP)
            launch->maps[i] = (const mc_tensor_map *)(uintptr_t)launch->values[i];
        if (contract->params[i].kind == MC_PARAM_PASS) launch->pass = i;
    }
    launch->passes = contract->passes;
    launch->overlap = contract->overlap;
    return status;
}

/* COUNT is multiplied by how many pieces AXIS has. */
static mc_status count_pieces(const mc_grid_axis *axis, const binding_list *bindings, int64_t *count,
                              mc_diag *diag) {
    int64_t extent = 0;
    mc_status status = find(bindings, axis->dim, &extent, diag);
    if (status != MC_OK) return status;
    *count *= extent / axis->per_cta + (extent % axis->per_cta != 0);
    return *count > 0 ? MC_OK : mc_fail(diag, MC_CANNOT, "the grid is empty: %s is 0", axis->dim);
}

/* ANY: fewer thread blocks do as well. */
static mc_status check_limit(const mc_grid_axis *axis, const binding_list *bindings, int64_t limit, bool any,
                             int64_t *count, mc_diag *diag) {
    int64_t extent = 0;
    if (*count <= limit) return MC_OK;
    if (any) *count = limit;
    if (any) return MC_OK;
    find(bindings, axis->dim, &extent, NULL);
    return mc_fail(diag, MC_CANNOT, "%s = %lld wants %lld blocks along an axis of at most %lld", axis->dim,
                   (long long)extent, (long long)*count, (long long)limit);
}

/* Kernels whose tiles are one axis of the grid count them in s32. Those that take several of them go beyond
   the last one by as many as run at once. */
static mc_status check_tiles(const mc_grid_axis *rows, const mc_grid_axis *columns, int64_t count,
                             mc_diag *diag) {
    enum { MOST_TILES = 1 << 30 };
    if (count <= MOST_TILES) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s and %s want %lld tiles of C: at most %d", rows->dim, columns->dim,
                   (long long)count, MOST_TILES);
}

/* COLUMNS: of tiles, whose rows AXIS has; NULL: AXIS has all. */
static mc_status bind_axis(const mc_grid_axis *axis, const mc_grid_axis *columns, int64_t limit, bool any,
                           const binding_list *bindings, unsigned *blocks, mc_diag *diag) {
    int64_t count = 1;
    *blocks = axis->per_cta > 0 ? (unsigned)axis->per_cta : 1;
    if (axis->dim == NULL) return MC_OK;
    mc_status status = count_pieces(axis, bindings, &count, diag);
    if (status == MC_OK && columns != NULL) status = count_pieces(columns, bindings, &count, diag);
    if (status == MC_OK && columns != NULL) status = check_tiles(axis, columns, count, diag);
    if (status == MC_OK) status = check_limit(axis, bindings, limit, any, &count, diag);
    if (status == MC_OK) *blocks = (unsigned)count;
    return status;
}

/* Thread blocks along turn_axis may be fewer. */
static bool takes_turns(const mc_contract *contract, const binding_list *bindings) {
    int64_t k = 0;
    return contract->turn_k != 0 && find(bindings, "k", &k, NULL) == MC_OK && k <= contract->turn_k;
}

static int cluster_members(const mc_contract *contract) {
    return (int)(contract->cluster[0] * contract->cluster[1] * contract->cluster[2]);
}

/* How many turns a thread block takes of the BLOCKS of each of PRODUCTS, where HELD thread blocks run at
   once. */
static int64_t turns_of(int64_t blocks, int64_t products, int64_t held) {
    int64_t each = held / products;
    return pieces_of(blocks, each > 0 ? each : 1);
}

/* The same of tiles, of which each brings its own operands, so that it does not matter which thread block has
   it. Of many products' thread blocks some may wait until others have ended: what all take is counted in
   tiles, and in halves of one for each time that thread blocks begin. */
static int64_t turns_of_tiles(int64_t tiles, int64_t products, int64_t held) {
    enum { TRIES = 16 };
    int64_t first = pieces_of(products, held), best = tiles, least = INT64_MAX;
    for (int64_t waves = first; waves < first + TRIES; waves++) {
        int64_t turns = turns_of(tiles, products, waves * held), halves = waves * (2 * turns + 1);
        if (halves < least) least = halves, best = turns;
    }
    return best;
}

/* As many thread blocks as the GPU holds at once, with equal numbers of turns where they take whole ones. */
static void take_turns(const mc_contract *contract, const binding_list *bindings, mc_launch *launch) {
    int axis = contract->turn_axis;
    int64_t multiprocessors = 0, blocks = launch->grid[axis], products = launch->grid[2];
    if (find(bindings, "multiprocessors", &multiprocessors, NULL) != MC_OK || multiprocessors < 1) return;
    int64_t held = cluster_room(cluster_members(contract), multiprocessors) * contract->blocks_per_sm /
                   launch->grid[1 - axis];
    if (held < 1) held = 1;
    if (contract->turn_most > 0) {
        launch->grid[axis] = (unsigned)(held < contract->turn_most ? held : contract->turn_most);
        return;
    }
    int64_t turns =
        contract->columns.dim ? turns_of_tiles(blocks, products, held) : turns_of(blocks, products, held);
    launch->grid[axis] = (unsigned)pieces_of(blocks, turns);
}

static mc_status bind_grid(const mc_contract *contract, const binding_list *bindings, mc_launch *launch,
                           mc_diag *diag) {
    bool turns = takes_turns(contract, bindings);
    mc_status status = MC_OK;
    for (int i = 0; i < 3 && status == MC_OK; i++) {
        bool any = turns && i == contract->turn_axis;
        int64_t limit = any && contract->turn_most > 0 ? contract->turn_most : grid_limits[i];
        status = bind_axis(&contract->grid[i], i == 0 && contract->columns.dim ? &contract->columns : NULL,
                           limit, any, bindings, &launch->grid[i], diag);
    }
    if (status == MC_OK && turns) take_turns(contract, bindings, launch);
    memcpy(launch->block, contract->block, sizeof launch->block);
    launch->shared_dynamic = contract->shared_dynamic;
    return status;
}

mc_status mc_bind(const mc_kernel *kernel, const mc_binding *bindings, size_t count, mc_launch *launch,
                  mc_diag *diag) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    const binding_list list = {bindings, count};
    *launch = (mc_launch){0};
    mc_status status = check_shapes(kernel, &list, diag);
    if (status == MC_OK) status = check_arrays(contract, &list, diag);
    if (status == MC_OK) status = bind_params(contract, &list, launch, diag);
    if (status == MC_OK) status = bind_grid(contract, &list, launch, diag);
    if (status != MC_OK) *launch = (mc_launch){0};
    return status;
}

/* -- Tensor maps */

static mc_status describe_tensor(const mc_map_param *map, const binding_list *bindings, mc_type type,
                                 mc_tensor *tensor, mc_diag *diag) {
    static const mc_swizzle swizzles[] = {MC_SWIZZLE_NONE, MC_SWIZZLE_32B,
                                          MC_SWIZZLE_64B, [4] = MC_SWIZZLE_128B};
    int64_t address = 0, rows = 0, cols = 0, ld = 0;
    mc_status status = find(bindings, map->array, &address, diag);
    if (status == MC_OK) status = find(bindings, map->rows, &rows, diag);
    if (status == MC_OK) status = find(bindings, map->cols, &cols, diag);
    if (status == MC_OK) status = find(bindings, map->ld, &ld, diag);
    if (status != MC_OK) return status;
    if ((uint64_t)address % MC_TENSOR_MAP_ALIGN != 0)
        return mc_fail(
            diag, MC_CANNOT,
            "%s lies at 0x%llx, which is not a multiple of the %d bytes that the kernel's copies need",
            map->array, (unsigned long long)address, MC_TENSOR_MAP_ALIGN);
    int64_t per_byte = map->per_byte > 1 ? map->per_byte : 1, element = mc_type_size(type, 1);
    int64_t unit = MC_TENSOR_MAP_ALIGN * per_byte / element;
    if (ld % unit != 0)
        return mc_fail(diag, MC_CANNOT,
                       "%s is %lld, not a multiple of the %lld that the kernel's copies need", map->ld,
                       (long long)ld, (long long)unit);
    *tensor =
        (mc_tensor){.type = per_byte > 1 ? MC_U8 : type,
                    .rank = 2,
                    .address = (uint64_t)address,
                    .dims = {(uint64_t)((cols + per_byte - 1) / per_byte), rows > 0 ? (uint64_t)rows : 1},
                    .strides = {(uint64_t)(ld / per_byte * element)},
                    .box = {map->box_cols, map->box_rows},
                    .swizzle = swizzles[map->swizzle / 32]};
    return MC_OK;
}

/* The third dimension, of a batch's products. Where these share one there is no stride, and the map gets one
   as if another product lay behind. */
static mc_status add_products(const mc_map_param *map, const binding_list *bindings, mc_tensor *tensor,
                              mc_diag *diag) {
    int64_t stride = 0, products = 1;
    mc_status status = find(bindings, map->stride, &stride, diag);
    if (status == MC_OK && stride > 0) status = find(bindings, "batch", &products, diag);
    if (status != MC_OK) return status;
    const int64_t per_byte = map->per_byte > 1 ? map->per_byte : 1,
                  bytes = stride / per_byte * mc_type_size(tensor->type, 1);
    if (stride % per_byte != 0 || bytes % MC_TENSOR_MAP_ALIGN != 0)
        return mc_fail(diag, MC_CANNOT,
                       "%s is %lld: the kernel's copies need products at multiples of %d bytes", map->stride,
                       (long long)stride, MC_TENSOR_MAP_ALIGN);
    tensor->rank = 3;
    tensor->dims[2] = (uint64_t)products;
    tensor->strides[1] = stride > 0 ? (uint64_t)bytes : tensor->dims[1] * tensor->strides[0];
    tensor->box[2] = 1;
    return MC_OK;
}

mc_status mc_bind_tensor(const mc_kernel *kernel, size_t index, const mc_binding *bindings, size_t count,
                         mc_tensor *tensor, mc_diag *diag) {
    const mc_map_param *wanted = &mc_kernel_contract(kernel)->maps[index];
    const binding_list list = {bindings, count};
    mc_type type;
    *tensor = (mc_tensor){0};
    mc_status status = mc_type_of(kernel, wanted->type, &type, diag);
    if (status == MC_OK) status = check_k(kernel, &list, diag);
    if (status == MC_OK) status = describe_tensor(wanted, &list, type, tensor, diag);
    return status == MC_OK && wanted->stride != NULL ? add_products(wanted, &list, tensor, diag) : status;
}

mc_status mc_bind_maps(mc_device *device, const mc_kernel *kernel, mc_binding *bindings, size_t *count,
                       mc_tensor_map maps[MC_MAX_MAPS], mc_diag *diag) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    mc_status status = MC_OK;
    for (size_t i = 0; i < contract->map_count && status == MC_OK; i++) {
        mc_tensor tensor;
        status = mc_bind_tensor(kernel, i, bindings, *count, &tensor, diag);
        if (status == MC_OK) status = mc_device_tensor_map(device, &tensor, &maps[i], diag);
        if (status == MC_OK)
            bindings[(*count)++] = (mc_binding){contract->maps[i].param, (int64_t)(uintptr_t)&maps[i]};
    }
    return status;
}
