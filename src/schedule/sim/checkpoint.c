/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/checkpoint.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
static size_t assign_buffers(const mo_sim *s, mo_sim_checkpoint *cp,
                             char *memory)
{
    char *at = memory;
    size_t n = (size_t) s->n, n_slots = (size_t) s->n_slots;

    cp->arrival_ns = carve_array(&at, n, sizeof *cp->arrival_ns);
    cp->unstarted_ns =
        carve_array(&at, (size_t) s->n_devices, sizeof *cp->unstarted_ns);
    cp->slot_end_ns = carve_array(&at, n_slots, sizeof *cp->slot_end_ns);
    cp->missing = carve_array(&at, n, sizeof *cp->missing);
    cp->slot_node = carve_array(&at, n_slots, sizeof *cp->slot_node);
    cp->waiting = carve_array(&at, (size_t) s->n_nodes, sizeof *cp->waiting);
    return (size_t) (at - memory);
}

static size_t checkpoint_bytes(const mo_sim *s)
{
    return (size_t) s->n * (sizeof(int64_t) + 2 * sizeof(int)) +
           (size_t) s->x->n_flows * sizeof(int) +
           (size_t) s->n_devices * sizeof(int64_t) +
           (size_t) s->n_slots * (sizeof(int64_t) + sizeof(int)) + 1;
}

static void list_waiting_nodes(const mo_sim *s, mo_sim_checkpoint *cp)
{
    int n = 0;

    for (int k = 0; k < s->n_devices; k++)
        n = mo_pairing_heap_list(&s->queue, s->ready[k], cp->waiting, n);
    n = mo_pairing_heap_list(&s->queue, s->sleeping, cp->waiting, n);
    cp->n_waiting =
        mo_channel_queues_list(&s->channels, &s->queue, cp->waiting, n);
}

static void save_checkpoint(const mo_sim *s, mo_sim_checkpoint *cp)
{
    size_t n = (size_t) s->n, n_slots = (size_t) s->n_slots;

    cp->now_ns = s->now_ns;
    cp->end_ns = s->end_ns;
    cp->n_log = s->n_log;
    memcpy(cp->missing, s->missing, n * sizeof *s->missing);
    if (s->channels.any_uncongested)
        memcpy(cp->arrival_ns, s->arrival_ns, n * sizeof *s->arrival_ns);
    memcpy(cp->unstarted_ns, s->unstarted_ns,
           (size_t) s->n_devices * sizeof *s->unstarted_ns);
    memcpy(cp->slot_node, s->slot_node, n_slots * sizeof *s->slot_node);
    memcpy(cp->slot_end_ns, s->slots.key, n_slots * sizeof *s->slots.key);
    list_waiting_nodes(s, cp);
}

static void requeue_node(mo_sim *s, int node)
{
    if (mo_sim_is_op(s, node)) {
        mo_sim_op_ready(s, node);
        return;
    }
    s->queue.key[node] = mo_sim_send_key(s, node);
    mo_sim_queue_transfer(s, node);
}

static void restore_checkpoint(mo_sim *s, const mo_sim_checkpoint *cp)
{
    size_t n = (size_t) s->n;

    mo_sim_clear(s);
    s->now_ns = cp->now_ns;
    s->end_ns = cp->end_ns;
    s->n_log = cp->n_log;
    memcpy(s->missing, cp->missing, n * sizeof *s->missing);
    if (s->channels.any_uncongested)
        memcpy(s->arrival_ns, cp->arrival_ns, n * sizeof *s->arrival_ns);
    memcpy(s->unstarted_ns, cp->unstarted_ns,
           (size_t) s->n_devices * sizeof *s->unstarted_ns);
    for (int slot = 0; slot < s->n_slots; slot++) {
        int node = cp->slot_node[slot];

        if (node == MO_SIM_IDLE)
            continue;
        mo_sim_occupy(s, slot, node, cp->slot_end_ns[slot]);
        if (!mo_sim_is_op(s, node))
            mo_channel_queues_acquire(&s->channels, mo_sim_channel(s, node));
    }
    for (int i = 0; i < cp->n_waiting; i++)
        requeue_node(s, cp->waiting[i]);
}

/* Callback of the simulator. */
static void take_checkpoint(void *context)
{
    mo_sim_checkpoints *m = context;
    mo_sim *s = m->sim;

    save_checkpoint(s, &m->fresh[m->n_fresh++]);
    s->checkpoint_at = m->n_fresh < m->max ? s->n_log + m->spacing : INT_MAX;
}

mo_status mo_sim_checkpoints_open(mo_sim_checkpoints *m, mo_sim *sim,
                                  mo_error *err)
{
    size_t bytes = checkpoint_bytes(sim);
    size_t most = MAX_BYTES / bytes / 2;

    *m = (mo_sim_checkpoints){ .sim = sim };
    m->max = most < 1                        ? 1
             : most > MO_SIM_CHECKPOINTS_MAX ? MO_SIM_CHECKPOINTS_MAX
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
    sim->on_checkpoint = take_checkpoint;
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
    save_checkpoint(s, &m->kept[0]);
    m->n = m->n_fresh = 1;
    m->from = 0;
    m->spacing = n_log / m->max + 1;
    if (m->spacing < MIN_SPACING)
        m->spacing = MIN_SPACING;
    s->checkpoint_at = m->max > 1 ? m->spacing : INT_MAX;
}

void mo_sim_checkpoints_restore(mo_sim_checkpoints *m, int64_t before_ns,
                                const int64_t *ready_ns)
{
    mo_sim *s = m->sim;
    int last = m->n - 1;
    const mo_sim_checkpoint *cp;

    /* In the first nothing has started yet: it precedes every time. */
    while (last > 0 && m->kept[last].now_ns >= before_ns)
        last--;
    cp = &m->kept[last];
    restore_checkpoint(s, cp);
    for (int i = 0; i < cp->n_waiting; i++)
        s->ready_ns[cp->waiting[i]] = ready_ns[cp->waiting[i]];
    m->from = last;
    m->n_fresh = last + 1;
    s->checkpoint_at = m->n_fresh < m->max ? s->n_log + m->spacing : INT_MAX;
}

int mo_sim_checkpoints_commit(mo_sim_checkpoints *m)
{
    for (int i = m->from + 1; i < m->n_fresh; i++) {
        mo_sim_checkpoint old = m->kept[i];

        m->kept[i] = m->fresh[i];
        m->fresh[i] = old;
    }
    m->n = m->n_fresh;
    return mo_sim_checkpoints_n_started(m);
}

int mo_sim_checkpoints_n_started(const mo_sim_checkpoints *m)
{
    return m->kept[m->from].n_log;
}
