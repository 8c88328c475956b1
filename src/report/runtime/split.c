/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "report/runtime/any_order.h"
#include "report/runtime/split_table.h"

enum { MAX_PRICES = 40, BISECTIONS = 10 };

static mo_status fail_memory(const mo_chain *c, const bool *allowed,
                             bool undecided, mo_error *err)
{
    double need = 0, room = 0;

    if (undecided)
        return mo_fail(err, MO_E_LIMIT,
                       "too many sizes of experts for all choices of those in "
                       "main memory; use a file whose layers are more alike");
    for (int u = 0; u < c->n_units; u++)
        need += (double) c->memory_bytes[u] + (double) c->expert_bytes[u];
    for (int k = 0; k < c->n_devices; k++)
        if (mo_split_may_use(c, allowed, k))
            room += (double) c->capacity_bytes[k];
    return mo_fail(err, MO_E_INFEASIBLE,
                   "no split fits: weights and cache need %.2f GiB, the "
                   "devices have %.2f GiB",
                   need / 1073741824, room / 1073741824);
}

/* Weak duality: with a price of main memory no split that fits costs less than
 * ns, and none pays for more than there is.  Less the error of sums. */
static double dual_bound(const mo_split_table *s, double ns)
{
    double paid;

    if (s->byte_ns == 0)
        return ns;
    paid = s->byte_ns * (double) s->c->capacity_bytes[s->c->host];
    return ns - paid - 1e-14 * (ns + paid);
}

static void keep_better(mo_split *best, mo_split *tried)
{
    mo_split other = *best;

    if (!tried->figures.fits ||
        (best->figures.fits &&
         best->figures.request_ns <= tried->figures.request_ns))
        return;
    *best = *tried;
    *tried = other;
    best->bound_ns = other.bound_ns;
}

/* The units and experts of several devices share main memory, which the table
 * does not count: its bytes get a price (Lagrangian relaxation).  The split of
 * least bytes decides whether there is one that fits; then the least price is
 * searched for by doubling and bisection.  Returns the price of the best
 * bound. */
static double search_prices(mo_split_table *s, mo_split *best, mo_split *tried)
{
    double too_low = 0, enough = INFINITY, bound_price = 0;

    bool gave_up = s->moves->gave_up;

    s->moves->gave_up = false;
    s->ns_share = 0;
    s->byte_ns = 1;
    mo_split_table_solve(s, tried);
    keep_better(best, tried);
    if (!best->figures.fits)
        return 0;
    s->moves->gave_up = s->moves->gave_up || gave_up;
    s->ns_share = 1;
    for (int i = 0, n = 0; i < MAX_PRICES && n < BISECTIONS &&
                           best->figures.request_ns > best->bound_ns;
         i++) {
        double ns;

        s->byte_ns = !isinf(enough) ? (too_low + enough) / 2
                     : too_low > 0  ? 2 * too_low
                                    : 1e-3;
        ns = dual_bound(s, mo_split_table_solve(s, tried));
        if (ns > best->bound_ns) {
            best->bound_ns = ns;
            bound_price = s->byte_ns;
        }
        if (tried->figures.fits)
            enough = s->byte_ns;
        else
            too_low = s->byte_ns;
        n += !isinf(enough);
        keep_better(best, tried);
    }
    return bound_price;
}

static mo_status search(mo_split_table *s, const bool *allowed, mo_split *split,
                        mo_error *err)
{
    mo_split tried = { .bound_ns = 0 };
    double price = 0;
    mo_status status = MO_OK;

    s->ns_share = 1;
    split->bound_ns = mo_split_table_solve(s, split);
    if (isinf(split->bound_ns)) {
        split->bound_ns = 0;
        return fail_memory(s->c, allowed, false, err);
    }
    if (!split->figures.fits) {
        status = mo_chain_placement_new(s->c, &tried.placement, err);
        if (status == MO_OK)
            price = search_prices(s, split, &tried);
        mo_chain_placement_clear(&tried.placement);
    }
    if (status != MO_OK)
        return status;
    if (!split->figures.fits)
        return fail_memory(s->c, allowed, s->moves->gave_up, err);
    if (mo_chain_keep_parts(s->c, &split->placement, &split->figures) ||
        s->moves->gave_up) {
        s->moves->fractional = true;
        s->byte_ns = price;
        split->bound_ns = dual_bound(s, mo_split_table_solve(s, split));
    }
    /* Sums of the same numbers in another order. */
    split->bound_ns = mo_min_double(split->bound_ns, split->figures.request_ns);
    if (split->figures.request_ns - split->bound_ns <
        1e-12 * split->figures.request_ns)
        split->bound_ns = split->figures.request_ns;
    return MO_OK;
}

/* Takes all units on the host, which the search leaves out where the table
 * counts copies of weights to a GPU, if this is better or the search found
 * nothing. */
static mo_status try_host_alone(const mo_chain *c, mo_split *split, bool found,
                                mo_error *err)
{
    mo_chain_figures figures;
    mo_chain_placement p;
    mo_status status = mo_chain_placement_new(c, &p, err);

    if (status != MO_OK)
        return status;
    for (int u = 0; u < c->n_units; u++)
        p.device[u] = c->host;
    mo_chain_evaluate(c, &p, &figures);
    if (!figures.fits ||
        (found && figures.request_ns >= split->figures.request_ns)) {
        mo_chain_placement_clear(&p);
        return found ? MO_OK : MO_E_INFEASIBLE;
    }
    /* 0: there is nothing else. */
    if (split->bound_ns == 0 || figures.request_ns < split->bound_ns)
        split->bound_ns = figures.request_ns;
    mo_chain_placement_clear(&split->placement);
    split->placement = p;
    split->figures = figures;
    return MO_OK;
}

/* Finds the split of a chain whose embedding may be on another device than its
 * head. */
static mo_status find_free(const mo_chain *c, const bool *allowed,
                           mo_split *split, mo_error *err)
{
    mo_split made = { .bound_ns = 0 };
    mo_split_table *s = NULL;
    mo_status status = mo_chain_placement_new(c, &made.placement, err);

    if (status == MO_OK)
        status = mo_split_table_new(c, allowed, &s, err);
    if (status == MO_OK)
        status = search(s, allowed, &made, err);
    if ((status == MO_OK || status == MO_E_INFEASIBLE) && s &&
        s->host_class != MO_CHAIN_NONE && c->rules.copies_from_tokens > 0)
        status = try_host_alone(c, &made, status == MO_OK, err);
    mo_split_table_free(s);
    if (status == MO_OK)
        *split = made;
    else
        mo_split_clear(&made);
    return status;
}

static int64_t *copy_numbers(const int64_t *numbers, size_t n)
{
    int64_t *copy = calloc(n, sizeof *copy);

    return copy ? memcpy(copy, numbers, n * sizeof *copy) : NULL;
}

/* Makes the chain whose embedding and head are on a device: their times and
 * transfers are part of the first and the last layer, their memory is gone from
 * the device. */
static mo_status fix_ends(const mo_chain *c, int device, mo_chain *fixed,
                          mo_error *err)
{
    int n = c->n_devices, last = (c->n_units - 2) * n, head = last + n;
    bool done;

    *fixed = *c;
    fixed->tied_bytes = 0;
    fixed->memory_bytes = copy_numbers(c->memory_bytes, (size_t) c->n_units);
    fixed->capacity_bytes = copy_numbers(c->capacity_bytes, (size_t) n);
    done = fixed->memory_bytes && fixed->capacity_bytes;
    for (int i = 0; i < c->n_phases; i++) {
        const mo_chain_phase *from = &c->phases[i];
        int64_t *ns =
            copy_numbers(from->time_ns, (size_t) c->n_units * (size_t) n);

        fixed->phases[i].time_ns = ns;
        done = done && ns;
        for (int k = 0; k < n && ns; k++) {
            ns[n + k] +=
                from->time_ns[device] + from->transfer_ns[device * n + k];
            ns[last + k] += from->time_ns[head + device] +
                            from->transfer_ns[(last + k) * n + device];
            ns[k] = ns[head + k] = 0;
        }
    }
    if (!done)
        return mo_fail_memory(err);
    fixed->memory_bytes[0] = fixed->memory_bytes[c->n_units - 1] = 0;
    if (c->capacity_bytes[device] != INT64_MAX)
        fixed->capacity_bytes[device] -=
            c->memory_bytes[0] + c->memory_bytes[c->n_units - 1];
    return MO_OK;
}

static void clear_fixed(mo_chain *fixed)
{
    for (int i = 0; i < fixed->n_phases; i++)
        free(fixed->phases[i].time_ns);
    free(fixed->memory_bytes);
    free(fixed->capacity_bytes);
}

/* Finds the best split with embedding and head on that device, and replaces
 * *best, an empty or a worse one, by it. */
static mo_status try_ends(const mo_chain *c, const bool *allowed, int device,
                          mo_split *best, mo_error *err)
{
    mo_chain fixed;
    mo_split split = { .bound_ns = 0 };
    mo_status status = fix_ends(c, device, &fixed, err);

    if (status == MO_OK && fixed.capacity_bytes[device] < 0)
        status = fail_memory(c, allowed, false, err);
    if (status == MO_OK)
        status = find_free(&fixed, allowed, &split, err);
    if (status == MO_OK) {
        split.placement.device[0] = device;
        split.placement.device[c->n_units - 1] = device;
        mo_chain_evaluate(c, &split.placement, &split.figures);
    }
    clear_fixed(&fixed);
    if (status == MO_OK && best->placement.device) {
        best->bound_ns = mo_min_double(best->bound_ns, split.bound_ns);
        split.bound_ns = best->bound_ns;
    }
    if (status == MO_OK &&
        (!best->placement.device ||
         split.figures.request_ns < best->figures.request_ns)) {
        mo_split_clear(best);
        *best = split;
    } else {
        mo_split_clear(&split);
    }
    return status;
}

/* Finds the best split with embedding and head on one device, whatever layers
 * that has; replaces *split, an empty or a worse one, by it. */
static mo_status find_ends(const mo_chain *c, const bool *allowed,
                           mo_split *split, mo_error *err)
{
    mo_status status = fail_memory(c, allowed, false, err);

    for (int k = 0; k < c->n_devices; k++)
        if (mo_split_may_use(c, allowed, k)) {
            status = try_ends(c, allowed, k, split, err);
            if (status != MO_OK && status != MO_E_INFEASIBLE)
                break;
        }
    if (status == MO_E_INFEASIBLE && split->placement.device)
        return MO_OK;
    if (status != MO_OK)
        mo_split_clear(split);
    return status;
}

mo_status mo_split_find(const mo_chain *c, const bool *allowed, mo_split *split,
                        mo_error *err)
{
    bool is_tied = c->rules.ties_ends && c->tied_bytes > 0;
    mo_split made = { .bound_ns = 0 };
    mo_status status =
        is_tied ? MO_E_INFEASIBLE : find_free(c, allowed, &made, err);

    if (is_tied || (c->rules.in_any_order &&
                    (status == MO_OK || status == MO_E_INFEASIBLE)))
        status = find_ends(c, allowed, &made, err);
    if (status == MO_OK && c->rules.in_any_order) {
        bool used[MO_CHAIN_MAX_DEVICES];

        for (int k = 0; k < c->n_devices; k++)
            used[k] = mo_split_may_use(c, allowed, k);
        status = mo_chain_any_order_bound(c, used, made.figures.request_ns,
                                          &made.bound_ns, err);
        if (status != MO_OK)
            mo_split_clear(&made);
    }
    if (status == MO_OK)
        *split = made;
    return status;
}

mo_status mo_split_by_counts(const mo_chain *c, const int *order,
                             const int *counts, int n, mo_split *split,
                             mo_error *err)
{
    mo_split made = { .bound_ns = 0 };
    mo_status status = mo_chain_placement_new(c, &made.placement, err);
    int u = 1, last = c->host;

    if (status != MO_OK)
        return status;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < counts[i] && u < c->n_units; k++) {
            last = order[i];
            made.placement.device[u++] = last;
        }
    while (u < c->n_units)
        made.placement.device[u++] = last;
    made.placement.device[0] =
        c->rules.embeds_on_host ? c->host : made.placement.device[1];
    mo_chain_evaluate(c, &made.placement, &made.figures);
    *split = made;
    return MO_OK;
}

void mo_split_clear(mo_split *split)
{
    mo_chain_placement_clear(&split->placement);
    *split = (mo_split){ 0 };
}
