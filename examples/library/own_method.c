/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_method.c - a plug-in with a placement method and a solver of one's own.
 *
 *     cc -shared -fPIC own_method.c $(pkg-config --cflags moirai) -o own.so
 *     MOIRAI_PLUGINS=./own.so moirai-place --method greedy,heft net.graphml
 *     MOIRAI_PLUGINS=./own.so moirai-solve --solver own-cbc model.lp -o x.sol
 *
 * The method gives each op the device on which it ends first, in topological
 * order, as if nothing else used the links. The plug-in needs no library: what
 * it sees is plain data, and what it answers is checked.
 */
#include <moirai.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns when the inputs of op are on device k. Flows are sorted by from, so
 * that those into op are searched for. */
static int64_t ready_ns(const moirai_view *v, int op, int k,
                        const int32_t *device, const int64_t *end_ns)
{
    int64_t ready = 0;

    for (int f = 0; f < v->n_flows && v->flows[f].from < op; f++) {
        int from = v->flows[f].from;
        int64_t at =
            v->flows[f].to != op
                ? 0
                : end_ns[from] + moirai_view_transfer_ns(v, f, device[from], k);

        ready = at > ready ? at : ready;
    }
    return ready;
}

/* Ops of a group go where the first of them went. */
static int first_of_group(const moirai_view *v, int op, const int32_t *device)
{
    for (int i = 0; v->group[op] != MOIRAI_NONE && i < op; i++)
        if (v->group[i] == v->group[op])
            return device[i];
    return MOIRAI_NONE;
}

static int place(const moirai_method_task *task, int32_t *device,
                 int64_t *start_ns)
{
    const moirai_view *v = task->view;
    int64_t *end_ns = calloc((size_t) v->n_ops + 1, sizeof *end_ns);
    int64_t *free_ns = calloc((size_t) v->n_devices + 1, sizeof *free_ns);
    int64_t *left = calloc((size_t) v->n_devices + 1, sizeof *left);
    int status = end_ns && free_ns && left ? MOIRAI_OK : MOIRAI_E_MEMORY;

    for (int k = 0; k < v->n_devices && status == MOIRAI_OK; k++)
        left[k] = v->capacity_bytes[k];
    for (int i = 0; i < v->n_ops && status == MOIRAI_OK; i++) {
        int grouped = first_of_group(v, i, device), best = -1;

        for (int k = 0; k < v->n_devices; k++) {
            int64_t begin = ready_ns(v, i, k, device, end_ns);

            begin = begin > free_ns[k] ? begin : free_ns[k];
            if ((v->pin[i] != MOIRAI_NONE && v->pin[i] != k) ||
                (grouped != MOIRAI_NONE && grouped != k) ||
                left[k] < v->memory_bytes[i] ||
                (best >= 0 &&
                 begin + v->time_ns[(int64_t) i * v->n_devices + k] >=
                     end_ns[i]))
                continue;
            best = k;
            start_ns[i] = begin;
            end_ns[i] = begin + v->time_ns[(int64_t) i * v->n_devices + k];
        }
        if (best < 0) {
            snprintf(task->error_text, task->error_size,
                     "no device has room for '%s'", v->op_names[i]);
            status = MOIRAI_E_NO_SOLUTION;
        } else {
            device[i] = best;
            free_ns[best] = end_ns[i];
            left[best] -= v->memory_bytes[i];
        }
        if (task->should_stop(task->context))
            status = MOIRAI_E_NO_SOLUTION;
    }
    free(end_ns);
    free(free_ns);
    free(left);
    return status;
}

static const moirai_plugin_method methods[] = {
    { "greedy", "each op where it ends first, without contention", 1, place },
};

static const moirai_plugin_solver solvers[] = {
    { "own-cbc", "CBC of a plug-in", "cbc, as a command of a plug-in",
      "cbc {model} sec {time} solve solution {solution}" },
};

MOIRAI_API const moirai_plugin moirai_plugin_v1 = {
    sizeof(moirai_plugin), "own_method", methods, 1, solvers, 1,
};
