/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - the network: a directed acyclic graph of operators.
 *
 * Ops are numbered in topological order, ties broken by name, so that the
 * numbers depend on the graph alone and never on the order of a file: every
 * edge goes from a smaller id to a larger one. No algorithm needs to sort
 * again.
 *
 * Beside the ops that run there may be constants (weights, and whatever can be
 * computed before the first input arrives). They are no part of the placement
 * problem, so they are kept apart: behind the ops in the same array, with
 * edges of their own ("feeds"). Algorithms read ops and edges; only the
 * executor and the writers read constants.
 *
 *     ops:    [0 .. n_ops)                    edges: from op to op
 *             [n_ops .. n_ops + n_constants)  feeds: from constant to either
 *
 * Plain data, read-only once built, so that any number of threads may read it.
 * The graph owns everything, and mo_graph_free() frees it: most of it is
 * allocated in its arena; ops, edges (with the feeds behind them) and tensors
 * are heap arrays, since they had to grow. graph/build.h makes one.
 */
#ifndef MO_GRAPH_GRAPH_H
#define MO_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { MO_UNKNOWN = -1 }; /* a size or an amount of work that is not known */

/* Ports are numbers; a foreign file may name them instead. */
enum { MO_PORT_NONE = -1 };

/* Defined in graph/output_types.h and graph/op_attrs.h. */
typedef struct mo_shape_list mo_shape_list;
typedef struct mo_dtype_list mo_dtype_list;
typedef struct mo_attr_list mo_attr_list;

/* Defined in graph/phases.h. */
typedef struct mo_phases mo_phases;

/* Defined in ingest/operator.h. */
struct mo_operator;

typedef struct mo_op {
    const char *name;     /* unique in the graph, never empty */
    const char *label;    /* name to display, or NULL */
    const char *type;     /* operator type as written, or NULL */
    const char *shape;    /* of the output, "1,64,56"; several outputs are
                             separated by ';'; "" is a scalar; or NULL */
    const char *dtype;    /* "f32", several as above, or NULL */
    const char *attrs;    /* parameters, a JSON object, or NULL */
    const char *weights;  /* "file:offset:size:dtype:shape", or NULL */
    const char *pin;      /* device id it must be placed on, or NULL */
    const char *colocate; /* ops with the same text share a device, or NULL */
    const char *state;    /* name of the state that it reads or writes
                             (ingest/state.h), or NULL */
    const char *members;  /* a coarse op: the names of the ops it stands for,
                             one at least, ["conv1","relu1"], or NULL */
    /* Parsed from the texts above by mo_builder_finish, for output_types.h and
     * op_attrs.h. */
    const mo_shape_list *shapes;   /* or NULL without shape */
    const mo_dtype_list *dtypes;   /* or NULL without dtype */
    const mo_attr_list *attr_list; /* or NULL without attrs */

    /* The operator that type denotes, or NULL when it is unknown; set by
     * mo_operator_resolve (ingest/operator.h). */
    const struct mo_operator *kind;

    double flops;            /* arithmetic, or MO_UNKNOWN */
    double bytes;            /* memory traffic, or MO_UNKNOWN */
    int64_t memory_bytes;    /* resident while hosted; never unknown */
    int64_t weight_bytes;    /* part of memory_bytes, or MO_UNKNOWN */
    int64_t workspace_bytes; /* part of memory_bytes, or MO_UNKNOWN */
    int64_t output_bytes;    /* all outputs together, or MO_UNKNOWN */
    int line;                /* in the file it came from, or 0 */
    bool memory_given; /* memory_bytes was given, not the sum of its parts */
    bool is_output; /* its output leaves the network, even if other ops read it
                       as well */
} mo_op;

typedef struct mo_edge {
    int from, to;
    int tensor;   /* which tensor it carries; MO_UNKNOWN on feeds */
    int dst_port; /* which input it is, or MO_PORT_NONE; see port_names */
    int line;
    int64_t bytes; /* or MO_UNKNOWN */
} mo_edge;

/* An output of an op that at least one edge carries. */
typedef struct mo_tensor {
    int producer;
    int port;                /* which output, or MO_PORT_NONE; see port_names */
    const char *key;         /* the file's own name for it, or NULL */
    int64_t bytes;           /* the largest of its edges, or MO_UNKNOWN */
    int first_edge, n_edges; /* its edges are contiguous in edges[] */
} mo_tensor;

/* A measured time in microseconds, as given in the file. */
typedef struct mo_measure {
    int column;
    double us;
} mo_measure;

/* A column of measurements: `time_us.<key>` or `comm_us.<key>`. */
typedef struct mo_measure_column {
    const char *key;
    double fallback_us; /* for owners without a measurement; NAN if there is
                           none */
} mo_measure_column;

typedef struct mo_graph {
    const char *name; /* as given in the file, or NULL */
    mo_op *ops;
    int n_ops, n_constants;

    mo_edge *edges; /* sorted by from, tensor, to, dst_port */
    int n_edges;
    int *out_start; /* edges of op i: [out_start[i], out_start[i+1]) */
    int *in_edges;  /* edge numbers, grouped by to, in port order */
    int *in_start;

    mo_tensor *tensors; /* sorted by producer, port, key */
    int n_tensors;
    int *tensor_start; /* tensors of op i: as above */

    mo_edge *feeds; /* sorted by to, dst_port, from */
    int n_feeds;
    int *feed_start; /* feeds into ops[i], constants included:
                        [feed_start[i], feed_start[i+1]) */
    int *feed_port;  /* which output of its constant each feed carries */

    mo_measure_column *time_columns; /* sorted by key */
    int n_time_columns;
    mo_measure *times; /* sorted by op, column */
    int *time_start;   /* of op i: [time_start[i], time_start[i+1]) */

    mo_measure_column *comm_columns; /* sorted by key, "A.B" */
    int n_comm_columns;
    mo_measure *comms; /* sorted by edge, column */
    int *comm_start;   /* of edge e */

    const char *
        *port_names; /* the name of port p <= -2 is port_names[-2 - p] */
    int n_port_names;

    mo_phases *phases; /* of a workload, owned; NULL: it is no workload */

    const char **files; /* it was read from, the graph's own first; of a
                           workload, the graphs of phases have theirs */
    int n_files;

    mo_arena *arena;
} mo_graph;

/* Frees the graph and all it owns; NULL is allowed. */
void mo_graph_free(mo_graph *graph);

static inline int mo_graph_out_degree(const mo_graph *g, int op)
{
    return g->out_start[op + 1] - g->out_start[op];
}

static inline int mo_graph_in_degree(const mo_graph *g, int op)
{
    return g->in_start[op + 1] - g->in_start[op];
}

/* Sets the files that the graph was read from to copies of the names. */
mo_status mo_graph_set_files(mo_graph *g, const char *const *files, int n,
                             mo_error *err);

/* Returns the id of the op or constant of that name, or -1. O(n). */
int mo_graph_find(const mo_graph *g, const char *name);

/* Returns the measured time of op (or of edge) in microseconds: its own, else
 * the column's fallback; NAN when there is neither. */
double mo_graph_time_us(const mo_graph *g, int op, int column);
double mo_graph_comm_us(const mo_graph *g, int edge, int column);

/* Sets *digest to a digest of all that a placement or an execution depends on:
 * not of labels, lines, and the names of the graph and its files. Returns
 * MO_OK or MO_E_MEMORY. */
mo_status mo_graph_digest(const mo_graph *g, uint64_t *digest, mo_error *err);

#endif
