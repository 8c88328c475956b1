/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpolate.h - nearest-neighbour and separable (linear, cubic)
 * interpolation: the two kernel classes of an INTERPOLATE call.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_INTERPOLATE_H
#define MO_EXEC_BACKEND_CPU_KERNELS_INTERPOLATE_H

#include "exec/backend/cpu/unit/cpu_unit.h"

extern const mo_cpu_kernel_class
    mo_cpu_interp_nearest; /* copies elements of any type */
extern const mo_cpu_kernel_class
    mo_cpu_interp_linear; /* weighted sums, one dimension after the other */

#endif
