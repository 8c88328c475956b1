/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moirai.h - the library of Moirai: reads a network, places its operators on
 * unequal devices with a proven gap, and runs the placement.
 *
 *     moirai_graph_read("net.onnx", NULL, &graph, &err);
 *     moirai_cluster_read("inter-server", &cluster, &err);
 *     moirai_instance_new(graph, cluster, NULL, NULL, &instance, &err);
 *     moirai_place(instance, NULL, &placement, &err);  checked, with a bound
 *     moirai_executor_open(placement, NULL, &executor, &err);
 *     moirai_executor_run(executor, inputs, outputs, &err);
 *
 * Errors.  A function that can fail returns a moirai_status and takes a
 * moirai_error last, which may be NULL.  Outputs are set on success only.
 * Infeasibility of a placement problem is a status, too; violations of a
 * placement are not: moirai_placement_n_violations() counts them.
 *
 * Ownership.  Every handle is freed by the _free function of its kind, which
 * accepts NULL.  Handles refer to each other and keep what they need alive:
 * they may be freed in any order.  A returned const pointer is borrowed from
 * the handle and lives as long as it does.  Pointer arguments are borrowed for
 * the duration of the call, and must not be NULL unless it is said that they
 * may.
 *
 * Threads.  Graphs, clusters, profiles, instances and placements are immutable:
 * any number of threads may use them at the same time.  Options, builders and
 * executors belong to one thread at a time, with the exceptions
 * moirai_options_cancel(), moirai_executor_submit(), _wait(), _at() and
 * _n_plans().  Callbacks may
 * use handles, but must not free those of the call that they are called from.
 *
 * The library prints nothing (see moirai_options_on_message()) and does not
 * change the locale.  It handles SIGINT and SIGTERM while solvers run, which
 * they stop; signals that end the process while a file is written, of which the
 * temporary copy is removed first; and SIGBUS from the first executor on, whose
 * weights are mapped files.  Handlers of the program are called as well.
 *
 * Options are an object with setters by name.  Names and values are those of
 * the command line ("time", "10"), documented in the manual of the command,
 * so that a new option is no change of the interface, from any language.  Plain
 * data that plug-ins see are structs that begin with their size.
 *
 * Stability.  The symbols are versioned (MOIRAI_1.0).  Within libmoirai.so.1 no
 * function is removed or changed, structs grow at their end only and only where
 * they begin with their size, and numbers of enums keep their meaning.
 *
 * Times that are returned are in nanoseconds (_ns), those that are given in
 * microseconds (_us); sizes are in bytes, texts in UTF-8.
 */
#ifndef MOIRAI_H
#define MOIRAI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MOIRAI_API __attribute__((visibility("default")))
#else
#define MOIRAI_API
#endif

/* The handles. */
typedef struct moirai_options moirai_options;
typedef struct moirai_graph moirai_graph;
typedef struct moirai_builder moirai_builder;
typedef struct moirai_cluster moirai_cluster;
typedef struct moirai_profile moirai_profile;
typedef struct moirai_instance moirai_instance;
typedef struct moirai_placement moirai_placement;
typedef struct moirai_executor moirai_executor;

/* Errors */

typedef enum moirai_status {
    MOIRAI_OK = 0,
    MOIRAI_E_MEMORY = 1,      /* memory is exhausted */
    MOIRAI_E_IO = 2,          /* a file cannot be opened, read or written */
    MOIRAI_E_SYNTAX = 3,      /* a file violates its format */
    MOIRAI_E_INPUT = 4,       /* well-formed, but wrong: a cycle, a size */
    MOIRAI_E_LIMIT = 5,       /* larger than the accepted limit */
    MOIRAI_E_USAGE = 6,       /* an argument or option is wrong */
    MOIRAI_E_SUPPORT = 7,     /* not supported by this build or version */
    MOIRAI_E_INFEASIBLE = 8,  /* proven: no placement meets the constraints */
    MOIRAI_E_CANCELLED = 9,   /* cancelled before there was a result */
    MOIRAI_E_NO_SOLUTION = 10 /* none was found within the limits */
} moirai_status;

/* An error, in memory of the caller; it owns nothing. Its size is fixed. */
typedef struct moirai_error {
    int32_t status;  /* a moirai_status */
    int32_t line;    /* in file; 0: unknown */
    char file[512];  /* "": no file */
    char text[1024]; /* cause and remedy, one line */
} moirai_error;

/* Returns the version of the library, "1.2.3"; a literal. */
MOIRAI_API const char *moirai_version(void);

/* Returns the name of a status, "out of memory"; a literal, never NULL. */
MOIRAI_API const char *moirai_status_name(int status);

/* Writes "file:line: text", "file: text" or "text" into buffer, cut to size
 * bytes with the terminating 0, and returns buffer. */
MOIRAI_API char *moirai_error_text(const moirai_error *err, char *buffer,
                                   size_t size);

/* Callbacks */

/* Receives a piece of output. Returns 0, or an errno value, which ends the
 * writing function with MOIRAI_E_IO. Called from the thread of the caller. */
typedef int moirai_write_fn(void *context, const char *data, size_t size);

/* Receives the progress of a search or solver: its best makespan (or period)
 * so far, INT64_MAX: none yet, and its best lower bound, 0: none yet. Returns 0
 * to go on, anything else to stop with what there is. Called from any thread,
 * by one at a time, until the call that it is the progress of returns. */
typedef int moirai_progress_fn(void *context, int64_t makespan_ns,
                               int64_t bound_ns, double seconds);

/* Receives a line that a command would print on stderr beside errors. Called
 * from any thread, by one at a time. */
typedef void moirai_message_fn(void *context, const char *text);

/* Options */

/* Makes options with the defaults. Wherever options are an argument, NULL
 * stands for the defaults. An options object can be used for many calls; each
 * function reads the options that are listed there and ignores the others. */
MOIRAI_API moirai_status moirai_options_new(moirai_options **options,
                                            moirai_error *err);
MOIRAI_API void moirai_options_free(moirai_options *options);

/* Sets the option of that name; value is copied. NULL: the default again. An
 * option that can be given several times ("shape", "value", "method",
 * "weights-from") collects its values. MOIRAI_E_USAGE: there is no such option,
 * or the value is none of its values. */
MOIRAI_API moirai_status moirai_options_set(moirai_options *options,
                                            const char *name, const char *value,
                                            moirai_error *err);

/* Set callbacks; NULL: none. */
MOIRAI_API void moirai_options_on_progress(moirai_options *options,
                                           moirai_progress_fn *on_progress,
                                           void *context);
MOIRAI_API void moirai_options_on_message(moirai_options *options,
                                          moirai_message_fn *on_message,
                                          void *context);

/* With cancel other than 0, ends all calls of moirai_place() and
 * moirai_solve() that were given these options, now and later, with the best
 * placement so far, or MOIRAI_E_CANCELLED if there is none; with 0, later calls
 * run again. From any thread, and from signal handlers. */
MOIRAI_API void moirai_options_cancel(moirai_options *options, int cancel);

/* Graph */

/*
 * Reads a network: GraphML, OpenVINO IR or ONNX, by content; may be compressed.
 * "-" is standard input. Weights stay in their files.
 *
 * Options: shape ("NAME=1,128", several: sizes of dynamic inputs; one of
 * "NAME=1,128;8,128" makes a workload of these shapes),
 * value ("NAME=16000", several: constants in place of inputs), precision and
 * weights (numeric formats that sizes and predicted times refer to).
 */
MOIRAI_API moirai_status moirai_graph_read(const char *path,
                                           const moirai_options *options,
                                           moirai_graph **graph,
                                           moirai_error *err);

/* The same from memory. name stands for the path in errors, and its folder is
 * where weights are looked for; it need not exist. */
MOIRAI_API moirai_status moirai_graph_read_memory(const char *name,
                                                  const void *data, size_t size,
                                                  const moirai_options *options,
                                                  moirai_graph **graph,
                                                  moirai_error *err);

/*
 * Coarsens a graph: cleans it and fuses operators. The result is a graph of its
 * own, which refers to the fine one; a graph that is coarsened already is
 * refused with MOIRAI_E_USAGE. cluster is for combining measured times, and may
 * be NULL if the graph has none.
 *
 * Options: fusion (a rule set or a file of rules; "default").
 */
MOIRAI_API moirai_status moirai_graph_coarsen(const moirai_graph *graph,
                                              const moirai_cluster *cluster,
                                              const moirai_options *options,
                                              moirai_graph **coarse,
                                              moirai_error *err);
MOIRAI_API void moirai_graph_free(moirai_graph *graph);

/* Return numbers of ops and of edges. Ops are numbered from 0 in topological
 * order; constants are not counted. */
MOIRAI_API int moirai_graph_n_ops(const moirai_graph *graph);
MOIRAI_API int moirai_graph_n_edges(const moirai_graph *graph);

/* Returns a text of an op, or NULL where it has none, or there is no such op
 * or key: "name" (never NULL), "label", "type", "shape" ("1,64;1,32": two
 * outputs), "dtype", "attrs", "pin", "colocate", "members". */
MOIRAI_API const char *moirai_graph_op_text(const moirai_graph *graph, int op,
                                            const char *key);

/* Returns a number of an op, or -1 where it is unknown: "flops", "bytes",
 * "memory_bytes", "weight_bytes", "workspace_bytes", "output_bytes". */
MOIRAI_API double moirai_graph_op_number(const moirai_graph *graph, int op,
                                         const char *key);

/* Returns the op of that name, or -1. */
MOIRAI_API int moirai_graph_find(const moirai_graph *graph, const char *name);

/* Sets the ends of an edge and the bytes it carries, -1: unknown. Each may be
 * NULL. Returns 0, or -1 if there is no such edge. */
MOIRAI_API int moirai_graph_edge(const moirai_graph *graph, int edge, int *from,
                                 int *to, int64_t *bytes);

/* Returns the op of a coarse graph that contains op of its fine graph, or -1:
 * it was removed. Of a graph that is not coarse: op. */
MOIRAI_API int moirai_graph_coarse_op(const moirai_graph *graph, int op);

/* Writes the graph as GraphML into the file at path, which appears whole, or,
 * if path is NULL, to write. */
MOIRAI_API moirai_status moirai_graph_write(const moirai_graph *graph,
                                            const char *path,
                                            moirai_write_fn *write,
                                            void *context, moirai_error *err);

/* Builder */

/* Makes a graph from the caller's own numbers. Ops are numbered in the order
 * of moirai_builder_op() here; the graph has a topological order, see
 * moirai_graph_find(). */

MOIRAI_API moirai_status moirai_builder_new(moirai_builder **builder,
                                            moirai_error *err);
MOIRAI_API void moirai_builder_free(moirai_builder *builder);

/* Adds an op and sets *op to its number. name is unique; type may be NULL;
 * memory_bytes are needed wherever it is placed. */
MOIRAI_API moirai_status moirai_builder_op(moirai_builder *builder,
                                           const char *name, const char *type,
                                           int64_t memory_bytes, int *op,
                                           moirai_error *err);

/* Sets a text or number of an op: the keys of moirai_graph_op_text() but name
 * and members, and those of moirai_graph_op_number(). */
MOIRAI_API moirai_status moirai_builder_op_set(moirai_builder *builder, int op,
                                               const char *key,
                                               const char *value,
                                               moirai_error *err);

/* Adds an edge of so many bytes, -1: unknown, and sets *edge to its number,
 * unless edge is NULL. */
MOIRAI_API moirai_status moirai_builder_edge(moirai_builder *builder, int from,
                                             int to, int64_t bytes, int *edge,
                                             moirai_error *err);

/* Sets the time of an op on a device, given by its id or model. */
MOIRAI_API moirai_status moirai_builder_time(moirai_builder *builder, int op,
                                             const char *device, double time_us,
                                             moirai_error *err);

/* Sets the time of an edge from one device to another, given by ids or models,
 * instead of one computed from bytes and links. */
MOIRAI_API moirai_status moirai_builder_transfer_time(
    moirai_builder *builder, int edge, const char *from, const char *to,
    double time_us, moirai_error *err);

/* Makes the graph; the builder may only be freed then. Options as of
 * moirai_graph_read(). MOIRAI_E_INPUT: a cycle, or a name that occurs twice. */
MOIRAI_API moirai_status moirai_builder_finish(moirai_builder *builder,
                                               const moirai_options *options,
                                               moirai_graph **graph,
                                               moirai_error *err);

/* Cluster */

/* Reads a cluster: the name of a built-in one, or a file. */
MOIRAI_API moirai_status moirai_cluster_read(const char *name_or_path,
                                             moirai_cluster **cluster,
                                             moirai_error *err);

/* The same from memory; name is for errors. */
MOIRAI_API moirai_status moirai_cluster_read_memory(const char *name,
                                                    const void *data,
                                                    size_t size,
                                                    moirai_cluster **cluster,
                                                    moirai_error *err);

/*
 * Makes a cluster of n devices from arrays. memory_bytes may be NULL, and each
 * of it INT64_MAX: no limit. The link from device a to b has gbps[a * n + b]
 * gigabits a second, 0: there is none, and latency_us[a * n + b], NULL: 0.
 * Times of ops come from the graph.
 */
MOIRAI_API moirai_status moirai_cluster_new(int n, const char *const *ids,
                                            const int64_t *memory_bytes,
                                            const double *gbps,
                                            const double *latency_us,
                                            moirai_cluster **cluster,
                                            moirai_error *err);

/* Discovers the devices of this machine and estimates their links.
 *
 * Options: gpus ("0,2", "none"), cpus (number of devices that processors are
 * divided into, "none"), precision. */
MOIRAI_API moirai_status moirai_cluster_discover(const moirai_options *options,
                                                 moirai_cluster **cluster,
                                                 moirai_error *err);
MOIRAI_API void moirai_cluster_free(moirai_cluster *cluster);

/* Return the number of devices; and the id of device k, or NULL. */
MOIRAI_API int moirai_cluster_n_devices(const moirai_cluster *cluster);
MOIRAI_API const char *moirai_cluster_device_id(const moirai_cluster *cluster,
                                                int k);

/* Writes the cluster as XML, as moirai_graph_write(). */
MOIRAI_API moirai_status moirai_cluster_write(const moirai_cluster *cluster,
                                              const char *path,
                                              moirai_write_fn *write,
                                              void *context, moirai_error *err);

/* Profile */

/* Measured times of ops and links. */

MOIRAI_API moirai_status moirai_profile_read(const char *path,
                                             moirai_profile **profile,
                                             moirai_error *err);
MOIRAI_API void moirai_profile_free(moirai_profile *profile);

/* Instance */

/* The placement problem in numbers. */

/*
 * Makes the instance of a graph on a cluster. A graph that is not coarse is
 * coarsened first, as by moirai_graph_coarsen(), unless the option fusion is
 * "none": the instance then has its own ops, see moirai_instance_view().
 * profile may be NULL. All three stay usable, and may be freed.
 *
 * Options: fusion (a rule set or a file of rules; "default"), congestion,
 * tensors, memory, objective, in-flight (the rules of schedules; in-flight with
 * the objective period alone), cost (cost model of ops without a measured
 * time).
 */
MOIRAI_API moirai_status moirai_instance_new(const moirai_graph *graph,
                                             const moirai_cluster *cluster,
                                             const moirai_profile *profile,
                                             const moirai_options *options,
                                             moirai_instance **instance,
                                             moirai_error *err);
MOIRAI_API void moirai_instance_free(moirai_instance *instance);

enum { MOIRAI_NONE = -1 }; /* no pin, no group */

enum {
    MOIRAI_CONGESTION_PORT = 0, /* transfers that leave, or enter, a device */
    MOIRAI_CONGESTION_CHANNEL = 1, /* between the same two devices, one way */
    MOIRAI_CONGESTION_LINK = 2,    /* whose routes share a physical link */
    MOIRAI_CONGESTION_NONE = 3
};
enum {
    MOIRAI_TENSORS_PER_EDGE = 0, /* every reader receives its own copy */
    MOIRAI_TENSORS_ONCE = 1      /* a device receives a tensor once */
};
enum {
    MOIRAI_MEMORY_STATIC = 0, /* sum of memory_bytes of a device's ops */
    MOIRAI_MEMORY_LIVE = 1,   /* weights always, the rest while it is live */
    MOIRAI_MEMORY_NONE = 2    /* no limit */
};
enum { MOIRAI_OBJECTIVE_LATENCY = 0, MOIRAI_OBJECTIVE_PERIOD = 1 };

/* One op reads one tensor of another. */
typedef struct moirai_flow {
    int32_t from, to;
    int32_t tensor;
} moirai_flow;

/* An instance as plain data, read-only; K is n_devices. Ops are in topological
 * order: from < to in every flow. */
typedef struct moirai_view {
    size_t size; /* of this struct, as the library has it */
    int32_t n_ops, n_devices, n_flows, n_tensors, n_groups;
    int32_t congestion, tensors, memory, objective; /* enums above */
    int32_t in_flight; /* of a period: most requests; 0: no limit */
    const char *const *op_names;
    const char *const *device_ids;
    const int64_t *time_ns;        /* of op i on device k: [i * K + k] */
    const int64_t *memory_bytes;   /* by op */
    const int64_t *weight_bytes;   /* by op, the part that stays */
    const int64_t *capacity_bytes; /* by device; INT64_MAX: no limit */
    const moirai_flow *flows;      /* sorted by from, tensor, to */
    const int64_t *tensor_bytes;   /* by tensor; -1: unknown */
    const int32_t *pin;            /* by op: a device, or MOIRAI_NONE */
    const int32_t *group;          /* by op: they share a device */
    /* Transfer times, see moirai_view_transfer_ns(). */
    const int32_t *flow_row;
    const int32_t *pair_column; /* from a to b: [a * K + b] */
    const int64_t *transfer_ns; /* [row * n_columns + column] */
    int32_t n_columns;
} moirai_view;

/* Returns the transfer time of a flow from device a to b; 0 when a = b. */
static inline int64_t moirai_view_transfer_ns(const moirai_view *view, int flow,
                                              int a, int b)
{
    return view
        ->transfer_ns[(int64_t) view->flow_row[flow] * view->n_columns +
                      view->pair_column[(int64_t) a * view->n_devices + b]];
}

/* Returns the numbers of the instance, borrowed from it. */
MOIRAI_API const moirai_view *
moirai_instance_view(const moirai_instance *instance);

/* Writes the mixed-integer program of the instance into the file at path
 * (compressed if it ends in .gz or .zst) or, if path is NULL, to write.
 *
 * Options: format ("lp", "mps"; by path, else lp), formulation, closure, slack,
 * unit, strengthen, seed. The formulations of patterns have the
 * default search of moirai-emit. Others have a search only where strengthen
 * (seconds) is set; otherwise they are those of moirai-emit --no-strengthen. */
MOIRAI_API moirai_status moirai_emit(const moirai_instance *instance,
                                     const moirai_options *options,
                                     const char *path, moirai_write_fn *write,
                                     void *context, moirai_error *err);

/* Placement */

/* A device and a start time for every op, validated against every constraint
 * by definition, independently of the method that computed it. */

/*
 * Places the instance with the search, or with the methods of the options, of
 * which the best result is taken. By default a MILP solver solves subproblems
 * in child processes, if one is installed; with "none" of the option assist the
 * search does not fork.
 *
 * With from, the file of a placement in use, it is re-planned: its ops are
 * matched by name, and the result is no worse than it, unless devices are left
 * out (drop-device) or the network has changed.
 *
 * Options: method (several; "moirai"), time (seconds, "60"; "0": none), gap,
 * rounds, work, seed, threads, assist, from, move-cost (requests over which the
 * time of moving weights is spread), drop-device (several), stress (the best
 * worst case with an op or a link slower by that factor), replicas (copies of
 * the network, a number or "auto"); progress and cancel.
 */
MOIRAI_API moirai_status moirai_place(const moirai_instance *instance,
                                      const moirai_options *options,
                                      moirai_placement **placement,
                                      moirai_error *err);

/*
 * Places the instance with MILP solvers, in child processes, of which the best
 * valid answer is taken. What a solver claims as a bound is kept apart:
 * moirai_placement_solver_bound_ns().
 *
 * Options: solver ("highs,scip"; the first that is installed), via, command,
 * solver-path, time, gap, threads, memory-limit, and those of moirai_emit() but
 * format; cancel, which stops all solvers that run in this process.
 */
MOIRAI_API moirai_status moirai_solve(const moirai_instance *instance,
                                      const moirai_options *options,
                                      moirai_placement **placement,
                                      moirai_error *err);

/* Makes a placement from the caller's own devices, one for each op. start_ns
 * gives the order on devices and links; NULL: list scheduling. A placement that
 * violates a constraint is made all the same. */
MOIRAI_API moirai_status moirai_placement_new(const moirai_instance *instance,
                                              const int *device,
                                              const int64_t *start_ns,
                                              moirai_placement **placement,
                                              moirai_error *err);

/* Reads a solution of a model of this instance, in the format of any solver,
 * or a list of ops and devices. MOIRAI_E_INPUT: it is of another instance, or
 * its columns make no placement. */
MOIRAI_API moirai_status moirai_placement_read(const moirai_instance *instance,
                                               const char *path,
                                               moirai_placement **placement,
                                               moirai_error *err);

/* Reads a solution and the inputs that it names by digests, found beside it,
 * in the working folder or in MOIRAI_PATH.
 *
 * Options: graph, cluster, profile (files that are not found by themselves),
 * shape, value, fusion, congestion, tensors, memory; proof (file with the
 * certificate of the bound). */
MOIRAI_API moirai_status moirai_placement_open(const char *path,
                                               const moirai_options *options,
                                               moirai_placement **placement,
                                               moirai_error *err);
MOIRAI_API void moirai_placement_free(moirai_placement *placement);

/* Writes the placement as a solution, which moirai-check and all other commands
 * read, as moirai_graph_write(). */
MOIRAI_API moirai_status moirai_placement_write(
    const moirai_placement *placement, const char *path, moirai_write_fn *write,
    void *context, moirai_error *err);

/* Returns the numbers of its instance, borrowed. */
MOIRAI_API const moirai_view *
moirai_placement_view(const moirai_placement *placement);

/* Return the device of an op, -1: there is no such op; and its start. */
MOIRAI_API int moirai_placement_device(const moirai_placement *placement,
                                       int op);
MOIRAI_API int64_t moirai_placement_start_ns(const moirai_placement *placement,
                                             int op);

typedef struct moirai_transfer {
    int32_t tensor;
    int32_t from, to; /* devices */
    int64_t start_ns, end_ns;
} moirai_transfer;

/* Returns the number of transfers; and sets *transfer to number i, returns 0,
 * or -1 if there is none. */
MOIRAI_API int moirai_placement_n_transfers(const moirai_placement *placement);
MOIRAI_API int moirai_placement_transfer(const moirai_placement *placement,
                                         int i, moirai_transfer *transfer);

/* A replicated placement has several copies of the network, each on devices of
 * its own: its period is that of all copies, all else is of the first one.
 * Returns their number, 1: it is not replicated; and makes a placement of copy
 * number 0, 1, ... by itself, which can be run and reported. */
MOIRAI_API int moirai_placement_n_copies(const moirai_placement *placement);
MOIRAI_API moirai_status
moirai_placement_copy(const moirai_placement *placement, int number,
                      moirai_placement **copy, moirai_error *err);

/* Return the end of the last op; and the time between two requests with many
 * in flight, -1: the objective is latency. */
MOIRAI_API int64_t
moirai_placement_makespan_ns(const moirai_placement *placement);
MOIRAI_API int64_t
moirai_placement_period_ns(const moirai_placement *placement);

/* Return a lower bound of the objective that was proven here, 0: none; and one
 * that a solver claims and that is greater, 0: none. */
MOIRAI_API int64_t moirai_placement_bound_ns(const moirai_placement *placement);
MOIRAI_API int64_t
moirai_placement_solver_bound_ns(const moirai_placement *placement);

/* Returns the relative gap of the objective to the bound that was proven here,
 * 0 to 1: (objective - bound) / objective. */
MOIRAI_API double moirai_placement_gap(const moirai_placement *placement);

/* Returns the certificate of the bound, the text of moirai-proof(5), or NULL:
 * there is none.  It is part of the file that moirai_placement_write() writes,
 * and readers of such a file verify it.  Borrowed from the placement. */
MOIRAI_API const char *
moirai_placement_proof(const moirai_placement *placement);

/* Returns the method or solver that computed it, or "". */
MOIRAI_API const char *
moirai_placement_method(const moirai_placement *placement);

/* Return the number of violated constraints, 0: it is valid, and the text of
 * violation i, NULL: there is none. At most 100 are listed. */
MOIRAI_API int moirai_placement_n_violations(const moirai_placement *placement);
MOIRAI_API const char *
moirai_placement_violation(const moirai_placement *placement, int i);

/* Executor */

/* A placement that is ready to run in this process: kernels are prepared, and
 * memory is allocated. The instance must be of a graph with weights. */

/*
 * Plans and prepares a valid placement. If it is of several shapes, the
 * executor is that of the first one, see moirai_executor_at().
 *
 * Options: backend, precision, threads, streams, cache, weights-from (several),
 * random-weights (a seed: weights are made up), in-flight (requests at the same
 * time, "1"), memory-limit, shapes-max (plans of other shapes, "0").
 */
MOIRAI_API moirai_status moirai_executor_open(const moirai_placement *placement,
                                              const moirai_options *options,
                                              moirai_executor **executor,
                                              moirai_error *err);

/* Waits for requests that were submitted, and frees everything; what executors
 * of other shapes share is freed with the last of them. */
MOIRAI_API void moirai_executor_free(moirai_executor *executor);

/* An input or output of the network; texts and dims are borrowed from the
 * executor. dtype is one of "f64", "f32", "f16", "bf16", "i64", "i32", "i16",
 * "i8", "u64", "u32", "u16", "u8", "bool". */
typedef struct moirai_tensor {
    const char *name;
    const char *dtype;
    int rank;
    const int64_t *dims;
    size_t bytes; /* of the whole tensor, dense, in row-major order */
} moirai_tensor;

/* Return the number of inputs or outputs; and set *tensor to number i, return
 * 0, or -1 if there is none. */
MOIRAI_API int moirai_executor_n_inputs(const moirai_executor *executor);
MOIRAI_API int moirai_executor_n_outputs(const moirai_executor *executor);
MOIRAI_API int moirai_executor_input(const moirai_executor *executor, int i,
                                     moirai_tensor *tensor);
MOIRAI_API int moirai_executor_output(const moirai_executor *executor, int i,
                                      moirai_tensor *tensor);

/* Runs one request: inputs[i] are the bytes of input i, of which the devices
 * that read it make one copy; outputs[i] receives those of output i, NULL: it
 * is not needed. All belong to the caller. */
MOIRAI_API moirai_status moirai_executor_run(moirai_executor *executor,
                                             const void *const *inputs,
                                             void *const *outputs,
                                             moirai_error *err);

/* Starts a request and sets *ticket; up to in-flight of them run at the same
 * time, others wait. Arrays and buffers must live until moirai_executor_wait()
 * has returned for that ticket. Both may be called from several threads. */
MOIRAI_API moirai_status moirai_executor_submit(moirai_executor *executor,
                                                const void *const *inputs,
                                                void *const *outputs,
                                                int64_t *ticket,
                                                moirai_error *err);
/* Waits for a request and returns its status; once for each ticket. */
MOIRAI_API moirai_status moirai_executor_wait(moirai_executor *executor,
                                              int64_t ticket,
                                              moirai_error *err);

/*
 * Sets *shaped to the executor for inputs of other shapes: inputs[i] has rank
 * and dims of input i, and the rest of it is not read. It shares devices and
 * weights with executor, has inputs and outputs of its own, and is the caller's
 * to free; any thread may make and use it while others use other executors of
 * one moirai_executor_open().
 *
 * A placement of a graph that was read with several shapes has a plan for each
 * of them. For another shape the graph is read again, its ops get the devices
 * of the ops of the same names, and weights are prepared a second time, once,
 * if the option shapes-max allows it: so many such plans are kept, those that
 * were used last. MOIRAI_E_INPUT: it does not; the error lists the shapes.
 */
MOIRAI_API moirai_status moirai_executor_at(moirai_executor *executor,
                                            const moirai_tensor *inputs,
                                            moirai_executor **shaped,
                                            moirai_error *err);

/* Returns the number of plans that were made since moirai_executor_open(): a
 * shape that is used again makes none. From any thread. */
MOIRAI_API int moirai_executor_n_plans(moirai_executor *executor);

/* Writes the plan, calls and transfers of each device, as JSON, as
 * moirai_graph_write(). */
MOIRAI_API moirai_status moirai_executor_write_plan(
    const moirai_executor *executor, const char *path, moirai_write_fn *write,
    void *context, moirai_error *err);

/* Generator */

/* Text that a language model generates: a placement of a workload with a phase
 * for the prompt and one for each further token, moirai-workload(5). */

typedef struct moirai_generator moirai_generator;

/*
 * Plans a valid placement and starts to generate n_tokens tokens for each
 * sequence. prompt: n_ids ids, the sequences one after the other, of any length
 * that the states have room for.
 *
 * Options: those of executors but in-flight; and temperature ("0": the most
 * probable token), top-k, top-p, seed, stop (ids that end a sequence, several),
 * save-states (a new folder for states and ids, written when the last token was
 * made or the generator is freed), load-states (such a folder, which the ids
 * continue, if there are any).
 */
MOIRAI_API moirai_status moirai_generator_open(
    const moirai_placement *placement, const moirai_options *options,
    const int64_t *prompt, size_t n_ids, int64_t n_tokens,
    moirai_generator **generator, moirai_error *err);

/* Stops it after the current token, and returns once the states of save-states
 * are saved, with an error of that. Tokens that were made before can still be
 * taken. More calls return the same. */
MOIRAI_API moirai_status moirai_generator_stop(moirai_generator *generator,
                                               moirai_error *err);

/* Stops it likewise, and frees everything; an error of saving is dropped. */
MOIRAI_API void moirai_generator_free(moirai_generator *generator);

/* Returns the number of sequences. */
MOIRAI_API int64_t moirai_generator_batch(const moirai_generator *generator);

/* Waits for the next token and sets ids, one for each sequence, and *more to 1;
 * or to 0: there are no more. From one thread at a time. */
MOIRAI_API moirai_status moirai_generator_next(moirai_generator *generator,
                                               int64_t *ids, int *more,
                                               moirai_error *err);

/* Report */

/* Writes a report of a valid placement as moirai-report(1) does, as
 * moirai_graph_write().
 *
 * Options: format ("html", "text", "svg", "json", "trace"; by path, else
 * text), report-method (several: methods to compare with; "none"), no-ablation,
 * columns, trace (file of measured times). */
MOIRAI_API moirai_status moirai_report(const moirai_placement *placement,
                                       const moirai_options *options,
                                       const char *path, moirai_write_fn *write,
                                       void *context, moirai_error *err);

/* Plug-ins */

/* Return the name of method or solver i, those of plug-ins included, NULL
 * behind the last; borrowed, for ever. */
MOIRAI_API const char *moirai_method_name(int i);
MOIRAI_API const char *moirai_solver_name(int i);

/* What a method of a plug-in is given. */
typedef struct moirai_method_task {
    size_t size; /* of this struct, as the library has it */
    const moirai_view *view;
    uint64_t seed;
    int32_t threads; /* to use at most; 0: one per core */
    double time_s;   /* that is left; 0: no limit */
    void *context;   /* argument of should_stop */
    /* Returns other than 0 when the method should return what it has. */
    int (*should_stop)(void *context);
    char *error_text; /* buffer for the reason of a failure, one line */
    size_t error_size;
} moirai_method_task;

/* A placement method. */
typedef struct moirai_plugin_method {
    const char *name; /* for --method: letters, digits, '-'; not "all" */
    const char *help; /* one line */
    int32_t in_all;   /* 1: part of --method all */
    /* Sets device[i] for each op, and may set start_ns[i], all 0 before, of
     * which the order is taken; all 0 after: list scheduling. Returns
     * MOIRAI_OK, MOIRAI_E_NO_SOLUTION (none was found) or another status, with
     * an error text. */
    int (*place)(const moirai_method_task *task, int32_t *device,
                 int64_t *start_ns);
} moirai_plugin_method;

/* A MILP solver, run as a child process. */
typedef struct moirai_plugin_solver {
    const char *name;  /* for --solver: letters, digits, '-'; not "none" */
    const char *title; /* for reports */
    const char *help;  /* one line */
    /* As of moirai-solve --command: {model}, {solution}, {time}, ... */
    const char *command;
} moirai_plugin_solver;

/* What a plug-in exports as the object moirai_plugin_v1. */
typedef struct moirai_plugin {
    size_t size; /* sizeof(moirai_plugin) */
    const char *name;
    const moirai_plugin_method *methods;
    int32_t n_methods;
    const moirai_plugin_solver *solvers;
    int32_t n_solvers;
} moirai_plugin;

/* Loads a plug-in: a shared object that exports moirai_plugin_v1. It stays
 * loaded; loading it again has no effect. Files in the list MOIRAI_PLUGINS,
 * separated by colons, are loaded by the first use of a method or solver. A
 * method of a name that is taken is refused with MOIRAI_E_USAGE. */
MOIRAI_API moirai_status moirai_plugin_load(const char *path,
                                            moirai_error *err);

#ifdef __cplusplus
}
#endif

#endif
