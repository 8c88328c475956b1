/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_table.h - comparison of methods on one instance: table or JSON array.
 */
#ifndef MO_REPORT_METHOD_TABLE_H
#define MO_REPORT_METHOD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "cost/instance.h"
#include "report/replan.h"
#include "report/runtime/runtime.h"
#include "schedule/period/replicas.h"
#include "schedule/period/stress.h"

/* A method and its placement, if it found one. */
typedef struct mo_report_method_row {
    const char *method;
    const char *why;      /* reason for no placement; NULL: there is one */
    bool fits;            /* within memory; otherwise unusable */
    const char *ended_by; /* "time limit" or "signal", where that ended the
                             search before a placement that fits; or NULL */
    int64_t makespan_ns;  /* with the objective period: the period */
    int64_t steady_ns;    /* period that the pipeline keeps; 0: the objective is
                             latency, and the next three have no meaning */
    int64_t latency_ns;   /* of a request in the pipeline */
    int in_flight;        /* requests at once in it; 0: it was not computed */
    int least_in_flight;  /* no schedule of its period has fewer */
    char bottleneck[64];  /* resource with the largest load */
    int fullest; /* the fullest device with a limit; MO_FREE: none has one */
    int64_t peak_bytes; /* on that device */
    int64_t lower_ns;   /* proven by the method; 0: none */
    int rounds;         /* of improvement */
    double seconds;
    mo_stress worst; /* with a factor of stress */
} mo_report_method_row;

/* The best method without one of the devices. */
typedef struct mo_report_device_loss {
    const char *why; /* reason for no placement; NULL: there is one */
    int64_t makespan_ns;
} mo_report_device_loss;

typedef struct mo_report_methods {
    const mo_instance *x;
    int n;
    const mo_report_method_row *rows; /* the best first */
    int64_t bound_ns;     /* lower bound of all placements; 0: unknown */
    const char *bound_by; /* where it comes from */
    int64_t search_ns;   /* bound of a method, which may be larger than what its
                            certificate proves; 0: none */
    bool is_infeasible;  /* proven: there is no placement, hence no bound */
    int single;          /* the best single device, or MO_FREE */
    int64_t single_ns;   /* makespan on it, which is its period, too */
    int n_replicas;      /* devices that hold a whole copy; 0: not computed */
    int64_t replicas_ns; /* period if requests are distributed to the copies
                            in proportion to the speed of their devices */
    const mo_report_device_loss *losses; /* by device; NULL: not computed */
    int copies_wanted; /* 0: any number; with n_copies, 0: none were found */
    int n_copies;
    const mo_replica *copies; /* the fastest first; NULL: not searched for */
    int64_t copies_ns, copies_bound_ns; /* period of all, and its bound */
    int64_t copies_search_ns;           /* as search_ns */
    double stress; /* factor of the worst cases, by which rows are sorted; 0:
                      there are none */
    const mo_runtime_settings *settings; /* of the best, in JSON; NULL: none */
    const mo_report_replan *replan;      /* to the best; NULL: none */
} mo_report_methods;

void mo_report_methods_text(const mo_report_methods *p, mo_out *out);
void mo_report_methods_json(const mo_report_methods *p, mo_out *out);

/* Returns the first row if it is usable, else NULL; borrowed from p. */
const mo_report_method_row *mo_report_methods_best(const mo_report_methods *p);

/* Returns whether the row has a gap: not if there is no bound because the
 * instance is infeasible, nor if the makespan is below the bound, as that of a
 * placement which exceeds memory can be. */
bool mo_report_methods_has_gap(const mo_report_methods *p,
                               const mo_report_method_row *row);

/* Returns (makespan - bound) / makespan, or 0 for a makespan of 0; the row has
 * a gap. */
double mo_report_methods_gap(const mo_report_methods *p,
                             const mo_report_method_row *row);

/* Returns the increase of the makespan without the device, as a fraction of
 * the best. */
double mo_report_methods_loss(const mo_report_methods *p, int device);

#endif
