/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_check.h - check of a site's shapes against the shape rules
 * (ingest/infer/rule.h).
 *
 * The shapes that a graph claims are verified before a call is built from
 * them.
 */
#ifndef MO_EXEC_OP_SHAPE_CHECK_H
#define MO_EXEC_OP_SHAPE_CHECK_H

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/op_site.h"
#include "ingest/infer/rule.h"

/* Fills *op with the site for a rule, and with the values of those constant
 * inputs that are in the set values. arena owns all of it. */
mo_status mo_op_site_rule_op(const mo_op_site *site, unsigned values,
                             mo_arena *arena, mo_infer_rule_op *op,
                             mo_error *err);

/* Fails where the rule of this operator gives other shapes than the outputs
 * have. Where there is no rule, or it needs unknown values, nothing is
 * checked. */
mo_status mo_op_site_check_shapes(const mo_op_site *site, mo_arena *arena,
                                  mo_error *err);

#endif
