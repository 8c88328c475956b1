/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - what every device does, step by step.
 *
 * A plan is made from the graph as it was read, the coarse graph that was
 * placed, and a schedule of it.  It knows calls, values and transfers; what
 * runs it needs neither graph nor instance.
 *
 * Values are in one place: a tensor that is sent is one value where it is made
 * and another one where it arrives.  One total order holds all that happens;
 * each device does its own part of it in that order.  Hence no deadlock,
 * whatever the transport buffers.
 */
#ifndef MO_EXEC_PLAN_IR_PLAN_H
#define MO_EXEC_PLAN_IR_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"
#include "ingest/operator.h"

enum { MO_PLAN_NONE = -1 };

/* Where a value lies that is made among the bytes of another one: the same
 * shape but for the channels, both channels last
 * (exec/plan/passes/concat_inplace.h). */
typedef struct mo_plan_slice {
    int of;     /* value */
    int64_t at; /* its first channel there */
} mo_plan_slice;

typedef struct mo_plan_value {
    const char *name; /* the op that makes it, "conv1" or "split1:2" */
    mo_tensor_desc desc;
    bool channels_last; /* how it lies, see exec/op/call.h */
    int device;
    const mo_tensor_dense *constant; /* its value, or NULL; belongs to
                                 mo_weights_store, or the plan made it */
    const mo_plan_slice *part;       /* NULL: its bytes are its own */
    int view_of;    /* shares the bytes of this value, or MO_PLAN_NONE */
    int input;      /* the network's input it is, or MO_PLAN_NONE */
    int transfer;   /* the one it arrives by, or MO_PLAN_NONE */
    int item;       /* what makes it, or MO_PLAN_NONE: what is anywhere */
    int64_t offset; /* in the arena of its device; MO_PLAN_NONE: not there */
} mo_plan_value;

typedef struct mo_plan_call {
    mo_call call; /* operands are values, all of one device */
    int item;     /* the item it is a part of; of a fused call, the last one */
    int device;
    int timed_as; /* the item that its time counts for: of a fused call, the
                     one that all others only put an end to */
    int lane;     /* of its device: exec/plan/schedule/streams.c */
    int *waits;   /* earlier calls of other lanes it begins after */
    int n_waits;
} mo_plan_call;

typedef struct mo_plan_transfer {
    int from_value, to_value;
    int from, to; /* devices */
    int64_t bytes;
    int tensor; /* of the graph that was placed; for reports */
} mo_plan_transfer;

/* What was placed as one: an op of the placed graph, where it runs. */
typedef struct mo_plan_item {
    const char *name; /* as in the placed graph */
    const char *type; /* "Convolution", "MatMul+Add" */
    mo_class class;   /* of the costliest member */
    int op;           /* in the placed graph; MO_PLAN_NONE: replicated work */
    int device;
    int64_t predicted_ns;
} mo_plan_item;

typedef enum mo_plan_step_kind {
    MO_PLAN_STEP_COMPUTE, /* do call `what` */
    MO_PLAN_STEP_SEND,    /* begin to send transfer `what` */
    MO_PLAN_STEP_RECEIVE, /* begin to receive it */
    MO_PLAN_STEP_AWAIT    /* go on when it is done, at either end */
} mo_plan_step_kind;

typedef struct mo_plan_step {
    mo_plan_step_kind kind;
    int what;
    int order; /* its place in the total order; a send and its receive share
                  theirs, an await comes after both */
} mo_plan_step;

/* Where a device has several lanes, its calls between two steps of other kinds
 * run side by side but for what lanes and waits say; such a step begins when
 * all calls before it are done. */
enum { MO_PLAN_MAX_STREAMS = 8 };

typedef struct mo_plan_device {
    const char *id;
    int n_lanes; /* 0 and 1: one call after the other */
    mo_plan_step *steps;
    int n_steps;
    int64_t arena_bytes;    /* for values */
    int64_t weight_bytes;   /* of the constants it reads, each once */
    int64_t capacity_bytes; /* INT64_MAX: no limit */
    int64_t keep_bytes; /* of what it sent and others have, so much may stay */
} mo_plan_device;

typedef struct mo_plan_input {
    const char *name;
    mo_tensor_desc desc;
    int *values; /* one on each device that reads it */
    int n_values;
} mo_plan_input;

typedef struct mo_plan_output {
    const char *name;
    int value;
    bool widened; /* is given out as f32 (exec/plan/passes/precision.c) */
} mo_plan_output;

/* A constant that the plan itself made. */
typedef struct mo_plan_owned_constant {
    mo_tensor_dense value;
    struct mo_plan_owned_constant *next;
} mo_plan_owned_constant;

typedef struct mo_exec_plan {
    int n_devices, n_values, n_calls, n_transfers, n_items;
    int n_inputs, n_outputs;
    mo_plan_device *devices;
    mo_plan_value *values;
    mo_plan_call *calls; /* in the total order */
    mo_plan_transfer *transfers;
    mo_plan_item *items;
    mo_plan_input *inputs;        /* by their index in the network */
    mo_plan_output *outputs;      /* the same */
    int64_t predicted_ns;         /* the schedule's makespan */
    mo_plan_owned_constant *made; /* constants of its own */
    mo_arena *arena;              /* owns all of this */
} mo_exec_plan;

void mo_plan_free(mo_exec_plan *plan);

/* What output i of the network is like for who gets it. */
mo_tensor_desc mo_plan_output_desc(const mo_exec_plan *plan, int i);

/* Whether the device's arena, weights and that workspace fit into its
 * memory. */
bool mo_plan_device_fits(const mo_plan_device *device, int64_t workspace_bytes);

/* Does what a device needs (arena, weights, and workspace by device, which may
 * be NULL) fit into its memory?  The error names the first that is too small,
 * and by how much. */
mo_status mo_plan_check_capacity(const mo_exec_plan *plan,
                                 const int64_t *workspace, mo_error *err);

#endif
