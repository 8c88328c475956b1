/*
 * attending.h - the inside of mo_plan_attend, for the files attend*.c.
 *
 *     q -.                                     what moves q, k and v about and
 *         product - program - softmax -.       scales them is gone: the call
 *     k -'                              product - turn       reads where they
 *     v -------------------------------'       come from, and writes where the
 *                                              result goes in the end
 */
#ifndef MO_EXEC_PLAN_PASSES_FUSE_ATTENTION_INTERNAL_H
#define MO_EXEC_PLAN_PASSES_FUSE_ATTENTION_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/plan.h"
#include "exec/plan/passes/def_use.h"
#include "exec/tensor/strided_view.h"

typedef struct mo_attending {
    mo_plan *plan;
    mo_uses uses;
    bool *gone; /* by call: it is a part of another */
} mo_attending;

/* A value, and the elements of it that are meant. */
typedef struct mo_reach {
    int value;
    mo_trail trail;
} mo_reach;

/* What attention reads and writes, over [batches ..., rows, columns]. */
typedef struct mo_attend_ends {
    mo_reach q, k, v, out;
    mo_reach mask; /* where there is one */
} mo_attend_ends;

/* From a call, and into one: batches, offsets and strides. */
mo_attend_ends mo_attend_read(const mo_call *call);
void mo_attend_put(const mo_attend_ends *ends, mo_attention_call *attention);

/* The constant that value is, maybe under another shape; NULL: none. */
const mo_dense *mo_attend_constant(const mo_plan *plan, int value);

/* Reads a value on device from where it was copied from, as far back as rows
 * stay contiguous; where factor is not NULL, what it was multiplied by on the
 * way goes there. */
void mo_attend_origin(const mo_attending *a, int device, mo_reach *from,
                      double *factor);

/* Writes to where a value of call c is copied to, if nobody else reads it.
 * The number of the copy's call, or MO_PLAN_NONE: nothing changed. */
int mo_attend_target(const mo_attending *a, int c, mo_reach *to);

/* Does the program multiply operand at, element by element, and nothing
 * else? */
bool mo_attend_is_scaling(const mo_plan *plan, const mo_call *call, int at,
                          double *factor);

/* Does operand at of a pointwise call lie as its result does? */
bool mo_attend_in_step(const mo_plan *plan, const mo_call *call, int at);

/* What a mask that is constant and the same for all heads comes to. */
typedef enum mo_attend_sight {
    MO_SIGHT_ALL,  /* hides nothing */
    MO_SIGHT_PAST, /* from every query the keys behind its own number */
    MO_SIGHT_OTHER
} mo_attend_sight;

/* A mask that is added (a bool one: keeps what is true, or, where hides, what
 * is not), over the last two dimensions of access, which is over shape. */
mo_attend_sight mo_attend_look(const mo_dense *mask, const mo_access *access,
                               const mo_shape *shape, bool hides);

/* The calls between the first product and the softmax, the last one first. */
enum { MO_ATTEND_MAX_LINKS = 8 };

typedef struct mo_attend_link {
    int call, at; /* a pointwise call, and which operand the scores are */
} mo_attend_link;

typedef struct mo_attend_scores {
    int product; /* the call that makes them */
    int n;
    mo_attend_link links[MO_ATTEND_MAX_LINKS];
    /* What the links come to. */
    double scale;
    bool causal;
    mo_point *program;                   /* NULL: nothing else */
    int operands[MO_POINT_MAX_OPERANDS]; /* by operand of it: a value */
} mo_attend_scores;

/* From the softmax's operand back to a product; false where there is none. */
bool mo_attend_climb(const mo_attending *a, int device, int value,
                     mo_attend_scores *scores);

/* Fills in what the links come to, over scores of that shape ([batches ...,
 * queries, keys]).  *works: false where attention cannot do it. */
mo_status mo_attend_program(const mo_attending *a, const mo_shape *shape,
                            mo_attend_scores *scores, bool *works,
                            mo_error *err);

#endif
