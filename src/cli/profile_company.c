#include <config.h>

#include "cli/profile_company.h"

#include <pthread.h>
#include <stdlib.h>

/* Between two preparations of their kernels. */
enum { RUNS_AT_ONCE = 50 };

typedef struct member {
    mo_solo solo;
    const mo_stop *enough;
    pthread_t thread;
} member;

struct mo_company {
    mo_stop enough;
    int n; /* that have begun */
    member members[];
};

mo_status mo_solo_run(const mo_solo *solo, int warm_ups, int runs,
                      const mo_stop *stop, mo_run_result *result, mo_error *err)
{
    static const int here[] = { 0 };
    const mo_world_options world_options = { 0 };
    mo_run_options options = {
        .transport = &mo_transport_local,
        .backends = &solo->backend,
        .units = &solo->unit,
        .rank_of = here,
        .inputs = solo->inputs,
        .warm_ups = warm_ups,
        .runs = runs,
        .stop = stop,
    };
    mo_status status =
        mo_transport_local.open(&world_options, &options.world, err);

    if (status != MO_OK)
        return status;
    status = mo_run_plan(solo->plan, &options, result, err);
    mo_transport_local.close(options.world);
    return status;
}

static void *keep_busy(void *context)
{
    const member *m = context;
    mo_status status = MO_OK;

    while (status == MO_OK && !mo_stop_now(m->enough)) {
        mo_run_result result = { 0 };

        status =
            mo_solo_run(&m->solo, 0, RUNS_AT_ONCE, m->enough, &result, NULL);
        mo_run_result_clear(&result);
    }
    return NULL;
}

mo_status mo_company_begin(const mo_solo *solos, int n, mo_company **company,
                           mo_error *err)
{
    mo_company *c = calloc(1, sizeof *c + (size_t) n * sizeof *c->members);

    if (!c)
        return mo_fail_memory(err);
    mo_stop_after(&c->enough, 0);
    for (; c->n < n; c->n++) {
        member *m = &c->members[c->n];

        *m = (member){ .solo = solos[c->n], .enough = &c->enough };
        if (pthread_create(&m->thread, NULL, keep_busy, m) != 0) {
            mo_company_end(c);
            return mo_fail(err, MO_E_MEMORY, "a thread could not be started");
        }
    }
    *company = c;
    return MO_OK;
}

void mo_company_end(mo_company *c)
{
    if (!c)
        return;
    mo_stop_say(&c->enough);
    for (int i = 0; i < c->n; i++)
        pthread_join(c->members[i].thread, NULL);
    free(c);
}
