#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "models/frame_parts.h"
#include "models/frame_pass.h"

/*
 * Between the clean cuts u and v nothing runs but the ops of their segment.
 * With u on a and v on b, each of these has a least time since the end of u and
 * one until the start of v, by device.  A time T from cut to cut is refuted
 *
 *   - by an op for which both of them and its own time exceed T on any device;
 *   - by the load: device k has T - first[k] - last[k] for the ops that can be
 *     there at all, where first and last are the least of their times since u
 *     and until v, and for some weights y
 *
 *         sum_i min_k y[k] p[i,k]  >  sum_k y[k] (T - first[k] - last[k])
 *
 *     (frame_load.c says why).  Weights are looked for: those of devices with
 *     more load than time grow.
 *
 * The least T that is not refuted is found by bisection, not to the last
 * nanosecond: whatever has been refuted holds.  Where sending takes longer than
 * running elsewhere gains, that says that nearly everything stays where u is,
 * which neither paths nor loads by themselves tell.
 */

enum {
    FULL_WEIGHT = 1 << 16,
    WEIGHINGS = 12,    /* of one T */
    PRECISION = 1000,  /* one part in so many */
    MAX_WORK = 1 << 20 /* ops by devices to the third: a second or two */
};

__extension__ typedef __int128 wide; /* a weight and a sum of times */

struct segment {
    const mo_frame *f;
    int u, v;
    int64_t *since_u;      /* by op and device, for one device of u */
    int64_t *until_v;      /* for the device of v we are at */
    int64_t *first, *last; /* by device */
    int64_t *weight, *good_weight, *load;
};

static bool can_be_there(const struct segment *s, int op, int device,
                         int64_t time_ns)
{
    int64_t at = mo_frame_place(s->f, op, device);

    return s->f->allowed[at] && s->since_u[at] + s->until_v[at] +
                                        mo_instance_p_ns(s->f->x, op, device) <=
                                    time_ns;
}

/* Fills in first and last, 0 time left where nobody can be; false when some op
 * can be nowhere. */
static bool find_room(struct segment *s, int64_t time_ns)
{
    int n_devices = s->f->x->n_devices;

    for (int k = 0; k < n_devices; k++) {
        s->first[k] = time_ns;
        s->last[k] = time_ns;
    }
    for (int i = s->u + 1; i < s->v; i++) {
        bool any = false;
        for (int k = 0; k < n_devices; k++) {
            int64_t at = mo_frame_place(s->f, i, k);
            if (!can_be_there(s, i, k, time_ns))
                continue;
            any = true;
            if (s->since_u[at] < s->first[k])
                s->first[k] = s->since_u[at];
            if (s->until_v[at] < s->last[k])
                s->last[k] = s->until_v[at];
        }
        if (!any)
            return false;
    }
    return true;
}

static int64_t room_ns(const struct segment *s, int device, int64_t time_ns)
{
    int64_t room = time_ns - s->first[device] - s->last[device];

    return room > 0 ? room : 0;
}

/* The device where op weighs least. */
static int lightest(const struct segment *s, int op, int64_t time_ns)
{
    int best = -1;
    wide least = 0;

    for (int k = 0; k < s->f->x->n_devices; k++) {
        wide here = (wide) s->weight[k] * mo_instance_p_ns(s->f->x, op, k);
        if (can_be_there(s, op, k, time_ns) && (best < 0 || here < least)) {
            best = k;
            least = here;
        }
    }
    return best;
}

/* Is there too much to do, by these weights?  Leaves in load what would be
 * where if every op went to where it weighs least. */
static bool is_too_much(struct segment *s, int64_t time_ns)
{
    int n_devices = s->f->x->n_devices;
    wide load = 0, room = 0;

    memset(s->load, 0, (size_t) n_devices * sizeof *s->load);
    for (int i = s->u + 1; i < s->v; i++) {
        int k = lightest(s, i, time_ns);
        s->load[k] += mo_instance_p_ns(s->f->x, i, k);
    }
    for (int k = 0; k < n_devices; k++) {
        load += (wide) s->weight[k] * s->load[k];
        room += (wide) s->weight[k] * room_ns(s, k, time_ns);
    }
    return load > room;
}

/* By the ratio of load to room, within limits, halfway. */
static void weigh_anew(struct segment *s, int64_t time_ns)
{
    int n_devices = s->f->x->n_devices;
    int64_t largest = 1;

    for (int k = 0; k < n_devices; k++) {
        int64_t room = room_ns(s, k, time_ns), percent = 400;
        if (s->load[k] / 4 < room)
            percent = (int64_t) ((wide) 100 * s->load[k] / room);
        if (percent < 25)
            percent = 25;
        s->weight[k] = s->weight[k] * (100 + percent) / 200;
        if (s->weight[k] > largest)
            largest = s->weight[k];
    }
    for (int k = 0; k < n_devices; k++)
        s->weight[k] = 1 + s->weight[k] * FULL_WEIGHT / largest;
}

/* Begins with the weights that refuted another time, and keeps those. */
static bool is_refuted(struct segment *s, int64_t time_ns)
{
    size_t size = (size_t) s->f->x->n_devices * sizeof *s->weight;

    if (!find_room(s, time_ns))
        return true;
    memcpy(s->weight, s->good_weight, size);
    for (int i = 0; i < WEIGHINGS; i++) {
        if (is_too_much(s, time_ns)) {
            memcpy(s->good_weight, s->weight, size);
            return true;
        }
        weigh_anew(s, time_ns);
    }
    return false;
}

/* From u on a to v on b; the sides are those of a and b. */
static int64_t least_time(struct segment *s, int a, int b)
{
    int64_t least = s->since_u[mo_frame_place(s->f, s->v, b)];
    int64_t most = s->f->horizon_ns;

    mo_pass_raise(&least, s->until_v[mo_frame_place(s->f, s->u, a)]);
    for (int k = 0; k < s->f->x->n_devices; k++)
        s->good_weight[k] = FULL_WEIGHT;
    while (most - least > least / PRECISION) {
        int64_t middle = least + (most - least) / 2;
        if (is_refuted(s, middle))
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

/* The sides of the segment's ops, and of the cut at its other end. */
static void clear_sides(const struct segment *s, int64_t *side)
{
    int64_t begin = mo_frame_place(s->f, s->u, 0);
    int64_t end = mo_frame_place(s->f, s->v + 1, 0);

    memset(side + begin, 0, (size_t) (end - begin) * sizeof *side);
}

static void find_until_v(struct segment *s, int64_t *side, int b, int64_t *at)
{
    mo_pass pass = { s->f, true, side, at };

    clear_sides(s, side);
    mo_pass_spread_from(&pass, s->v, b);
    for (int i = s->v - 1; i > s->u; i--)
        mo_pass_spread(&pass, i);
}

static void find_since_u(struct segment *s, int a, int64_t *at)
{
    mo_pass pass = { s->f, false, s->since_u, at };

    clear_sides(s, s->since_u);
    mo_pass_spread_from(&pass, s->u, a);
    for (int i = s->u + 1; i < s->v; i++)
        mo_pass_spread(&pass, i);
}

/* table: by device of u and device of v; sides: one for each device of v. */
static void fill_table(struct segment *s, int64_t *sides, int64_t *table)
{
    int n_devices = s->f->x->n_devices;
    int64_t places = mo_frame_place(s->f, s->f->x->n, 0);

    for (int b = 0; b < n_devices; b++)
        find_until_v(s, sides + b * places, b, s->load);
    for (int a = 0; a < n_devices; a++) {
        find_since_u(s, a, s->load);
        for (int b = 0; b < n_devices; b++) {
            s->until_v = sides + b * places;
            if (mo_frame_allowed(s->f, s->u, a) &&
                mo_frame_allowed(s->f, s->v, b))
                table[a * n_devices + b] = least_time(s, a, b);
        }
    }
}

/* Where there is too much to look at there are no tables. */
static bool is_worth_it(const mo_frame *f)
{
    int64_t n = f->x->n, n_devices = f->x->n_devices;

    return f->n_cuts > 1 && n_devices <= 64 &&
           n * n_devices * n_devices * n_devices <= MAX_WORK;
}

static mo_status reserve(mo_frame *f, mo_error *err)
{
    size_t n_devices = (size_t) f->x->n_devices;

    f->segment_ns = calloc((size_t) f->n_cuts * n_devices * n_devices,
                           sizeof *f->segment_ns);
    return f->segment_ns ? MO_OK : mo_fail_memory(err);
}

mo_status mo_frame_find_segments(mo_frame *f, mo_error *err)
{
    int64_t n_devices = f->x->n_devices, places = f->x->n * n_devices;
    struct segment s = { .f = f };
    int64_t *scratch;

    if (!is_worth_it(f))
        return MO_OK;
    if (!f->segment_ns && reserve(f, err) != MO_OK)
        return MO_E_MEMORY;
    scratch = calloc((size_t) ((n_devices + 1) * places + 5 * n_devices),
                     sizeof *scratch);
    if (!scratch)
        return mo_fail_memory(err);
    s.since_u = scratch + n_devices * places;
    s.first = s.since_u + places;
    s.last = s.first + n_devices;
    s.weight = s.last + n_devices;
    s.good_weight = s.weight + n_devices;
    s.load = s.good_weight + n_devices;
    for (int c = 0; c + 1 < f->n_cuts; c++) {
        s.u = f->cuts[c];
        s.v = f->cuts[c + 1];
        fill_table(&s, scratch, f->segment_ns + c * n_devices * n_devices);
    }
    free(scratch);
    return MO_OK;
}
