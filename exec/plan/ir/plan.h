/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - the execution plan: an intermediate representation of the steps of
 * every device.
 *
 * A plan is built from the graph as read, the coarse graph that was placed,
 * and its schedule (exec/plan/build.h). It consists of calls, values and
 * transfers; running it needs neither graph nor instance.
 *
 * A value lives on one device: a tensor that is sent is one value where it is
 * produced and another where it arrives. One total order holds all steps; each
 * device executes its own in that order. Hence no deadlock, whatever the
 * transport buffers.
 */
#ifndef MO_EXEC_PLAN_IR_PLAN_H
#define MO_EXEC_PLAN_IR_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/op/call.h"
#include "ingest/operator.h"

enum { MO_PLAN_NONE = -1 };

/* The position of a value inside the buffer of another one: the same shape but
 * for the channels, both channels-last (exec/plan/passes/concat_inplace.c). */
typedef struct mo_plan_slice {
    int of;     /* value */
    int64_t at; /* its first channel there */
} mo_plan_slice;

typedef struct mo_plan_value {
    const char *name; /* the op that produces it, "conv1" or "split1:2" */
    mo_tensor_desc desc;
    bool channels_last; /* memory layout, see exec/op/call.h */
    int device;
    const mo_tensor_dense *constant; /* its value, or NULL; owned by
                                        mo_weights_store or by the plan */
    const mo_plan_slice *part;       /* NULL: has a buffer of its own */
    const char *state; /* the state whose bytes it has, which stay on the device
                          between runs (exec/plan/passes/state_inplace.c), or
                          NULL */
    int view_of;       /* shares the bytes of this value, or MO_PLAN_NONE */
    int input;         /* index of the network's input, or MO_PLAN_NONE */
    int transfer;      /* the transfer it arrives by, or MO_PLAN_NONE */
    int item;       /* item that produces it; MO_PLAN_NONE: inputs, constants */
    int64_t offset; /* in the arena of its device; MO_PLAN_NONE: not there */
} mo_plan_value;

typedef struct mo_plan_call {
    mo_call call; /* operands are values of one device */
    int item;     /* the item it belongs to; of a fused call, the last one */
    int device;
    int timed_as;    /* the item its time is attributed to: of a fused call, the
                        one whose epilogue the others are */
    int stream;      /* of its device: exec/plan/schedule/streams.c */
    int *depends_on; /* earlier calls of other streams it waits for */
    int n_depends_on;
} mo_plan_call;

typedef struct mo_plan_transfer {
    int from_value, to_value;
    int from, to; /* devices */
    int64_t bytes;
    int tensor; /* of the placed graph, or MO_PLAN_NONE; for reports */
} mo_plan_transfer;

/* An op of the placed graph on its device. */
typedef struct mo_plan_item {
    const char *name; /* as in the placed graph */
    const char *type; /* "Convolution", "MatMul+Add" */
    mo_class class;   /* of the costliest member */
    int op;           /* in the placed graph; MO_PLAN_NONE: replicated work */
    int device;
    int64_t predicted_ns;
} mo_plan_item;

typedef enum mo_plan_step_kind {
    MO_PLAN_STEP_COMPUTE, /* run call `what` */
    MO_PLAN_STEP_SEND,    /* post the send of transfer `what` */
    MO_PLAN_STEP_RECEIVE, /* post its receive */
    MO_PLAN_STEP_AWAIT    /* wait for its completion, at either end */
} mo_plan_step_kind;

typedef struct mo_plan_step {
    mo_plan_step_kind kind;
    int what;
    int order; /* position in the total order; a send and its receive share one,
                  an await comes after both */
} mo_plan_step;

/* On a device with several streams, calls between two steps of other kinds run
 * concurrently, ordered by streams and depends_on only; a step of another kind
 * begins when all calls before it are complete. */
enum { MO_PLAN_MAX_STREAMS = 8 };

typedef struct mo_plan_device {
    const char *id;
    int n_streams; /* 0 and 1: sequential */
    mo_plan_step *steps;
    int n_steps;
    int64_t arena_bytes;    /* for values */
    int64_t state_bytes;    /* of these, at the begin: for states */
    int64_t weight_bytes;   /* of the constants it reads, each once */
    int64_t capacity_bytes; /* INT64_MAX: no limit */
    int64_t keep_bytes; /* bound on sent values whose buffers outlive their last
                           use */
} mo_plan_device;

typedef struct mo_plan_input {
    const char *name;
    mo_tensor_desc desc;
    int *values; /* one on each device that reads it */
    int n_values;
    const char *state; /* not fed: the name of the state that it reads, or
                          NULL */
} mo_plan_input;

typedef struct mo_plan_output {
    const char *name;
    int value;
    bool widened;      /* returned as f32 (exec/plan/passes/precision.c) */
    const char *state; /* not returned: the state that it writes, or NULL */
} mo_plan_output;

/* The first numbers of a phase in the arrays of a merged plan. */
typedef struct mo_plan_phase_start {
    int call, value, transfer, item, input, output;
    int order; /* of the steps */
} mo_plan_phase_start;

/* A phase of a workload: a plan by itself that shares devices, weights and
 * states with the other phases of its plan (exec/plan/build.h). */
typedef struct mo_plan_phase {
    const char *name;
    int64_t predicted_ns; /* makespan of its schedule */
    mo_plan_phase_start start;
} mo_plan_phase;

/* A constant that the plan owns. */
typedef struct mo_plan_owned_constant {
    mo_tensor_dense value;
    const void *narrowed; /* the f32 data that it was made of, or NULL */
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
    mo_plan_input *inputs;   /* by their index in the network */
    mo_plan_output *outputs; /* likewise */
    int64_t predicted_ns;    /* makespan of the schedule */
    mo_plan_owned_constant
        *owned_constants; /* list of the plan's own constants */
    mo_arena *arena;      /* owns all arrays and texts */
    /* Of a merged plan: its phases, and one more for their end; and the plans
     * that own what theirs refer to. NULL: a run takes all steps. */
    mo_plan_phase *phases;
    struct mo_exec_plan **parts;
    int n_phases;
} mo_exec_plan;

/* The phase of a call, transfer, value, input or output, by a member of
 * mo_plan_phase_start; 0 where there are none. */
#define MO_PLAN_PHASE_OF(plan, member, number)                                 \
    mo_plan_phase_find(plan, offsetof(mo_plan_phase_start, member), number)
int mo_plan_phase_find(const mo_exec_plan *plan, size_t member, int number);

/* Frees the plan with its constants; accepts NULL. */
void mo_plan_free(mo_exec_plan *plan);

/* Allocates a zeroed constant of that type and shape that the plan owns. */
mo_status mo_plan_add_constant(mo_exec_plan *plan, const mo_tensor_desc *desc,
                               mo_tensor_dense **constant, mo_error *err);

/* Makes the plan the owner of *value, which becomes zeros on success. */
mo_status mo_plan_adopt_constant(mo_exec_plan *plan, mo_tensor_dense *value,
                                 const mo_tensor_dense **constant,
                                 mo_error *err);

/* Returns type and shape of output i as the caller of a run receives it. */
mo_tensor_desc mo_plan_output_desc(const mo_exec_plan *plan, int i);

/* Returns whether the device's arena, weights and that workspace fit into its
 * memory. */
bool mo_plan_device_fits(const mo_plan_device *device, int64_t workspace_bytes);

/* Fails with MO_E_INPUT when arena, weights and workspace (bytes by device, or
 * NULL: none) of a device exceed its memory. The error names the first such
 * device and the missing bytes. */
mo_status mo_plan_check_capacity(const mo_exec_plan *plan,
                                 const int64_t *workspace, mo_error *err);

#endif
