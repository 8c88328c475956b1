/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/exact/task_model.h"

#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/exact/task_model_build.h"

/*
 * Builds the task model: ops with their place literals, transfers; precedences
 * along the flows (task_model_precedences.c) and resources
 * (task_model_resources.c) follow.
 */

/* Marks the model infeasible if the clause contradicts level 0. */
static void add_clause(mo_exact_builder *b, const int *literals, int n)
{
    if (!mo_exact_core_add_root_clause(b->core, literals, n))
        b->m->is_impossible = true;
}

static void add_binary_clause(mo_exact_builder *b, int l0, int l1)
{
    add_clause(b, (int[]){ l0, l1 }, 2);
}

static mo_status add_task(mo_exact_builder *b, mo_exact_task task,
                          mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_ARRAY_GROW(m->tasks, m->n_tasks, m->tasks_room, err);

    if (status != MO_OK)
        return status;
    task.first = (int) m->n_modes;
    task.n = 0;
    m->tasks[m->n_tasks++] = task;
    return MO_OK;
}

/* Adds a mode to the last task. */
static mo_status add_mode(mo_exact_builder *b, mo_exact_mode mode,
                          mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_ARRAY_GROW(m->modes, m->n_modes, m->modes_room, err);

    if (status != MO_OK)
        return status;
    mode.task = (int) m->n_tasks - 1;
    m->tasks[mode.task].n++;
    m->modes[m->n_modes++] = mode;
    return MO_OK;
}

/*
 * Transfers and their literals: y of a flow from a to b is true iff its
 * producer is on a and its reader on b. With tensors sent once, y is true iff
 * the producer is on a and some reader on b; another literal is true iff
 * nothing is sent to b, since the tensor is there or has no reader there.
 */

int *mo_exact_transfer_mode_slot(const mo_exact_builder *b, int item, int from,
                                 int to)
{
    size_t K = (size_t) b->m->x->n_devices;

    return &b->transfer_mode[((size_t) item * K + (size_t) from) * K +
                             (size_t) to];
}

bool mo_exact_is_colocated(const mo_exact_model *m, const mo_flow *f)
{
    return m->units->of_op[f->from] == m->units->of_op[f->to];
}

static mo_status add_flow_task(mo_exact_builder *b, int flow, mo_error *err)
{
    mo_exact_model *m = b->m;
    const mo_flow *f = &m->x->flows[flow];
    int K = m->x->n_devices;
    mo_status status = add_task(
        b, (mo_exact_task){ .item = flow, .source = f->from, .to = MO_FREE },
        err);

    for (int pair = 0; pair < K * K && status == MO_OK; pair++) {
        int from = pair / K, to = pair % K;
        int x_from = mo_exact_place_literal(m, f->from, from);
        int x_to = mo_exact_place_literal(m, f->to, to);
        mo_exact_mode mode = { .from = from, .to = to, .is_real = from != to };

        if (x_from == MO_EXACT_NO_LITERAL || x_to == MO_EXACT_NO_LITERAL)
            continue;
        mode.literal = 2 * mo_exact_core_new_variable(b->core);
        mode.length_ns = mo_instance_flow_ns(m->x, flow, from, to);
        add_binary_clause(b, mode.literal ^ 1, x_from);
        add_binary_clause(b, mode.literal ^ 1, x_to);
        add_clause(b, (int[]){ mode.literal, x_from ^ 1, x_to ^ 1 }, 3);
        *mo_exact_transfer_mode_slot(b, flow, from, to) = (int) m->n_modes;
        status = add_mode(b, mode, err);
    }
    return status;
}

static mo_status add_tensor_mode(mo_exact_builder *b, int tensor, int from,
                                 int to, int n, mo_error *err)
{
    mo_exact_model *m = b->m;
    int x_from = mo_exact_place_literal(m, m->x->tensor_from[tensor], from);
    mo_exact_mode mode = { .from = from, .to = to, .is_real = from != to };

    if (x_from == MO_EXACT_NO_LITERAL && from != to)
        return MO_OK;
    mode.literal = 2 * mo_exact_core_new_variable(b->core);
    mode.length_ns = mo_instance_tensor_ns(m->x, tensor, from, to);
    if (from == to) {
        /* mode.literal <=> the producer is here (x_from), or no reader
 is. */
        int *readers = b->clause;

        for (int i = 0; i < n; i++)
            if (x_from == MO_EXACT_NO_LITERAL)
                add_binary_clause(b, mode.literal ^ 1, readers[i] ^ 1);
            else
                add_clause(
                    b, (int[]){ mode.literal ^ 1, x_from, readers[i] ^ 1 }, 3);
        if (x_from != MO_EXACT_NO_LITERAL)
            add_binary_clause(b, mode.literal, x_from ^ 1);
        readers[n] = mode.literal;
        add_clause(b, readers, n + 1);
    } else {
        /* mode.literal <=> x_from and one of the n readers in b->clause. */
        int *readers = b->clause;

        add_binary_clause(b, mode.literal ^ 1, x_from);
        for (int i = 0; i < n; i++)
            add_clause(b, (int[]){ mode.literal, x_from ^ 1, readers[i] ^ 1 },
                       3);
        readers[n] = mode.literal ^ 1;
        add_clause(b, readers, n + 1);
    }
    *mo_exact_transfer_mode_slot(b, tensor, from, to) = (int) m->n_modes;
    return add_mode(b, mode, err);
}

static mo_status build_transfers(mo_exact_builder *b, mo_error *err)
{
    const mo_instance *x = b->m->x;
    bool once = b->m->regime.tensors == MO_TENSORS_ONCE;
    size_t K = (size_t) x->n_devices;
    size_t n = (size_t) (once ? x->n_tensors : x->n_flows) * K * K;
    mo_status status = MO_OK;

    b->transfer_mode = malloc((n + 1) * sizeof *b->transfer_mode);
    if (!b->transfer_mode)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        b->transfer_mode[i] = -1;
    for (int t = 0; t < x->n_tensors && once && status == MO_OK; t++)
        for (int k = 0; k < x->n_devices && status == MO_OK; k++) {
            /* The single transfer of a tensor to a device. */
            mo_exact_model *m = b->m;
            int count = 0; /* readers: their place literals, in b->clause */

            for (int q = x->tensor_start[t]; q < x->tensor_start[t + 1]; q++) {
                int literal = mo_exact_place_literal(b->m, x->flows[q].to, k);

                if (!mo_exact_is_colocated(b->m, &x->flows[q]) &&
                    literal != MO_EXACT_NO_LITERAL)
                    b->clause[count++] = literal;
            }
            mo_exact_task task = { .item = t,
                                   .source = m->x->tensor_from[t],
                                   .to = k };

            if (count != 0) {
                status = add_task(b, task, err);
                for (int from = 0; from < m->x->n_devices && status == MO_OK;
                     from++)
                    status = add_tensor_mode(b, t, from, k, count, err);
            }
        }
    for (int q = 0; q < x->n_flows && !once && status == MO_OK; q++)
        if (!mo_exact_is_colocated(b->m, &x->flows[q]))
            status = add_flow_task(b, q, err);
    return status;
}

static mo_status add_op_task(mo_exact_builder *b, int op, mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = add_task(
        b, (mo_exact_task){ .item = op, .source = op, .to = MO_FREE }, err);

    for (int k = 0; k < m->x->n_devices; k++) {
        int literal = mo_exact_place_literal(m, op, k);
        mo_exact_mode mode = { .literal = literal,
                               .from = k,
                               .to = k,
                               .is_real = true,
                               .length_ns = mo_instance_p_ns(m->x, op, k) };

        m->op_mode[op * m->x->n_devices + k] = -1;
        if (literal == MO_EXACT_NO_LITERAL || status != MO_OK)
            continue;
        m->op_mode[op * m->x->n_devices + k] = (int) m->n_modes;
        status = add_mode(b, mode, err);
    }
    return status;
}

static mo_status build_model(mo_exact_builder *b, mo_error *err)
{
    mo_exact_model *m = b->m;
    mo_status status = MO_OK;

    for (int u = 0; u < b->m->units->n; u++) {
        /* Exactly one device per unit. */
        int *place = b->m->place_literal + (size_t) u * b->m->x->n_devices,
            n = 0;

        for (int k = 0; k < b->m->x->n_devices; k++) {
            place[k] = MO_EXACT_NO_LITERAL;
            int pin = b->m->units->pin[u];
            if (!((pin == MO_FREE || pin == k) &&
                  (b->m->regime.memory == MO_MEMORY_NONE ||
                   b->m->units->bytes[u] <= b->m->x->capacity_bytes[k])))
                continue;
            place[k] = 2 * mo_exact_core_new_variable(b->core);
            for (int i = 0; i < n; i++)
                add_binary_clause(b, place[k] ^ 1, b->clause[i] ^ 1);
            b->clause[n++] = place[k];
        }
        add_clause(b, b->clause, n);
    }
    for (int i = 0; i < b->m->x->n && status == MO_OK; i++)
        status = add_op_task(b, i, err);
    if (status == MO_OK && m->has_transfer_tasks)
        status = build_transfers(b, err);
    if (status == MO_OK)
        status = mo_exact_build_precedences(b, err);
    if (status == MO_OK)
        status = mo_exact_build_resource_uses(b, err);
    if (status == MO_OK)
        status = mo_exact_build_disjunctions(b, err);
    if (status == MO_OK)
        status = mo_exact_build_adjacency(b, err);
    if (status == MO_OK)
        status = mo_exact_core_add_bounds(b->core, 2 * (int) m->n_modes, err);
    if (status == MO_OK && b->core->out_of_memory)
        status = mo_fail_memory(err);
    m->n_literals = 2 * b->core->n_variables;
    b->core->db.n_given = b->core->db.n;
    return status;
}

mo_status mo_exact_model_init(mo_exact_model *m, mo_exact_core *c,
                              const mo_instance *x, const mo_regime *regime,
                              mo_error *err)
{
    mo_exact_builder b = { .m = m, .core = c };
    size_t n = (size_t) x->n, n_devices = (size_t) x->n_devices;
    mo_status status;

    *m = (mo_exact_model){ .x = x, .regime = *regime };
    m->has_transfer_tasks = regime->congestion != MO_CONGESTION_NONE ||
                            regime->memory == MO_MEMORY_LIVE;
    status = mo_placement_units_make(x, regime, &m->units, err);
    if (status != MO_OK)
        return status;
    m->place_literal = malloc((n * n_devices + 1) * sizeof *m->place_literal);
    m->op_mode = malloc((n * n_devices + 1) * sizeof *m->op_mode);
    b.clause = malloc((n + n_devices + 3) * sizeof *b.clause);
    status = m->place_literal && m->op_mode && b.clause ? build_model(&b, err)
                                                        : mo_fail_memory(err);
    free(b.transfer_mode);
    free(b.clause);
    return status;
}

static void free_adjacency(mo_exact_adjacency *lists)
{
    free(lists->start);
    free(lists->items);
}

void mo_exact_model_clear(mo_exact_model *m)
{
    free_adjacency(&m->use.of_resource);
    free_adjacency(&m->modes_of_literal);
    free_adjacency(&m->precedences_of_literal);
    free_adjacency(&m->precedences_of_bound);
    free_adjacency(&m->resources_of_mode);
    free(m->reachable);
    free(m->orders.literals);
    free(m->orders.tasks);
    free(m->alternatives);
    free(m->precedences);
    free(m->use.modes);
    free(m->use.uses);
    free(m->modes);
    free(m->tasks);
    free(m->op_mode);
    free(m->place_literal);
    mo_placement_units_free(m->units);
    *m = (mo_exact_model){ 0 };
}
