/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - a placement as people and other programs write it: an op and its
 * device a line, or a JSON object of them (moirai-solution(5)).
 */
#ifndef MO_SOLVERS_ANSWER_PLACEMENT_LIST_H
#define MO_SOLVERS_ANSWER_PLACEMENT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cost/instance.h"

/* Is it a placement rather than a solver's solution?  text ends with 0. */
bool mo_placement_list_sniff(const char *text);

/*
 * Reads text, size bytes with a 0 behind them, which is changed; file is for
 * errors.  device has a place for each op of x.
 *
 * MO_E_SYNTAX for what cannot be read or names what is not there; MO_E_INPUT
 * for a placement that leaves an op out or has it in two places.
 */
mo_status mo_placement_list_read(const char *file, char *text, size_t size,
                                 const mo_instance *x, int *device,
                                 mo_error *err);

#endif
