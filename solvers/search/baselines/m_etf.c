/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m-ETF: B. Jeon, L. Cai, P. Srivastava, J. Jiang, X. Ke, Y. Meng, C. Xie, I.
 * Gupta: Baechi: fast device placement of machine learning graphs (SoCC 2020);
 * after ETF: J.-J. Hwang, Y.-C. Chow, F. D. Anger, C.-Y. Lee (SIAM J. Comput.
 * 18(2), 1989).
 *
 * Of all ops that are ready and all devices that have memory for them the pair
 * that can start first (earliest.h).
 *
 * Decided here: in print memory is live, since Baechi places what is trained;
 * here it is what the task says, and with static memory an op keeps what it
 * asks for.  A device that has no room for an op is out of the question for it
 * from then on.  An op that no device has room for goes where there is most,
 * and the answer says that it does not fit.
 */
#include "solvers/search/baselines/etf.h"

static mo_status place(const mo_method_task *task, mo_method_result *placed,
                       mo_error *err)
{
    const mo_baseline_etf_options options = { .memory = true };

    return mo_baseline_etf_place(task, &options, placed, err);
}

const mo_method mo_method_m_etf = {
    .name = "m-etf",
    .help = "the op and device that can start first, within memory",
    .source = "Baechi: Jeon et al. 2020",
    .all = true,
    .place = place,
};
