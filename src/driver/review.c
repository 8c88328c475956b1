/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/review.h"

#include <string.h>

void mo_review_clear(mo_review *r)
{
    mo_answer_evaluation_clear(&r->judgement);
    mo_prepared_clear(&r->made);
    mo_locate_result_clear(&r->located);
}

/* The model of m-SCT has no assignment columns. */
static mo_status check_places(const mo_provenance *origin, mo_error *err)
{
    if (!origin->has_options ||
        strcmp(origin->formulation, mo_formulation_sct.name) != 0)
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "a solution of sct does not say where ops are: there is "
                   "nothing to check");
}

mo_status mo_review_instance(const mo_prepare_options *options,
                             const char *graph, const char *beside,
                             const mo_driver_log *logger, mo_review *r,
                             mo_error *err)
{
    const mo_locate_query what = {
        .beside = beside,
        .graph = graph,
        .cluster = options->load.cluster,
        .profile = options->load.profile,
        .rules = options->fusion,
        .read = { (const char *const *) options->shapes.items,
                  options->shapes.count }
    };
    mo_prepare_options p = *options;
    mo_status status = check_places(&r->origin, err);

    if (status == MO_OK)
        status = mo_locate_inputs(&what, &r->origin, logger, &r->located, err);
    if (status != MO_OK)
        return status;
    p.load.cluster = r->located.cluster;
    p.load.profile = r->located.profile;
    p.fusion = r->located.rules;
    r->regime =
        r->origin.has_options ? r->origin.regime : mo_prepare_regime(options);
    p.memory = mo_memory_names[r->regime.memory];
    mo_driver_log_info(logger, "the graph is %s", r->located.graph);
    status = mo_driver_load_check(&p.load, r->located.graph, err);
    if (status == MO_OK)
        status =
            mo_prepare_instance(&p, r->located.graph, logger, &r->made, err);
    if (status == MO_OK)
        status =
            mo_locate_verify_digests(&r->origin, &r->located, &r->made, err);
    return status;
}

mo_status mo_review_solution(const mo_solution *solution, double tolerance,
                             mo_review *r, mo_error *err)
{
    return mo_answer_evaluate_solution(solution, &r->origin,
                                       r->made.loaded.instance, &r->regime,
                                       tolerance, &r->judgement, err);
}

mo_report_verdict mo_review_report(const mo_review *r)
{
    return (mo_report_verdict){
        .graph = r->located.graph,
        .cluster = r->made.loaded.cluster->file,
        .ops = r->made.fine->n_ops,
        .edges = r->made.fine->n_edges,
        .x = r->made.loaded.instance,
        .regime = &r->regime,
        .formulation = r->origin.has_options ? r->origin.formulation : NULL,
        .judgement = &r->judgement,
        .bound_ns = r->judgement.lower.bound_ns,
        .bound_by = r->judgement.lower.which,
        .seconds = -1,
    };
}
