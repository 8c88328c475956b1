/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/runtime/joint/joint_internal.h"

enum { FREE = -1 };

mo_status mo_joint_gate_init(mo_joint_gate *gate, int n_slots, mo_error *err)
{
    gate->turns = calloc((size_t) n_slots, sizeof *gate->turns);
    gate->waiting = calloc((size_t) n_slots, sizeof *gate->waiting);
    if (!gate->turns || !gate->waiting)
        return mo_fail_memory(err);
    gate->n_slots = n_slots;
    gate->owner = FREE;
    atomic_init(&gate->oldest, INT64_MAX);
    pthread_mutex_init(&gate->lock, NULL);
    for (int s = 0; s < n_slots; s++) {
        gate->waiting[s] = INT64_MAX;
        pthread_cond_init(&gate->turns[s], NULL);
    }
    return MO_OK;
}

void mo_joint_gate_destroy(mo_joint_gate *gate)
{
    if (gate->n_slots > 0)
        pthread_mutex_destroy(&gate->lock);
    for (int s = 0; s < gate->n_slots; s++)
        pthread_cond_destroy(&gate->turns[s]);
    free(gate->turns);
    free(gate->waiting);
    gate->turns = NULL;
    gate->waiting = NULL;
    gate->n_slots = 0;
}

/* Returns the waiting slot with the oldest request, or FREE; lock held. */
static int oldest_slot(const mo_joint_gate *gate)
{
    int best = FREE;

    for (int s = 0; s < gate->n_slots; s++)
        if (gate->waiting[s] < INT64_MAX &&
            (best == FREE || gate->waiting[s] < gate->waiting[best]))
            best = s;
    return best;
}

static void store_oldest(mo_joint_gate *gate)
{
    int s = oldest_slot(gate);

    atomic_store(&gate->oldest, s == FREE ? INT64_MAX : gate->waiting[s]);
}

static void hand_over(mo_joint_gate *gate)
{
    gate->owner = oldest_slot(gate);
    if (gate->owner == FREE)
        return;
    gate->waiting[gate->owner] = INT64_MAX;
    store_oldest(gate);
    pthread_cond_signal(&gate->turns[gate->owner]);
}

static void wait_turn(mo_joint_gate *gate, int slot, int64_t request)
{
    gate->waiting[slot] = request;
    store_oldest(gate);
    if (gate->owner == FREE)
        hand_over(gate);
    while (gate->owner != slot)
        pthread_cond_wait(&gate->turns[slot], &gate->lock);
}

void mo_joint_gate_enter(mo_joint_gate *gate, int slot, int64_t request)
{
    pthread_mutex_lock(&gate->lock);
    if (gate->owner == FREE)
        gate->owner = slot;
    else
        wait_turn(gate, slot, request);
    pthread_mutex_unlock(&gate->lock);
}

void mo_joint_gate_leave(mo_joint_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    hand_over(gate);
    pthread_mutex_unlock(&gate->lock);
}

bool mo_joint_gate_yield(mo_joint_gate *gate, int slot, int64_t request)
{
    if (atomic_load(&gate->oldest) >= request)
        return false;
    pthread_mutex_lock(&gate->lock);
    hand_over(gate);
    wait_turn(gate, slot, request);
    pthread_mutex_unlock(&gate->lock);
    return true;
}
