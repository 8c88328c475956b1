/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof_chain.h - composition of a certificate: the segments between the ops of
 * its chain, their classes and tables, and the shortest path over the devices
 * of the chain (docs of the search: ARCHITECTURE.md).
 *
 * Along ops u1, u2, ... each of which precedes the next, all ops that succeed
 * one and precede the next run between them.  So lower bounds on the times of
 * the segments add up, for whatever devices the chain's ops are on.
 */
#ifndef MO_SCHEDULE_PROOF_PROOF_CHAIN_H
#define MO_SCHEDULE_PROOF_PROOF_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/colocation_bound.h"
#include "schedule/bound/op_chain.h"
#include "schedule/bound/segment_bound.h"
#include "schedule/bound/segment_classes.h"
#include "schedule/proof/proof.h"

/* Consecutive segments that are bounded together. */
typedef struct mo_proof_span {
    int first, last; /* segments of the chain */
    int cls;         /* of equal spans */
} mo_proof_span;

typedef struct mo_proof_span_class {
    mo_bound_segment whole; /* from the first u to the last v */
    int *ops;               /* of it, owned */
    int64_t *own_ns;        /* by boundary: from the end of u to that of v */
} mo_proof_span_class;

typedef struct mo_proof_chain {
    mo_allowed_devices domains; /* owns allowed */
    mo_bound_chain chain;       /* owns its arrays */
    mo_bound_segment_classes *classes;
    int64_t **tables; /* by class, by boundary a * K + b */
    mo_proof_span *spans;
    size_t n_spans, spans_room;
    mo_proof_span_class *span_classes;
    size_t n_span_classes, span_classes_room;
    int64_t *ready_ns;           /* by position of the chain and device */
    int64_t *inner_ns, *next_ns; /* scratch: by two devices; by device */
    unsigned char *from;         /* by position and device: predecessor, */
    int *back;                   /* and the position it is at */
} mo_proof_chain;

/*
 * Finds segments, classes and spans.  *fault receives the reason, a literal,
 * where the ops are no chain or a span does not fit; then the chain has no
 * segments.  *c begins as zeros; the caller clears it, also after a failure.
 */
mo_status mo_proof_chain_open(mo_proof_chain *c, const mo_instance *x,
                              const mo_regime *regime, const mo_proof *proof,
                              const char **fault, mo_error *err);
void mo_proof_chain_clear(mo_proof_chain *c);

/* Fills the tables of the classes by paths and divisible load. */
mo_status mo_proof_chain_fill(mo_proof_chain *c, mo_error *err);

/* Returns whether an entry of a segment or span has its place in the tables:
 * it names the first of a class and allowed devices. */
bool mo_proof_chain_has(const mo_proof_chain *c, const mo_proof_entry *e);

/* Returns the value of the tables that an entry raises. */
int64_t *mo_proof_chain_at(const mo_proof_chain *c, const mo_proof_entry *e);

/* Returns the class of a span, of which it is the first. */
const mo_proof_span_class *mo_proof_chain_span(const mo_proof_chain *c,
                                               const mo_proof_entry *e);

/* Fills pairs, room for all segments and spans, with the times between their
 * ends, in order of these; returns their number. */
size_t mo_proof_chain_pairs(mo_proof_chain *c, mo_coloc_pair_bound *pairs);

/* Returns the length of the shortest path, at most MO_PROOF_NEVER_NS. */
int64_t mo_proof_chain_shortest(mo_proof_chain *c);

/* Calls visit for each segment and span on the last shortest path: the first
 * and last segment of the first of its class, and the devices. */
typedef void mo_proof_visit(void *context, bool is_span, int first, int last,
                            int a, int b);
void mo_proof_chain_walk(const mo_proof_chain *c, mo_proof_visit *visit,
                         void *context);

#endif
