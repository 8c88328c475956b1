#include "schedule/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/pass.h"
#include "schedule/refute.h"

/*
 * With u on a and v on b, each op between them has a least time since the end
 * of u and one until the start of v, by device.  From these times are refuted.
 * Where sending takes longer than running elsewhere gains, that says that
 * nearly everything stays where u is, which neither paths nor loads by
 * themselves tell.
 */

struct mo_segments {
    const mo_places *places;
    mo_refuter *refuter;
    int64_t places_n; /* ops by devices */
    int64_t *since_u; /* by op and device, for one device of u */
    int64_t *until_v; /* the same for each device of v, one after the other */
    int64_t *at;      /* by device */
};

mo_status mo_segments_new(const mo_places *places, mo_segments **segments,
                          mo_error *err)
{
    size_t n = (size_t) places->x->n, devices = (size_t) places->x->n_devices;
    mo_segments *s = calloc(1, sizeof *s);
    size_t size, all;
    mo_status status;

    if (!s)
        return mo_fail_memory(err);
    s->places = places;
    if (mo_size_mul(n + 1, devices, &size) &&
        mo_size_mul(size, devices, &all)) {
        s->places_n = (int64_t) size;
        s->since_u = calloc(size, sizeof *s->since_u);
        s->until_v = calloc(all, sizeof *s->until_v);
        s->at = calloc(devices + 1, sizeof *s->at);
    }
    if (s->since_u && s->until_v && s->at)
        status = mo_refuter_new(places, places->x->n, &s->refuter, err);
    else
        status = mo_fail_memory(err);
    if (status == MO_OK)
        *segments = s;
    else
        mo_segments_free(s);
    return status;
}

void mo_segments_free(mo_segments *s)
{
    if (!s)
        return;
    mo_refuter_free(s->refuter);
    free(s->since_u);
    free(s->until_v);
    free(s->at);
    free(s);
}

static void clear_op(const mo_segments *s, int64_t *side, int op)
{
    size_t size = (size_t) s->places->x->n_devices * sizeof *side;

    if (op != MO_FREE)
        memset(side + mo_places_at(s->places, op, 0), 0, size);
}

/* The sides of the segment's ops and of its ends. */
static void clear_sides(const mo_segments *s, const mo_segment *segment,
                        int64_t *side)
{
    clear_op(s, side, segment->u);
    clear_op(s, side, segment->v);
    for (int i = 0; i < segment->n; i++)
        clear_op(s, side, segment->ops[i]);
}

static void find_until_v(mo_segments *s, const mo_segment *segment, int b)
{
    mo_pass pass = { s->places, true, s->until_v + b * s->places_n, s->at };

    clear_sides(s, segment, pass.side);
    if (segment->v != MO_FREE)
        mo_pass_spread_from(&pass, segment->v, b);
    for (int i = segment->n - 1; i >= 0; i--)
        mo_pass_spread(&pass, segment->ops[i]);
}

static void find_since_u(mo_segments *s, const mo_segment *segment, int a)
{
    mo_pass pass = { s->places, false, s->since_u, s->at };

    clear_sides(s, segment, s->since_u);
    if (segment->u != MO_FREE)
        mo_pass_spread_from(&pass, segment->u, a);
    for (int i = 0; i < segment->n; i++)
        mo_pass_spread(&pass, segment->ops[i]);
}

/* From u on a to v on b; the sides are those of a and b. */
static int64_t least_time(mo_segments *s, const mo_segment *segment, int a,
                          int b, int64_t most_ns)
{
    const int64_t *until_v = s->until_v + b * s->places_n;
    mo_refuter_case c = { segment->ops, segment->n, s->since_u,
                          until_v,      0,          most_ns };

    if (segment->v != MO_FREE)
        mo_pass_raise(&c.least_ns,
                      s->since_u[mo_places_at(s->places, segment->v, b)]);
    if (segment->u != MO_FREE)
        mo_pass_raise(&c.least_ns,
                      until_v[mo_places_at(s->places, segment->u, a)]);
    return mo_refuter_least(s->refuter, &c);
}

static bool may_be_on(const mo_segments *s, int op, int device)
{
    return op == MO_FREE ? device == 0
                         : mo_places_allowed(s->places, op, device);
}

void mo_segments_table(mo_segments *s, const mo_segment *segment,
                       int64_t most_ns, int64_t *table)
{
    int n_devices = s->places->x->n_devices;

    for (int b = 0; b < n_devices; b++)
        if (may_be_on(s, segment->v, b))
            find_until_v(s, segment, b);
    for (int a = 0; a < n_devices; a++) {
        if (!may_be_on(s, segment->u, a))
            continue;
        find_since_u(s, segment, a);
        for (int b = 0; b < n_devices; b++)
            if (may_be_on(s, segment->v, b))
                table[a * n_devices + b] =
                    least_time(s, segment, a, b, most_ns);
    }
}
