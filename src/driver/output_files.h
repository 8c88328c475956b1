/*
 * outputs.h - several files of one command, each whole or not at all, and none
 * in the place of another.
 */
#ifndef MO_DRIVER_OUTPUT_FILES_H
#define MO_DRIVER_OUTPUT_FILES_H

#include "base/error.h"
#include "base/out.h"

typedef struct mo_output {
    const char *option; /* "--map", for errors */
    const char *path;   /* "-" is standard output; NULL: not wanted */
    mo_out *out;        /* NULL while not open */
} mo_output;

/* Whether each has a place of its own; to be asked before anything is read. */
mo_status mo_outputs_check(const mo_output *outputs, int n, mo_error *err);

/* Whether none of them would replace a file that is read; input may be NULL,
 * "-", or no file at all. */
mo_status mo_outputs_spare(const mo_output *outputs, int n, const char *input,
                           mo_error *err);

/* Opens those that are wanted. */
mo_status mo_outputs_open(mo_output *outputs, int n, mo_error *err);

/* Puts them in their places, the first one last: once it is there, so are those
 * that belong to it. */
mo_status mo_outputs_commit(mo_output *outputs, int n, mo_error *err);

/* Gives up those that are still open. */
void mo_outputs_abandon(mo_output *outputs, int n);

#endif
