/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - decodes the columns of a solution into a placement and a claimed
 * schedule.
 *
 * Names are those of moirai-model(5); unknown columns are ignored. Whether the
 * claimed start times make a schedule is checked elsewhere
 * (schedule/validate/validate.h).
 */
#ifndef MO_SOLVERS_ANSWER_ANSWER_H
#define MO_SOLVERS_ANSWER_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "models/identity.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/formats/solution.h"

/* A list of shapes may take all columns. */
enum { MO_PROVENANCE_TEXT = MO_IDENTITY_SHAPES * MO_VARIABLE_NAME };

/* Texts of one option, as given. */
typedef struct mo_provenance_list {
    char items[MO_IDENTITY_SHAPES][MO_PROVENANCE_TEXT];
    int n;
    bool is_cut; /* a text was too long to be recorded */
} mo_provenance_list;

/* Contents of the identity columns; see models/identity.h. */
typedef struct mo_provenance {
    mo_identity columns; /* their names, as read; n 0: there are none */
    bool has_graph, has_cluster, has_profile, has_rules, has_instance;
    uint64_t graph, cluster, profile, rules, instance;
    bool has_options;
    char formulation[16], fusion[64];
    mo_regime regime;
    bool has_digest; /* of all identity columns */
    bool edited;     /* it is not that of the columns */
    uint64_t digest;
    int64_t unit_ns;   /* unit of the model's times; 0: not recorded */
    int64_t in_flight; /* of a period: most requests in flight; 0: no limit */
    bool has_slack;    /* in the heading of a model: rows may be added */

    /* Names of the files, hints for messages and searches; "": not recorded. A
     * name that was too long ends in "...". */
    char graph_name[MO_VARIABLE_NAME], cluster_name[MO_VARIABLE_NAME],
        profile_name[MO_VARIABLE_NAME], rules_name[MO_VARIABLE_NAME];
    char cost[MO_VARIABLE_NAME];       /* as of --cost; "": the built-in one */
    char formats[MO_VARIABLE_NAME];    /* as of mo_numeric_write */
    mo_provenance_list shapes, values; /* as of --shape and --value */
    mo_solution_files files; /* where inputs were; no part of the identity */
} mo_provenance;

/* Texts of the lists of a mo_provenance. */
typedef struct mo_provenance_texts {
    const char *shapes[MO_IDENTITY_SHAPES], *values[MO_IDENTITY_SHAPES];
} mo_provenance_texts;

/* Returns the recorded options for reading the graph, which borrow from origin
 * and *texts. */
mo_read_options mo_answer_read_options(const mo_provenance *origin,
                                       mo_provenance_texts *texts);

/* Reads the identity columns. Returns an error for one that is not 1, does not
 * parse, or occurs twice. Without any of them all members stay empty. Columns
 * that do not fit their digest are no error: edited is set. */
mo_status mo_answer_provenance(const mo_solution *solution,
                               mo_provenance *origin, mo_error *err);

/* A value within the tolerance of 0 or 1 counts as such. */
#define MO_ANSWER_TOLERANCE 1e-5

/* No makespan is claimed. */
enum { MO_ANSWER_NO_CLAIM = -1 };

/* Decodes the placement alone, for models without an order, into device, the
 * caller's array with one entry per op. Errors as below. */
mo_status mo_answer_placement(const mo_solution *solution, const mo_instance *x,
                              double tolerance, int *device, mo_error *err);

/* Returns the number of copies of a replicated placement: 1 and those of r_
 * columns. */
int mo_answer_n_copies(const mo_solution *solution);

/* The same of a further copy, from 1 on, by its r_ columns. */
mo_status mo_answer_copy(const mo_solution *solution, const mo_instance *x,
                         double tolerance, int copy, int *device,
                         mo_error *err);

/*
 * Decodes the placement, and starts as claimed by s_ and t_ columns in units
 * of unit_ns; a transfer without a column starts when its producer ends.
 * Absent columns are 0. claims->makespan_ns is the claimed objective, or
 * MO_ANSWER_NO_CLAIM.
 *
 * Errors (MO_E_INPUT) name ops: fractional, missing or contradictory
 * placements, orders that contradict the starts, indices without an op or
 * device, times out of range, duplicate columns.
 */
mo_status mo_answer_schedule(const mo_solution *solution, const mo_instance *x,
                             const mo_regime *regime, int64_t unit_ns,
                             double tolerance, mo_schedule **claims,
                             mo_error *err);

#endif
