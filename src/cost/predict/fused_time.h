/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused_time.h - time of a fused op on a device, from the times of its parts.
 */
#ifndef MO_COST_PREDICT_FUSED_TIME_H
#define MO_COST_PREDICT_FUSED_TIME_H

#include "coarsen/contract.h"
#include "cost/cluster.h"

/*
 * For mo_grouping.fused_us; context is the cluster, or NULL. Returns the sum
 * of the parts, less the launches and the traffic that fusion saves on the
 * device the column is named after (an id of the cluster, or a known model),
 * but never less than the longest part. On an unknown device, the sum.
 */
double mo_predict_fused_us(const void *context, const mo_fused *fused);

#endif
