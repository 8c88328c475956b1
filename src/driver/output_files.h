/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_files.h - several output files of one command, committed together:
 * each appears whole or not at all. output_guard.h checks what they replace.
 */
#ifndef MO_DRIVER_OUTPUT_FILES_H
#define MO_DRIVER_OUTPUT_FILES_H

#include "base/error.h"
#include "base/out.h"

typedef struct mo_output_file {
    const char *option; /* "--map", for errors */
    const char *path;   /* "-" is standard output; NULL: not written */
    mo_out *out;        /* NULL while closed */
} mo_output_file;

/* Creates a folder with the mode, less the umask, unless it exists. */
mo_status mo_output_files_make_folder(const char *path, unsigned mode,
                                      mo_error *err);

/* Opens the outputs with a path. After a failure the caller discards those
 * that are open. */
mo_status mo_output_files_open(mo_output_file *outputs, int n, mo_error *err);

/* Closes the outputs and renames them to their paths, the first one last: when
 * it exists, so do the others. */
mo_status mo_output_files_commit(mo_output_file *outputs, int n, mo_error *err);

/* Closes the outputs that are still open and removes their temporary files. */
void mo_output_files_discard(mo_output_file *outputs, int n);

#endif
