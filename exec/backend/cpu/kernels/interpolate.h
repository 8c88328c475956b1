/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpolate.h - the two ways to interpolate, behind one call.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_INTERPOLATE_H
#define MO_EXEC_BACKEND_CPU_KERNELS_INTERPOLATE_H

#include "exec/backend/cpu/unit/cpu_unit.h"

extern const mo_cpu_kernel_class
    mo_cpu_interp_nearest; /* picks elements of any type */
extern const mo_cpu_kernel_class mo_cpu_interp_linear; /* weighs them, one
                                           dimension after the other */

#endif
