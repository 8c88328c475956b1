/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locate.h - search for the inputs of a model by the digests in its solution.
 *
 * Inputs given by the caller are used as they are. The others are searched for
 * beside the solution and the graph, in the working folder and in the folders
 * of MOIRAI_PATH, among files with a fitting name and root element, the
 * likeliest first, within the limits of file_search.h.
 */
#ifndef MO_DRIVER_LOCATE_H
#define MO_DRIVER_LOCATE_H

#include "base/error.h"
#include "driver/prepare.h"
#include "driver/log.h"
#include "ingest/read.h"
#include "solvers/answer/answer.h"

typedef struct mo_locate_query {
    const char
        *beside; /* the solution or model; "-": standard input, no folder */
    const char *graph, *cluster, *profile,
        *rules;           /* given by the caller, or NULL */
    mo_read_options read; /* options for reading graphs */
} mo_locate_query;

/* Paths, or names of built-in clusters and rule sets; the caller frees all of
 * them. profile is NULL if the model was built without one. */
typedef struct mo_locate_result {
    char *graph, *cluster, *profile, *rules;
} mo_locate_result;

/* Finds the inputs of origin. The error names the missing input and the
 * nearest file with another digest. */
mo_status mo_locate_inputs(const mo_locate_query *what,
                           const mo_provenance *origin,
                           const mo_driver_log *logger,
                           mo_locate_result *located, mo_error *err);
void mo_locate_result_clear(mo_locate_result *located);

/* Compares the digests of the rebuilt instance with those of the solution. The
 * error names the first that differs and its file. */
mo_status mo_locate_verify_digests(const mo_provenance *origin,
                                   const mo_locate_result *located,
                                   const mo_prepared *made, mo_error *err);

#endif
