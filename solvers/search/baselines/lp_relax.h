/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relax.h - a sink that passes a model on to another with its binaries as
 * fractions between 0 and 1: its linear relaxation.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_LP_RELAX_H
#define MO_SOLVERS_SEARCH_BASELINES_LP_RELAX_H

#include "base/error.h"
#include "models/sink/sink.h"

/* to, which takes a model in one pass, belongs to the new sink and is freed
 * with it, and at once when it cannot be made. */
mo_status mo_baseline_lp_relax_new(mo_sink *to, mo_sink **sink, mo_error *err);

#endif
