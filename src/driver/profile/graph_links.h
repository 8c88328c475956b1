/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_links.h - link times of moirai-profile run: messages between devices
 * as a network sends them, through the ranks and the paths that it uses.
 */
#ifndef MO_DRIVER_PROFILE_GRAPH_LINKS_H
#define MO_DRIVER_PROFILE_GRAPH_LINKS_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/log.h"
#include "driver/profile/profile_devices.h"
#include "driver/profile/profile_ranks.h"
#include "driver/profile/profile_table.h"

/* Measures all links, unless the profile has them; at rank 0 the rows are
 * added to it, and *added is set. Collective. */
mo_status mo_profiler_measure_links(const mo_profiler_devices *devices,
                                    const mo_profiler_ranks *ranks,
                                    const mo_driver_log *logger,
                                    mo_profiler_table *rows, bool *added,
                                    mo_error *err);

#endif
