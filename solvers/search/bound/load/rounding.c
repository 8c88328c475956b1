/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounding: the patterns of a group, one after the other, divide the branches
 * of each class by their weights; a branch follows the pattern that its middle
 * falls into.  Patterns are in lexicographic order, roots first, so that
 * neighbours differ little and the sums of devices are rounded once.
 */
#include "solvers/search/bound/load/load_bound_internal.h"

static double weight_of(const mo_load_lp_solution *s, int group, size_t i)
{
    return s->patterns[i].group == group && s->weight[i] > 0 ? s->weight[i] : 0;
}

/* Whether pattern i comes before j, which have n ops. */
static bool is_before(const mo_load_lp_solution *s, size_t i, size_t j, int n)
{
    for (int o = n - 1; o >= 0; o--) {
        int a = s->patterns[i].device[o], b = s->patterns[j].device[o];

        if (a != b)
            return a < b;
    }
    return i < j;
}

/* Returns the pattern of a group at this part of the sum of its weights. */
static size_t pattern_at(const mo_load_problem *f, const mo_load_lp_solution *s,
                         int group, double part)
{
    int n = f->group_start[group + 1] - f->group_start[group];
    size_t last = s->n;
    double sum = 0;

    for (;;) {
        size_t next = s->n;

        for (size_t i = 0; i < s->n; i++)
            if (weight_of(s, group, i) > 0 &&
                (last == s->n || is_before(s, last, i, n)) &&
                (next == s->n || is_before(s, i, next, n)))
                next = i;
        if (next == s->n)
            return last;
        last = next;
        sum += weight_of(s, group, last);
        if (sum >= part)
            return last;
    }
}

bool mo_load_round_solution(const mo_load_problem *f,
                            mo_load_lp_solution solution)
{
    int first = 0;

    for (int c = 0; c < f->fork->n_classes; c++) {
        const mo_forkjoin_class *class = &f->fork->classes[c];
        /* The group of the class's first op. */
        int group = 0;

        while (f->group_start[group + 1] <= first)
            group++;
        double total = 0;

        for (size_t i = 0; i < solution.n; i++)
            total += weight_of(&solution, group, i);
        if (total <= 0)
            return false;
        for (int r = 0; r < class->count; r++) {
            size_t at = pattern_at(f, &solution, group,
                                   total * (r + 0.5) / class->count);

            for (int j = 0; j < class->n; j++)
                f->rounded[class->members[r * class->n + j]] =
                    solution.patterns[at]
                        .device[first + j - f->group_start[group]];
        }
        first += class->n;
    }
    return true;
}
