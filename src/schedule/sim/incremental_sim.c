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

typedef enum change_kind {
    CHANGE_DEVICE,
    CHANGE_KEY,
    CHANGE_RELEASE,
    CHANGE_SEND_KEY,
    CHANGE_SEND_RELEASE
} change_kind;

typedef struct change {
    change_kind kind;
    int of; /* op or flow */
    int64_t old;
} change;

struct mo_incremental_sim {
    mo_sim *sim;
    mo_incremental_sim_state committed;
    int64_t *ready_ns, *start_ns, *end_ns; /* of the committed run */
    int *log;

    change *changes; /* undo log: the first change of each kind and object */
    int n_changes;
    int64_t number, *changed_in; /* of the trial; by kind and object: the last
                               trial that changed it */
    bool has_moved;              /* some op changed its device */
    bool has_run;
    int64_t effect_ns; /* earliest time that the changes affect */
    int64_t result_ns;
    mo_sim_checkpoints checkpoints;
    mo_tail_bounds tails;
    mo_inserted_idle *idle;
};

/* Objects of all kinds. */
static size_t count_objects(const mo_sim *s)
{
    return CHANGE_SEND_KEY * (size_t) s->n + 2 * (size_t) s->x->n_flows;
}

static mo_status allocate_buffers(mo_incremental_sim *t, mo_error *err)
{
    size_t n = (size_t) t->sim->n_nodes + 1;
    size_t n_objects = count_objects(t->sim) + 1;

    t->ready_ns = calloc(n, sizeof *t->ready_ns);
    t->start_ns = calloc(n, sizeof *t->start_ns);
    t->end_ns = calloc(n, sizeof *t->end_ns);
    t->log = calloc(n, sizeof *t->log);
    t->changes = malloc(n_objects * sizeof *t->changes);
    t->changed_in = calloc(n_objects, sizeof *t->changed_in);
    return t->ready_ns && t->start_ns && t->end_ns && t->log && t->changes &&
                   t->changed_in
               ? MO_OK
               : mo_fail_memory(err);
}

static void init_state_view(mo_incremental_sim *t)
{
    const mo_sim *s = t->sim;

    t->committed =
        (mo_incremental_sim_state){ .device = s->device,
                                    .key = s->queue.key,
                                    .send_key = s->send_key,
                                    .release_ns = s->release_ns,
                                    .send_release_ns = s->send_release_ns,
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
        status = mo_sim_checkpoints_open(&t->checkpoints, t->sim, err);
    if (status == MO_OK)
        status = mo_tail_bounds_open(&t->tails, t->sim, err);
    if (status == MO_OK)
        status = mo_inserted_idle_new(x, &t->idle, err);
    if (status == MO_OK)
        status = allocate_buffers(t, err);
    if (status == MO_OK) {
        init_state_view(t);
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
    mo_inserted_idle_free(t->idle);
    mo_tail_bounds_close(&t->tails);
    mo_sim_checkpoints_close(&t->checkpoints);
    mo_sim_free(t->sim);
    free(t->changed_in);
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
    return &t->committed;
}

/* Commits the run that has just ended. */
static void commit_run(mo_incremental_sim *t)
{
    const mo_sim *s = t->sim;
    int from = mo_sim_checkpoints_commit(&t->checkpoints);

    for (int i = from; i < s->n_log; i++) {
        int node = s->log[i];

        t->log[i] = node;
        t->start_ns[node] = s->start_ns[node];
        t->end_ns[node] = s->start_ns[node] + mo_sim_duration_ns(s, node);
        t->ready_ns[node] = s->ready_ns[node];
    }
    t->committed.n_log = s->n_log;
    t->committed.makespan_ns = t->result_ns;
}

static void clear_changes(mo_incremental_sim *t)
{
    t->n_changes = 0;
    t->number++;
    t->has_moved = false;
    t->has_run = false;
    t->effect_ns = INT64_MAX;
}

/* What takes no time precedes what starts then and does. */
static int64_t key_of_start(int64_t start_ns, int64_t length_ns)
{
    return 2 * start_ns + (length_ns > 0);
}

static void load_schedule(mo_sim *s, const mo_schedule *schedule)
{
    const mo_instance *x = s->x;

    memcpy(s->device, schedule->device, (size_t) s->n * sizeof *s->device);
    for (int i = 0; i < s->n; i++)
        s->queue.key[i] =
            key_of_start(schedule->start_ns[i], mo_sim_p_ns(s, i));
    for (int q = 0; q < x->n_flows; q++) {
        const mo_transfer *transfer =
            mo_schedule_transfer(schedule, s->once ? x->flows[q].tensor : q,
                                 schedule->device[x->flows[q].to]);

        /* Not sent: the key in case a later placement sends it. */
        s->send_key[q] =
            transfer ? key_of_start(transfer->start_ns,
                                    transfer->end_ns - transfer->start_ns)
                     : s->queue.key[x->flows[q].to];
    }
}

void mo_incremental_sim_begin(mo_incremental_sim *t,
                              const mo_schedule *schedule)
{
    load_schedule(t->sim, schedule);
    mo_inserted_idle_find(t->idle, schedule, t->sim->release_ns,
                          t->sim->send_release_ns);
    mo_tail_bounds_find(t->sim);
    mo_sim_checkpoints_begin(&t->checkpoints, t->sim->n_nodes);
    t->result_ns = mo_sim_run_events(t->sim, INT64_MAX);
    commit_run(t);
    clear_changes(t);
}

static size_t object_index(const mo_incremental_sim *t, change_kind kind,
                           int of)
{
    size_t n = (size_t) t->sim->n, n_flows = (size_t) t->sim->x->n_flows;

    return kind < CHANGE_SEND_KEY
               ? (size_t) kind * n + (size_t) of
               : CHANGE_SEND_KEY * n +
                     (size_t) (kind - CHANGE_SEND_KEY) * n_flows + (size_t) of;
}

static void log_change(mo_incremental_sim *t, change_kind kind, int of,
                       int64_t old)
{
    int64_t *changed_in = &t->changed_in[object_index(t, kind, of)];

    if (*changed_in == t->number)
        return;
    *changed_in = t->number;
    t->changes[t->n_changes++] = (change){ kind, of, old };
}

/* Lowers the earliest affected time to ns. */
static void lower_effect_time(mo_incremental_sim *t, int64_t ns)
{
    if (ns < t->effect_ns)
        t->effect_ns = ns;
}

void mo_incremental_sim_place_op(mo_incremental_sim *t, int op, int device)
{
    const mo_instance *x = t->sim->x;

    if (device == t->sim->device[op])
        return;
    log_change(t, CHANGE_DEVICE, op, t->sim->device[op]);
    t->sim->device[op] = device;
    t->has_moved = true;
    if (x->in_start[op] == x->in_start[op + 1])
        lower_effect_time(t, 0);
    /* Its inputs are sent elsewhere, as soon as they exist. */
    for (int j = x->in_start[op]; j < x->in_start[op + 1]; j++)
        lower_effect_time(t, t->end_ns[x->flows[x->in_flows[j]].from]);
}

void mo_incremental_sim_order_op(mo_incremental_sim *t, int op, int64_t key)
{
    log_change(t, CHANGE_KEY, op, t->sim->queue.key[op]);
    t->sim->queue.key[op] = key;
    lower_effect_time(t, t->ready_ns[op]);
}

void mo_incremental_sim_delay_op(mo_incremental_sim *t, int op,
                                 int64_t release_ns)
{
    log_change(t, CHANGE_RELEASE, op, t->sim->release_ns[op]);
    t->sim->release_ns[op] = release_ns;
    lower_effect_time(t, t->ready_ns[op]);
}

void mo_incremental_sim_order_transfer(mo_incremental_sim *t, int flow,
                                       int64_t key)
{
    log_change(t, CHANGE_SEND_KEY, flow, t->sim->send_key[flow]);
    t->sim->send_key[flow] = key;
    lower_effect_time(t, t->end_ns[t->sim->x->flows[flow].from]);
}

void mo_incremental_sim_delay_transfer(mo_incremental_sim *t, int flow,
                                       int64_t send_release_ns)
{
    log_change(t, CHANGE_SEND_RELEASE, flow, t->sim->send_release_ns[flow]);
    t->sim->send_release_ns[flow] = send_release_ns;
    lower_effect_time(t, t->end_ns[t->sim->x->flows[flow].from]);
}

/* Moves the load of ops that changed devices and have not started yet. */
static void move_loads(const mo_incremental_sim *t, int64_t *unstarted_ns)
{
    const mo_sim *s = t->sim;

    for (int i = 0; i < t->n_changes; i++) {
        const change *c = &t->changes[i];

        if (c->kind != CHANGE_DEVICE)
            continue;
        unstarted_ns[c->old] -= mo_instance_p_ns(s->x, c->of, (int) c->old);
        unstarted_ns[s->device[c->of]] += mo_sim_p_ns(s, c->of);
    }
}

int64_t mo_incremental_sim_run(mo_incremental_sim *t, int64_t cutoff_ns)
{
    if (t->has_moved) {
        for (int i = 0; i < t->n_changes; i++)
            if (t->changes[i].kind == CHANGE_DEVICE)
                mo_tail_bounds_op_moved(&t->tails, t->changes[i].of);
        mo_tail_bounds_update(&t->tails);
    }
    t->has_run = true;
    mo_sim_checkpoints_restore(&t->checkpoints, t->effect_ns, t->ready_ns);
    if (t->has_moved)
        move_loads(t, t->sim->unstarted_ns);
    t->result_ns = mo_sim_run_events(t->sim, cutoff_ns);
    return t->result_ns;
}

void mo_incremental_sim_commit(mo_incremental_sim *t)
{
    assert(t->has_run && t->result_ns < INT64_MAX);
    if (t->has_moved) {
        mo_tail_bounds_commit(&t->tails);
        mo_tail_bounds_find_least(t->sim);
        for (int i = 0; i <= t->checkpoints.from; i++)
            move_loads(t, t->checkpoints.kept[i].unstarted_ns);
    }
    commit_run(t);
    clear_changes(t);
}

void mo_incremental_sim_rollback(mo_incremental_sim *t)
{
    mo_sim *s = t->sim;

    for (int i = 0; i < t->n_changes; i++) {
        const change *c = &t->changes[i];

        switch (c->kind) {
        case CHANGE_DEVICE:
            s->device[c->of] = (int) c->old;
            break;
        case CHANGE_KEY:
            s->queue.key[c->of] = c->old;
            break;
        case CHANGE_RELEASE:
            s->release_ns[c->of] = c->old;
            break;
        case CHANGE_SEND_KEY:
            s->send_key[c->of] = c->old;
            break;
        case CHANGE_SEND_RELEASE:
            s->send_release_ns[c->of] = c->old;
            break;
        }
    }
    mo_tail_bounds_rollback(&t->tails);
    clear_changes(t);
}

void mo_incremental_sim_end_times(const mo_incremental_sim *t, int64_t *end_ns)
{
    const mo_sim *s = t->sim;

    memcpy(end_ns, t->end_ns, (size_t) s->n_nodes * sizeof *end_ns);
    for (int i = mo_sim_checkpoints_n_started(&t->checkpoints); i < s->n_log;
         i++)
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
