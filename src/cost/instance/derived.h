/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived.h - construction of an instance from another one that shares its
 * data.
 */
#ifndef MO_COST_INSTANCE_DERIVED_H
#define MO_COST_INSTANCE_DERIVED_H

#include <stdbool.h>

#include "cost/instance.h"

/* Returns a copy that shares all data with whole and has an arena of its own;
 * NULL when memory is exhausted. The caller frees it with mo_instance_free();
 * whole must outlive it. */
mo_instance *mo_instance_derive(const mo_instance *whole);

/* Allocates arrays of its own, zeroed, for ops, flows and tensors: x->n of the
 * first, x->n_flows of the second and as many of the third. Transfer times
 * stay shared. Returns false when memory is exhausted. */
bool mo_instance_derive_reserve(mo_instance *x);

/* Fills in_flows and in_start, reserved and still 0, from the flows. */
void mo_instance_derive_sort_by_reader(mo_instance *x);

#endif
