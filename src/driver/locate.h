/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locate.h - finding again what a model was made of, by the digests that its
 * solution carries.
 *
 * What is given is taken.  The rest is looked for beside the solution and the
 * graph, in the working folder and in the folders of MOIRAI_PATH, among files
 * that can be meant by their names and their root elements, the likeliest first
 * and not without end.
 */
#ifndef MO_DRIVER_LOCATE_H
#define MO_DRIVER_LOCATE_H

#include "base/error.h"
#include "driver/prepare.h"
#include "driver/log.h"
#include "ingest/read.h"
#include "solvers/answer/answer.h"

typedef struct mo_locate_query {
    const char *beside; /* the solution or model; "-": it lies nowhere */
    const char *graph, *cluster, *profile, *rules; /* given, or NULL */
    mo_read_options read;                          /* of graphs */
} mo_locate_query;

/* Files, or the names of built-in clusters and rule sets; all are the caller's.
 * profile is NULL where the model was made without one. */
typedef struct mo_locate_result {
    char *graph, *cluster, *profile, *rules;
} mo_locate_result;

/* An error says what was looked for and what was found instead. */
mo_status mo_locate_inputs(const mo_locate_query *what,
                           const mo_provenance *origin,
                           const mo_driver_log *talk, mo_locate_result *located,
                           mo_error *err);
void mo_locate_result_clear(mo_locate_result *located);

/* Whether what was made is what the solution is of: an error names the first
 * digest that differs and the file that has another. */
mo_status mo_locate_verify_digests(const mo_provenance *origin,
                                   const mo_locate_result *located,
                                   const mo_prepared *made, mo_error *err);

#endif
