/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/library_signals.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum { REPEAT_S = 1 };

static volatile sig_atomic_t asked;
static void (*volatile interrupt_now)(void *context);
static void *volatile interrupt_context;

static void handle_signal(int signal_number)
{
    void (*interrupt)(void *context) = interrupt_now;

    (void) signal_number;
    asked = 1;
    if (interrupt) {
        interrupt(interrupt_context);
        alarm(REPEAT_S);
    }
}

static void set_handler(int signal_number)
{
    struct sigaction action = { .sa_handler = handle_signal, .sa_flags = SA_RESTART };

    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGALRM);
    sigaction(signal_number, &action, NULL);
}

void mo_library_signals_catch(void)
{
    set_handler(SIGINT);
    set_handler(SIGTERM);
    set_handler(SIGALRM);
}

bool mo_library_signals_pending(void)
{
    return asked;
}

void mo_library_signals_begin(void (*interrupt)(void *context), void *context)
{
    interrupt_context = context;
    interrupt_now = interrupt;
    if (asked)
        alarm(REPEAT_S);
}

void mo_library_signals_end(void)
{
    interrupt_now = NULL;
    alarm(0);
}
