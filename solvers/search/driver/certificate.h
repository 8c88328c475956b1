/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate.h - certificates of the bounds of the search: writes what the
 * search has proven (schedule/proof), and evaluates the kinds of entries that
 * are bounds of the search.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_CERTIFICATE_H
#define MO_SOLVERS_SEARCH_DRIVER_CERTIFICATE_H

#include "base/error.h"
#include "schedule/proof/proof.h"
#include "schedule/proof/proof_verify.h"
#include "solvers/search/driver/state.h"

/* The rules of load bounds, column generation, exact search and the period. */
extern const mo_proof_rules mo_search_proof_rules;

/* Makes a certificate of what can be repeated of the search, verifies it and
 * sets its bound to what holds, which may be less than search->lower_ns.
 * *proof is NULL where nothing holds; the caller frees it with
 * mo_proof_free(). */
mo_status mo_search_certify(mo_search_state *search, mo_proof **proof,
                            mo_error *err);

#endif
