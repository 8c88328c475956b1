/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/reference_validate.h"

#include <stdbool.h>

#include "tests/support/suite.h"

mo_regime regime_of(int number)
{
    return (mo_regime){ (mo_congestion) (number % 4),
                        (mo_tensors) (number / 4 % 2),
                        (mo_memory) (number / 8) };
}

static int64_t end_of(const mo_instance *x, const mo_schedule *s, int op)
{
    return s->start_ns[op] + mo_instance_p_ns(x, op, s->device[op]);
}

static bool is_once(const mo_schedule *s)
{
    return s->regime.tensors == MO_TENSORS_ONCE;
}

/* Returns whether the transfer delivers that flow. */
static bool brings(const mo_instance *x, const mo_schedule *s,
                   const mo_transfer *t, int flow)
{
    int item = is_once(s) ? x->flows[flow].tensor : flow;

    return t->item == item && t->to == s->device[x->flows[flow].to];
}

static bool are_apart(int64_t a_from, int64_t a_to, int64_t b_from,
                      int64_t b_to)
{
    return a_to <= b_from || b_to <= a_from;
}

static const char *broken_op(const mo_instance *x, const mo_schedule *s, int i)
{
    if (s->device[i] < 0 || s->device[i] >= x->n_devices)
        return "an op is nowhere";
    if (s->start_ns[i] < 0)
        return "an op starts before time 0";
    if (x->pin[i] != MO_FREE && x->pin[i] != s->device[i])
        return "an op is not where it is pinned";
    for (int j = 0; j < i; j++) {
        if (x->group[i] != MO_FREE && x->group[i] == x->group[j] &&
            s->device[i] != s->device[j])
            return "a group is on two devices";
        if (s->device[i] == s->device[j] &&
            !are_apart(s->start_ns[i], end_of(x, s, i), s->start_ns[j],
                       end_of(x, s, j)))
            return "two ops run at once";
    }
    return NULL;
}

static const char *broken_makespan(const mo_instance *x, const mo_schedule *s)
{
    int64_t last_ns = 0;

    for (int i = 0; i < x->n; i++)
        last_ns = end_of(x, s, i) > last_ns ? end_of(x, s, i) : last_ns;
    return s->makespan_ns == last_ns ? NULL : "the makespan is wrong";
}

/* Each flow is delivered by exactly one transfer in time, or needs none. */
static const char *broken_flow(const mo_instance *x, const mo_schedule *s,
                               int q)
{
    const mo_flow *flow = &x->flows[q];
    bool stays = s->device[flow->from] == s->device[flow->to];
    int n = 0;

    if (end_of(x, s, flow->from) > s->start_ns[flow->to])
        return "an op starts before what it reads";
    for (int t = 0; t < s->n_transfers; t++)
        if (brings(x, s, &s->transfers[t], q)) {
            n++;
            if (s->transfers[t].from != s->device[flow->from])
                return "a transfer comes from elsewhere";
            if (end_of(x, s, flow->from) > s->transfers[t].start_ns)
                return "a transfer starts before there is anything to send";
            if (s->transfers[t].end_ns > s->start_ns[flow->to])
                return "an op starts before what it reads has arrived";
        }
    return n == !stays ? NULL : "a flow is not sent exactly once";
}

static const char *broken_transfer(const mo_instance *x, const mo_schedule *s,
                                   int at)
{
    const mo_transfer *t = &s->transfers[at];
    bool is_read = false;

    if (t->from == t->to)
        return "a transfer stays where it is";
    if (t->end_ns - t->start_ns !=
        (is_once(s) ? mo_instance_tensor_ns(x, t->item, t->from, t->to)
                    : mo_instance_flow_ns(x, t->item, t->from, t->to)))
        return "a transfer does not take its time";
    for (int q = 0; q < x->n_flows; q++)
        is_read = is_read || brings(x, s, t, q);
    if (!is_read)
        return "a transfer without a receiver";
    if (at > 0 &&
        (t[-1].item > t->item || (t[-1].item == t->item && t[-1].to >= t->to)))
        return "transfers are not in order";
    return NULL;
}

static bool share_a_link(const mo_instance *x, const mo_transfer *t,
                         const mo_transfer *u)
{
    int n_one, n_other;
    const int *one = mo_instance_route(x, t->from, t->to, &n_one);
    const int *other = mo_instance_route(x, u->from, u->to, &n_other);

    for (int i = 0; i < n_one; i++)
        for (int j = 0; j < n_other; j++)
            if (one[i] == other[j])
                return true;
    return false;
}

static bool exclude_each_other(const mo_instance *x, mo_congestion congestion,
                               const mo_transfer *t, const mo_transfer *u)
{
    switch (congestion) {
    case MO_CONGESTION_PORT:
        return t->from == u->from || t->to == u->to;
    case MO_CONGESTION_CHANNEL:
        return t->from == u->from && t->to == u->to;
    case MO_CONGESTION_LINK:
        return share_a_link(x, t, u);
    case MO_CONGESTION_NONE:
        break;
    }
    return false;
}

static const char *broken_congestion(const mo_instance *x, const mo_schedule *s)
{
    for (int i = 0; i < s->n_transfers; i++)
        for (int j = 0; j < i; j++) {
            const mo_transfer *t = &s->transfers[i], *u = &s->transfers[j];

            if (exclude_each_other(x, s->regime.congestion, t, u) &&
                !are_apart(t->start_ns, t->end_ns, u->start_ns, u->end_ns))
                return "two transfers are in each other's way";
        }
    return NULL;
}

/* The interval [from, to), or a single moment. */
static bool is_at(int64_t from_ns, int64_t to_ns, int64_t at_ns)
{
    return from_ns == to_ns ? at_ns == from_ns
                            : from_ns <= at_ns && at_ns < to_ns;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The time until which the op uses its buffers: an op that takes no time uses
 * them at its moment. */
static int64_t used_until(const mo_instance *x, const mo_schedule *s, int op)
{
    return max64(end_of(x, s, op), s->start_ns[op] + 1);
}

/* The time until which a tensor is needed on its producer's device. */
static int64_t home_until(const mo_instance *x, const mo_schedule *s,
                          int tensor)
{
    int from = x->tensor_from[tensor];
    int64_t until_ns = used_until(x, s, from);

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        if (s->device[x->flows[q].to] == s->device[from])
            until_ns = max64(until_ns, used_until(x, s, x->flows[q].to));
        for (int t = 0; t < s->n_transfers; t++)
            if (brings(x, s, &s->transfers[t], q))
                until_ns = max64(until_ns, s->transfers[t].end_ns);
    }
    return until_ns;
}

static int64_t copy_until(const mo_instance *x, const mo_schedule *s,
                          const mo_transfer *t)
{
    int64_t until_ns = t->end_ns;

    for (int q = 0; q < x->n_flows; q++)
        if (brings(x, s, t, q))
            until_ns = max64(until_ns, used_until(x, s, x->flows[q].to));
    return until_ns;
}

static int64_t known_bytes(const mo_instance *x, int tensor)
{
    return max64(x->tensor_bytes[tensor], 0);
}

/* The times until which tensors are needed at home, and copies where they were
 * sent. */
typedef struct lifetimes {
    int64_t *home_ns, *copy_ns;
} lifetimes;

static lifetimes lifetimes_make(const mo_instance *x, const mo_schedule *s)
{
    lifetimes until = {
        .home_ns = calloc((size_t) x->n_tensors + 1, sizeof *until.home_ns),
        .copy_ns = calloc((size_t) s->n_transfers + 1, sizeof *until.copy_ns),
    };

    ck_assert(until.home_ns && until.copy_ns);
    for (int t = 0; t < x->n_tensors; t++)
        until.home_ns[t] = home_until(x, s, t);
    for (int c = 0; c < s->n_transfers; c++)
        until.copy_ns[c] = copy_until(x, s, &s->transfers[c]);
    return until;
}

static void lifetimes_clear(lifetimes *until)
{
    free(until->home_ns);
    free(until->copy_ns);
}

static int64_t held_at(const mo_instance *x, const mo_schedule *s,
                       const lifetimes *until, int device, int64_t at_ns)
{
    int64_t sum = 0, lasting = 0, fleeting = 0;

    for (int i = 0; i < x->n; i++)
        if (s->device[i] == device) {
            int64_t end_ns = end_of(x, s, i);
            int64_t work = x->memory_bytes[i] - x->weight_bytes[i];

            sum += x->weight_bytes[i];
            if (!is_at(s->start_ns[i], end_ns, at_ns))
                continue;
            if (s->start_ns[i] < end_ns)
                lasting += work;
            else
                fleeting = max64(fleeting, work);
        }
    sum += max64(lasting, fleeting);
    for (int t = 0; t < x->n_tensors; t++)
        if (s->device[x->tensor_from[t]] == device &&
            is_at(s->start_ns[x->tensor_from[t]], until->home_ns[t], at_ns))
            sum += known_bytes(x, t);
    for (int c = 0; c < s->n_transfers; c++) {
        const mo_transfer *t = &s->transfers[c];

        if (t->to == device && is_at(t->start_ns, until->copy_ns[c], at_ns))
            sum +=
                known_bytes(x, is_once(s) ? t->item : x->flows[t->item].tensor);
    }
    return sum;
}

/* Memory can only grow at a start. */
static int64_t live_peak(const mo_instance *x, const mo_schedule *s,
                         const lifetimes *until, int device)
{
    int64_t most = 0;

    for (int i = 0; i < x->n; i++)
        most = max64(most, held_at(x, s, until, device, s->start_ns[i]));
    for (int t = 0; t < s->n_transfers; t++)
        most =
            max64(most, held_at(x, s, until, device, s->transfers[t].start_ns));
    return most;
}

static int64_t static_sum(const mo_instance *x, const mo_schedule *s,
                          int device)
{
    int64_t sum = 0;

    for (int i = 0; i < x->n; i++)
        sum += s->device[i] == device ? x->memory_bytes[i] : 0;
    return sum;
}

void peak_by_definition(const mo_instance *x, const mo_schedule *s,
                        int64_t *peak_bytes)
{
    bool live = s->regime.memory == MO_MEMORY_LIVE;
    lifetimes until = { 0 };

    if (live)
        until = lifetimes_make(x, s);
    for (int k = 0; k < x->n_devices; k++)
        peak_bytes[k] = live ? live_peak(x, s, &until, k) : static_sum(x, s, k);
    lifetimes_clear(&until);
}

static const char *broken_memory(const mo_instance *x, const mo_schedule *s)
{
    int64_t *peak_bytes = calloc((size_t) x->n_devices + 1, sizeof *peak_bytes);
    const char *broken = NULL;

    ck_assert_ptr_nonnull(peak_bytes);
    peak_by_definition(x, s, peak_bytes);
    for (int k = 0; k < x->n_devices; k++)
        if (s->regime.memory != MO_MEMORY_NONE &&
            peak_bytes[k] > x->capacity_bytes[k])
            broken = "a device needs more memory than it has";
    free(peak_bytes);
    return broken;
}

const char *broken_rule(const mo_instance *x, const mo_schedule *s)
{
    const char *broken = NULL;

    ck_assert_int_eq(s->n, x->n);
    for (int i = 0; i < x->n && !broken; i++)
        broken = broken_op(x, s, i);
    if (!broken)
        broken = broken_makespan(x, s);
    for (int q = 0; q < x->n_flows && !broken; q++)
        broken = broken_flow(x, s, q);
    for (int t = 0; t < s->n_transfers && !broken; t++)
        broken = broken_transfer(x, s, t);
    if (!broken)
        broken = broken_congestion(x, s);
    return broken ? broken : broken_memory(x, s);
}

void check_valid(const mo_instance *x, const mo_schedule *s)
{
    const char *broken = broken_rule(x, s);

    ck_assert_msg(!broken, "%s", broken);
}
