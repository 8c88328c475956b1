/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_traffic.h - terms that the models of kernels have in common.
 */
#ifndef MO_COST_PREDICT_KERNEL_TRAFFIC_H
#define MO_COST_PREDICT_KERNEL_TRAFFIC_H

#include "cost/kernel_model.h"

/* Returns (a^4 + b^4 + c^4)^(1/4). */
double mo_kernel_norm4(double a, double b, double c);

/* Returns the time to load and store bytes > 0. What fits into the resident
 * share of the cache is not loaded from memory, and the first latency_bytes
 * wait for up to latency_us. */
double mo_kernel_traffic_us(double bytes, const mo_kernel_device *device,
                            double memory, double resident, double latency_us,
                            double latency_bytes);

#endif
