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

typedef struct mo_locate {
    const char *beside; /* the solution or model; "-": it lies nowhere */
    const char *graph, *cluster, *profile, *rules; /* given, or NULL */
    mo_read_options read;                          /* of graphs */
} mo_locate;

/* Files, or the names of built-in clusters and rule sets; all are the caller's.
 * profile is NULL where the model was made without one. */
typedef struct mo_located {
    char *graph, *cluster, *profile, *rules;
} mo_located;

/* An error says what was looked for and what was found instead. */
mo_status mo_locate_all(const mo_locate *what, const mo_origin *origin,
                        const mo_talk *talk, mo_located *located,
                        mo_error *err);
void mo_located_clear(mo_located *located);

/* Whether what was made is what the solution is of: an error names the first
 * digest that differs and the file that has another. */
mo_status mo_locate_same(const mo_origin *origin, const mo_located *located,
                         const mo_prepared *made, mo_error *err);

#endif
