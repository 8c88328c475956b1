/*
 * like.h - schedules in the manner of others: devices from there, and who goes
 * first as it was there.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_WARM_START_H
#define MO_SOLVERS_SEARCH_PRIMAL_WARM_START_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "schedule/bound/segment_bound.h"
#include "solvers/search/decomp/solution_hint.h"

typedef struct mo_like mo_like;

/* x must outlive it. */
mo_status mo_like_new(const mo_instance *x, const mo_regime *regime,
                      mo_like **like, mo_error *err);
void mo_like_free(mo_like *like);

/* Like a schedule, but with x's pins.  *made is NULL where that takes at least
 * below_ns or does not fit into memory. */
mo_status mo_like_schedule(mo_like *like, const mo_schedule *model,
                           int64_t below_ns, mo_schedule **made, mo_error *err);

/* Like a schedule but for the ops of a segment, which are as the hint has them,
 * and its ends, which are where its pair of devices says. */
mo_status mo_like_hint(mo_like *like, const mo_schedule *model,
                       const mo_segment *segment, int pair, const mo_hint *hint,
                       mo_schedule **made, mo_error *err);

#endif
