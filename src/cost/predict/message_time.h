/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_time.h - alpha-beta (latency-bandwidth) model of transfer times, for
 * edges without a measured one; a profile, if any, comes first.
 */
#ifndef MO_COST_PREDICT_MESSAGE_TIME_H
#define MO_COST_PREDICT_MESSAGE_TIME_H

#include <stdint.h>

#include "cost/cluster.h"
#include "cost/profile.h"
#include "cost/cluster/route.h"

/* Returns the time of a transfer of that many bytes between two different
 * devices of the cluster, in nanoseconds before rounding: by the profile, if
 * there is one and it has the pair, else by the route (latency + bytes /
 * bandwidth). NAN: there is no path, or bytes is MO_UNKNOWN. */
double mo_predict_message_ns(const mo_cluster *cluster, const mo_routes *routes,
                             const mo_profile *profile, int from, int to,
                             int64_t bytes);

#endif
