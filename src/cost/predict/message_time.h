/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - what sending takes where nobody says it for the edge.
 */
#ifndef MO_COST_PREDICT_MESSAGE_TIME_H
#define MO_COST_PREDICT_MESSAGE_TIME_H

#include <stdint.h>

#include "cost/cluster.h"
#include "cost/profile.h"
#include "cost/cluster/route.h"

/* What so many bytes take between two different devices of the cluster, in
 * nanoseconds before rounding: by the profile, if there is one and it knows the
 * pair, else by the route.  NAN: there is no way, or bytes is MO_UNKNOWN. */
double mo_predict_message_ns(const mo_cluster *cluster, const mo_routes *routes,
                             const mo_profile *profile, int from, int to,
                             int64_t bytes);

#endif
