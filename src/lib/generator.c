/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator of the library: a thread of its own generates all tokens; next
 * returns them one by one as soon as they are there.
 */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/generate.h"
#include "exec/tensor/mmap_file.h"
#include "lib/run_setup.h"

struct moirai_generator {
    mo_lib_run run;
    mo_generate_run g;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    int64_t n_made, n_taken; /* steps */
    bool ended;
    mo_error failure;
    atomic_int closing; /* not 0: no further token is wanted */
};

/* mo_generate_on_ids */
static mo_status announce(void *context, const int64_t *ids, int64_t batch,
                          mo_error *err)
{
    moirai_generator *m = context;

    (void) ids, (void) batch;
    if (mo_mmap_file_has_failed())
        return mo_mmap_file_check_all(err);
    pthread_mutex_lock(&m->lock);
    m->n_made++;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return MO_OK;
}

static void *generate_all(void *context)
{
    moirai_generator *m = context;
    const mo_exec_options *o = &m->run.options;
    const mo_pipeline_options options = { .n_requests =
                                              mo_generate_n_requests(&m->g),
                                          .next = mo_generate_next,
                                          .sink = mo_generate_take,
                                          .phase = mo_generate_phase,
                                          .context = &m->g,
                                          .direct = true,
                                          .load_states = o->load_states,
                                          .save_states = o->save_states,
                                          .interrupt = &m->closing };
    mo_error err = { 0 };

    if (mo_lib_run_pipeline(&m->run, options, &err) == MO_OK)
        (void) mo_generate_save(o, &m->g, &err);
    pthread_mutex_lock(&m->lock);
    m->ended = true;
    m->failure = err;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static mo_status start(moirai_generator *m, mo_error *err)
{
    int failed;

    m->g.on_ids = announce;
    m->g.context = m;
    failed = pthread_create(&m->thread, NULL, generate_all, m);
    m->has_thread = failed == 0;
    if (failed == 0)
        return MO_OK;
    errno = failed;
    return mo_fail_errno(err, NULL, "cannot start a thread");
}

moirai_status moirai_generator_open(const moirai_placement *placement,
                                    const moirai_options *options,
                                    const int64_t *prompt, size_t n_ids,
                                    int64_t n_tokens,
                                    moirai_generator **generator,
                                    moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    moirai_generator *made;
    mo_status status;

    if (n_tokens < 1)
        return mo_lib_status(mo_fail(e, MO_E_USAGE,
                                     "%lld tokens cannot be generated; take 1 "
                                     "or more",
                                     (long long) n_tokens));
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_lib_status(mo_fail_memory(e));
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    status = mo_lib_run_open(placement, &mo_lib_settings_of(options)->exec,
                             n_tokens, &made->run, e);
    made->g.given = prompt;
    made->g.n_given = n_ids;
    if (status == MO_OK)
        status = mo_generate_check_sampling(&made->run.options, e);
    if (status == MO_OK)
        status = mo_generate_open(&made->run.options, &made->run.job, true,
                                  &made->g, e);
    if (status == MO_OK)
        status = start(made, e);
    if (status == MO_OK)
        *generator = made;
    else
        moirai_generator_free(made);
    return mo_lib_status(status);
}

/* Returns an error of the thread, which has ended. */
static mo_status copy_failure(const moirai_generator *m, moirai_error *err)
{
    if (err && m->failure.status != MO_OK)
        *mo_lib_error(err) = m->failure;
    return m->failure.status;
}

moirai_status moirai_generator_stop(moirai_generator *generator,
                                    moirai_error *err)
{
    moirai_generator *m = generator;

    if (m->has_thread) {
        atomic_store(&m->closing, 1);
        pthread_join(m->thread, NULL);
        m->has_thread = false;
    }
    return mo_lib_status(copy_failure(m, err));
}

void moirai_generator_free(moirai_generator *generator)
{
    moirai_generator *m = generator;

    if (!m)
        return;
    (void) moirai_generator_stop(m, NULL);
    mo_generate_clear(&m->g);
    mo_lib_run_clear(&m->run);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

int64_t moirai_generator_batch(const moirai_generator *generator)
{
    return generator->g.batch;
}

moirai_status moirai_generator_next(moirai_generator *generator, int64_t *ids,
                                    int *more, moirai_error *err)
{
    moirai_generator *m = generator;
    size_t batch = (size_t) m->g.batch;
    mo_status status = MO_OK;

    pthread_mutex_lock(&m->lock);
    while (m->n_taken == m->n_made && !m->ended)
        pthread_cond_wait(&m->changed, &m->lock);
    *more = m->n_taken < m->n_made;
    if (*more)
        memcpy(ids, m->g.ids + (size_t) m->n_taken++ * batch,
               batch * sizeof *ids);
    else
        status = copy_failure(m, err);
    pthread_mutex_unlock(&m->lock);
    return mo_lib_status(status);
}
