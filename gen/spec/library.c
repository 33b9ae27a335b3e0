/* The functions that a spec may call: a list of what is allowed, not of what is forbidden. Lua's own
   functions are taken where their arguments bound what they cost; the others are wrapped with a cap. Nothing
   prints an address, and tables are walked in the order of their keys, so that a spec means the same in every
   run. */
#include "spec/sandbox.h"
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <string.h>

enum {
    LIST_CAP = 1000, /* elements that table functions take, and bytes that string.byte gives, at most */
    /* bytes that string functions make, at most: as long as a string can be (sandbox.c) */
    TEXT_CAP = 64 << 10,
    SORT_TEXT_CAP = 64, /* bytes of a string that table.sort compares, at most */
};

static const char *const basic_names[] = {"assert", "error", "ipairs", "select", "tonumber", "type", NULL};
static const char *const string_names[] = {"sub", "char", "lower", "upper", "len", NULL};
static const char *const math_names[] = {"abs",  "ceil", "floor",     "max",        "min",        "fmod",
                                         "modf", "sqrt", "exp",       "log",        "huge",       "pi",
                                         "type", "ult",  "tointeger", "maxinteger", "mininteger", NULL};

/* -- Wrappers ----------------------------------------------------------------------------------------- */

/* Calls upvalue 1, the library's own function, with all arguments. Its errors get the line of the script
   here, since the function looks for that line one level too low. */
static int call_original(lua_State *L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    int code = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    if (code == LUA_OK) return lua_gettop(L);
    if (code == LUA_ERRRUN && lua_type(L, -1) == LUA_TSTRING && strncmp(lua_tostring(L, -1), "?:", 2) != 0) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static void check_list(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argcheck(L, lua_rawlen(L, 1) <= LIST_CAP, 1, "more than 1000 elements");
}

static int on_list(lua_State *L) {
    check_list(L);
    return call_original(L);
}

static int capped_unpack(lua_State *L) {
    check_list(L);
    lua_Integer first = luaL_optinteger(L, 2, 1), last = luaL_optinteger(L, 3, (lua_Integer)lua_rawlen(L, 1));
    luaL_argcheck(L, first >= 0 && last >= 0 && last <= LIST_CAP, 3, "more than 1000 elements");
    return call_original(L);
}

static int capped_concat(lua_State *L) {
    check_list(L);
    size_t separator = 0, total = 0;
    luaL_optlstring(L, 2, "", &separator);
    lua_Integer first = luaL_optinteger(L, 3, 1), last = luaL_optinteger(L, 4, (lua_Integer)lua_rawlen(L, 1));
    luaL_argcheck(L, first >= 1 && last <= LIST_CAP, 4, "more than 1000 elements");
    for (lua_Integer i = first; i <= last; i++) {
        lua_rawgeti(L, 1, i);
        total += separator + lua_rawlen(L, -1) + 32; /* a number is at most 32 characters */
        luaL_argcheck(L, total <= TEXT_CAP, 1, "the text is longer than 64 KB");
        lua_pop(L, 1);
    }
    return call_original(L);
}

static int capped_sort(lua_State *L) {
    check_list(L);
    for (lua_Integer i = 1, n = (lua_Integer)lua_rawlen(L, 1); i <= n; i++) {
        lua_rawgeti(L, 1, i);
        luaL_argcheck(L, lua_type(L, -1) != LUA_TSTRING || lua_rawlen(L, -1) <= SORT_TEXT_CAP, 1,
                      "a string too long to sort");
        lua_pop(L, 1);
    }
    return call_original(L);
}

static int capped_rep(lua_State *L) {
    size_t length = 0, separator = 0;
    luaL_checklstring(L, 1, &length);
    lua_Integer count = luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &separator);
    luaL_argcheck(L, count <= TEXT_CAP && (length + separator) * (size_t)(count > 0 ? count : 0) <= TEXT_CAP,
                  2, "the text is longer than 64 KB");
    return call_original(L);
}

static int capped_byte(lua_State *L) {
    lua_Integer first = luaL_optinteger(L, 2, 1), last = luaL_optinteger(L, 3, first);
    luaL_argcheck(L, first >= 1 && last >= 1 && last - first < LIST_CAP, 3, "more than 1000 bytes");
    return call_original(L);
}

/* Refuses %p, and values whose text would be an address. */
static int capped_format(lua_State *L) {
    size_t length;
    const char *format = luaL_checklstring(L, 1, &length);
    for (size_t i = 0; i + 1 < length; i++) {
        if (format[i] != '%') continue;
        size_t skip = strspn(format + i + 1, "-+ #0123456789.");
        luaL_argcheck(L, format[i + 1 + skip] != 'p', 1, "%p prints an address");
        i += skip + 1;
    }
    for (int i = 2; i <= lua_gettop(L); i++) {
        int type = lua_type(L, i);
        luaL_argcheck(L, type <= LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING, i,
                      "cannot be printed");
    }
    return call_original(L);
}

static int plain_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    int type = lua_type(L, 1);
    if (type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TBOOLEAN || type == LUA_TNIL)
        luaL_tolstring(L, 1, NULL);
    else lua_pushstring(L, lua_typename(L, type));
    return 1;
}

/* -- Walking a table in the order of its keys --------------------------------------------------------- */

/* Orders keys: booleans before numbers before strings. Lua's own order of string keys differs from run to
   run. */
static bool key_before(lua_State *L, int a, int b) {
    int type_a = lua_type(L, a), type_b = lua_type(L, b);
    if (type_a != type_b) return type_a < type_b;
    if (type_a == LUA_TBOOLEAN) return lua_toboolean(L, a) < lua_toboolean(L, b);
    if (type_a != LUA_TSTRING) return lua_compare(L, a, b, LUA_OPLT);
    size_t length_a, length_b;
    const char *text_a = lua_tolstring(L, a, &length_a), *text_b = lua_tolstring(L, b, &length_b);
    int order = memcmp(text_a, text_b, length_a < length_b ? length_a : length_b);
    return order < 0 || (order == 0 && length_a < length_b);
}

static int ordered_next(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2); /* 2: the last key; 3: the best key so far */
    lua_pushnil(L);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        int type = lua_type(L, 4);
        if (type != LUA_TBOOLEAN && type != LUA_TNUMBER && type != LUA_TSTRING)
            return luaL_error(L, "a %s as a key has no order", lua_typename(L, type));
        bool after = lua_isnil(L, 2) || key_before(L, 2, 4);
        if (after && (lua_isnil(L, 3) || key_before(L, 4, 3))) {
            lua_pushvalue(L, 4);
            lua_replace(L, 3);
        }
    }
    if (lua_isnil(L, 3)) return 1;
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}

static int ordered_pairs(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushcfunction(L, ordered_next);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* -- The list ----------------------------------------------------------------------------------------- */

static const luaL_Reg own_functions[] = {
    {"tostring", plain_tostring}, {"next", ordered_next}, {"pairs", ordered_pairs}, {NULL, NULL}};
static const luaL_Reg string_wrappers[] = {
    {"rep", capped_rep}, {"byte", capped_byte}, {"format", capped_format}, {NULL, NULL}};
static const luaL_Reg table_wrappers[] = {{"insert", on_list},       {"remove", on_list},
                                          {"concat", capped_concat}, {"unpack", capped_unpack},
                                          {"sort", capped_sort},     {NULL, NULL}};

/* Stack: source at -2, target at -1. */
static void copy_names(lua_State *L, const char *const *names) {
    for (; *names; names++) {
        lua_getfield(L, -2, *names);
        lua_setfield(L, -2, *names);
    }
}

static void wrap_names(lua_State *L, const luaL_Reg *wrappers) {
    for (; wrappers->name; wrappers++) {
        lua_getfield(L, -2, wrappers->name);
        lua_pushcclosure(L, wrappers->func, 1);
        lua_setfield(L, -2, wrappers->name);
    }
}

/* Opens a library out of the script's reach and pushes a table with the allowed part of it. */
static void push_part(lua_State *L, const char *name, lua_CFunction open, const char *const *names,
                      const luaL_Reg *wrappers) {
    luaL_requiref(L, name, open, 0);
    lua_newtable(L);
    if (names) copy_names(L, names);
    if (wrappers) wrap_names(L, wrappers);
    lua_remove(L, -2);
}

/* Strings keep their methods (s:upper()), but only the allowed ones. */
static void replace_string_metatable(lua_State *L, int string_table) {
    lua_pushliteral(L, "");
    lua_newtable(L);
    lua_pushvalue(L, string_table);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

void sandbox_push_library(lua_State *L) {
    push_part(L, LUA_GNAME, luaopen_base, basic_names, NULL);
    luaL_setfuncs(L, own_functions, 0);
    push_part(L, LUA_STRLIBNAME, luaopen_string, string_names, string_wrappers);
    replace_string_metatable(L, lua_gettop(L));
    lua_setfield(L, -2, LUA_STRLIBNAME);
    push_part(L, LUA_TABLIBNAME, luaopen_table, NULL, table_wrappers);
    lua_setfield(L, -2, LUA_TABLIBNAME);
    push_part(L, LUA_MATHLIBNAME, luaopen_math, math_names, NULL);
    lua_setfield(L, -2, LUA_MATHLIBNAME);
}
