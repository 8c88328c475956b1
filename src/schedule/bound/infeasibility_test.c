/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/infeasibility_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * A time T is refuted by an op for which there is no device on which the time
 * before it, its own and the time after it are within T together.  Else it has
 * to be refuted by loads.  Of the ops on device k, those with at least h before
 * them and at least t after them run one after the other in T - h - t; all
 * together, those on k have its memory.  With z[i,k] = 1 where i is on k:
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
 * in whole numbers, so how the weights were found does not matter: those of
 * rows with more load than room grow.  h and t come from a grid over T, the
 * finer the more ops there are.
 */

enum {
    MAX_GRID = 4,
    OPS_BY_GRID = 6, /* so many ops make the grid finer by one */
    FULL_WEIGHT = 1 << 20,
    WEIGHT_BITS = 36,   /* of a row's weight, divided by its room */
    FIRST_RATIO = 1024, /* of a full weight to those of the finer rows */
    FIRST_STEPS = 16,   /* are large */
    WEIGHINGS = 60,     /* of one T */
    NOT_THERE = 255
};

__extension__ typedef __int128 wide;

typedef struct row {
    int64_t room, load, weight, good_weight;
    int64_t price; /* the weight of a unit of load */
} row;

struct mo_infeas_test {
    const mo_allowed_devices *places;
    const mo_infeas_test_case *c;
    int grid;
    unsigned char *cell; /* by op's place in ops and device: in the grid */
    int *choice;         /* by op's place in ops: where it weighs least */
    row *rows;           /* by device and cell */
    int64_t *prices;     /* the same: of all rows that the cell counts in */
    row *memory;         /* by device */
    bool has_memory;
    int64_t *least_before, *least_after; /* by device and line of the grid */
    bool *group_denied;                  /* by group and device */
    wide *group_weight;                  /* the same */
    int *group_choice;                   /* by group */
};

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int n_devices(const mo_infeas_test *r)
{
    return r->places->x->n_devices;
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
    return r->places->x->group[r->c->ops[at]];
}

static int64_t p_ns(const mo_infeas_test *r, int at, int device)
{
    return mo_instance_p_ns(r->places->x, r->c->ops[at], device);
}

static int64_t before_ns(const mo_infeas_test *r, int at, int device)
{
    return r->c
        ->before_ns[mo_allowed_devices_index(r->places, r->c->ops[at], device)];
}

static int64_t after_ns(const mo_infeas_test *r, int at, int device)
{
    return r->c
        ->after_ns[mo_allowed_devices_index(r->places, r->c->ops[at], device)];
}

static bool has_time(const mo_infeas_test *r, int at, int device,
                     int64_t time_ns)
{
    return mo_allowed_devices_has(r->places, r->c->ops[at], device) &&
           before_ns(r, at, device) + p_ns(r, at, device) +
                   after_ns(r, at, device) <=
               time_ns;
}

/* Cells are 0 for those who can be there; false when some op can be nowhere. */
static bool find_who_is_where(mo_infeas_test *r, int64_t time_ns)
{
    int devices = n_devices(r);

    memset(r->group_denied, 0,
           (size_t) r->places->x->n_groups * (size_t) devices);
    for (int at = 0; at < r->c->n; at++)
        for (int k = 0; k < devices && group_of(r, at) != MO_FREE; k++)
            if (!has_time(r, at, k, time_ns))
                r->group_denied[group_at(r, group_of(r, at), k)] = true;
    for (int at = 0; at < r->c->n; at++) {
        bool any = false;
        int group = group_of(r, at);

        for (int k = 0; k < devices; k++) {
            bool there = group == MO_FREE
                             ? has_time(r, at, k, time_ns)
                             : !r->group_denied[group_at(r, group, k)];
            r->cell[cell_at(r, at, k)] = there ? 0 : NOT_THERE;
            any = any || there;
        }
        if (!any)
            return false;
    }
    return true;
}

/* Between first, where the grid begins, and T - last, where it ends. */
static int line_of(const mo_infeas_test *r, int64_t side_ns, int64_t first_ns,
                   int64_t span_ns)
{
    int64_t width = span_ns / r->grid + 1;

    return (int) less((side_ns - first_ns) / width, r->grid - 1);
}

static void lay_grid(mo_infeas_test *r, int device, int64_t time_ns)
{
    int64_t *before = r->least_before + device * r->grid;
    int64_t *after = r->least_after + device * r->grid;
    int64_t first = time_ns, last = time_ns;

    for (int line = 0; line < r->grid; line++)
        before[line] = after[line] = time_ns;
    for (int at = 0; at < r->c->n; at++)
        if (r->cell[cell_at(r, at, device)] != NOT_THERE) {
            first = less(first, before_ns(r, at, device));
            last = less(last, after_ns(r, at, device));
        }
    for (int at = 0; at < r->c->n; at++) {
        unsigned char *cell = &r->cell[cell_at(r, at, device)];
        int64_t b = before_ns(r, at, device), a = after_ns(r, at, device);
        int bl, al;

        if (*cell == NOT_THERE)
            continue;
        bl = line_of(r, b, first, time_ns - first - last);
        al = line_of(r, a, last, time_ns - first - last);
        *cell = (unsigned char) (bl * r->grid + al);
        before[bl] = less(before[bl], b);
        after[al] = less(after[al], a);
    }
    for (int line = r->grid - 2; line >= 0; line--) {
        before[line] = less(before[line], before[line + 1]);
        after[line] = less(after[line], after[line + 1]);
    }
}

static row *rows_of(const mo_infeas_test *r, int device)
{
    return r->rows + device * r->grid * r->grid;
}

static void find_room(mo_infeas_test *r, int device, int64_t time_ns)
{
    row *rows = rows_of(r, device);

    lay_grid(r, device, time_ns);
    for (int b = 0; b < r->grid; b++)
        for (int a = 0; a < r->grid; a++) {
            int64_t room = time_ns - r->least_before[device * r->grid + b] -
                           r->least_after[device * r->grid + a];
            rows[b * r->grid + a].room = room > 0 ? room : 0;
        }
}

static int64_t price_of(const row *of)
{
    int64_t room = of->room > 0 ? of->room : 1;

    return (of->weight << WEIGHT_BITS) / room;
}

/* What the right-hand sides of a device weigh; the price of a cell is that of
 * all rows with no more before and no more after. */
static wide find_prices(mo_infeas_test *r, int device)
{
    row *rows = rows_of(r, device);
    int64_t *prices = r->prices + device * r->grid * r->grid;
    wide sum = 0;

    for (int b = 0; b < r->grid; b++) {
        int64_t line = 0;
        for (int a = 0; a < r->grid; a++) {
            int cell = b * r->grid + a;
            rows[cell].price = price_of(&rows[cell]);
            rows[cell].load = 0;
            sum += (wide) rows[cell].price * rows[cell].room;
            line += rows[cell].price;
            prices[cell] = line + (b > 0 ? prices[cell - r->grid] : 0);
        }
    }
    r->memory[device].price = r->has_memory ? price_of(&r->memory[device]) : 0;
    r->memory[device].load = 0;
    return sum + (wide) r->memory[device].price * r->memory[device].room;
}

/* No more than there is, so that no product grows beyond all bounds. */
static int64_t bytes_of(const mo_infeas_test *r, int at, int device)
{
    return less(mo_allowed_devices_resident_bytes(r->places, r->c->ops[at]),
                r->memory[device].room);
}

static wide weight_of(const mo_infeas_test *r, int at, int device)
{
    int cells = r->grid * r->grid;
    int cell = r->cell[cell_at(r, at, device)];
    wide weight = (wide) r->prices[device * cells + cell] * p_ns(r, at, device);

    if (r->has_memory)
        weight += (wide) r->memory[device].price * bytes_of(r, at, device);
    return weight;
}

/* Chooses a device for the op, unless it is one of a group; returns its weight
 * there. */
static wide choose(mo_infeas_test *r, int at)
{
    int devices = n_devices(r), group = group_of(r, at), best = -1;
    wide least = 0;

    for (int k = 0; k < devices; k++) {
        wide here;

        if (r->cell[cell_at(r, at, k)] == NOT_THERE)
            continue;
        here = weight_of(r, at, k);
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

/* The same for the group of an op, once. */
static wide choose_for_group(mo_infeas_test *r, int at)
{
    int devices = n_devices(r), group = group_of(r, at), best = -1;
    const wide *weight;

    if (group == MO_FREE || r->group_choice[group] >= 0)
        return 0;
    weight = r->group_weight + group_at(r, group, 0);
    for (int k = 0; k < devices; k++)
        if (r->cell[cell_at(r, at, k)] != NOT_THERE &&
            (best < 0 || weight[k] < weight[best]))
            best = k;
    r->group_choice[group] = best;
    return weight[best];
}

static wide choose_all(mo_infeas_test *r)
{
    size_t n_groups = (size_t) r->places->x->n_groups;
    wide sum = 0;

    memset(r->group_weight, 0,
           n_groups * (size_t) n_devices(r) * sizeof *r->group_weight);
    for (size_t g = 0; g < n_groups; g++)
        r->group_choice[g] = -1;
    for (int at = 0; at < r->c->n; at++)
        sum += choose(r, at);
    for (int at = 0; at < r->c->n && n_groups > 0; at++) {
        sum += choose_for_group(r, at);
        if (group_of(r, at) != MO_FREE)
            r->choice[at] = r->group_choice[group_of(r, at)];
    }
    return sum;
}

/* Rows count what lies in their cell, and behind and below it. */
static void add_up_device(mo_infeas_test *r, int device)
{
    row *rows = rows_of(r, device);
    int grid = r->grid;

    for (int cell = grid * grid - 1; cell >= 0; cell--)
        if (cell % grid + 1 < grid)
            rows[cell].load += rows[cell + 1].load;
    for (int cell = grid * (grid - 1) - 1; cell >= 0; cell--)
        rows[cell].load += rows[cell + grid].load;
}

static void find_loads(mo_infeas_test *r)
{
    int devices = n_devices(r);

    for (int at = 0; at < r->c->n; at++) {
        int k = r->choice[at];

        rows_of(r, k)[r->cell[cell_at(r, at, k)]].load += p_ns(r, at, k);
        if (r->has_memory)
            r->memory[k].load +=
                mo_allowed_devices_resident_bytes(r->places, r->c->ops[at]);
    }
    for (int k = 0; k < devices; k++)
        add_up_device(r, k);
}

/* By the ratio of load to room, within limits, in steps that become smaller.
 * Returns whether there was room enough. */
static bool weigh_anew(row *of, int step)
{
    int64_t percent = 400;

    if (of->load / 4 < of->room)
        percent = (int64_t) ((wide) 100 * of->load / of->room);
    if (percent < 25)
        percent = 25;
    of->weight += of->weight * (percent - 100) * FIRST_STEPS /
                  (200 * (FIRST_STEPS + step));
    return of->load <= of->room;
}

static void scale(row *rows, int n, int64_t largest)
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

/* Returns whether the choice is a placement, which cannot be refuted. */
static bool weigh_all_anew(mo_infeas_test *r, int step)
{
    int n = n_devices(r) * r->grid * r->grid;
    int n_memory = r->has_memory ? n_devices(r) : 0;
    int64_t largest;
    bool fits = true;

    for (int i = 0; i < n; i++)
        fits &= weigh_anew(&r->rows[i], step);
    for (int i = 0; i < n_memory; i++)
        fits &= weigh_anew(&r->memory[i], step);
    largest = largest_weight(r->rows, n, 1);
    largest = largest_weight(r->memory, n_memory, largest);
    scale(r->rows, n, largest);
    scale(r->memory, n_memory, largest);
    return fits;
}

static void keep_weights(row *rows, int n)
{
    for (int i = 0; i < n; i++)
        rows[i].good_weight = rows[i].weight;
}

static void recall_weights(row *rows, int n)
{
    for (int i = 0; i < n; i++)
        rows[i].weight = rows[i].good_weight;
}

/* Begins with the weights that refuted another time, and keeps those. */
bool mo_infeas_test_proves(mo_infeas_test *r, int64_t time_ns)
{
    int n = n_devices(r) * r->grid * r->grid;

    if (!find_who_is_where(r, time_ns))
        return true;
    for (int k = 0; k < n_devices(r); k++)
        find_room(r, k, time_ns);
    recall_weights(r->rows, n);
    recall_weights(r->memory, n_devices(r));
    for (int i = 0; i < WEIGHINGS; i++) {
        wide room = 0;

        for (int k = 0; k < n_devices(r); k++)
            room += find_prices(r, k);
        if (choose_all(r) > room) {
            keep_weights(r->rows, n);
            keep_weights(r->memory, n_devices(r));
            return true;
        }
        find_loads(r);
        if (weigh_all_anew(r, i))
            return false;
    }
    return false;
}

/* Memory counts where all of it together would be too much for a device. */
static void look_at_memory(mo_infeas_test *r)
{
    const mo_instance *x = r->places->x;
    int64_t sum = 0;

    r->has_memory = false;
    for (int at = 0; at < r->c->n; at++)
        sum += mo_allowed_devices_resident_bytes(r->places, r->c->ops[at]);
    for (int k = 0; k < x->n_devices; k++) {
        r->memory[k].room = x->capacity_bytes[k];
        r->has_memory |= sum > x->capacity_bytes[k];
    }
}

/* All of a device's load weighs most to begin with: that is what there mostly
 * is too much of.  The faster a device, the more a nanosecond of it weighs. */
static void weigh_first(mo_infeas_test *r)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < n_devices(r) * r->grid * r->grid; i++)
        r->rows[i].good_weight = FULL_WEIGHT / FIRST_RATIO;
    for (int k = 0; k < n_devices(r); k++) {
        row *whole = rows_of(r, k);

        whole->load = 1;
        for (int at = 0; at < r->c->n; at++)
            whole->load += p_ns(r, at, k);
        least = less(least, whole->load);
    }
    for (int k = 0; k < n_devices(r); k++) {
        row *whole = rows_of(r, k);

        whole->good_weight =
            1 + (int64_t) ((wide) FULL_WEIGHT * least / whole->load);
        r->memory[k].good_weight = FULL_WEIGHT;
    }
}

void mo_infeas_test_set_case(mo_infeas_test *r, const mo_infeas_test_case *c)
{
    int lines = 1 + c->n / OPS_BY_GRID;

    r->c = c;
    r->grid = lines < MAX_GRID ? lines : MAX_GRID;
    look_at_memory(r);
    weigh_first(r);
}

static mo_status reserve(mo_infeas_test *r, size_t max_ops, mo_error *err)
{
    size_t devices = (size_t) n_devices(r);
    size_t n_groups = (size_t) r->places->x->n_groups;
    size_t rows = devices * MAX_GRID * MAX_GRID, at;

    if (!mo_size_mul(max_ops, devices, &at) || at == SIZE_MAX)
        return mo_fail_memory(err);
    r->cell = malloc(at + 1);
    r->choice = calloc(max_ops + 1, sizeof *r->choice);
    r->rows = calloc(rows + 1, sizeof *r->rows);
    r->prices = calloc(rows + 1, sizeof *r->prices);
    r->memory = calloc(devices + 1, sizeof *r->memory);
    r->least_before = calloc(devices + 1, MAX_GRID * sizeof *r->least_before);
    r->least_after = calloc(devices + 1, MAX_GRID * sizeof *r->least_after);
    r->group_denied = calloc(n_groups + 1, devices + 1);
    r->group_weight =
        calloc(n_groups + 1, (devices + 1) * sizeof *r->group_weight);
    r->group_choice = calloc(n_groups + 1, sizeof *r->group_choice);
    if (!r->cell || !r->choice || !r->rows || !r->prices || !r->memory ||
        !r->least_before || !r->least_after || !r->group_denied ||
        !r->group_weight || !r->group_choice)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_infeas_test_new(const mo_allowed_devices *places, int max_ops,
                             mo_infeas_test **refuter, mo_error *err)
{
    mo_infeas_test *r = calloc(1, sizeof *r);
    mo_status status;

    if (!r)
        return mo_fail_memory(err);
    r->places = places;
    status = reserve(r, (size_t) max_ops, err);
    if (status == MO_OK)
        *refuter = r;
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
    free(r->least_before);
    free(r->least_after);
    free(r->group_denied);
    free(r->group_weight);
    free(r->group_choice);
    free(r);
}
