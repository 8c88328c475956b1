/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_relaxation.h - a linear relaxation of the placement problem, with all
 * times in whole nanoseconds and all sizes in bytes.
 *
 * It is built from the instance, not from a model file: the compact formulation
 * (models/compact/compact.c) in a unit of one nanosecond, where no time is
 * rounded, with integrality left out.  Disjunctive (big-M) rows are left out,
 * too: they are most of the model and add next to nothing to the relaxation.
 * Memory rows are exact here:
 *
 *     sum_i m_i x_ik <= capacity of k
 *
 * with m_i the bytes of op i that stay on its device during the whole run: its
 * memory, or its weights where memory is live, which every schedule needs.
 *
 * Every schedule of the instance with a makespan of at most upper_ns is, after
 * renaming interchangeable devices, a point of it whose objective is that
 * makespan: starts are in the time windows that the horizon implies.  So with
 * upper_ns the makespan of a known schedule a lower bound of the relaxation is
 * one of the instance.
 */
#ifndef MO_MODELS_RELAX_ROOT_RELAXATION_H
#define MO_MODELS_RELAX_ROOT_RELAXATION_H

#include "base/error.h"
#include "cost/instance.h"
#include "models/frame/proven_bounds.h"
#include "models/relax/integer_lp.h"
#include "schedule/regime.h"

/*
 * Fills *lp, which is zeros and is cleared by the caller whatever the result.
 * proven: bounds that become rows, or NULL.  Returns MO_E_LIMIT where it would
 * have more than max_terms coefficients or the times are too long.
 */
mo_status mo_root_relaxation_make(const mo_instance *x, const mo_regime *regime,
                                  const mo_proven_bounds *proven,
                                  int64_t upper_ns, size_t max_terms,
                                  mo_integer_lp *lp, mo_error *err);

#endif
