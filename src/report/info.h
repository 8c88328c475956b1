/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - reports of moirai-info on an instance and on a solution file; that
 * on a graph is graph_info.h.
 */
#ifndef MO_REPORT_INFO_H
#define MO_REPORT_INFO_H

#include "base/error.h"
#include "base/out.h"
#include "cost/instance.h"
#include "solvers/answer/answer.h"

/* instance_info.c: totals as text, everything as JSON. */
typedef struct mo_report_instance {
    const char *graph, *cluster; /* as given by the user */
    int fine_ops;                /* of the graph before it was coarsened */
    const mo_instance *instance;
} mo_report_instance;

mo_status mo_report_instance_text(const mo_report_instance *report, mo_out *out,
                                  mo_error *err);

/* Writes the object of moirai-info(1): totals, then "instance" with every
 * number; times in microseconds. */
mo_status mo_report_instance_json(const mo_report_instance *report, mo_out *out,
                                  mo_error *err);

/* solution_info.c: what a solution claims, what it is a solution of, and which
 * of these inputs are here. */
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
