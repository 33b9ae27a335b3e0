/* Files appear complete or not at all, and links, modes and devices are left as they are. */
#include <sys/stat.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include "scratch.h"

static int64_t row_ptr[] = {0, 1};
static int32_t col_idx[] = {0};
static const mc_csr one = {1, 1, 1, row_ptr, col_idx, MC_CSR_PATTERN, NULL};
static const char one_text[] = "1, 1, 1\n0 1\n0\n";

static void check_text(const char *name, const char *want) {
    char text[64] = "";
    FILE *file = fopen(scratch_path(name), "r");
    CHECK(file != NULL, "%s is missing", name);
    if (!file) return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    CHECK(strcmp(text, want) == 0, "%s holds \"%s\"", name, text);
}

static int files(void) {
    int count = 0;
    DIR *dir = opendir(scratch_dir);
    while (readdir(dir)) count++;
    closedir(dir);
    return count - 2;
}

static void test_replace(mc_diag *diag) {
    umask(027);
    scratch_write("a.smtx", "old", 3);
    expect_ok("write", mc_csr_write_smtx(scratch_path("a.smtx"), &one, diag), diag);
    check_text("a.smtx", one_text);
    struct stat info;
    CHECK(stat(scratch_path("a.smtx"), &info) == 0 && (info.st_mode & 0777) == 0640, "mode %o",
          (unsigned)info.st_mode);
    CHECK(files() == 1, "%d files", files());
}

static void test_link(mc_diag *diag) {
    CHECK(symlink("a.smtx", scratch_path("link.smtx")) == 0, "symlink");
    scratch_write("a.smtx", "old", 3);
    expect_ok("write", mc_csr_write_smtx(scratch_path("link.smtx"), &one, diag), diag);
    check_text("a.smtx", one_text);
    struct stat info;
    CHECK(lstat(scratch_path("link.smtx"), &info) == 0 && S_ISLNK(info.st_mode), "the link is gone");
    unlink(scratch_path("link.smtx"));
    unlink(scratch_path("a.smtx"));
}

/* /dev/full accepts the open and refuses the data. */
static void test_device(mc_diag *diag) {
    expect_ok("null", mc_csr_write_smtx("/dev/null", &one, diag), diag);
    if (access("/dev/full", W_OK) != 0) return;
    expect_failure("full", mc_csr_write_smtx("/dev/full", &one, diag), MC_IO, diag, "/dev/full: ");
}

/* The file system refuses what goes beyond LIMIT bytes: the old file stays, and no temporary. */
static void test_limit(const mc_csr *csr, rlim_t limit, const char *message, mc_diag *diag) {
    const char *path = scratch_write("a.smtx", "old", 3);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){limit, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    mc_status status = mc_csr_write_smtx(path, csr, diag);
    setrlimit(RLIMIT_FSIZE, &before);
    expect_failure("limit", status, MC_IO, diag, message);
    check_text("a.smtx", "old");
    CHECK(files() == 1, "%d files", files());
    unlink(scratch_path("a.smtx"));
}

static void test_limits(mc_diag *diag) {
    mc_pattern pattern = {100, 100, 0, MC_PATTERN_UNIFORM, 0, 1};
    mc_csr large;
    expect_ok("generate", mc_csr_generate(&pattern, &large, diag), diag);
    test_limit(&one, 5, "a.smtx: File too large", diag);
    test_limit(&large, 5000, "a.smtx: ", diag);
    mc_csr_free(&large);
}

static void test_unwritable(mc_diag *diag) {
    const char *dir = scratch_path("d");
    CHECK(mkdir(dir, 0700) == 0, "mkdir");
    expect_failure("directory", mc_csr_write_smtx(dir, &one, diag), MC_IO, diag, "/d: Is a directory");
    mc_dense dense;
    expect_failure("directory", mc_npy_read(dir, &dense, diag), MC_IO, diag, "/d: Is a directory");
    rmdir(dir);
    CHECK(files() == 0, "%d files", files());
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_replace(diag);
    test_link(diag);
    test_device(diag);
    test_limits(diag);
    test_unwritable(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
