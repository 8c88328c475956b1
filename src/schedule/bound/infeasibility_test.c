/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/infeasibility_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/array.h"

/*
 * Destructive bound: a test that proves a makespan T infeasible by heads,
 * tails and loads, as in energetic reasoning (Erschler and Lopez, 1990), with
 * a surrogate of all load rows.
 *
 * T is refuted by an op without a device on which its head, its own time and
 * its tail are within T together.  Otherwise it has to be refuted by loads.
 * Of the ops on device k, those with a head of at least h and a tail of at
 * least t run one after the other in T - h - t; all together, those on k share
 * its memory.  With z[i,k] = 1 where i is on k:
 *
 *     sum of p[i,k] z[i,k]  <=  T - h - t       over i with h and t on k
 *     sum of m[i] z[i,k]    <=  capacity[k]
 *
 * For any weights y >= 0 of these rows, no placement exists if
 *
 *     sum_i min_k (p[i,k] y[rows of i on k] + m[i] y[memory of k])
 *                                     >  sum over rows of y * right-hand side
 *
 * where the min is over whole groups at once.  Both sides are computed exactly
 * in integers, so the result does not depend on how the weights were found
 * (multiplicative updates: rows with more load than room grow).  h and t come
 * from a grid over T, the finer the more ops there are.
 */

enum {
    MAX_GRID = 4,
    OPS_PER_LINE = 6, /* this many ops refine the grid by one */
    FULL_WEIGHT = 1 << 20,
    WEIGHT_BITS = 36, /* fraction bits of a row's weight divided by its room */
    FIRST_RATIO = 1024, /* of a full weight to those of the finer rows */
    FIRST_STEPS =
        16, /* decay of the step size: FIRST_STEPS / (FIRST_STEPS + step) */
    MAX_UPDATES = 60, /* weight updates for one T */
    NOT_ALLOWED = 255
};

__extension__ typedef __int128 int128;

typedef struct row {
    int64_t room, load, weight, good_weight;
    int64_t price; /* the weight of a unit of load */
} row;

struct mo_infeas_test {
    const mo_allowed_devices *domains;
    const mo_infeas_test_case *c;
    int grid;
    unsigned char *cell; /* by op's index in ops and device: cell of the grid */
    int *choice;         /* by op's index in ops: device of least weight */
    row *rows;           /* by device and cell */
    int64_t *prices;     /* the same: sum over all rows that count the cell */
    row *memory;         /* by device */
    bool has_memory;
    int64_t *min_head, *min_tail; /* by device and line of the grid */
    bool *group_removed;          /* by group and device */
    int128 *group_weight;         /* the same */
    int *group_choice;            /* by group */
};

static int n_devices(const mo_infeas_test *r)
{
    return r->domains->x->n_devices;
}

static int64_t cell_at(const mo_infeas_test *r, int at, int device)
{
    return (int64_t) at * n_devices(r) + device;
}

static int64_t group_at(const mo_infeas_test *r, int group, int device)
{
    return (int64_t) group * n_devices(r) + device;
}

static int group_of(const mo_infeas_test *r, int at)
{
    return r->domains->x->group[r->c->ops[at]];
}

static int64_t p_ns(const mo_infeas_test *r, int at, int device)
{
    return mo_instance_p_ns(r->domains->x, r->c->ops[at], device);
}

static int64_t head_ns(const mo_infeas_test *r, int at, int device)
{
    return r->c
        ->head_ns[mo_allowed_devices_index(r->domains, r->c->ops[at], device)];
}

static int64_t tail_ns(const mo_infeas_test *r, int at, int device)
{
    return r->c
        ->tail_ns[mo_allowed_devices_index(r->domains, r->c->ops[at], device)];
}

static bool has_time(const mo_infeas_test *r, int at, int device,
                     int64_t time_ns)
{
    return mo_allowed_devices_has(r->domains, r->c->ops[at], device) &&
           head_ns(r, at, device) + p_ns(r, at, device) +
                   tail_ns(r, at, device) <=
               time_ns;
}

/* Sets the cell of every op and device that have enough time to 0, of the
 * others to NOT_ALLOWED.  Returns false when some op has no device. */
static bool find_allowed_cells(mo_infeas_test *r, int64_t time_ns)
{
    int devices = n_devices(r);

    memset(r->group_removed, 0,
           (size_t) r->domains->x->n_groups * (size_t) devices);
    for (int at = 0; at < r->c->n; at++)
        for (int k = 0; k < devices && group_of(r, at) != MO_FREE; k++)
            if (!has_time(r, at, k, time_ns))
                r->group_removed[group_at(r, group_of(r, at), k)] = true;
    for (int at = 0; at < r->c->n; at++) {
        bool any = false;
        int group = group_of(r, at);

        for (int k = 0; k < devices; k++) {
            bool there = group == MO_FREE
                             ? has_time(r, at, k, time_ns)
                             : !r->group_removed[group_at(r, group, k)];
            r->cell[cell_at(r, at, k)] = there ? 0 : NOT_ALLOWED;
            any = any || there;
        }
        if (!any)
            return false;
    }
    return true;
}

/* Line of the grid that begins at first_ns and covers span_ns. */
static int grid_line(const mo_infeas_test *r, int64_t side_ns, int64_t first_ns,
                     int64_t span_ns)
{
    int64_t width = span_ns / r->grid + 1;

    return (int) mo_min_i64((side_ns - first_ns) / width, r->grid - 1);
}

static void build_grid(mo_infeas_test *r, int device, int64_t time_ns)
{
    int64_t *before = r->min_head + (size_t) device * r->grid;
    int64_t *after = r->min_tail + (size_t) device * r->grid;
    int64_t first = time_ns, last = time_ns;

    for (int line = 0; line < r->grid; line++)
        before[line] = after[line] = time_ns;
    for (int at = 0; at < r->c->n; at++)
        if (r->cell[cell_at(r, at, device)] != NOT_ALLOWED) {
            first = mo_min_i64(first, head_ns(r, at, device));
            last = mo_min_i64(last, tail_ns(r, at, device));
        }
    for (int at = 0; at < r->c->n; at++) {
        unsigned char *cell = &r->cell[cell_at(r, at, device)];
        int64_t b = head_ns(r, at, device), a = tail_ns(r, at, device);
        int bl, al;

        if (*cell == NOT_ALLOWED)
            continue;
        bl = grid_line(r, b, first, time_ns - first - last);
        al = grid_line(r, a, last, time_ns - first - last);
        *cell = (unsigned char) (bl * r->grid + al);
        before[bl] = mo_min_i64(before[bl], b);
        after[al] = mo_min_i64(after[al], a);
    }
    for (int line = r->grid - 2; line >= 0; line--) {
        before[line] = mo_min_i64(before[line], before[line + 1]);
        after[line] = mo_min_i64(after[line], after[line + 1]);
    }
}

static row *rows_of(const mo_infeas_test *r, int device)
{
    return r->rows + (size_t) device * r->grid * r->grid;
}

static int64_t price_of(const row *of)
{
    int64_t room = of->room > 0 ? of->room : 1;

    return (of->weight << WEIGHT_BITS) / room;
}

/* Returns the weighted sum of the right-hand sides of a device; the price of a
 * cell sums all rows with no larger head and no larger tail. */
static int128 find_prices(mo_infeas_test *r, int device)
{
    row *rows = rows_of(r, device);
    int64_t *prices = r->prices + (size_t) device * r->grid * r->grid;
    int128 sum = 0;

    for (int b = 0; b < r->grid; b++) {
        int64_t line = 0;
        for (int a = 0; a < r->grid; a++) {
            int cell = b * r->grid + a;
            rows[cell].price = price_of(&rows[cell]);
            rows[cell].load = 0;
            sum += (int128) rows[cell].price * rows[cell].room;
            line += rows[cell].price;
            prices[cell] = line + (b > 0 ? prices[cell - r->grid] : 0);
        }
    }
    r->memory[device].price = r->has_memory ? price_of(&r->memory[device]) : 0;
    r->memory[device].load = 0;
    return sum + (int128) r->memory[device].price * r->memory[device].room;
}

/* Chooses the device of least weight for the op, unless it is in a group;
 * returns its weight there. */
static int128 choose_device(mo_infeas_test *r, int at)
{
    int devices = n_devices(r), group = group_of(r, at), best = -1;
    int128 least = 0;

    for (int k = 0; k < devices; k++) {
        int128 here;

        if (r->cell[cell_at(r, at, k)] == NOT_ALLOWED)
            continue;
        int cells = r->grid * r->grid;
        int cell = r->cell[cell_at(r, at, k)];
        here = (int128) r->prices[k * cells + cell] * p_ns(r, at, k);

        /* At most the capacity, so that products stay bounded. */
        if (r->has_memory)
            here += (int128) r->memory[k].price *
                    mo_min_i64(mo_allowed_devices_resident_bytes(r->domains,
                                                                 r->c->ops[at]),
                               r->memory[k].room);
        if (group != MO_FREE)
            r->group_weight[group_at(r, group, k)] += here;
        if (best < 0 || here < least) {
            best = k;
            least = here;
        }
    }
    r->choice[at] = best;
    return group == MO_FREE ? least : 0;
}

/* The same for the group of an op, once per group. */
static int128 choose_group_device(mo_infeas_test *r, int at)
{
    int devices = n_devices(r), group = group_of(r, at), best = -1;
    const int128 *weight;

    if (group == MO_FREE || r->group_choice[group] >= 0)
        return 0;
    weight = r->group_weight + group_at(r, group, 0);
    for (int k = 0; k < devices; k++)
        if (r->cell[cell_at(r, at, k)] != NOT_ALLOWED &&
            (best < 0 || weight[k] < weight[best]))
            best = k;
    r->group_choice[group] = best;
    return weight[best];
}

static int128 choose_devices(mo_infeas_test *r)
{
    size_t n_groups = (size_t) r->domains->x->n_groups;
    int128 sum = 0;

    memset(r->group_weight, 0,
           n_groups * (size_t) n_devices(r) * sizeof *r->group_weight);
    for (size_t g = 0; g < n_groups; g++)
        r->group_choice[g] = -1;
    for (int at = 0; at < r->c->n; at++)
        sum += choose_device(r, at);
    for (int at = 0; at < r->c->n && n_groups > 0; at++) {
        sum += choose_group_device(r, at);
        if (group_of(r, at) != MO_FREE)
            r->choice[at] = r->group_choice[group_of(r, at)];
    }
    return sum;
}

/* Multiplicative update by the ratio of load to room, clipped, in decreasing
 * steps.  Returns whether the room sufficed. */
static bool update_weight(row *of, int step)
{
    int64_t percent = 400;

    if (of->load / 4 < of->room)
        percent = (int64_t) ((int128) 100 * of->load / of->room);
    if (percent < 25)
        percent = 25;
    of->weight += of->weight * (percent - 100) * FIRST_STEPS /
                  ((int64_t) 200 * (FIRST_STEPS + step));
    return of->load <= of->room;
}

static void scale_weights(row *rows, int n, int64_t largest)
{
    for (int i = 0; i < n; i++)
        rows[i].weight = 1 + rows[i].weight * FULL_WEIGHT / largest;
}

static int64_t largest_weight(const row *rows, int n, int64_t largest)
{
    for (int i = 0; i < n; i++)
        if (rows[i].weight > largest)
            largest = rows[i].weight;
    return largest;
}

/* Updates all weights.  Returns whether the choice satisfies every row: then T
 * cannot be refuted. */
static bool update_weights(mo_infeas_test *r, int step)
{
    int n = n_devices(r) * r->grid * r->grid;
    int n_memory = r->has_memory ? n_devices(r) : 0;
    int64_t largest;
    bool fits = true;

    for (int i = 0; i < n; i++)
        fits &= update_weight(&r->rows[i], step);
    for (int i = 0; i < n_memory; i++)
        fits &= update_weight(&r->memory[i], step);
    largest = largest_weight(r->rows, n, 1);
    largest = largest_weight(r->memory, n_memory, largest);
    scale_weights(r->rows, n, largest);
    scale_weights(r->memory, n_memory, largest);
    return fits;
}

static void save_weights(row *rows, int n)
{
    for (int i = 0; i < n; i++)
        rows[i].good_weight = rows[i].weight;
}

static void restore_weights(row *rows, int n)
{
    for (int i = 0; i < n; i++)
        rows[i].weight = rows[i].good_weight;
}

/* Warm start: begins with the weights that refuted another time, and keeps
 * those that refute this one. */
bool mo_infeas_test_proves(mo_infeas_test *r, int64_t time_ns)
{
    int n = n_devices(r) * r->grid * r->grid;

    if (!find_allowed_cells(r, time_ns))
        return true;
    for (int k = 0; k < n_devices(r); k++) {
        row *rows = rows_of(r, k);

        build_grid(r, k, time_ns);
        for (int b = 0; b < r->grid; b++)
            for (int a = 0; a < r->grid; a++) {
                int64_t room = time_ns - r->min_head[k * r->grid + b] -
                               r->min_tail[k * r->grid + a];
                rows[b * r->grid + a].room = room > 0 ? room : 0;
            }
    }
    restore_weights(r->rows, n);
    restore_weights(r->memory, n_devices(r));
    for (int i = 0; i < MAX_UPDATES; i++) {
        int128 room = 0;

        for (int k = 0; k < n_devices(r); k++)
            room += find_prices(r, k);
        if (choose_devices(r) > room) {
            save_weights(r->rows, n);
            save_weights(r->memory, n_devices(r));
            return true;
        }
        for (int at = 0; at < r->c->n; at++) {
            int k = r->choice[at];

            rows_of(r, k)[r->cell[cell_at(r, at, k)]].load += p_ns(r, at, k);
            if (r->has_memory)
                r->memory[k].load += mo_allowed_devices_resident_bytes(
                    r->domains, r->c->ops[at]);
        }
        for (int k = 0; k < n_devices(r); k++) {
            row *rows = rows_of(r, k);
            int grid = r->grid;

            /* Suffix sums: a row counts its own cell and all with larger head
             * and tail. */
            for (int cell = grid * grid - 1; cell >= 0; cell--)
                if (cell % grid + 1 < grid)
                    rows[cell].load += rows[cell + 1].load;
            for (int cell = grid * (grid - 1) - 1; cell >= 0; cell--)
                rows[cell].load += rows[cell + grid].load;
        }
        if (update_weights(r, i))
            return false;
    }
    return false;
}

void mo_infeas_test_set_case(mo_infeas_test *r, const mo_infeas_test_case *c)
{
    int64_t sum = 0;
    int lines = 1 + c->n / OPS_PER_LINE;

    r->c = c;
    r->grid = lines < MAX_GRID ? lines : MAX_GRID;
    /* Memory rows are used only where all ops together exceed some capacity. */
    r->has_memory = false;
    for (int at = 0; at < r->c->n; at++)
        sum += mo_allowed_devices_resident_bytes(r->domains, r->c->ops[at]);
    for (int k = 0; k < r->domains->x->n_devices; k++) {
        r->memory[k].room = r->domains->x->capacity_bytes[k];
        r->has_memory |= sum > r->domains->x->capacity_bytes[k];
    }
    /* Initial weights: the row of a device's whole load weighs most, as it is
     * usually the violated one.  The faster a device, the more a nanosecond of
     * it weighs. */
    int64_t least = INT64_MAX;

    for (int i = 0; i < n_devices(r) * r->grid * r->grid; i++)
        r->rows[i].good_weight = FULL_WEIGHT / FIRST_RATIO;
    for (int k = 0; k < n_devices(r); k++) {
        row *whole = rows_of(r, k);

        whole->load = 1;
        for (int at = 0; at < r->c->n; at++)
            whole->load += p_ns(r, at, k);
        least = mo_min_i64(least, whole->load);
    }
    for (int k = 0; k < n_devices(r); k++) {
        row *whole = rows_of(r, k);

        whole->good_weight =
            1 + (int64_t) ((int128) FULL_WEIGHT * least / whole->load);
        r->memory[k].good_weight = FULL_WEIGHT;
    }
}

static mo_status allocate_buffers(mo_infeas_test *r, size_t max_ops,
                                  mo_error *err)
{
    size_t devices = (size_t) n_devices(r);
    size_t n_groups = (size_t) r->domains->x->n_groups;
    size_t rows = devices * MAX_GRID * MAX_GRID, at;

    if (!mo_size_mul(max_ops, devices, &at) || at == SIZE_MAX)
        return mo_fail_memory(err);
    r->cell = malloc(at + 1);
    r->choice = calloc(max_ops + 1, sizeof *r->choice);
    r->rows = calloc(rows + 1, sizeof *r->rows);
    r->prices = calloc(rows + 1, sizeof *r->prices);
    r->memory = calloc(devices + 1, sizeof *r->memory);
    r->min_head = calloc(devices + 1, MAX_GRID * sizeof *r->min_head);
    r->min_tail = calloc(devices + 1, MAX_GRID * sizeof *r->min_tail);
    r->group_removed = calloc(n_groups + 1, devices + 1);
    r->group_weight =
        calloc(n_groups + 1, (devices + 1) * sizeof *r->group_weight);
    r->group_choice = calloc(n_groups + 1, sizeof *r->group_choice);
    if (!r->cell || !r->choice || !r->rows || !r->prices || !r->memory ||
        !r->min_head || !r->min_tail || !r->group_removed || !r->group_weight ||
        !r->group_choice)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_infeas_test_new(const mo_allowed_devices *domains, int max_ops,
                             mo_infeas_test **infeas_test, mo_error *err)
{
    mo_infeas_test *r = calloc(1, sizeof *r);
    mo_status status;

    if (!r)
        return mo_fail_memory(err);
    r->domains = domains;
    status = allocate_buffers(r, (size_t) max_ops, err);
    if (status == MO_OK)
        *infeas_test = r;
    else
        mo_infeas_test_free(r);
    return status;
}

void mo_infeas_test_free(mo_infeas_test *r)
{
    if (!r)
        return;
    free(r->cell);
    free(r->choice);
    free(r->rows);
    free(r->prices);
    free(r->memory);
    free(r->min_head);
    free(r->min_tail);
    free(r->group_removed);
    free(r->group_weight);
    free(r->group_choice);
    free(r);
}
