/*
 * draft.h - a pointwise call while it is being written.
 *
 *     mo_draft draft = mo_draft_of(site);
 *     int x = mo_draft_input(&draft, 0), y = mo_draft_input(&draft, 1);
 *
 *     mo_draft_store(&draft, mo_draft_two(&draft, MO_POINT_ADD, x, y));
 *     return mo_draft_end(&draft, arena, lowered, err);
 *
 * The first thing that goes wrong is kept and returned by mo_draft_end; what is
 * done in between does no harm.
 */
#ifndef MO_EXEC_OP_POINT_BUILDER_H
#define MO_EXEC_OP_POINT_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/call.h"

typedef struct mo_draft {
    const mo_site *site;
    mo_point point;
    int in[MO_POINT_MAX_OPERANDS]; /* tensors, by operand */
    int out;                       /* the tensor that is written */
    mo_desc desc;                  /* what it is like */
    mo_status status;
    mo_error error;
} mo_draft;

/* One that makes output 0; or one that makes tensor out, like desc. */
mo_draft mo_draft_of(const mo_site *site);
mo_draft mo_draft_to(const mo_site *site, int out, const mo_desc *desc);

/* The register of input i, broadcast as the op says ("auto_broadcast"). */
int mo_draft_input(mo_draft *draft, int i);
/* Of any tensor; from must broadcast to the result as numpy does. */
int mo_draft_tensor(mo_draft *draft, int tensor, const mo_desc *from);
/* Of any tensor, as if its only dimensions were those of the result from axis
 * on: a bias per channel. */
int mo_draft_along(mo_draft *draft, int tensor, const mo_desc *from, int axis);

/* One more step; its register.  The numbers of mo_draft_with are the step's. */
int mo_draft_one(mo_draft *draft, mo_point_op op, int a);
int mo_draft_with(mo_draft *draft, mo_point_op op, int a, double x, double y);
int mo_draft_two(mo_draft *draft, mo_point_op op, int a, int b);
int mo_draft_three(mo_draft *draft, mo_point_op op, int a, int b, int c);

bool mo_draft_is_real(const mo_draft *draft, int reg);

/* A register as a real; as an integer, cut towards zero; as 0 or 1. */
int mo_draft_real(mo_draft *draft, int reg);
int mo_draft_integer(mo_draft *draft, int reg);
int mo_draft_truth(mo_draft *draft, int reg);

/* The result, converted to its type. */
void mo_draft_store(mo_draft *draft, int reg);

/* Keeps a failure that was found elsewhere. */
void mo_draft_fail(mo_draft *draft, mo_status status, const mo_error *err);

/* Adds the call. */
mo_status mo_draft_end(mo_draft *draft, mo_arena *arena, mo_lowered *lowered,
                       mo_error *err);

/* Makes it the epilogue of a call instead, which has its tensors 1, 2, ... as
 * in[first_extra], ...; tensor 0 stands for what the call computes. */
mo_status mo_draft_after(mo_draft *draft, mo_arena *arena, mo_call *call,
                         mo_error *err);

#endif
