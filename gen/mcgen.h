/* libmcgen: a Lua kernel spec becomes PTX. Needs no GPU and no CUDA toolkit.
 *
 *   mc_spec *spec;                                    one spec file: a family, its fields, its tuning space
 *   mc_kernel *kernel;                                one variant of it, generated
 *   mc_spec_read("specs/spmm_l8r8.lua", NULL, 0, &spec, diag);
 *   mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag);
 *   fputs(mc_kernel_ptx(kernel), stdout);
 *
 * Objects belong to the caller and are freed by their destroy function; strings that a function returns live
 * as long as the object asked. Nothing is shared between objects: different objects may be used from
 * different threads. */
#ifndef MCGEN_H
#define MCGEN_H

#include <stdbool.h>
#include <stdint.h>
#include "mc_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MC_VERSION "0.1.0"

/* The value of a shape (m, n, k, ldb, ldc) that the spec leaves to the launch. */
#define MC_OPEN ((int64_t)-1)

/* -- Specs -------------------------------------------------------------------------------------------- */

typedef struct mc_spec mc_spec;

/* One --set: it overrides what the spec file says of FIELD. VALUE is as on the command line: "64", "on",
   "open", "sm_90", or a list of values, "32,64". */
typedef struct mc_setting {
    const char *field, *value;
} mc_setting;

/* Reads the spec at PATH, or the shipped one of that name (mc_builtin_spec_find), applies SETTINGS in order,
   validates. On MC_USAGE, DIAG holds every error found,
   each as "file:line: field: what is wrong"; MC_IO when the file cannot be read. The script runs sandboxed:
   at most 16 MB and about a second of its thread's time. */
MC_API mc_status mc_spec_read(const char *path, const mc_setting *settings, size_t setting_count,
                              mc_spec **spec, mc_diag *diag);
/* The same for a GPU of CAPABILITY (90 for 9.0). Where neither the file nor SETTINGS name an arch, it is the
   newest that runs on that GPU, so that the kernel takes what the GPU has. CAPABILITY 0: as mc_spec_read. */
MC_API mc_status mc_spec_read_for(const char *path, const mc_setting *settings, size_t setting_count,
                                  int capability, mc_spec **spec, mc_diag *diag);
/* mc_spec_read from SIZE bytes of TEXT; NAME stands for the path in messages and in the PTX header. */
MC_API mc_status mc_spec_read_text(const char *name, const char *text, size_t size,
                                   const mc_setting *settings, size_t setting_count, mc_spec **spec,
                                   mc_diag *diag);
/* Both: from TEXT, for a GPU of CAPABILITY. */
MC_API mc_status mc_spec_read_text_for(const char *name, const char *text, size_t size,
                                       const mc_setting *settings, size_t setting_count, int capability,
                                       mc_spec **spec, mc_diag *diag);
MC_API void mc_spec_destroy(mc_spec *spec);

/* The tuning space: every combination of the values of the spec's lists that the family accepts, in the order
   of the fields of the schema, the last field fastest. At least one. */
MC_API size_t mc_spec_variant_count(const mc_spec *spec);
/* The variant made of every list's first value, or variant 0 where that one is not legal. */
MC_API size_t mc_spec_default(const mc_spec *spec);
/* 64-bit content hash: equal fields and generator version give an equal hash, whatever the index. */
MC_API uint64_t mc_spec_variant_hash(const mc_spec *spec, size_t variant);
/* TEXT is an index ("17") or a hash as --list-variants prints it (16 hex digits). MC_USAGE where there is
 * none. */
MC_API mc_status mc_spec_find_variant(const mc_spec *spec, const char *text, size_t *variant, mc_diag *diag);
/* "vec=8 stride=32 ..." of one variant; with all = false only the fields that the spec leaves to tuning. The
   caller frees. NULL: out of memory. */
MC_API char *mc_spec_variant_text(const mc_spec *spec, size_t variant, bool all);

/* -- Kernels ------------------------------------------------------------------------------------------ */

typedef struct mc_kernel mc_kernel;

typedef enum mc_param_kind {
    MC_PARAM_ARRAY,
    MC_PARAM_SHAPE,
    MC_PARAM_SCALAR,
    MC_PARAM_TENSOR_MAP,
    MC_PARAM_PASS
} mc_param_kind;

/* One parameter of the entry, in order. An array is a u64 device address, a shape an s32, a scalar an f32, a
   tensor map MC_TENSOR_MAP_BYTES by value; a pass is an s32 that counts the contract's passes from 0. */
typedef struct mc_param {
    const char *name; /* arrays: as in mc_array; "b", "c", "scale", "bias"; shapes: "m", "n", "ldb", "ldc" */
    const char *type; /* "u64", "s32", "f32" or "b8[128]" */
    mc_param_kind kind;
    unsigned
        /* of an array, the multiple of bytes that its address must be; of a tensor map, that of the parameter
           itself */
        align;
    const char *doc;
} mc_param;

/* One axis of the grid: ceil(shape `dim` / per_cta) thread blocks, or, where dim is NULL, per_cta (0: 1). */
typedef struct mc_grid_axis {
    const char *dim;
    int64_t per_cta;
} mc_grid_axis;

/* One packed array that the kernel reads: what `mcrun pack` writes. */
typedef struct mc_array {
    const char *name, *type, *extent, *doc;
} mc_array;

/* A parameter of kind MC_PARAM_TENSOR_MAP: MC_TENSOR_MAP_BYTES by value, which cuTensorMapEncodeTiled fills
   in at launch.

   The tensor is ARRAY, whose address is a multiple of MC_TENSOR_MAP_ALIGN bytes; the field `type` says what
   its elements are. The map has two dimensions, of unsigned integers of element_bytes: shape `rows` x shape
   `cols`, with shape `ld` elements from row to row; cols and ld are divided by per_byte. A copy takes a box
   of box_rows x box_cols elements, swizzled in `swizzle` bytes. What lies outside of the tensor is zero.

   With a `stride` it has a third dimension, the products of a batch: as many as shape `batch`, with shape
   `stride` elements from one to the next, which are divided by per_byte. Where that is 0 there is one, and
   its stride does not matter. A box has one of them. */
typedef struct mc_map_param {
    const char *param, *array, *type;
    const char *rows, *cols, *ld;
    unsigned box_rows, box_cols, swizzle;
    unsigned element_bytes; /* 1, 2 or 4 */
    /* elements of ARRAY in a byte, 1 or 2; cols is divided by it and rounded up, ld is divided by it */
    unsigned per_byte;
    const char *stride; /* NULL: the map has two dimensions */
} mc_map_param;

/* What a shape must be at launch. */
typedef struct mc_constraint {
    const char *shape; /* "ldb" */
    unsigned multiple; /* a multiple of this; 0: any will do */
    int64_t limit;     /* at most this; 0: any s32 will do */
    const char *why;   /* of the limit: a sentence's end, behind "at most 131071: " */
} mc_constraint;

/* How large sums of products can get, whatever values of their types A and B hold. */
typedef struct mc_sums {
    const char *lhs, *rhs;   /* A's and B's types */
    bool exact;              /* sums are in s64; else modulo 2^32 */
    int64_t largest_product; /* of a product, in magnitude */
    int64_t bound;           /* products that a sum may have before it can leave s32 */
    const char *products;    /* what there are as many of as of products: "vectors a row", "products" */
    /* the k that the spec fixes, and MC_OPEN if it fixes none: a sum has at most as many products */
    int64_t k;
} mc_sums;

enum {
    MC_MAX_PARAMS = 24,
    MC_MAX_ARRAYS = 8,
    MC_MAX_MAPS = 4,
    MC_MAX_CONSTRAINTS = 12,
    MC_TENSOR_MAP_BYTES = 128,
    MC_TENSOR_MAP_ALIGN = 16
};

#define MC_WORKSPACE "workspace" /* name of the array that a contract's workspace is of */

/* Everything that launching needs. A plain struct: the same facts stand in the PTX header and in --describe
 * --json. */
typedef struct mc_contract {
    const char *family; /* "spmm" */
    const char *format; /* name of the packed format: "strided-bcrs"; NULL: the kernel reads none */
    const char *entry;  /* name of the .entry */
    const char *target; /* "sm_80" */
    int ptx_version;    /* 70 for 7.0 */
    mc_param params[MC_MAX_PARAMS];
    size_t param_count;
    mc_array arrays[MC_MAX_ARRAYS];
    size_t array_count;
    mc_grid_axis grid[3];
    /* Where its dim is not NULL, grid[0] counts rows of tiles, and the grid has that times as many thread
       blocks along x: all tiles of a matrix, one after another */
    mc_grid_axis columns;
    unsigned block[3];
    unsigned cluster[3]; /* thread blocks of a cluster along each axis, which the PTX declares; 0: none */
    unsigned shared_static, shared_dynamic; /* bytes; the static part is declared in the PTX */
    /* Launches that make one execution, one after another in the stream, each with the whole grid; 0: one */
    unsigned passes;
    /* Bytes of the array `workspace`, in a batch for each product. The kernel writes it before it reads it,
       and nothing else may use it until the last pass has ended. 0: there is none */
    unsigned workspace;
    /* Where its dim is not NULL, as of the format panels: so many bytes for each piece of the packed matrix,
       a thread block that shares a panel with others (items with pieces, over the warps of a thread block,
       which are grid[0].per_cta), times ceil(shape `dim` / per_cta) */
    mc_grid_axis workspace_each;
    /* So many bytes at its beginning are flags, which the kernel does read before it writes them. They may
       hold anything at first but the mark that stands for a set flag, which no other thing is
       (gen/parts/stream.h), and a launch leaves all of them clear. So there is nothing to clear */
    unsigned flags;
    mc_map_param maps[MC_MAX_MAPS];
    size_t map_count;
    mc_constraint constraints[MC_MAX_CONSTRAINTS]; /* of a shape there is one at most */
    size_t constraint_count;
    mc_sums sums;
    /* The kernel may be launched while the one before it in the stream still runs (programmatic stream
       serialization). Until that one has finished it touches A's packed arrays alone, which nothing in the
       stream may be writing. */
    bool overlap;
    /* the packed array that the kernel reads only after that one has finished, which may still write it;
       NULL: none */
    const char *awaited;
    /* Where k is at most turn_k, the grid may be any smaller along axis turn_axis (0: x, 1: y). Thread blocks
       then take row blocks, or items, in turn. Best is as many thread blocks as the GPU holds at once,
       blocks_per_sm a multiprocessor. */
    int64_t turn_k;
    int turn_axis;
    unsigned
        /* thread blocks that a multiprocessor of the target holds at once, by registers, threads and shared
           memory; later GPUs may hold fewer */
        blocks_per_sm;
    /* Not 0: work is dealt out evenly to as many thread blocks as the GPU holds at once, even if that is more
       than the grid's extent has, and to at most so many */
    int turn_most;
} mc_contract;

MC_API mc_status mc_kernel_generate(const mc_spec *spec, size_t variant, mc_kernel **kernel, mc_diag *diag);
MC_API void mc_kernel_destroy(mc_kernel *kernel);
/* NUL-terminated PTX, the same bytes for the same spec, fields and generator version. */
MC_API const char *mc_kernel_ptx(const mc_kernel *kernel);
MC_API const mc_contract *mc_kernel_contract(const mc_kernel *kernel);
/* What CONTRACT says of SHAPE; where it says nothing, a constraint without multiple and limit. */
MC_API mc_constraint mc_contract_of_shape(const mc_contract *contract, const char *shape);
/* A field's value in this variant: an integer, 1 or 0 for on or off, a shape (MC_OPEN where it is open), or
   an index, which only mc_kernel_field_text explains. -2: there is no such field. */
MC_API int64_t mc_kernel_field(const mc_kernel *kernel, const char *field);
/* A field's value as text ("s8", "direct", "sm_80"). NULL: there is no such field. */
MC_API const char *mc_kernel_field_text(const mc_kernel *kernel, const char *field);
/* What --describe prints; the caller frees. NULL: out of memory. */
MC_API char *mc_kernel_describe(const mc_kernel *kernel, bool json);

/* -- Kernels without their spec ------------------------------------------------------------------------ */

/* 16 hex digits, a hash of the generator's sources: equal ids make equal PTX of equal fields. */
MC_API const char *mc_generator_id(void);
/* All fields of KERNEL as mc_spec_variant_text gives them with all = true: "op=spmm arch=sm_90 ...". */
MC_API const char *mc_kernel_fields(const mc_kernel *kernel);
MC_API uint64_t mc_kernel_hash(const mc_kernel *kernel); /* as mc_spec_variant_hash */
/* Generates the kernel that has FIELDS; fields that are not named have their defaults. MC_USAGE for fields
   that no kernel has. */
MC_API mc_status mc_kernel_from_fields(const char *fields, mc_kernel **kernel, mc_diag *diag);
/* What the kernel would be, without generating it: as mc_kernel_generate and mc_kernel_from_fields make it,
   but for its PTX, PTX version, registers and blocks_per_sm. In microseconds it tells whether there is such a
   kernel, and, by its contract, whether it takes a problem. */
MC_API mc_status mc_kernel_outline(const mc_spec *spec, size_t variant, mc_kernel **kernel, mc_diag *diag);
MC_API mc_status mc_kernel_outline_fields(const char *fields, mc_kernel **kernel, mc_diag *diag);
/* The architecture ("sm_90") that kernels for a GPU of CAPABILITY are made for: the newest that runs there.
   NULL: none does. */
MC_API const char *mc_arch_for(int capability);
/* Whether kernels of ARCH are made for a GPU of CAPABILITY: it is mc_arch_for's, or one whose kernels run on
   GPUs of this capability alone ("sm_90a" on 9.0). True where there is no architecture for the GPU. */
MC_API bool mc_arch_suits(const char *arch, int capability);
/* KERNEL as text, without its PTX; the caller frees. NULL: out of memory. mc_kernel_restore makes a kernel of
   it without generating, which is like KERNEL but that its mc_kernel_ptx is NULL. MC_FORMAT for what this
   version of the generator has not saved. */
MC_API char *mc_kernel_save(const mc_kernel *kernel);
MC_API mc_status mc_kernel_restore(const char *text, mc_kernel **kernel, mc_diag *diag);

/* The specs that the library ships, by file name; NULL at the end. */
typedef struct mc_builtin_spec {
    const char *name, *text;
} mc_builtin_spec;
MC_API const mc_builtin_spec *mc_builtin_specs(void);
/* The shipped spec that NAME stands for where specs are named: "spmm_l8r8" is that of specs/spmm_l8r8.lua,
   whatever files there are. *SPEC is NULL for a path, which has a '/' or a '.', and for "-".
   MC_USAGE where NAME is no path and no spec has it. */
MC_API mc_status mc_builtin_spec_find(const char *name, const mc_builtin_spec **spec, mc_diag *diag);

/* -- Estimates ---------------------------------------------------------------------------------------- */

/* How the rows of a matrix without vectors share columns. A panel is so many neighbouring rows, from a
   multiple of that number on; its active columns are those in which any of its rows has a nonzero, and 32 of
   them are a stride of a kernel with `panel`. */
enum { MC_PANEL_HEIGHTS = 5, MC_PANEL_FORMS = 2, MC_PANEL_CLASSES = 8 };
typedef struct mc_panel_strides {
    int64_t strides, longest; /* of all panels together; of the one that has most */
    int64_t
        panels[MC_PANEL_CLASSES]; /* those with at most 1, 2, 4, 8, 16, 32 and 64 strides; and with more */
} mc_panel_strides;
typedef struct mc_row_panels {
    /* Active columns of all panels of 8, 16, 32, 64 and 128 rows together. All 0: they were not counted */
    int64_t columns[MC_PANEL_HEIGHTS];
    mc_panel_strides of[MC_PANEL_FORMS]; /* of panels of 8 and of 16 rows */
} mc_row_panels;

/* What decides how long a kernel takes: the product's sizes, and how nonzero vectors lie in the row blocks of
   the matrix, an SpMM's A or an SDDMM's mask. */
typedef struct mc_problem {
    int64_t m, n, k, ldb;
    int64_t vectors; /* nonzero vectors */
    int64_t longest; /* vectors of the longest row block */
    double spread;   /* standard deviation of the row blocks' numbers of vectors */
    int64_t batch;   /* products of a launch; 0: one */
    bool cold;       /* operands are not in the L2 cache */
    /* Of a matrix whose vectors are single nonzeros. Where it was not counted, estimates take all rows for
       alike, and each nonzero of a panel for a column of its own */
    mc_row_panels panels;
    /* Of such a matrix, too: the columns of any 32 neighbouring rows, counted from the first to the last one,
       are at most so many. Those of some 64 rows are as many. 0: it was not counted */
    int64_t span;
} mc_problem;

/* A GPU as estimates see it. Rates are a multiprocessor's, in bytes or instructions a microsecond. */
typedef struct mc_gpu {
    const char *name; /* of the GPU that was measured, as the driver says it */
    int index;        /* of its costs in the operators' tables */
    int capability;   /* 90 for 9.0 */
    int multiprocessors;
    unsigned threads, registers, shared_bytes; /* of a multiprocessor */
    double l1_bytes;                           /* bytes of L1 that are left for caching */
    double l1_rate;                            /* of rows gathered out of L1 */
    double store_rate;                         /* of stores to L2 */
    double shared_rate, mma_rate;              /* of rows read by ldmatrix; of m16n8k32 of s8 */
    /* Of the family that is asked about, in the order of mc_costs_of; NULL: those that mcgen has for the
       GPU. */
    const double *costs;
} mc_gpu;

/* Of each GPU that was measured one row, COUNT of them. */
MC_API const mc_gpu *mc_gpu_list(size_t *count);
/* What is known of the GPU NAME (NULL: any) of CAPABILITY, or else of the nearest one, whose name then is
   another. A copy with other numbers does as well. */
MC_API const mc_gpu *mc_gpu_find(const char *name, int capability);

/* What a family's model adds to rates: microseconds, or parts and factors, which `mcbench fit` fits to
   measured times (docs/choice.md). */
typedef struct mc_cost {
    const char *name, *doc;
} mc_cost;

/* The costs of FAMILY ("spmm"), COUNT of them; VALUES receives GPU's, in the same order. NULL: the family has
   no model. */
MC_API const mc_cost *mc_costs_of(const char *family, const mc_gpu *gpu, const double **values,
                                  size_t *count);
/* Microseconds that the kernel of VARIANT should take on PROBLEM, launched again and again, with B in L2.
   Nothing is generated or measured. INFINITY where the kernel cannot run the problem, or where its family has
   no model. It is made for comparing variants; docs/choice.md says how far it is off. */
MC_API double mc_spec_estimate(const mc_spec *spec, size_t variant, const mc_gpu *gpu,
                               const mc_problem *problem);
/* The same of KERNEL, which may be an outline. */
MC_API double mc_kernel_estimate(const mc_kernel *kernel, const mc_gpu *gpu, const mc_problem *problem);
/* The same of KERNEL as it is behind some other kernel, which does not begin early: of the kernel without
   `overlap`, or of KERNEL itself where there is none. */
MC_API double mc_kernel_estimate_alone(const mc_kernel *kernel, const mc_gpu *gpu, const mc_problem *problem);
/* The least estimate of all variants, and whose it is. */
MC_API double mc_spec_pick(const mc_spec *spec, const mc_gpu *gpu, const mc_problem *problem,
                           size_t *variant);

/* -- Help --------------------------------------------------------------------------------------------- */

/* Text of --help FAMILY from the schema table, or the list of families for NULL; the caller frees. NULL: no
   such family, or out of memory. */
MC_API char *mc_family_help(const char *family);

#ifdef __cplusplus
}
#endif

#endif
