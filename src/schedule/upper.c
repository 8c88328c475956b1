#include "schedule/upper.h"

#include "schedule/serial.h"
#include "schedule/single.h"

/* Keeps the better of the two and frees the other; either may be NULL. */
static void keep_better(mo_schedule **best, mo_schedule *other)
{
    if (!*best || (other && other->makespan_ns < (*best)->makespan_ns)) {
        mo_schedule *kept = *best;

        *best = other;
        other = kept;
    }
    mo_schedule_free(other);
}

static mo_status try_single(const mo_instance *x, const mo_regime *regime,
                            mo_schedule **best, mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; k < x->n_devices && status == MO_OK; k++) {
        mo_schedule *s = NULL;

        if (*best && mo_single_ns(x, k) >= (*best)->makespan_ns)
            continue;
        status = mo_single_make(x, regime, k, &s, err);
        if (status == MO_OK)
            keep_better(best, s);
    }
    return status;
}

mo_status mo_upper_find(const mo_instance *x, const mo_regime *regime,
                        mo_schedule **schedule, int64_t *bound_ns,
                        mo_error *err)
{
    mo_schedule *best = NULL;
    int64_t serial_ns;
    mo_status status = mo_serial_find(x, regime, &serial_ns, err);

    if (status == MO_OK)
        status = try_single(x, regime, &best, err);
    if (status != MO_OK) {
        mo_schedule_free(best);
        return status;
    }
    *schedule = best;
    *bound_ns = best ? best->makespan_ns : serial_ns;
    return MO_OK;
}
