/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_solution.h - a placement as the solution of a model that nobody needed
 * to write.
 *
 * The columns are those of the compact model (moirai-model(5)), the identity
 * columns among them, so that whoever reads a solver's solution reads this.
 */
#ifndef MO_DRIVER_PLACE_PLACEMENT_SOLUTION_H
#define MO_DRIVER_PLACE_PLACEMENT_SOLUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"
#include "cost/instance.h"
#include "models/identity.h"
#include "schedule/schedule.h"

typedef struct mo_place_solution {
    const mo_instance *x;
    const mo_schedule *schedule;
    mo_identity_options made_of; /* formulation, regime and unit are ours */
    const char *method;
    int64_t bound_ns; /* 0: not known */
} mo_place_solution;

mo_status mo_place_solution_write(const mo_place_solution *solution,
                                  mo_out *out, mo_error *err);

#endif
