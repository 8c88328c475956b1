/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/forkjoin/fork_join.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

enum { NONE = -1, MANY = 4 }; /* equal branches at least */

/*
 * In-forest relaxation: the ops between u and v, with one outgoing flow each.
 *
 * Dropping a flow removes a precedence and a transfer and adds nothing, so
 * every schedule of the graph is one of the forest: the optimum of the forest
 * is a lower bound. A transfer that is kept is one that the schedule has:
 * where a tensor is sent to a device once, one reader there implies the
 * transfer.
 *
 * Every op keeps the flow with the longest tail, to v only where no other op
 * of the segment reads it:
 *
 *          .--> q ---> s --> c --.
 *        u ---> k --^     ^      v
 *          `--> w --------'
 */

/* By index of an op in the segment. */
typedef struct in_forest {
    int *reader;       /* an index; MO_FREE: v or none */
    int *row;          /* as in mo_forkjoin_op */
    int *u_row;        /* as in mo_forkjoin_op */
    int broadcast_row; /* as in mo_forkjoin */
    bool relaxed;      /* flows were dropped */
} in_forest;

/* Ops are identified by their index in the segment. */
typedef struct forest_builder {
    const mo_allowed_devices *places;
    const mo_bound_segment *segment;
    int lowest, highest; /* least and largest op of the segment */
    int *place_of;       /* by op - lowest: index + 1, or 0 */
    int64_t *tail_ns;    /* from its start to v, without transfers */
    in_forest *forest;
} forest_builder;

static bool has_tensors_once(const forest_builder *f)
{
    return f->places->regime.tensors == MO_TENSORS_ONCE;
}

static int flow_comm_row(const forest_builder *f, int flow)
{
    const mo_instance *x = f->places->x;

    return has_tensors_once(f) ? x->comm.tensor_row[x->flows[flow].tensor]
                               : x->comm.flow_row[flow];
}

/* Returns the time of a row's slowest pair, to compare rows; -1 for NONE. */
static int64_t max_transfer_ns(const forest_builder *f, int row)
{
    const mo_instance *x = f->places->x;
    int64_t most = -1;

    for (int c = 0; row != NONE && c < x->comm.n_kinds; c++)
        if (x->comm.ns[(int64_t) row * x->comm.n_kinds + c] > most)
            most = x->comm.ns[(int64_t) row * x->comm.n_kinds + c];
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
        int tensor = x->flows[q].tensor, row = x->comm.tensor_row[tensor];
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
        else {
            /* alone: the tensor has no other reader. */
            int *kept = &f->forest->u_row[place];
            bool shared =
                has_tensors_once(f) && row == f->forest->broadcast_row;
            bool has_shared = has_tensors_once(f) &&
                              *kept == f->forest->broadcast_row &&
                              *kept != NONE;

            f->forest->relaxed =
                f->forest->relaxed || *kept != NONE || !(alone || shared);
            if (shared || (alone && !has_shared &&
                           max_transfer_ns(f, row) > max_transfer_ns(f, *kept)))
                *kept = row;
        }
    }
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

    int64_t least = INT64_MAX;

    for (int k = 0; k < x->n_devices; k++)
        if (mo_allowed_devices_has(f->places, op, k) &&
            mo_instance_p_ns(x, op, k) < least)
            least = mo_instance_p_ns(x, op, k);
    f->tail_ns[place] = least + (longest > 0 ? longest : 0);
}

static mo_status find_in_forest(const mo_allowed_devices *places,
                                const mo_bound_segment *segment,
                                in_forest *forest, mo_error *err)
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
        const mo_instance *x = f.places->x;
        int u = f.segment->u;

        if (u != MO_FREE) {
            if (has_tensors_once(&f))
                choose_broadcast(&f);
            for (int q = x->out_start[u]; q < x->out_start[u + 1];) {
                int tensor = x->flows[q].tensor;

                add_u_tensor(&f, tensor);
                q = x->tensor_start[tensor + 1];
            }
        }
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

/*
 * Canonical forms of rooted trees: each tree of the forest is a branch. Trees
 * are isomorphic iff their shapes are equal: the shape of an op is made of its
 * times and devices, its rows, and the sorted shapes of its inputs. Shapes are
 * interned by content, not by a hash.
 */

typedef struct child {
    int shape, place;
} child;

/* Ops are identified by their index in the segment. */
typedef struct fork_builder {
    const mo_allowed_devices *places;
    const mo_bound_segment *segment;
    in_forest forest;
    int *child_start; /* n + 1 entries */
    child *children;
    int *shape;
    mo_arena *arena; /* owns the keys of the intern tables */
    mo_intern *times, *shapes;
    int64_t *key_ns; /* by device */
    int *key;        /* buffer for one shape */
} fork_builder;

static int compare_children(const void *a, const void *b)
{
    const child *s = a, *t = b;

    if (s->shape != t->shape)
        return s->shape < t->shape ? -1 : 1;
    return (s->place > t->place) - (s->place < t->place);
}

/* Interns the times of an op on its allowed devices. */
static mo_status intern_times(fork_builder *f, int op, int *number,
                              mo_error *err)
{
    const mo_instance *x = f->places->x;
    size_t size = (size_t) x->n_devices * sizeof *f->key_ns;

    for (int k = 0; k < x->n_devices; k++)
        f->key_ns[k] = mo_allowed_devices_has(f->places, op, k)
                           ? mo_instance_p_ns(x, op, k)
                           : -1;
    return mo_intern_put(f->times, (const char *) f->key_ns, size, number, err);
}

static mo_status intern_shape(fork_builder *f, int place, mo_error *err)
{
    int first = f->child_start[place], last = f->child_start[place + 1];
    size_t n = 0, size;
    mo_status status = intern_times(f, f->segment->ops[place], f->key, err);

    if (status != MO_OK)
        return status;
    for (int i = first; i < last; i++)
        f->children[i].shape = f->shape[f->children[i].place];
    if (last > first)
        qsort(f->children + first, (size_t) (last - first), sizeof *f->children,
              compare_children);
    n++;
    f->key[n++] = f->forest.row[place];
    f->key[n++] = f->forest.u_row[place];
    for (int i = first; i < last; i++)
        f->key[n++] = f->children[i].shape;
    size = n * sizeof *f->key;
    return mo_intern_put(f->shapes, (const char *) f->key, size,
                         &f->shape[place], err);
}

/*
 * Lists a tree with inputs first: breadth-first from the root with sorted
 * children, then reversed. Trees of one shape are listed in corresponding
 * order. Returns the number of ops.
 */
static int list_tree(const fork_builder *f, int root, int *places, int *readers)
{
    int n = 0;

    places[n] = root;
    readers[n++] = NONE;
    for (int i = 0; i < n; i++)
        for (int c = f->child_start[places[i]];
             c < f->child_start[places[i] + 1]; c++) {
            places[n] = f->children[c].place;
            readers[n++] = i;
        }
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        int place = places[i], reader = readers[i];
        places[i] = places[j];
        places[j] = place;
        readers[i] = readers[j];
        readers[j] = reader;
    }
    for (int i = 0; i < n; i++)
        readers[i] = readers[i] == NONE ? MO_FREE : n - 1 - readers[i];
    return n;
}

static mo_status init_class(const fork_builder *f, mo_forkjoin_class *class,
                            const int *places, const int *readers,
                            mo_error *err)
{
    class->ops = calloc((size_t) class->n, sizeof *class->ops);
    class->members = calloc((size_t) class->n * (size_t) class->count,
                            sizeof *class->members);
    if (!class->ops || !class->members)
        return mo_fail_memory(err);
    for (int j = 0; j < class->n; j++)
        class->ops[j] = (mo_forkjoin_op){ f->segment->ops[places[j]],
                                          readers[j], f->forest.row[places[j]],
                                          f->forest.u_row[places[j]] };
    return MO_OK;
}

static int compare_classes(const void *a, const void *b)
{
    const mo_forkjoin_class *s = a, *t = b;
    int64_t n = (int64_t) s->n * s->count, m = (int64_t) t->n * t->count;

    if (n != m)
        return n > m ? -1 : 1;
    return (s->members[0] > t->members[0]) - (s->members[0] < t->members[0]);
}

static mo_status make_classes(const fork_builder *f, mo_forkjoin *fork,
                              mo_error *err)
{
    size_t n_shapes = (size_t) mo_intern_count(f->shapes) + 1;
    size_t n = (size_t) f->segment->n + 1;
    int *class_of = malloc(n_shapes * sizeof *class_of);
    int *scratch = calloc(n, 3 * sizeof *scratch);
    mo_status status;

    fork->classes = calloc(n, sizeof *fork->classes);
    if (class_of && scratch && fork->classes) {
        for (size_t i = 0; i < n_shapes; i++)
            class_of[i] = NONE;
        /* Counts the trees of each class. */
        for (int i = 0; i < f->segment->n; i++) {
            int *class = &class_of[f->shape[i]];

            if (f->forest.reader[i] != MO_FREE)
                continue;
            if (*class == NONE)
                *class = fork->n_classes++;
            fork->classes[*class].count++;
        }
        int *places = scratch, *readers = scratch + f->segment->n + 1;
        int *seen = readers + f->segment->n + 1; /* trees so far, by class */
        status = MO_OK;

        for (int i = 0; i < f->segment->n && status == MO_OK; i++) {
            int at = class_of[f->shape[i]];
            mo_forkjoin_class *class = &fork->classes[at];

            if (f->forest.reader[i] != MO_FREE)
                continue;
            class->n = list_tree(f, i, places, readers);
            if (seen[at] == 0)
                status = init_class(f, class, places, readers, err);
            for (int j = 0; status == MO_OK && j < class->n; j++)
                class->members[seen[at] * class->n + j] =
                    f->segment->ops[places[j]];
            seen[at]++;
        }
    } else {
        status = mo_fail_memory(err);
    }
    if (status == MO_OK && fork->n_classes > 0)
        qsort(fork->classes, (size_t) fork->n_classes, sizeof *fork->classes,
              compare_classes);
    free(class_of);
    free(scratch);
    return status;
}

static mo_status make_fork(const fork_builder *f, mo_forkjoin **fork,
                           mo_error *err)
{
    mo_forkjoin *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->places = f->places;
    made->segment = *f->segment;
    made->broadcast_row = f->forest.broadcast_row;
    made->relaxed = f->forest.relaxed;
    status = make_classes(f, made, err);
    if (status == MO_OK)
        *fork = made;
    else
        mo_forkjoin_free(made);
    return status;
}

mo_status mo_forkjoin_find(const mo_allowed_devices *places,
                           const mo_bound_segment *segment, mo_forkjoin **fork,
                           mo_error *err)
{
    fork_builder f = { .places = places, .segment = segment };
    mo_status status;
    size_t count = (size_t) f.segment->n + 2;
    size_t devices = (size_t) f.places->x->n_devices;
    int *numbers = calloc(count, 6 * sizeof *numbers);

    f.forest.reader = numbers;
    f.children = calloc(count, sizeof *f.children);
    f.key_ns = calloc(devices + 1, sizeof *f.key_ns);
    f.arena = mo_arena_new();
    f.times = f.arena ? mo_intern_new(f.arena) : NULL;
    f.shapes = f.arena ? mo_intern_new(f.arena) : NULL;
    if (!numbers || !f.children || !f.key_ns || !f.times || !f.shapes) {
        status = mo_fail_memory(err);
    } else {
        f.forest.row = numbers + count;
        f.forest.u_row = numbers + 2 * count;
        f.child_start = numbers + 3 * count;
        f.shape = numbers + 4 * count;
        f.key = numbers + 5 * count;
        status = MO_OK;
    }

    if (status == MO_OK)
        status = find_in_forest(places, segment, &f.forest, err);
    if (status == MO_OK) {
        /* child_start[i] is the end of list i while it is filled. */
        int n = f.segment->n, sum = 0;

        for (int i = 0; i < n; i++)
            if (f.forest.reader[i] != MO_FREE)
                f.child_start[f.forest.reader[i] + 1]++;
        for (int i = 0; i <= n; i++)
            f.child_start[i] = sum += f.child_start[i];
        for (int i = n - 1; i >= 0; i--)
            if (f.forest.reader[i] != MO_FREE)
                f.children[--f.child_start[f.forest.reader[i] + 1]].place = i;
        for (int i = 0; i < n; i++)
            f.child_start[i] = f.child_start[i + 1];
        f.child_start[n] = sum;
    }
    for (int i = 0; i < segment->n && status == MO_OK; i++)
        status = intern_shape(&f, i, err);
    if (status == MO_OK)
        status = make_fork(&f, fork, err);
    mo_intern_free(f.times);
    mo_intern_free(f.shapes);
    mo_arena_free(f.arena);
    free(f.forest.reader);
    free(f.children);
    free(f.key_ns);
    return status;
}

void mo_forkjoin_free(mo_forkjoin *fork)
{
    if (!fork)
        return;
    for (int c = 0; fork->classes && c < fork->n_classes; c++) {
        free(fork->classes[c].ops);
        free(fork->classes[c].members);
    }
    free(fork->classes);
    free(fork);
}

bool mo_forkjoin_has_many_equal_branches(const mo_forkjoin *fork)
{
    int64_t equal = 0;

    for (int c = 0; fork && c < fork->n_classes; c++)
        if (fork->classes[c].count >= MANY)
            equal += (int64_t) fork->classes[c].count * fork->classes[c].n;
    return fork && 2 * equal > fork->segment.n;
}
