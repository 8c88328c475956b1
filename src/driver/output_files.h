/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outputs.h - several files of one command, each whole or not at all, and none
 * in the place of another.
 */
#ifndef MO_DRIVER_OUTPUT_FILES_H
#define MO_DRIVER_OUTPUT_FILES_H

#include "base/error.h"
#include "base/out.h"

typedef struct mo_output_file {
    const char *option; /* "--map", for errors */
    const char *path;   /* "-" is standard output; NULL: not wanted */
    mo_out *out;        /* NULL while not open */
} mo_output_file;

/* Whether each has a place of its own; to be asked before anything is read. */
mo_status mo_output_files_check(const mo_output_file *outputs, int n,
                                mo_error *err);

/* Whether none of them would replace a file that is read; input may be NULL,
 * "-", or no file at all. */
mo_status mo_output_files_check_input(const mo_output_file *outputs, int n,
                                      const char *input, mo_error *err);

/* Opens those that are wanted. */
mo_status mo_output_files_open(mo_output_file *outputs, int n, mo_error *err);

/* Puts them in their places, the first one last: once it is there, so are those
 * that belong to it. */
mo_status mo_output_files_commit(mo_output_file *outputs, int n, mo_error *err);

/* Gives up those that are still open. */
void mo_output_files_discard(mo_output_file *outputs, int n);

#endif
