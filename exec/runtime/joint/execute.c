/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stop.h"
#include "exec/thread/cpu_pause.h"
#include "exec/runtime/joint/joint_internal.h"

/* The unit that programs are recorded with, begun and waited for. */
enum { RECORDER = 0 };

/* ------------------------------------------------------------------ waiting */

enum { POLL_NS = 50000 }; /* how often carriers are asked */

static mo_status poll_carriers(const mo_joint_state *j, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < j->n_carriers && status == MO_OK; i++)
        status = j->carriers[i]->poll(j->carriers[i], err);
    return status;
}

/* The other end of a carry may be gone: then its carrier says so. */
static mo_status wait_awake(mo_joint_state *j, mo_backend_unit *unit,
                            mo_error *err)
{
    int64_t polled = mo_stop_clock_ns();
    bool done = false;
    mo_status status = j->backend->done(unit, &done, err);

    while (status == MO_OK && !done) {
        mo_thread_pause();
        if (mo_stop_clock_ns() - polled >= POLL_NS) {
            status = poll_carriers(j, err);
            polled = mo_stop_clock_ns();
        }
        if (status == MO_OK)
            status = j->backend->done(unit, &done, err);
    }
    return status;
}

mo_status mo_joint_synchronize(mo_joint_state *j, int seat, mo_error *err)
{
    mo_backend_unit *unit = j->devices[seat]->unit;
    mo_status status = mo_joint_activate_unit(j, seat, err);

    if (status == MO_OK && j->n_carriers > 0)
        status = wait_awake(j, unit, err);
    return status == MO_OK ? j->backend->wait(unit, err) : status;
}

/* The recorder is the first to wait for: the others have nothing left to do
 * when a program is over, but may have something to say of it. */
static mo_status wait_for_all(mo_joint_state *j, int64_t *over, mo_error *err)
{
    mo_status status = MO_OK;

    for (int s = 0; s < j->n_seats && status == MO_OK; s++) {
        status = mo_joint_synchronize(j, s, err);
        if (s == RECORDER || !j->are_recorded)
            *over = mo_stop_clock_ns();
    }
    return status;
}

/* ------------------------------------------------------------- call by call */

static mo_status begin_call(mo_joint_state *j, const mo_joint_item *item,
                            mo_error *err)
{
    const mo_run_device *d = j->devices[item->seat];
    mo_status status = mo_joint_activate_unit(j, item->seat, err);

    return status == MO_OK
               ? mo_run_execute_step(d, &d->actions[item->action], err)
               : status;
}

static mo_status begin_item(mo_joint_state *j, const mo_joint_item *item,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (item->kind == MO_JOINT_ITEM_CALL)
        return begin_call(j, item, err);
    if (item->kind != MO_JOINT_ITEM_TRANSFER)
        return MO_OK;
    status = mo_joint_activate_unit(j, item->seat, err);
    if (status == MO_OK)
        status =
            j->backend->carry(j->devices[item->seat]->unit, &item->carry, err);
    return status;
}

static mo_status begin_part(mo_joint_state *j, const mo_joint_segment *part,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (!j->are_recorded) {
        for (int i = part->first; i < part->first + part->n && status == MO_OK;
             i++)
            status = begin_item(j, &j->items[i], err);
        return status;
    }
    if (!part->recorded)
        return MO_OK;
    status = mo_joint_activate_unit(j, RECORDER, err);
    if (status == MO_OK)
        status =
            j->backend->replay(j->devices[RECORDER]->unit, part->recorded, err);
    return status;
}

/* -------------------------------------------------------------------- a run */

static void stamp(int64_t *row, int action, int64_t begun, int64_t ended)
{
    row[mo_run_timestamp_step_begin(action)] = begun;
    row[mo_run_timestamp_step_end(action)] = ended;
}

/* The moments of all steps of a part are those of the part. */
static void stamp_part(const mo_joint_state *j, const mo_joint_segment *part,
                       int64_t begun, int64_t ended, int64_t *const *rows)
{
    for (int i = part->first; i < part->first + part->n; i++) {
        const mo_joint_item *item = &j->items[i];

        stamp(rows[item->seat], item->action, begun, ended);
        if (item->to_seat != MO_JOINT_NONE)
            stamp(rows[item->to_seat], item->to_action, begun, ended);
    }
}

/* What the process does needs what the part made, wherever that is. */
static mo_status run_part(mo_joint_state *j, const mo_joint_segment *part,
                          int64_t *const *rows, int64_t *over, mo_error *err)
{
    int64_t begun = mo_stop_clock_ns();
    mo_status status;

    *over = begun;
    if (part->is_host) {
        status = begin_call(j, &j->items[part->first], err);
        *over = mo_stop_clock_ns();
    } else {
        status = begin_part(j, part, err);
        if (status == MO_OK)
            status = wait_for_all(j, over, err);
    }
    stamp_part(j, part, begun, *over, rows);
    return status;
}

mo_status mo_joint_execute(mo_joint_state *j, int64_t *const *rows,
                           mo_error *err)
{
    int64_t begun = mo_stop_clock_ns(), over = begun;
    mo_status status = MO_OK;

    for (int i = 0; i < j->n_parts && status == MO_OK; i++)
        status = run_part(j, &j->parts[i], rows, &over, err);
    for (int s = 0; s < j->n_seats; s++) {
        rows[s][0] = begun;
        rows[s][mo_run_timestamp_run_end(j->devices[s]->n_actions)] = over;
    }
    return status;
}

/* ----------------------------------------------------------------- programs */

mo_status mo_joint_record_programs(mo_joint_state *j, mo_error *err)
{
    mo_backend_unit *unit = j->devices[RECORDER]->unit;
    mo_status status = mo_joint_activate_unit(j, RECORDER, err);

    for (int i = 0; i < j->n_parts && status == MO_OK; i++) {
        mo_joint_segment *part = &j->parts[i];

        if (part->n_calls > 0)
            status = j->backend->record(unit, j->calls + part->first_call,
                                        part->n_calls, &part->recorded, err);
    }
    j->are_recorded = status == MO_OK;
    return status;
}

void mo_joint_free_programs(mo_joint_state *j)
{
    if (j->n_seats == 0 || !j->devices[RECORDER]->unit)
        return;
    /* What fails here would hide what failed before. */
    (void) mo_joint_activate_unit(j, RECORDER, NULL);
    for (int i = 0; i < j->n_parts; i++)
        if (j->parts[i].recorded) {
            j->backend->forget(j->devices[RECORDER]->unit,
                               j->parts[i].recorded);
            j->parts[i].recorded = NULL;
        }
}
