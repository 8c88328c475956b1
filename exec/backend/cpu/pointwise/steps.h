/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the steps of pointwise programs over a block of elements.
 *
 * Registers are arrays of float (double in wide programs) or int64_t.
 */
#ifndef MO_EXEC_BACKEND_CPU_POINTWISE_STEPS_H
#define MO_EXEC_BACKEND_CPU_POINTWISE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/point_program.h"

/* out may be a, b or c. */
typedef void mo_cpu_step_fn(const mo_point_step *step, const void *a,
                            const void *b, const void *c, void *out, int n);

/* Returns the implementation of an operation; reals are doubles if wide. NULL
 * for operations of another file. */
mo_cpu_step_fn *mo_cpu_step_fn_for(mo_point_op op, bool wide);
mo_cpu_step_fn *mo_cpu_step_fn_f32(mo_point_op op);
mo_cpu_step_fn *mo_cpu_step_fn_f64(mo_point_op op);
mo_cpu_step_fn *mo_cpu_step_fn_int(mo_point_op op);

/* The same for registers of one byte, 0 or 1; NULL: no logical operation. */
mo_cpu_step_fn *mo_cpu_step_fn_logic(const mo_point_step *step);

/* Loads n elements, from element at on, stride apart, into a register: reals
 * as float, or as double if wide; integers as int64_t. */
typedef void mo_cpu_load_fn(const void *from, int64_t at, int64_t stride,
                            void *reg, int n);
mo_cpu_load_fn *mo_cpu_load_fn_for(mo_elem elem, bool wide);
/* Loads integers as reals; NULL: the type has more than 32 bits, or is none. */
mo_cpu_load_fn *mo_cpu_load_real_fn_for(mo_elem elem, bool wide);
mo_cpu_load_fn mo_cpu_load_logic; /* booleans as bytes, 0 or 1 */

/* Stores a register to n elements from element at on. */
typedef void mo_cpu_store_fn(const void *reg, void *to, int64_t at, int n);
mo_cpu_store_fn *mo_cpu_store_fn_for(mo_elem elem, bool wide);
mo_cpu_store_fn mo_cpu_store_i32_of_f32;

/* Whether an array of that type is a register without conversion. */
bool mo_cpu_elem_is_register(mo_elem elem, bool wide);

#endif
