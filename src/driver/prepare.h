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
#include "driver/output_files.h"
#include "coarsen/coarsen_map.h"
#include "graph/graph.h"
#include "models/formulation.h"
#include "models/frame/frame.h"
#include "models/model.h"
#include "models/frame/proven_bounds.h"

/* Options of the command line. */
typedef struct mo_prepare_options {
    mo_driver_load_options load;
    mo_option_list shapes; /* freed by the command */
    const char *fusion;
    const char *formulation;                   /* NULL: that of the objective */
    const char *congestion, *tensors, *memory; /* NULL: the default */
    const char *objective;                     /* NULL: latency */
    int64_t in_flight; /* most requests in flight; 0: no limit */
    bool closure;
    double slack;     /* 0: no rows will be added */
    const char *unit; /* ns, us, ms or s; NULL: by the horizon */
} mo_prepare_options;

#define MO_PREPARE_DEFAULTS                                                    \
    {                                                                          \
        .fusion = "none", .congestion = "port", .memory = "static"             \
    }

/* Rows of an option table: up to the instance; the rules of a schedule; all of
 * them. */
/* clang-format off */
#define MO_PREPARE_INSTANCE_OPTIONS(p, fusion_help)                            \
    MO_DRIVER_LOAD_OPTIONS(&(p)->load),                                               \
    { 0, "shape", "NAME=DIMS",                                                 \
      "size of an input with dynamic dimensions, as in ids=1,128",             \
      MO_OPTION_LIST, .to = &(p)->shapes },                                    \
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
    MO_PREPARE_INSTANCE_OPTIONS(p,                                             \
      "coarsen first, by a set of rules or a file of them"),     \
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

/* Results of all steps. */
typedef struct mo_prepared {
    mo_graph *fine;             /* as read, its sizes in numeric formats */
    mo_graph *coarse;           /* NULL: the fine graph is placed */
    mo_coarsen_map *map;        /* fine to coarse ops, or NULL */
    mo_driver_loaded loaded;    /* cluster, profile, instance */
    mo_identity_options o;      /* options of the model, for its identity;
                                   its texts are borrowed from the caller's */
    mo_proven_bounds *strength; /* bounds for the model and a MIP start, both */
    mo_schedule *start;  /* set by the caller before the model is built */
    int64_t start_ns;    /* its makespan or period, by the objective */
    bool search_is_full; /* by mo_strengthen_model(), of their search */
    const mo_formulation *formulation;
    mo_frame *frame;
    mo_identity identity;
    mo_model model;
} mo_prepared;

/* Fails with MO_E_USAGE if the options contradict each other or the graph's
 * path. Reads no file; to be called first. */
mo_status mo_prepare_check(const mo_prepare_options *p, const char *path,
                           mo_error *err);

/* Fails with MO_E_USAGE if two outputs are one file, or one would replace an
 * input that the options name; graph may be NULL. */
mo_status mo_prepare_check_outputs_given(const mo_prepare_options *p,
                                         const char *graph,
                                         const mo_output_file *outputs, int n,
                                         mo_error *err);

/* Takes the formulation of the objective, or the objective of the formulation;
 * to be called before the check. */
void mo_prepare_match_objective(mo_prepare_options *p);

/* Returns the objective that the options define. */
mo_objective mo_prepare_objective(const mo_prepare_options *p);

/* Returns the rules that the options define for schedules. */
mo_regime mo_prepare_regime(const mo_prepare_options *p);

/* Coarsens made->fine, of which the cluster has been read, by p->fusion: sets
 * coarse, map, and rules of the identity. Part of mo_prepare_instance(). */
mo_status mo_prepare_coarsen(const mo_prepare_options *p,
                             const mo_driver_log *logger, mo_prepared *made,
                             mo_error *err);

/* Builds the instance, or continues from there to the model. *prepared must be
 * zeros at first; the caller clears it, also after a failure. MO_E_INFEASIBLE:
 * an op, or all together, need more memory than there is. */
mo_status mo_prepare_instance(const mo_prepare_options *p, const char *path,
                              const mo_driver_log *logger,
                              mo_prepared *prepared, mo_error *err);
mo_status mo_prepare_model(const mo_prepare_options *p,
                           const mo_driver_log *logger, mo_prepared *prepared,
                           mo_error *err);
/* Fails with MO_E_USAGE if an output would replace a file that was read for the
 * instance of the file graph: its cluster, also one chosen by default and NULL
 * where there is none, or a file of weights. To be called before outputs are
 * committed. */
mo_status mo_prepare_check_outputs_found(const mo_prepared *prepared,
                                         const char *graph,
                                         const mo_output_file *outputs, int n,
                                         mo_error *err);
void mo_prepared_clear(mo_prepared *prepared);

#endif
