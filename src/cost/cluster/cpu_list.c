/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cluster/cpu_list.h"

#include <stddef.h>

typedef struct set {
    bool has[MO_MAX_CPUS];
    int n;
} set;

static bool read_number(const char **at, int *number)
{
    const char *from = *at;

    *number = 0;
    while (**at >= '0' && **at <= '9' && *number < MO_MAX_CPUS)
        *number = *number * 10 + (*(*at)++ - '0');
    return *at > from && *number < MO_MAX_CPUS;
}

static bool add(set *s, int from, int to)
{
    for (int cpu = from; cpu <= to; cpu++) {
        if (s->has[cpu])
            return false;
        s->has[cpu] = true;
        s->n++;
    }
    return from <= to;
}

static bool read_set(const char *text, set *s)
{
    for (;;) {
        int from, to;

        if (!read_number(&text, &from))
            return false;
        to = from;
        if (*text == '-' && (text++, !read_number(&text, &to)))
            return false;
        if (!add(s, from, to))
            return false;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

bool mo_cpu_list_read(const char *text, mo_arena *arena, const int **cpus,
                      int *n_cpus)
{
    set s = { .n = 0 };
    int *list, n = 0;

    if (!read_set(text, &s))
        return false;
    list = mo_arena_array(arena, (size_t) s.n, sizeof *list);
    for (int cpu = 0; cpu < MO_MAX_CPUS && list; cpu++)
        if (s.has[cpu])
            list[n++] = cpu;
    *cpus = list;
    *n_cpus = n;
    return true;
}
