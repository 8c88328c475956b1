/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/forkjoin/in_forest.h"

#include <stdlib.h>

/*
 * Every op keeps the flow that goes on for longest, to v only where no other op
 * between reads it:
 *
 *          .--> q ---> s --> c --.
 *        u ---> k --^     ^      v
 *          `--> w --------'
 */

enum { NONE = -1 };

/* Ops are known by their place in the segment. */
typedef struct planter {
    const mo_allowed_devices *places;
    const mo_bound_segment *segment;
    int lowest, highest; /* of the ops' numbers */
    int *place_of;       /* by op - lowest: its place + 1, or 0 */
    int64_t *tail_ns;    /* from its beginning to v, if nothing is sent */
    mo_forkjoin_in_forest *forest;
} planter;

static bool is_once(const planter *f)
{
    return f->places->regime.tensors == MO_TENSORS_ONCE;
}

static int row_of_flow(const planter *f, int flow)
{
    const mo_instance *x = f->places->x;

    return is_once(f) ? x->tensor_row[x->flows[flow].tensor]
                      : x->flow_row[flow];
}

/* What a row's slowest pair takes: which of two is the longer. */
static int64_t length_ns(const planter *f, int row)
{
    const mo_instance *x = f->places->x;
    int64_t most = -1;

    for (int c = 0; row != NONE && c < x->n_kinds; c++)
        if (x->comm_ns[(int64_t) row * x->n_kinds + c] > most)
            most = x->comm_ns[(int64_t) row * x->n_kinds + c];
    return most;
}

/* The place of an op, or NONE where it is not of the segment. */
static int find_place(const planter *f, int op)
{
    return op < f->lowest || op > f->highest ? NONE
                                             : f->place_of[op - f->lowest] - 1;
}

static mo_status number_ops(planter *f, mo_error *err)
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

/* How many of the segment's ops read a tensor. */
static int count_readers(const planter *f, int tensor)
{
    const mo_instance *x = f->places->x;
    int n = 0;

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1]; q++)
        n += find_place(f, x->flows[q].to) != NONE;
    return n;
}

/* The tensor of u that most ops read, with tensors once; of equals the longer,
 * then the first.  With a single reader nothing is shared. */
static void find_shared(planter *f)
{
    const mo_instance *x = f->places->x;
    int u = f->segment->u, most = 1;

    for (int q = x->out_start[u]; q < x->out_start[u + 1];) {
        int tensor = x->flows[q].tensor, row = x->tensor_row[tensor];
        int n = count_readers(f, tensor);

        if (n > most ||
            (n == most && f->forest->shared_row != NONE &&
             length_ns(f, row) > length_ns(f, f->forest->shared_row))) {
            most = n;
            f->forest->shared_row = row;
        }
        q = x->tensor_start[tensor + 1];
    }
}

/* alone: nobody else reads what is read. */
static void keep_read_of_u(planter *f, int place, int row, bool alone)
{
    int *kept = &f->forest->u_row[place];
    bool shared = is_once(f) && row == f->forest->shared_row;
    bool has_shared =
        is_once(f) && *kept == f->forest->shared_row && *kept != NONE;

    f->forest->relaxed =
        f->forest->relaxed || *kept != NONE || !(alone || shared);
    if (shared ||
        (alone && !has_shared && length_ns(f, row) > length_ns(f, *kept)))
        *kept = row;
}

/*
 * An op keeps its read of the shared tensor, or else its longest.  Another
 * tensor that two ops read would, counted for each, be counted twice where they
 * are on one device; it is left out.  One that only looks like the shared one
 * may pass for it: what its reader waits for is the first of the two then.
 */
static void read_tensor_of_u(planter *f, int tensor)
{
    const mo_instance *x = f->places->x;
    bool alone = !is_once(f) || count_readers(f, tensor) == 1;

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        int place = find_place(f, x->flows[q].to), row = row_of_flow(f, q);

        if (place == NONE)
            f->forest->relaxed =
                f->forest->relaxed || x->flows[q].to == f->segment->v;
        else
            keep_read_of_u(f, place, row, alone);
    }
}

static void find_reads_of_u(planter *f)
{
    const mo_instance *x = f->places->x;
    int u = f->segment->u;

    if (u == MO_FREE)
        return;
    if (is_once(f))
        find_shared(f);
    for (int q = x->out_start[u]; q < x->out_start[u + 1];) {
        int tensor = x->flows[q].tensor;

        read_tensor_of_u(f, tensor);
        q = x->tensor_start[tensor + 1];
    }
}

static int64_t least_p_ns(const planter *f, int place)
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

/* Of an op's flows within the segment and to v, the one to keep; all of its
 * readers have been here. */
static void choose_reader(planter *f, int place)
{
    const mo_instance *x = f->places->x;
    int op = f->segment->ops[place], n = 0;
    int64_t longest = -1, row_ns = -1;

    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++) {
        int to = x->flows[q].to, at = find_place(f, to);
        int row = row_of_flow(f, q);
        int64_t tail_ns = at == NONE ? 0 : f->tail_ns[at];

        if (at == NONE && to != f->segment->v)
            continue;
        n++;
        if (tail_ns < longest ||
            (tail_ns == longest && length_ns(f, row) <= row_ns))
            continue;
        longest = tail_ns;
        row_ns = length_ns(f, row);
        f->forest->reader[place] = at == NONE ? MO_FREE : at;
        f->forest->row[place] = row;
    }
    f->forest->relaxed = f->forest->relaxed || n > 1;
    f->tail_ns[place] = least_p_ns(f, place) + (longest > 0 ? longest : 0);
}

static void choose_readers(planter *f)
{
    for (int i = f->segment->n - 1; i >= 0; i--) {
        f->forest->reader[i] = MO_FREE;
        f->forest->row[i] = NONE;
        choose_reader(f, i);
    }
}

mo_status mo_forkjoin_in_forest_find(const mo_allowed_devices *places,
                                     const mo_bound_segment *segment,
                                     mo_forkjoin_in_forest *forest,
                                     mo_error *err)
{
    planter f = { .places = places, .segment = segment, .forest = forest };
    mo_status status = MO_OK;

    forest->shared_row = NONE;
    forest->relaxed = false;
    for (int i = 0; i < segment->n; i++)
        forest->u_row[i] = NONE;
    f.tail_ns = calloc((size_t) segment->n + 1, sizeof *f.tail_ns);
    if (f.tail_ns)
        status = number_ops(&f, err);
    else
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        find_reads_of_u(&f);
        choose_readers(&f);
    }
    free(f.place_of);
    free(f.tail_ns);
    return status;
}
