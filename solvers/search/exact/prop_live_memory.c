/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prop_live_memory.c - lazy constraints on live memory: a buffer is the
 * workspace of an op, a tensor on the device of its producer, or a transferred
 * copy. It is live from the start of a task until all its readers have ended;
 * an op that takes no time, and a starter, occupies it for 1 ns.
 */
#include <stdlib.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"
#include "solvers/search/exact/exact_internal.h"

typedef enum mo_exact_buffer_kind {
    MO_EXACT_BUFFER_WORKSPACE,
    MO_EXACT_BUFFER_OUTPUT,
    MO_EXACT_BUFFER_COPY
} mo_exact_buffer_kind;

typedef struct mo_exact_buffer {
    mo_exact_buffer_kind kind;
    int id;      /* op, tensor or task */
    int starter; /* its start allocates the buffer */
    int literal; /* that the buffer exists */
    int64_t start_ns, end_ns, bytes;
    bool in_excess; /* member of the set that exceeds the capacity */
} mo_exact_buffer;

/* The buffer is dead on the device before the task starts there. */
typedef struct mo_exact_lifetime_order {
    mo_exact_buffer_kind kind;
    int id, device, starter;
    int literal;
} mo_exact_lifetime_order;

/*
 * Lifetime orders: of two buffers on a device, one is dead before the other is
 * allocated, so the starter of the other follows all readers of the one, by
 * 1 ns where an op or the starter of the one takes no time.
 */

/* Returns whether the task transfers the tensor. */
static bool is_transfer_of(const mo_exact_model *m, int task, int tensor)
{
    const mo_exact_task *t = &m->tasks[task];

    return t->to != MO_FREE ? t->item == tensor
                            : m->x->flows[t->item].tensor == tensor;
}

static bool reads_tensor(const mo_instance *x, int op, int tensor)
{
    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1]; q++)
        if (x->flows[q].to == op)
            return true;
    return false;
}

/* Returns whether the op reads what the task transfers. */
static bool feeds_op(const mo_exact_model *m, int task, int op)
{
    const mo_exact_task *t = &m->tasks[task];

    return t->to == MO_FREE ? m->x->flows[t->item].to == op
                            : reads_tensor(m->x, op, t->item);
}

/* Returns whether the mode may use the buffer on the device: as its starter,
 * or as a reader that must end before it is dead. */
static bool uses_buffer(const mo_exact_model *m, const mo_exact_buffer *h,
                        int device, int mode)
{
    const mo_exact_mode *it = &m->modes[mode];
    bool is_op = it->task < m->x->n;

    if (!it->is_real)
        return false;
    if (it->task == h->starter)
        return it->to == device;
    if (is_op && it->to != device)
        return false;
    switch (h->kind) {
    case MO_EXACT_BUFFER_WORKSPACE:
        break;
    case MO_EXACT_BUFFER_OUTPUT:
        return is_op ? reads_tensor(m->x, it->task, h->id)
                     : it->from == device && is_transfer_of(m, it->task, h->id);
    case MO_EXACT_BUFFER_COPY:
        return is_op && feeds_op(m, h->id, it->task);
    }
    return false;
}

/* Returns how long a mode that uses the buffer occupies it beyond its end. */
static int64_t pause_ns_of(const mo_exact_model *m, const mo_exact_buffer *h,
                           int mode)
{
    const mo_exact_mode *user = &m->modes[mode];

    return user->length_ns == 0 &&
           (user->task == h->starter || user->task < m->x->n);
}

/* Returns the known lifetime order of a buffer and a starter on a device, or
 * NULL. */
static const mo_exact_lifetime_order *
find_lifetime_order(const mo_exact_search *s, const mo_exact_buffer *h,
                    int device, int starter)
{
    for (size_t i = 0; i < s->n_lifetime_orders; i++) {
        const mo_exact_lifetime_order *p = &s->lifetime_orders[i];

        if (p->kind == h->kind && p->id == h->id && p->device == device &&
            p->starter == starter)
            return p;
    }
    return NULL;
}

static bool add_precedence(mo_exact_search *s, mo_exact_precedence precedence,
                           mo_exact_alternative alternative)
{
    mo_exact_model *m = &s->model;

    if (MO_ARRAY_GROW(m->precedences, m->n_precedences, m->precedences_room,
                      NULL) != MO_OK ||
        MO_ARRAY_GROW(m->alternatives, m->n_alternatives, m->alternatives_room,
                      NULL) != MO_OK)
        return !(s->core.out_of_memory = true);
    precedence.first = (int) m->n_alternatives;
    precedence.n = 1;
    m->precedences[m->n_precedences++] = precedence;
    m->alternatives[m->n_alternatives++] = alternative;
    return true;
}

/* Returns whether the task of the mode ends before that of the other in every
 * schedule. */
static bool always_precedes(const mo_exact_model *m, int mode, int other)
{
    int task = m->modes[mode].task, then = m->modes[other].task;

    return task == then ||
           mo_exact_always_ends_before(m, task, m->tasks[then].source) ||
           (task >= m->x->n && then < m->x->n && feeds_op(m, task, then));
}

/* Orders a mode that uses the buffer before the mode of the starter. If it
 * always follows that, both can only hold if neither occupies time. */
static void order_buffer_modes(mo_exact_search *s, const mo_exact_buffer *h,
                               int literal, int mode, int starter_mode)
{
    const mo_exact_model *m = &s->model;
    const mo_exact_mode *needs = &m->modes[mode],
                        *starter = &m->modes[starter_mode];
    int64_t pause_ns = pause_ns_of(m, h, mode);

    if ((needs->length_ns + pause_ns > 0 || starter->length_ns > 0) &&
        always_precedes(m, starter_mode, mode))
        mo_exact_core_add_root_clause(
            &s->core,
            (int[]){ literal ^ 1, needs->literal ^ 1, starter->literal ^ 1 },
            3);
    else if (mode != starter_mode) {
        /* Adds precedences: if the literal is true and both modes are selected,
         * `then` starts pause_ns or more after the end of `first`. */
        const mo_exact_mode *a = &s->model.modes[mode],
                            *b = &s->model.modes[starter_mode];
        mo_exact_alternative forth = { .literal = a->literal,
                                       .bound = MO_EXACT_HEAD(mode),
                                       .bound2 = -1,
                                       .add_ns = a->length_ns + pause_ns };
        mo_exact_alternative back = { .literal = b->literal,
                                      .bound = MO_EXACT_TAIL(starter_mode),
                                      .bound2 = -1,
                                      .add_ns = b->length_ns + pause_ns };

        add_precedence(
            s,
            (mo_exact_precedence){ .target = MO_EXACT_HEAD(starter_mode),
                                   .condition = literal,
                                   .condition2 = a->literal },
            forth);
        add_precedence(s,
                       (mo_exact_precedence){ .target = MO_EXACT_TAIL(mode),
                                              .condition = literal,
                                              .condition2 = b->literal },
                       back);
    }
}

/* At level 0: adds a lifetime order with its precedences; returns its literal,
 * MO_EXACT_NO_LITERAL if memory runs out. */
static int add_lifetime_order(mo_exact_search *s, const mo_exact_buffer *h,
                              int device, int starter)
{
    const mo_exact_model *m = &s->model;
    const mo_exact_lifetime_order *known =
        find_lifetime_order(s, h, device, starter);
    mo_exact_lifetime_order order = { h->kind, h->id, device, starter, 0 };

    if (known)
        return known->literal;
    if (MO_ARRAY_GROW(s->lifetime_orders, s->n_lifetime_orders,
                      s->lifetime_orders_room, NULL) != MO_OK) {
        s->core.out_of_memory = true;
        return MO_EXACT_NO_LITERAL;
    }
    order.literal = 2 * mo_exact_core_new_variable(&s->core);
    s->lifetime_orders[s->n_lifetime_orders++] = order;
    for (int i = 0; i < (int) m->n_modes; i++) {
        const mo_exact_task *task = &m->tasks[starter];

        if (!uses_buffer(m, h, device, i))
            continue;
        for (int j = task->first; j < task->first + task->n; j++)
            if (m->modes[j].is_real && m->modes[j].to == device)
                order_buffer_modes(s, h, order.literal, i, j);
    }
    return order.literal;
}

/*
 * Lazy constraint on live memory. Heads are the earliest times, so where the
 * live buffers exceed the capacity at some moment, some of them must wait.
 * They cannot all overlap, and intervals that overlap pairwise share a moment
 * (Helly's theorem in one dimension): so of some two of them, one is dead
 * before the other is allocated. Each such lifetime order is a literal, and
 * the clause that one of them holds, given the placement, is valid globally.
 */

__extension__ typedef __int128 wide;

/* Returns when the chosen mode of a task no longer occupies the buffer. */
static int64_t release_ns(const mo_exact_search *s, const mo_exact_buffer *h,
                          int mode)
{
    return s->core.value[MO_EXACT_HEAD(mode)] + s->model.modes[mode].length_ns +
           pause_ns_of(&s->model, h, mode);
}

static bool is_op_on(const mo_exact_search *s, int op, int device)
{
    return s->model.modes[mo_exact_chosen_mode(s, op)].from == device;
}

static void add_buffer(mo_exact_search *s, mo_exact_buffer h, int device)
{
    int starter = mo_exact_chosen_mode(s, h.starter);

    if (h.bytes <= 0)
        return;
    if (MO_ARRAY_GROW(s->buffers, s->n_buffers, s->buffers_room, NULL) !=
        MO_OK) {
        s->core.out_of_memory = true;
        return;
    }
    h.literal = s->model.modes[starter].literal;
    h.start_ns = s->core.value[MO_EXACT_HEAD(starter)];
    h.end_ns = release_ns(s, &h, starter);
    for (int t = 0; t < (int) s->model.n_tasks; t++) {
        int mode = mo_exact_chosen_mode(s, t);

        if (mode >= 0 && uses_buffer(&s->model, &h, device, mode))
            h.end_ns = mo_max_i64(h.end_ns, release_ns(s, &h, mode));
    }
    s->buffers[s->n_buffers++] = h;
}

/* Marks the live buffers at a moment, of workspaces only the largest. Returns
 * their bytes. A buffer is dead at its end. */
static wide mark_live(mo_exact_search *s, int64_t at_ns)
{
    mo_exact_buffer *work = NULL;
    wide sum = 0;

    for (size_t i = 0; i < s->n_buffers; i++) {
        mo_exact_buffer *h = &s->buffers[i];

        h->in_excess = h->start_ns <= at_ns && at_ns < h->end_ns;
        if (h->in_excess && h->kind == MO_EXACT_BUFFER_WORKSPACE) {
            h->in_excess = false;
            if (!work || h->bytes > work->bytes)
                work = h;
        }
        sum += h->in_excess ? h->bytes : 0;
    }
    if (work)
        work->in_excess = true;
    return sum + (work ? work->bytes : 0);
}

/* Minimizes the set: removes the smallest buffers while the rest still exceeds
 * the capacity. */
static void minimize_excess(mo_exact_search *s, wide excess)
{
    for (;;) {
        mo_exact_buffer *least = NULL;

        for (size_t i = 0; i < s->n_buffers; i++) {
            mo_exact_buffer *h = &s->buffers[i];

            if (h->in_excess && (!least || h->bytes < least->bytes))
                least = h;
        }
        if (!least || least->bytes >= excess)
            return;
        least->in_excess = false;
        excess -= least->bytes;
    }
}

/* Finds a moment with excess on the device and marks the buffers; returns
 * false if there is none. */
static bool find_excess(mo_exact_search *s, int device)
{
    const mo_instance *x = s->model.x;
    int64_t capacity = x->capacity_bytes[device];
    wide weights = 0;
    const mo_exact_model *m = &s->model;

    for (int i = 0; i < x->n; i++)
        if (is_op_on(s, i, device))
            weights += x->weight_bytes[i];
    if (capacity == INT64_MAX)
        return false;
    s->n_buffers = 0;
    for (int i = 0; i < m->x->n; i++)
        if (is_op_on(s, i, device)) {
            mo_exact_buffer h = { .kind = MO_EXACT_BUFFER_WORKSPACE,
                                  .id = i,
                                  .starter = i };

            h.bytes = x->memory_bytes[i] - x->weight_bytes[i];
            add_buffer(s, h, device);
            h.kind = MO_EXACT_BUFFER_OUTPUT;
            for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++) {
                h.id = x->flows[q].tensor;
                h.bytes = x->tensor_bytes[h.id];
                if (q == x->tensor_start[h.id])
                    add_buffer(s, h, device);
            }
        }
    for (int t = m->x->n; t < (int) m->n_tasks; t++) {
        int mode = mo_exact_chosen_mode(s, t);

        if (mode >= 0 && m->modes[mode].is_real &&
            m->modes[mode].to == device) {
            const mo_exact_task *task = &s->model.tasks[t];

            int tensor =
                task->to == MO_FREE ? x->flows[task->item].tensor : task->item;

            add_buffer(s,
                       (mo_exact_buffer){ .kind = MO_EXACT_BUFFER_COPY,
                                          .id = t,
                                          .starter = t,
                                          .bytes = x->tensor_bytes[tensor] },
                       device);
        }
    }
    for (size_t i = 0; i < s->n_buffers && !s->core.out_of_memory; i++) {
        wide excess = mark_live(s, s->buffers[i].start_ns) + weights - capacity;

        if (excess > 0) {
            if (!mo_ablated(MO_ABLATION_exact_excess_minimization))
                minimize_excess(s, excess);
            return true;
        }
    }
    return false;
}

/* Returns an unassigned lifetime order of the marked buffers, with the least
 * delay, or MO_EXACT_NO_LITERAL. */
static int choose_open_order(const mo_exact_search *s, int device)
{
    int best = MO_EXACT_NO_LITERAL;
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < s->n_buffers; i++)
        for (size_t j = 0; j < s->n_buffers; j++) {
            const mo_exact_buffer *a = &s->buffers[i], *b = &s->buffers[j];
            const mo_exact_lifetime_order *order;

            if (i == j || !a->in_excess || !b->in_excess ||
                a->end_ns - b->start_ns >= least)
                continue;
            order = find_lifetime_order(s, a, device, b->starter);
            if (!order || s->core.truth[order->literal] != 0)
                continue;
            best = order->literal;
            least = a->end_ns - b->start_ns;
        }
    return best;
}

static bool can_be_ordered(const mo_exact_search *s, const mo_exact_buffer *a,
                           const mo_exact_buffer *b)
{
    return a->in_excess && b->in_excess && a->starter != b->starter &&
           !mo_exact_always_ends_before(&s->model, b->starter,
                                        s->model.tasks[a->starter].source);
}

/* Stores the clause "some two are ordered, or something is placed elsewhere",
 * at level 0; returns its length. */
static size_t build_excess_clause(mo_exact_search *s, int device, int *clause)
{
    const mo_exact_model *m = &s->model;
    size_t n = 0, n_buffers = s->n_buffers;

    for (size_t i = 0; i < n_buffers; i++) {
        if (s->buffers[i].in_excess)
            clause[n++] = s->buffers[i].literal ^ 1;
        for (size_t j = 0; j < n_buffers; j++)
            if (can_be_ordered(s, &s->buffers[i], &s->buffers[j])) {
                int literal = add_lifetime_order(s, &s->buffers[i], device,
                                                 s->buffers[j].starter);

                if (literal != MO_EXACT_NO_LITERAL)
                    clause[n++] = literal;
            }
    }
    for (int u = 0; u < m->units->n; u++)
        if (m->units->bytes[u] > 0 &&
            s->device[m->units->ops[m->units->start[u]]] == device)
            clause[n++] = m->place_literal[u * m->x->n_devices + device] ^ 1;
    return n;
}

/* Adds the clause and restarts with the same devices as phases. Returns false
 * on a conflict at level 0. */
static bool learn_excess(mo_exact_search *s, int device)
{
    size_t n = s->n_buffers;
    int *clause =
        malloc((n * n + n + (size_t) s->model.units->n + 1) * sizeof *clause);
    bool holds = false;

    if (!clause) {
        s->core.out_of_memory = true;
        return false;
    }
    for (int i = 0; i < s->model.x->n; i++)
        s->device[i] = s->model.modes[mo_exact_chosen_mode(s, i)].from;
    mo_exact_core_backtrack(&s->core, 0);
    n = build_excess_clause(s, device, clause);
    if (!s->core.out_of_memory)
        holds = mo_exact_core_add_root_clause(&s->core, clause, (int) n);
    free(clause);
    return holds;
}

bool mo_exact_enforce_live_memory(mo_exact_search *s, int *literal,
                                  bool *goes_on)
{
    *goes_on = true;
    *literal = MO_EXACT_NO_LITERAL;
    if (s->model.regime.memory != MO_MEMORY_LIVE)
        return true;
    for (int k = 0; k < s->model.x->n_devices; k++) {
        if (!find_excess(s, k))
            continue;
        *literal = choose_open_order(s, k);
        if (*literal == MO_EXACT_NO_LITERAL)
            *goes_on = learn_excess(s, k);
        return false;
    }
    return true;
}
