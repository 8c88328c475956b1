/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_internal.h - state of lowering, shared by its files.
 *
 * Tensors are numbered: the outputs of all ops and constants, then those in
 * attributes. A tensor becomes one value on each device that has it: one
 * device where an op was placed, any number of them for constants, for inputs
 * fed wherever they are read, and for views of these.
 */
#ifndef MO_EXEC_PLAN_LOWER_LOWER_INTERNAL_H
#define MO_EXEC_PLAN_LOWER_LOWER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/lower.h"
#include "exec/plan/lower/lower.h"
#include "exec/plan/ir/value_table.h"

typedef struct mo_plan_lower_tensor {
    const char *name;             /* of the value it becomes */
    mo_tensor_desc desc;          /* rank -1: unknown */
    const mo_tensor_dense *known; /* its value, or NULL */
    int input;  /* index of the network's input, or MO_PLAN_NONE */
    int op;     /* the op that produces it, or MO_PLAN_NONE */
    int places; /* the first of its locations, or MO_PLAN_NONE */
} mo_plan_lower_tensor;

/* The value that a tensor became on a device. */
typedef struct mo_plan_lower_location {
    int device, value;
    int next; /* of the same tensor, or MO_PLAN_NONE */
} mo_plan_lower_location;

/* An op of the fine graph. */
typedef struct mo_plan_lower_op {
    const char *type; /* canonical, or NULL */
    int device;       /* or MO_PLAN_NONE: replicated wherever it is read */
    int item;         /* of the placed graph, or MO_PLAN_NONE */
    int n_in, n_out;
    int *in; /* tensors, by port */
    const mo_attr_list *attrs;
    mo_lower_result lowered;
    int needs; /* of a replicated op: the first device that reads it, or
                  MO_PLAN_NONE */
} mo_plan_lower_op;

typedef struct mo_plan_lower_replica {
    int device, next;
} mo_plan_lower_replica;

/* An input or output of the network, and its number there. */
typedef struct mo_plan_lower_io_port {
    const char *name;
    int64_t index; /* from the op's attributes; INT64_MAX where it has none */
    int op;
    int tensor;
} mo_plan_lower_io_port;

/* What an op lacks in the graph. */
typedef enum mo_plan_lower_lack {
    MO_PLAN_LACKS_NOTHING, /* the op is not supported, or invalid */
    MO_PLAN_LACKS_SHAPES,
    MO_PLAN_LACKS_WEIGHTS
} mo_plan_lower_lack;

enum { MO_PLAN_LOWER_NAMED_OPS = 3 };

/* Ops that cannot be lowered for the same reason. */
typedef struct mo_plan_lower_failure {
    mo_plan_lower_lack lacks;
    mo_error first;                   /* the error of the first op */
    int ops[MO_PLAN_LOWER_NAMED_OPS]; /* the first of them */
    int n;
} mo_plan_lower_failure;

typedef struct mo_plan_lower_state {
    const mo_plan_source *source;
    const mo_graph *g; /* the fine one */
    mo_exec_plan *plan;
    mo_arena *scratch; /* freed when the plan is complete */
    mo_plan_lower_op *ops;
    int *first_tensor; /* by op and constant; one more for their end */
    mo_plan_lower_tensor *tensors;
    size_t n_tensors, tensors_room;
    mo_plan_lower_location *places;
    size_t n_places, places_room;
    mo_plan_lower_replica *needs;
    size_t n_needs, needs_room;
    mo_plan_lower_io_port *inputs, *outputs;
    size_t n_inputs, inputs_room, n_outputs, outputs_room;
    int network_input; /* the tensor of "network_input", or MO_PLAN_NONE */
    int causal;        /* the last causal mask, or MO_PLAN_NONE */
    mo_plan_values values;
    mo_plan_lower_failure *failures; /* of ops without a lowering so far */
    size_t n_failures, failures_room;
    mo_plan_lower_lack lacks; /* cause of the failure that is returned */
    bool lacks_data;          /* a constant has no value: no op is at fault */
} mo_plan_lower_state;

/* Returns the canonical operator name ("Convolution"); NULL for an op without
 * type, and the type itself for an unknown one. */
const char *mo_plan_lower_op_type(const mo_op *op);

/* Copies text (NULL is "") into the plan's arena: a plan needs no graph. */
mo_status mo_plan_lower_copy_text(mo_plan_lower_state *l, const char *text,
                                  const char **kept, mo_error *err);

/* Fills first_tensor and tensors for all outputs. */
mo_status mo_plan_lower_number_tensors(mo_plan_lower_state *l, mo_error *err);

/* Appends a tensor that is no output of an op. */
mo_status mo_plan_lower_add_tensor(mo_plan_lower_state *l,
                                   const mo_plan_lower_tensor *tensor,
                                   int *number, mo_error *err);

/* *value: a constant, or an output that follows from constants; NULL where it
 * is not known before the run. */
mo_status mo_plan_lower_constant_value(mo_plan_lower_state *l, int tensor,
                                       const mo_tensor_dense **value,
                                       mo_error *err);

/* Records that tensor is value on a device. */
mo_status mo_plan_lower_add_location(mo_plan_lower_state *l, int tensor,
                                     int device, int value, mo_error *err);

/* The value a reader on device reads. Constants and fed inputs are created
 * where they are missing; for a tensor on another device the value there. */
mo_status mo_plan_lower_value_on_device(mo_plan_lower_state *l, int tensor,
                                        int device, int *value, mo_error *err);

/* Passes the tensors in op's attributes to add, with their ports. */
typedef mo_status mo_plan_lower_add_input(void *context, int port, int tensor,
                                          mo_error *err);
mo_status mo_plan_lower_attr_tensors(mo_plan_lower_state *l, int op,
                                     mo_plan_lower_add_input *take,
                                     void *context, mo_error *err);

/* Adds a constant of this type and shape, with synthetic values, as an input of
 * op. */
mo_status mo_plan_lower_constant_input(mo_plan_lower_state *l, int op, int port,
                                       const mo_tensor_desc *desc,
                                       mo_plan_lower_add_input *take,
                                       void *context, mo_error *err);

/* Lowers every op to calls in its own numbering; evaluates constants; finds
 * all ops without a lowering. */
mo_status mo_plan_lower_all_ops(mo_plan_lower_state *l, mo_error *err);

/* Returns the class of an op for reports and costs. */
mo_class mo_plan_lower_op_class(const mo_op *op);

/* Creates the items and emits their calls in order. */
mo_status mo_plan_lower_build_items(mo_plan_lower_state *l, mo_error *err);

/* Fails with "op 'x' (Foo): ..." and MO_E_SUPPORT. */
mo_status mo_plan_lower_fail(const mo_plan_lower_state *l, int op,
                             mo_error *err, const char *format, ...)
    MO_PRINTF(4, 5);

/* Records that op id failed with status and why, so that lowering goes on and
 * finds all such ops. Returns a failure that is not the op's. */
mo_status mo_plan_lower_note_failure(mo_plan_lower_state *l, int id,
                                     mo_status status, const mo_error *why,
                                     mo_error *err);
/* Reports all recorded failures, a line for each cause, to the source's
 * on_unsupported; returns the only cause, or a summary. */
mo_status mo_plan_lower_report_failures(const mo_plan_lower_state *l,
                                        mo_error *err);

#endif
