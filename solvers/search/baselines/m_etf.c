/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m-ETF: B. Jeon, L. Cai, P. Srivastava, J. Jiang, X. Ke, Y. Meng, C. Xie, I.
 * Gupta: Baechi: fast device placement of machine learning graphs (SoCC 2020);
 * after ETF: J.-J. Hwang, Y.-C. Chow, F. D. Anger, C.-Y. Lee (SIAM J. Comput.
 * 18(2), 1989).
 *
 * Earliest task first (etf.h) over the devices with enough free memory.
 *
 * Decided here: in the publication memory is live, since Baechi places
 * training graphs; here it is the task's memory model, and under static memory
 * an op keeps its memory. A device without room for an op is excluded for it
 * from then on. An op that fits no device goes to the one with most memory,
 * and the result does not fit.
 */
#include "solvers/search/baselines/etf.h"

static mo_status place_m_etf(const mo_method_task *task,
                             mo_method_result *placed, mo_error *err)
{
    const mo_baseline_etf_options options = { .memory = true };

    return mo_baseline_etf_place(task, &options, placed, err);
}

const mo_method mo_method_m_etf = {
    .name = "m-etf",
    .help = "the op and device that can start first, within memory",
    .source = "Baechi: Jeon et al. 2020",
    .all = true,
    .place = place_m_etf,
};
