/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period_certificate.h - certificates of the period (schedule/proof): what the
 * search has proven, and the rules of the kinds of entries.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PERIOD_CERTIFICATE_H
#define MO_SOLVERS_SEARCH_PERIOD_PERIOD_CERTIFICATE_H

#include "base/error.h"
#include "schedule/proof/proof.h"
#include "schedule/proof/proof_verify.h"
#include "solvers/search/period/bound_steps.h"

/* Placements of a search that enumerates them all. */
enum { MO_PERIOD_MAX_ENUMERATED = 1 << 18 };

/* Returns whether there are no more placements than that. */
bool mo_period_is_enumerable(const mo_period_problem *problem);

/* Rules of MO_PROOF_LAGRANGIAN and those behind it, with subject->part the
 * instance. */
mo_proof_rule mo_period_prove_lagrangian, mo_period_prove_branch,
    mo_period_prove_packing, mo_period_prove_sets, mo_period_prove_enumeration;

/* Makes a certificate of bound->lower_ns, or of less where that cannot be
 * repeated.  in_flight is the most requests in flight, 0: no limit.  *proof is
 * NULL where mo_period_least_ns() is as large, or nothing holds; the caller
 * frees it with mo_proof_free(). */
mo_status mo_period_certify(const mo_period_bound_steps *bound,
                            const mo_period_problem *problem, int in_flight,
                            mo_proof **proof, mo_error *err);

#endif
