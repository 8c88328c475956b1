/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare.h - preparation of a model from a command line: reads the graph,
 * coarsens it where requested, builds its instance and the formulation.
 */
#ifndef MO_DRIVER_PREPARE_H
#define MO_DRIVER_PREPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/option.h"
#include "driver/load_instance.h"
#include "driver/log.h"
#include "coarsen/coarsen_map.h"
#include "graph/graph.h"
#include "models/formulation.h"
#include "models/frame/frame.h"
#include "models/model.h"
#include "models/frame/proven_bounds.h"
#include "models/patterns/pattern_set.h"

/* Options of the command line. */
typedef struct mo_prepare_options {
    mo_driver_load_options load;
    mo_read_options read; /* freed by the command */
    const char *fusion;
    const char *formulation; /* NULL: that of the objective */
    bool by_size; /* patterns instead of compact where that is too large */
    const char *congestion, *tensors, *memory; /* NULL: the default */
    const char *objective;                     /* NULL: latency */
    int64_t in_flight; /* most requests in flight; 0: no limit */
    bool closure;
    double slack;     /* 0: no rows will be added */
    const char *unit; /* ns, us, ms or s; NULL: us, see mo_prepare_model() */
} mo_prepare_options;

#define MO_PREPARE_DEFAULTS                                                    \
    {                                                                          \
        .fusion = "default", .congestion = "port", .memory = "static"          \
    }

/* Rows of an option table: up to the instance; the rules of a schedule; all of
 * them. */
/* clang-format off */
#define MO_PREPARE_FUSION_HELP                                                 \
    "rules to coarsen the graph with, or none (default \"default\")"
#define MO_PREPARE_INSTANCE_OPTIONS(p, fusion_help)                            \
    MO_DRIVER_LOAD_OPTIONS(&(p)->load),                                               \
    MO_DRIVER_READ_OPTIONS(&(p)->read, ""),                                    \
    { 0, "fusion", "SET|FILE", fusion_help, MO_OPTION_TEXT,                    \
      .to = &(p)->fusion, .suggest = mo_suggest_fusion }
#define MO_PREPARE_REGIME_OPTIONS(p)                                           \
    { 0, "congestion", "C", "which transfers exclude each other (default "      \
      "port)", MO_OPTION_TEXT, .to = &(p)->congestion,                         \
      .choices = MO_CONGESTION_CHOICES },                                      \
    { 0, "tensors", "T", "one transfer per consumer, or one per device",\
      MO_OPTION_TEXT, .to = &(p)->tensors, .choices = MO_TENSORS_CHOICES },    \
    { 0, "memory", "M", "memory model of the capacity rows (default static)", \
      MO_OPTION_TEXT, .to = &(p)->memory, .choices = MO_MEMORY_CHOICES }
#define MO_PREPARE_OBJECTIVE_OPTION(p)                                         \
    { 0, "objective", "O",                                                     \
      "latency of a request (default), or period between requests",            \
      MO_OPTION_TEXT, .to = &(p)->objective, .choices = MO_OBJECTIVE_CHOICES }
#define MO_PREPARE_IN_FLIGHT_OPTION(p)                                         \
    { 0, "in-flight", "K",                                                     \
      "with --objective period: at most K requests in flight",                 \
      MO_OPTION_INT, .to = &(p)->in_flight, .min = 0, .max = 1000000 }
#define MO_PREPARE_OPTIONS(p)                                                  \
    MO_PREPARE_INSTANCE_OPTIONS(p, MO_PREPARE_FUSION_HELP),                    \
    MO_DRIVER_FORMAT_OPTIONS(&(p)->load),                                      \
    { 0, "formulation", "F", "MILP formulation (default compact)",                \
      MO_OPTION_TEXT, .to = &(p)->formulation,                                 \
      .choices = MO_FORMULATION_CHOICES },                                     \
    { 0, "closure", NULL,                                                      \
      "in the paper's model, rows for all successors (transitive)",             \
      MO_OPTION_FLAG, .to = &(p)->closure },                                   \
    MO_PREPARE_REGIME_OPTIONS(p),                                              \
    MO_PREPARE_OBJECTIVE_OPTION(p),                                            \
    MO_PREPARE_IN_FLIGHT_OPTION(p),                                            \
    { 0, "slack", "FACTOR",                                                    \
      "for models to be extended: keep schedules up to FACTOR longer",        \
      MO_OPTION_DOUBLE, .to = &(p)->slack, .min = 1, .max = 1000 }
/* clang-format on */

/*
 * The steps from a command line to a model.  Each type is the whole result of
 * one function, which fails without setting any of it:
 *
 *   mo_prepare_coarsen()   graph, cluster       ->  mo_coarsened
 *   mo_prepare_instance()  options, files       ->  mo_problem
 *   mo_strengthen_model()  mo_problem           ->  mo_prepared
 *   mo_prepare_model()     mo_prepared          ->  mo_prepared_model
 */

/* A graph after coarsening. */
typedef struct mo_coarsened {
    mo_graph *graph;
    mo_coarsen_map *map; /* fine to coarse ops */
    bool has_rules;      /* by a file of rules, whose digest is rules_digest */
    uint64_t rules_digest;
} mo_coarsened;

/* A placement problem with the inputs it was built from. */
typedef struct mo_problem {
    mo_graph *fine;      /* as read, its sizes in numeric formats */
    mo_graph *coarse;    /* NULL: the fine graph is placed */
    mo_coarsen_map *map; /* fine to coarse ops; NULL without coarse */
    mo_cluster *cluster;
    mo_profile *profile; /* or NULL */
    mo_instance *instance;
    mo_instance **phases; /* of the graphs of a workload's phases, times of one
                             run; NULL: it is no workload */
    int n_phases;
    mo_identity_options made_of; /* inputs for the identity of a model; its
                                    texts are borrowed from the caller's */
} mo_problem;

/* A problem and the results of a search on it, strengthen_model.h; without a
 * search all else is zeros. */
typedef struct mo_prepared {
    mo_problem loaded;
    mo_proven_bounds *strength; /* NULL: there was no search */
    mo_pattern_set *patterns;   /* NULL: likewise, or no use for them */
    mo_schedule *start;         /* the best schedule, or NULL */
    int64_t start_ns;           /* its makespan or period, by the objective */
    bool search_is_full;        /* the search was not cut short */
} mo_prepared;

/* A model. It refers to its own members: it is not copied. */
typedef struct mo_prepared_model {
    mo_frame *frame;
    mo_identity identity;
    mo_model model;
} mo_prepared_model;

/* Without a formulation the size of the compact model decides, unless patterns
 * have no rows for the objective or the memory.  side is that of --patterns,
 * or NULL.  To be called before mo_prepare_check(). */
mo_status mo_prepare_choose_formulation(mo_prepare_options *p, const char *side,
                                        mo_error *err);

/* Returns whether patterns are the formulation of the options. */
bool mo_prepare_has_patterns(const mo_prepare_options *p);

/* Fails with MO_E_USAGE if the options contradict each other or the graph's
 * path. Reads no file; to be called first. */
mo_status mo_prepare_check(const mo_prepare_options *p, const char *path,
                           mo_error *err);

/* Takes the formulation of the objective, or the objective of the formulation;
 * to be called before the check. */
void mo_prepare_match_objective(mo_prepare_options *p);

/* Returns the objective that the options define. */
mo_objective mo_prepare_objective(const mo_prepare_options *p);

/* Returns the rules that the options define for schedules. */
mo_regime mo_prepare_regime(const mo_prepare_options *p);

/* Coarsens fine by the rules of that name or file; the cluster, for the times
 * of fused ops, may be NULL. The caller frees graph and map. */
mo_status mo_prepare_coarsen(const char *fusion, const mo_graph *fine,
                             const mo_cluster *cluster,
                             const mo_driver_log *logger,
                             mo_coarsened *coarsened, mo_error *err);

/* Reads the graph at path and the devices, coarsens the graph where requested,
 * and builds the instance. MO_E_INFEASIBLE: an op, or all together, need more
 * memory than there is. */
mo_status mo_prepare_instance(const mo_prepare_options *p, const char *path,
                              const mo_driver_log *logger, mo_problem *problem,
                              mo_error *err);
void mo_problem_clear(mo_problem *problem);

/* Makes the instances of the phases of g, of the file at path, on devices;
 * *phases is NULL where g is no workload. The caller frees them. */
mo_status mo_prepare_phases(const mo_driver_load_options *load,
                            const char *path, const mo_graph *g,
                            const mo_driver_devices *devices,
                            const mo_driver_log *logger, mo_instance ***phases,
                            mo_error *err);

/* phases may be NULL. */
void mo_prepare_free_phases(mo_instance **phases, int n);

/* Returns the graph that is placed: the coarse one, if there is one. */
const mo_graph *mo_problem_placed(const mo_problem *problem);

/* Frees the members, also those of the problem. */
void mo_prepared_clear(mo_prepared *prepared);

/* Builds the model. The schedule prepared->start becomes part of it where the
 * formulation has a use for one. The unit is that of the options, or a
 * microsecond, unless the horizon is below 1 or above 10^6 of them. Fails as
 * mo_prepare_instance() does where the memory is too small for all ops by the
 * regime. */
mo_status mo_prepare_model(const mo_prepare_options *p,
                           const mo_driver_log *logger, mo_prepared *prepared,
                           mo_prepared_model *model, mo_error *err);
void mo_prepared_model_clear(mo_prepared_model *model);

#endif
