/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disjunctive_pairs.h - disjunctive pairs: the pairs of ops whose order on a
 * device a model has to decide.
 *
 *     mo_disjunctive_pairs pairs;
 *
 *     mo_disjunctive_pairs_begin(frame, &pairs);
 *     while (mo_disjunctive_pairs_next(&pairs))
 *         ... pairs.i, pairs.j ...
 *
 * Pairs come by i, then j, and are the same at every call.  Left out are those
 * with a path between them, those that share no device, and those that the
 * frame's windows keep apart wherever they meet, provided the model has these
 * windows device by device: head[i,k] <= start and end <= horizon - tail[i,k]
 * whenever i is on k.
 */
#ifndef MO_MODELS_COMPACT_DISJUNCTIVE_PAIRS_H
#define MO_MODELS_COMPACT_DISJUNCTIVE_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/frame/frame.h"

/* The decision when i and j are both on one device. */
typedef enum mo_disjunction {
    MO_DISJUNCTION_NONE,    /* none: one of them may not run there */
    MO_DISJUNCTION_SETTLED, /* none: the windows there keep them apart, or
                               neither of them takes time */
    MO_DISJUNCTION_FORWARD, /* i must end before j starts: no time the other way
                             */
    MO_DISJUNCTION_BACKWARD, /* j must end before i starts */
    MO_DISJUNCTION_EITHER,
    MO_DISJUNCTION_INFEASIBLE /* no time either way: never both of them here */
} mo_disjunction;

/* For two incomparable ops on a device. */
mo_disjunction mo_disjunction_on_device(const mo_frame *frame, int i, int j,
                                        int device);

typedef struct mo_disjunctive_pairs {
    const mo_frame *frame;
    int i, j;               /* i < j, incomparable */
    bool forward, backward; /* on some device i, or j, may be first and nothing
                               else implies it; neither: they are infeasible
                               wherever they meet and are not settled */
    int next_cut; /* index of the first of the frame's cuts that is not before i
                   */
} mo_disjunctive_pairs;

void mo_disjunctive_pairs_begin(const mo_frame *frame,
                                mo_disjunctive_pairs *pairs);

/* Advances to the next pair; returns false when there is none. */
bool mo_disjunctive_pairs_next(mo_disjunctive_pairs *pairs);

/*
 * Returns an estimate of the rows, up to limit, by those that order ops and
 * transfers; large models have two to three times as many.  The pairs of ops
 * are counted, those of transfers follow from the part of all pairs between
 * two clean cuts that ops have.
 */
int64_t mo_compact_estimate_rows(const mo_frame *frame, int64_t limit);

#endif
