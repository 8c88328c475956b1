/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placeto: R. Addanki, S. B. Venkatakrishnan, S. Gupta, H. Mao, M. Alizadeh:
 * Placeto: learning generalizable device placement algorithms for distributed
 * machine learning (NeurIPS 2019).
 *
 * A policy that visits every op once and chooses its device, given the current
 * placement; trained by REINFORCE on the decrease of the makespan.
 *
 * Choices of this implementation: an episode starts with everything on the
 * best single device, every other one with the best placement so far, and the
 * best that was evaluated within an episode counts, in the best order found by
 * swapping ops; initially an op tends to stay on its device; a policy without
 * improvement for long is initialized again; devices are represented by the
 * times of ops there, so that unequal ones differ; graphs of more than 64
 * units are visited in parts, each embedded and evaluated once; in those of
 * more than 2,000, pooling over ancestors, descendants and incomparable units
 * is limited to a window; rewards are in units of one device's makespan;
 * colocated ops are one unit; memory overflow is penalized in proportion to
 * the excess.
 */
#include "solvers/search/rl/placeto.h"

static mo_status place_task(const mo_method_task *task,
                            mo_method_result *placed, mo_error *err)
{
    mo_placement_units *units = NULL;
    mo_rl_placeto placeto = { .n = 0 };
    mo_status status =
        mo_placement_units_make(task->x, &task->regime, &units, err);

    if (status == MO_OK)
        status = mo_rl_placeto_init(task, units, &placeto, err);
    if (status == MO_OK) {
        const mo_rl_policy policy = mo_rl_placeto_policy(&placeto);

        status = mo_rl_train(task, units, &policy, placed, err);
    }
    mo_rl_placeto_clear(&placeto);
    mo_placement_units_free(units);
    return status;
}

const mo_method mo_method_placeto = {
    .name = "placeto",
    .help = "learns to choose a device for one op after the other",
    .source = "Addanki et al. 2019",
    .learns = true,
    .place = place_task,
};
