/* What the environment says, and what it cannot say. */
#include <stdlib.h>
#include "check.h"
#include "mccache.h"

enum { MIB = 1 << 20 };
static char long_path[MCCACHE_MAX_PATH + 8]; /* absolute */

typedef struct environment {
    const char *mode, *directory, *most, *system, *xdg, *home; /* NULL: not set */
} environment;

static void set(const char *name, const char *value) {
    if (value != NULL) setenv(name, value, 1);
    else unsetenv(name);
}

static void set_all(const environment *e) {
    set("MCGEN_CACHE", e->mode);
    set("MCGEN_CACHE_DIR", e->directory);
    set("MCGEN_CACHE_MAX", e->most);
    set("MCGEN_CACHE_SYSTEM", e->system);
    set("XDG_CACHE_HOME", e->xdg);
    set("HOME", e->home);
}

static const struct row {
    environment set;
    const char *why; /* part of it; NULL: all of it makes sense */
    mccache_mode mode;
    const char *directory;
    uint64_t bytes;
} rows[] = {
    {{.home = "/home/me"}, NULL, MCCACHE_READ_WRITE, "/home/me/.cache/mcgen", 0},
    {{.home = "/home/me", .xdg = "/x"}, NULL, MCCACHE_READ_WRITE, "/x/mcgen", 0},
    {{.home = "/home/me", .xdg = "/x", .directory = "/d/e"}, NULL, MCCACHE_READ_WRITE, "/d/e", 0},
    {{.directory = "below"}, NULL, MCCACHE_READ_WRITE, "below", 0},
    /* Empty is not set, and what must be absolute and is not is passed over. */
    {{.home = "/home/me", .xdg = "", .directory = "", .mode = "", .most = "", .system = ""},
     NULL,
     MCCACHE_READ_WRITE,
     "/home/me/.cache/mcgen",
     0},
    {{.home = "/home/me", .xdg = "x"}, NULL, MCCACHE_READ_WRITE, "/home/me/.cache/mcgen", 0},
    {{.home = "me", .xdg = "./x"}, NULL, MCCACHE_READ_WRITE, NULL, 0},
    {{.home = NULL}, NULL, MCCACHE_READ_WRITE, NULL, 0},
    {{.home = "/h", .directory = long_path}, "too long", MCCACHE_READ_WRITE, "/h/.cache/mcgen", 0},
    {{.home = long_path}, "too long", MCCACHE_READ_WRITE, NULL, 0},
    /* Modes */
    {{.mode = "rw"}, NULL, MCCACHE_READ_WRITE, NULL, 0},
    {{.mode = "ro"}, NULL, MCCACHE_READ_ONLY, NULL, 0},
    {{.mode = "mem"}, NULL, MCCACHE_MEMORY, NULL, 0},
    {{.mode = "off", .home = "/h"}, NULL, MCCACHE_OFF, "/h/.cache/mcgen", 0},
    {{.mode = "RO"}, "MCGEN_CACHE is not one of", MCCACHE_READ_WRITE, NULL, 0},
    {{.mode = "row", .most = "5"}, "MCGEN_CACHE is not one of", MCCACHE_READ_WRITE, NULL, 5},
    /* Sizes */
    {{.most = "1"}, NULL, MCCACHE_READ_WRITE, NULL, 1},
    {{.most = "3K"}, NULL, MCCACHE_READ_WRITE, NULL, 3072},
    {{.most = "64M"}, NULL, MCCACHE_READ_WRITE, NULL, (uint64_t)64 * MIB},
    {{.most = "2G"}, NULL, MCCACHE_READ_WRITE, NULL, (uint64_t)2048 * MIB},
    {{.most = "18446744073709551615"}, NULL, MCCACHE_READ_WRITE, NULL, UINT64_MAX},
    {{.most = "18446744073709551616"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "18446744073709551617"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "17179869185G"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "17179869184G"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "0"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "0G"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "M"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "-1"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = " 1"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "1.5G"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "5T"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
    {{.most = "5MB"}, "MCGEN_CACHE_MAX", MCCACHE_READ_WRITE, NULL, 0},
};

static bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void check_row(size_t number, const struct row *row) {
    mccache_paths paths;
    mccache_config config;
    const char *why = NULL;
    memset(&config, 0x55, sizeof config);
    config.size = sizeof config;
    set_all(&row->set);
    bool fine = mccache_environment(&config, &paths, &why);
    CHECK(fine == (row->why == NULL), "row %zu: %s", number, why ? why : "");
    if (row->why != NULL && why != NULL) CHECK_TEXT(why, row->why);
    CHECK(config.mode == row->mode, "row %zu: %d", number, (int)config.mode);
    CHECK(same_text(config.directory, row->directory), "row %zu: %s", number, config.directory);
    CHECK(config.max_bytes == row->bytes && config.max_files == 0, "row %zu", number);
    CHECK(config.log == NULL && config.clock == NULL && config.system[0] == NULL, "row %zu", number);
}

static void check_system(const char *text, size_t count, const char *last, const char *why_wanted) {
    mccache_paths paths;
    mccache_config config = {.size = sizeof config};
    const char *why = NULL;
    set_all(&(environment){.system = text});
    CHECK(mccache_environment(&config, &paths, &why) == (why_wanted == NULL), "'%s'", text);
    if (why_wanted != NULL && why != NULL) CHECK_TEXT(why, why_wanted);
    size_t got = 0;
    while (got < MCCACHE_MAX_SYSTEM && config.system[got] != NULL) got++;
    CHECK(got == count, "'%s': %zu directories", text, got);
    if (got == count && count > 0)
        CHECK(strcmp(config.system[count - 1], last) == 0, "%s", config.system[count - 1]);
}

/* A program of an older version has a shorter struct: nothing is written behind it. */
static void check_short_config(void) {
    mccache_paths paths;
    mccache_config config;
    memset(&config, 0x55, sizeof config);
    config.size = offsetof(mccache_config, max_bytes);
    set_all(&(environment){.most = "7", .home = "/h"});
    CHECK(mccache_environment(&config, &paths, NULL), "short");
    CHECK(config.size == offsetof(mccache_config, max_bytes), "size");
    CHECK(config.max_bytes == 0x5555555555555555u && config.directory == paths.directory, "short");
}

int main(void) {
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[0] = '/';
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check_row(i, &rows[i]);
    check_system("/a", 1, "/a", NULL);
    check_system("/a:/b/c", 2, "/b/c", NULL);
    check_system(":/a::/b:", 2, "/b", NULL);
    check_system("/1:/2:/3:/4:/5:/6:/7:/8", 8, "/8", NULL);
    check_system("/1:/2:/3:/4:/5:/6:/7:/8:/9", 0, NULL, "more than 8");
    check_system("/a:b", 0, NULL, "not absolute");
    check_system(long_path, 0, NULL, "too long");
    check_short_config();
    return check_end();
}
