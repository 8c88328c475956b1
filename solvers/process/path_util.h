/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_util.h - paths as strings: formatting, the last component, search in
 * PATH, absolute paths, and lists of them.
 *
 * Every char * that is returned was allocated; the caller frees it with free().
 */
#ifndef MO_SOLVERS_PROCESS_PATH_UTIL_H
#define MO_SOLVERS_PROCESS_PATH_UTIL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Returns the formatted text, as asprintf() does; NULL when out of memory. */
char *mo_path_format(const char *format, ...) MO_PRINTF(1, 2);

/* Returns the last component: a pointer into path, which stays the owner. */
const char *mo_path_basename(const char *path);

/* Whether path is a regular file that this process may execute. */
bool mo_path_is_program(const char *path);

/* Returns the absolute path of the first program of that name in PATH; NULL when
 * there is none, or no memory. An empty folder in PATH is skipped. */
char *mo_path_search(const char *name);

/* Returns path as an absolute one, with the symbolic links of its folders
 * resolved.  The last component is not resolved, since Python finds its
 * environment by the name it is called by.  NULL, with errno set, when there is
 * no such file. */
char *mo_path_absolute(const char *path);

/* An array of n owned paths; paths[n] is NULL once one was added.  Starts as
 * { 0 }. */
typedef struct mo_path_list {
    char **paths;
    size_t n, capacity;
} mo_path_list;

/* Appends path and takes ownership of it, even on failure.  A NULL path counts
 * as a failed allocation: MO_E_MEMORY. */
mo_status mo_path_list_append(mo_path_list *list, char *path, mo_error *err);

/* Frees the paths and leaves an empty list. */
void mo_path_list_clear(mo_path_list *list);

#endif
