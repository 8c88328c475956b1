/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/checkpoint.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* All marks together take no more than this, or there are fewer. */
enum { MOST_BYTES = 64 << 20, FEWEST_BETWEEN = 12 };

static void *carve(char **at, size_t n, size_t size)
{
    void *piece = *at;

    *at += n * size;
    return piece;
}

/* Longer ones first, so that all are aligned. */
static size_t lay_out(const mo_sim *s, mo_sim_checkpoint *mark, char *memory)
{
    char *at = memory;
    size_t n = (size_t) s->n, n_slots = (size_t) s->n_slots;

    mark->arrival_ns = carve(&at, n, sizeof *mark->arrival_ns);
    mark->left_ns = carve(&at, (size_t) s->n_devices, sizeof *mark->left_ns);
    mark->slot_end_ns = carve(&at, n_slots, sizeof *mark->slot_end_ns);
    mark->missing = carve(&at, n, sizeof *mark->missing);
    mark->slot_node = carve(&at, n_slots, sizeof *mark->slot_node);
    mark->waiting = carve(&at, (size_t) s->n_nodes, sizeof *mark->waiting);
    return (size_t) (at - memory);
}

static size_t mark_bytes(const mo_sim *s)
{
    return (size_t) s->n * (sizeof(int64_t) + 2 * sizeof(int)) +
           (size_t) s->x->n_flows * sizeof(int) +
           (size_t) s->n_devices * sizeof(int64_t) +
           (size_t) s->n_slots * (sizeof(int64_t) + sizeof(int)) + 1;
}

static void list_waiting(const mo_sim *s, mo_sim_checkpoint *mark)
{
    int n = 0;

    for (int k = 0; k < s->n_devices; k++)
        n = mo_pairing_heap_list(&s->queue, s->ready[k], mark->waiting, n);
    n = mo_pairing_heap_list(&s->queue, s->asleep, mark->waiting, n);
    mark->n_waiting =
        mo_channel_queues_list(&s->lanes, &s->queue, mark->waiting, n);
}

static void save(const mo_sim *s, mo_sim_checkpoint *mark)
{
    size_t n = (size_t) s->n, n_slots = (size_t) s->n_slots;

    mark->now_ns = s->now_ns;
    mark->end_ns = s->end_ns;
    mark->n_log = s->n_log;
    memcpy(mark->missing, s->missing, n * sizeof *s->missing);
    if (s->lanes.some_open)
        memcpy(mark->arrival_ns, s->arrival_ns, n * sizeof *s->arrival_ns);
    memcpy(mark->left_ns, s->left_ns,
           (size_t) s->n_devices * sizeof *s->left_ns);
    memcpy(mark->slot_node, s->slot_node, n_slots * sizeof *s->slot_node);
    memcpy(mark->slot_end_ns, s->slots.key, n_slots * sizeof *s->slots.key);
    list_waiting(s, mark);
}

static void wait_again(mo_sim *s, int node)
{
    if (mo_sim_is_op(s, node)) {
        mo_sim_op_ready(s, node);
        return;
    }
    s->queue.key[node] = mo_sim_send_key(s, node);
    mo_sim_queue_transfer(s, node);
}

static void restore(mo_sim *s, const mo_sim_checkpoint *mark)
{
    size_t n = (size_t) s->n;

    mo_sim_clear(s);
    s->now_ns = mark->now_ns;
    s->end_ns = mark->end_ns;
    s->n_log = mark->n_log;
    memcpy(s->missing, mark->missing, n * sizeof *s->missing);
    if (s->lanes.some_open)
        memcpy(s->arrival_ns, mark->arrival_ns, n * sizeof *s->arrival_ns);
    memcpy(s->left_ns, mark->left_ns,
           (size_t) s->n_devices * sizeof *s->left_ns);
    for (int slot = 0; slot < s->n_slots; slot++) {
        int node = mark->slot_node[slot];

        if (node == MO_SIM_IDLE)
            continue;
        mo_sim_occupy(s, slot, node, mark->slot_end_ns[slot]);
        if (!mo_sim_is_op(s, node))
            mo_channel_queues_acquire(&s->lanes, mo_sim_channel(s, node));
    }
    for (int i = 0; i < mark->n_waiting; i++)
        wait_again(s, mark->waiting[i]);
}

/* The sim's way to call. */
static void mark_now(void *context)
{
    mo_sim_checkpoints *m = context;
    mo_sim *s = m->sim;

    save(s, &m->fresh[m->n_fresh++]);
    s->mark_at = m->n_fresh < m->most ? s->n_log + m->spacing : INT_MAX;
}

mo_status mo_sim_checkpoints_open(mo_sim_checkpoints *m, mo_sim *sim,
                                  mo_error *err)
{
    size_t bytes = mark_bytes(sim);
    size_t most = MOST_BYTES / bytes / 2;

    *m = (mo_sim_checkpoints){ .sim = sim };
    m->most = most < 1                        ? 1
              : most > MO_SIM_CHECKPOINTS_MAX ? MO_SIM_CHECKPOINTS_MAX
                                              : (int) most;
    for (int i = 0; i < m->most; i++) {
        m->memory[2 * i] = malloc(bytes);
        m->memory[2 * i + 1] = malloc(bytes);
        if (!m->memory[2 * i] || !m->memory[2 * i + 1])
            return mo_fail_memory(err);
        lay_out(sim, &m->at[i], m->memory[2 * i]);
        lay_out(sim, &m->fresh[i], m->memory[2 * i + 1]);
    }
    sim->mark = mark_now;
    sim->context = m;
    return MO_OK;
}

void mo_sim_checkpoints_close(mo_sim_checkpoints *m)
{
    for (int i = 0; i < 2 * MO_SIM_CHECKPOINTS_MAX; i++)
        free(m->memory[i]);
}

void mo_sim_checkpoints_begin(mo_sim_checkpoints *m, int n_log)
{
    mo_sim *s = m->sim;

    mo_sim_clear(s);
    mo_sim_begin(s);
    save(s, &m->at[0]);
    m->n = m->n_fresh = 1;
    m->from = 0;
    m->spacing = n_log / m->most + 1;
    if (m->spacing < FEWEST_BETWEEN)
        m->spacing = FEWEST_BETWEEN;
    s->mark_at = m->most > 1 ? m->spacing : INT_MAX;
}

void mo_sim_checkpoints_restore(mo_sim_checkpoints *m, int64_t before_ns,
                                const int64_t *ready_ns)
{
    mo_sim *s = m->sim;
    int last = m->n - 1;
    const mo_sim_checkpoint *mark;

    /* In the first nothing has started yet: it is before all. */
    while (last > 0 && m->at[last].now_ns >= before_ns)
        last--;
    mark = &m->at[last];
    restore(s, mark);
    for (int i = 0; i < mark->n_waiting; i++)
        s->ready_ns[mark->waiting[i]] = ready_ns[mark->waiting[i]];
    m->from = last;
    m->n_fresh = last + 1;
    s->mark_at = m->n_fresh < m->most ? s->n_log + m->spacing : INT_MAX;
}

int mo_sim_checkpoints_commit(mo_sim_checkpoints *m)
{
    for (int i = m->from + 1; i < m->n_fresh; i++) {
        mo_sim_checkpoint old = m->at[i];

        m->at[i] = m->fresh[i];
        m->fresh[i] = old;
    }
    m->n = m->n_fresh;
    return mo_sim_checkpoints_n_started(m);
}

int mo_sim_checkpoints_n_started(const mo_sim_checkpoints *m)
{
    return m->at[m->from].n_log;
}
