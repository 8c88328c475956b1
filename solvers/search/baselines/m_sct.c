/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m-SCT: B. Jeon, L. Cai, P. Srivastava, J. Jiang, X. Ke, Y. Meng, C. Xie, I.
 * Gupta: Baechi: fast device placement of machine learning graphs (SoCC 2020);
 * after SCT: C. Hanen, A. Munier (Discrete Applied Mathematics 108(3), 2001).
 *
 * An LP relaxation (models/baselines/sct.c) determines for each op which of
 * its readers should follow it on its device: its favourite child. Then as
 * m-ETF, except that a device waits for the favourite child of its last op
 * once that is ready, unless an urgent op is there (etf.h).
 *
 * Decided here: a solver's value of at most 0.1 means a favourite; should that
 * leave an op with two children, or a child with two parents, the smaller
 * value counts, and of equals the flow with the smaller number. In the
 * publication devices are equal: the program has mean times, the placement
 * true ones. Memory is as in m-ETF.
 */
#include <stdlib.h>

#include "solvers/answer/column_name.h"
#include "solvers/search/baselines/baseline_milp.h"
#include "solvers/search/baselines/etf.h"

#define MAX_FOR_FAVOURITE 0.1

typedef struct favour {
    double value;
    int flow;
} favour;

static int compare_favours(const void *a, const void *b)
{
    const favour *f = a, *g = b;

    if (f->value != g->value)
        return f->value < g->value ? -1 : 1;
    return (f->flow > g->flow) - (f->flow < g->flow);
}

static mo_status find_favourites(const mo_instance *x,
                                 const mo_solution *solution, int *favourite,
                                 mo_error *err)
{
    favour *favours = calloc((size_t) x->n_flows + 1, sizeof *favours);
    bool *has_parent = calloc((size_t) x->n + 1, sizeof *has_parent);
    mo_status status = favours && has_parent ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK) {
        /* Columns that are not in a solution are 0. */
        for (int q = 0; q < x->n_flows; q++)
            favours[q] = (favour){ 0, q };
        for (int i = 0; i < solution->n; i++) {
            const mo_solution_value *v = &solution->values[i];
            mo_column_name name;

            if (mo_column_name_parse(v->name, &name) &&
                name.role == MO_VARIABLE_ROLE_FAVORITE &&
                name.number[0] < x->n_flows)
                favours[name.number[0]].value = v->value;
        }
        qsort(favours, (size_t) x->n_flows, sizeof *favours, compare_favours);
        for (int i = 0; i < x->n; i++)
            favourite[i] = MO_FREE;
        for (int i = 0; i < x->n_flows; i++) {
            const mo_flow *flow = &x->flows[favours[i].flow];

            if (favours[i].value > MAX_FOR_FAVOURITE)
                break;
            if (favourite[flow->from] != MO_FREE || has_parent[flow->to])
                continue;
            favourite[flow->from] = flow->to;
            has_parent[flow->to] = true;
        }
    }
    free(has_parent);
    free(favours);
    return status;
}

static mo_status place_by_favourites(const mo_method_task *task,
                                     const mo_solution *solution,
                                     mo_method_result *placed, mo_error *err)
{
    int *favourite = calloc((size_t) task->x->n + 1, sizeof *favourite);
    const mo_baseline_etf_options options = { .memory = true,
                                              .favourite = favourite };
    mo_status status = favourite
                           ? find_favourites(task->x, solution, favourite, err)
                           : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_baseline_etf_place(task, &options, placed, err);
    free(favourite);
    return status;
}

static mo_status place_m_sct(const mo_method_task *task,
                             mo_method_result *placed, mo_error *err)
{
    return mo_baseline_place_by_lp(task, &mo_formulation_sct,
                                   place_by_favourites, placed, err);
}

const mo_method mo_method_m_sct = {
    .name = "m-sct",
    .help = "as m-etf, but devices wait for favourite children; needs a solver",
    .source = "Baechi: Jeon et al. 2020",
    .all = true,
    .place = place_m_sct,
};
