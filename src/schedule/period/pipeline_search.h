/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_search.h - search for the modulo schedule of a placement: the least
 * period, then the fewest requests in flight; or the least period with so many.
 */
#ifndef MO_SCHEDULE_PERIOD_PIPELINE_SEARCH_H
#define MO_SCHEDULE_PERIOD_PIPELINE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/period/modulo_schedule.h"
#include "schedule/schedule.h"

/* Sets the times of made->request, a schedule of the placement, the period and
 * the requests in flight.  listed is a list schedule of one request, or NULL;
 * load_ns the largest load; max_in_flight the limit, or 0: then, with shortens,
 * fewer requests in flight are searched for, too.  Memory is not considered. */
mo_status mo_pipeline_search(const mo_instance *x, const mo_schedule *listed,
                             int64_t load_ns, int max_in_flight, bool shortens,
                             mo_modulo_schedule *made, mo_error *err);

#endif
