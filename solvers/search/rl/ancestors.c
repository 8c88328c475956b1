/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/ancestors.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void mo_rl_adjacency_clear(mo_rl_adjacency *lists)
{
    free(lists->start);
    free(lists->list);
    *lists = (mo_rl_adjacency){ 0 };
}

void mo_rl_ancestors_clear(mo_rl_ancestors *reach)
{
    mo_rl_adjacency_clear(&reach->before);
    mo_rl_adjacency_clear(&reach->after);
    mo_rl_adjacency_clear(&reach->incomparable);
}

/* Band matrix of reachability, by vertex: [window - d] whether the vertex d
 * before it is an ancestor. */
typedef struct reach_band {
    int n, window;
    bool *rows;
} reach_band;

static bool *band_row(const reach_band *m, int v)
{
    return m->rows + (size_t) v * (size_t) (m->window + 1);
}

static bool is_before(const reach_band *m, int u, int v)
{
    return v - u <= m->window && band_row(m, v)[m->window - (v - u)];
}

/* All ancestors of a parent are ancestors of v, within the window. */
static void add_parent(reach_band *m, int v, int parent)
{
    int far = v - parent;
    bool *row = band_row(m, v);
    const bool *from = band_row(m, parent);

    if (far <= 0 || far > m->window)
        return;
    row[m->window - far] = true;
    for (int i = far; i <= m->window; i++)
        row[i - far] |= from[i];
}

typedef enum relation { ANCESTOR, DESCENDANT, INCOMPARABLE } relation;

static bool is_related(const reach_band *m, relation wanted, int v, int other)
{
    bool before = other < v && is_before(m, other, v);
    bool after = other > v && is_before(m, v, other);

    switch (wanted) {
    case ANCESTOR:
        return before;
    case DESCENDANT:
        return after;
    case INCOMPARABLE:
        break;
    }
    return other != v && !before && !after;
}

static int first_near(const reach_band *m, int v)
{
    return v > m->window ? v - m->window : 0;
}

static int last_near(const reach_band *m, int v)
{
    return m->n - 1 - v > m->window ? v + m->window : m->n - 1;
}

static mo_status build_list(const reach_band *m, relation wanted,
                            mo_rl_adjacency *lists, mo_error *err)
{
    int64_t n = 0;

    lists->start = calloc((size_t) m->n + 1, sizeof *lists->start);
    if (!lists->start)
        return mo_fail_memory(err);
    for (int v = 0; v < m->n; v++) {
        for (int u = first_near(m, v); u <= last_near(m, v); u++)
            n += is_related(m, wanted, v, u);
        lists->start[v + 1] = (int) n;
    }
    lists->list = calloc((size_t) n + 1, sizeof *lists->list);
    if (!lists->list)
        return mo_fail_memory(err);
    n = 0;
    for (int v = 0; v < m->n; v++)
        for (int u = first_near(m, v); u <= last_near(m, v); u++)
            if (is_related(m, wanted, v, u))
                lists->list[n++] = u;
    return MO_OK;
}

mo_status mo_rl_ancestors_init(int n, const mo_rl_adjacency *parents,
                               int window, mo_rl_ancestors *reach,
                               mo_error *err)
{
    reach_band m = { .n = n, .window = window };
    mo_status status = MO_OK;

    m.rows = calloc((size_t) n * ((size_t) window + 1) + 1, sizeof *m.rows);
    if (!m.rows)
        return mo_fail_memory(err);
    for (int v = 0; v < n; v++)
        for (int k = parents->start[v]; k < parents->start[v + 1]; k++)
            add_parent(&m, v, parents->list[k]);
    status = build_list(&m, ANCESTOR, &reach->before, err);
    if (status == MO_OK)
        status = build_list(&m, DESCENDANT, &reach->after, err);
    if (status == MO_OK)
        status = build_list(&m, INCOMPARABLE, &reach->incomparable, err);
    free(m.rows);
    return status;
}

mo_status mo_rl_adjacency_remap(const mo_rl_adjacency *from, int n,
                                const int *which, const int *by,
                                mo_rl_adjacency *to, mo_error *err)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++)
        at += from->start[which[i] + 1] - from->start[which[i]];
    to->start = calloc((size_t) n + 1, sizeof *to->start);
    to->list = calloc((size_t) at + 1, sizeof *to->list);
    if (!to->start || !to->list)
        return mo_fail_memory(err);
    at = 0;
    for (int i = 0; i < n; i++) {
        for (int k = from->start[which[i]]; k < from->start[which[i] + 1]; k++)
            to->list[at++] = from->list[k] + by[i];
        to->start[i + 1] = (int) at;
    }
    return MO_OK;
}

mo_status mo_rl_ancestors_remap(const mo_rl_ancestors *from, int n,
                                const int *which, const int *by,
                                mo_rl_ancestors *to, mo_error *err)
{
    mo_status status =
        mo_rl_adjacency_remap(&from->before, n, which, by, &to->before, err);

    if (status == MO_OK)
        status =
            mo_rl_adjacency_remap(&from->after, n, which, by, &to->after, err);
    if (status == MO_OK)
        status = mo_rl_adjacency_remap(&from->incomparable, n, which, by,
                                       &to->incomparable, err);
    return status;
}
