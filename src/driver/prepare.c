/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coarsen/coarsen.h"
#include "cost/predict/fused_time.h"
#include "graph/phases.h"
#include "ingest/read.h"
#include "models/compact/disjunctive_pairs.h"
#include "schedule/bound/memory_bound.h"

/* A compact model of more rows is replaced by one of patterns, if any may be
 * written. */
enum { MANY_ROWS = 1000 * 1000 };

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
    if (period && formulation_of(p) == &mo_formulation_patterns)
        p->formulation = mo_formulation_patterns_period.name;
    if (!p->objective && formulation_of(p)->is_period)
        p->objective = mo_objective_names[MO_OBJECTIVE_PERIOD];
}

bool mo_prepare_has_patterns(const mo_prepare_options *p)
{
    return formulation_of(p) == &mo_formulation_patterns ||
           formulation_of(p) == &mo_formulation_patterns_lower ||
           formulation_of(p) == &mo_formulation_patterns_period;
}

mo_status mo_prepare_choose_formulation(mo_prepare_options *p, const char *side,
                                        mo_error *err)
{
    bool is_default = !p->formulation && !side;

    if (side && !p->formulation)
        p->formulation = mo_formulation_patterns.name;
    mo_prepare_match_objective(p);
    p->by_size = is_default &&
                 mo_prepare_objective(p) == MO_OBJECTIVE_LATENCY &&
                 mo_prepare_regime(p).memory != MO_MEMORY_LIVE;
    if (!side)
        return MO_OK;
    if (!mo_prepare_has_patterns(p))
        return mo_fail(err, MO_E_USAGE,
                       "--patterns is for --formulation patterns alone");
    if (formulation_of(p)->is_period && strcmp(side, "lower") == 0)
        return mo_fail(err, MO_E_USAGE,
                       "--patterns lower has no bounds for --objective "
                       "period; moirai-place has one of the whole");
    if (strcmp(side, "lower") == 0)
        p->formulation = mo_formulation_patterns_lower.name;
    return MO_OK;
}

mo_status mo_prepare_check(const mo_prepare_options *p, const char *path,
                           mo_error *err)
{
    const mo_formulation *formulation = formulation_of(p);
    /* Tensors in flight have no place in the memory rows of a placement alone.
     */
    bool period = mo_prepare_objective(p) == MO_OBJECTIVE_PERIOD;

    if (!period && p->in_flight > 0)
        return mo_fail(err, MO_E_USAGE,
                       "--in-flight is for --objective period; with latency "
                       "one request runs at a time");
    if (period && p->memory && mo_memory_of(p->memory) == MO_MEMORY_LIVE &&
        formulation->is_period)
        return mo_fail(err, MO_E_USAGE,
                       "a model of the period counts the memory of all ops of "
                       "a device; take --memory static or none, or "
                       "moirai-place");
    if (p->in_flight > 0 && formulation == &mo_formulation_patterns_period)
        return mo_fail(err, MO_E_USAGE,
                       "patterns of the period have no rows for --in-flight; "
                       "take --formulation period");
    if (p->objective && p->formulation &&
        (mo_prepare_objective(p) == MO_OBJECTIVE_PERIOD) !=
            formulation->is_period)
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

/* Reads the graph, and applies the formats to its sizes after its digest is
 * taken. */
static mo_status read_graph(const mo_prepare_options *p, const char *path,
                            const mo_driver_log *logger, mo_graph **graph,
                            uint64_t *digest, mo_error *err)
{
    mo_numeric formats;
    mo_status status =
        mo_driver_load_graph(path, &p->read, logger, graph, NULL, err);

    if (status != MO_OK)
        return status;
    status = mo_graph_digest(*graph, digest, err);
    if (status == MO_OK)
        status = mo_driver_load_formats(&p->load, &formats, err);
    if (status == MO_OK)
        status = mo_numeric_apply_phases(&formats, graph, err);
    return status;
}

mo_status mo_prepare_coarsen(const char *fusion, const mo_graph *fine,
                             const mo_cluster *cluster,
                             const mo_driver_log *logger,
                             mo_coarsened *coarsened, mo_error *err)
{
    mo_coarsen_options options = { .clean = MO_CLEAN_ALL,
                                   .fused_us = mo_predict_fused_us,
                                   .context = cluster };
    mo_coarsened made = { 0 };
    mo_coarsen_report report;
    mo_fusion_rules *rules = NULL;
    mo_progress step;
    mo_status status = mo_fusion_rules_load(fusion, &rules, err);

    mo_driver_log_step(logger, &step, "coarsening");
    options.rules = rules;
    /* A built-in rule set is recorded by name, a file by its digest. */
    made.has_rules = !mo_fusion_rule_set_find(fusion);
    if (status == MO_OK && made.has_rules)
        status = mo_fusion_rules_digest(rules, &made.rules_digest, err);
    if (status == MO_OK)
        status =
            mo_coarsen(fine, &options, &made.graph, &made.map, &report, err);
    mo_progress_end(&step);
    if (status == MO_OK) {
        mo_driver_log_info(logger, "coarsened to %d ops", made.graph->n_ops);
        *coarsened = made;
    }
    mo_fusion_rules_free(rules);
    return status;
}

void mo_prepare_free_phases(mo_instance **phases, int n)
{
    for (int p = 0; phases && p < n; p++)
        mo_instance_free(phases[p]);
    free(phases);
}

mo_status mo_prepare_phases(const mo_driver_load_options *load,
                            const char *path, const mo_graph *g,
                            const mo_driver_devices *devices,
                            const mo_driver_log *logger, mo_instance ***phases,
                            mo_error *err)
{
    mo_driver_load_options any_size = *load;
    mo_instance **made;
    mo_status status = MO_OK;

    *phases = NULL;
    if (!g->phases)
        return MO_OK;
    any_size.any_size = true;
    made = calloc((size_t) g->phases->n, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    for (int p = 0; p < g->phases->n && status == MO_OK; p++)
        status =
            mo_driver_load_instance(&any_size, path, g->phases->items[p].graph,
                                    devices, logger, &made[p], err);
    if (status == MO_OK)
        *phases = made;
    else
        mo_prepare_free_phases(made, g->phases->n);
    return status;
}

/* Without fusion the graph is not cleaned either: bounds then refer to the
 * user's own graph. */
mo_status mo_prepare_instance(const mo_prepare_options *p, const char *path,
                              const mo_driver_log *logger, mo_problem *problem,
                              mo_error *err)
{
    mo_graph *fine = NULL;
    mo_driver_devices devices = { 0 };
    mo_coarsened coarse = { 0 };
    mo_instance *x = NULL, **phases = NULL;
    mo_driver_load_options load = p->load;
    bool fuses = strcmp(p->fusion, "none") != 0;
    uint64_t digest = 0;
    mo_status status = read_graph(p, path, logger, &fine, &digest, err);

    load.any_size = mo_prepare_regime(p).memory == MO_MEMORY_NONE;
    if (status == MO_OK)
        status = mo_driver_load_devices(&load, path, logger, &devices, err);
    if (status == MO_OK && fuses)
        status = mo_prepare_coarsen(p->fusion, fine, devices.cluster, logger,
                                    &coarse, err);
    if (status == MO_OK)
        status =
            mo_driver_load_instance(&load, path, fuses ? coarse.graph : fine,
                                    &devices, logger, &x, err);
    if (status == MO_OK)
        status = mo_prepare_phases(&load, path, fuses ? coarse.graph : fine,
                                   &devices, logger, &phases, err);
    if (status != MO_OK) {
        mo_instance_free(x);
        mo_coarsen_map_free(coarse.map);
        mo_graph_free(coarse.graph);
        mo_driver_devices_clear(&devices);
        mo_graph_free(fine);
        return status;
    }
    *problem = (mo_problem){
        .fine = fine,
        .coarse = coarse.graph,
        .map = coarse.map,
        .cluster = devices.cluster,
        .profile = devices.profile,
        .instance = x,
        .phases = phases,
        .n_phases = phases ? fine->phases->n : 0,
        .made_of = { .fusion = coarse.has_rules ? "file" : p->fusion,
                     .graph_digest = digest,
                     .has_rules = coarse.has_rules,
                     .rules_digest = coarse.rules_digest,
                     .graph_file = path,
                     .cluster_file = devices.cluster->file,
                     .profile_file = load.profile,
                     .rules_file = p->fusion,
                     .cost = load.cost,
                     .read = p->read },
    };
    return MO_OK;
}

void mo_problem_clear(mo_problem *problem)
{
    mo_prepare_free_phases(problem->phases, problem->n_phases);
    mo_instance_free(problem->instance);
    mo_profile_free(problem->profile);
    mo_cluster_free(problem->cluster);
    mo_coarsen_map_free(problem->map);
    mo_graph_free(problem->coarse);
    mo_graph_free(problem->fine);
    *problem = (mo_problem){ 0 };
}

const mo_graph *mo_problem_placed(const mo_problem *problem)
{
    return problem->coarse ? problem->coarse : problem->fine;
}

void mo_prepared_clear(mo_prepared *prepared)
{
    mo_schedule_free(prepared->start);
    mo_pattern_set_free(prepared->patterns);
    mo_proven_bounds_free(prepared->strength);
    mo_problem_clear(&prepared->loaded);
    *prepared = (mo_prepared){ 0 };
}

mo_regime mo_prepare_regime(const mo_prepare_options *p)
{
    return (mo_regime){
        p->congestion ? mo_congestion_of(p->congestion) : MO_CONGESTION_PORT,
        tensors_of(p), p->memory ? mo_memory_of(p->memory) : MO_MEMORY_STATIC
    };
}

/* A model of the period is the same with a search and without: only its start
 * is another, where that is below the bound of the model. */
static mo_status make_frame(const mo_prepare_options *p,
                            const mo_regime *regime, mo_prepared *made,
                            mo_frame **frame, mo_error *err)
{
    const mo_instance *x = made->loaded.instance;
    bool is_period = formulation_of(p)->is_period;
    mo_schedule *start = made->start;
    mo_status status;

    if (made->strength && !is_period) {
        made->start = NULL;
        return mo_frame_make_with_bounds(x, regime, p->slack, made->strength,
                                         start, frame, err);
    }
    status = p->slack > 0 ? mo_frame_make_open(x, regime, p->closure, p->slack,
                                               frame, err)
                          : mo_frame_make(x, regime, p->closure, frame, err);
    if (status == MO_OK && is_period && start &&
        made->start_ns < (*frame)->upper_ns) {
        mo_schedule_free((*frame)->start);
        (*frame)->start = start;
        made->start = NULL;
    }
    return status;
}

/* Returns the unit to fix; 0: the frame chooses it by the horizon. Without
 * --unit times are in microseconds, but where the horizon is below 1 or above
 * 10^6 of them: tolerances of solvers are about 1e-6. */
static int64_t fixed_unit_ns(const char *unit, const mo_frame *frame)
{
    static const char *const names[] = { "ns", "us", "ms" };
    const int64_t us = 1000, horizon_us = frame->horizon_ns / us;
    int64_t ns = 1;

    if (!unit)
        return horizon_us >= 1 && horizon_us < 1000000 ? us : 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++, ns *= 1000)
        if (strcmp(unit, names[i]) == 0)
            break;
    return ns;
}

/* Fails in the sink: the rest of the model is dropped. */
static void stop_counting(void *context)
{
    mo_fail(&((mo_sink *) context)->failure, MO_E_LIMIT, "enough rows");
}

static mo_status has_many_rows(const mo_model *model, bool *many, mo_error *err)
{
    static const mo_sink_kind rows_only = { .passes = 1, .wants_rows = true };
    mo_sink *sink = mo_sink_new(&rows_only, sizeof *sink, err);
    mo_status status;

    if (!sink)
        return MO_E_MEMORY;
    sink->row_limit = MANY_ROWS;
    sink->on_row_limit = stop_counting;
    sink->context = sink;
    status = mo_model_write(model, sink, err);
    mo_sink_free(sink);
    *many = status == MO_E_LIMIT;
    return *many ? MO_OK : status;
}

/* Makes the model of the options, or that of patterns where it is chosen by
 * size.  A compact model that is far too large is not built. */
static mo_status make_model(const mo_prepare_options *p,
                            const mo_driver_log *logger, const mo_frame *frame,
                            mo_prepared_model *model, mo_error *err)
{
    bool may_replace =
        p->by_size && frame->patterns && frame->patterns->has_known;
    bool many =
        may_replace && mo_compact_estimate_rows(frame, MANY_ROWS) >= MANY_ROWS;
    mo_status status = MO_OK;

    if (!many)
        status = mo_model_make(formulation_of(p), frame, &model->identity,
                               &model->model, err);
    if (may_replace && !many && status == MO_OK)
        status = has_many_rows(&model->model, &many, err);
    if (!many)
        return status;
    if (!logger->quiet) {
        mo_progress_erase();
        fprintf(stderr,
                "%s: --formulation compact has more than a million rows: this "
                "is --formulation patterns, whose optimum is the best of its "
                "patterns\n",
                logger->command);
    }
    mo_model_clear(&model->model);
    return mo_model_make(&mo_formulation_patterns, frame, &model->identity,
                         &model->model, err);
}

mo_status mo_prepare_model(const mo_prepare_options *p,
                           const mo_driver_log *logger, mo_prepared *made,
                           mo_prepared_model *model, mo_error *err)
{
    const mo_formulation *formulation = formulation_of(p);
    const mo_instance *x = made->loaded.instance;
    mo_identity_options made_of = made->loaded.made_of;
    double begin = mo_driver_clock_s();
    mo_frame *frame = NULL;
    mo_progress step;
    mo_status status = MO_OK;
    int64_t unit_ns;

    mo_driver_log_step(logger, &step, "building the model");
    made_of.regime = mo_prepare_regime(p);
    made_of.in_flight = p->in_flight;
    if (formulation->has_regime)
        status = mo_bound_memory(x, &made_of.regime, err);
    if (status == MO_OK)
        status = make_frame(p, &made_of.regime, made, &frame, err);
    unit_ns = status == MO_OK ? fixed_unit_ns(p->unit, frame) : 0;
    if (unit_ns > 0)
        status = mo_frame_set_unit(frame, unit_ns, err);
    if (status == MO_OK) {
        frame->in_flight = (int) p->in_flight;
        frame->patterns = made->patterns;
        status = make_model(p, logger, frame, model, err);
    }
    mo_progress_end(&step);
    if (status != MO_OK) {
        mo_frame_free(frame);
        return status;
    }
    model->frame = frame;
    made_of.formulation = model->model.formulation->name;
    made_of.unit_ns = model->model.frame->unit_ns;
    mo_identity_make(x, &made_of, &model->identity);
    mo_driver_log_info(logger, "prepared in %.2f s, no schedule above %.3f us",
                       mo_driver_clock_s() - begin,
                       (double) model->model.frame->horizon_ns / 1000);
    return MO_OK;
}

void mo_prepared_model_clear(mo_prepared_model *model)
{
    mo_model_clear(&model->model);
    mo_frame_free(model->frame);
    *model = (mo_prepared_model){ 0 };
}
