/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/run_delay.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int mo_thread_run_delay_open(void)
{
#ifdef __linux__
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
#else
    return -1;
#endif
}

/* The file is "run-time run-delay time-slices". */
int64_t mo_thread_run_delay_ns(int file)
{
    char text[128];
    int64_t delay;
    ssize_t n = file >= 0 ? pread(file, text, sizeof text - 1, 0) : -1;

    if (n <= 0)
        return -1;
    text[n] = '\0';
    return sscanf(text, "%*d %" SCNd64, &delay) == 1 && delay >= 0 ? delay : -1;
}
