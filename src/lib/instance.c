/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of the library. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <string.h>

#include "driver/plugin/view.h"
#include "lib/handles.h"

mo_status mo_lib_instance_make(mo_instance *x, const moirai_graph *graph,
                               moirai_cluster *cluster, moirai_profile *profile,
                               const mo_prepare_options *rules,
                               moirai_instance **wrapped, mo_error *err)
{
    moirai_instance *made = calloc(1, sizeof *made);

    if (!made) {
        mo_instance_free(x);
        return mo_fail_memory(err);
    }
    atomic_init(&made->references, 1);
    made->instance = x;
    made->graph = mo_lib_retain_graph(graph);
    made->cluster = cluster;
    mo_lib_retain(&cluster->references);
    made->profile = profile;
    if (profile)
        mo_lib_retain(&profile->references);
    made->regime = mo_prepare_regime(rules);
    made->objective = mo_prepare_objective(rules);
    made->in_flight = rules->in_flight;
    made->view = mo_plugin_view(x, &made->regime, made->objective,
                                (int) made->in_flight);
    if (mo_lib_copy_text(rules->load.cost, &made->cost, err) != MO_OK) {
        moirai_instance_free(made);
        return MO_E_MEMORY;
    }
    *wrapped = made;
    return MO_OK;
}

moirai_status moirai_instance_new(const moirai_graph *graph,
                                  const moirai_cluster *cluster,
                                  const moirai_profile *profile,
                                  const moirai_options *options,
                                  moirai_instance **instance, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    const mo_driver_log logger = mo_lib_log(options);
    mo_prepare_options p = mo_lib_settings_of(options)->prepare;
    const mo_driver_devices devices = { .cluster = cluster->cluster,
                                        .profile =
                                            profile ? profile->profile : NULL };
    moirai_graph *coarse = NULL;
    mo_instance *x = NULL;
    char formats[MO_NUMERIC_TEXT];
    mo_status status;

    /* The formats are those that the sizes of the graph have. */
    mo_numeric_write(&graph->formats, formats);
    p.load.precision = p.load.weights = NULL;
    p.load.formats = formats;
    p.load.any_size = mo_prepare_regime(&p).memory == MO_MEMORY_NONE;
    status = mo_prepare_check(&p, graph->path, e);
    if (status == MO_OK && !graph->fine && strcmp(p.fusion, "none") != 0) {
        status = (mo_status) moirai_graph_coarsen(graph, cluster, options,
                                                  &coarse, err);
        graph = coarse;
    }
    if (status == MO_OK)
        status = mo_driver_load_instance(&p.load, graph->path, graph->graph,
                                         &devices, &logger, &x, e);
    if (status == MO_OK)
        status = mo_lib_instance_make(
            x, graph, (moirai_cluster *) (uintptr_t) cluster,
            (moirai_profile *) (uintptr_t) profile, &p, instance, e);
    moirai_graph_free(coarse);
    return mo_lib_status(status);
}

void moirai_instance_free(moirai_instance *instance)
{
    if (!instance || !mo_lib_release(&instance->references))
        return;
    mo_instance_free(instance->instance);
    moirai_graph_free(instance->graph);
    moirai_cluster_free(instance->cluster);
    moirai_profile_free(instance->profile);
    free(instance->cost);
    free(instance);
}

const moirai_view *moirai_instance_view(const moirai_instance *instance)
{
    return &instance->view;
}

mo_review mo_lib_instance_review(const moirai_instance *instance)
{
    const moirai_graph *placed = instance->graph;
    const moirai_graph *fine = placed->fine ? placed->fine : placed;
    mo_review r = { .regime = instance->regime };

    r.located.graph = fine->path;
    r.problem.fine = fine->graph;
    r.problem.coarse = placed->fine ? placed->graph : NULL;
    r.problem.map = placed->map;
    r.problem.cluster = instance->cluster->cluster;
    r.problem.profile = instance->profile ? instance->profile->profile : NULL;
    r.problem.instance = instance->instance;
    r.problem.made_of = (mo_identity_options){
        .regime = instance->regime,
        .fusion = !placed->fine       ? "none"
                  : placed->has_rules ? "file"
                                      : placed->fusion,
        .graph_digest = placed->digest,
        .has_rules = placed->has_rules,
        .rules_digest = placed->rules_digest,
        .in_flight = instance->in_flight,
        .graph_file = fine->path,
        .cluster_file = instance->cluster->cluster->file,
        .profile_file = instance->profile ? instance->profile->path : NULL,
        .rules_file = placed->fusion,
        .cost = instance->cost,
        .read = fine->read,
    };
    return r;
}
