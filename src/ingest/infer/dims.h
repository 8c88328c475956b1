/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dims.h - shape arithmetic that shape rules share: broadcasting, appending.
 */
#ifndef MO_INGEST_INFER_DIMS_H
#define MO_INGEST_INFER_DIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/shape.h"

/* A shape as text for an error: "1,64", "?,64", "a scalar"; "..." when not
 * even the rank is known. */
typedef struct mo_dims_text {
    char text[MO_MAX_RANK * 40];
} mo_dims_text;

mo_dims_text mo_dims_format(const mo_shape *shape);
/* The same with names in place of '?': "batch,64". names, by dimension, may be
 * NULL and have NULLs; a name of more than 36 bytes is cut. */
mo_dims_text mo_dims_format_named(const mo_shape *shape,
                                  const char *const *names);

/* Appends a dimension. Beyond MO_MAX_RANK only the rank grows;
 * mo_infer_rule_apply() refuses such a shape. */
void mo_dims_push(mo_shape *shape, int64_t dim);

/* Sets *merged to the shape that a and b broadcast to, by numpy's rules;
 * returns false when two dimensions differ and neither is 1. merged may be a
 * or b. */
bool mo_dims_broadcast(const mo_shape *a, const mo_shape *b, mo_shape *merged);

/* Returns true when now differs from before, as far as that was static. */
bool mo_dims_contradict(const mo_shape *before, const mo_shape *now);

/* Fills err: a and b do not broadcast; returns MO_E_INPUT. */
mo_status mo_dims_fail_broadcast(mo_error *err, const mo_shape *a,
                                 const mo_shape *b);

#endif
