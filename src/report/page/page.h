/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - report of placements with their schedules: timeline, shares of time,
 * memory, graph, methods; as HTML, JSON, text, SVG or a trace.
 *
 * Everything is borrowed from the caller. The functions write the same bytes
 * for the same input; those that return a status fail for lack of memory only.
 */
#ifndef MO_REPORT_PAGE_PAGE_H
#define MO_REPORT_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"
#include "cost/cluster.h"
#include "cost/instance.h"
#include "graph/graph.h"
#include "report/method_table.h"
#include "report/run_table.h"
#include "schedule/critical_path.h"
#include "schedule/live_memory.h"
#include "schedule/period/loads.h"
#include "schedule/schedule.h"
#include "solvers/answer/evaluation.h"

/* compute_ns + transfer_ns + idle_ns is the makespan, or the period. */
typedef struct mo_time_share {
    int n_ops;
    int64_t compute_ns;
    int64_t transfer_ns; /* transfers to or from it while it does not compute */
    int64_t idle_ns;
    int64_t path_ns; /* its ops on the critical path */
} mo_time_share;

/* Transfers from one device to another. */
typedef struct mo_pair_share {
    int from, to;
    int n_transfers;
    int64_t bytes; /* MO_UNKNOWN where sizes are unknown */
    int64_t busy_ns, path_ns;
} mo_pair_share;

typedef struct mo_time_shares {
    mo_time_share *devices;
    mo_pair_share *pairs; /* those with transfers, by from and to */
    int n_pairs;
    int64_t path_transfer_ns, path_gap_ns;
} mo_time_shares;

/* If period_ns is not 0, s repeats every period_ns, and the shares are those of
 * a period.  *shares must be zero before the call; the caller clears it, also
 * after a failure. */
mo_status mo_time_shares_compute(const mo_instance *x, const mo_schedule *s,
                                 int64_t period_ns,
                                 const mo_critical_path *path,
                                 mo_time_shares *shares, mo_error *err);
void mo_time_shares_clear(mo_time_shares *shares);

/*
 * A placement of the instance, valid, with its schedule.  With the objective
 * period that is the steady state: a modulo schedule, of which the page shows
 * one period.
 *
 *     one request  |--A--|-B-|         a period  |-B-|--A--|
 *                        ^ period                ^ of the request before
 */
typedef struct mo_page_placement {
    const char *name; /* file or method */
    const mo_answer_evaluation *evaluation;
    const mo_period_loads *loads; /* NULL: the objective is latency */
    int64_t bound_ns;             /* lower bound of the objective; 0: unknown */
    const char *bound_by;
    int64_t claimed_ns; /* larger, claimed by the file; 0: none */
    const char *claimed_by;
    const mo_critical_path *path; /* of a period it is empty */
    const mo_time_shares *shares;
    const mo_memory_profile *memory;
} mo_page_placement;

/* A call or one end of a transfer, as it was measured. */
typedef struct mo_page_event {
    const char *name;
    int op; /* of that name; -1: none */
    int device;
    bool is_transfer, is_sending;
    int64_t start_ns, end_ns;
} mo_page_event;

typedef struct mo_page_measured {
    const char *file;
    int64_t makespan_ns;
    int n;
    const mo_page_event *events;
} mo_page_measured;

typedef struct mo_page {
    const char *graph_file, *cluster_file;
    const mo_graph *graph; /* as placed */
    const mo_cluster *cluster;
    const mo_instance *x;
    mo_regime regime;
    int n; /* placements; one at least, the reported one first */
    const mo_page_placement *placements;
    const mo_page_measured *measured; /* of the first; NULL: none */
    const mo_report_methods *methods; /* NULL: not compared */
    const char *no_losses;      /* why methods has no losses; NULL: unasked */
    const mo_report_runs *runs; /* NULL: no other runs were measured */
    /* Of a period: a whole copy on each of so many devices instead; 0: none
     * holds one. */
    int n_replicas;
    int64_t replicas_ns;
    /* Of a replicated solution: how many of the placements, the first ones, are
     * its copies, and the period of all together; 0: it is none. */
    int n_copies;
    int64_t copies_ns;
} mo_page;

/* A self-contained page; loads nothing from elsewhere. */
mo_status mo_page_html(const mo_page *page, mo_out *out, mo_error *err);

/* The data of that page, one object; moirai-report(1) lists its keys. */
mo_status mo_page_json(const mo_page *page, mo_out *out, mo_error *err);

/* Explanation and timeline for a terminal, so many columns wide. */
mo_status mo_page_text(const mo_page *page, int columns, mo_out *out,
                       mo_error *err);

/* Style, body and script of the HTML page, as lines; each list ends with NULL.
 * The build makes them from the files in src/report/page/view. */
extern const char *const mo_page_style[];
extern const char *const mo_page_body[];
extern const char *const mo_page_script[];

/* The timeline as a picture. */
mo_status mo_page_svg(const mo_page *page, mo_out *out, mo_error *err);

/* The schedule as trace events, in the layout of moirai-exec --trace. */
void mo_page_trace(const mo_page *page, mo_out *out);

/* The explanation, one sentence or more a line. */
mo_status mo_page_words(const mo_page *page, mo_out *out, mo_error *err);

/* Returns the objective and its name. */
int64_t mo_page_objective_ns(const mo_page_placement *p);
bool mo_page_is_period(const mo_page_placement *p);

/* Returns the times of a request: alone, or with the objective period in the
 * pipeline. */
const mo_schedule *mo_page_schedule(const mo_page_placement *p);

/* Returns the length of the timeline: of that schedule, or one period. */
int64_t mo_page_span_ns(const mo_page_placement *p);

/* Returns the relative gap to a bound. */
double mo_page_gap(const mo_page_placement *p, int64_t bound_ns);

/* Returns the part of the period that a resource of the loads is busy. */
double mo_page_load_share(const mo_page_placement *p, int resource);

/* An interval of time. */
typedef struct mo_page_span {
    int64_t start_ns, end_ns;
} mo_page_span;

/* Maps an interval of a schedule that repeats every period_ns (0: it does not)
 * to one period; returns the number of pieces, 1 or 2. */
int mo_page_fold(int64_t period_ns, int64_t start_ns, int64_t end_ns,
                 mo_page_span pieces[2]);

#endif
