/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locate.h - search for the inputs of a model by the digests in its solution.
 *
 * Inputs given by the caller are used as they are. The others are searched for
 * beside the solution and the graph, in the working folder, in the folders of
 * MOIRAI_PATH, and where comments of the solution say that they were, among
 * files with a fitting name and root element, the likeliest first, within the
 * limits of file_search.h.
 */
#ifndef MO_DRIVER_LOCATE_H
#define MO_DRIVER_LOCATE_H

#include "base/error.h"
#include "driver/file_search.h"
#include "driver/prepare.h"
#include "driver/log.h"
#include "ingest/read.h"
#include "solvers/answer/answer.h"

typedef struct mo_locate_query {
    const char
        *beside; /* the solution or model; "-": standard input, no folder */
    const char *also; /* another file in whose folder inputs may be, or NULL */
    const char *graph, *cluster, *profile, *rules,
        *cost;            /* given by the caller, or NULL */
    mo_read_options read; /* options for reading graphs; an empty list: that of
                             the solution */
    bool weights;         /* an error names missing weights, too */
} mo_locate_query;

typedef enum mo_locate_kind {
    MO_LOCATE_GRAPH,
    MO_LOCATE_CLUSTER,
    MO_LOCATE_PROFILE,
    MO_LOCATE_RULES,
    MO_LOCATE_COST, /* the file of --cost roofline:FILE */
    MO_LOCATE_KINDS
} mo_locate_kind;

/* One input of a model. */
typedef struct mo_locate_input {
    const char *what, *option; /* "graph", "--graph" */
    const char *name;          /* in the solution; "": not recorded. Borrowed
                                  from the provenance */
    bool needed;               /* the model has such an input */
    bool has_digest;
    uint64_t digest;
    char *path;     /* a path, or the name of a built-in one; NULL: missing, or
                       not needed */
    char note[320]; /* about a file with that name that is not the input; "":
                       there is none */
} mo_locate_input;

/* Starts as zeros. */
typedef struct mo_locate_search {
    mo_locate_input inputs[MO_LOCATE_KINDS];
    mo_search_folders folders; /* those that were searched */
} mo_locate_search;

/* Searches for all inputs of origin, which must outlive the search. A missing
 * input is no error. The caller clears *search, whatever the result. */
mo_status mo_locate_search_run(const mo_locate_query *what,
                               const mo_provenance *origin,
                               const mo_driver_log *logger,
                               mo_locate_search *search, mo_error *err);
void mo_locate_search_clear(mo_locate_search *search);

/* Paths, or names of built-in clusters and rule sets; the caller frees all of
 * them. profile is NULL if the model was built without one. */
typedef struct mo_locate_result {
    char *graph, *cluster, *profile, *rules;
    char *cost; /* as of --cost; NULL: the built-in one */
} mo_locate_result;

/* Finds the inputs of origin. The error names all missing ones with their
 * digests, and the searched folders. */
mo_status mo_locate_inputs(const mo_locate_query *what,
                           const mo_provenance *origin,
                           const mo_driver_log *logger,
                           mo_locate_result *located, mo_error *err);
void mo_locate_result_clear(mo_locate_result *located);

/* Returns the options for reading graphs: those of the query or, without any
 * shape there, the shapes of origin, in shapes. */
mo_read_options mo_locate_read_options(const mo_locate_query *what,
                                       const mo_provenance *origin,
                                       mo_provenance_texts *texts);

/* Compares the digests of the rebuilt instance with those of the solution. The
 * error names the first that differs and its file. */
mo_status mo_locate_verify_digests(const mo_provenance *origin,
                                   const mo_locate_result *located,
                                   const mo_problem *problem, mo_error *err);

#endif
