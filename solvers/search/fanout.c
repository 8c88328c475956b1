#include "solvers/search/fanout.h"

#include <stdlib.h>
#include <string.h>

#include "solvers/search/loads.h"
#include "solvers/search/windows.h"

/*
 * That all is done within T is assumed and led to a contradiction: with one of
 * the ops that many read on one of its devices, either some op has no window
 * left, or the loads are too much for what lies in the windows.  Then that
 * device is taken away, and where the last one is gone, the least time is more
 * than T.
 */

enum {
    MOST_FANS = 3,
    LEAST_READERS = 4,
    MOST_CYCLES = 3,    /* over the fans, for one T */
    FINENESS = 1000,    /* of the bound, against itself */
    MOST_WORK = 1 << 18 /* ops and flows by pairs of devices */
};

/* An op of the chain, and how many flows leave it for where the chain's next
 * block is not. */
typedef struct fan {
    int op, readers;
} fan;

typedef struct fanout {
    mo_windows *windows;
    mo_loads *loads;
    const mo_kind *kind;
    int pair;
    fan fans[MOST_FANS]; /* most readers first */
    int n_fans;
    bool *allowed; /* what is not refuted yet */
    size_t size;   /* of that */
    const mo_stop *stop;
} fanout;

/* Keeps the fans sorted; of equals the first stays in front. */
static void add_fan(fanout *f, fan new)
{
    int at = f->n_fans;

    if (new.readers < LEAST_READERS)
        return;
    while (at > 0 && f->fans[at - 1].readers < new.readers)
        at--;
    if (at == MOST_FANS)
        return;
    if (f->n_fans < MOST_FANS)
        f->n_fans++;
    memmove(f->fans + at + 1, f->fans + at,
            (size_t) (f->n_fans - 1 - at) * sizeof *f->fans);
    f->fans[at] = new;
}

static mo_status find_fans(fanout *f, mo_error *err)
{
    const mo_instance *x = f->windows->places.x;
    const mo_chain *chain = f->windows->chained->chain;
    int *segment_of = malloc((size_t) x->n * sizeof *segment_of);

    if (!segment_of)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        segment_of[i] = f->windows->ends[i];
    for (int s = 0; s < chain->n; s++)
        for (int i = 0; i < chain->segments[s].n; i++)
            segment_of[chain->segments[s].ops[i]] = s;
    for (int s = 0; s < chain->n; s++) {
        fan new = { chain->segments[s].u, 0 };

        if (new.op == MO_FREE)
            continue;
        for (int q = x->out_start[new.op]; q < x->out_start[new.op + 1]; q++)
            new.readers += segment_of[x->flows[q].to] != s;
        add_fan(f, new);
    }
    free(segment_of);
    return MO_OK;
}

static void recall(fanout *f)
{
    memcpy(f->windows->places.allowed, f->allowed, f->size);
}

static void keep(fanout *f)
{
    memcpy(f->allowed, f->windows->places.allowed, f->size);
}

/* Whether the op cannot be on that device, within the time. */
static mo_status refute_case(fanout *f, int op, int k, int64_t time_ns,
                             bool *refuted, mo_error *err)
{
    mo_windows *w = f->windows;
    int64_t at = mo_places_at(&w->places, op, k);

    mo_windows_hold(w, op, k);
    *refuted = !mo_windows_narrow(w, time_ns);
    if (*refuted)
        return MO_OK;
    return mo_loads_refute(f->loads, time_ns,
                           w->head_ns[at] + w->places.x->p_ns[at], refuted,
                           err);
}

/* Takes devices of an op away; *fails where none is left, *any if any. */
static mo_status look_at_fan(fanout *f, int op, int64_t time_ns, bool *any,
                             bool *fails, mo_error *err)
{
    mo_windows *w = f->windows;
    bool left = false;
    mo_status status = MO_OK;

    for (int k = 0; k < w->places.x->n_devices && status == MO_OK; k++) {
        int64_t at = mo_places_at(&w->places, op, k);
        bool refuted = false;

        if (!f->allowed[at])
            continue;
        if (!mo_stop_now(f->stop))
            status = refute_case(f, op, k, time_ns, &refuted, err);
        f->allowed[at] = !refuted;
        *any = *any || refuted;
        left = left || !refuted;
        recall(f);
    }
    *fails = status == MO_OK && !left;
    return status;
}

/* What the kind allows, its ends where the pair has them. */
static void begin(fanout *f)
{
    int n = f->windows->places.x->n_devices;

    memcpy(f->windows->places.allowed, f->windows->chained->places.allowed,
           f->size);
    if (f->kind->u != MO_FREE)
        mo_windows_hold(f->windows, f->kind->u, f->pair / n);
    if (f->kind->v != MO_FREE)
        mo_windows_hold(f->windows, f->kind->v, f->pair % n);
}

/* *fails: it cannot be done within the time. */
static mo_status refute(fanout *f, int64_t time_ns, bool *fails, mo_error *err)
{
    mo_status status = MO_OK;
    bool any = true;

    begin(f);
    *fails = false;
    for (int i = 0; i < MOST_CYCLES && any && !*fails && status == MO_OK; i++) {
        any = false;
        *fails = !mo_windows_narrow(f->windows, time_ns);
        keep(f);
        for (int j = 0; j < f->n_fans && !*fails && status == MO_OK; j++)
            status = look_at_fan(f, f->fans[j].op, time_ns, &any, fails, err);
    }
    return status;
}

/* Halves what lies between the proven and the wanted. */
static mo_status approach(fanout *f, int64_t most_ns, int64_t *lower_ns,
                          mo_error *err)
{
    int64_t wanted_ns = most_ns;
    mo_status status = MO_OK;

    while (status == MO_OK && !mo_stop_now(f->stop) &&
           most_ns - *lower_ns > *lower_ns / FINENESS) {
        bool fails;

        status = refute(f, wanted_ns - 1, &fails, err);
        if (status == MO_OK && fails)
            *lower_ns = wanted_ns;
        else
            most_ns = wanted_ns;
        wanted_ns = *lower_ns + (most_ns - *lower_ns) / 2;
    }
    return status;
}

static mo_status open_fanout(fanout *f, const mo_blocks *blocks, int kind,
                             mo_error *err)
{
    const mo_instance *x = blocks->kinds->kinds[kind].part->x;
    mo_status status = mo_windows_new(blocks, kind, &f->windows, err);

    f->kind = &blocks->kinds->kinds[kind];
    f->size = (size_t) x->n * (size_t) x->n_devices * sizeof *f->allowed;
    if (status == MO_OK)
        status = find_fans(f, err);
    if (status != MO_OK || f->n_fans == 0)
        return status;
    f->allowed = malloc(f->size);
    return f->allowed ? mo_loads_new(f->windows, &f->loads, err)
                      : mo_fail_memory(err);
}

static void close_fanout(fanout *f)
{
    free(f->allowed);
    mo_loads_free(f->loads);
    mo_windows_free(f->windows);
}

mo_status mo_fanout_bound(const mo_blocks *blocks, int kind, int pair,
                          int64_t most_ns, const mo_stop *stop,
                          int64_t *lower_ns, mo_error *err)
{
    fanout f = { .pair = pair, .stop = stop };
    mo_status status = open_fanout(&f, blocks, kind, err);

    if (status == MO_OK && f.n_fans > 0)
        status = approach(&f, most_ns, lower_ns, err);
    close_fanout(&f);
    return status;
}

static bool is_too_large(const mo_instance *x)
{
    int64_t n_pairs = (int64_t) x->n_devices * x->n_devices;

    return ((int64_t) x->n + x->n_flows) * n_pairs > MOST_WORK ||
           x->n_links > MOST_WORK;
}

static mo_status raise_kind(mo_search *s, int number, int64_t gap_ns,
                            mo_error *err)
{
    mo_kind *kind = &s->kinds->kinds[number];
    mo_status status = MO_OK;

    if (!kind->part || is_too_large(kind->part->x))
        return MO_OK;
    for (int p = 0; p < s->states.n * s->states.n && status == MO_OK; p++) {
        int64_t lower_ns = kind->lower_ns[p];

        if (lower_ns == INT64_MAX)
            continue;
        status = mo_fanout_bound(s->blocks, number, p, lower_ns + gap_ns,
                                 s->task->stop, &lower_ns, err);
        if (status == MO_OK && lower_ns > kind->pairs[p].own_ns)
            kind->pairs[p].own_ns = lower_ns;
    }
    return status;
}

/* No pair has to take more than what lies between the bound of the whole and
 * its makespan longer than is known. */
mo_status mo_fanout_raise(mo_search *s, mo_error *err)
{
    mo_status status = MO_OK;
    int64_t gap_ns;

    if (!s->best)
        return MO_OK;
    gap_ns = s->best->makespan_ns - s->lower_ns;
    for (int i = 0; i < s->kinds->n && status == MO_OK; i++)
        status = raise_kind(s, i, gap_ns, err);
    if (status != MO_OK)
        return status;
    return mo_search_add_up(s, "cases of ops that many read", err);
}
