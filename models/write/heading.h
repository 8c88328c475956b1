/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heading.h - the comments of a model file. At its start: version, graph,
 * cluster, options, time unit, and the numbers of ops, devices and transfers.
 * Before its last line: a digest of all bytes above, by which a model that was
 * edited or extended differs from the one that was emitted.
 */
#ifndef MO_MODELS_WRITE_HEADING_H
#define MO_MODELS_WRITE_HEADING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"
#include "models/model.h"

typedef struct mo_heading {
    const mo_model *model;
    const char *graph, *cluster; /* files or names, as given by the user */
    /* Lines of ASCII about where inputs are (driver/file_hints.h), ended by
     * NULL; or NULL. */
    char *const *files;
} mo_heading;

/* Every line begins with mark and a blank.  Lines are ASCII and short for any
 * names: some readers fail on long ones. */
void mo_heading_write(const mo_heading *heading, const char *mark, mo_out *out);

/* The digest and the last line of a file, LP or MPS, in bytes. */
enum { MO_HEADING_END_SIZE = 64 };

/* Writes them into text with a terminating 0 and returns the length, which the
 * format alone determines. */
size_t mo_heading_end(bool mps, uint64_t digest,
                      char text[MO_HEADING_END_SIZE]);

#endif
