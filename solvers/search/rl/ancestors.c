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
    mo_rl_adjacency_clear(&reach->beside);
}

/* By vertex a row of marks: [window - d] whether the one d before it comes
 * before it. */
typedef struct marks {
    int n, window;
    bool *rows;
} marks;

static bool *row_of(const marks *m, int v)
{
    return m->rows + (size_t) v * (size_t) (m->window + 1);
}

static bool is_before(const marks *m, int u, int v)
{
    return v - u <= m->window && row_of(m, v)[m->window - (v - u)];
}

/* All before a parent are before v, as far as the window goes. */
static void mark(marks *m, int v, int parent)
{
    int far = v - parent;
    bool *row = row_of(m, v);
    const bool *from = row_of(m, parent);

    if (far <= 0 || far > m->window)
        return;
    row[m->window - far] = true;
    for (int i = far; i <= m->window; i++)
        row[i - far] |= from[i];
}

typedef enum kind { BEFORE, AFTER, BESIDE } kind;

static bool is_of(const marks *m, kind wanted, int v, int other)
{
    bool before = other < v && is_before(m, other, v);
    bool after = other > v && is_before(m, v, other);

    switch (wanted) {
    case BEFORE:
        return before;
    case AFTER:
        return after;
    case BESIDE:
        break;
    }
    return other != v && !before && !after;
}

static int first_near(const marks *m, int v)
{
    return v > m->window ? v - m->window : 0;
}

static int last_near(const marks *m, int v)
{
    return m->n - 1 - v > m->window ? v + m->window : m->n - 1;
}

static mo_status list(const marks *m, kind wanted, mo_rl_adjacency *lists,
                      mo_error *err)
{
    int64_t n = 0;

    lists->start = calloc((size_t) m->n + 1, sizeof *lists->start);
    if (!lists->start)
        return mo_fail_memory(err);
    for (int v = 0; v < m->n; v++) {
        for (int u = first_near(m, v); u <= last_near(m, v); u++)
            n += is_of(m, wanted, v, u);
        lists->start[v + 1] = (int) n;
    }
    lists->list = calloc((size_t) n + 1, sizeof *lists->list);
    if (!lists->list)
        return mo_fail_memory(err);
    n = 0;
    for (int v = 0; v < m->n; v++)
        for (int u = first_near(m, v); u <= last_near(m, v); u++)
            if (is_of(m, wanted, v, u))
                lists->list[n++] = u;
    return MO_OK;
}

mo_status mo_rl_ancestors_init(int n, const mo_rl_adjacency *parents,
                               int window, mo_rl_ancestors *reach,
                               mo_error *err)
{
    marks m = { .n = n, .window = window };
    mo_status status = MO_OK;

    m.rows = calloc((size_t) n * ((size_t) window + 1) + 1, sizeof *m.rows);
    if (!m.rows)
        return mo_fail_memory(err);
    for (int v = 0; v < n; v++)
        for (int k = parents->start[v]; k < parents->start[v + 1]; k++)
            mark(&m, v, parents->list[k]);
    status = list(&m, BEFORE, &reach->before, err);
    if (status == MO_OK)
        status = list(&m, AFTER, &reach->after, err);
    if (status == MO_OK)
        status = list(&m, BESIDE, &reach->beside, err);
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
        status = mo_rl_adjacency_remap(&from->beside, n, which, by, &to->beside,
                                       err);
    return status;
}
