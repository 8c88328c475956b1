/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fused.h - what a fused op takes on a device, from what its parts took.
 */
#ifndef MO_COST_PREDICT_FUSED_TIME_H
#define MO_COST_PREDICT_FUSED_TIME_H

#include "coarsen/contract.h"
#include "cost/cluster.h"

/*
 * For mo_grouping.fused_us; context is the cluster, or NULL.  The sum of the
 * parts, less the launches and the traffic that fusion saves on the device the
 * column is called after (an id of the cluster, or a model we know), but never
 * less than the longest part.  On a device nobody knows, the sum.
 */
double mo_predict_fused_us(const void *context, const mo_fused *fused);

#endif
