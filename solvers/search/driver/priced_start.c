/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/priced_start.h"

#include <math.h>
#include <stdlib.h>

#include "solvers/search/decomp/boundary_path.h"
#include "solvers/search/primal/warm_start.h"

enum {
    MAX_EXCHANGES = 8, /* of devices, that of none included */
    MAX_WORK = 1 << 19 /* exchanges x boundaries x ops */
};

/* A permutation of the devices. */
typedef struct exchange {
    int to[MO_DECOMP_MAX_STATES];
} exchange;

typedef struct start_search {
    const mo_decomp_classes *classes;
    const mo_decomp_class *cls;
    const mo_instance *x;
    const double *price_ns;
    exchange exchanges[MAX_EXCHANGES];
    int n_exchanges;
    mo_primal_warm_start *warm;
    double least_ns; /* priced time of from */
    mo_schedule *from;
} start_search;

static bool have_equal_times(const mo_instance *x, int a, int b)
{
    for (int i = 0; i < x->n; i++)
        if (mo_instance_p_ns(x, i, a) != mo_instance_p_ns(x, i, b))
            return false;
    return true;
}

/* Adds the exchange of a and b to those of lower devices, after each of the
 * first n. */
static void add_exchange(start_search *s, int n, int a, int b)
{
    for (int i = 0; i < n && s->n_exchanges < MAX_EXCHANGES; i++) {
        exchange *e = &s->exchanges[s->n_exchanges];

        *e = s->exchanges[i];
        if (e->to[a] != a || e->to[b] != b)
            continue;
        e->to[a] = b;
        e->to[b] = a;
        s->n_exchanges++;
    }
}

/* Pairs of devices on which all ops take the same time, one or several. */
static void find_exchanges(start_search *s)
{
    for (int k = 0; k < s->x->n_devices; k++)
        s->exchanges[0].to[k] = k;
    s->n_exchanges = 1;
    for (int a = 0; a < s->x->n_devices; a++)
        for (int b = a + 1;
             b < s->x->n_devices && s->n_exchanges < MAX_EXCHANGES; b++)
            if (have_equal_times(s->x, a, b))
                add_exchange(s, s->n_exchanges, a, b);
}

/* Keeps a schedule, which may be NULL, if it costs less; else frees it. */
static void keep_cheaper(start_search *s, mo_schedule *schedule)
{
    double cost_ns = schedule
                         ? mo_primal_priced_time_ns(s->x, &s->classes->regime,
                                                    schedule, s->price_ns)
                         : INFINITY;

    if (cost_ns < s->least_ns) {
        mo_schedule *worse = s->from;

        s->least_ns = cost_ns;
        s->from = schedule;
        schedule = worse;
    }
    mo_schedule_free(schedule);
}

/* Replays a variant with its devices exchanged. */
static mo_status replay(start_search *s, const mo_schedule *variant,
                        const exchange *e, mo_error *err)
{
    mo_schedule *model = NULL, *made = NULL;
    mo_status status = mo_schedule_copy(s->x, variant, &model, err);
    int64_t below_ns =
        s->least_ns < 1e17 ? (int64_t) s->least_ns : (int64_t) 1e17;

    for (int i = 0; status == MO_OK && i < s->x->n; i++)
        model->device[i] = e->to[variant->device[i]];
    if (status == MO_OK)
        status = mo_primal_warm_start_from_schedule(s->warm, model, below_ns,
                                                    &made, err);
    keep_cheaper(s, made);
    mo_schedule_free(model);
    return status;
}

static mo_status replay_others(start_search *s, mo_error *err)
{
    int n_boundaries = s->classes->states->n * s->classes->states->n;
    double price_ns[MO_DECOMP_MAX_STATES], cost_ns;
    mo_status status = MO_OK;

    for (int i = 0; i < s->n_exchanges; i++) {
        for (int k = 0; k < s->x->n_devices; k++)
            price_ns[k] = s->price_ns[s->exchanges[i].to[k]];
        for (int b = 0; b < n_boundaries && status == MO_OK; b++) {
            int v = mo_decomp_class_cheapest_variant(s->classes, s->cls, b,
                                                     price_ns, &cost_ns);

            if (v >= 0 && cost_ns < s->least_ns)
                status = replay(s, s->cls->boundaries[b].variants[v].schedule,
                                &s->exchanges[i], err);
        }
    }
    return status;
}

static bool has_groups_or_pins(const start_search *s)
{
    for (int i = 0; i < s->x->n; i++)
        if (s->x->group[i] != MO_FREE ||
            (s->x->pin[i] != MO_FREE && i != s->cls->u && i != s->cls->v))
            return true;
    return false;
}

/* Exchanging devices would break up groups and leave pins. */
static void limit_exchanges(start_search *s)
{
    int64_t work =
        (int64_t) s->classes->states->n * s->classes->states->n * s->x->n;

    if (has_groups_or_pins(s) || s->n_exchanges * work > MAX_WORK)
        s->n_exchanges = 1;
    if (work > MAX_WORK)
        s->n_exchanges = 0;
}

mo_status mo_search_priced_start(const mo_decomp_classes *classes,
                                 const mo_decomp_class *cls, int boundary,
                                 const mo_instance *x, const double *price_ns,
                                 const mo_primal_load_start *load,
                                 mo_schedule **from, mo_error *err)
{
    start_search s = { .classes = classes,
                       .cls = cls,
                       .x = x,
                       .price_ns = price_ns,
                       .least_ns = INFINITY };
    int variant = mo_decomp_class_cheapest_variant(classes, cls, boundary,
                                                   price_ns, &s.least_ns);
    mo_schedule *loaded = NULL;
    mo_status status = MO_OK;

    if (variant >= 0)
        status = mo_schedule_copy(
            x, cls->boundaries[boundary].variants[variant].schedule, &s.from,
            err);
    find_exchanges(&s);
    limit_exchanges(&s);
    if (status == MO_OK)
        status = mo_primal_warm_start_new(x, &classes->regime, &s.warm, err);
    if (status == MO_OK)
        status = replay_others(&s, err);
    if (status == MO_OK && load)
        status = mo_primal_load_start_schedule(
            load, x, &classes->regime, price_ns, s.least_ns, &loaded, err);
    keep_cheaper(&s, loaded);
    mo_primal_warm_start_free(s.warm);
    if (status == MO_OK)
        *from = s.from;
    else
        mo_schedule_free(s.from);
    return status;
}
