/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "schedule/validate/validate_internal.h"

/*
 * (1d).  Static, and where there is no limit: what all ops on a device ask for.
 * Live: weights all the time; the rest of an op's memory while it runs; a
 * tensor on its producer's device from that op's start until nobody there reads
 * or sends it any more; what a transfer brings from its start until it has been
 * read.  At one moment things first end, then begin, and those that take no
 * time end last.  Ops on a device run one after the other, so of those that
 * share a moment because they take no time the largest counts.  Sums are wide:
 * no number of tensors overflows them.
 */

__extension__ typedef __int128 wide;

enum phase { ENDS, BEGINS, PASSES_BY, IS_OVER_AT_ONCE };

typedef struct change {
    int64_t at_ns;
    int device;
    enum phase phase;
    bool work;     /* of a running op */
    int64_t bytes; /* below 0 at an end */
} change;

typedef struct live {
    mo_validate_state *j;
    change *changes;
    size_t n;
    int64_t *home_until_ns; /* by tensor */
    int64_t *copy_until_ns; /* by transfer */
    wide *now, *most;       /* by device */
    wide *work;             /* of what is now: of running ops */
    int64_t *when_ns;       /* it was that much */
} live;

static int64_t clamped(wide bytes)
{
    return bytes < INT64_MAX ? (int64_t) bytes : INT64_MAX;
}

static void check_capacity(mo_validate_state *j, int device, wide bytes,
                           const char *when)
{
    int64_t capacity = j->x->capacity_bytes[device];

    j->verdict->peak_bytes[device] = clamped(bytes);
    if (j->s->regime.memory == MO_MEMORY_NONE || capacity == INT64_MAX ||
        bytes <= capacity)
        return;
    mo_validate_add_violation(
        j, MO_VIOLATION_MEMORY, clamped(bytes - capacity),
        "device %s needs %lld bytes%s and has %lld, %lld too few",
        mo_validate_label_device(j->x, device).text, (long long) clamped(bytes),
        when, (long long) capacity, (long long) clamped(bytes - capacity));
}

static void judge_static(mo_validate_state *j, wide *sum)
{
    for (int i = 0; i < j->x->n; i++)
        if (j->device[i] != MO_FREE)
            sum[j->device[i]] += j->x->memory_bytes[i];
    for (int k = 0; k < j->x->n_devices; k++)
        check_capacity(j, k, sum[k], "");
}

static void raise_to(int64_t *value, int64_t least)
{
    if (*value < least)
        *value = least;
}

/* The reader at the end of the flow keeps what it reads. */
static void read_flow(live *l, int flow)
{
    const mo_validate_state *j = l->j;
    const mo_flow *f = &j->x->flows[flow];
    int item = j->s->regime.tensors == MO_TENSORS_ONCE ? f->tensor : flow;
    int to = j->device[f->to];
    const mo_transfer *t = mo_validate_find_transfer(j, item, to);

    if (to == MO_FREE)
        return;
    if (to == j->device[f->from])
        raise_to(&l->home_until_ns[f->tensor], j->end_ns[f->to]);
    else if (t)
        raise_to(&l->copy_until_ns[t - j->sent], j->end_ns[f->to]);
}

static void find_ends(live *l)
{
    const mo_validate_state *j = l->j;

    for (int t = 0; t < j->x->n_tensors; t++)
        l->home_until_ns[t] = j->end_ns[j->x->tensor_from[t]];
    for (int t = 0; t < j->n_sent; t++) {
        l->copy_until_ns[t] = j->sent[t].end_ns;
        raise_to(&l->home_until_ns[mo_validate_tensor(j, j->sent[t].item)],
                 j->sent[t].end_ns);
    }
    for (int q = 0; q < j->x->n_flows; q++)
        read_flow(l, q);
}

static void hold(live *l, int device, int64_t from_ns, int64_t until_ns,
                 int64_t bytes)
{
    if (device == MO_FREE || bytes <= 0)
        return;
    l->changes[l->n++] = (change){ from_ns, device, BEGINS, false, bytes };
    l->changes[l->n++] =
        (change){ until_ns, device, until_ns > from_ns ? ENDS : IS_OVER_AT_ONCE,
                  false, -bytes };
}

static void hold_workspace(live *l, int op)
{
    const mo_validate_state *j = l->j;
    int device = j->device[op];
    int64_t bytes = j->x->memory_bytes[op] - j->x->weight_bytes[op];
    int64_t from_ns = j->start_ns[op], until_ns = j->end_ns[op];

    if (device == MO_FREE || bytes <= 0)
        return;
    if (from_ns == until_ns) {
        l->changes[l->n++] =
            (change){ from_ns, device, PASSES_BY, true, bytes };
        return;
    }
    l->changes[l->n++] = (change){ from_ns, device, BEGINS, true, bytes };
    l->changes[l->n++] = (change){ until_ns, device, ENDS, true, -bytes };
}

static void hold_all(live *l)
{
    const mo_validate_state *j = l->j;
    const mo_instance *x = j->x;

    for (int i = 0; i < x->n; i++)
        hold_workspace(l, i);
    for (int t = 0; t < x->n_tensors; t++)
        hold(l, j->device[x->tensor_from[t]], j->start_ns[x->tensor_from[t]],
             l->home_until_ns[t], x->tensor_bytes[t]);
    for (int t = 0; t < j->n_sent; t++)
        hold(l, j->sent[t].to, j->sent[t].start_ns, l->copy_until_ns[t],
             x->tensor_bytes[mo_validate_tensor(j, j->sent[t].item)]);
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_changes(const void *a, const void *b)
{
    const change *s = a, *t = b;
    int by = order(s->at_ns, t->at_ns);

    if (by == 0)
        by = order(s->phase, t->phase);
    if (by == 0)
        by = order(s->device, t->device);
    return by != 0 ? by : order(s->bytes, t->bytes);
}

static void add_up(live *l)
{
    if (l->n > 1)
        qsort(l->changes, l->n, sizeof *l->changes, compare_changes);
    for (size_t i = 0; i < l->n; i++) {
        const change *c = &l->changes[i];
        wide beside = 0; /* more than is running already */

        if (c->phase == PASSES_BY) {
            if (c->bytes > l->work[c->device])
                beside = c->bytes - l->work[c->device];
        } else {
            l->now[c->device] += c->bytes;
            l->work[c->device] += c->work ? c->bytes : 0;
        }
        if (l->now[c->device] + beside > l->most[c->device]) {
            l->most[c->device] = l->now[c->device] + beside;
            l->when_ns[c->device] = c->at_ns;
        }
    }
}

static void hold_weights(live *l)
{
    const mo_validate_state *j = l->j;

    for (int i = 0; i < j->x->n; i++)
        if (j->device[i] != MO_FREE)
            l->now[j->device[i]] += j->x->weight_bytes[i];
    for (int k = 0; k < j->x->n_devices; k++)
        l->most[k] = l->now[k];
}

static mo_validate_label shown_moment(int64_t at_ns)
{
    mo_validate_label shown;

    snprintf(shown.text, sizeof shown.text, " at %.60s",
             mo_validate_label_us(at_ns).text);
    return shown;
}

static void judge_live(live *l)
{
    find_ends(l);
    hold_weights(l);
    hold_all(l);
    add_up(l);
    for (int k = 0; k < l->j->x->n_devices; k++)
        check_capacity(l->j, k, l->most[k], shown_moment(l->when_ns[k]).text);
}

static mo_status find_live(mo_validate_state *j, wide *sums, mo_error *err)
{
    size_t n_devices = (size_t) j->x->n_devices;
    size_t n_tensors = (size_t) j->x->n_tensors, n_sent = (size_t) j->n_sent;
    size_t n_held = (size_t) j->x->n + n_tensors + n_sent;
    live l = { .j = j,
               .now = sums,
               .most = sums + n_devices,
               .work = sums + 2 * n_devices };
    mo_status status = MO_OK;

    l.changes = calloc(n_held + 1, 2 * sizeof *l.changes);
    l.home_until_ns = calloc(n_tensors + 1, sizeof *l.home_until_ns);
    l.copy_until_ns = calloc(n_sent + 1, sizeof *l.copy_until_ns);
    l.when_ns = calloc(n_devices + 1, sizeof *l.when_ns);
    if (l.changes && l.home_until_ns && l.copy_until_ns && l.when_ns)
        judge_live(&l);
    else
        status = mo_fail_memory(err);
    free(l.changes);
    free(l.home_until_ns);
    free(l.copy_until_ns);
    free(l.when_ns);
    return status;
}

mo_status mo_validate_memory(mo_validate_state *j, mo_error *err)
{
    wide *sums = calloc(3 * (size_t) j->x->n_devices + 1, sizeof *sums);
    mo_status status = MO_OK;

    if (!sums)
        return mo_fail_memory(err);
    if (j->s->regime.memory == MO_MEMORY_LIVE)
        status = find_live(j, sums, err);
    else
        judge_static(j, sums);
    free(sums);
    return status;
}
