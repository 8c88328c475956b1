/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/request_signals.h"

#include <signal.h>
#include <stdio.h>

#include "base/progress.h"

const char *mo_exec_signals_name(int number)
{
    return number == SIGINT ? "SIGINT" : "SIGTERM";
}

static bool on_signal(void *context, int number, int count)
{
    mo_exec_signals *s = context;
    int64_t first, end;
    char named[64] = "";
    bool is_last;

    if (count == 1)
        atomic_store(&s->number, number);
    first = atomic_load(&s->n_delivered);
    end = atomic_load(&s->n_accepted);
    /* A report remains to be written where all accepted requests have their
     * outputs. */
    is_last = end == 0 || count > (first < end ? 1 : 2);
    if (first < end) {
        /* "requests 3 to 5 are", "request 3 is". */
        if (end - first == 1)
            snprintf(named, sizeof named, "request %lld is", (long long) first);
        else
            snprintf(named, sizeof named, "requests %lld to %lld are",
                     (long long) first, (long long) end - 1);
    }
    mo_progress_erase();
    if (*named && is_last)
        fprintf(stderr, "%s: %s: %s without outputs\n", s->command,
                mo_exec_signals_name(number), named);
    else if (*named)
        fprintf(stderr,
                "%s: %s: no more requests are accepted; %s in flight and "
                "completed first, unless another signal comes\n",
                s->command, mo_exec_signals_name(number), named);
    else if (count > 1 && !is_last)
        fprintf(stderr,
                "%s: %s: all outputs are written; the report follows, unless "
                "another signal comes\n",
                s->command, mo_exec_signals_name(number));
    return is_last;
}

mo_status mo_exec_signals_begin(mo_exec_signals *s, mo_error *err)
{
    return mo_driver_signals_begin(on_signal, s, &s->watch, err);
}

void mo_exec_signals_end(mo_exec_signals *s)
{
    mo_driver_signals_end(s->watch);
    s->watch = NULL;
}

void mo_exec_signals_accept(mo_exec_signals *s, int64_t request)
{
    int64_t n = atomic_load(&s->n_accepted);

    while (n <= request &&
           !atomic_compare_exchange_weak(&s->n_accepted, &n, request + 1))
        continue;
}
