/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of the memory constraint (1d). */
#include <stdio.h>
#include <stdlib.h>

#include "schedule/validate/validate_internal.h"

/*
 * (1d).  Static, and where there is no limit: the sum of memory_bytes over the
 * ops of a device.  Live: weights all the time; the rest of an op's memory
 * while it runs; a tensor on its producer's device from that op's start until
 * the last reader and the last transfer there have ended; a copy from the
 * start of its transfer until its last reader has ended.  At one moment, ends
 * come first, then starts, and those that take no time end last: an op that
 * takes no time has its inputs, outputs and workspace beside each other, as if
 * it took 1 ns.  Ops on a device run one after the other, so of the workspaces
 * of those that share a moment because they take no time the largest counts.
 * Sums are 128 bits wide: no number of tensors overflows them.
 */

__extension__ typedef __int128 int128;

enum phase { ENDS, BEGINS, SPIKE, ENDS_AT_ONCE };

typedef struct change {
    int64_t at_ns;
    int device;
    enum phase phase;
    bool work;     /* workspace of a running op */
    int64_t bytes; /* below 0 at an end */
} change;

typedef struct live_state {
    mo_validate_state *j;
    change *changes;
    size_t n;
    int64_t *home_until_ns; /* by tensor */
    int64_t *copy_until_ns; /* by transfer */
    int128 *now, *most;     /* by device */
    int128 *work;           /* the share of running ops in now */
    int64_t *when_ns;       /* time of the peak */
} live_state;

static int64_t clamp_bytes(int128 bytes)
{
    return bytes < INT64_MAX ? (int64_t) bytes : INT64_MAX;
}

static void check_capacity(mo_validate_state *j, int device, int128 bytes,
                           const char *when)
{
    int64_t capacity = j->x->capacity_bytes[device];

    j->verdict->peak_bytes[device] = clamp_bytes(bytes);
    if (j->s->regime.memory == MO_MEMORY_NONE || capacity == INT64_MAX ||
        bytes <= capacity)
        return;
    mo_validate_add_violation(
        j, MO_VIOLATION_MEMORY, clamp_bytes(bytes - capacity),
        "device %s needs %lld bytes%s and has %lld, %lld too few",
        mo_validate_label_device(j->x, device).text,
        (long long) clamp_bytes(bytes), when, (long long) capacity,
        (long long) clamp_bytes(bytes - capacity));
}

static void raise_to(int64_t *value, int64_t least)
{
    if (*value < least)
        *value = least;
}

/* Returns when the buffers that the op uses can be freed. */
static int64_t released_ns(const mo_validate_state *j, int op)
{
    return j->end_ns[op] == j->start_ns[op] && j->end_ns[op] < INT64_MAX
               ? j->end_ns[op] + 1
               : j->end_ns[op];
}

/* Raises the lifetime of what the reader of the flow reads to the reader's
 * end. */
static void extend_lifetime(live_state *l, int flow)
{
    const mo_validate_state *j = l->j;
    const mo_flow *f = &j->x->flows[flow];
    int item = j->s->regime.tensors == MO_TENSORS_ONCE ? f->tensor : flow;
    int to = j->device[f->to];
    const mo_transfer *t = mo_validate_find_transfer(j, item, to);

    if (to == MO_FREE)
        return;
    if (to == j->device[f->from])
        raise_to(&l->home_until_ns[f->tensor], released_ns(j, f->to));
    else if (t)
        raise_to(&l->copy_until_ns[t - j->sent], released_ns(j, f->to));
}

static void add_lifetime(live_state *l, int device, int64_t from_ns,
                         int64_t until_ns, int64_t bytes)
{
    if (device == MO_FREE || bytes <= 0)
        return;
    l->changes[l->n++] = (change){ from_ns, device, BEGINS, false, bytes };
    l->changes[l->n++] =
        (change){ until_ns, device, until_ns > from_ns ? ENDS : ENDS_AT_ONCE,
                  false, -bytes };
}

static void add_workspace(live_state *l, int op)
{
    const mo_validate_state *j = l->j;
    int device = j->device[op];
    int64_t bytes = j->x->memory_bytes[op] - j->x->weight_bytes[op];
    int64_t from_ns = j->start_ns[op], until_ns = j->end_ns[op];

    if (device == MO_FREE || bytes <= 0)
        return;
    if (from_ns == until_ns) {
        l->changes[l->n++] = (change){ from_ns, device, SPIKE, true, bytes };
        return;
    }
    l->changes[l->n++] = (change){ from_ns, device, BEGINS, true, bytes };
    l->changes[l->n++] = (change){ until_ns, device, ENDS, true, -bytes };
}

static int compare_changes(const void *a, const void *b)
{
    const change *s = a, *t = b;
    int by = mo_validate_compare(s->at_ns, t->at_ns);

    if (by == 0)
        by = mo_validate_compare(s->phase, t->phase);
    if (by == 0)
        by = mo_validate_compare(s->device, t->device);
    return by != 0 ? by : mo_validate_compare(s->bytes, t->bytes);
}

static void check_live(live_state *l)
{
    for (int t = 0; t < l->j->x->n_tensors; t++)
        l->home_until_ns[t] = l->j->end_ns[l->j->x->tensor_from[t]];
    for (int t = 0; t < l->j->n_sent; t++) {
        l->copy_until_ns[t] = l->j->sent[t].end_ns;
        raise_to(
            &l->home_until_ns[mo_validate_tensor(l->j, l->j->sent[t].item)],
            l->j->sent[t].end_ns);
    }
    for (int q = 0; q < l->j->x->n_flows; q++)
        extend_lifetime(l, q);
    for (int i = 0; i < l->j->x->n; i++)
        if (l->j->device[i] != MO_FREE)
            l->now[l->j->device[i]] += l->j->x->weight_bytes[i];
    for (int k = 0; k < l->j->x->n_devices; k++)
        l->most[k] = l->now[k];
    const mo_validate_state *j = l->j;
    const mo_instance *x = j->x;

    for (int i = 0; i < x->n; i++)
        add_workspace(l, i);
    for (int t = 0; t < x->n_tensors; t++)
        add_lifetime(l, j->device[x->tensor_from[t]],
                     j->start_ns[x->tensor_from[t]], l->home_until_ns[t],
                     x->tensor_bytes[t]);
    for (int t = 0; t < j->n_sent; t++)
        add_lifetime(l, j->sent[t].to, j->sent[t].start_ns, l->copy_until_ns[t],
                     x->tensor_bytes[mo_validate_tensor(j, j->sent[t].item)]);
    if (l->n > 1)
        qsort(l->changes, l->n, sizeof *l->changes, compare_changes);
    for (size_t i = 0; i < l->n; i++) {
        const change *c = &l->changes[i];
        int128 beside = 0; /* above the workspace already in use */

        if (c->phase == SPIKE) {
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
    for (int k = 0; k < l->j->x->n_devices; k++) {
        mo_validate_label moment;

        snprintf(moment.text, sizeof moment.text, " at %.60s",
                 mo_validate_label_us(l->when_ns[k]).text);
        check_capacity(l->j, k, l->most[k], moment.text);
    }
}

mo_status mo_validate_memory(mo_validate_state *j, mo_error *err)
{
    int128 *sums = calloc(3 * (size_t) j->x->n_devices + 1, sizeof *sums);
    mo_status status = MO_OK;

    if (!sums)
        return mo_fail_memory(err);
    if (j->s->regime.memory == MO_MEMORY_LIVE) {
        size_t n_devices = (size_t) j->x->n_devices;
        size_t n_tensors = (size_t) j->x->n_tensors,
               n_sent = (size_t) j->n_sent;
        size_t n_held = (size_t) j->x->n + n_tensors + n_sent;
        live_state l = { .j = j,
                         .now = sums,
                         .most = sums + n_devices,
                         .work = sums + 2 * n_devices };

        status = MO_OK;
        l.changes = calloc(n_held + 1, 2 * sizeof *l.changes);
        l.home_until_ns = calloc(n_tensors + 1, sizeof *l.home_until_ns);
        l.copy_until_ns = calloc(n_sent + 1, sizeof *l.copy_until_ns);
        l.when_ns = calloc(n_devices + 1, sizeof *l.when_ns);
        if (l.changes && l.home_until_ns && l.copy_until_ns && l.when_ns)
            check_live(&l);
        else
            status = mo_fail_memory(err);
        free(l.changes);
        free(l.home_until_ns);
        free(l.copy_until_ns);
        free(l.when_ns);
    } else {
        for (int i = 0; i < j->x->n; i++)
            if (j->device[i] != MO_FREE)
                sums[j->device[i]] += j->x->memory_bytes[i];
        for (int k = 0; k < j->x->n_devices; k++)
            check_capacity(j, k, sums[k], "");
    }
    free(sums);
    return status;
}
