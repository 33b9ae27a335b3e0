/* Runs a spec script and collects its assignments.
 *
 * A spec assigns its fields as globals (`vec = 8`). The chunk's environment is an empty table whose
 * metamethods record each assignment with its line. Reading a name gives what was assigned to it, or one of
 * the allowed functions (library.c).
 *
 * Three things stop a script that is too greedy. An allocator has a cap, which also keeps strings short, so
 * that no single instruction takes long. A hook looks at the clock every few instructions. Where no hook
 * reaches (the parser, C functions), the allocator looks at the clock, too. This contains accidents and
 * hostile loops; it is no security boundary. */
#include "ops/families.h"
#include "spec/spec.h"
#include "spec/sandbox.h"
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MEMORY_CAP = 16 << 20,
    STRING_CAP = 64 << 10, /* bytes of one string */
    HOOK_INSTRUCTIONS =
        /* instructions between two looks at the clock; the longest, comparing two strings full of NULs, takes
           a third of a millisecond */
    100,
    TIME_LIMIT_MS = 1000,
};

typedef struct sandbox {
    mc_script *script;
    size_t used;
    /* when it must end, by the thread's own time; when by the wall's clock, which is cheaper to look at */
    double end, deadline;
    bool late, long_string, no_memory; /* why the allocator refused */
} sandbox;

static double clock_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Whether the script's time is over. It has a second of its thread's own time; on a busy machine a second
   passes while it does not run. */
static bool is_late(sandbox *box) {
    double now = clock_ms(CLOCK_MONOTONIC);
    if (box->late || now <= box->deadline) return box->late;
    double left = box->end - clock_ms(CLOCK_THREAD_CPUTIME_ID);
    box->late = left <= 0;
    box->deadline = now + left;
    return box->late;
}

/* Whether BOX may have MORE bytes, for a block of NEW_SIZE of Lua's TYPE (known for new blocks only). */
static bool may_grow(sandbox *box, size_t more, int type, size_t new_size) {
    bool long_string = type == LUA_TSTRING && new_size > STRING_CAP;
    box->long_string = box->long_string || long_string;
    return !long_string && box->used + more <= MEMORY_CAP && !is_late(box);
}

static void *capped_alloc(void *user, void *block, size_t old_size, size_t new_size) {
    sandbox *box = user;
    size_t old = block ? old_size : 0;
    if (new_size == 0) {
        free(block);
        box->used -= old;
        return NULL;
    }
    if (new_size > old && !may_grow(box, new_size - old, block ? LUA_TNONE : (int)old_size, new_size))
        return NULL;
    void *moved = realloc(block, new_size);
    if (moved) box->used += new_size - old;
    box->no_memory = !moved;
    return moved;
}

static sandbox *box_of(lua_State *L) {
    void *user;
    lua_getallocf(L, &user);
    return user;
}

static void stop_late(lua_State *L, lua_Debug *event) {
    (void)event;
    if (is_late(box_of(L))) luaL_error(L, "stopped");
}

mc_assignment *script_assign(mc_script *script, const char *name) {
    for (size_t i = 0; i < script->count; i++) {
        if (strcmp(script->assignments[i].name, name) == 0) return &script->assignments[i];
    }
    if (script->count == MC_MAX_ASSIGNMENTS) return NULL;
    mc_assignment *assignment = &script->assignments[script->count++];
    *assignment = (mc_assignment){0};
    snprintf(assignment->name, sizeof assignment->name, "%s", name);
    return assignment;
}

/* The Lua value at INDEX as a raw value. */
static mc_raw raw_from_lua(lua_State *L, int index) {
    mc_raw raw = {.kind = MC_RAW_OTHER};
    const char *text;
    size_t length;
    int is_integer;
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        raw.number = lua_tointegerx(L, index, &is_integer);
        if (is_integer) raw.kind = MC_RAW_INTEGER;
        else snprintf(raw.text, sizeof raw.text, "%g", lua_tonumber(L, index));
        break;
    case LUA_TBOOLEAN:
        raw.kind = MC_RAW_SWITCH;
        raw.number = lua_toboolean(L, index);
        break;
    case LUA_TSTRING:
        text = lua_tolstring(L, index, &length);
        if (length < sizeof raw.text && strlen(text) == length) raw.kind = MC_RAW_TEXT;
        snprintf(raw.text, sizeof raw.text, "%s",
                 raw.kind == MC_RAW_TEXT ? text : "a string of another kind");
        break;
    default: snprintf(raw.text, sizeof raw.text, "a %s", luaL_typename(L, index));
    }
    return raw;
}

/* Reads a list of values: a table with the keys 1..n and no other. Any other table does not end the script,
   so that what is wrong with other fields is told as well. */
static void assign_list(lua_State *L, int index, mc_assignment *assignment) {
    lua_Unsigned length = lua_rawlen(L, index);
    lua_Unsigned keys = 0;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) keys++;
    if (length > MC_MAX_CANDIDATES)
        snprintf(assignment->wrong, sizeof assignment->wrong, "%llu candidates, at most %d",
                 (unsigned long long)length, MC_MAX_CANDIDATES);
    else if (keys != length)
        snprintf(assignment->wrong, sizeof assignment->wrong,
                 "a list of candidates is {a, b, ...}, without keys");
    assignment->list = true;
    assignment->count = length > MC_MAX_CANDIDATES ? 0 : (size_t)length;
    for (size_t i = 0; i < assignment->count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        assignment->values[i] = raw_from_lua(L, -1);
        lua_pop(L, 1);
    }
}

/* __newindex(env, name, value): records the assignment. Upvalue 1: the table of values for reading back. */
static int record(lua_State *L) {
    if (lua_type(L, 2) != LUA_TSTRING) return luaL_error(L, "a field's name is a string");
    const char *name = lua_tostring(L, 2);
    if (lua_rawlen(L, 2) >= MC_MAX_NAME || lua_rawlen(L, 2) != strlen(name))
        return luaL_error(L, "a name that no field has");
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_rawset(L, lua_upvalueindex(1));
    mc_assignment *assignment = script_assign(box_of(L)->script, name);
    if (!assignment) return luaL_error(L, "%s: more than %d fields", name, MC_MAX_ASSIGNMENTS);
    lua_Debug where;
    if (lua_getstack(L, 1, &where) && lua_getinfo(L, "l", &where)) assignment->line = where.currentline;
    assignment->list = false;
    assignment->wrong[0] = '\0';
    assignment->count = 1;
    if (lua_type(L, 3) == LUA_TTABLE) assign_list(L, 3, assignment);
    else assignment->values[0] = raw_from_lua(L, 3);
    return 0;
}

static bool is_field(const char *name) {
    for (int i = 0; mc_families[i]; i++) {
        if (family_field(mc_families[i], name) >= 0) return true;
    }
    return false;
}

/* __index(env, name): an assigned field, nil for a field not yet assigned, or an allowed function. */
static int look_up(lua_State *L) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    if (!is_field(name)) return luaL_error(L, "%s: a spec has no such name", name);
    return 1;
}

/* Pushes the environment of the chunk. */
static void push_environment(lua_State *L) {
    lua_newtable(L); /* the environment: stays empty */
    lua_newtable(L); /* its metatable */
    lua_newtable(L); /* values */
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, record, 1);
    lua_setfield(L, -3, "__newindex");
    sandbox_push_library(L);
    lua_pushcclosure(L, look_up, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* Skips what lua itself skips when it reads files: a byte order mark, and a first line that begins with #.
   That line's end stays, so that lines keep their numbers. */
static void skip_first_line(const char **text, size_t *size) {
    size_t skip = *size >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (skip < *size && (*text)[skip] == '#')
        while (skip < *size && (*text)[skip] != '\n') skip++;
    *text += skip;
    *size -= skip;
}

/* What the parser has not read yet. It gets little at a time, since between two allocations it may search
   long among names. */
typedef struct source {
    const char *text;
    size_t size;
} source;

static const char *read_piece(lua_State *L, void *user, size_t *size) {
    enum { PIECE = 256 };
    source *left = user;
    const char *piece = left->text;
    stop_late(L, NULL);
    *size = left->size < PIECE ? left->size : PIECE;
    left->text += *size;
    left->size -= *size;
    return piece;
}

/* Everything that can raise, under lua_pcall. Arguments: the text as light userdata, its size. */
static int run(lua_State *L) {
    const char *text = lua_touserdata(L, 1);
    size_t size = (size_t)lua_tointeger(L, 2);
    skip_first_line(&text, &size);
    if (size && text[0] == LUA_SIGNATURE[0]) return luaL_error(L, "Lua bytecode; a spec is text");
    source left = {text, size};
    if (lua_load(L, read_piece, &left, "=?", "t") != LUA_OK) return lua_error(L);
    push_environment(L);
    lua_setupvalue(L, -2, 1);
    lua_call(L, 0, LUA_MULTRET);
    if (lua_gettop(L) > 2) return luaL_error(L, "a spec assigns its fields (vec = 8), it returns nothing");
    return 0;
}

/* What stopped the script, if it was no error of its own. NULL: it was one. */
static const char *stopped_by(const sandbox *box, int code) {
    if (box->late) return "the spec runs for more than a second; it was stopped";
    if (code != LUA_ERRMEM) return NULL;
    return box->long_string ? "a string longer than 64 KB; the spec was stopped"
                            : "the spec needs more than 16 MB of memory; it was stopped";
}

/* Lua's message is "?:LINE: text" where it knows the line; the spec's name goes in front. */
static mc_status report(lua_State *L, const sandbox *box, int code, const char *name, mc_diag *diag) {
    if (code == LUA_ERRMEM && box->no_memory) return mc_fail(diag, MC_NOMEM, "%s: out of memory", name);
    const char *stopped = stopped_by(box, code);
    if (stopped) return mc_fail(diag, MC_USAGE, "%s: %s", name, stopped);
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "error() without a message";
    if (strncmp(message, "?:", 2) == 0) return mc_fail(diag, MC_USAGE, "%s%s", name, message + 1);
    return mc_fail(diag, MC_USAGE, "%s: %s", name, message);
}

mc_status sandbox_run(const char *name, const char *text, size_t size, mc_script *script, mc_diag *diag) {
    sandbox box = {.script = script,
                   .end = clock_ms(CLOCK_THREAD_CPUTIME_ID) + TIME_LIMIT_MS,
                   .deadline = clock_ms(CLOCK_MONOTONIC) + TIME_LIMIT_MS};
    *script = (mc_script){0};
    lua_State *L = lua_newstate(capped_alloc, &box);
    if (!L) return mc_fail(diag, MC_NOMEM, "%s: out of memory", name);
    lua_sethook(L, stop_late, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, (void *)text);
    lua_pushinteger(L, (lua_Integer)size);
    int code = lua_pcall(L, 2, 0, 0);
    mc_status status = code == LUA_OK ? MC_OK : report(L, &box, code, name, diag);
    lua_close(L);
    return status;
}
