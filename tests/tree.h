/* Folders that a test made, with all that is in them. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include <ftw.h>
#include <stdio.h>

static inline int tree_remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void tree_remove(const char *path) {
    (void)nftw(path, tree_remove_one, 16, FTW_PHYS | FTW_DEPTH);
}

#endif
