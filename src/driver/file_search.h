/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_search.h - search for an input file in a list of folders, candidates
 * ranked by name.
 */
#ifndef MO_DRIVER_FILE_SEARCH_H
#define MO_DRIVER_FILE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ingest/input.h"

typedef struct mo_file_search_spec {
    const char *likely;         /* suffix of the names tried first */
    const char *const *endings; /* other files with these suffixes are skipped;
                                   ends with NULL */
    bool (*accepts)(mo_input *input, mo_error *err); /* by the beginning of the
                                                        file; NULL: any */
    int64_t most_bytes;
} mo_file_search_spec;

/* Folders to search, each once, in order. Starts as zeros. */
typedef struct mo_search_folders {
    char **path;
    struct mo_search_folder_id *id;
    size_t n, room, id_room;
} mo_search_folders;

/* Adds the folder of file and, if that is a symbolic link, the folder of its
 * target. NULL, "-" and folders that do not exist add nothing. */
mo_status mo_search_folders_add_beside(mo_search_folders *folders,
                                       const char *file, mo_error *err);

/* Adds a folder; one that does not exist adds nothing. */
mo_status mo_search_folders_add(mo_search_folders *folders, const char *path,
                                mo_error *err);

/* Adds the working folder and the folders of MOIRAI_PATH. */
mo_status mo_search_folders_add_usual(mo_search_folders *folders,
                                      mo_error *err);
void mo_search_folders_clear(mo_search_folders *folders);

/* Returns the path of the file with that name in the first folder that has one;
 * freed by the caller. NULL: none, or no memory. */
char *mo_search_folders_find(const mo_search_folders *folders,
                             const char *name);

/* The file that is searched for. */
typedef struct mo_file_search_query {
    const mo_file_search_spec *kind;
    const char *name;   /* files with this name come first; NULL or "": none */
    const char *beside; /* then those with the stem of this file; or NULL */
    char *const *hints; /* paths, ended by NULL; or NULL */
    /* Whether the file is accepted. The search ends when memory is exhausted:
     * err has that status then. */
    bool (*test)(void *context, const char *path, mo_error *err);
    void *context;
} mo_file_search_query;

/* Calls the test for candidate files until it returns true: those with the name
 * in any folder, the hints, then at most 10,000 names and 200 opened files in
 * each folder. A folder that is named stands for its config.json. On success
 * *path is the accepted file, to be freed by the caller, or NULL if none was
 * accepted. */
mo_status mo_file_search(const mo_search_folders *folders,
                         const mo_file_search_query *query, char **path,
                         mo_error *err);

#endif
