/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/nccl/flight_recorder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mo_nccl_flight_recorder_init(mo_nccl_flight_recorder *recorder,
                                  const mo_exec_plan *plan, const int *rank_of,
                                  int rank)
{
    *recorder = (mo_nccl_flight_recorder){ .plan = plan,
                                           .rank_of = rank_of,
                                           .rank = rank };
    pthread_mutex_init(&recorder->lock, NULL);
}

void mo_nccl_flight_recorder_destroy(mo_nccl_flight_recorder *recorder)
{
    pthread_mutex_destroy(&recorder->lock);
}

void mo_nccl_flight_recorder_record(mo_nccl_flight_recorder *recorder,
                                    int transfer, bool sending)
{
    int at;

    pthread_mutex_lock(&recorder->lock);
    at = recorder->n % MO_NCCL_FLIGHT_RECORDS;
    recorder->items[at].transfer = transfer;
    recorder->items[at].sending = sending;
    /* n only has to tell whether the ring is full, and the next position. */
    recorder->n = recorder->n + 1 < 2 * MO_NCCL_FLIGHT_RECORDS
                      ? recorder->n + 1
                      : MO_NCCL_FLIGHT_RECORDS;
    pthread_mutex_unlock(&recorder->lock);
}

/* Appends to text, truncated to its size. */
MO_PRINTF(2, 3)
static void append_text(char text[MO_ERROR_TEXT_SIZE], const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, MO_ERROR_TEXT_SIZE - used, format, args);
    va_end(args);
}

typedef struct record {
    const char *tensor;
    bool sending;
    int other; /* rank */
} record;

/* Returns the k-th newest record. */
static record get_record(const mo_nccl_flight_recorder *recorder, int k)
{
    int at = (recorder->n - 1 - k) % MO_NCCL_FLIGHT_RECORDS;
    const mo_plan_transfer *t =
        &recorder->plan->transfers[recorder->items[at].transfer];
    bool sending = recorder->items[at].sending;

    return (record){ recorder->plan->values[t->from_value].name, sending,
                     recorder->rank_of[sending ? t->to : t->from] };
}

static void append_records(const mo_nccl_flight_recorder *recorder,
                           char text[MO_ERROR_TEXT_SIZE])
{
    int n = recorder->n < MO_NCCL_FLIGHT_RECORDS ? recorder->n
                                                 : MO_NCCL_FLIGHT_RECORDS;

    for (int k = 0; k < n; k++) {
        record i = get_record(recorder, k);

        if (k == 0 && i.sending)
            append_text(text,
                        "; rank %d waits for rank %d to take tensor '%.60s'",
                        recorder->rank, i.other, i.tensor);
        else if (k == 0)
            append_text(text, "; rank %d waits for tensor '%.60s' of rank %d",
                        recorder->rank, i.tensor, i.other);
        else
            append_text(text, "%s '%.60s' %s rank %d",
                        k == 1 ? "; begun before:" : ",", i.tensor,
                        i.sending ? "to" : "of", i.other);
    }
}

void mo_nccl_flight_recorder_append(mo_nccl_flight_recorder *recorder,
                                    mo_error *err)
{
    pthread_mutex_lock(&recorder->lock);
    append_records(recorder, err->text);
    pthread_mutex_unlock(&recorder->lock);
}
