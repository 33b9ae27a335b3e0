#ifndef MC_SANDBOX_H
#define MC_SANDBOX_H
#include <lua.h>

/* Pushes the table of functions that a spec may call (library.c). */
void sandbox_push_library(lua_State *L);

#endif
