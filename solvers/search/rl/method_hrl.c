/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HRL: A. Mirhoseini, A. Goldie, H. Pham, B. Steiner, Q. V. Le, J. Dean: A
 * hierarchical model for device placement (ICLR 2018).
 *
 * A grouper, which puts every op into a group, and a placer, which reads the
 * groups and chooses a device for each; trained together by REINFORCE on minus
 * the square root of the makespan.
 *
 * Choices of this implementation: as many groups as ops, at most 64; initially
 * a group is an interval of the graph; the features of ops are their times and
 * transfers, as an instance has no op types; of each grouping four placements
 * are sampled, and the best of them gets a better order by swapping ops; a
 * policy without improvement for long is initialized again; colocated ops are
 * one unit, and pinned ops are in no group; memory overflow is penalized in
 * proportion to the excess.
 */
#include "solvers/search/rl/hrl.h"

static mo_status place_task(const mo_method_task *task,
                            mo_method_result *placed, mo_error *err)
{
    mo_placement_units *units = NULL;
    mo_rl_hrl hrl = { .n = 0 };
    mo_status status =
        mo_placement_units_make(task->x, &task->regime, &units, err);

    if (status == MO_OK)
        status = mo_rl_hrl_init(task, units, &hrl, err);
    if (status == MO_OK) {
        const mo_rl_policy policy = mo_rl_hrl_policy(&hrl);

        status = mo_rl_train(task, units, &policy, placed, err);
    }
    mo_rl_hrl_clear(&hrl);
    mo_placement_units_free(units);
    return status;
}

const mo_method mo_method_hrl = {
    .name = "hrl",
    .help = "learns to group ops and to choose a device for each group",
    .source = "Mirhoseini et al. 2018",
    .learns = true,
    .place = place_task,
};
