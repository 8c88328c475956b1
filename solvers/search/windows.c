#include "solvers/search/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/pass.h"

enum { MOST_ROUNDS = 12 };

static int n_devices(const mo_windows *w)
{
    return w->places.x->n_devices;
}

static void number_ends(mo_windows *w)
{
    const mo_chain *chain = w->chained->chain;

    for (int i = 0; i < w->places.x->n; i++)
        w->ends[i] = w->begins[i] = -1;
    for (int s = 0; s < chain->n; s++) {
        if (chain->segments[s].v != MO_FREE)
            w->ends[chain->segments[s].v] = s;
        if (chain->segments[s].u != MO_FREE)
            w->begins[chain->segments[s].u] = s;
    }
}

static mo_status reserve(mo_windows *w, mo_error *err)
{
    size_t n = (size_t) w->places.x->n, devices = (size_t) n_devices(w), size;

    if (!mo_size_mul(n, devices, &size))
        return mo_fail_memory(err);
    w->places.allowed = malloc(size * sizeof *w->places.allowed);
    w->head_ns = calloc(size, sizeof *w->head_ns);
    w->tail_ns = calloc(size, sizeof *w->tail_ns);
    w->at = calloc(devices, sizeof *w->at);
    w->ends = calloc(n, sizeof *w->ends);
    w->begins = calloc(n, sizeof *w->begins);
    if (!w->places.allowed || !w->head_ns || !w->tail_ns || !w->at ||
        !w->ends || !w->begins)
        return mo_fail_memory(err);
    memcpy(w->places.allowed, w->chained->places.allowed,
           size * sizeof *w->places.allowed);
    return MO_OK;
}

mo_status mo_windows_new(const mo_blocks *blocks, int kind,
                         mo_windows **windows, mo_error *err)
{
    mo_windows *w = calloc(1, sizeof *w);
    mo_status status;

    if (!w)
        return mo_fail_memory(err);
    w->blocks = blocks;
    w->chained = &blocks->chained[kind];
    w->places = w->chained->places;
    w->places.allowed = NULL;
    status = reserve(w, err);
    if (status == MO_OK) {
        number_ends(w);
        *windows = w;
    } else {
        mo_windows_free(w);
    }
    return status;
}

void mo_windows_free(mo_windows *w)
{
    if (!w)
        return;
    free(w->places.allowed);
    free(w->head_ns);
    free(w->tail_ns);
    free(w->at);
    free(w->ends);
    free(w->begins);
    free(w);
}

void mo_windows_hold(mo_windows *w, int op, int device)
{
    for (int k = 0; k < n_devices(w); k++)
        if (k != device)
            w->places.allowed[mo_places_at(&w->places, op, k)] = false;
}

int mo_windows_only(const mo_windows *w, int op)
{
    int only = -1;

    for (int k = 0; k < n_devices(w); k++)
        if (mo_places_allowed(&w->places, op, k)) {
            if (only >= 0)
                return -1;
            only = k;
        }
    return only;
}

static bool is_anywhere(const mo_windows *w, int op)
{
    bool any = false;

    for (int k = 0; k < n_devices(w); k++)
        any = any || mo_places_allowed(&w->places, op, k);
    return any;
}

/* The least time from the beginning, or backward from the end, through a
 * segment to its end on a device, by the devices where the other end may be;
 * INT64_MAX: from none of them. */
static int64_t through(const mo_windows *w, const mo_pass *pass, int segment,
                       int device)
{
    const mo_segment *s = &w->chained->chain->segments[segment];
    const int64_t *table =
        w->blocks->blocks[w->chained->block[segment]].lower_ns;
    int other = pass->backward ? s->v : s->u, n = n_devices(w);
    int64_t least_ns = INT64_MAX;

    for (int k = 0; k < (other == MO_FREE ? 1 : n); k++) {
        int64_t ns = table[pass->backward ? device * n + k : k * n + device];

        if (ns == INT64_MAX ||
            (other != MO_FREE && !mo_places_allowed(&w->places, other, k)))
            continue;
        if (other != MO_FREE)
            ns += mo_pass_with_p(pass, other, k);
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return least_ns;
}

/* Raises the sides of a chain's op. */
static void raise_by_block(mo_windows *w, const mo_pass *pass, int op)
{
    int segment = pass->backward ? w->begins[op] : w->ends[op];

    for (int k = 0; k < n_devices(w) && segment >= 0; k++) {
        int64_t at = mo_places_at(&w->places, op, k), ns;

        if (!w->places.allowed[at])
            continue;
        ns = through(w, pass, segment, k);
        if (ns == INT64_MAX)
            w->places.allowed[at] = false;
        else
            mo_pass_raise(&pass->side[at], ns);
    }
}

/* False: an op can be nowhere. */
static bool pass_all(mo_windows *w, bool backward)
{
    int n = w->places.x->n;
    mo_pass pass = { &w->places, backward, backward ? w->tail_ns : w->head_ns,
                     w->at };

    memset(pass.side, 0, (size_t) n * (size_t) n_devices(w) * sizeof(int64_t));
    for (int i = 0; i < n; i++) {
        int op = backward ? n - 1 - i : i;

        raise_by_block(w, &pass, op);
        if (!is_anywhere(w, op))
            return false;
        mo_pass_spread(&pass, op);
    }
    return true;
}

static bool take_away(mo_windows *w, int64_t time_ns)
{
    const mo_instance *x = w->places.x;
    bool any = false;

    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->n_devices; k++) {
            int64_t at = mo_places_at(&w->places, i, k);

            if (w->places.allowed[at] &&
                w->head_ns[at] + x->p_ns[at] + w->tail_ns[at] > time_ns) {
                w->places.allowed[at] = false;
                any = true;
            }
        }
    return any;
}

/* Each pass counts what is allowed when it begins; what is taken away in the
 * last round leaves the sides as they are, which is less than could be said and
 * still true. */
bool mo_windows_narrow(mo_windows *w, int64_t time_ns)
{
    bool more = true;

    for (int i = 0; i < MOST_ROUNDS && more; i++) {
        if (!pass_all(w, false) || !pass_all(w, true))
            return false;
        more = take_away(w, time_ns);
    }
    for (int i = 0; i < w->places.x->n; i++)
        if (!is_anywhere(w, i))
            return false;
    return true;
}
