/* SPDX-License-Identifier: Apache-2.0 */
/* The MIP start: the heuristic's solution, column by column. */
#include "models/compact/compact.h"

#include <stdlib.h>

static int device_of(const mo_compact *c, int op)
{
    return c->frame->start->device[op];
}

static int64_t end_of_op(const mo_compact *c, int op)
{
    return c->frame->start->start_ns[op] +
           mo_instance_p_ns(c->x, op, device_of(c, op));
}

/* Returns whether some reader of the item is on device b. */
static bool is_read_on(const mo_compact *c, const mo_transfer_item *item, int b)
{
    const mo_instance *x = c->x;

    if (item->device == MO_FREE)
        return device_of(c, item->to) == b;
    for (int q = x->tensor_start[item->tensor];
         q < x->tensor_start[item->tensor + 1]; q++)
        if (mo_transfer_items_reads(c->frame, item, x->flows[q].to) &&
            device_of(c, x->flows[q].to) == b)
            return true;
    return false;
}

mo_status mo_compact_start_make(mo_compact *c, mo_error *err)
{
    c->start = malloc(((size_t) c->items->n + 1) * sizeof *c->start);
    if (!c->start)
        return mo_fail_memory(err);
    for (int i = 0; i < c->items->n; i++) {
        const mo_transfer_item *item = &c->items->items[i];
        int a = device_of(c, item->from);
        int b = item->device == MO_FREE ? device_of(c, item->to) : item->device;
        mo_compact_start_item s = { false, a, b, end_of_op(c, item->from), 0 };

        if (a != b && is_read_on(c, item, b)) {
            const mo_transfer *t =
                mo_schedule_transfer(c->frame->start, item->number, b);

            s.sent = true;
            s.start_ns = t->start_ns;
            s.end_ns = t->end_ns;
        }
        c->start[i] = s;
        /* Of interchangeable items the smaller number goes first in the model:
         * those of the start are swapped accordingly.  The smaller numbers are
         * in order already. */
        for (int j = c->items->items[i].first; j < i; j++)
            if (mo_transfer_items_interchangeable(&c->items->items[j],
                                                  &c->items->items[i]) &&
                c->start[j].start_ns > c->start[i].start_ns) {
                mo_compact_start_item later = c->start[j];

                c->start[j] = c->start[i];
                c->start[i] = later;
            }
    }
    return MO_OK;
}

double mo_compact_start_same_device(const mo_compact *c, int i, int j)
{
    return c->start && device_of(c, i) == device_of(c, j);
}

/* Where both take no time each precedes the other: the smaller number counts
 * as first. */
static bool is_before(int64_t first_end, int64_t second_start, bool is_smaller,
                      int64_t second_end, int64_t first_start)
{
    return first_end <= second_start &&
           (is_smaller || second_end > first_start);
}

double mo_compact_start_order(const mo_compact *c, int i, int j)
{
    return mo_compact_start_same_device(c, i, j) &&
           is_before(end_of_op(c, i), c->frame->start->start_ns[j], i < j,
                     end_of_op(c, j), c->frame->start->start_ns[i]);
}

double mo_compact_start_arc(const mo_compact *c, const mo_transfer_item *item,
                            mo_transfer_arc arc)
{
    return c->start && device_of(c, item->from) == arc.a &&
           is_read_on(c, item, arc.b);
}

double mo_compact_start_transfer_order(const mo_compact *c, int first,
                                       int second)
{
    const mo_compact_start_item *s, *t;

    if (!c->start)
        return 0;
    s = &c->start[first];
    t = &c->start[second];
    return s->sent && t->sent &&
           mo_transfer_items_share_resource(c->frame,
                                            (mo_transfer_arc){ s->a, s->b },
                                            (mo_transfer_arc){ t->a, t->b }) &&
           is_before(s->end_ns, t->start_ns, first < second, t->end_ns,
                     s->start_ns);
}
