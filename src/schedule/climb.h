/*
 * climb.h - a schedule made better by moving one thing at a time.
 */
#ifndef MO_SCHEDULE_CLIMB_H
#define MO_SCHEDULE_CLIMB_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"
#include "schedule/units.h"

/* Moves units to other devices, or swaps two where memory is full, and keeps
 * what mo_heft makes of it when that ends earlier.  Stops where no move helps,
 * or after an effort that depends on the instance's size and not on a clock. */
mo_status mo_climb(const mo_instance *x, const mo_units *units,
                   mo_schedule **schedule, mo_error *err);

#endif
