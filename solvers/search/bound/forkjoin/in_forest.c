/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/forkjoin/in_forest.h"

#include <stdlib.h>

enum { NONE = -1 };

/*
 * Every op keeps the flow with the longest tail, to v only where no other op
 * of the segment reads it:
 *
 *          .--> q ---> s --> c --.
 *        u ---> k --^     ^      v
 *          `--> w --------'
 */

/* Ops are identified by their index in the segment. */
typedef struct forest_builder {
    const mo_allowed_devices *places;
    const mo_bound_segment *segment;
    int lowest, highest; /* least and largest op of the segment */
    int *place_of;       /* by op - lowest: index + 1, or 0 */
    int64_t *tail_ns;    /* from its start to v, without transfers */
    mo_forkjoin_in_forest *forest;
} forest_builder;

static bool has_tensors_once(const forest_builder *f)
{
    return f->places->regime.tensors == MO_TENSORS_ONCE;
}

static int flow_comm_row(const forest_builder *f, int flow)
{
    const mo_instance *x = f->places->x;

    return has_tensors_once(f) ? x->tensor_row[x->flows[flow].tensor]
                               : x->flow_row[flow];
}

/* Returns the time of a row's slowest pair, to compare rows; -1 for NONE. */
static int64_t max_transfer_ns(const forest_builder *f, int row)
{
    const mo_instance *x = f->places->x;
    int64_t most = -1;

    for (int c = 0; row != NONE && c < x->n_kinds; c++)
        if (x->comm_ns[(int64_t) row * x->n_kinds + c] > most)
            most = x->comm_ns[(int64_t) row * x->n_kinds + c];
    return most;
}

/* Returns the index of an op, or NONE if it is not in the segment. */
static int segment_index(const forest_builder *f, int op)
{
    return op < f->lowest || op > f->highest ? NONE
                                             : f->place_of[op - f->lowest] - 1;
}

static mo_status index_ops(forest_builder *f, mo_error *err)
{
    const mo_bound_segment *s = f->segment;

    f->lowest = s->n > 0 ? s->ops[0] : 0;
    f->highest = f->lowest;
    for (int i = 0; i < s->n; i++) {
        if (s->ops[i] < f->lowest)
            f->lowest = s->ops[i];
        if (s->ops[i] > f->highest)
            f->highest = s->ops[i];
    }
    f->place_of =
        calloc((size_t) (f->highest - f->lowest) + 1, sizeof *f->place_of);
    if (!f->place_of)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        f->place_of[s->ops[i] - f->lowest] = i + 1;
    return MO_OK;
}

/* Returns how many of the segment's ops read a tensor. */
static int count_readers(const forest_builder *f, int tensor)
{
    const mo_instance *x = f->places->x;
    int n = 0;

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1]; q++)
        n += segment_index(f, x->flows[q].to) != NONE;
    return n;
}

/* Chooses the tensor of u with the most readers, with tensors sent once; of
 * equals the longer, then the first. A single reader makes no broadcast. */
static void choose_broadcast(forest_builder *f)
{
    const mo_instance *x = f->places->x;
    int u = f->segment->u, most = 1;

    for (int q = x->out_start[u]; q < x->out_start[u + 1];) {
        int tensor = x->flows[q].tensor, row = x->tensor_row[tensor];
        int n = count_readers(f, tensor);

        if (n > most || (n == most && f->forest->broadcast_row != NONE &&
                         max_transfer_ns(f, row) >
                             max_transfer_ns(f, f->forest->broadcast_row))) {
            most = n;
            f->forest->broadcast_row = row;
        }
        q = x->tensor_start[tensor + 1];
    }
}

/* alone: the tensor has no other reader. */
static void keep_u_input(forest_builder *f, int place, int row, bool alone)
{
    int *kept = &f->forest->u_row[place];
    bool shared = has_tensors_once(f) && row == f->forest->broadcast_row;
    bool has_shared = has_tensors_once(f) &&
                      *kept == f->forest->broadcast_row && *kept != NONE;

    f->forest->relaxed =
        f->forest->relaxed || *kept != NONE || !(alone || shared);
    if (shared || (alone && !has_shared &&
                   max_transfer_ns(f, row) > max_transfer_ns(f, *kept)))
        *kept = row;
}

/*
 * An op keeps its input of the broadcast tensor, or else its longest. Another
 * tensor with two readers would be counted twice where they are on one device;
 * it is dropped. One with the same transfer times as the broadcast tensor is
 * treated as the same: its reader waits for the first of the two then.
 */
static void add_u_tensor(forest_builder *f, int tensor)
{
    const mo_instance *x = f->places->x;
    bool alone = !has_tensors_once(f) || count_readers(f, tensor) == 1;

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        int place = segment_index(f, x->flows[q].to), row = flow_comm_row(f, q);

        if (place == NONE)
            f->forest->relaxed =
                f->forest->relaxed || x->flows[q].to == f->segment->v;
        else
            keep_u_input(f, place, row, alone);
    }
}

static void choose_u_inputs(forest_builder *f)
{
    const mo_instance *x = f->places->x;
    int u = f->segment->u;

    if (u == MO_FREE)
        return;
    if (has_tensors_once(f))
        choose_broadcast(f);
    for (int q = x->out_start[u]; q < x->out_start[u + 1];) {
        int tensor = x->flows[q].tensor;

        add_u_tensor(f, tensor);
        q = x->tensor_start[tensor + 1];
    }
}

static int64_t least_p_ns(const forest_builder *f, int place)
{
    const mo_instance *x = f->places->x;
    int op = f->segment->ops[place];
    int64_t least = INT64_MAX;

    for (int k = 0; k < x->n_devices; k++)
        if (mo_allowed_devices_has(f->places, op, k) &&
            mo_instance_p_ns(x, op, k) < least)
            least = mo_instance_p_ns(x, op, k);
    return least;
}

/* Chooses the flow of an op to keep, within the segment or to v; its readers
 * have been processed. */
static void choose_reader(forest_builder *f, int place)
{
    const mo_instance *x = f->places->x;
    int op = f->segment->ops[place], n = 0;
    int64_t longest = -1, row_ns = -1;

    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++) {
        int to = x->flows[q].to, at = segment_index(f, to);
        int row = flow_comm_row(f, q);
        int64_t tail_ns = at == NONE ? 0 : f->tail_ns[at];

        if (at == NONE && to != f->segment->v)
            continue;
        n++;
        if (tail_ns < longest ||
            (tail_ns == longest && max_transfer_ns(f, row) <= row_ns))
            continue;
        longest = tail_ns;
        row_ns = max_transfer_ns(f, row);
        f->forest->reader[place] = at == NONE ? MO_FREE : at;
        f->forest->row[place] = row;
    }
    f->forest->relaxed = f->forest->relaxed || n > 1;
    f->tail_ns[place] = least_p_ns(f, place) + (longest > 0 ? longest : 0);
}

mo_status mo_forkjoin_find_in_forest(const mo_allowed_devices *places,
                                     const mo_bound_segment *segment,
                                     mo_forkjoin_in_forest *forest,
                                     mo_error *err)
{
    forest_builder f = { .places = places,
                         .segment = segment,
                         .forest = forest };
    mo_status status = MO_OK;

    forest->broadcast_row = NONE;
    forest->relaxed = false;
    for (int i = 0; i < segment->n; i++)
        forest->u_row[i] = NONE;
    f.tail_ns = calloc((size_t) segment->n + 1, sizeof *f.tail_ns);
    if (f.tail_ns)
        status = index_ops(&f, err);
    else
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        choose_u_inputs(&f);
        for (int i = segment->n - 1; i >= 0; i--) {
            forest->reader[i] = MO_FREE;
            forest->row[i] = NONE;
            choose_reader(&f, i);
        }
    }
    free(f.place_of);
    free(f.tail_ns);
    return status;
}
