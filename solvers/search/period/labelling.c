/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A symbolic phase finds the order of variables and the messages, once; calls
 * fill their tables.  The factors of a variable are its bucket; their sum,
 * minimized over the variable, is a message to the bucket of a later one. A
 * bucket whose message would exceed the size of tables is split into several
 * messages (mini-buckets).
 */
#include "solvers/search/period/labelling.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/minmax.h"

enum { MAX_SCOPE = 24 };

/* A message: the minimum over var of the sum of its inputs, a table over
 * scope.  Numbers of factors: those given, then messages. */
typedef struct message {
    int var;
    bool has_unary; /* the unary costs of var are added here */
    int n_scope, n_in;
    int *scope;      /* variables eliminated later */
    int *in;         /* numbers of factors */
    size_t *strides; /* by input: n_scope + 1, that of var last */
    int64_t *table;  /* NULL: not allocated; freed with the order */
    size_t size;     /* entries of table */
} message;

typedef struct elimination_order {
    int n_vars, n_labels, n_given;
    const mo_labelling_factor *given; /* the caller's */
    message *messages; /* in the order of elimination; those of a variable are
                          neighbours */
    int n_messages;
    size_t room; /* allocated messages */
    bool exact;  /* no bucket was split */
    double work; /* table entries that all messages visit */
} elimination_order;

/* State of a symbolic elimination: tables have sizes, but no costs. */
typedef struct eliminator {
    elimination_order *o;
    int **of_var; /* by variable: its factors that are not yet eliminated */
    size_t *n_of_var, *room_of_var;
    int *degree;   /* by variable; -1: eliminated */
    mo_heap queue; /* variables by degree, some more than once */
    int *mark;     /* by variable: scratch */
    int stamp;
    size_t max_table;
    double work;
} eliminator;

static int factor_scope(const elimination_order *o, int f, const int **vars)
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

/* Sets the degree of a variable, the number of its neighbours, and enters it
 * into the queue. */
static mo_status queue_var(eliminator *e, int v, mo_error *err)
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
    e->degree[v] = n;
    return mo_heap_push(&e->queue, n, v, err);
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
        if (!known && n == MAX_SCOPE)
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

/* A message of some factors of var, which are taken from its list. */
static mo_status add_message(eliminator *e, int var, bool has_unary,
                             mo_error *err)
{
    elimination_order *o = e->o;
    int scope[MAX_SCOPE], n_scope = 0;
    size_t n_left = 0, n_all = e->n_of_var[var];
    message *g;
    mo_status status =
        MO_ARRAY_GROW(o->messages, (size_t) o->n_messages, o->room, err);

    if (status != MO_OK)
        return status;
    g = &o->messages[o->n_messages];
    *g = (message){ .var = var, .has_unary = has_unary };
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
    return MO_OK;
}

static mo_status eliminate_var(eliminator *e, int var, mo_error *err)
{
    elimination_order *o = e->o;
    int first = o->n_messages;
    mo_status status = MO_OK;

    e->degree[var] = -1;
    do {
        status = add_message(e, var, o->n_messages == first, err);
        if (status == MO_OK) {
            /* Removes the eliminated inputs of message g from the lists of its
             * scope. */
            const message *g = &o->messages[o->n_messages - 1];

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

static void clear_messages(elimination_order *o)
{
    for (int g = 0; g < o->n_messages; g++) {
        free(o->messages[g].scope);
        free(o->messages[g].in);
        free(o->messages[g].strides);
        free(o->messages[g].table);
    }
    o->n_messages = 0;
}

/* Eliminates all variables with tables of at most max_table entries, or ends
 * beyond max_work; sets o->work. */
static mo_status eliminate_all(elimination_order *o, size_t max_table,
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
    for (int i = 0; i < o->n_vars && status == MO_OK && e.work <= max_work;
         i++) {
        mo_heap_item item = mo_heap_pop(&e.queue);

        while (e.degree[item.id] != item.key) /* an older degree */
            item = mo_heap_pop(&e.queue);
        status = eliminate_var(&e, item.id, err);
    }
    o->work = e.work;
    for (int v = 0; v < o->n_vars && e.of_var; v++)
        free(e.of_var[v]);
    free(e.of_var);
    free(e.n_of_var);
    free(e.room_of_var);
    free(e.degree);
    free(e.mark);
    mo_heap_clear(&e.queue);
    return status;
}

struct mo_labelling {
    elimination_order order;
    /* Scratch of a call: */
    int64_t *cost; /* by label */
    size_t *at;    /* by input of a message: position in its table */
    int *allowed;  /* by variable: its labels that are not excluded */
    int *n_allowed;
};

mo_status mo_labelling_new(int n_vars, int n_labels, int n_factors,
                           const mo_labelling_factor *factors, double max_work,
                           mo_labelling **labelling, mo_error *err)
{
    mo_labelling *m = calloc(1, sizeof *m);
    int most_inputs = 0;
    mo_status status;

    if (!m)
        return mo_fail_memory(err);

    /* Finds the order with the widest tables whose work is at most max_work, or
     * else the narrowest ones. Whatever is returned, the caller frees messages.
     */
    size_t least = table_size(n_labels, 2, SIZE_MAX / 4096);
    status = MO_OK;

    m->order = (elimination_order){ .n_vars = n_vars,
                                    .n_labels = n_labels,
                                    .n_given = n_factors,
                                    .given = factors,
                                    .work = max_work + 1 };
    /* The widest tables that the work allows. */
    for (size_t max_table = (size_t) 1 << 20;
         status == MO_OK && m->order.work > max_work; max_table /= 4) {
        bool last = max_table / 4 < least;

        status = eliminate_all(&m->order, last ? least : max_table,
                               last ? 1e300 : max_work, err);
        if (last)
            break;
    }
    m->cost = calloc((size_t) n_labels + 1, sizeof *m->cost);
    m->allowed =
        calloc((size_t) n_vars * (size_t) n_labels + 1, sizeof *m->allowed);
    m->n_allowed = calloc((size_t) n_vars + 1, sizeof *m->n_allowed);
    if (status == MO_OK && !(m->cost && m->allowed && m->n_allowed))
        status = mo_fail_memory(err);
    for (int g = 0; g < m->order.n_messages && status == MO_OK; g++) {
        message *at = &m->order.messages[g];

        most_inputs = mo_max_int(most_inputs, at->n_in);
        at->table = calloc(at->size, sizeof *at->table);
        if (!at->table)
            status = mo_fail_memory(err);
    }
    m->at = calloc((size_t) most_inputs + 1, sizeof *m->at);
    if (status == MO_OK && !m->at)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        *labelling = m;
    else
        mo_labelling_free(m);
    return status;
}

void mo_labelling_free(mo_labelling *m)
{
    if (!m)
        return;
    clear_messages(&m->order);
    free(m->order.messages);
    free(m->cost);
    free(m->at);
    free(m->allowed);
    free(m->n_allowed);
    free(m);
}

bool mo_labelling_is_exact(const mo_labelling *m)
{
    return m->order.exact;
}

double mo_labelling_work(const mo_labelling *m)
{
    return m->order.work;
}

static const int64_t *table_of(const mo_labelling *m, int f)
{
    return f < m->order.n_given ? m->order.given[f].cost
                                : m->order.messages[f - m->order.n_given].table;
}

static const int *allowed_labels(const mo_labelling *m, int var, int *n)
{
    *n = m->n_allowed[var];
    return m->allowed + (size_t) var * (size_t) m->order.n_labels;
}

/* The least cost over n labels of the variable of g, at those positions in its
 * inputs. */
static int64_t least_cost(const mo_labelling *m, const message *g,
                          const int64_t *own, const int *label, int n,
                          const size_t *at, int64_t *restrict cost)
{
    size_t width = (size_t) g->n_scope + 1;
    int64_t best;

    for (int l = 0; l < n; l++)
        cost[l] = g->has_unary ? own[label[l]] : 0;
    for (int i = 0; i < g->n_in; i++) {
        const int64_t *restrict table = table_of(m, g->in[i]) + at[i];
        size_t stride = g->strides[(size_t) i * width + width - 1];

        if (n == m->order.n_labels)
            for (size_t l = 0; l < (size_t) n; l++)
                cost[l] += table[l * stride];
        else
            for (int l = 0; l < n; l++)
                cost[l] += table[(size_t) label[l] * stride];
    }
    best = cost[0];
    for (int l = 1; l < n; l++)
        best = cost[l] < best ? cost[l] : best;
    return best;
}

/* The least over the labels of var, for each entry of labels that are not
 * excluded: an odometer over the scope, with the position in each input. */
static void fill_message(mo_labelling *m, message *g, const int64_t *unary)
{
    size_t K = (size_t) m->order.n_labels, width = (size_t) g->n_scope + 1;
    const int64_t *own = unary + (size_t) g->var * K;
    size_t entry = 0, place = 1, *at = m->at;
    int digit[MAX_SCOPE + 1] = { 0 };
    int n, s;
    const int *label = allowed_labels(m, g->var, &n);

    memset(at, 0, (size_t) g->n_in * sizeof *at);
    for (s = g->n_scope - 1; s >= 0; s--, place *= K) {
        int n_of_s;
        size_t l = (size_t) allowed_labels(m, g->scope[s], &n_of_s)[0];

        entry += l * place;
        for (int i = 0; i < g->n_in; i++)
            at[i] += l * g->strides[(size_t) i * width + (size_t) s];
    }
    do {
        g->table[entry] = least_cost(m, g, own, label, n, at, m->cost);
        for (s = g->n_scope - 1, place = 1; s >= 0; s--, place *= K) {
            int n_of_s;
            const int *of_s = allowed_labels(m, g->scope[s], &n_of_s);
            bool carry = digit[s] + 1 == n_of_s;
            size_t before = (size_t) of_s[digit[s]];
            size_t after = (size_t) of_s[carry ? 0 : digit[s] + 1];

            /* Unsigned, so that a step back is modulo its range. */
            digit[s] = carry ? 0 : digit[s] + 1;
            entry += (after - before) * place;
            for (int i = 0; i < g->n_in; i++)
                at[i] += (after - before) *
                         g->strides[(size_t) i * width + (size_t) s];
            if (!carry)
                break;
        }
    } while (s >= 0);
}

/* Labels of the variable whose messages are first .. last. */
static void decode_var(const mo_labelling *m, int first, int last,
                       const int64_t *unary, int *label)
{
    size_t K = (size_t) m->order.n_labels;
    int var = m->order.messages[first].var;
    int64_t best = INT64_MAX;

    for (size_t l = 0; l < K; l++) {
        int64_t sum = unary[(size_t) var * K + l];

        if (sum >= MO_LABELLING_EXCLUDED)
            continue;
        for (int j = first; j <= last; j++) {
            const message *g = &m->order.messages[j];
            size_t width = (size_t) g->n_scope + 1;

            for (int i = 0; i < g->n_in; i++) {
                const size_t *stride = &g->strides[(size_t) i * width];
                size_t at = l * stride[width - 1];

                for (int s = 0; s < g->n_scope; s++)
                    at += stride[s] * (size_t) label[g->scope[s]];
                sum += table_of(m, g->in[i])[at];
            }
        }
        if (sum < best) {
            best = sum;
            label[var] = (int) l;
        }
    }
}

int64_t mo_labelling_minimize(mo_labelling *m, const int64_t *unary, int *label)
{
    int64_t sum = 0;

    for (int v = 0; v < m->order.n_vars; v++) {
        size_t first = (size_t) v * (size_t) m->order.n_labels;
        int n = 0;

        for (int l = 0; l < m->order.n_labels; l++)
            if (unary[first + (size_t) l] < MO_LABELLING_EXCLUDED)
                m->allowed[first + (size_t) n++] = l;
        m->n_allowed[v] = n;
    }
    for (int g = 0; g < m->order.n_messages; g++) {
        message *at = &m->order.messages[g];

        fill_message(m, at, unary);
        if (at->n_scope == 0)
            sum += at->table[0];
    }
    for (int g = m->order.n_messages - 1; g >= 0;) {
        int last = g;

        while (g > 0 &&
               m->order.messages[g - 1].var == m->order.messages[last].var)
            g--;
        decode_var(m, g, last, unary, label);
        g--;
    }
    return sum;
}
