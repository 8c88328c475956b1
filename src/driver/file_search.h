/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_search.h - search for an input file in the usual folders, candidates
 * ranked by name.
 */
#ifndef MO_DRIVER_FILE_SEARCH_H
#define MO_DRIVER_FILE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_file_search_spec {
    const char *likely;         /* suffix of the names tried first */
    const char *const *endings; /* other files with these suffixes are skipped;
                                   ends with NULL */
    bool (*root)(const char *name); /* accepts the root element; NULL: the file
                                       is not XML */
    int64_t most_bytes;
} mo_file_search_spec;

typedef bool mo_file_search_test(void *context, const char *path);

/*
 * Calls test for candidate files until it returns true. Folders in order: that
 * of beside, that of other (each "-" or NULL: none), the working folder, those
 * of MOIRAI_PATH; at most 10,000 names and 200 opened files in each, files
 * with the stem of beside first. On success *path is the accepted file, to be
 * freed by the caller, or NULL if none was accepted.
 */
mo_status mo_file_search(const char *beside, const char *other,
                         const mo_file_search_spec *kind,
                         mo_file_search_test *test, void *context, char **path,
                         mo_error *err);

#endif
