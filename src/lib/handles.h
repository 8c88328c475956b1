/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handles.h - the handles of moirai.h from inside, and what all of its
 * functions share.
 *
 * Handles count references: a handle that refers to another retains it, and the
 * last release frees. Everything but the count is written before the handle is
 * returned and only read after that.
 */
#ifndef MO_LIB_HANDLES_H
#define MO_LIB_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/option.h"
#include "base/out.h"
#include "base/stop.h"
#include "coarsen/coarsen_map.h"
#include "cost/cluster.h"
#include "cost/instance.h"
#include "cost/profile.h"
#include "driver/exec/exec_options.h"
#include "driver/log.h"
#include "driver/place/place_options.h"
#include "driver/portfolio.h"
#include "driver/prepare.h"
#include "driver/review.h"
#include "driver/strengthen_model.h"
#include "graph/graph.h"
#include "schedule/period/replicas.h"
#include "moirai.h"
#include "solvers/answer/evaluation.h"

/* Values; all texts are in the arena of the options. */
typedef struct mo_lib_settings {
    mo_prepare_options prepare;
    mo_prepare_options review; /* of a solution: what it does not say itself */
    mo_place_options place;
    mo_portfolio_options portfolio;
    mo_exec_options exec;
    mo_strengthen_options strengthen; /* of a model; by default none */
    const char *format, *graph, *trace, *proof; /* or NULL */
    const char *gpus, *cpus;                    /* of discovery; or NULL */
    mo_option_list report_methods;
    bool no_ablation;
    int64_t columns;
} mo_lib_settings;

struct moirai_options {
    mo_lib_settings settings;
    mo_arena *arena;
    moirai_progress_fn *on_progress;
    void *progress_context;
    moirai_message_fn *on_message;
    void *message_context;
    mo_stop stop; /* requested: cancelled */
};

/* Returns the settings of options; NULL: the defaults. */
const mo_lib_settings *mo_lib_settings_of(const moirai_options *options);

/* Callback of a log: passes text on to the callback of options, the context,
 * which may be NULL. */
void mo_lib_print_message(void *options, const char *text);

/* Returns a log that is quiet but for warnings, which go to the callback of
 * options, if there is one. options may be NULL. */
mo_driver_log mo_lib_log(const moirai_options *options);

struct moirai_graph {
    atomic_int references;
    moirai_graph *fine; /* retained; NULL: this is a fine one */
    mo_graph *graph;
    mo_coarsen_map *map;  /* from fine; or NULL */
    char *path;           /* file, or a name */
    mo_read_options read; /* as given, owned texts */
    mo_numeric formats;   /* of its sizes */
    uint64_t digest;      /* as read */
    char *fusion;         /* rules it was coarsened with, or NULL */
    bool has_rules;       /* they are a file */
    uint64_t rules_digest;
};

struct moirai_cluster {
    atomic_int references;
    mo_cluster *cluster;
};

struct moirai_profile {
    atomic_int references;
    mo_profile *profile;
    char *path;
};

struct moirai_instance {
    atomic_int references;
    moirai_graph *graph; /* retained, and so are the others */
    moirai_cluster *cluster;
    moirai_profile *profile; /* or NULL */
    mo_instance *instance;
    mo_regime regime;
    mo_objective objective;
    int64_t in_flight;
    char *cost; /* as given, or NULL */
    moirai_view view;
};

struct moirai_placement {
    atomic_int references;
    moirai_instance *instance; /* retained */
    mo_answer_evaluation evaluation;
    int64_t bound_ns;     /* proven here */
    const char *bound_by; /* a literal, or NULL */
    int64_t claimed_ns;   /* 0: none */
    char *proof;          /* certificate as text, or NULL */
    char method[64];
};

/* Errors of both have one layout: the functions of this room fill in the
 * caller's. NULL stays NULL. */
_Static_assert(sizeof(moirai_error) == sizeof(mo_error) &&
                   offsetof(moirai_error, status) ==
                       offsetof(mo_error, status) &&
                   offsetof(moirai_error, line) == offsetof(mo_error, line) &&
                   offsetof(moirai_error, file) == offsetof(mo_error, file) &&
                   offsetof(moirai_error, text) == offsetof(mo_error, text) &&
                   sizeof(mo_status) == sizeof(int32_t) &&
                   (int) MOIRAI_E_INFEASIBLE == (int) MO_E_INFEASIBLE,
               "moirai_error is mo_error");

static inline mo_error *mo_lib_error(moirai_error *err)
{
    return (mo_error *) err;
}

static inline moirai_status mo_lib_status(mo_status status)
{
    return (moirai_status) status;
}

/* Counts a further reference. */
static inline void mo_lib_retain(atomic_int *references)
{
    atomic_fetch_add_explicit(references, 1, memory_order_relaxed);
}

/* Returns whether that was the last reference. */
static inline bool mo_lib_release(atomic_int *references)
{
    return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1;
}

/* Handles are passed as const for what they hold; the count is no part of
 * that. */
static inline moirai_graph *mo_lib_retain_graph(const moirai_graph *graph)
{
    moirai_graph *kept = (moirai_graph *) (uintptr_t) graph;

    mo_lib_retain(&kept->references);
    return kept;
}

static inline moirai_instance *
mo_lib_retain_instance(const moirai_instance *instance)
{
    moirai_instance *kept = (moirai_instance *) (uintptr_t) instance;

    mo_lib_retain(&kept->references);
    return kept;
}

static inline moirai_placement *
mo_lib_retain_placement(const moirai_placement *placement)
{
    moirai_placement *kept = (moirai_placement *) (uintptr_t) placement;

    mo_lib_retain(&kept->references);
    return kept;
}

/* Copies a text that may be NULL. */
mo_status mo_lib_copy_text(const char *text, char **copy, mo_error *err);

/* Opens the output of a function with the arguments path, write and context:
 * the file at path, or where that is NULL, write. */
mo_status mo_lib_open_output(const char *path, moirai_write_fn *write,
                             void *context, mo_out **out, mo_error *err);

/* Commits an output if status is MO_OK, else abandons it; out may be NULL. */
mo_status mo_lib_close_output(mo_out *out, mo_status status, mo_error *err);

/* Wraps what it takes over in a graph: it is freed after a failure, too. path
 * and the options are copied. Computes the digest, and applies the numeric
 * formats. */
mo_status mo_lib_graph_make(mo_graph *graph, const char *path,
                            const moirai_options *options,
                            moirai_graph **wrapped, mo_error *err);

/* Copies the options into a graph that has none yet. */
mo_status mo_lib_graph_keep_options(moirai_graph *graph,
                                    const mo_read_options *read, mo_error *err);

/* Wrap a cluster or an instance, which they take over: it is freed after a
 * failure, too. */
mo_status mo_lib_cluster_make(mo_cluster *cluster, moirai_cluster **wrapped,
                              mo_error *err);
mo_status mo_lib_instance_make(mo_instance *x, const moirai_graph *graph,
                               moirai_cluster *cluster, moirai_profile *profile,
                               const mo_prepare_options *rules,
                               moirai_instance **wrapped, mo_error *err);

/* Returns a review of nothing but borrowed parts, up to the instance, which
 * must not be cleared; the identity options are complete but for formulation
 * and unit. */
mo_review mo_lib_instance_review(const moirai_instance *instance);

/* Makes a placement of an evaluation, which it takes over, also after a
 * failure: MO_E_INPUT where there is no schedule.  proven is of its
 * certificate; NULL: the evaluation has the bound that is reported. */
mo_status mo_lib_placement_make(const moirai_instance *instance,
                                mo_answer_evaluation *evaluation,
                                const mo_report_proof *proven,
                                const char *method,
                                moirai_placement **placement, mo_error *err);

/* Evaluates the columns of a solution and makes a placement of them; name is
 * for errors. MO_E_INPUT: they make none. known is the lower bound that is
 * reported; NULL: proven is of the certificate, and the bound is computed. */
mo_status mo_lib_placement_of_solution(
    const moirai_instance *instance, const char *name,
    const mo_solution *solution, const mo_lower_bound *known,
    const mo_report_proof *proven, moirai_placement **placement, mo_error *err);

/* Evaluates a solution as text and makes a placement of it; name is for
 * errors. */
mo_status mo_lib_placement_of_text(const moirai_instance *instance,
                                   const char *name, char *text, size_t size,
                                   moirai_placement **placement, mo_error *err);

/* The result of a method: a schedule and n_further copies, whose times are
 * taken as they are. */
typedef struct mo_lib_result {
    const char *method;
    const mo_schedule *schedule;
    const mo_replica *further;
    int n_further;
    int64_t period_ns; /* of its pipeline, or of all copies; 0: none */
    const mo_lower_bound *known; /* or NULL */
} mo_lib_result;

/* Evaluates a result in the same way. */
mo_status mo_lib_placement_of_result(const moirai_instance *instance,
                                     const mo_lib_result *result,
                                     moirai_placement **placement,
                                     mo_error *err);

/* Fails with MO_E_USAGE where there are several copies. */
mo_status mo_lib_placement_check_single(const moirai_placement *placement,
                                        mo_error *err);

/* Keeps a certificate, unless it is NULL. */
mo_status mo_lib_placement_prove(moirai_placement *placement,
                                 const mo_proof *proof, mo_error *err);

/* Keeps what a solver claims, unless the placement refutes it. */
void mo_lib_placement_claim(moirai_placement *placement, int64_t bound_ns);

#endif
