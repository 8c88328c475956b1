/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/annealer.h"

static double find_temperature(const mo_annealer *a)
{
    const mo_annealer_cooling *c = &a->cooling;
    double total = (double) a->steps, left = (double) (a->steps - a->done);
    double above = c->hot - c->cold;

    if (c->power == 0)
        return c->hot * pow(c->cold / c->hot, (double) a->done / total);
    if (c->levels > 0) {
        left = trunc(c->levels * (left / total));
        total = c->levels;
    }
    for (int i = 0; i < c->power; i++)
        above =
            c->is_whole ? trunc(above * left / total) : above * (left / total);
    return c->cold + above;
}

mo_status mo_annealer_run(mo_annealer *a, const mo_annealer_moves *moves,
                          void *search, mo_error *err)
{
    int64_t next_check = a->done, levels = a->cooling.levels;
    mo_status status = MO_OK;

    for (; a->done < a->steps && status == MO_OK; a->done += a->work) {
        bool accepted = false;

        if (a->done >= next_check) {
            next_check = a->done + a->cooling.every;
            /* The level is levels * (steps - done) / steps, rounded down. */
            if (a->cooling.every == 0)
                next_check =
                    a->steps *
                    (levels - levels * (a->steps - a->done) / a->steps + 1) /
                    levels;
            a->temperature = a->unit * find_temperature(a);
            if ((moves->check && !moves->check(search, a)) ||
                mo_stop_spend(a->stop, (next_check - a->done) * a->step_work))
                break;
        }
        a->work = 1;
        status = moves->propose(search, a, &accepted, err);
        if (status == MO_OK && accepted)
            status = moves->accept(search, err);
        else if (moves->reject)
            moves->reject(search);
    }
    return status;
}
