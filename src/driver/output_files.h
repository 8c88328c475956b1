/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_files.h - several output files of one command, committed together:
 * each appears whole or not at all, and none replaces another.
 */
#ifndef MO_DRIVER_OUTPUT_FILES_H
#define MO_DRIVER_OUTPUT_FILES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"

typedef struct mo_output_file {
    const char *option; /* "--map", for errors */
    const char *path;   /* "-" is standard output; NULL: not written */
    mo_out *out;        /* NULL while closed */
} mo_output_file;

/* Fails with MO_E_USAGE if two outputs are one file. To be called before
 * anything is read. */
mo_status mo_output_files_check(const mo_output_file *outputs, int n,
                                mo_error *err);

/* Fails with MO_E_USAGE if an output would replace the input; input may be
 * NULL, "-", or no file. */
mo_status mo_output_files_check_input(const mo_output_file *outputs, int n,
                                      const char *input, mo_error *err);

/* The same for several inputs. */
mo_status mo_output_files_check_inputs(const mo_output_file *outputs, int n,
                                       const char *const *inputs,
                                       size_t n_inputs, mo_error *err);

/* Creates a folder with the mode, less the umask, unless it exists. */
mo_status mo_output_files_make_folder(const char *path, unsigned mode,
                                      mo_error *err);

/* Whether both names are one existing folder. */
bool mo_output_files_same_folder(const char *a, const char *b);

/* Whether the folder is so many levels above a path without links, which is
 * cut there; 0: the path itself. */
bool mo_output_files_is_above(const char *folder, int levels, char *path);

/* Opens the outputs with a path. After a failure the caller discards those
 * that are open. */
mo_status mo_output_files_open(mo_output_file *outputs, int n, mo_error *err);

/* Closes the outputs and renames them to their paths, the first one last: when
 * it exists, so do the others. */
mo_status mo_output_files_commit(mo_output_file *outputs, int n, mo_error *err);

/* Closes the outputs that are still open and removes their temporary files. */
void mo_output_files_discard(mo_output_file *outputs, int n);

#endif
