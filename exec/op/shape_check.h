/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - sites in the eyes of the rules that derive shapes.
 *
 * What an operator makes of the shapes it is given is written down once, in
 * ingest/infer/infer.  Here it is asked whether the shapes that a graph claims
 * are true, before anything is computed from them.
 */
#ifndef MO_EXEC_OP_SHAPE_CHECK_H
#define MO_EXEC_OP_SHAPE_CHECK_H

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/op_site.h"
#include "ingest/infer/rule.h"

/* The site for a rule; of constant inputs in the set values, their values, too.
 * Everything lies in arena. */
mo_status mo_op_site_rule_op(const mo_op_site *site, unsigned values,
                             mo_arena *arena, mo_infer_rule_op *op,
                             mo_error *err);

/* Fails where the rule for this operator makes other shapes than the outputs
 * have.  Where there is no rule, or it cannot tell, nothing is checked. */
mo_status mo_op_site_check_shapes(const mo_op_site *site, mo_arena *arena,
                                  mo_error *err);

#endif
