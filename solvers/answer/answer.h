/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - what the columns of a solution say about an instance.
 *
 * From names and values to a placement and claimed start times; whether those
 * make a schedule is for the judge (schedule/validate/validate.h) to say. Names
 * are those of moirai-model(5); columns that somebody added are passed over.
 */
#ifndef MO_SOLVERS_ANSWER_ANSWER_H
#define MO_SOLVERS_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/formats/solution.h"

/* What the identity columns tell; see models/identity.h. */
typedef struct mo_provenance {
    bool has_graph, has_cluster, has_profile, has_rules, has_instance;
    uint64_t graph, cluster, profile, rules, instance;
    bool has_options;
    char formulation[16], fusion[64];
    mo_regime regime;
    bool has_unit;
    int64_t unit_ns; /* that its times are counted in */
} mo_provenance;

/* Reads the identity columns.  An error: one that is not 1, one that does not
 * parse, two of a kind.  Where there is none of them, all stays empty. */
mo_status mo_answer_provenance(const mo_solution *solution,
                               mo_provenance *origin, mo_error *err);

/* A value within tolerance of 0 or 1 counts as such. */
#define MO_ANSWER_TOLERANCE 1e-5

/* No makespan is claimed. */
enum { MO_ANSWER_NO_CLAIM = -1 };

/* The placement alone, for models that know no order; device has a place for
 * each op.  Errors as below. */
mo_status mo_answer_placement(const mo_solution *solution, const mo_instance *x,
                              double tolerance, int *device, mo_error *err);

/*
 * The placement, and starts as claimed by s_ and t_ columns in units of
 * unit_ns; what is sent without a column of its own starts when its producer
 * ends.  Absent columns are 0.  claims->makespan_ns is the claimed objective,
 * or MO_ANSWER_NO_CLAIM.
 *
 * Errors (MO_E_INPUT) name ops: fractional, missing or contradictory
 * placements, orders that contradict the starts, numbers that no op or device
 * has, times beyond all bounds, a column twice.
 */
mo_status mo_answer_schedule(const mo_solution *solution, const mo_instance *x,
                             const mo_regime *regime, int64_t unit_ns,
                             double tolerance, mo_schedule **claims,
                             mo_error *err);

#endif
