/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_list.h - a placement as written by users and other programs: an op
 * and its device a line, or a JSON object of them (moirai-solution(5)).
 */
#ifndef MO_SOLVERS_ANSWER_PLACEMENT_LIST_H
#define MO_SOLVERS_ANSWER_PLACEMENT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cost/instance.h"

/* Returns whether text, which ends with 0, is a placement rather than a
 * solution file. */
bool mo_placement_list_sniff(const char *text);

/*
 * Parses text, size bytes with a 0 behind them, which is modified; file is for
 * errors. device is the caller's array with one entry per op of x.
 *
 * Returns MO_E_SYNTAX for malformed input or unknown names; MO_E_INPUT for a
 * placement without some op, or with one on two devices.
 */
mo_status mo_placement_list_read(const char *file, char *text, size_t size,
                                 const mo_instance *x, int *device,
                                 mo_error *err);

/* The same of a placement of another network: names that are unknown are
 * ignored, and ops without a device of x get MO_FREE. */
mo_status mo_placement_list_match(const char *file, char *text, size_t size,
                                  const mo_instance *x, int *device,
                                  mo_error *err);

#endif
