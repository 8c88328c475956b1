/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/candidate_select.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { MAX_PATHS = 24 }; /* shortest paths per selection */

struct mo_search_candidates {
    mo_search_state *search;
    int64_t **hoped_ns; /* optimistic estimate by class and boundary */
    int *uses;    /* by class and boundary: occurrences on the current path */
    bool *chosen; /* by class and boundary: is a candidate */
    mo_search_candidate *candidates;
    size_t n, room;
    double part;
};

static mo_status reserve_tables(mo_search_candidates *m, mo_error *err)
{
    const mo_decomp_classes *classes = m->search->classes;
    size_t n_classes = (size_t) classes->n;
    size_t n_boundaries =
        (size_t) classes->states->n * (size_t) classes->states->n;

    m->hoped_ns = calloc(n_classes, sizeof *m->hoped_ns);
    m->chosen = calloc(n_classes, n_boundaries * sizeof *m->chosen);
    m->uses = calloc(n_classes, n_boundaries * sizeof *m->uses);
    if (!m->hoped_ns || !m->chosen || !m->uses)
        return mo_fail_memory(err);
    for (int i = 0; i < classes->n; i++) {
        if (!classes->classes[i].part)
            continue;
        m->hoped_ns[i] = malloc(n_boundaries * sizeof **m->hoped_ns);
        if (!m->hoped_ns[i])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

mo_status mo_search_candidates_new(mo_search_state *search,
                                   mo_search_candidates **candidates,
                                   mo_error *err)
{
    mo_search_candidates *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->search = search;
    status = reserve_tables(m, err);
    if (status == MO_OK)
        *candidates = m;
    else
        mo_search_candidates_free(m);
    return status;
}

void mo_search_candidates_free(mo_search_candidates *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->search->classes->n && m->hoped_ns; i++)
        free(m->hoped_ns[i]);
    free(m->hoped_ns);
    free(m->chosen);
    free(m->uses);
    free(m->candidates);
    free(m);
}

/* Returns the fraction of the gap that a job at this effort level may close.
 * The first closes less than all of it: otherwise boundaries with poor
 * schedules would be tried before those of the incumbent. */
static double hope_fraction(int level)
{
    static const double part[] = { 0.85, 0.5,   0.25,  0.12,
                                   0.06, 0.035, 0.025, 0.02 };
    int n = sizeof part / sizeof *part;

    return level < n ? part[level] : 0.16 / level;
}

static int64_t hoped_ns_of(const mo_decomp_class *cls, int boundary)
{
    int64_t upper_ns = cls->upper_ns[boundary],
            lower_ns = cls->lower_ns[boundary];
    int level = cls->boundaries[boundary].level;

    if (lower_ns >= upper_ns || level >= MO_SEARCH_MAX_EFFORT_LEVEL)
        return upper_ns;
    if (upper_ns == INT64_MAX)
        return level == 0 ? lower_ns : INT64_MAX;
    return upper_ns -
           (int64_t) (hope_fraction(level) * (double) (upper_ns - lower_ns));
}

static void set_estimates(mo_search_candidates *m)
{
    mo_search_state *s = m->search;
    int n_boundaries = s->states.n * s->states.n;

    for (int i = 0; i < s->classes->n; i++) {
        const mo_decomp_class *cls = &s->classes->classes[i];

        s->path->tables[i] = cls->part ? m->hoped_ns[i] : cls->upper_ns;
        for (int p = 0; cls->part && p < n_boundaries; p++)
            m->hoped_ns[i][p] = hoped_ns_of(cls, p);
    }
}

static bool is_worth_trying(const mo_search_candidates *m, int number,
                            int boundary, bool exact)
{
    const mo_decomp_class *cls = &m->search->classes->classes[number];

    if (!cls->part ||
        cls->boundaries[boundary].level >= MO_SEARCH_MAX_EFFORT_LEVEL ||
        (exact && cls->n > MO_SEARCH_EXACT_RARE_MAX_OPS &&
         !cls->boundaries[boundary].exact_pays))
        return false;
    return m->hoped_ns[number][boundary] < cls->upper_ns[boundary];
}

/* Returns the estimated gain in ns; without a schedule, as if the upper bound
 * were twice the estimate. */
static double gain_of(const mo_search_candidates *m, int number, int boundary)
{
    int64_t upper_ns = m->search->classes->classes[number].upper_ns[boundary];
    int64_t hoped_ns = m->hoped_ns[number][boundary];

    return upper_ns == INT64_MAX ? (double) hoped_ns
                                 : (double) (upper_ns - hoped_ns);
}

/* Adds a boundary on a path and sets its estimate to its upper bound, so that
 * the next shortest path differs. */
static mo_status add_candidate(mo_search_candidates *m, int number,
                               int boundary, bool exact, double weight,
                               mo_error *err)
{
    size_t at = (size_t) number * (size_t) m->search->states.n *
                    (size_t) m->search->states.n +
                (size_t) boundary;
    mo_status status = MO_OK;

    if (!m->chosen[at]) {
        status = MO_ARRAY_GROW(m->candidates, m->n, m->room, err);
        if (status == MO_OK)
            m->candidates[m->n++] =
                (mo_search_candidate){ number, boundary, exact,
                                       weight * gain_of(m, number, boundary) };
    }
    m->chosen[at] = true;
    m->hoped_ns[number][boundary] =
        m->search->classes->classes[number].upper_ns[boundary];
    return status;
}

/* Adds the boundaries of the last path; *any: at least one was worth it. */
static mo_status add_path_candidates(mo_search_candidates *m, bool exact,
                                     double weight, bool *any, mo_error *err)
{
    const mo_search_state *s = m->search;
    size_t n_boundaries = (size_t) s->states.n * (size_t) s->states.n;
    mo_status status = MO_OK;

    *any = false;
    for (int i = 0; i < s->segments->n; i++)
        m->uses[(size_t) s->segments->cls[i] * n_boundaries +
                (size_t) mo_decomp_path_boundary(s->path, i)]++;
    for (int i = 0; i < s->segments->n && status == MO_OK; i++) {
        int number = s->segments->cls[i],
            boundary = mo_decomp_path_boundary(s->path, i);
        int *uses =
            &m->uses[(size_t) number * n_boundaries + (size_t) boundary];

        if (*uses > 0 && is_worth_trying(m, number, boundary, exact)) {
            status =
                add_candidate(m, number, boundary, exact, *uses * weight, err);
            *any = true;
        }
        *uses = 0;
    }
    return status;
}

/* Adds the boundaries on the shortest paths by the current estimates. The
 * shorter a path, the larger the weight of its boundaries. */
static mo_status add_shortest_paths(mo_search_candidates *m, bool exact,
                                    mo_error *err)
{
    mo_search_state *s = m->search;
    double most_ns = 0;
    mo_status status = MO_OK;
    bool any = true;

    for (int i = 0; i < MAX_PATHS && any && status == MO_OK; i++) {
        int64_t length_ns = mo_decomp_path_shortest(s->path);
        double saved_ns = (double) s->upper_path_ns - (double) length_ns;

        if (length_ns >= s->upper_path_ns)
            break;
        most_ns = i == 0 ? saved_ns : most_ns;
        if (i == 0 && !exact)
            m->part = saved_ns / (double) s->upper_path_ns;
        status = add_path_candidates(m, exact, saved_ns / most_ns, &any, err);
    }
    return status;
}

static int compare_candidates(const void *a, const void *b)
{
    const mo_search_candidate *s = a, *t = b;

    if (s->gain_ns != t->gain_ns)
        return s->gain_ns > t->gain_ns ? -1 : 1;
    if (s->cls != t->cls)
        return s->cls < t->cls ? -1 : 1;
    return (s->boundary > t->boundary) - (s->boundary < t->boundary);
}

mo_status mo_search_candidates_select(mo_search_candidates *m,
                                      const mo_search_candidate **chosen,
                                      size_t *n, double *part, mo_error *err)
{
    const mo_search_state *s = m->search;
    size_t n_boundaries = (size_t) s->states.n * (size_t) s->states.n;
    mo_status status;

    m->n = 0;
    m->part = 0;
    memset(m->chosen, 0,
           (size_t) s->classes->n * n_boundaries * sizeof *m->chosen);
    set_estimates(m);
    status = add_shortest_paths(m, false, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < s->classes->n; i++)
        if (s->classes->classes[i].part)
            memcpy(m->hoped_ns[i], s->classes->classes[i].lower_ns,
                   n_boundaries * sizeof **m->hoped_ns);
    status = add_shortest_paths(m, true, err);
    if (m->n > 1)
        qsort(m->candidates, m->n, sizeof *m->candidates, compare_candidates);
    *chosen = m->candidates;
    *n = m->n;
    *part = m->part;
    return status;
}
