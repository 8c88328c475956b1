/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/elimination_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"

/* State of a symbolic elimination: tables have sizes, but no costs. */
typedef struct eliminator {
    mo_elimination_order *o;
    int **of_var; /* by variable: its factors that are not yet eliminated */
    size_t *n_of_var, *room_of_var;
    int *degree;   /* by variable; -1: eliminated */
    mo_heap queue; /* variables by degree, some more than once */
    int *mark;     /* by variable: scratch */
    int stamp;
    size_t max_table;
    double work;
} eliminator;

static int factor_scope(const mo_elimination_order *o, int f, const int **vars)
{
    if (f < o->n_given) {
        *vars = o->given[f].vars;
        return o->given[f].n;
    }
    *vars = o->messages[f - o->n_given].scope;
    return o->messages[f - o->n_given].n_scope;
}

static mo_status attach_factor(eliminator *e, int f, mo_error *err)
{
    const int *vars;
    int n = factor_scope(e->o, f, &vars);
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++) {
        int v = vars[i];

        status = mo_array_reserve((void **) &e->of_var[v], &e->room_of_var[v],
                                  e->n_of_var[v] + 1, sizeof **e->of_var, err);
        if (status == MO_OK)
            e->of_var[v][e->n_of_var[v]++] = f;
    }
    return status;
}

/* The number of neighbours of a variable. */
static int count_neighbours(eliminator *e, int v)
{
    int n = 0;

    e->mark[v] = ++e->stamp;
    for (size_t i = 0; i < e->n_of_var[v]; i++) {
        const int *vars;
        int count = factor_scope(e->o, e->of_var[v][i], &vars);

        for (int j = 0; j < count; j++)
            if (e->mark[vars[j]] != e->stamp) {
                e->mark[vars[j]] = e->stamp;
                n++;
            }
    }
    return n;
}

/* Sets the degree of a variable and enters it into the queue. */
static mo_status queue_var(eliminator *e, int v, mo_error *err)
{
    e->degree[v] = count_neighbours(e, v);
    return mo_heap_push(&e->queue, e->degree[v], v, err);
}

/* The variable of least degree; entries of an older degree are dropped. */
static int pop_least_degree(eliminator *e)
{
    mo_heap_item item = mo_heap_pop(&e->queue);

    while (e->degree[item.id] != item.key)
        item = mo_heap_pop(&e->queue);
    return item.id;
}

/* Table entries of a scope, at most max + 1. */
static size_t table_size(int n_labels, int n, size_t max)
{
    size_t size = 1;

    for (int i = 0; i < n && size <= max; i++)
        size *= (size_t) n_labels;
    return size;
}

/* Adds the variables of factor f other than var to the scope; returns false,
 * with the scope unchanged, where that would make the table too large. */
static bool merge_scope(const eliminator *e, int f, int var, int *scope,
                        int *n_scope)
{
    const int *vars;
    int count = factor_scope(e->o, f, &vars), n = *n_scope;

    for (int i = 0; i < count; i++) {
        bool known = vars[i] == var;

        for (int j = 0; j < n && !known; j++)
            known = scope[j] == vars[i];
        if (!known && n == MO_ELIMINATION_MAX_SCOPE)
            return false;
        if (!known)
            scope[n++] = vars[i];
    }
    if (n > *n_scope &&
        table_size(e->o->n_labels, n + 1, e->max_table) > e->max_table &&
        *n_scope > 0)
        return false;
    *n_scope = n;
    return true;
}

static void fill_strides(const mo_elimination_order *o,
                         mo_elimination_message *g)
{
    size_t K = (size_t) o->n_labels;

    for (int i = 0; i < g->n_in; i++) {
        const int *vars;
        int n = factor_scope(o, g->in[i], &vars);
        size_t stride = 1;

        for (int j = n - 1; j >= 0; j--, stride *= K) {
            int at = g->n_scope;

            for (int s = 0; s < g->n_scope; s++)
                if (g->scope[s] == vars[j])
                    at = s;
            g->strides[(size_t) i * (size_t) (g->n_scope + 1) + (size_t) at] =
                stride;
        }
    }
}

/* A message of some factors of var, which are taken from its list. */
static mo_status add_message(eliminator *e, int var, bool has_unary,
                             mo_error *err)
{
    mo_elimination_order *o = e->o;
    int scope[MO_ELIMINATION_MAX_SCOPE], n_scope = 0;
    size_t n_left = 0, n_all = e->n_of_var[var];
    mo_elimination_message *g;
    mo_status status =
        MO_ARRAY_GROW(o->messages, (size_t) o->n_messages, o->room, err);

    if (status != MO_OK)
        return status;
    g = &o->messages[o->n_messages];
    *g = (mo_elimination_message){ .var = var, .has_unary = has_unary };
    g->in = calloc(n_all + 1, sizeof *g->in);
    if (!g->in)
        return mo_fail_memory(err);
    o->n_messages++;
    for (size_t i = 0; i < n_all; i++) {
        int f = e->of_var[var][i];

        if (merge_scope(e, f, var, scope, &n_scope))
            g->in[g->n_in++] = f;
        else
            e->of_var[var][n_left++] = f;
    }
    e->n_of_var[var] = n_left;
    g->n_scope = n_scope;
    g->size = table_size(o->n_labels, n_scope, SIZE_MAX / 4096);
    g->scope = calloc((size_t) n_scope + 1, sizeof *g->scope);
    g->strides = calloc((size_t) (g->n_in + 1) * (size_t) (n_scope + 1),
                        sizeof *g->strides);
    e->work += (double) g->size * o->n_labels * (g->n_in + 1);
    if (!g->scope || !g->strides)
        return mo_fail_memory(err);
    memcpy(g->scope, scope, (size_t) n_scope * sizeof *scope);
    fill_strides(o, g);
    return MO_OK;
}

/* Removes the eliminated inputs of message g from the lists of its scope. */
static void detach_inputs(eliminator *e, const mo_elimination_message *g)
{
    for (int s = 0; s < g->n_scope; s++) {
        int v = g->scope[s];
        size_t n = 0;

        for (size_t i = 0; i < e->n_of_var[v]; i++) {
            bool gone = false;

            for (int j = 0; j < g->n_in && !gone; j++)
                gone = g->in[j] == e->of_var[v][i];
            if (!gone)
                e->of_var[v][n++] = e->of_var[v][i];
        }
        e->n_of_var[v] = n;
    }
}

static mo_status eliminate_var(eliminator *e, int var, mo_error *err)
{
    mo_elimination_order *o = e->o;
    int first = o->n_messages;
    mo_status status = MO_OK;

    e->degree[var] = -1;
    do {
        status = add_message(e, var, o->n_messages == first, err);
        if (status == MO_OK)
            detach_inputs(e, &o->messages[o->n_messages - 1]);
    } while (status == MO_OK && e->n_of_var[var] > 0);
    o->exact = o->exact && o->n_messages == first + 1;
    for (int g = first; g < o->n_messages && status == MO_OK; g++)
        status = attach_factor(e, o->n_given + g, err);
    for (int g = first; g < o->n_messages && status == MO_OK; g++)
        for (int s = 0; s < o->messages[g].n_scope; s++) {
            status = queue_var(e, o->messages[g].scope[s], err);
            if (status != MO_OK)
                return status;
        }
    return status;
}

static void clear_messages(mo_elimination_order *o)
{
    for (int g = 0; g < o->n_messages; g++) {
        free(o->messages[g].scope);
        free(o->messages[g].in);
        free(o->messages[g].strides);
        free(o->messages[g].table);
    }
    o->n_messages = 0;
}

static void free_eliminator(eliminator *e)
{
    for (int v = 0; v < e->o->n_vars && e->of_var; v++)
        free(e->of_var[v]);
    free(e->of_var);
    free(e->n_of_var);
    free(e->room_of_var);
    free(e->degree);
    free(e->mark);
    mo_heap_clear(&e->queue);
}

/* Eliminates all variables with tables of at most max_table entries, or ends
 * beyond max_work; sets o->work. */
static mo_status eliminate_all(mo_elimination_order *o, size_t max_table,
                               double max_work, mo_error *err)
{
    size_t n = (size_t) o->n_vars + 1;
    eliminator e = { .o = o, .max_table = max_table };
    mo_status status = MO_OK;

    clear_messages(o);
    o->exact = true;
    e.of_var = calloc(n, sizeof *e.of_var);
    e.n_of_var = calloc(n, sizeof *e.n_of_var);
    e.room_of_var = calloc(n, sizeof *e.room_of_var);
    e.degree = calloc(n, sizeof *e.degree);
    e.mark = calloc(n, sizeof *e.mark);
    if (!e.of_var || !e.n_of_var || !e.room_of_var || !e.degree || !e.mark)
        status = mo_fail_memory(err);
    for (int f = 0; f < o->n_given && status == MO_OK; f++)
        status = attach_factor(&e, f, err);
    for (int v = 0; v < o->n_vars && status == MO_OK; v++)
        status = queue_var(&e, v, err);
    for (int i = 0; i < o->n_vars && status == MO_OK && e.work <= max_work; i++)
        status = eliminate_var(&e, pop_least_degree(&e), err);
    o->work = e.work;
    free_eliminator(&e);
    return status;
}

mo_status mo_elimination_order_find(mo_elimination_order *o, int n_vars,
                                    int n_labels, int n_factors,
                                    const mo_labelling_factor *factors,
                                    double max_work, mo_error *err)
{
    size_t least = table_size(n_labels, 2, SIZE_MAX / 4096);
    mo_status status = MO_OK;

    *o = (mo_elimination_order){ .n_vars = n_vars,
                                 .n_labels = n_labels,
                                 .n_given = n_factors,
                                 .given = factors,
                                 .work = max_work + 1 };
    /* The widest tables that the work allows. */
    for (size_t max_table = (size_t) 1 << 20;
         status == MO_OK && o->work > max_work; max_table /= 4) {
        bool last = max_table / 4 < least;

        status = eliminate_all(o, last ? least : max_table,
                               last ? 1e300 : max_work, err);
        if (last)
            break;
    }
    return status;
}

void mo_elimination_order_clear(mo_elimination_order *o)
{
    clear_messages(o);
    free(o->messages);
    o->messages = NULL;
}
