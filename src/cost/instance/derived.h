/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived.h - an instance made of another: of some of its ops, or with several
 * of them as one.
 */
#ifndef MO_COST_INSTANCE_DERIVED_H
#define MO_COST_INSTANCE_DERIVED_H

#include <stdbool.h>

#include "cost/instance.h"

/* All that the whole has, shared with it, and an arena of its own; NULL when
 * there is no memory. */
mo_instance *mo_instance_derive(const mo_instance *whole);

/* Arrays of its own, zeroed, for what belongs to ops, flows and tensors: x->n
 * of the first, x->n_flows of the second and no more of the third.  Transfer
 * times stay shared.  False when there is no memory. */
bool mo_instance_derive_reserve(mo_instance *x);

/* Fills in_flows and in_start, reserved and still 0, from the flows. */
void mo_instance_derive_sort_by_reader(mo_instance *x);

#endif
