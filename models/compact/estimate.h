/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.h - number of rows of the compact model, without building it. */
#ifndef MO_MODELS_COMPACT_ESTIMATE_H
#define MO_MODELS_COMPACT_ESTIMATE_H

#include <stdint.h>

#include "models/frame/frame.h"

/*
 * Returns an estimate of the rows, up to limit, by those that order ops and
 * transfers; large models have two to three times as many.  The pairs of ops
 * are counted, those of transfers follow from the part of all pairs between
 * two clean cuts that ops have.
 */
int64_t mo_compact_estimate_rows(const mo_frame *frame, int64_t limit);

#endif
