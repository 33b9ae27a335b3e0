/* Statuses and messages that every function of libmcgen and libmcrt returns: errors are values, no library
 * prints. */
#ifndef MC_STATUS_H
#define MC_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MC_API __attribute__((visibility("default")))

/* X(name, text). The text says what kind of fault it is; the message in mc_diag says which. */
#define MC_STATUS_LIST(X)                                                                                    \
    X(OK, "done")                                                                                            \
    X(USAGE, "wrong usage or spec")                                                                          \
    X(NOMEM, "out of memory")                                                                                \
    X(IO, "a file could not be read or written")                                                             \
    X(FORMAT, "a file is malformed")                                                                         \
    X(CANNOT, "this cannot be done")                                                                         \
    X(DEVICE, "the device reports an error")                                                                 \
    X(MISMATCH, "the result is wrong")

typedef enum mc_status {
#define X(name, text) MC_##name,
    MC_STATUS_LIST(X)
#undef X
} mc_status;

MC_API const char *mc_status_text(mc_status status);

/* Messages of a failed call, one line each, in the order found. The caller owns it; one may serve many calls.
   NULL holds no messages: where they are not wanted, or where there was no memory for a mc_diag. */
typedef struct mc_diag mc_diag;

MC_API mc_diag *mc_diag_create(void); /* NULL: out of memory */
MC_API void mc_diag_destroy(mc_diag *diag);
MC_API void mc_diag_clear(mc_diag *diag);
MC_API size_t mc_diag_count(const mc_diag *diag);
/* All messages joined by newlines, "" where there is none. Valid until the next call on DIAG. */
MC_API const char *mc_diag_text(const mc_diag *diag);

/* Adds one message (printf's format) and returns STATUS, so that a function fails in one line:
   return mc_fail(diag, MC_FORMAT, "%s:%zu: row offset %lld is below the one before", path, line, off);
   DIAG may be NULL. */
MC_API mc_status mc_fail(mc_diag *diag, mc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif
