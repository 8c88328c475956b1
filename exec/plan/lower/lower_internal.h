/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lowering.h - the inside of mo_plan_lower, for the files lower*.c.
 *
 * A graph on its way into a plan.  Tensors are numbered: the outputs of all ops
 * and constants, then what attrs tell of.  A tensor is one value on each device
 * that has it: one device where an op was placed, any number of them for
 * constants, inputs that are fed wherever they are read, and views of these.
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
    mo_tensor_desc desc;          /* rank -1: nobody told */
    const mo_tensor_dense *known; /* its value, or NULL */
    int input;                    /* the network's it is, or MO_PLAN_NONE */
    int op;                       /* whose output it is, or MO_PLAN_NONE */
    int places;                   /* the first of the values it became, or
                                     MO_PLAN_NONE */
} mo_plan_lower_tensor;

/* A tensor became a value on a device. */
typedef struct mo_plan_lower_location {
    int device, value;
    int next; /* of the same tensor, or MO_PLAN_NONE */
} mo_plan_lower_location;

/* An op of the fine graph. */
typedef struct mo_plan_lower_op {
    const char *type; /* canonical, or NULL */
    int device;       /* or MO_PLAN_NONE: wherever it is read */
    int item;         /* of the placed graph, or MO_PLAN_NONE */
    int n_in, n_out;
    int *in; /* tensors, by port */
    mo_lower_result lowered;
    int needs; /* where a replicated one is read: the first of the needs, or
                  MO_PLAN_NONE */
} mo_plan_lower_op;

typedef struct mo_plan_lower_replica {
    int device, next;
} mo_plan_lower_replica;

/* An input or output of the network, and its number there. */
typedef struct mo_plan_lower_io_port {
    const char *name;
    int64_t index; /* as its op tells; INT64_MAX where it does not */
    int op;
    int tensor;
} mo_plan_lower_io_port;

typedef struct mo_plan_lower_state {
    const mo_plan_source *source;
    const mo_graph *g; /* the fine one */
    mo_exec_plan *plan;
    mo_arena *scratch; /* gone when the plan is made */
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
    int network_input; /* the tensor that attrs tell of, or MO_PLAN_NONE */
    int causal;        /* the last causal mask, or MO_PLAN_NONE */
    mo_plan_values values;
    int n_cannot; /* ops that cannot be run, so far */
    mo_error first_cannot;
    bool lacks_data; /* a constant has no value: no op's fault */
} mo_plan_lower_state;

/* What op is called by those who run it: "Convolution"; NULL for no type at
 * all, and the type as it is for one that nobody knows. */
const char *mo_plan_lower_op_type(const mo_op *op);

/* A copy of text (NULL is "") that goes with the plan: that needs no graph. */
mo_status mo_plan_lower_copy_text(mo_plan_lower_state *l, const char *text,
                                  const char **kept, mo_error *err);

/* Fills first_tensor and tensors for all outputs. */
mo_status mo_plan_lower_number_tensors(mo_plan_lower_state *l, mo_error *err);

/* One more tensor, which is no output. */
mo_status mo_plan_lower_add_tensor(mo_plan_lower_state *l,
                                   const mo_plan_lower_tensor *tensor,
                                   int *number, mo_error *err);

/* The value of a constant, or of an output that follows from constants; NULL
 * where it is not known before the run. */
mo_status mo_plan_lower_constant_value(mo_plan_lower_state *l, int tensor,
                                       const mo_tensor_dense **value,
                                       mo_error *err);

/* Notes that tensor is value on a device. */
mo_status mo_plan_lower_add_location(mo_plan_lower_state *l, int tensor,
                                     int device, int value, mo_error *err);

/* What a reader on device reads.  Constants and fed inputs are made where they
 * are not yet; a tensor that is only elsewhere is given as it is there. */
mo_status mo_plan_lower_value_on_device(mo_plan_lower_state *l, int tensor,
                                        int device, int *value, mo_error *err);

/* Fills n_in and in of op: edges, constants, and what attrs tell. */
mo_status mo_plan_lower_op_inputs(mo_plan_lower_state *l, int op,
                                  mo_error *err);

/* The tensors that attrs tell op of: given to take, with their ports. */
typedef mo_status mo_plan_lower_add_input(void *context, int port, int tensor,
                                          mo_error *err);
mo_status mo_plan_lower_attr_tensors(mo_plan_lower_state *l, int op,
                                     mo_plan_lower_add_input *take,
                                     void *context, mo_error *err);

/* Makes all ops into calls of their own numbering; finds what is known, and
 * all that cannot be run. */
mo_status mo_plan_lower_all_ops(mo_plan_lower_state *l, mo_error *err);

/* Where ops run, from the schedule; and where replicated ones are needed, once
 * inputs and outputs of all are known. */
void mo_plan_lower_assign_devices(mo_plan_lower_state *l);
mo_status mo_plan_lower_find_replicas(mo_plan_lower_state *l, mo_error *err);

/* The device an output of the network is wanted on. */
int mo_plan_lower_output_device(const mo_plan_lower_state *l,
                                const mo_plan_lower_io_port *output);

mo_class mo_plan_lower_op_class(const mo_op *op);

/* The calls of op on a device, as a part of item, or of an item of its own
 * where that is MO_PLAN_NONE. */
mo_status mo_plan_lower_emit_calls(mo_plan_lower_state *l, int op, int device,
                                   int item, mo_error *err);

/* The items, and their calls in order. */
mo_status mo_plan_lower_build_items(mo_plan_lower_state *l, mo_error *err);

/* Inputs and outputs of the network: found, and put into the plan. */
mo_status mo_plan_lower_find_io(mo_plan_lower_state *l, mo_error *err);
mo_status mo_plan_lower_write_io(mo_plan_lower_state *l, mo_error *err);

/* "op 'x' (Foo): ..." with MO_E_SUPPORT. */
mo_status mo_plan_lower_fail(const mo_plan_lower_state *l, int op,
                             mo_error *err, const char *format, ...)
    MO_PRINTF(4, 5);

#endif
