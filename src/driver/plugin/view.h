/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - an instance as plug-ins and users of the library see it.
 */
#ifndef MO_DRIVER_PLUGIN_VIEW_H
#define MO_DRIVER_PLUGIN_VIEW_H

#include "cost/instance.h"
#include "moirai.h"
#include "schedule/regime.h"

/* Returns a view of x with the rules of schedules; it borrows from x. */
moirai_view mo_plugin_view(const mo_instance *x, const mo_regime *regime,
                           mo_objective objective, int in_flight);

#endif
