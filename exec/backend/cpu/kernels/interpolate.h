/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpolate.h - separable (linear, cubic) interpolation, the algorithm of
 * INTERPOLATE calls beside nearest neighbours (interpolate.c).
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_INTERPOLATE_H
#define MO_EXEC_BACKEND_CPU_KERNELS_INTERPOLATE_H

#include "exec/backend/cpu/unit/cpu_unit.h"

/* Weighted sums, one dimension after the other. */
extern const mo_cpu_kernel_class mo_cpu_interp_linear;

#endif
