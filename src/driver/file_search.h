/* SPDX-License-Identifier: Apache-2.0 */
/*
 * candidates.h - files that may be meant: in the folders where one would look,
 * by their names first.
 */
#ifndef MO_DRIVER_FILE_SEARCH_H
#define MO_DRIVER_FILE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_file_search_spec {
    const char *likely;         /* ending of the names that come first */
    const char *const *endings; /* others have none of them; ends with NULL */
    bool (*root)(const char *name); /* by the root element; NULL: no XML */
    int64_t most_bytes;
} mo_file_search_spec;

typedef bool mo_file_search_test(void *context, const char *path);

/*
 * Shows files to test until it takes one: those beside the file and beside the
 * other (each "-" or NULL: none), in the working folder, in the folders of
 * MOIRAI_PATH.  Of a folder only so many are looked at, those first that are
 * called like the file.  *path is NULL when none was taken, else the caller's.
 */
mo_status mo_file_search(const char *beside, const char *other,
                         const mo_file_search_spec *kind,
                         mo_file_search_test *test, void *context, char **path,
                         mo_error *err);

#endif
