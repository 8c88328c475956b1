/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution_info.h - report on a solution file: what it claims, what it is a
 * solution of, and which of these inputs are here.
 */
#ifndef MO_REPORT_SOLUTION_INFO_H
#define MO_REPORT_SOLUTION_INFO_H

#include "base/error.h"
#include "base/out.h"
#include "solvers/answer/answer.h"

typedef struct mo_report_input {
    const char *what; /* "graph" */
    const char *name; /* in the solution; "": not recorded */
    bool has_digest;
    uint64_t digest;
    const char *path; /* where it is here; NULL: missing */
    const char *note; /* about a file of that name that differs; "": none */
} mo_report_input;

/* A file of a bundle. */
typedef struct mo_report_member {
    const char *name;
    int64_t size;
    bool has_digest; /* weights */
    uint64_t digest;
    bool packed;
} mo_report_member;

/* All borrowed. */
typedef struct mo_report_solution {
    const char *file;
    const mo_report_member *members; /* of a bundle */
    int n_members;
    const mo_solution *solution; /* NULL: a bundle of a graph alone */
    const mo_provenance *origin;
    const mo_report_input *inputs;
    int n_inputs;
    const int *ops; /* by device: ops placed there */
    int n_devices;
    const char *const *device_ids; /* NULL: the cluster is not here */
    const char *const *searched;   /* folders */
    int n_searched;
} mo_report_solution;

/* Failures to write are kept by out. */
void mo_report_solution_text(const mo_report_solution *r, mo_out *out);
void mo_report_solution_json(const mo_report_solution *r, mo_out *out);

#endif
