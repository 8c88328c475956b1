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
typedef void mo_point_fn(const mo_point_step *step, const void *a,
                         const void *b, const void *c, void *out, int n);

/* How an operation is done; reals are doubles when wide.  NULL for those that
 * are not of that file's kind. */
mo_point_fn *mo_point_fn_of(mo_point_op op, bool wide);
mo_point_fn *mo_point_fn_f32(mo_point_op op);
mo_point_fn *mo_point_fn_f64(mo_point_op op);
mo_point_fn *mo_point_fn_int(mo_point_op op);

/* n elements from element at on, stride apart, into a register. */
typedef void mo_load_fn(const void *from, int64_t at, int64_t stride, void *reg,
                        int n);
mo_load_fn *mo_load_fn_of(mo_elem elem, bool wide);

/* A register to n elements from element at on. */
typedef void mo_store_fn(const void *reg, void *to, int64_t at, int n);
mo_store_fn *mo_store_fn_of(mo_elem elem, bool wide);

/* Is an array of that type a register as it is? */
bool mo_elem_is_register(mo_elem elem, bool wide);

#endif
