/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/incremental_sim.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/sim/inserted_idle.h"
#include "schedule/sim/sim_internal.h"
#include "schedule/sim/tail_bound.h"

/* Checkpoints: the committed run has some along its way.  A run from one of
 * them takes new ones, which replace the later ones when that run is
 * committed. */

enum { MAX_CHECKPOINTS = 24 };

typedef struct checkpoint {
    int64_t now_ns; /* everything before and at this moment is included */
    int64_t end_ns;
    int n_log;
    int *missing;
    int64_t *arrival_ns, *unstarted_ns;
    int *slot_node;
    int64_t *slot_end_ns;
    int *waiting, n_waiting; /* nodes: ready, sleeping, or to be sent */
} checkpoint;

typedef struct checkpoints {
    mo_sim *sim;
    int n;                            /* of the committed run */
    checkpoint kept[MAX_CHECKPOINTS]; /* by time; the first
                                                     precedes every start */
    int from;                         /* where the last run began */
    int n_fresh; /* of the last run; the first ones are those of kept */
    checkpoint fresh[MAX_CHECKPOINTS];
    int max, spacing;
    void *memory[2 * MAX_CHECKPOINTS];
} checkpoints;

/* Upper limit for the buffers of all checkpoints together, and lower limit for
 * the starts between two of them. */
enum { MAX_BYTES = 64 << 20, MIN_SPACING = 12 };

static void *carve_array(char **at, size_t n, size_t size)
{
    void *piece = *at;

    *at += n * size;
    return piece;
}

/* Larger elements first, so that all are aligned. */
static size_t assign_buffers(const mo_sim *s, checkpoint *cp, char *memory)
{
    char *at = memory;
    size_t n = (size_t) s->n, n_slots = (size_t) s->slots.n;

    cp->arrival_ns = carve_array(&at, n, sizeof *cp->arrival_ns);
    cp->unstarted_ns =
        carve_array(&at, (size_t) s->n_devices, sizeof *cp->unstarted_ns);
    cp->slot_end_ns = carve_array(&at, n_slots, sizeof *cp->slot_end_ns);
    cp->missing = carve_array(&at, n, sizeof *cp->missing);
    cp->slot_node = carve_array(&at, n_slots, sizeof *cp->slot_node);
    cp->waiting = carve_array(&at, (size_t) s->n_nodes, sizeof *cp->waiting);
    return (size_t) (at - memory);
}

static void save_checkpoint(const mo_sim *s, checkpoint *cp)
{
    size_t n = (size_t) s->n, n_slots = (size_t) s->slots.n;
    int n_waiting = 0;

    cp->now_ns = s->now_ns;
    cp->end_ns = s->end_ns;
    cp->n_log = s->log.n;
    memcpy(cp->missing, s->missing, n * sizeof *s->missing);
    if (s->channels.any_uncongested)
        memcpy(cp->arrival_ns, s->arrival_ns, n * sizeof *s->arrival_ns);
    memcpy(cp->unstarted_ns, s->devices.unstarted_ns,
           (size_t) s->n_devices * sizeof *s->devices.unstarted_ns);
    memcpy(cp->slot_node, s->slots.node, n_slots * sizeof *s->slots.node);
    memcpy(cp->slot_end_ns, s->slots.heap.key,
           n_slots * sizeof *s->slots.heap.key);
    for (int k = 0; k < s->n_devices; k++)
        n_waiting = mo_pairing_heap_list(&s->queue, s->devices.ready[k],
                                         cp->waiting, n_waiting);
    n_waiting = mo_pairing_heap_list(&s->queue, s->asleep.first, cp->waiting,
                                     n_waiting);
    cp->n_waiting =
        mo_channel_queues_list(&s->channels, &s->queue, cp->waiting, n_waiting);
}

static void restore_checkpoint(mo_sim *s, const checkpoint *cp)
{
    size_t n = (size_t) s->n;

    mo_sim_clear(s);
    s->now_ns = cp->now_ns;
    s->end_ns = cp->end_ns;
    s->log.n = cp->n_log;
    memcpy(s->missing, cp->missing, n * sizeof *s->missing);
    if (s->channels.any_uncongested)
        memcpy(s->arrival_ns, cp->arrival_ns, n * sizeof *s->arrival_ns);
    memcpy(s->devices.unstarted_ns, cp->unstarted_ns,
           (size_t) s->n_devices * sizeof *s->devices.unstarted_ns);
    for (int slot = 0; slot < s->slots.n; slot++) {
        int node = cp->slot_node[slot];

        if (node == MO_SIM_IDLE)
            continue;
        mo_sim_occupy(s, slot, node, cp->slot_end_ns[slot]);
        if (!mo_sim_is_op(s, node))
            mo_channel_queues_acquire(&s->channels, mo_sim_channel(s, node));
    }
    for (int i = 0; i < cp->n_waiting; i++) {
        int node = cp->waiting[i];

        if (mo_sim_is_op(s, node)) {
            mo_sim_op_ready(s, node);
            continue;
        }
        s->queue.key[node] = mo_sim_send_key(s, node);
        mo_sim_queue_transfer(s, node);
    }
}

/* Callback of the simulator. */
static void take_checkpoint(void *context)
{
    checkpoints *m = context;
    mo_sim *s = m->sim;

    save_checkpoint(s, &m->fresh[m->n_fresh++]);
    s->checkpoint.at = m->n_fresh < m->max ? s->log.n + m->spacing : INT_MAX;
}

/* Registers itself with sim, which calls it from then on: sim must outlive it,
 * and it must not move.  The caller closes it, also after a failure. */
static mo_status open_checkpoints(checkpoints *m, mo_sim *sim, mo_error *err)
{
    size_t bytes = (size_t) sim->n * (sizeof(int64_t) + 2 * sizeof(int)) +
                   (size_t) sim->x->n_flows * sizeof(int) +
                   (size_t) sim->n_devices * sizeof(int64_t) +
                   (size_t) sim->slots.n * (sizeof(int64_t) + sizeof(int)) + 1;
    size_t most = MAX_BYTES / bytes / 2;

    *m = (checkpoints){ .sim = sim };
    m->max = most < 1                 ? 1
             : most > MAX_CHECKPOINTS ? MAX_CHECKPOINTS
                                      : (int) most;
    for (int i = 0; i < m->max; i++) {
        void **memory = m->memory + (ptrdiff_t) 2 * i;

        memory[0] = malloc(bytes);
        memory[1] = malloc(bytes);
        if (!memory[0] || !memory[1])
            return mo_fail_memory(err);
        assign_buffers(sim, &m->kept[i], memory[0]);
        assign_buffers(sim, &m->fresh[i], memory[1]);
    }
    sim->checkpoint.take = take_checkpoint;
    sim->checkpoint.context = m;
    return MO_OK;
}

/* Returns the number of starts before the last run began. */
static int count_started(const checkpoints *m)
{
    return m->kept[m->from].n_log;
}

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
    checkpoints saved;
    mo_tail_bounds tails;
    mo_inserted_idle *idle;
};

mo_status mo_incremental_sim_new(const mo_instance *x, const mo_regime *regime,
                                 mo_incremental_sim **trial, mo_error *err)
{
    mo_incremental_sim *t = calloc(1, sizeof *t);
    mo_status status =
        t ? mo_sim_new(x, regime, &t->sim, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = open_checkpoints(&t->saved, t->sim, err);
    if (status == MO_OK)
        status = mo_tail_bounds_open(&t->tails, t->sim, err);
    if (status == MO_OK)
        status = mo_inserted_idle_new(x, &t->idle, err);
    if (status == MO_OK) {
        size_t n = (size_t) t->sim->n_nodes + 1;
        size_t n_objects = CHANGE_SEND_KEY * (size_t) t->sim->n +
                           2 * (size_t) t->sim->x->n_flows + 1;

        t->ready_ns = calloc(n, sizeof *t->ready_ns);
        t->start_ns = calloc(n, sizeof *t->start_ns);
        t->end_ns = calloc(n, sizeof *t->end_ns);
        t->log = calloc(n, sizeof *t->log);
        t->changes = malloc(n_objects * sizeof *t->changes);
        t->changed_in = calloc(n_objects, sizeof *t->changed_in);
        status = t->ready_ns && t->start_ns && t->end_ns && t->log &&
                         t->changes && t->changed_in
                     ? MO_OK
                     : mo_fail_memory(err);
    }
    if (status == MO_OK) {
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
    for (int i = 0; i < 2 * MAX_CHECKPOINTS; i++)
        free(t->saved.memory[i]);
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
    checkpoints *m = &t->saved;

    for (int i = m->from + 1; i < m->n_fresh; i++) {
        checkpoint old = m->kept[i];

        m->kept[i] = m->fresh[i];
        m->fresh[i] = old;
    }
    m->n = m->n_fresh;
    for (int i = count_started(m); i < s->log.n; i++) {
        int node = s->log.nodes[i];

        t->log[i] = node;
        t->start_ns[node] = s->start_ns[node];
        t->end_ns[node] = s->start_ns[node] + mo_sim_duration_ns(s, node);
        t->ready_ns[node] = s->ready_ns[node];
    }
    t->committed.n_log = s->log.n;
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
    /* Resets to the start, before a run that will be committed. */
    mo_sim *s = t->saved.sim;

    mo_sim_clear(s);
    mo_sim_begin(s);
    save_checkpoint(s, &t->saved.kept[0]);
    t->saved.n = t->saved.n_fresh = 1;
    t->saved.from = 0;
    t->saved.spacing = t->sim->n_nodes / t->saved.max + 1;
    if (t->saved.spacing < MIN_SPACING)
        t->saved.spacing = MIN_SPACING;
    s->checkpoint.at = t->saved.max > 1 ? t->saved.spacing : INT_MAX;
    t->result_ns = mo_sim_run_events(t->sim, INT64_MAX);
    commit_run(t);
    clear_changes(t);
}

static void log_change(mo_incremental_sim *t, change_kind kind, int of,
                       int64_t old)
{
    size_t n = (size_t) t->sim->n, n_flows = (size_t) t->sim->x->n_flows;
    size_t index = (size_t) kind * n;
    int64_t *changed_in;

    if (kind >= CHANGE_SEND_KEY)
        index =
            CHANGE_SEND_KEY * n + (size_t) (kind - CHANGE_SEND_KEY) * n_flows;
    changed_in = &t->changed_in[index + (size_t) of];
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
    /* Restores the last checkpoint of the committed run before that time; what
     * has changed since must not affect anything earlier. */
    mo_sim *s = t->saved.sim;
    int last = t->saved.n - 1;
    const checkpoint *cp;

    /* In the first nothing has started yet: it precedes every time. */
    while (last > 0 && t->saved.kept[last].now_ns >= t->effect_ns)
        last--;
    cp = &t->saved.kept[last];
    restore_checkpoint(s, cp);
    for (int i = 0; i < cp->n_waiting; i++)
        s->ready_ns[cp->waiting[i]] = t->ready_ns[cp->waiting[i]];
    t->saved.from = last;
    t->saved.n_fresh = last + 1;
    s->checkpoint.at =
        t->saved.n_fresh < t->saved.max ? s->log.n + t->saved.spacing : INT_MAX;
    if (t->has_moved)
        move_loads(t, t->sim->devices.unstarted_ns);
    t->result_ns = mo_sim_run_events(t->sim, cutoff_ns);
    return t->result_ns;
}

void mo_incremental_sim_commit(mo_incremental_sim *t)
{
    assert(t->has_run && t->result_ns < INT64_MAX);
    if (t->has_moved) {
        mo_tail_bounds_commit(&t->tails);
        mo_tail_bounds_find_least(t->sim);
        for (int i = 0; i <= t->saved.from; i++)
            move_loads(t, t->saved.kept[i].unstarted_ns);
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
    for (int i = count_started(&t->saved); i < s->log.n; i++)
        end_ns[s->log.nodes[i]] = s->start_ns[s->log.nodes[i]] +
                                  mo_sim_duration_ns(s, s->log.nodes[i]);
}

mo_status mo_incremental_sim_schedule(const mo_incremental_sim *t,
                                      const int *device,
                                      const int64_t *start_ns,
                                      mo_schedule **schedule, mo_error *err)
{
    return mo_sim_extract_schedule(t->sim, device, start_ns, schedule, err);
}
