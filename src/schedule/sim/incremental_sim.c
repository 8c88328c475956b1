/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/incremental_sim.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/sim/checkpoint.h"
#include "schedule/sim/sim_internal.h"
#include "schedule/sim/tail_bound.h"
#include "schedule/sim/inserted_idle.h"

typedef enum change_kind { PLACE, ORDER, RELEASE, SEND, HOLD } change_kind;

typedef struct change {
    change_kind kind;
    int of; /* op or flow */
    int64_t old;
} change;

struct mo_incremental_sim {
    mo_sim *sim;
    mo_incremental_sim_state base;
    int64_t *ready_ns, *start_ns, *end_ns; /* base's */
    int *log;

    change *changes; /* the first of each kind and thing */
    int n_changes;
    int64_t number, *noted; /* of the trial; by kind and thing: the last trial
                               that changed it */
    bool has_moved;         /* some op to another device */
    bool has_run;
    int64_t effect_ns; /* before then the changes do not matter */
    int64_t result_ns;
    mo_sim_checkpoints marks;
    mo_tail_bounds tails;
    mo_inserted_idle *waits;
};

/* Things of all kinds, counted through. */
static size_t count_things(const mo_sim *s)
{
    return SEND * (size_t) s->n + 2 * (size_t) s->x->n_flows;
}

static mo_status reserve(mo_incremental_sim *t, mo_error *err)
{
    size_t n = (size_t) t->sim->n_nodes + 1;
    size_t n_things = count_things(t->sim) + 1;

    t->ready_ns = calloc(n, sizeof *t->ready_ns);
    t->start_ns = calloc(n, sizeof *t->start_ns);
    t->end_ns = calloc(n, sizeof *t->end_ns);
    t->log = calloc(n, sizeof *t->log);
    t->changes = malloc(n_things * sizeof *t->changes);
    t->noted = calloc(n_things, sizeof *t->noted);
    return t->ready_ns && t->start_ns && t->end_ns && t->log && t->changes &&
                   t->noted
               ? MO_OK
               : mo_fail_memory(err);
}

static void show_standing(mo_incremental_sim *t)
{
    const mo_sim *s = t->sim;

    t->base = (mo_incremental_sim_state){ .device = s->device,
                                          .key = s->queue.key,
                                          .send_key = s->send_key,
                                          .release_ns = s->release_ns,
                                          .hold_ns = s->hold_ns,
                                          .ready_ns = t->ready_ns,
                                          .start_ns = t->start_ns,
                                          .end_ns = t->end_ns,
                                          .log = t->log };
}

mo_status mo_incremental_sim_new(const mo_instance *x, const mo_regime *regime,
                                 mo_incremental_sim **trial, mo_error *err)
{
    mo_incremental_sim *t = calloc(1, sizeof *t);
    mo_status status =
        t ? mo_sim_new(x, regime, &t->sim, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_sim_checkpoints_open(&t->marks, t->sim, err);
    if (status == MO_OK)
        status = mo_tail_bounds_open(&t->tails, t->sim, err);
    if (status == MO_OK)
        status = mo_inserted_idle_new(x, &t->waits, err);
    if (status == MO_OK)
        status = reserve(t, err);
    if (status == MO_OK) {
        show_standing(t);
        *trial = t;
    } else {
        mo_incremental_sim_free(t);
    }
    return status;
}

void mo_incremental_sim_free(mo_incremental_sim *t)
{
    if (!t)
        return;
    mo_inserted_idle_free(t->waits);
    mo_tail_bounds_close(&t->tails);
    mo_sim_checkpoints_close(&t->marks);
    mo_sim_free(t->sim);
    free(t->noted);
    free(t->changes);
    free(t->log);
    free(t->end_ns);
    free(t->start_ns);
    free(t->ready_ns);
    free(t);
}

const mo_incremental_sim_state *
mo_incremental_sim_current(const mo_incremental_sim *t)
{
    return &t->base;
}

/* The run that has just come to its end stands. */
static void stand(mo_incremental_sim *t)
{
    const mo_sim *s = t->sim;
    int from = mo_sim_checkpoints_commit(&t->marks);

    for (int i = from; i < s->n_log; i++) {
        int node = s->log[i];

        t->log[i] = node;
        t->start_ns[node] = s->start_ns[node];
        t->end_ns[node] = s->start_ns[node] + mo_sim_duration_ns(s, node);
        t->ready_ns[node] = s->ready_ns[node];
    }
    t->base.n_log = s->n_log;
    t->base.makespan_ns = t->result_ns;
}

static void forget_changes(mo_incremental_sim *t)
{
    t->n_changes = 0;
    t->number++;
    t->has_moved = false;
    t->has_run = false;
    t->effect_ns = INT64_MAX;
}

/* What takes no time goes before what starts then and does. */
static int64_t key_of(int64_t start_ns, int64_t length_ns)
{
    return 2 * start_ns + (length_ns > 0);
}

static void take_over(mo_sim *s, const mo_schedule *schedule)
{
    const mo_instance *x = s->x;

    memcpy(s->device, schedule->device, (size_t) s->n * sizeof *s->device);
    for (int i = 0; i < s->n; i++)
        s->queue.key[i] = key_of(schedule->start_ns[i], mo_sim_p_ns(s, i));
    for (int q = 0; q < x->n_flows; q++) {
        const mo_transfer *transfer =
            mo_schedule_transfer(schedule, s->once ? x->flows[q].tensor : q,
                                 schedule->device[x->flows[q].to]);

        /* Of what is not sent, the key should it be sent one day. */
        s->send_key[q] = transfer
                             ? key_of(transfer->start_ns,
                                      transfer->end_ns - transfer->start_ns)
                             : s->queue.key[x->flows[q].to];
    }
}

static void run_anew(mo_incremental_sim *t)
{
    mo_tail_bounds_find(t->sim);
    mo_sim_checkpoints_begin(&t->marks, t->sim->n_nodes);
    t->result_ns = mo_sim_run_events(t->sim, INT64_MAX);
    stand(t);
    forget_changes(t);
}

void mo_incremental_sim_begin(mo_incremental_sim *t,
                              const mo_schedule *schedule)
{
    take_over(t->sim, schedule);
    mo_inserted_idle_find(t->waits, schedule, t->sim->release_ns,
                          t->sim->hold_ns);
    run_anew(t);
}

static size_t thing_of(const mo_incremental_sim *t, change_kind kind, int of)
{
    size_t n = (size_t) t->sim->n, n_flows = (size_t) t->sim->x->n_flows;

    return kind < SEND
               ? (size_t) kind * n + (size_t) of
               : SEND * n + (size_t) (kind - SEND) * n_flows + (size_t) of;
}

static void note(mo_incremental_sim *t, change_kind kind, int of, int64_t old)
{
    int64_t *noted = &t->noted[thing_of(t, kind, of)];

    if (*noted == t->number)
        return;
    *noted = t->number;
    t->changes[t->n_changes++] = (change){ kind, of, old };
}

/* From then on something might be different. */
static void affect(mo_incremental_sim *t, int64_t ns)
{
    if (ns < t->effect_ns)
        t->effect_ns = ns;
}

void mo_incremental_sim_place_op(mo_incremental_sim *t, int op, int device)
{
    const mo_instance *x = t->sim->x;

    if (device == t->sim->device[op])
        return;
    note(t, PLACE, op, t->sim->device[op]);
    t->sim->device[op] = device;
    t->has_moved = true;
    if (x->in_start[op] == x->in_start[op + 1])
        affect(t, 0);
    /* What it reads is sent elsewhere, as soon as it is there. */
    for (int j = x->in_start[op]; j < x->in_start[op + 1]; j++)
        affect(t, t->end_ns[x->flows[x->in_flows[j]].from]);
}

void mo_incremental_sim_order_op(mo_incremental_sim *t, int op, int64_t key)
{
    note(t, ORDER, op, t->sim->queue.key[op]);
    t->sim->queue.key[op] = key;
    affect(t, t->ready_ns[op]);
}

void mo_incremental_sim_delay_op(mo_incremental_sim *t, int op,
                                 int64_t release_ns)
{
    note(t, RELEASE, op, t->sim->release_ns[op]);
    t->sim->release_ns[op] = release_ns;
    affect(t, t->ready_ns[op]);
}

void mo_incremental_sim_order_transfer(mo_incremental_sim *t, int flow,
                                       int64_t key)
{
    note(t, SEND, flow, t->sim->send_key[flow]);
    t->sim->send_key[flow] = key;
    affect(t, t->end_ns[t->sim->x->flows[flow].from]);
}

void mo_incremental_sim_delay_transfer(mo_incremental_sim *t, int flow,
                                       int64_t hold_ns)
{
    note(t, HOLD, flow, t->sim->hold_ns[flow]);
    t->sim->hold_ns[flow] = hold_ns;
    affect(t, t->end_ns[t->sim->x->flows[flow].from]);
}

/* Ops that have moved, and have not started yet, load other devices. */
static void move_loads(const mo_incremental_sim *t, int64_t *left_ns)
{
    const mo_sim *s = t->sim;

    for (int i = 0; i < t->n_changes; i++) {
        const change *c = &t->changes[i];

        if (c->kind != PLACE)
            continue;
        left_ns[c->old] -= mo_instance_p_ns(s->x, c->of, (int) c->old);
        left_ns[s->device[c->of]] += mo_sim_p_ns(s, c->of);
    }
}

static void renew_tails(mo_incremental_sim *t)
{
    for (int i = 0; i < t->n_changes; i++)
        if (t->changes[i].kind == PLACE)
            mo_tail_bounds_op_moved(&t->tails, t->changes[i].of);
    mo_tail_bounds_update(&t->tails);
}

int64_t mo_incremental_sim_run(mo_incremental_sim *t, int64_t give_up_ns)
{
    if (t->has_moved)
        renew_tails(t);
    t->has_run = true;
    mo_sim_checkpoints_restore(&t->marks, t->effect_ns, t->ready_ns);
    if (t->has_moved)
        move_loads(t, t->sim->left_ns);
    t->result_ns = mo_sim_run_events(t->sim, give_up_ns);
    return t->result_ns;
}

void mo_incremental_sim_commit(mo_incremental_sim *t)
{
    assert(t->has_run && t->result_ns < INT64_MAX);
    if (t->has_moved) {
        mo_tail_bounds_commit(&t->tails);
        mo_tail_bounds_find_least(t->sim);
        for (int i = 0; i <= t->marks.from; i++)
            move_loads(t, t->marks.at[i].left_ns);
    }
    stand(t);
    forget_changes(t);
}

void mo_incremental_sim_rollback(mo_incremental_sim *t)
{
    mo_sim *s = t->sim;

    for (int i = 0; i < t->n_changes; i++) {
        const change *c = &t->changes[i];

        switch (c->kind) {
        case PLACE:
            s->device[c->of] = (int) c->old;
            break;
        case ORDER:
            s->queue.key[c->of] = c->old;
            break;
        case RELEASE:
            s->release_ns[c->of] = c->old;
            break;
        case SEND:
            s->send_key[c->of] = c->old;
            break;
        case HOLD:
            s->hold_ns[c->of] = c->old;
            break;
        }
    }
    mo_tail_bounds_rollback(&t->tails);
    forget_changes(t);
}

void mo_incremental_sim_end_times(const mo_incremental_sim *t, int64_t *end_ns)
{
    const mo_sim *s = t->sim;

    memcpy(end_ns, t->end_ns, (size_t) s->n_nodes * sizeof *end_ns);
    for (int i = mo_sim_checkpoints_n_started(&t->marks); i < s->n_log; i++)
        end_ns[s->log[i]] =
            s->start_ns[s->log[i]] + mo_sim_duration_ns(s, s->log[i]);
}

mo_status mo_incremental_sim_schedule(const mo_incremental_sim *t,
                                      const int *device,
                                      const int64_t *start_ns,
                                      mo_schedule **schedule, mo_error *err)
{
    return mo_sim_extract_schedule(t->sim, device, start_ns, schedule, err);
}
