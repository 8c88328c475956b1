/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solutions of the library: from a file that names its inputs by digests to a
 * placement with the handles it refers to.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/handles.h"

/* Takes over the graphs of a review. */
static mo_status wrap_graphs(mo_review *r, moirai_graph **placed, mo_error *err)
{
    mo_problem *problem = &r->problem;
    moirai_graph *fine = calloc(1, sizeof *fine);
    moirai_graph *coarse = NULL;
    mo_provenance_texts texts;
    const mo_read_options read = mo_answer_read_options(&r->origin, &texts);
    mo_status status;

    if (!fine)
        return mo_fail_memory(err);
    atomic_init(&fine->references, 1);
    fine->graph = problem->fine;
    problem->fine = NULL;
    fine->digest = problem->made_of.graph_digest;
    fine->formats = problem->instance->formats;
    status = mo_lib_copy_text(r->located.graph, &fine->path, err);
    if (status == MO_OK)
        status = mo_lib_graph_keep_options(fine, &read, err);
    if (status == MO_OK && problem->coarse) {
        coarse = calloc(1, sizeof *coarse);
        status = coarse ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK && coarse) {
        atomic_init(&coarse->references, 1);
        coarse->fine = mo_lib_retain_graph(fine);
        coarse->graph = problem->coarse;
        coarse->map = problem->map;
        problem->coarse = NULL;
        problem->map = NULL;
        coarse->digest = fine->digest;
        coarse->formats = fine->formats;
        coarse->has_rules = problem->made_of.has_rules;
        coarse->rules_digest = problem->made_of.rules_digest;
        status = mo_lib_copy_text(fine->path, &coarse->path, err);
        if (status == MO_OK)
            status = mo_lib_copy_text(
                r->located.rules ? r->located.rules : problem->made_of.fusion,
                &coarse->fusion, err);
        moirai_graph_free(fine);
        fine = coarse;
    }
    if (status == MO_OK)
        *placed = fine;
    else
        moirai_graph_free(fine);
    return status;
}

static mo_status wrap_profile(mo_review *r, moirai_profile **profile,
                              mo_error *err)
{
    moirai_profile *made;

    *profile = NULL;
    if (!r->problem.profile)
        return MO_OK;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    atomic_init(&made->references, 1);
    made->profile = r->problem.profile;
    r->problem.profile = NULL;
    *profile = made;
    return mo_lib_copy_text(r->located.profile, &made->path, err);
}

/* Takes over what the review has. */
static mo_status wrap_instance(mo_review *r, moirai_instance **instance,
                               mo_error *err)
{
    mo_instance *x = r->problem.instance;
    mo_cluster *c = r->problem.cluster;
    moirai_graph *graph = NULL;
    moirai_cluster *cluster = NULL;
    moirai_profile *profile = NULL;
    mo_prepare_options rules = {
        .congestion = mo_congestion_names[r->regime.congestion],
        .tensors = mo_tensors_names[r->regime.tensors],
        .memory = mo_memory_names[r->regime.memory],
        .objective = mo_objective_names[r->evaluation.period_ns >= 0
                                            ? MO_OBJECTIVE_PERIOD
                                            : MO_OBJECTIVE_LATENCY],
        .in_flight = r->origin.in_flight,
        .load.cost = r->located.cost,
    };
    mo_status status = wrap_graphs(r, &graph, err);

    if (status == MO_OK) {
        r->problem.cluster = NULL;
        status = mo_lib_cluster_make(c, &cluster, err);
    }
    if (status == MO_OK)
        status = wrap_profile(r, &profile, err);
    if (status == MO_OK) {
        r->problem.instance = NULL;
        status = mo_lib_instance_make(x, graph, cluster, profile, &rules,
                                      instance, err);
    }
    moirai_graph_free(graph);
    moirai_cluster_free(cluster);
    moirai_profile_free(profile);
    return status;
}

moirai_status moirai_placement_open(const char *path,
                                    const moirai_options *options,
                                    moirai_placement **placement,
                                    moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    const mo_driver_log logger = mo_lib_log(options);
    mo_prepare_options p = mo_lib_settings_of(options)->review;
    const mo_review_source from = { .prepare = &p,
                                    .graph = mo_lib_settings_of(options)->graph,
                                    .proof = mo_lib_settings_of(options)->proof,
                                    .tolerance = MO_ANSWER_TOLERANCE,
                                    .logger = &logger };
    mo_review r = { 0 };
    moirai_instance *instance = NULL;
    moirai_placement *made = NULL;
    mo_status status = mo_review_file(&from, path, &r, e);

    if (status == MO_OK)
        status = wrap_instance(&r, &instance, e);
    if (status == MO_OK)
        status = mo_lib_placement_make(instance, &r.evaluation, NULL,
                                       r.claim.by, &made, e);
    if (status == MO_OK)
        status = mo_lib_placement_prove(made, r.proof, e);
    if (status == MO_OK && r.claim.has_bound)
        mo_lib_placement_claim(made, r.claim.bound_ns);
    if (status == MO_OK)
        *placement = made;
    else
        moirai_placement_free(made);
    moirai_instance_free(instance);
    mo_review_clear(&r);
    return mo_lib_status(status);
}
