/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_solution.h - writes a placement as a solution of the compact
 * model, or of that of the period.
 *
 * The columns are those of moirai-model(5), identity columns included, so that
 * every reader of solver solutions accepts it; the model itself need not
 * exist.
 */
#ifndef MO_DRIVER_PLACEMENT_SOLUTION_H
#define MO_DRIVER_PLACEMENT_SOLUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"
#include "cost/instance.h"
#include "models/identity.h"
#include "schedule/period/replicas.h"
#include "schedule/proof/proof.h"
#include "schedule/schedule.h"

typedef struct mo_place_solution {
    const mo_instance *x;
    const mo_schedule *schedule;
    mo_identity_options made_of; /* formulation, regime and unit are set here */
    const char *method;
    int64_t bound_ns;      /* 0: unknown */
    const mo_proof *proof; /* written behind the columns; NULL: none */
    /* MO_OBJECTIVE_PERIOD: a solution of the model of the period, with
     * period_ns, which may be 0. Otherwise one of the compact model. */
    mo_objective objective;
    int64_t period_ns;
    /* Of a replicated placement: the copies behind the first one, which is the
     * schedule; n_further of them. */
    const mo_replica *further;
    int n_further;
    /* The file that is written, for paths of inputs relative to it, "-":
     * standard output; NULL: no paths. */
    const char *output;
} mo_place_solution;

mo_status mo_place_solution_write(const mo_place_solution *solution,
                                  mo_out *out, mo_error *err);

/* The same into a file. */
mo_status mo_place_solution_save(const mo_place_solution *solution,
                                 const char *path, mo_error *err);

#endif
