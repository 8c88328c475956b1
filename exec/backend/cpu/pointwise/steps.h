/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point_step.h - the steps of pointwise programs over a block of elements.
 *
 * Registers are arrays of float (double where the program is wide) or int64_t.
 */
#ifndef MO_EXEC_BACKEND_CPU_POINTWISE_STEPS_H
#define MO_EXEC_BACKEND_CPU_POINTWISE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/point_program.h"

/* out may be a, b or c. */
typedef void mo_cpu_step_fn(const mo_point_step *step, const void *a,
                            const void *b, const void *c, void *out, int n);

/* How an operation is done; reals are doubles when wide.  NULL for those that
 * are not of that file's kind. */
mo_cpu_step_fn *mo_cpu_step_fn_for(mo_point_op op, bool wide);
mo_cpu_step_fn *mo_cpu_step_fn_f32(mo_point_op op);
mo_cpu_step_fn *mo_cpu_step_fn_f64(mo_point_op op);
mo_cpu_step_fn *mo_cpu_step_fn_int(mo_point_op op);

/* n elements from element at on, stride apart, into a register. */
typedef void mo_cpu_load_fn(const void *from, int64_t at, int64_t stride,
                            void *reg, int n);
mo_cpu_load_fn *mo_cpu_load_fn_for(mo_elem elem, bool wide);

/* A register to n elements from element at on. */
typedef void mo_cpu_store_fn(const void *reg, void *to, int64_t at, int n);
mo_cpu_store_fn *mo_cpu_store_fn_for(mo_elem elem, bool wide);

/* Is an array of that type a register as it is? */
bool mo_cpu_elem_is_register(mo_elem elem, bool wide);

#endif
