/* What the files of records share (record.h is for the others).
 *
 *   line.c   a record <-> a line; problem.c, json.c do its parts
 *   near.c   how near two problems are
 *   merge.c  two records of one problem become one
 *   file.c   lines <-> a file that others write, too
 *   store.c  the records in memory
 *   share.c  import and export; records.c has those of mcrt.h
 *   shipped.c  those that the library ships */
#ifndef MCRT_RECORD_PARTS_H
#define MCRT_RECORD_PARTS_H

#include "records/record.h"

/* -- near.c */

/* Where a problem stands among others: a number for each axis. Distances are differences of these; 1 is about
   a factor of two. */
enum {
    POSITION_M, /* log2 */
    POSITION_N,
    POSITION_K,
    POSITION_DENSITY, /* log2 of the row blocks' mean length over the columns */
    POSITION_SPREAD,  /* log2 of 1 + the lengths' standard deviation over their mean */
    POSITION_LONGEST, /* log2 of the longest length over the mean */
    POSITION_AXES
};
typedef struct record_position {
    double axes[POSITION_AXES];
} record_position;

record_position record_position_of(const plan_problem *problem);
/* record_distance, from positions that are known already. */
double record_distance_at(const plan_problem *a, const record_position *p, const plan_problem *b,
                          const record_position *q);

/* -- merge.c */

/* Brings R's candidates into their order, with the one that has R's fields first. False: it has none, though
   there are fields. */
bool record_arrange(record *r);
/* Makes one record of OLD and NEW, which are of one problem, GPU and generator. It has all candidates of
   both; of a candidate that is in both it has what was measured last; and it has the faster one of the two
   chosen kernels. Times say which record is the later one; of equal times it is NEW. */
mc_status record_merge(const record *old, const record *new, record *merged, mc_diag *diag);

/* -- file.c */

/* Calls TAKE for each line of the file at PATH that is a record; it owns that record, and a status other than
   MC_OK ends the reading. Other lines go to the log, with their number. MC_IO, MC_NOMEM. A file that is not
   there is MC_IO with *MISSING (may be NULL). */
typedef mc_status record_taker(void *user, record *r, const char *line, size_t size, mc_diag *diag);
mc_status record_file_read(const char *path, const record_store_config *config, record_taker *take,
                           void *user, bool *missing, mc_diag *diag);
/* Lines in memory; messages call where they come from NAME. */
typedef struct record_lines {
    const char *name, *text;
    size_t size;
    const char *holding; /* other lines are not looked at; NULL: all are */
} record_lines;
/* record_file_read for LINES. */
mc_status record_lines_read(const record_lines *lines, const record_store_config *config, record_taker *take,
                            void *user, mc_diag *diag);
/* Adds LINES (with their newlines) to the end of the file in one write, begun on a line of its own. The file
   is made if it is not there (0600), its directories too (0700). MC_IO. */
mc_status record_file_append(const char *path, const char *lines, size_t size, mc_diag *diag);
/* The same, all of them or none: by a new file in the old one's place. */
mc_status record_file_extend(const char *path, const char *lines, size_t size, mc_diag *diag);
/* MC_IO where neither of them would succeed, as far as that is known without writing. Folders are made; an
   empty file is not left behind. */
mc_status record_file_check(const char *path, mc_diag *diag);

/* -- store.c */

/* Takes R over as an own record, merged with what there is. *LINE: what came of it, NULL where nothing is
   new; the caller frees. */
mc_status record_take(record_store *store, record *r, char **line, mc_diag *diag);
/* Whether the store has a later record of R's problem and GPU, by whatever generator. For visitors of
   record_walk: it takes no lock. */
bool record_is_outdone(const record_store *store, const record *r);
const record_store_config *record_store_settings(const record_store *store);
const char *record_store_path(const record_store *store); /* NULL: none */

#endif
