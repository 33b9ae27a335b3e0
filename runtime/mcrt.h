/* libmcrt: hand over a sparse matrix and shapes, get the fastest verified kernel for this GPU,
 * and never wait for it twice.
 *
 *   mc_context *context;  a device, its loaded kernels, the cache on disk, the records of tuning
 *   mc_matrix *matrix;    a sparse matrix: structure and values
 *   mc_plan *plan;        one problem (operator, matrix, shapes, output), and the kernel for it, loaded, its
 *                         matrix packed
 *
 *   mc_context_create(&(mc_context_config){.size = sizeof(mc_context_config)}, &context, diag);
 *   mc_matrix_create(context, &(mc_matrix_config){...}, &matrix, diag);
 *   mc_plan_create(context, &(mc_plan_config){...}, &plan, diag);
 *   mc_execute(plan, &(mc_args){...}, 0, stream, diag);
 *
 * examples/embed.c is a whole program, docs/runtime.md the manual.
 *
 * Errors: every function that can fail returns a status and puts messages into DIAG, which may be NULL
 * (mc_status.h). On failure an output handle is NULL; who passes that on is told MC_USAGE.
 * Structs: each begins with its size; set it with sizeof. Members that a later version adds are then those
 * that are zero, and zero always means the usual. A size that no version has is MC_USAGE.
 * Ownership: a handle belongs to who created it. A plan keeps its matrix's packed arrays and its kernel for
 * as long as it lives; the matrix itself may be destroyed before the plan. The context is destroyed last.
 * Destroying NULL does nothing.
 * Threads: a context, and everything made with it, may be used from several threads at once, but for: a
 * handle that is being destroyed, and mc_matrix_set_values and mc_matrix_set_device_values, which no
 * execution of that matrix may overlap in time on another stream.
 * CUDA: the calling thread's current context is as it was when a call returns. The driver is found at run
 * time; without one, or with device "sim", a simulator runs the same kernels, slowly. Only mc_execute and
 * mc_matrix_set_device_values may be captured; while other threads capture, all else may be called, but for
 * what waits for the default stream: mc_memory_write, mc_memory_read and tuning, beside streams that wait for
 * it too (those created without CU_STREAM_NON_BLOCKING). */
#ifndef MCRT_H
#define MCRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mc_element.h"
#include "mc_optimise.h"
#include "mc_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- Vocabulary --------------------------------------------------------------------------------------- */

/* X(name, text, bits of the value, bytes in memory, type in .npy files). Types of elements. Those of 12 bits
   lie in 16, extended. Two of 4 bits share a byte, which 0 bytes stand for: the one of the lower index in its
   low half. */
#define MC_TYPE_LIST(X) MC_ELEMENT_LIST(MC_ELEMENT_TYPE, X)

typedef enum mc_type {
#define X(name, text, bits, bytes, descr) MC_##name,
    MC_TYPE_LIST(X)
#undef X
} mc_type;

/* How the B of an SDDMM (k x n) lies in memory. COLUMNS: a column's k elements one after another, ldb
   elements from column to column. ROWS: row-major. */
typedef enum mc_layout { MC_LAYOUT_COLUMNS, MC_LAYOUT_ROWS } mc_layout;

/* How the B, the C and the residual of an SpMM lie in memory. ROW: row-major, n elements beside one another.
   COLUMN: column-major, the elements of a column (a token), k of B and m of C, beside one another, ldb or ldc
   elements from column to column. */
typedef enum mc_major { MC_MAJOR_ROW, MC_MAJOR_COLUMN } mc_major;

/* The order of the vectors in the C of an SDDMM; the number is the slots of a stride.
   As an array without gaps C is
     BCRS      vectors x vec: a vector's elements one after another
     SR-BCRS   strides * vec x S: each row block has its vectors in slots, the last of its strides of S slots
               filled up with zeros, and a stride's elements lie [vec][S]: slot s, counted over the whole
               matrix, and row r at s / S * vec * S + r * S + s % S */
typedef enum mc_order { MC_ORDER_BCRS = 0, MC_ORDER_SRBCRS16 = 16, MC_ORDER_SRBCRS32 = 32 } mc_order;

/* The exponential of a softmax. POLYNOMIAL: the same bits on every GPU. APPROX: the GPU's ex2.approx, within
   a bound, for half the instructions (docs/softmax.md). */
typedef enum mc_exp { MC_EXP_POLYNOMIAL, MC_EXP_APPROX } mc_exp;

/* How a product's floats are added up (docs/gemm.md). FAST: as the GPU's tensor cores do. PROMOTED, of floats
   of 8 bits: each 128 products likewise, and their sums in f32. F16, of f16: in f16. */
typedef enum mc_sum_mode { MC_SUMS_FAST, MC_SUMS_PROMOTED, MC_SUMS_F16 } mc_sum_mode;

/* What there is one scale or bias for. TENSOR: all of C, passed by value; else an f32 array on the device. */
typedef enum mc_per { MC_PER_NONE, MC_PER_TENSOR, MC_PER_ROW, MC_PER_COLUMN } mc_per;

/* What is done to a scaled element of C before it is rounded to C's type. RELU: the greater of it and 0
   (docs/output.md). */
typedef enum mc_activation {
    MC_ACTIVATION_NONE,
    MC_ACTIVATION_RELU,
    MC_ACTIVATION_SILU,
    MC_ACTIVATION_GELU,
    MC_ACTIVATION_GELU_TANH
} mc_activation;

/* The element type of a residual, as mc_type has it. */
typedef enum mc_residual {
    MC_RESIDUAL_NONE,
    MC_RESIDUAL_F16 = MC_F16,
    MC_RESIDUAL_BF16 = MC_BF16,
    MC_RESIDUAL_F32 = MC_F32
} mc_residual;

/* A stride in a batch: all products have the same operand. */
#define MC_SHARED ((int64_t)-1)

/* An address on the device: a CUdeviceptr, or a pointer from the CUDA runtime cast to an integer. */
typedef uint64_t mc_address;

/* -- Contexts ----------------------------------------------------------------------------------------- */

/* A device, the kernels loaded there, and where compiled kernels and records of tuning are kept. */
typedef struct mc_context mc_context;

/* The cache of compiled kernels (docs/cache.md). ENVIRONMENT: what MCGEN_CACHE says (rw, ro, mem or off),
   else READ_WRITE. MEMORY: for this process alone. */
typedef enum mc_cache_mode {
    MC_CACHE_ENVIRONMENT,
    MC_CACHE_READ_WRITE,
    MC_CACHE_READ_ONLY,
    MC_CACHE_MEMORY,
    MC_CACHE_OFF
} mc_cache_mode;

/* Which kernel a plan gets (docs/tuning.md). REPLAY: the recorded one, else that of a recorded problem near
   it, else the one that the model thinks fastest, else a spec's default. OFF: without records. TUNE: a
   problem that has no record is tuned first, which takes seconds, and the record is kept. ENVIRONMENT: what
   MCGEN_TUNING says (off, replay or tune), else REPLAY. */
typedef enum mc_tuning { MC_TUNING_ENVIRONMENT, MC_TUNING_REPLAY, MC_TUNING_OFF, MC_TUNING_TUNE } mc_tuning;

/* NOTE: something that costs time but no result (a cache that cannot be written), told once.
   DETAIL: what was done and how long it took. */
typedef enum mc_log_level { MC_LOG_NOTE, MC_LOG_DETAIL } mc_log_level;

/* What a context is made of; strings are copied. */
typedef struct mc_context_config {
    size_t size;
    const char *device; /* "cuda:I", "sim", or "auto" (NULL too): cuda:0 where there is a GPU, else sim */
    void *cuda_context; /* a CUcontext of that device to work in; NULL: its primary context */
    mc_cache_mode cache;
    const char *cache_directory; /* NULL: MCGEN_CACHE_DIR, else $XDG_CACHE_HOME/mcgen, else ~/.cache/mcgen */
    uint64_t cache_bytes;        /* at most; 0: MCGEN_CACHE_MAX, else 512 MiB */
    uint64_t cache_files;        /* at most; 0: 10,000 */
    mc_tuning tuning;
    /* File of records that tuning appends to, read together with those that the library ships.
       NULL: MCGEN_RECORDS, else $XDG_DATA_HOME/mcgen/records.jsonl, else
       ~/.local/share/mcgen/records.jsonl. "": no file */
    const char *records;
    /* Messages, a line each, without newline. May be called from several threads. NULL: none, or those that
       MCGEN_LOG asks for (note or detail), on standard error */
    void (*log)(void *user, mc_log_level level, const char *message);
    void *log_user;
    /* Memory on the device for what the library keeps there. NULL: the driver's. allocate gives 0 where
       there is none, else a multiple of 256, of memory that no work on any stream uses any more. It may come
       from mc_memory_create of this context, and on the simulator from nowhere else */
    mc_address (*allocate)(void *user, size_t bytes);
    void (*release)(void *user, mc_address address);
    void *memory_user;
} mc_context_config;

/* CONFIG may be NULL, which is all zeros. MC_CANNOT where there is no such device, or no driver for it. */
MC_API mc_status mc_context_create(const mc_context_config *config, mc_context **context, mc_diag *diag);
MC_API void mc_context_destroy(mc_context *context);

typedef struct mc_context_info {
    size_t size;
    const char *device;          /* "NVIDIA H200", "PTX simulator" */
    const char *driver;          /* build, as "580.95.05" */
    int capability;              /* 90 for 9.0; 0: the simulator */
    const char *cache_directory; /* NULL: there is none */
    const char *records;         /* NULL: there is none */
    /* Since the context was created */
    uint64_t kernels_loaded, kernels_compiled, kernels_from_cache;
} mc_context_info;

/* Fills INFO, whose size is set. Strings live as long as the context. */
MC_API mc_status mc_context_get_info(mc_context *context, mc_context_info *info, mc_diag *diag);

/* Memory on CONTEXT's device, from its driver, for programs that want none of CUDA's headers;
   on a GPU any other is as good. */
MC_API mc_status mc_memory_create(mc_context *context, size_t bytes, mc_address *address, mc_diag *diag);
MC_API void mc_memory_destroy(mc_context *context, mc_address address);
/* Copies BYTES there or back, and waits until it is done. */
MC_API mc_status mc_memory_write(mc_context *context, mc_address address, const void *data, size_t bytes,
                                 mc_diag *diag);
MC_API mc_status mc_memory_read(mc_context *context, mc_address address, void *data, size_t bytes,
                                mc_diag *diag);
/* Waits for all that was put on STREAM (a CUstream; NULL: the default one). */
MC_API mc_status mc_synchronize(mc_context *context, void *stream, mc_diag *diag);

/* -- Matrices ----------------------------------------------------------------------------------------- */

/* A matrix of VEC x 1 nonzero vectors: row blocks of VEC rows, each with the columns where it has vectors. */
typedef struct mc_matrix mc_matrix;

/* BCRS (column-vector encoding). Everything is copied. */
typedef struct mc_matrix_config {
    size_t size;
    mc_type type;           /* of the values; f32 for a mask whose values count, else anything */
    int vec;                /* V: 1, 2, 4, 8 or 16 */
    int64_t rows, cols;     /* rows: a multiple of vec */
    const int32_t *row_ptr; /* [rows / vec + 1]: where each row block's vectors begin; the first is 0 */
    const int32_t *col_idx; /* [row_ptr[rows / vec]]: ascending inside a row block */
    const void *values;     /* a vector's VEC elements one after another; NULL: zeros */
    /* A batch with a pattern for each product: rows / patterns rows of the matrix belong to each pattern,
       whose columns are counted from 0 to cols - 1. The matrix then has its patterns along the diagonal, and
       patterns * cols columns. Operands of its products lie one behind the other, without gaps; a B of an
       SDDMM in rows has them side by side. 0: one */
    int64_t patterns;
    /* For MC_OP_GEMM24, of vectors of one element: each row has vectors in at most span - 2 of each span
       columns, counted from column 0, as 6 of 8; even, 4 to 64. Of 4 bits spans are of pairs. Plans multiply
       as if each four had at most two, and each execution makes a longer B first, in the workspace
       (docs/sparse24.md, "6:8 and others"). 0: each four columns have at most two */
    int span;
} mc_matrix_config;

/* MC_FORMAT, with the place, for what no matrix has, and for spans with more vectors than they may have. */
MC_API mc_status mc_matrix_create(mc_context *context, const mc_matrix_config *config, mc_matrix **matrix,
                                  mc_diag *diag);

/* A dense matrix in host memory, row-major. */
typedef struct mc_dense_config {
    size_t size;
    mc_type type;
    int vec;
    int64_t rows, cols; /* rows: a multiple of vec */
    int64_t ld;         /* elements from row to row; 0: cols */
    const void *data;
    int span; /* as mc_matrix_config has it */
} mc_dense_config;

/* The vectors of a dense matrix that are not all zero. */
MC_API mc_status mc_matrix_from_dense(mc_context *context, const mc_dense_config *config, mc_matrix **matrix,
                                      mc_diag *diag);

/* BCRS in device memory: mc_matrix_config's members, by their addresses. */
typedef struct mc_device_matrix_config {
    size_t size;
    mc_type type; /* of at most 32 bits */
    int vec;
    int64_t rows, cols;
    mc_address row_ptr, col_idx; /* of s32, at multiples of 4 */
    mc_address values;           /* at a multiple of an element's size; 0: zeros */
    int64_t patterns;
} mc_device_matrix_config;

/* mc_matrix_create without the way over the host: the matrix keeps pattern and values on the device, checked
   and copied there, and is packed there for formats that can be (docs/matrices.md). The work is put on
   STREAM and waited for. MC_FORMAT, with the first place, for what no matrix has; MC_CANNOT while STREAM is
   being captured. */
MC_API mc_status mc_matrix_from_device(mc_context *context, const mc_device_matrix_config *config,
                                       void *stream, mc_matrix **matrix, mc_diag *diag);

/* A dense matrix in device memory. */
typedef struct mc_device_dense_config {
    size_t size;
    mc_type type; /* of at most 32 bits */
    int vec;
    int64_t rows, cols; /* rows: a multiple of vec */
    mc_major major;
    int64_t ld;      /* elements from row to row, or from column to column; 0: without gaps */
    mc_address data; /* at a multiple of an element's size */
    /* Elements of u8 that lie as those of data do, mask_ld of them from row to row, or from column to column
       (0: without gaps): there is a vector where one of its elements is not 0. 0: where its values are not
       all zero */
    mc_address mask;
    int64_t mask_ld;
} mc_device_dense_config;

/* The vectors of a dense matrix that are not all zero, or those of a mask, as mc_matrix_from_device. */
MC_API mc_status mc_matrix_from_device_dense(mc_context *context, const mc_device_dense_config *config,
                                             void *stream, mc_matrix **matrix, mc_diag *diag);

/* CSR in device memory, read where it lies. */
typedef struct mc_csr_config {
    size_t size;
    mc_type type; /* f32, f16 or bf16 */
    int64_t rows, cols, nonzeros;
    mc_address row_ptr; /* s32[rows + 1], at a multiple of 4: from 0 to nonzeros, ascending */
    mc_address col_idx; /* s32[nonzeros], at a multiple of 4: less than cols, ascending inside a row */
    mc_address values;  /* [nonzeros], at a multiple of an element's size */
} mc_csr_config;

/* A matrix that reads the caller's arrays: nothing is copied, launched or waited for, and nothing is checked
   of what they hold, which a kernel trusts. Executions read what they hold by then, in the order of the
   stream. They stay the caller's, and stay where they are until the plans that read them are destroyed.
   Plans of it are of the SpMM. They take kernels that read CSR as it comes (docs/unstructured.md,
   "A first call without conversion"), which are chosen without records and tuning, and never a dense one.
   Until mc_matrix_settle has succeeded, other plans, mc_tune, mc_matrix_read and new values
   (mc_matrix_set_values, mc_matrix_set_device_values) are MC_CANNOT. */
MC_API mc_status mc_matrix_borrow(mc_context *context, const mc_csr_config *config, mc_matrix **matrix,
                                  mc_diag *diag);
/* Makes a borrowed MATRIX what mc_matrix_from_device makes of the same arrays, by work on STREAM, which is
   waited for: it is checked and copied, and plans that are made from then on take any kernel. Plans that
   there are go on as they were, with the same bits, and read the caller's arrays. Other threads may execute
   and make plans meanwhile, and settle MATRIX too; nobody may write the arrays. A matrix that is not
   borrowed, or is settled already, is left as it is.
   MC_FORMAT, with the first place, for what no matrix has, and MATRIX stays borrowed; MC_CANNOT while STREAM
   is being captured. */
MC_API mc_status mc_matrix_settle(mc_matrix *matrix, void *stream, mc_diag *diag);

MC_API void mc_matrix_destroy(mc_matrix *matrix);

typedef struct mc_matrix_info {
    size_t size;
    mc_type type;
    int vec;
    int64_t rows, cols, vectors;
    int64_t device_bytes; /* of all packed arrays; of one from device memory also of what it keeps */
    bool borrowed;        /* by mc_matrix_borrow, and not settled */
} mc_matrix_info;

/* Fills INFO, whose size is set. */
MC_API mc_status mc_matrix_get_info(const mc_matrix *matrix, mc_matrix_info *info, mc_diag *diag);

/* Writes the matrix, with its newest values, as mc_matrix_config has it, but for patterns, which are one:
   ROW_PTR [rows / vec + 1], COL_IDX [vectors], VALUES, vec elements a vector; any of them may be NULL.
   Streams that new values were put on must be done. */
MC_API mc_status mc_matrix_read(mc_matrix *matrix, int32_t *row_ptr, int32_t *col_idx, void *values,
                                mc_diag *diag);

/* New values for the same vectors, in BCRS order as mc_matrix_config has them: the packed arrays of all plans
   of MATRIX get them in place. The copies are put on STREAM; VALUES may be changed when the call returns.
   MC_CANNOT, and the values stay, where STREAM is being captured, or the kernel of a plan cannot take a value
   (docs/precisions.md: balanced digits). */
MC_API mc_status mc_matrix_set_values(mc_matrix *matrix, const void *values, void *stream, mc_diag *diag);

/* Where new values lie in device memory. VECTORS: in BCRS order, [vectors][vec]. ROWS, COLUMNS: in the dense
   matrix of rows x cols, row-major or column-major, of which only the nonzero vectors' elements are read; of
   several patterns it has all columns, those of the diagonal. */
typedef enum mc_values_from { MC_FROM_VECTORS, MC_FROM_ROWS, MC_FROM_COLUMNS } mc_values_from;

typedef struct mc_device_values {
    size_t size;
    mc_values_from from;
    mc_address address; /* of elements of the matrix's type, at a multiple of an element's size */
    int64_t ld;         /* ROWS, COLUMNS: elements from one to the next; 0: without gaps */
} mc_device_values;

/* The same from device memory, without a copy to the host: a launch for each kind of packed arrays, put on
   STREAM, which may be captured. It makes what it needs the first time it is called for a plan (kernels, maps
   of the packed arrays); then it allocates, compiles and reads nothing.
   The plans that MATRIX has now get the values. One that is made later takes them out of these plans' packed
   arrays; so does MATRIX when the last of these plans is destroyed. Either wants all that STREAM has to be
   done (mc_synchronize). A graph sets values for those plans that there were when it was captured.
   An integer that a kernel cannot take becomes the nearest one that it can (docs/values.md).
   MC_CANNOT where MATRIX has no plan with values yet, unless it was made from device memory: such a one has
   values of its own, which plans that are made later take. */
MC_API mc_status mc_matrix_set_device_values(mc_matrix *matrix, const mc_device_values *values, void *stream,
                                             mc_diag *diag);

/* -- 2:4 matrices ------------------------------------------------------------------------------------- */

/* How values and metadata of a 2:4 matrix lie in memory (docs/sparse24.md, "Layouts").
     PACKED     packed24, in the atoms of 64 rows that kernels of MC_OP_GEMM24 read (docs/formats.md)
     NATURAL    values and metadata row by row, as natural8, natural16 and natural32 have them
     SM80       values row by row; metadata in the atoms of CUTLASS 2 and PyTorch
     SM90       values row by row; metadata in those of CUTLASS 3, for a tile of 128 elements of k */
typedef enum mc_layout24 {
    MC_LAYOUT24_PACKED,
    MC_LAYOUT24_NATURAL,
    MC_LAYOUT24_SM80,
    MC_LAYOUT24_SM90,
} mc_layout24;

/* A dense matrix in device memory, row-major, and where it is to be compressed to. */
typedef struct mc_compress24_config {
    size_t size;
    /* f16, bf16, s8, u8, e4m3, e5m2: two of four are kept; f32, tf32, tf32rz: one of two; s4, u4: two of
       four pairs of neighbours. Two of 4 bits share a byte, the one of the lower column in the low half;
       where cols is odd, it does not matter what the last byte of a row has in its high half */
    mc_type type;
    int64_t rows, cols;
    int64_t ld;      /* elements from row to row, of 4 bits even; 0: rows without gaps */
    mc_address data; /* at a multiple of an element's size; rows at multiples of 16 bytes are read faster */
    mc_layout24 layout;
    /* Of a group with more nonzeros than may be kept those of greatest magnitude stay, of equal ones the
       earlier. Else it is an error */
    bool prune;
    /* Two arrays of the caller's, as large as mc_compress24_sizes says, at multiples of 16 bytes; they may
       not overlap data */
    mc_address values, meta;
} mc_compress24_config;

/* Bytes of a compressed matrix. */
typedef struct mc_compress24_size {
    size_t size;
    int64_t values, meta; /* the two arrays */
    /* From one row to the next, where values, or metadata, lie row by row, else 0. Rows are filled up: to
       whole 16 bytes of values, and as much of metadata */
    int64_t values_pitch, meta_pitch;
} mc_compress24_size;

/* Groups with more nonzeros than may be kept. */
typedef struct mc_compress24_report {
    size_t size;
    int64_t full;       /* how many there are */
    int64_t row, group; /* the first one, counted in its row; -1 where there is none, or with prune */
} mc_compress24_report;

/* The sizes of what mc_compress24 makes of CONFIG, of which addresses do not count. Needs no device.
   MC_CANNOT for a type that sparse tensor cores do not have, for MC_LAYOUT24_SM90 of s4 and u4, and for more
   than a launch takes. */
MC_API mc_status mc_compress24_sizes(const mc_compress24_config *config, mc_compress24_size *sizes,
                                     mc_diag *diag);
/* Compresses a dense matrix in device memory, in one pass over it. What is kept, and its codes, are those of
   `mcrun compress` (docs/sparse24.md) to the byte; what rows, values and metadata are filled up with is the
   same as there, zeros and the code 4. The work is put on STREAM and waited for. REPORT may be NULL. It is
   filled in also where the call fails with MC_FORMAT, since there are such groups and prune is not set: the
   message has their number and the place of the first, and both arrays hold anything. MC_CANNOT while STREAM
   is being captured. */
MC_API mc_status mc_compress24(mc_context *context, const mc_compress24_config *config, void *stream,
                               mc_compress24_report *report, mc_diag *diag);

/* -- Plans -------------------------------------------------------------------------------------------- */

/* One problem, and the kernel for it, ready to be launched. */
typedef struct mc_plan mc_plan;

/* SPMM:  C[m,n] = A[m,k] B[k,n], the matrix is A; B as b_major, C as c_major.
   SDDMM: C = A[m,k] B[k,n] where the matrix, a mask of m x n, has vectors; A row-major, B as b_layout, C as
          c_order says.
   QUANTISE: C = A[m,n] with other elements, turned round as b_layout says: integers round(A / scale), or
          back, reals A * scale; of one type and without scales A's elements (docs/quantise.md).
   OPTIMISE: C, a weight of m x n, and its states make a step by A, its gradient (docs/optimise.md).
   SOFTMAX: C = softmax(A) over the rows of the matrix, a mask of m x n; A, what an SDDMM writes, and C as
          c_order says (docs/softmax.md).
   SOFTMAX_GRAD: C = scale * A o (B - rowsum(A o B)) over the rows of the matrix: of what a softmax wrote, A,
          and its gradient, B, that of the softmax's A; all as c_order says (docs/softmax.md).
   SPMMT: C[k,n] = A^T B[m,n], the matrix is the pattern of A[m,k], whose values come with each execution in
          the order MC_ORDER_BCRS: an SpMM's backward pass (docs/transposed.md).
   GEMM:  C[m,n] = A[m,k] B[k,n], all dense, B as b_layout says (docs/gemm.md).
   GEMM24: the same, where the matrix is A, of vectors of one element, of which each four neighbours of a row
          have at most two (docs/gemm.md).
   SLIDE24: C = A[m,n], rows, with each of their spans of `span` elements as groups of four, which overlap by
          two: what plans of GEMM24 make of a B by columns for a matrix that has spans (docs/sparse24.md). */
typedef enum mc_op {
    MC_OP_SPMM,
    MC_OP_SDDMM,
    MC_OP_QUANTISE,
    MC_OP_SOFTMAX,
    MC_OP_SOFTMAX_GRAD,
    MC_OP_SPMMT,
    MC_OP_OPTIMISE,
    MC_OP_GEMM,
    MC_OP_GEMM24,
    MC_OP_SLIDE24,
} mc_op;

/* Whether a plan may compute its product with the matrix's zeros, by a dense kernel (docs/choice.md). NEVER:
   the usual; the matrix takes no more memory than its vectors do. IF_FASTER: never slower than dense. Where
   a dense kernel computes the same, reads and writes operands as they lie, and is faster by records, or by
   estimates where not both have one, the plan has that kernel, and the matrix with its zeros lies on the
   device. Executions are the same. Sums of floats are added up in another order, and an infinity or NaN of B
   meets zeros too: their products are NaN. (Kernels for matrices of vec = 1 may join neighbouring rows in any
   case, and do so likewise: docs/unstructured.md.) */
typedef enum mc_dense_policy { MC_DENSE_NEVER, MC_DENSE_IF_FASTER } mc_dense_policy;

/* FIXED: the kernel is made for exactly these shapes. OPEN: it takes any, where they change all the time;
   plans of other shapes have the same one, or another where that should be faster. */
typedef enum mc_shapes { MC_SHAPES_FIXED, MC_SHAPES_OPEN } mc_shapes;

/* A problem. Sizes that the matrix gives, and members that the operator has not, are 0. */
typedef struct mc_plan_config {
    size_t size;
    mc_op op;
    mc_matrix *matrix;
    mc_type a, b, c; /* element types; a: of an SDDMM, an SpMM takes the matrix's */
    int64_t n;       /* SpMM, spmmt: columns of B and C */
    int64_t k;       /* SDDMM: columns of A, rows of B */
    /* Leading dimensions in elements, those that the operator has;
       0: rows (of B by columns: columns) without gaps */
    int64_t lda, ldb, ldc;
    /* With a c of f16, bf16, f32, s8, u8 or, of an SpMM, s4 or u4 a scale is needed, and a bias by row or
       column may be (SpMM); docs/output.md says what is computed. Where a and b are floats, a c of f16, bf16
       or f32 needs no scale. A softmax multiplies a by its scale, one or none (docs/softmax.md) */
    mc_per scale, bias;
    mc_activation activation; /* SpMM, with such a c */
    bool exact;               /* SpMM: sums in 64 bits; c may be s64 */
    /* SDDMM, gemm, gemm24. A gemm's or gemm24's kernels read B of 8 bits by columns: where it lies by rows
       each execution launches a kernel first that writes its columns into the workspace */
    mc_layout b_layout;
    mc_order c_order; /* SDDMM; softmax and its gradient: of all operands */
    /* SDDMM, with such a c: C is multiplied by the mask's values, too; softmax: A has them added */
    bool mask_values;
    unsigned align; /* bytes that addresses passed to mc_execute are multiples of: 1, 4 or 16; 0: 16 */
    mc_shapes shapes;
    mc_tuning tuning; /* ENVIRONMENT: as the context */
    /* Kernel specs to choose from: paths, or names of shipped specs such as "spmm_l8r8" (MC_IO where one
       cannot be read, MC_USAGE where none has the name); 0: all those in the library */
    const char *const *specs;
    size_t spec_count;
    int64_t m; /* rows of the operands, of an operator without a matrix */
    /* Products of the matrix's pattern, or of a gemm's shape, that one execution computes; 0: one. Their
       operands begin strides apart, in elements. A stride of 0: they lie one behind the other, without gaps;
       MC_SHARED, of inputs: all products have the same one. Scales and biases are the same for all */
    int64_t batch;
    int64_t a_stride, b_stride, c_stride;
    /* SpMM of a matrix of 4, 8 or 16 bits, integers or floats: its values come with each execution, as the
       operand "values" of mc_args.list, in the order MC_ORDER_SRBCRS32: what an SDDMM or a softmax of the
       same pattern writes. The matrix's own do not count */
    bool given_values;
    int64_t values_stride;
    mc_per zero;   /* quantise: zero points, which go as scales do; SpMM with a c of 8 or 4 bits: one for C */
    bool computed; /* quantise: the kernel computes scales and zero points of its rows, and writes them */
    mc_per b_scale; /* SpMM: none or by column, a second scale, as a quantise gives it for tokens */
    /* SpMM with a c of 8 or 4 bits, softmax with integers: none or tensor, the scale of C's elements */
    mc_per c_scale;
    /* SpMM with a c that wants a scale: m x n elements that are added before the activation, which lie as C
       does, ldr elements from row to row (0: n), or from column to column, r_stride from product to product.
       Each execution brings them as the operand "residual" of mc_args.list; they may not overlap C, but with
       beta they may be C */
    mc_residual residual;
    int64_t ldr, r_stride;
    mc_major c_major; /* SpMM: how C and the residual lie; ldc and ldr are at least m where it is COLUMN */
    /* SpMM: how B lies; ldb is at least k where it is COLUMN. A plan of such a B takes a kernel that reads
       columns, or one that reads rows: then each execution launches two kernels, of which the first writes
       B's rows into the workspace, and the second multiplies these. It takes what should be faster */
    mc_major b_major;
    /* softmax: none, or by row: the operand "lse" of mc_args.list, f32, m for each product of a batch,
       receives the logarithms of the rows' sums of exponentials, -infinity of a row without vectors. Where
       the whole mask has none nothing is launched, and it is not written */
    mc_per lse;
    mc_exp exp; /* softmax */
    mc_rule rule;
    bool master; /* both optimise; master: the step is done on a copy of C in f32 */
    /* gemm: how A lies; lda is at least m where it is COLUMN. Each execution then launches a kernel
       first that writes A's rows into the workspace; with b_layout ROWS that may be two. Of 4 bits a
       row of an odd count of elements ends with a byte of which the low half alone counts; lda and ldb
       are even, whichever way operands lie */
    mc_major a_major;
    mc_sum_mode sums;      /* gemm, gemm24 */
    mc_dense_policy dense; /* SpMM, gemm24; mc_tune measures the sparse kernels alone, whatever it is */
    unsigned unused;       /* not looked at: a struct that ended with `dense` has padding here */
    /* gemm with PROMOTED sums, no batch: scales of blocks (docs/gemm.md), f32, which each execution brings as
       the operands "a_blocks" and "b_blocks" of mc_args.list. With K = ceil(k / 128), a_blocks are m x K,
       one for each row of A and 128 of k, and lie as a_blocks_major says; b_blocks are ceil(n / 128) x K, row
       by row. Neither has gaps */
    bool block_scales;
    mc_major a_blocks_major;
    int span;             /* slide24: elements of a span, even, 4 to 64. gemm24: 0, or the matrix's own */
    unsigned also_unused; /* not looked at: a struct that ended with `span` has padding here */
    /* SpMM with a residual and a row-major C: none or tensor, a factor of the residual, an f32 that each
       execution brings as "beta" in mc_args.list. The residual may then be C itself, with ldr = ldc, and
       where the factor is 0 it is not read */
    mc_per beta;
} mc_plan_config;

/* May look a kernel up, generate, tune, compile and load it, and packs the matrix, which is CONTEXT's, if no
   plan of the same kind did. MC_USAGE, with the member's name, for what makes no sense; MC_CANNOT where there
   is no kernel for the problem. A kernel that was chosen and cannot be had is told in the log, and the next
   best is taken. */
MC_API mc_status mc_plan_create(mc_context *context, const mc_plan_config *config, mc_plan **plan,
                                mc_diag *diag);
/* When all that it and mc_matrix_set_values put on streams is done, and no graph that captured it will be
   launched: a graph keeps neither the kernel nor the packed matrix. */
MC_API void mc_plan_destroy(mc_plan *plan);

/* Why this kernel: MEASURED for this very problem, for one NEAR it, ESTIMATED fastest,
   the DEFAULT of its spec. */
typedef enum mc_origin {
    MC_ORIGIN_MEASURED,
    MC_ORIGIN_NEAR,
    MC_ORIGIN_ESTIMATED,
    MC_ORIGIN_DEFAULT
} mc_origin;

/* A plan whose C has no elements has no kernel: its strings are empty. */
typedef struct mc_plan_info {
    size_t size;
    mc_origin origin;
    double microseconds; /* measured or estimated; 0: not known */
    const char *spec;    /* "spmm_l8r8_tiled.lua" */
    const char *fields;  /* the kernel, whole: "op=spmm arch=sm_90 ..." */
    uint64_t hash;       /* of these, as mcgen --list-variants prints it */
    const char *jit_log; /* what the driver's compiler said; "" where it said nothing, or did not run */
    int64_t c_elements;  /* of C, of a batch one product's, without gaps */
    const char *reason;  /* why this kernel, a line for people: "the least estimate of 41 kernels ..." */
    double distance;     /* NEAR: how far the recorded problem is (docs/tuning.md); else 0 */
    /* Of a plan with passes (mc_plan_get_pass): the first one's kernel, and what all of them together are
       estimated or measured to take; all above is of the kernel that multiplies. "" and 0: there are none */
    const char *transpose_fields;
    double transpose_microseconds;
    /* dense IF_FASTER: whether the kernel above is a dense one, and why, a line for people; what it and the
       sparse one, each with its passes, should take or, if `dense_measured`, took (0: they were not
       compared); bytes of the matrix with its zeros, whether it is there or not. Else zeros and "" */
    bool dense, dense_measured;
    const char *dense_reason;
    double dense_microseconds, sparse_microseconds;
    int64_t dense_bytes;
} mc_plan_info;

/* Fills INFO, whose size is set. Strings live as long as the plan. */
MC_API mc_status mc_plan_get_info(const mc_plan *plan, mc_plan_info *info, mc_diag *diag);

/* A pass: a kernel that each execution launches ahead of the plan's, and that writes an operand into the
   workspace as the plan's kernel, or the next pass of that operand, reads it: transposed, or, for a matrix
   with spans, longer. */
typedef struct mc_pass_info {
    size_t size;
    const char *operand; /* "b" */
    const char *fields;  /* the pass's kernel, whole */
    double microseconds; /* measured or estimated; 0: not known */
    size_t bytes;        /* of the workspace that it writes */
} mc_pass_info;

/* Fills INFO, whose size is set, with pass INDEX of PLAN, counted from 0, as they are launched. Strings
   live as long as the plan. MC_USAGE, and no message, where there are fewer. */
MC_API mc_status mc_plan_get_pass(const mc_plan *plan, size_t index, mc_pass_info *info, mc_diag *diag);

/* Bytes on the device that mc_execute wants as WORKSPACE, at a multiple of 16. It is the caller's:
   executions that may overlap in time, of one plan on two streams too, want one each, and those of one
   stream may share one, also those of several plans. What it holds between executions is of no use. 0:
   none is wanted. With b_major COLUMN, where the plan has a pass of B (mc_plan_get_pass): B's rows, k
   times n elements of each product that has a B of its own, n rounded up to 16 bytes; with a_major COLUMN
   A's, m times k elements, k rounded up; of a gemm with a B of 8 or 4 bits by rows its columns, n times k
   elements, k rounded up. Of a gemm24 whose matrix has spans: n times what k becomes, and beside it the
   columns of a B by rows. The plan's passes say how much of it each one takes. A kernel may want some for
   itself, which lies behind that: one of a gemm that deals tiles out along k, for their sums, and one of
   an SpMM with panels whose matrix has very long rows, for theirs. */
MC_API size_t mc_plan_workspace(const mc_plan *plan);

/* One operand by its name: where it lies, or, of a factor per tensor, its value. */
typedef struct mc_argument {
    const char *name;
    mc_address address;
    float value;
} mc_argument;

/* Where the operands lie; those that the problem does not have, or that have no elements, may be 0. Scales
   and biases lie at multiples of 16 bytes, C at least at one of its element's size. */
typedef struct mc_args {
    size_t size;
    mc_address a; /* all but the SpMM */
    mc_address b, c;
    mc_address scale, bias; /* arrays: per row or column of C */
    float scale_value;      /* per tensor */
    /* Operands by their names ("a", "b", "scale" ...); one that is here counts, whatever stands above */
    const mc_argument *list;
    size_t list_count;
} mc_args;

/* Puts the launches of the plan's passes, if it has any, and of its kernel on STREAM (a CUstream; NULL:
   the default one) and returns. With b_major COLUMN it may be two launches. Nothing is allocated,
   compiled, locked or read. On the simulator it has run when the call returns. MC_CANNOT, before anything
   is launched, for an address or a workspace that is missing or not aligned as the plan says. */
MC_API mc_status mc_execute(const mc_plan *plan, const mc_args *args, mc_address workspace, void *stream,
                            mc_diag *diag);

/* -- Tuning ------------------------------------------------------------------------------------------- */

/* How far tuning is. */
typedef struct mc_tune_progress {
    size_t size;
    const char *stage;       /* "compile", "verify", "time" */
    size_t done, total;      /* of the stage */
    double best;             /* microseconds; 0: none yet */
    const char *best_fields; /* those that its spec leaves to tuning; NULL: none yet */
    double seconds, left;    /* since the beginning; to the end, estimated */
} mc_tune_progress;

typedef struct mc_tune_config {
    size_t size;
    /* Those that the model likes best, besides defaults and what is fastest for the like; 0: 40 */
    size_t candidates;
    double seconds; /* at most, then the best so far is taken; 0: no limit */
    bool again;     /* measure all of them, also those that the record has */
    bool cold;      /* with operands that are not in the L2 cache */
    /* Program that runs candidates in a process of its own (mcrun), so that a faulty one ends only that;
       NULL: MCGEN_TUNER, else "": this process does */
    const char *worker;
    /* Called on the thread that called mc_tune, at most some ten times a second; false: stop, and keep the
       best so far. It may not use the problem's matrix or tune with the context. */
    bool (*progress)(void *user, const mc_tune_progress *progress);
    void *progress_user;
} mc_tune_config;

typedef struct mc_tune_result {
    size_t size;
    /* Candidates. known: already in the record */
    size_t measured, wrong, failed, known;
    double microseconds, standard; /* of the fastest, and of the default kernel; 0: not measured */
    bool complete;                 /* false: stopped early */
    /* What was measured, now or before, stands in the file of records. false: there is no such file, or it
       could not be written (the log says why), and what came of it is in the context's memory only; or
       nothing was measured */
    bool recorded;
} mc_tune_result;

/* Measures kernels for PROBLEM, verified ones only, and appends what came of it to the records, also when it
   is stopped or fails. CONFIG and RESULT may be NULL. MC_CANNOT where C has no elements or no kernel is
   right. Until it returns, other threads' calls that take the problem's matrix, or destroy a plan of it,
   wait; executions do not. */
MC_API mc_status mc_tune(mc_context *context, const mc_plan_config *problem, const mc_tune_config *config,
                         mc_tune_result *result, mc_diag *diag);

/* Adds the records of the file at PATH to the context's own; *COUNT (may be NULL) of them were new or better.
   Lines that are no records are told in the log. MC_IO where a file cannot be read or written. */
MC_API mc_status mc_records_import(mc_context *context, const char *path, size_t *count, mc_diag *diag);
/* Writes the context's own records to PATH, *COUNT (may be NULL) of them, one for each problem: all of them,
   or MC_IO and PATH as it was. */
MC_API mc_status mc_records_export(mc_context *context, const char *path, size_t *count, mc_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
