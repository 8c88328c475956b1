/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporary_name.h - names of files that are not complete yet:
 * "FOLDER/.NAME.moirai-" and random letters. All functions may be called by
 * several threads.
 */
#ifndef MO_BASE_TEMPORARY_NAME_H
#define MO_BASE_TEMPORARY_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the directory part of path, with its slash. */
size_t mo_temporary_folder_length(const char *path);

/* Returns "folder/.name.moirai-" with space for the random letters; a name
 * close to the system's limit is truncated. The caller frees it; NULL: memory
 * is exhausted. */
char *mo_temporary_stem(const char *path);

/* Writes random letters and a zero byte at the end of a stem; attempts of one
 * process differ. */
void mo_temporary_letters(char *letters, int attempt);

/* Returns whether name, without a folder, is the stem's and letters. */
bool mo_temporary_is_name(const char *name, const char *stem);

#endif
