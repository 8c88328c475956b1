/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof_verify.h - verifies a certificate: from the instance and the entries to
 * a lower bound that holds, whatever the file claims.
 *
 * Chain, segments and classes are recomputed, every entry is evaluated from its
 * parameters in integers, and the bound is composed of the values found.  A
 * value that an entry claims has no influence but as the target of a search.
 */
#ifndef MO_SCHEDULE_PROOF_PROOF_VERIFY_H
#define MO_SCHEDULE_PROOF_PROOF_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"
#include "schedule/proof/proof.h"
#include "schedule/regime.h"

/* An entry of a table to evaluate. */
typedef struct mo_proof_subject {
    const mo_allowed_devices *domains;
    const mo_bound_segment *segment;
    int a, b; /* devices of its u and v; 0: no such op */
    /* MO_PROOF_EXACT and of spans: the segment with its ends pinned, u the
     * first op and v the last; of the period: the instance. */
    const mo_instance *part;
    /* Of spans: its segments, and their tables. */
    const mo_bound_segment *inner;
    const int64_t *const *inner_tables;
    int n_inner;
    int64_t value_ns; /* claimed */
    const int64_t *params;
    size_t n_params;
    int in_flight; /* of the period: most requests in flight; 0: no limit */
    const mo_stop *stop;
} mo_proof_subject;

/* Evaluates an entry: sets *lower_ns to a lower bound that holds, which may be
 * less than what is claimed.  Fails only when memory cannot be allocated. */
typedef mo_status mo_proof_rule(const mo_proof_subject *subject,
                                int64_t *lower_ns, mo_error *err);

/* Raises *entry_ns, a lower bound on time and price of a segment at prices by
 * op and device, as mo_priced_chain_refine; *raised: it was, and used_bytes, by
 * device, are set. */
typedef mo_status mo_proof_priced_rule(const mo_proof_subject *subject,
                                       const int64_t *price_ns,
                                       int64_t *entry_ns, double *used_bytes,
                                       bool *raised, mo_error *err);

/* Rules by kind, for bounds that are implemented below this room; NULL: entries
 * of this kind are rejected, unless this room evaluates them. */
typedef struct mo_proof_rules {
    mo_proof_rule *of[MO_PROOF_N_KINDS];
    mo_proof_priced_rule *priced; /* of MO_PROOF_PRICES; NULL: none */
} mo_proof_rules;

/* What a certificate is about. */
typedef struct mo_proof_scope {
    const mo_instance *x;
    mo_regime regime;
    mo_objective objective;
    int in_flight; /* of the period: most requests in flight; 0: no limit */
} mo_proof_scope;

typedef struct mo_proof_result {
    int64_t bound_ns;  /* what holds; 0: nothing */
    int64_t chain_ns;  /* the same of the chain alone */
    size_t n_rejected; /* entries that hold less than they claim */
    char why[200];     /* the first reason; "": none */
} mo_proof_result;

/* Returns the digest that a certificate for the instance, its rules and its
 * objective carries. */
uint64_t mo_proof_digest(const mo_proof_scope *scope);

/* Verifies until stop (NULL: no limit) is reached; later entries are then
 * rejected.  A certificate of another instance is rejected as a whole.  held,
 * unless NULL, receives what holds of each entry; where nothing is evaluated,
 * 0.  Returns MO_OK unless memory cannot be allocated. */
mo_status mo_proof_verify(const mo_proof_scope *scope, const mo_proof *proof,
                          const mo_proof_rules *rules, const mo_stop *stop,
                          int64_t *held, mo_proof_result *result,
                          mo_error *err);

/* Composes the bound from what the entries claim, without evaluating them, and
 * sets needed, by entry, to those without which it is smaller; entries of the
 * whole count by their claim. */
mo_status mo_proof_select(const mo_instance *x, const mo_regime *regime,
                          const mo_proof *proof, bool *needed,
                          int64_t *bound_ns, mo_error *err);

#endif
