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
#include "report/page/time_shares.h"
#include "schedule/critical_path.h"
#include "schedule/live_memory.h"
#include "solvers/answer/evaluation.h"

/* A placement of the instance, valid, with its schedule. */
typedef struct mo_page_placement {
    const char *name; /* file or method */
    const mo_answer_evaluation *evaluation;
    int64_t bound_ns; /* lower bound of the objective; 0: unknown */
    const char *bound_by;
    int64_t claimed_ns; /* larger, claimed by the file; 0: none */
    const char *claimed_by;
    const mo_critical_path *path;
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
} mo_page;

/* A self-contained page; loads nothing from elsewhere. */
mo_status mo_page_html(const mo_page *page, mo_out *out, mo_error *err);

/* The data of that page, one object; moirai-report(1) lists its keys. */
mo_status mo_page_json(const mo_page *page, mo_out *out, mo_error *err);

/* Explanation and timeline for a terminal, so many columns wide. */
mo_status mo_page_text(const mo_page *page, int columns, mo_out *out,
                       mo_error *err);

/* The timeline as a picture. */
mo_status mo_page_svg(const mo_page *page, mo_out *out, mo_error *err);

/* The schedule as trace events, in the layout of moirai-exec --trace. */
void mo_page_trace(const mo_page *page, mo_out *out);

/* The explanation, one sentence or more a line. */
mo_status mo_page_words(const mo_page *page, mo_out *out, mo_error *err);

/* Returns the objective and its name. */
int64_t mo_page_objective_ns(const mo_page_placement *p);
bool mo_page_is_period(const mo_page_placement *p);

/* Returns the relative gap to a bound. */
double mo_page_gap(const mo_page_placement *p, int64_t bound_ns);

#endif
