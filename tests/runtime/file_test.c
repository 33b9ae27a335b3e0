/* Files appear complete or not at all, and links, modes and devices are left as they are. */
#include <sys/stat.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "scratch.h"
#include "text/file.h"

static int64_t row_ptr[] = {0, 1};
static int32_t col_idx[] = {0};
static const mc_csr one = {1, 1, 1, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
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

/* A link to nowhere, and a file that nobody may write, are not replaced. */
static void test_kept(mc_diag *diag) {
    CHECK(symlink("nowhere.smtx", scratch_path("link.smtx")) == 0, "symlink");
    expect_failure("link", mc_csr_write_smtx(scratch_path("link.smtx"), &one, diag), MC_IO, diag,
                   "/link.smtx: it is a link to nowhere");
    unlink(scratch_path("link.smtx"));
    scratch_write("a.smtx", "old", 3);
    CHECK(chmod(scratch_path("a.smtx"), 0444) == 0, "chmod");
    expect_failure("read-only", mc_csr_write_smtx(scratch_path("a.smtx"), &one, diag), MC_IO, diag,
                   "/a.smtx: it is read-only");
    check_text("a.smtx", "old");
    unlink(scratch_path("a.smtx"));
    CHECK(files() == 0, "%d files", files());
}

/* -- Reading */

static const file_limit small = {1, "a spec"};

/* What never ends, or never begins, is not waited for. */
static void test_kinds(mc_diag *diag) {
    char *bytes = NULL;
    size_t size;
    CHECK(mkfifo(scratch_path("pipe"), 0600) == 0, "mkfifo");
    expect_failure("pipe", file_read(scratch_path("pipe"), NULL, &bytes, &size, diag), MC_IO, diag,
                   "/pipe: it is a named pipe, no regular file");
    unlink(scratch_path("pipe"));
    expect_failure("zero", file_read("/dev/zero", NULL, &bytes, &size, diag), MC_IO, diag,
                   "/dev/zero: it is a device, no regular file");
    expect_failure("zero", file_read("/dev/zero", &small, &bytes, &size, diag), MC_IO, diag, "a device");
    CHECK(bytes == NULL && size == 0, "something is left");
}

/* Regular files of any size, but for what has a limit: at it, and a byte beyond. */
static void test_sizes(mc_diag *diag) {
    char *bytes = NULL;
    size_t size;
    FILE *file = fopen(scratch_path("large"), "w");
    CHECK(file != NULL && ftruncate(fileno(file), 1 << 20) == 0, "truncate");
    expect_ok("at the limit", file_read(scratch_path("large"), &small, &bytes, &size, diag), diag);
    CHECK(size == 1 << 20, "%zu bytes", size);
    free(bytes);
    CHECK(ftruncate(fileno(file), (1 << 20) + 1) == 0, "truncate");
    expect_failure("beyond", file_read(scratch_path("large"), &small, &bytes, &size, diag), MC_USAGE, diag,
                   "/large: larger than 1 MB: not a spec");
    expect_ok("any", file_read(scratch_path("large"), NULL, &bytes, &size, diag), diag);
    CHECK(size == (1 << 20) + 1, "%zu bytes", size);
    free(bytes);
    fclose(file);
    unlink(scratch_path("large"));
}

/* As a shell opens it: its writer is known, and all of it is read, however slowly it comes. */
static void test_opened_pipe(mc_diag *diag) {
    int ends[2];
    char path[32], *bytes = NULL;
    size_t size;
    CHECK(pipe(ends) == 0, "pipe");
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 3; i++) {
            usleep(20000);
            if (write(ends[1], "abc", 3) != 3) _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    expect_ok("pipe", file_read(path, NULL, &bytes, &size, diag), diag);
    CHECK(size == 9 && memcmp(bytes, "abcabcabc", 9) == 0, "%zu bytes", size);
    free(bytes);
    close(ends[0]);
    waitpid(writer, NULL, 0);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_replace(diag);
    test_link(diag);
    test_device(diag);
    test_limits(diag);
    test_unwritable(diag);
    test_kept(diag);
    test_kinds(diag);
    test_sizes(diag);
    test_opened_pipe(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
