/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - memory that is given back when nobody needs it any more.
 */
#ifndef MO_SCHEDULE_LIVE_MEMORY_H
#define MO_SCHEDULE_LIVE_MEMORY_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

/*
 * What each device holds at its fullest moment: the weights of its ops all the
 * time; the rest of an op's memory while it runs; a tensor where it is made,
 * from its producer's start to the end of its last reader there and of the last
 * transfer from there; a copy from the start of its transfer to the end of its
 * last reader.  What ends at a moment is gone when something else begins; what
 * takes no time counts at its moment.  A size nobody knows counts nothing.
 */
mo_status mo_live_memory_peak(const mo_instance *x, const mo_schedule *s,
                              int64_t *peak_bytes, mo_error *err);

#endif
