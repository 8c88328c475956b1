/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/decomp/segmentation.h"

#include <stdlib.h>

#include "graph/cut.h"
#include "schedule/bound/segment_classes.h"

/* Drops the cuts that a group spans. */
static mo_status drop_spanned_cuts(const mo_instance *x, int *cuts, int *n_cuts,
                                   mo_error *err)
{
    size_t n_groups = (size_t) x->n_groups;
    int *numbers = calloc(2 * n_groups + (size_t) x->n + 2, sizeof *numbers);
    int *over, n = 0;

    if (!numbers)
        return mo_fail_memory(err);
    over = numbers + 2 * n_groups;

    /* Sets over[i], for op i, to the number of groups with ops on both sides of
     * it. */
    int *most = numbers + n_groups;

    for (int i = 0; i < x->n; i++) {
        int group = x->group[i];
        if (group == MO_FREE)
            continue;
        if (most[group] == 0)
            numbers[group] = i;
        most[group] = i + 1;
    }
    for (int g = 0; g < x->n_groups; g++)
        if (most[g] > numbers[g] + 1) {
            over[numbers[g] + 1]++;
            over[most[g] - 1]--;
        }
    for (int i = 1; i < x->n; i++)
        over[i] += over[i - 1];
    for (int i = 0; i < x->n; i++) {
        int group = x->group[i];
        if (group != MO_FREE && numbers[group] < i && i < most[group] - 1)
            over[i]--;
    }
    for (int c = 0; c < *n_cuts; c++)
        if (over[cuts[c]] == 0)
            cuts[n++] = cuts[c];
    *n_cuts = n;
    free(numbers);
    return MO_OK;
}

mo_status mo_decomp_segments_find(const mo_instance *x, const mo_regime *regime,
                                  bool use_cuts, mo_decomp_segments **segments,
                                  mo_error *err)
{
    mo_decomp_segments *p = calloc(1, sizeof *p);
    mo_status status = MO_OK;

    if (!p)
        return mo_fail_memory(err);
    p->x = x;
    p->n = 1;
    if (use_cuts) {
        int n_cuts = 0;
        mo_dag dag = mo_instance_dag(p->x);

        status = mo_dag_clean_cuts(&dag, &p->cut, &n_cuts, err);
        if (status == MO_OK && n_cuts > 0 && p->x->n_groups > 0)
            status = drop_spanned_cuts(p->x, p->cut, &n_cuts, err);
        if (status == MO_OK)
            p->n = n_cuts + 1;
    }
    if (status == MO_OK) {
        /* Classifies the segments as mo_bound_segment, whose ops are
         * consecutive. */
        const mo_allowed_devices domains = { p->x, *regime, NULL };
        size_t n = (size_t) p->n;
        int *ops = malloc(((size_t) p->x->n + 1) * sizeof *ops);
        mo_segment_classifier *classifier = NULL;
        status =
            mo_segment_classifier_new(MO_SEGMENT_SCHEDULES, &classifier, err);

        p->cls = calloc(n, sizeof *p->cls);
        p->first = calloc(n + 1, sizeof *p->first);
        p->count = calloc(n + 1, sizeof *p->count);
        if (status == MO_OK && (!ops || !p->cls || !p->first || !p->count))
            status = mo_fail_memory(err);
        for (int i = 0; i < p->x->n && status == MO_OK; i++)
            ops[i] = i;
        for (int i = 0; i < p->n && status == MO_OK; i++) {
            mo_bound_segment s = { mo_decomp_segment_entry(p, i),
                                   mo_decomp_segment_exit(p, i), NULL, 0 };
            int first = mo_decomp_segment_first_op(p, i) + (s.u != MO_FREE);

            s.ops = ops + first;
            s.n =
                mo_decomp_segment_last_op(p, i) + 1 - (s.v != MO_FREE) - first;
            status = mo_segment_classifier_add(classifier, &domains, &s,
                                               &p->cls[i], err);
            if (status == MO_OK && p->count[p->cls[i]]++ == 0)
                p->first[p->n_classes++] = i;
        }
        mo_segment_classifier_free(classifier);
        free(ops);
    }
    if (status == MO_OK)
        *segments = p;
    else
        mo_decomp_segments_free(p);
    return status;
}

void mo_decomp_segments_free(mo_decomp_segments *p)
{
    if (!p)
        return;
    free(p->cut);
    free(p->cls);
    free(p->first);
    free(p->count);
    free(p);
}
