/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/prepare.h"

#include <string.h>

#include "coarsen/coarsen.h"
#include "cost/predict/fused_time.h"
#include "driver/weight_files.h"
#include "ingest/read.h"
#include "schedule/bound/memory_bound.h"

static mo_tensors tensors_of(const mo_prepare_options *p)
{
    return p->tensors ? mo_tensors_of(p->tensors) : MO_TENSORS_PER_EDGE;
}

mo_objective mo_prepare_objective(const mo_prepare_options *p)
{
    return p->objective ? mo_objective_of(p->objective) : MO_OBJECTIVE_LATENCY;
}

static const mo_formulation *formulation_of(const mo_prepare_options *p)
{
    return p->formulation ? mo_formulation_of(p->formulation)
                          : &mo_formulation_compact;
}

void mo_prepare_match_objective(mo_prepare_options *p)
{
    bool period = mo_prepare_objective(p) == MO_OBJECTIVE_PERIOD;

    if (!p->formulation)
        p->formulation =
            period ? mo_formulation_period.name : mo_formulation_compact.name;
    if (!p->objective &&
        strcmp(p->formulation, mo_formulation_period.name) == 0)
        p->objective = mo_objective_names[MO_OBJECTIVE_PERIOD];
}

/* Tensors in flight have no place in the memory rows of a placement alone. */
static mo_status check_objective(const mo_prepare_options *p, mo_error *err)
{
    bool period = mo_prepare_objective(p) == MO_OBJECTIVE_PERIOD;

    if (!period && p->in_flight > 0)
        return mo_fail(err, MO_E_USAGE,
                       "--in-flight is for --objective period; with latency "
                       "one request runs at a time");
    if (period && p->memory && mo_memory_of(p->memory) == MO_MEMORY_LIVE &&
        formulation_of(p) == &mo_formulation_period)
        return mo_fail(err, MO_E_USAGE,
                       "a model of the period counts the memory of all ops of "
                       "a device; take --memory static or none, or "
                       "moirai-place");
    return MO_OK;
}

mo_status mo_prepare_check(const mo_prepare_options *p, const char *path,
                           mo_error *err)
{
    const mo_formulation *formulation = formulation_of(p);
    mo_status status = check_objective(p, err);

    if (status != MO_OK)
        return status;
    if (p->objective && p->formulation &&
        (mo_prepare_objective(p) == MO_OBJECTIVE_PERIOD) !=
            (formulation == &mo_formulation_period))
        return mo_fail(err, MO_E_USAGE,
                       "--objective %s and --formulation %s contradict each "
                       "other; leave one out",
                       p->objective, formulation->name);
    if (tensors_of(p) == MO_TENSORS_ONCE && !formulation->has_tensors_once)
        return mo_fail(err, MO_E_USAGE,
                       "--formulation %s sends every reader its own copy; "
                       "leave --tensors out, or take --formulation compact",
                       formulation->name);
    if (p->closure && formulation != &mo_formulation_paper)
        return mo_fail(err, MO_E_USAGE,
                       "--closure is for --formulation paper alone; %s has "
                       "no use for it",
                       formulation->name);
    return mo_driver_load_check(&p->load, path, err);
}

mo_status mo_prepare_check_outputs_given(const mo_prepare_options *p,
                                         const char *graph,
                                         const mo_output_file *outputs, int n,
                                         mo_error *err)
{
    const char *inputs[] = { graph, p->load.cluster, p->load.profile,
                             mo_driver_load_cost_file(&p->load), p->fusion };
    mo_status status = mo_output_files_check(outputs, n, err);

    if (status == MO_OK)
        status = mo_output_files_check_inputs(
            outputs, n, inputs, sizeof inputs / sizeof *inputs, err);
    return status;
}

mo_status mo_prepare_check_outputs_found(const mo_prepared *made,
                                         const char *graph,
                                         const mo_output_file *outputs, int n,
                                         mo_error *err)
{
    mo_weight_files weights = { 0 };
    mo_status status = mo_weight_files_list(made->fine, graph, &weights, err);

    if (status == MO_OK && made->loaded.cluster)
        status = mo_output_files_check_input(outputs, n,
                                             made->loaded.cluster->file, err);
    for (size_t i = 0; i < weights.n && status == MO_OK; i++)
        status =
            mo_output_files_check_input(outputs, n, weights.list[i].path, err);
    mo_weight_files_clear(&weights);
    return status;
}

static mo_status read_graph(const mo_prepare_options *p, const char *path,
                            const mo_driver_log *logger, mo_prepared *made,
                            mo_error *err)
{
    mo_read_options options = { (const char *const *) p->shapes.items,
                                p->shapes.count };
    double begin = mo_driver_clock_s();
    mo_status status = mo_read_graph(path, &options, &made->fine, NULL, err);

    if (status == MO_OK)
        mo_driver_log_info(logger, "read %d ops and %d edges in %.2f s",
                           made->fine->n_ops, made->fine->n_edges,
                           mo_driver_clock_s() - begin);
    return status;
}

mo_status mo_prepare_coarsen(const mo_prepare_options *p,
                             const mo_driver_log *logger, mo_prepared *made,
                             mo_error *err)
{
    mo_coarsen_options options = { .clean = MO_CLEAN_ALL,
                                   .fused_us = mo_predict_fused_us,
                                   .context = made->loaded.cluster };
    mo_coarsen_report report;
    mo_fusion_rules *rules = NULL;
    mo_status status = mo_fusion_rules_load(p->fusion, &rules, err);

    options.rules = rules;
    if (status == MO_OK) {
        /* A built-in rule set is recorded by name, a file by its digest. */
        made->o.has_rules = !mo_fusion_rule_set_find(p->fusion);
        made->o.fusion = made->o.has_rules ? "file" : p->fusion;
        status = made->o.has_rules
                     ? mo_fusion_rules_digest(rules, &made->o.rules_digest, err)
                     : MO_OK;
    }
    if (status == MO_OK)
        status = mo_coarsen(made->fine, &options, &made->coarse, &made->map,
                            &report, err);
    if (status == MO_OK)
        mo_driver_log_info(logger, "coarsened to %d ops", made->coarse->n_ops);
    mo_fusion_rules_free(rules);
    return status;
}

/* Without fusion the graph is not cleaned either: bounds then refer to the
 * user's own graph. */
mo_status mo_prepare_instance(const mo_prepare_options *p, const char *path,
                              const mo_driver_log *logger, mo_prepared *made,
                              mo_error *err)
{
    mo_status status = read_graph(p, path, logger, made, err);
    mo_driver_load_options load = p->load;
    mo_numeric formats;

    load.any_size = mo_prepare_regime(p).memory == MO_MEMORY_NONE;
    made->o.fusion = "none";
    made->o.graph_file = path;
    made->o.profile_file = p->load.profile;
    made->o.rules_file = p->fusion;
    made->o.cost = p->load.cost;
    made->o.shapes = (const char *const *) p->shapes.items;
    made->o.n_shapes = p->shapes.count;
    if (status == MO_OK)
        status = mo_graph_digest(made->fine, &made->o.graph_digest, err);
    if (status == MO_OK)
        status = mo_driver_load_formats(&load, &formats, err);
    if (status == MO_OK)
        mo_numeric_apply(&formats, made->fine);
    if (status == MO_OK)
        status =
            mo_driver_load_cluster(&load, path, logger, &made->loaded, err);
    if (status == MO_OK)
        made->o.cluster_file = made->loaded.cluster->file;
    if (status == MO_OK && strcmp(p->fusion, "none") != 0)
        status = mo_prepare_coarsen(p, logger, made, err);
    if (status == MO_OK)
        status = mo_driver_load_instance(
            &load, path, made->coarse ? made->coarse : made->fine, logger,
            &made->loaded, err);
    return status;
}

mo_regime mo_prepare_regime(const mo_prepare_options *p)
{
    return (mo_regime){
        p->congestion ? mo_congestion_of(p->congestion) : MO_CONGESTION_PORT,
        tensors_of(p), p->memory ? mo_memory_of(p->memory) : MO_MEMORY_STATIC
    };
}

static mo_status make_frame(const mo_prepare_options *p, const mo_instance *x,
                            mo_prepared *made, mo_error *err)
{
    const mo_regime *regime = &made->o.regime;
    mo_schedule *start = made->start;

    if (made->strength && made->formulation != &mo_formulation_period) {
        made->start = NULL;
        return mo_frame_make_with_bounds(x, regime, p->slack, made->strength,
                                         start, &made->frame, err);
    }
    if (p->slack > 0)
        return mo_frame_make_open(x, regime, p->closure, p->slack, &made->frame,
                                  err);
    return mo_frame_make(x, regime, p->closure, &made->frame, err);
}

/* A model of the period is the same with a search and without: only its start
 * is another, where that is below the bound of the model. */
static void set_period_start(mo_prepared *made)
{
    mo_frame *frame = made->frame;

    if (made->formulation != &mo_formulation_period || !made->start ||
        made->start_ns >= frame->upper_ns)
        return;
    mo_schedule_free(frame->start);
    frame->start = made->start;
    made->start = NULL;
}

static int64_t unit_ns_of(const char *unit)
{
    static const char *const names[] = { "ns", "us", "ms" };
    int64_t ns = 1;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++, ns *= 1000)
        if (strcmp(unit, names[i]) == 0)
            break;
    return ns;
}

mo_status mo_prepare_model(const mo_prepare_options *p,
                           const mo_driver_log *logger, mo_prepared *made,
                           mo_error *err)
{
    const mo_instance *x = made->loaded.instance;
    double begin = mo_driver_clock_s();
    mo_status status;

    made->formulation = formulation_of(p);
    made->o.formulation = made->formulation->name;
    made->o.regime = mo_prepare_regime(p);
    if (made->formulation->has_regime) {
        status = mo_bound_memory(x, &made->o.regime, err);
        if (status != MO_OK)
            return status;
    }
    status = make_frame(p, x, made, err);
    if (status == MO_OK && p->unit)
        status = mo_frame_set_unit(made->frame, unit_ns_of(p->unit), err);
    if (status != MO_OK)
        return status;
    set_period_start(made);
    made->o.in_flight = made->frame->in_flight = (int) p->in_flight;
    status = mo_model_make(made->formulation, made->frame, &made->identity,
                           &made->model, err);
    if (status != MO_OK)
        return status;
    made->o.unit_ns = made->model.frame->unit_ns;
    mo_identity_make(x, &made->o, &made->identity);
    mo_driver_log_info(logger, "prepared in %.2f s, no schedule above %.3f us",
                       mo_driver_clock_s() - begin,
                       (double) made->model.frame->horizon_ns / 1000);
    return MO_OK;
}

void mo_prepared_clear(mo_prepared *made)
{
    mo_model_clear(&made->model);
    mo_frame_free(made->frame);
    mo_schedule_free(made->start);
    mo_proven_bounds_free(made->strength);
    mo_driver_loaded_clear(&made->loaded);
    mo_coarsen_map_free(made->map);
    mo_graph_free(made->coarse);
    mo_graph_free(made->fine);
    *made = (mo_prepared){ 0 };
}
