/* What the simulator counts of each spec's default variant, against a checked-in table: a kernel that issues more, or moves
 * more, needs a change of the table that somebody wants. And what holds whatever the table says: shared memory without bank
 * conflicts, the ring's gather and the samples of dense tiles excepted, and full sectors for B and C, but for the ends of an SDDMM's items.
 *
 *   counts_test TABLE SPEC...            compares
 *   counts_test --update TABLE SPEC...   writes TABLE; read the diff */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "problem.h"
#include "ptxsim.h"

enum { DENSE_LENGTH = 256, MAX_LINE = 512, SECTOR = 32 };

static const double gather_limit =
    1.5; /* wavefronts of gathers from shared memory over the ideal, on random masks */

/* K of `random.9` is more than the default ring holds. */
static const struct {
    const char *name;
    mc_pattern pattern;
} matrices[] = {
    {"random.7", {64, 1024, 0.7, MC_PATTERN_UNIFORM, 0, 5}},
    {"random.9", {48, 2304, 0.9, MC_PATTERN_UNIFORM, 0, 6}},
    {"pruned.95", {96, 512, 0.95, MC_PATTERN_REALISTIC, 0.3, 7}},
};
enum { MATRICES = sizeof matrices / sizeof *matrices };

/* The table: one line a spec and matrix. */
static const char head[] =
    "# Counts of the simulator: default variants, N (of an SDDMM K) = 256. Written by counts_test --update; "
    "docs/simulator.md says how they are made.\n"
    "# spec matrix: vectors, warp instructions, mma, barrier arrivals | shared requests, wavefronts, ideal | "
    "global requests, sectors, "
    "bytes, bytes of bulk copies\n"
    "#   a vector: instructions, mma, wavefronts, sectors; wavefronts / ideal; bytes / global request\n";

/* -- Problems ----------------------------------------------------------------------------------------- */

/* What KERNEL multiplies, with the pattern of matrix INDEX; exact, or there is nothing to count. */
static mc_status run(mc_device *device, const mc_kernel *kernel, int index, uint64_t *vectors,
                     mc_diag *diag) {
    mc_csr csr = {0};
    problem_kind kind;
    problem p = {0};
    mc_status status = mc_csr_generate(&matrices[index].pattern, &csr, diag);
    if (status == MC_OK) status = problem_kind_of(kernel, &kind, diag);
    bool sampled = status == MC_OK && kind.op == OPERATOR_SDDMM;
    const problem_case c = {.row_blocks = (int)csr.rows,
                            .k = sampled ? DENSE_LENGTH : (int)csr.cols,
                            .n = sampled ? (int)csr.cols : DENSE_LENGTH};
    if (status == MC_OK) status = problem_make_of(&csr, &c, &kind, &p, diag);
    if (status == MC_OK) status = problem_run(&p, device, kernel, NULL, diag);
    *vectors = (uint64_t)p.a.vectors;
    problem_free(&p);
    mc_csr_free(&csr);
    return status;
}

/* -- What always holds -------------------------------------------------------------------------------- */

static bool line_has(const char *ptx, int line, const char *word) {
    for (; line > 1; line--) ptx = strchr(ptx, '\n') + 1;
    return memmem(ptx, strcspn(ptx, "\n"), word, strlen(word)) != NULL;
}

/* B's rows are loaded from registers named address0 and so on. */
static bool is_b_or_c(const char *ptx, const ptxsim_line *l) {
    if (line_has(ptx, l->line, "flag_at")) return false; /* of a piece's sums */
    return line_has(ptx, l->line, "st.global") || line_has(ptx, l->line, "[%address");
}

/* Of B's rows in the ring, or an SDDMM's columns in its window, those that A or the mask names: conflicts happen. */
static bool is_gathered(const char *ptx, const ptxsim_line *l) {
    return line_has(ptx, l->line, "ldmatrix") || line_has(ptx, l->line, "[%matrix_at") ||
           line_has(ptx, l->line, "[%column_");
}

/* ENDS_ANYWHERE: C's vectors are stored one after another, and begin and end inside sectors. In panels a store
   has such a run of each of four rows. */
enum { PANEL_ROWS = 4 };
static void check_lines(const char *name, const char *ptx, const ptxsim *sim, bool random,
                        bool ends_anywhere) {
    enum { PHASES = 4 /* of an ldmatrix.x4 */ };
    uint64_t gathered = 0, ideal = 0, sectors = 0;
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) {
        const ptxsim_line *l = ptxsim_line_at(sim, i);
        /* segments and zeros in their place: each 8 lanes of ldmatrix meet all banks once, though zeros be the same */
        if (line_has(ptx, l->line, "[%segment")) {
            CHECK(l->shared_wavefronts == PHASES * l->shared_requests, "%s, line %d: bank conflicts", name,
                  l->line);
            continue;
        }
        if (is_gathered(ptx, l)) {
            gathered += l->shared_wavefronts;
            ideal += l->shared_ideal;
            continue;
        }
        if (line_has(ptx, l->line, "[%sampled")) continue;   /* the mask's columns: any banks */
        if (line_has(ptx, l->line, "[%summed_at")) continue; /* rows' products, which begin anywhere */
        /* the same 16 bytes for all lanes: the least is two wavefronts */
        if (line_has(ptx, l->line, "next_index") && l->shared_wavefronts <= 2 * l->shared_ideal) continue;
        CHECK(l->shared_wavefronts == l->shared_ideal, "%s, line %d: bank conflicts", name, l->line);
        if (!l->global_requests || !is_b_or_c(ptx, l)) continue;
        sectors += l->global_sectors;
        /* a store's vectors are no neighbours there; a tile has one column */
        if (strstr(ptx, "[%column_at") || strstr(ptx, "[%summed_at")) continue;
        /* rows of 16 bytes are half a sector each, where B has more columns */
        if (strstr(ptx, "async_n16_") && line_has(ptx, l->line, "cp.async")) continue;
        const uint64_t runs = line_has(ptx, l->line, "[%row_c_at") ? PANEL_ROWS : 1;
        uint64_t cut = ends_anywhere && line_has(ptx, l->line, "st.global") ? runs * l->global_requests : 0;
        CHECK(l->global_sectors * SECTOR <= l->global_bytes + cut * SECTOR,
              "%s, line %d: sectors that are not full", name, l->line);
    }
    CHECK(sectors > 0 || strstr(ptx, "cp.async.bulk.tensor.2d.global"), "%s stores no C", name);
    CHECK(!random || (double)gathered <= gather_limit * (double)ideal,
          "%s: %" PRIu64 " wavefronts, ideal %" PRIu64, name, gathered, ideal);
}

/* -- The table ---------------------------------------------------------------------------------------- */

static double over(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

static void print_counts(FILE *table, const char *name, uint64_t vectors, const ptxsim *sim) {
    const ptxsim_counts *counts = ptxsim_counts_of(sim);
    ptxsim_line sum = ptxsim_line_sum(sim);
    fprintf(table,
            "%s: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " | %" PRIu64 " %" PRIu64 " %" PRIu64
            " | %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            name, vectors, counts->warp_instructions, counts->mma, counts->barriers, sum.shared_requests,
            sum.shared_wavefronts, sum.shared_ideal, sum.global_requests, sum.global_sectors,
            sum.global_bytes, counts->bulk_bytes);
    fprintf(table, "    %.3f %.3f %.3f %.3f; %.3f; %.1f\n", over(counts->warp_instructions, vectors),
            over(counts->mma, vectors), over(sum.shared_wavefronts, vectors),
            over(sum.global_sectors, vectors), over(sum.shared_wavefronts, sum.shared_ideal),
            over(sum.global_bytes, sum.global_requests));
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void count_kernel(FILE *table, const char *path, const mc_kernel *kernel, mc_device *device) {
    for (int i = 0; i < MATRICES; i++) {
        char name[MAX_LINE];
        uint64_t vectors = 0;
        mc_diag *diag = mc_diag_create();
        snprintf(name, sizeof name, "%s %s", base_name(path), matrices[i].name);
        mc_status status = run(device, kernel, i, &vectors, diag);
        CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(diag));
        if (status == MC_OK) {
            const ptxsim *sim = mc_device_ptxsim(device);
            check_lines(name, mc_kernel_ptx(kernel), sim, matrices[i].pattern.law == MC_PATTERN_UNIFORM,
                        strcmp(mc_kernel_contract(kernel)->family, "sddmm") == 0);
            print_counts(table, name, vectors, sim);
        }
        mc_diag_destroy(diag);
    }
}

static void count_spec(FILE *table, const char *path, mc_device *device, mc_diag *diag) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read(path, NULL, 0, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag);
    CHECK(status == MC_OK, "%s: %s", path, mc_diag_text(diag));
    if (status == MC_OK) count_kernel(table, path, kernel, device);
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
}

static void make_table(FILE *table, char **specs, mc_diag *diag) {
    mc_device *device = NULL;
    mc_status status = mc_device_open("sim", &device, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    fputs(head, table);
    for (; *specs && status == MC_OK; specs++) count_spec(table, *specs, device, diag);
    mc_device_close(device);
}

/* -- Comparing ---------------------------------------------------------------------------------------- */

static bool next_line(const char **text, char line[MAX_LINE]) {
    size_t length = strcspn(*text, "\n");
    snprintf(line, MAX_LINE, "%.*s", (int)length, *text);
    bool there = **text != '\0';
    *text += length + ((*text)[length] == '\n');
    return there;
}

static void compare(const char *got, const char *want) {
    char a[MAX_LINE], b[MAX_LINE];
    for (;;) {
        bool more = next_line(&got, a), wanted = next_line(&want, b);
        if (!more && !wanted) return;
        CHECK(strcmp(a, b) == 0, "\n  table   %s\n  counted %s", b, a);
    }
}

static char *read_table(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    if (!file) return NULL;
    if (getdelim(&text, &room, '\0', file) < 0) free(text), text = NULL;
    fclose(file);
    return text;
}

static int write_table(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) return perror(path), 1;
    return 0;
}

int main(int argc, char **argv) {
    bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
    char **operands = argv + 1 + update, *text = NULL;
    if (argc < 3 + update) return 2;
    size_t size = 0;
    FILE *table = open_memstream(&text, &size);
    mc_diag *diag = mc_diag_create();
    if (!table || !diag) return 1;
    make_table(table, operands + 1, diag);
    if (fclose(table) != 0) return 1;
    char *want = update ? NULL : read_table(operands[0]);
    int failed = update && !check_failed ? write_table(operands[0], text) : 0;
    if (!update) compare(text, want ? want : "");
    free(want);
    free(text);
    mc_diag_destroy(diag);
    return check_end() || failed;
}
