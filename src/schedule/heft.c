#include "schedule/heft.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "schedule/rank.h"
#include "schedule/sending.h"
#include "schedule/serial.h"
#include "schedule/timeline.h"
#include "schedule/units.h"

/* Something an op reads that is not on its device yet. */
typedef struct input {
    int item, from; /* the device that has it */
    int64_t ready_ns;
} input;

/* A schedule as it grows. */
typedef struct list {
    const mo_instance *x;
    const mo_regime *regime;
    const int *placement;
    mo_units *units;
    int *unit_device;    /* or MO_FREE */
    int64_t *room_bytes; /* by device, what units have not taken */
    int *order;
    int *device;
    int64_t *end_ns;
    mo_timeline *devices;
    mo_sending sending;
    input *inputs; /* of the op and device that are looked at */
    size_t n_inputs, inputs_room;
} list;

static int64_t later(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static bool may_go(const list *l, int op, int device)
{
    int unit = l->units->of_op[op];

    if (l->unit_device[unit] != MO_FREE)
        return l->unit_device[unit] == device;
    return l->units->bytes[unit] <= l->room_bytes[device];
}

/* Lists what op reads that would have to be sent to the device.  *here_ns is
 * when all the rest is there, *soonest_ns when all is, were nothing else under
 * way. */
static mo_status list_inputs(list *l, int op, int device, int64_t *here_ns,
                             int64_t *soonest_ns, mo_error *err)
{
    const mo_instance *x = l->x;
    bool once = l->regime->tensors == MO_TENSORS_ONCE;

    l->n_inputs = 0;
    *here_ns = *soonest_ns = 0;
    for (int j = x->in_start[op]; j < x->in_start[op + 1]; j++) {
        const mo_flow *flow = &x->flows[x->in_flows[j]];
        input in = { once ? flow->tensor : x->in_flows[j],
                     l->device[flow->from], l->end_ns[flow->from] };
        const mo_transfer *sent =
            in.from == device ? NULL
                              : mo_sending_find(&l->sending, in.item, device);
        mo_status status;

        if (in.from == device || sent) {
            *here_ns = later(*here_ns, sent ? sent->end_ns : in.ready_ns);
            continue;
        }
        status = MO_PUSH(l->inputs, l->n_inputs, l->inputs_room, err);
        if (status != MO_OK)
            return status;
        l->inputs[l->n_inputs++] = in;
        *soonest_ns =
            later(*soonest_ns,
                  in.ready_ns + mo_schedule_item_ns(x, l->regime, in.item,
                                                    in.from, device));
    }
    *soonest_ns = later(*soonest_ns, *here_ns);
    return MO_OK;
}

static int compare_inputs(const void *a, const void *b)
{
    const input *v = a, *w = b;

    if (v->ready_ns != w->ready_ns)
        return v->ready_ns < w->ready_ns ? -1 : 1;
    return (v->item > w->item) - (v->item < w->item);
}

/* Sends the listed inputs; lifts *ready_ns to when the last of them arrives. */
static mo_status send_inputs(list *l, int device, int64_t *ready_ns,
                             mo_error *err)
{
    mo_status status = MO_OK;

    if (l->n_inputs > 1)
        qsort(l->inputs, l->n_inputs, sizeof *l->inputs, compare_inputs);
    for (size_t i = 0; i < l->n_inputs && status == MO_OK; i++) {
        const input *in = &l->inputs[i];
        int64_t end_ns = 0;

        status = mo_sending_send(&l->sending, in->item, in->from, device,
                                 in->ready_ns, &end_ns, err);
        *ready_ns = later(*ready_ns, end_ns);
    }
    return status;
}

/* When op would end on the device; anything not below limit_ns will do where it
 * cannot end before that. */
static mo_status try_device(list *l, int op, int device, int64_t limit_ns,
                            int64_t *end_ns, mo_error *err)
{
    int64_t length_ns = mo_instance_p_ns(l->x, op, device);
    int64_t ready_ns, soonest_ns;
    size_t n_parcels = l->sending.n_parcels;
    mo_status status = list_inputs(l, op, device, &ready_ns, &soonest_ns, err);

    *end_ns = limit_ns;
    if (status != MO_OK || soonest_ns + length_ns >= limit_ns)
        return status;
    status = send_inputs(l, device, &ready_ns, err);
    if (status == MO_OK)
        *end_ns = length_ns +
                  mo_timeline_first(&l->devices[device], ready_ns, length_ns);
    mo_sending_undo(&l->sending, n_parcels);
    return status;
}

/* The only device that is left to op, or MO_FREE. */
static int decided(const list *l, int op)
{
    return l->placement ? l->placement[op]
                        : l->unit_device[l->units->of_op[op]];
}

/* The device where op ends first, or MO_FREE. */
static mo_status choose(list *l, int op, int *device, mo_error *err)
{
    int64_t first_ns = INT64_MAX, end_ns;

    *device = decided(l, op);
    if (*device != MO_FREE) {
        if (!may_go(l, op, *device))
            *device = MO_FREE;
        return MO_OK;
    }
    for (int k = 0; k < l->x->n_devices; k++) {
        mo_status status;

        if (!may_go(l, op, k))
            continue;
        status = try_device(l, op, k, first_ns, &end_ns, err);
        if (status != MO_OK)
            return status;
        if (end_ns < first_ns) {
            first_ns = end_ns;
            *device = k;
        }
    }
    return MO_OK;
}

static void settle(list *l, int op, int device)
{
    int unit = l->units->of_op[op];

    l->device[op] = device;
    if (l->unit_device[unit] != MO_FREE)
        return;
    l->unit_device[unit] = device;
    l->room_bytes[device] -= l->units->bytes[unit];
}

static mo_status put(list *l, int op, int device, mo_error *err)
{
    int64_t length_ns = mo_instance_p_ns(l->x, op, device);
    int64_t start_ns, soonest_ns;
    mo_timeline_change change;
    mo_status status = list_inputs(l, op, device, &start_ns, &soonest_ns, err);

    if (status == MO_OK)
        status = send_inputs(l, device, &start_ns, err);
    if (status != MO_OK)
        return status;
    mo_sending_keep(&l->sending);
    settle(l, op, device);
    start_ns = mo_timeline_first(&l->devices[device], start_ns, length_ns);
    l->end_ns[op] = start_ns + length_ns;
    return mo_timeline_put(&l->devices[device], start_ns, length_ns, &change,
                           err);
}

static mo_status place_all(list *l, bool *all, mo_error *err)
{
    mo_status status =
        mo_rank_order(l->x, l->regime, l->placement, l->order, err);

    *all = true;
    for (int k = 0; k < l->x->n_devices; k++)
        *all = *all && l->room_bytes[k] >= 0;
    for (int i = 0; i < l->x->n && *all && status == MO_OK; i++) {
        int device;

        status = choose(l, l->order[i], &device, err);
        *all = status == MO_OK && device != MO_FREE;
        if (*all)
            status = put(l, l->order[i], device, err);
    }
    return status;
}

static void copy_times(const list *l, mo_schedule *s)
{
    for (int i = 0; i < s->n; i++) {
        s->start_ns[i] = l->end_ns[i] - mo_instance_p_ns(l->x, i, s->device[i]);
        s->makespan_ns = later(s->makespan_ns, l->end_ns[i]);
    }
    for (int t = 0; t < s->n_transfers; t++)
        s->transfers[t] = *mo_sending_find(&l->sending, s->transfers[t].item,
                                           s->transfers[t].to);
}

/* The schedule, or NULL where what is alive at once does not fit. */
static mo_status finish(const list *l, mo_schedule **schedule, mo_error *err)
{
    mo_schedule *s = NULL;
    bool fits = false;
    mo_status status = mo_schedule_new(l->x, l->regime, l->device, &s, err);

    if (status == MO_OK) {
        copy_times(l, s);
        status = mo_schedule_fits(l->x, s, &fits, err);
    }
    if (status == MO_OK && fits)
        *schedule = s;
    else
        mo_schedule_free(s);
    return status;
}

static mo_status prepare(list *l, mo_error *err)
{
    const mo_instance *x = l->x;
    size_t n = (size_t) x->n + 1, n_devices = (size_t) x->n_devices + 1;
    int64_t serial_ns;
    mo_status status = mo_serial_find(x, l->regime, &serial_ns, err);

    if (status == MO_OK)
        status = mo_units_make(x, l->regime, &l->units, err);
    if (status == MO_OK)
        status = mo_sending_open(&l->sending, x, l->regime, err);
    if (status != MO_OK)
        return status;
    l->unit_device = malloc(n * sizeof *l->unit_device);
    l->order = malloc(n * sizeof *l->order);
    l->device = malloc(n * sizeof *l->device);
    l->end_ns = malloc(n * sizeof *l->end_ns);
    l->room_bytes = malloc(n_devices * sizeof *l->room_bytes);
    l->devices = calloc(n_devices, sizeof *l->devices);
    if (!l->unit_device || !l->order || !l->device || !l->end_ns ||
        !l->room_bytes || !l->devices)
        return mo_fail_memory(err);
    for (int u = 0; u < l->units->n; u++)
        l->unit_device[u] = l->units->pin[u];
    mo_units_room(x, l->units, l->room_bytes);
    return MO_OK;
}

static void clear(list *l)
{
    for (int k = 0; k < l->x->n_devices && l->devices; k++)
        mo_timeline_clear(&l->devices[k]);
    free(l->inputs);
    free(l->devices);
    free(l->room_bytes);
    free(l->end_ns);
    free(l->device);
    free(l->order);
    free(l->unit_device);
    mo_sending_close(&l->sending);
    mo_units_free(l->units);
}

mo_status mo_heft(const mo_instance *x, const mo_regime *regime,
                  const int *placement, mo_schedule **schedule, mo_error *err)
{
    list l = { .x = x, .regime = regime, .placement = placement };
    bool all = false;
    mo_status status = prepare(&l, err);

    *schedule = NULL;
    if (status == MO_OK)
        status = place_all(&l, &all, err);
    if (status == MO_OK && all)
        status = finish(&l, schedule, err);
    clear(&l);
    return status;
}
