/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/decomp/segmentation.h"

#include <stdlib.h>

#include "graph/cut.h"
#include "solvers/search/decomp/equiv_class.h"

/* State of the encoder that writes segments as keys. */
typedef struct encoder {
    const mo_decomp_segments *segments;
    mo_regime regime;
    int *group_number; /* by group: number within the segment, from 1 on */
    int64_t *seen;     /* by group: the encoding that its number is of */
    int64_t encoding;
    int n_groups; /* in the segment so far */
} encoder;

/* Groups are numbered in the order of their first ops in the segment. */
static int group_number_of(encoder *w, int op)
{
    int group = w->segments->x->group[op];

    if (group == MO_FREE)
        return 0;
    if (w->seen[group] != w->encoding) {
        w->seen[group] = w->encoding;
        w->group_number[group] = ++w->n_groups;
    }
    return w->group_number[group];
}

static mo_status encode_flow(const encoder *w, int first, int flow,
                             mo_decomp_key *to, mo_error *err)
{
    const mo_instance *x = w->segments->x;
    int tensor = x->flows[flow].tensor;
    mo_status status = mo_decomp_key_append(to, x->flows[flow].to - first, err);

    if (status == MO_OK)
        status = mo_decomp_key_append(
            to, tensor - x->flows[x->out_start[x->flows[flow].from]].tensor,
            err);
    if (status == MO_OK)
        status = mo_decomp_key_append(to,
                                      w->regime.tensors == MO_TENSORS_ONCE
                                          ? x->tensor_row[tensor]
                                          : x->flow_row[flow],
                                      err);
    if (status == MO_OK && w->regime.memory == MO_MEMORY_LIVE)
        status = mo_decomp_key_append(to, x->tensor_bytes[tensor], err);
    return status;
}

static mo_status encode_flows(const encoder *w, int first, int op,
                              mo_decomp_key *to, mo_error *err)
{
    const mo_instance *x = w->segments->x;
    mo_status status =
        mo_decomp_key_append(to, x->out_start[op + 1] - x->out_start[op], err);

    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++)
        status = encode_flow(w, first, q, to, err);
    return status;
}

static mo_status encode_segment(void *context, int segment, mo_decomp_key *to,
                                mo_error *err)
{
    encoder *w = context;
    const mo_decomp_segments *p = w->segments;
    int u = mo_decomp_segment_entry(p, segment),
        v = mo_decomp_segment_exit(p, segment);
    int first = mo_decomp_segment_first_op(p, segment),
        last = mo_decomp_segment_last_op(p, segment);
    mo_status status =
        mo_decomp_key_append(to, (u != MO_FREE) * 2 + (v != MO_FREE), err);

    w->n_groups = 0;
    w->encoding++;
    for (int i = first; i <= last && status == MO_OK; i++) {
        status = mo_decomp_key_append(to, p->x->pin[i], err);
        if (status == MO_OK)
            status = mo_decomp_key_append(to, group_number_of(w, i), err);
        if (status == MO_OK && i != u) {
            /* Appends times and memory of the op; those of u belong to the
             * segment before. */
            for (int k = 0; k < w->segments->x->n_devices && status == MO_OK;
                 k++)
                status = mo_decomp_key_append(
                    to, mo_instance_p_ns(w->segments->x, i, k), err);
            if (w->regime.memory != MO_MEMORY_NONE && status == MO_OK)
                status = mo_decomp_key_append(
                    to, w->segments->x->memory_bytes[i], err);
            if (w->regime.memory == MO_MEMORY_LIVE && status == MO_OK)
                status = mo_decomp_key_append(
                    to, w->segments->x->weight_bytes[i], err);
        }
        if (status == MO_OK && i != v)
            status = encode_flows(w, first, i, to, err);
    }
    return status;
}

static mo_status count_classes(mo_decomp_segments *p,
                               const mo_decomp_equiv *equiv, mo_error *err)
{
    p->n_classes = mo_decomp_equiv_n_classes(equiv);
    p->first = calloc((size_t) p->n_classes + 1, sizeof *p->first);
    p->count = calloc((size_t) p->n_classes + 1, sizeof *p->count);
    if (!p->first || !p->count)
        return mo_fail_memory(err);
    for (int cls = 0; cls < p->n_classes; cls++)
        p->first[cls] = mo_decomp_equiv_representative(equiv, cls);
    for (int i = 0; i < p->n; i++)
        p->count[p->cls[i]]++;
    return MO_OK;
}

static mo_status find_classes(mo_decomp_segments *p, const mo_regime *regime,
                              mo_error *err)
{
    size_t n_groups = (size_t) p->x->n_groups + 1;
    encoder w = { .segments = p, .regime = *regime };
    mo_decomp_equiv *equiv = NULL;
    mo_status status = mo_decomp_equiv_new(encode_segment, &w, &equiv, err);

    w.group_number = calloc(n_groups, sizeof *w.group_number);
    w.seen = calloc(n_groups, sizeof *w.seen);
    p->cls = calloc((size_t) p->n, sizeof *p->cls);
    if (status == MO_OK && (!w.group_number || !w.seen || !p->cls))
        status = mo_fail_memory(err);
    for (int i = 0; i < p->n && status == MO_OK; i++)
        status = mo_decomp_equiv_class_of(equiv, i, &p->cls[i], err);
    if (status == MO_OK)
        status = count_classes(p, equiv, err);
    mo_decomp_equiv_free(equiv);
    free(w.group_number);
    free(w.seen);
    return status;
}

/* Sets over[i], for op i, to the number of groups with ops on both sides of
 * it. */
static void count_spanning_groups(const mo_instance *x, int *least, int *most,
                                  int *over)
{
    for (int i = 0; i < x->n; i++) {
        int group = x->group[i];
        if (group == MO_FREE)
            continue;
        if (most[group] == 0)
            least[group] = i;
        most[group] = i + 1;
    }
    for (int g = 0; g < x->n_groups; g++)
        if (most[g] > least[g] + 1) {
            over[least[g] + 1]++;
            over[most[g] - 1]--;
        }
    for (int i = 1; i < x->n; i++)
        over[i] += over[i - 1];
    for (int i = 0; i < x->n; i++) {
        int group = x->group[i];
        if (group != MO_FREE && least[group] < i && i < most[group] - 1)
            over[i]--;
    }
}

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
    count_spanning_groups(x, numbers, numbers + n_groups, over);
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
    if (status == MO_OK)
        status = find_classes(p, regime, err);
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
