/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/decomp/boundary_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

mo_status mo_decomp_path_new(const mo_decomp_segments *segments, int n_states,
                             mo_decomp_path **path, mo_error *err)
{
    mo_decomp_path *w = calloc(1, sizeof *w);
    size_t n = (size_t) n_states, size;

    if (!w || !mo_size_mul((size_t) segments->n, n, &size)) {
        free(w);
        return mo_fail_memory(err);
    }
    w->segments = segments;
    w->n_states = n_states;
    w->tables = calloc((size_t) segments->n_classes, sizeof *w->tables);
    w->state = calloc((size_t) segments->n, sizeof *w->state);
    w->from = calloc(size, sizeof *w->from);
    w->now = calloc(n, sizeof *w->now);
    w->next = calloc(n, sizeof *w->next);
    if (w->tables && w->state && w->from && w->now && w->next) {
        *path = w;
        return MO_OK;
    }
    mo_decomp_path_free(w);
    return mo_fail_memory(err);
}

void mo_decomp_path_free(mo_decomp_path *w)
{
    if (!w)
        return;
    free(w->tables);
    free(w->state);
    free(w->from);
    free(w->now);
    free(w->next);
    free(w);
}

int64_t mo_decomp_path_shortest(mo_decomp_path *w)
{
    int n = w->segments->n, state = 0;

    for (int a = 0; a < w->n_states; a++)
        w->now[a] = a == 0 ? 0 : INT64_MAX;
    for (int i = 0; i < n; i++) {
        const int64_t *table = w->tables[w->segments->cls[i]];
        unsigned char *from = w->from + (size_t) i * (size_t) w->n_states;
        int count = w->n_states;
        int64_t *next = w->next;

        for (int b = 0; b < count; b++)
            next[b] = INT64_MAX;
        for (int a = 0; a < count; a++) {
            if (w->now[a] == INT64_MAX)
                continue;
            for (int b = 0; b < count; b++) {
                int64_t step_ns = table[a * count + b];

                if (step_ns != INT64_MAX && w->now[a] + step_ns < next[b]) {
                    next[b] = w->now[a] + step_ns;
                    from[b] = (unsigned char) a;
                }
            }
        }
        w->next = w->now;
        w->now = next;
    }
    if (w->now[0] == INT64_MAX)
        return INT64_MAX;
    for (int i = n - 1; i > 0; i--) {
        state = w->from[(size_t) i * (size_t) w->n_states + (size_t) state];
        w->state[i - 1] = state;
    }
    return w->now[0];
}

int mo_decomp_path_boundary(const mo_decomp_path *w, int segment)
{
    int a = segment == 0 ? 0 : w->state[segment - 1];
    int b = segment == w->segments->n - 1 ? 0 : w->state[segment];

    return a * w->n_states + b;
}
