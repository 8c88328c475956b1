/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/nccl/flight_recorder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mo_nccl_flight_recorder_init(mo_nccl_flight_recorder *ring,
                                  const mo_exec_plan *plan, const int *rank_of,
                                  int rank)
{
    *ring = (mo_nccl_flight_recorder){ .plan = plan,
                                       .rank_of = rank_of,
                                       .rank = rank };
    pthread_mutex_init(&ring->lock, NULL);
}

void mo_nccl_flight_recorder_destroy(mo_nccl_flight_recorder *ring)
{
    pthread_mutex_destroy(&ring->lock);
}

void mo_nccl_flight_recorder_record(mo_nccl_flight_recorder *ring, int transfer,
                                    bool sending)
{
    int at;

    pthread_mutex_lock(&ring->lock);
    at = ring->n % MO_NCCL_FLIGHT_RECORDS;
    ring->items[at].transfer = transfer;
    ring->items[at].sending = sending;
    /* Only whether it is full matters, and where the next one goes. */
    ring->n = ring->n + 1 < 2 * MO_NCCL_FLIGHT_RECORDS ? ring->n + 1
                                                       : MO_NCCL_FLIGHT_RECORDS;
    pthread_mutex_unlock(&ring->lock);
}

/* Cut where there is no more room. */
MO_PRINTF(2, 3)
static void add(char text[MO_ERROR_TEXT_SIZE], const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, MO_ERROR_TEXT_SIZE - used, format, args);
    va_end(args);
}

typedef struct item {
    const char *tensor;
    bool sending;
    int other; /* rank */
} item;

/* The k-th from the end. */
static item look(const mo_nccl_flight_recorder *ring, int k)
{
    int at = (ring->n - 1 - k) % MO_NCCL_FLIGHT_RECORDS;
    const mo_plan_transfer *t =
        &ring->plan->transfers[ring->items[at].transfer];
    bool sending = ring->items[at].sending;

    return (item){ ring->plan->values[t->from_value].name, sending,
                   ring->rank_of[sending ? t->to : t->from] };
}

static void tell(const mo_nccl_flight_recorder *ring,
                 char text[MO_ERROR_TEXT_SIZE])
{
    int n = ring->n < MO_NCCL_FLIGHT_RECORDS ? ring->n : MO_NCCL_FLIGHT_RECORDS;

    for (int k = 0; k < n; k++) {
        item i = look(ring, k);

        if (k == 0 && i.sending)
            add(text, "; rank %d waits for rank %d to take tensor '%.60s'",
                ring->rank, i.other, i.tensor);
        else if (k == 0)
            add(text, "; rank %d waits for tensor '%.60s' of rank %d",
                ring->rank, i.tensor, i.other);
        else
            add(text, "%s '%.60s' %s rank %d", k == 1 ? "; begun before:" : ",",
                i.tensor, i.sending ? "to" : "of", i.other);
    }
}

void mo_nccl_flight_recorder_append(mo_nccl_flight_recorder *ring,
                                    mo_error *err)
{
    pthread_mutex_lock(&ring->lock);
    tell(ring, err->text);
    pthread_mutex_unlock(&ring->lock);
}
