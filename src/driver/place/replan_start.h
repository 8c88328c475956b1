/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replan_start.h - re-planning: reads the placement that is in use, matches its
 * ops and devices by name, leaves devices out, and compares the result.
 */
#ifndef MO_DRIVER_PLACE_REPLAN_START_H
#define MO_DRIVER_PLACE_REPLAN_START_H

#include "base/error.h"
#include "base/option.h"
#include "cost/cluster.h"
#include "cost/instance.h"
#include "driver/log.h"
#include "driver/place/compare_methods.h"
#include "report/replan.h"
#include "solvers/search/method.h"

/* Begins as zeros.  Without the options of re-planning x is the whole instance,
 * and start has no device. */
typedef struct mo_place_replan {
    const mo_instance *whole;
    const mo_instance *x; /* without the devices that are left out */
    mo_instance **parts;  /* x and what it was made from, owned */
    int n_parts;
    int *in_whole;         /* by device of x: its number in the whole */
    mo_method_start start; /* on x */
    int *device;           /* of start */
    double *byte_ns;       /* of start */
    double *link_ns;       /* by pair of devices of the whole: time of a byte;
                              negative: there is no link */
    char **from;           /* by op: its device before; NULL: it had none */
    mo_schedule *old;      /* the placement in use on the whole, or NULL */
    mo_schedule *placed;   /* the result on the whole, or NULL */
    mo_replica copies[MO_REPLICAS_MAX_DEVICES]; /* of a replicated result, the
                                                   first one is placed */
    int n_copies;                               /* 0: it is not replicated */
    int64_t period_ns, bound_ns;                /* of all copies */
    mo_report_replan report;
} mo_place_replan;

/* Reads the placement of o->from, if there is one, and leaves the devices of
 * dropped out; cluster is that of the instance whole, which outlives *r.  The
 * caller clears *r, also after a failure. */
mo_status mo_place_replan_open(mo_place_replan *r, const mo_place_context *c,
                               const mo_option_list *dropped,
                               const mo_instance *whole,
                               const mo_cluster *cluster, mo_error *err);
void mo_place_replan_clear(mo_place_replan *r);

/* Maps the best result to the whole instance, r->placed, and fills r->report.
 */
mo_status mo_place_replan_finish(mo_place_replan *r, const mo_place_context *c,
                                 const mo_place_comparison *compared,
                                 mo_error *err);

#endif
