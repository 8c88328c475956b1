/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MILP as the paper prints it (big-M), for comparison; compact.c has the
 * same optimum in a fraction of the rows.
 *
 * Letters: ops i, j; flows q = (i, j), one for each reader of a tensor; devices
 * k, a, b.  S, C are s, c of ops and t, d of flows; u is called y; the printed
 * delta is o between ops and h between flows, 1 when the first comes first.
 *
 *     minimize w
 *     w >= C_i                                        makespan     (1)
 *     C_i <= S_q, C_q <= S_j           q = (i, j)     precedence   (1a)
 *     C_i = S_i + sum_k p_ik x_ik                     completion   (1b)
 *     sum_k x_ik = 1                                  assignment   (1c)
 *     sum_i m_i x_ik <= Mem_k                         memory       (1d)
 *
 *     S_i >= C_j - M o_ij       - M (2 - x_ik - x_jk) overlap      (1e)
 *     S_j >= C_i - M (1 - o_ij) - M (2 - x_ik - x_jk)
 *         for all k and i < j of which neither follows the other
 *
 *     z_q <= 2 - x_ik - x_jk                          cross        (1f)
 *     z_q >= x_ik - x_jk
 *     z_q >= x_jk - x_ik
 *     sum_{a != b} y_qab = z_q                        sent
 *     y_qab >= x_ia + x_jb - 1               a != b   channel
 *     C_q = S_q + sum_{a != b} p_qab y_qab            arrival
 *
 *     S_q >= C_r - M h_qr       - M (2 - z_q - z_r)   congestion   (1g)
 *                + M (x_ak + x_ck - x_bk - x_dk - 2)
 *     S_r >= C_q - M (1 - h_qr) - M (2 - z_q - z_r)
 *                + M (x_ak + x_ck - x_bk - x_dk - 2)
 *     and both again with + M (x_bk + x_dk - x_ak - x_ck - 2)
 *         for all k, q = (a, b) < r = (c, d), neither following the other
 *
 *     x_ik = 1 for a pinned op (pin), x_ik = x_jk in a group (group).
 *
 * What is repaired of the print:
 *
 *   - The first three rows of (1f) hold for all k, and the sums leave a = b
 *     out.
 *   - One o or h for a pair; the print has two, of i, j and of j, i.
 *   - Flows that share an end have one column twice in a row of (1g); its
 *     coefficients are added up, as readers refuse it otherwise.
 *   - M is the horizon, a makespan that was reached; with a number that is only
 *     "large", solvers return times below the optimum.
 *   - Times are in a unit that puts the horizon between 100 and 10,000.
 *   - (1a) is written for direct successors in the augmented DAG, from which
 *     the others follow; with closure for all, as printed.
 *
 * (1g) as printed lets a device send one flow at a time and receive one.  The
 * text mentions channels.  The other readings replace (1g):
 *
 *     S_q >= C_r - M h_qr       - M (2 - Y_q - Y_r)
 *     S_r >= C_q - M (1 - h_qr) - M (2 - Y_q - Y_r)
 *
 * with Y = y_ab for every channel a, b; or, for every link, Y = the sum of y_ab
 * over the pairs whose route has the link.
 */
#include "models/paper/paper.h"

#include "models/formulation.h"

static mo_status prepare_paper(const mo_frame *frame, void **state,
                               mo_error *err)
{
    mo_paper_options all = { NULL, frame->x->n_devices,
                             frame->regime.congestion };
    mo_paper *m;
    mo_status status = mo_paper_new(frame, &all, &m, err);

    if (status == MO_OK)
        *state = m;
    return status;
}

const mo_formulation mo_formulation_paper = {
    .name = "paper",
    .help = "as the paper prints it, repaired where it must be",
    .knows_once = false,
    .knows_regime = true,
    .prepare = prepare_paper,
    .columns = mo_paper_columns,
    .rows = mo_paper_rows,
    .release = mo_paper_free,
    .has_start = mo_paper_has_start,
};
