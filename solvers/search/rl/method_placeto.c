/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placeto: R. Addanki, S. B. Venkatakrishnan, S. Gupta, H. Mao, M. Alizadeh:
 * Placeto: learning generalizable device placement algorithms for distributed
 * machine learning (NeurIPS 2019).
 *
 * A policy that visits every op once and chooses its device, seeing the
 * placement as it is; trained by REINFORCE on how the makespan falls.
 *
 * Decided here: an episode begins with everything on the best single device,
 * every other one with the best placement so far, and the best that was judged
 * within an episode counts, in the best order that swapping ops leads to;
 * before anything is learned an op rather stays where it is; a policy that
 * finds nothing better for long is drawn anew; devices are told by the times
 * that ops take there, so that unequal ones are; graphs of more than 64 units
 * are visited in parts, of which each is told and judged once; in those of more
 * than 2,000, sums over what is before, after and beside look only so far;
 * rewards are in units of one device's makespan; colocated ops are one;
 * overflowing memory costs as much as it is too large.
 */
#include "solvers/search/rl/placeto.h"

static mo_status place(const mo_method_task *task, mo_method_result *placed,
                       mo_error *err)
{
    mo_placement_units *units = NULL;
    mo_rl_placeto placeto = { .n = 0 };
    mo_status status =
        mo_placement_units_make(task->x, &task->regime, &units, err);

    if (status == MO_OK)
        status = mo_rl_placeto_init(task, units, &placeto, err);
    if (status == MO_OK) {
        const mo_rl_policy pupil = mo_rl_placeto_policy(&placeto);

        status = mo_rl_train(task, units, &pupil, placed, err);
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
    .place = place,
};
