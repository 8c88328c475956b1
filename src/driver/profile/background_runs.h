/*
 * profile_company.h - a network on one device, and others that run beside it.
 *
 * Devices of one machine share its memory and its clocks: what an op takes is
 * measured while all of them are at work, as they will be.
 */
#ifndef MO_DRIVER_PROFILE_BACKGROUND_RUNS_H
#define MO_DRIVER_PROFILE_BACKGROUND_RUNS_H

#include "base/error.h"
#include "base/stop.h"
#include "exec/backend/backend.h"
#include "exec/plan/plan.h"
#include "exec/runtime/run.h"

/* A device with a plan of its own. */
typedef struct mo_solo {
    const mo_plan *plan; /* of one device */
    const mo_dense *inputs;
    const mo_backend *backend;
    mo_unit_options unit;
} mo_solo;

/* Runs it here; whole: how long its calls take by themselves is of no use.
 * result begins as zeros and is the caller's to clear. */
mo_status mo_solo_run(const mo_solo *solo, int warm_ups, int runs, bool whole,
                      const mo_stop *stop, mo_run_result *result,
                      mo_error *err);

typedef struct mo_company mo_company;

/* From here on n others run again and again, each in a thread; solos are
 * copied.  What they compute is nobody's concern; nor is whether threads of
 * processors can.  Where memory is apart it takes its time to begin: all are at
 * work when this returns, or it says why one cannot. */
mo_status mo_company_begin(const mo_solo *solos, int n, mo_company **company,
                           mo_error *err);
void mo_company_end(mo_company *company);

#endif
