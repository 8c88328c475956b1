/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/plugin/plugin.h"

#include <ctype.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plugin/view.h"
#include "moirai.h"
#include "solvers/answer/evaluation.h"
#include "solvers/registry.h"
#include "solvers/search/method.h"

static const char symbol[] = "moirai_plugin_v1";

/* A method of a plug-in in the registry; the first member is found from the
 * task, which has no other context. */
typedef struct plugin_method {
    mo_method method;
    const moirai_plugin_method *entry;
} plugin_method;

/* A transfer starts when its producer ends, at the earliest. */
static mo_status set_starts(const mo_instance *x, const int64_t *start_ns,
                            mo_schedule *s, mo_error *err)
{
    for (int i = 0; i < x->n; i++) {
        if (start_ns[i] < 0 || start_ns[i] > MO_MAX_TOTAL_NS)
            return mo_fail(err, MO_E_INPUT,
                           "op '%.80s': its start is out of range",
                           x->op_names[i]);
        s->start_ns[i] = start_ns[i];
    }
    for (int i = 0; i < s->n_transfers; i++) {
        mo_transfer *t = &s->transfers[i];
        int producer = x->tensor_from[mo_schedule_tensor(x, s, t)];

        t->start_ns = s->start_ns[producer] +
                      mo_instance_p_ns(x, producer, s->device[producer]);
        t->end_ns = t->start_ns +
                    mo_schedule_item_ns(x, &s->regime, t->item, t->from, t->to);
    }
    return MO_OK;
}

mo_status mo_plugin_schedule(const mo_instance *x, const mo_regime *regime,
                             const int *device, const int64_t *start_ns,
                             mo_schedule **schedule, mo_error *err)
{
    mo_answer_evaluation evaluation = { 0 };
    mo_schedule *s = NULL;
    mo_status status;

    if (!start_ns) {
        status =
            mo_answer_evaluate_placement(x, regime, device, &evaluation, err);
        if (status == MO_OK) {
            *schedule = evaluation.schedule;
            evaluation.schedule = NULL;
        }
        mo_answer_evaluation_clear(&evaluation);
        return status;
    }
    status = mo_schedule_new(x, regime, device, &s, err);
    if (status == MO_OK)
        status = set_starts(x, start_ns, s, err);
    if (status == MO_OK)
        status = mo_schedule_left_shift(x, s, err);
    if (status == MO_OK)
        *schedule = s;
    else
        mo_schedule_free(s);
    return status;
}

static int should_stop(void *host)
{
    return mo_stop_reached(host);
}

static double time_left_s(const mo_stop *stop)
{
    double left = mo_stop_remaining_s(stop);

    /* 0 would be no limit. */
    return isinf(left) ? 0 : fmax(left, 1e-6);
}

/* Returns whether a start is given, of which the order is taken. */
static bool has_starts(const int64_t *start_ns, int n)
{
    for (int i = 0; i < n; i++)
        if (start_ns[i] != 0)
            return true;
    return false;
}

/* What the method has set becomes the result. */
static mo_status take_devices(const mo_method_task *task, const int *device,
                              const int64_t *start_ns, mo_method_result *placed,
                              mo_error *err)
{
    const mo_instance *x = task->x;
    mo_status status;

    for (int i = 0; i < x->n; i++)
        if (device[i] < 0 || device[i] >= x->n_devices)
            return mo_fail(err, MO_E_INPUT,
                           "sets device %d of op '%.80s'; there are %d",
                           (int) device[i], x->op_names[i], x->n_devices);
    status = mo_plugin_schedule(x, &task->regime, device,
                                has_starts(start_ns, x->n) ? start_ns : NULL,
                                &placed->schedule, err);
    return status == MO_OK ? mo_schedule_fits_memory(x, placed->schedule,
                                                     &placed->fits, err)
                           : status;
}

static mo_status place(const mo_method_task *task, mo_method_result *placed,
                       mo_error *err)
{
    const moirai_plugin_method *entry =
        ((const plugin_method *) task->method)->entry;
    const moirai_view view = mo_plugin_view(task->x, &task->regime,
                                            task->objective, task->in_flight);
    size_t n = (size_t) task->x->n + 1;
    int32_t *device = calloc(n, sizeof *device);
    int64_t *start_ns = calloc(n, sizeof *start_ns);
    const moirai_method_task given = { .size = sizeof given,
                                       .view = &view,
                                       .seed = task->seed,
                                       .threads = task->threads,
                                       .time_s = time_left_s(task->stop),
                                       .context =
                                           (void *) (uintptr_t) task->stop,
                                       .should_stop = should_stop,
                                       .error_text = placed->why,
                                       .error_size = sizeof placed->why };
    mo_status status = device && start_ns ? MO_OK : mo_fail_memory(err);
    int result = status == MO_OK ? entry->place(&given, device, start_ns) : 0;

    placed->why[sizeof placed->why - 1] = '\0';
    if (status == MO_OK && result == MOIRAI_OK)
        status = take_devices(task, device, start_ns, placed, err);
    else if (status == MO_OK && result != MOIRAI_E_INFEASIBLE &&
             result != MOIRAI_E_NO_SOLUTION)
        status =
            mo_fail(err, result == MOIRAI_E_MEMORY ? MO_E_MEMORY : MO_E_SUPPORT,
                    "the plug-in fails: %.800s",
                    *placed->why ? placed->why : "it does not say why");
    free(device);
    free(start_ns);
    return status;
}

static bool is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char) name[i]) && name[i] != '-' &&
            name[i] != '_' && name[i] != '.')
            return false;
    return n > 0 && n < 32;
}

static mo_status add_methods(const moirai_plugin *plugin, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < plugin->n_methods && status == MO_OK; i++) {
        const moirai_plugin_method *entry = &plugin->methods[i];
        plugin_method *made = NULL;

        if (!is_name(entry->name) || strcmp(entry->name, "all") == 0 ||
            !entry->place)
            return mo_fail(err, MO_E_USAGE,
                           "method %d of it has no function, or no name of "
                           "letters and digits other than 'all'",
                           i);
        made = malloc(sizeof *made);
        if (!made)
            return mo_fail_memory(err);
        *made = (plugin_method){
            .method = { .name = entry->name,
                        .help = entry->help ? entry->help : "",
                        .source = plugin->name ? plugin->name : "",
                        .all = entry->in_all != 0,
                        .place = place },
            .entry = entry,
        };
        status = mo_method_add(&made->method, err);
        if (status != MO_OK)
            free(made);
    }
    return status;
}

static mo_status add_plugin(const moirai_plugin *plugin, mo_error *err)
{
    mo_status status = MO_OK;

    if (!plugin)
        return mo_fail(err, MO_E_SUPPORT,
                       "is no plug-in of this version: it does not export %s",
                       symbol);
    if (plugin->size < sizeof *plugin)
        return mo_fail(err, MO_E_SUPPORT, "%s is too small: compile it again",
                       symbol);
    if (plugin->n_methods < 0 || (plugin->n_methods > 0 && !plugin->methods) ||
        plugin->n_solvers < 0 || (plugin->n_solvers > 0 && !plugin->solvers))
        return mo_fail(err, MO_E_SUPPORT,
                       "%s has numbers without methods or solvers", symbol);
    status = add_methods(plugin, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < plugin->n_solvers && status == MO_OK; i++) {
        const moirai_plugin_solver *entry = &plugin->solvers[i];
        mo_solver *made = NULL;

        if (!is_name(entry->name) || strcmp(entry->name, "none") == 0 ||
            !entry->command)
            return mo_fail(err, MO_E_USAGE,
                           "solver %d of it has no command, or no name of "
                           "letters and digits other than 'none'",
                           i);
        made = malloc(sizeof *made);
        if (!made)
            return mo_fail_memory(err);
        *made = (mo_solver){ .name = entry->name,
                             .title = entry->title ? entry->title : entry->name,
                             .help = entry->help ? entry->help : "",
                             .command_template = entry->command };
        status = mo_solver_add(made, err);
        if (status != MO_OK)
            free(made);
    }
    return status;
}

/* Objects that have been loaded; a second dlopen() returns the same handle. */
enum { MOST_PLUGINS = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *loaded[MOST_PLUGINS];
static int n_loaded;

/* The lock is held. */
static mo_status load_object(const char *path, mo_error *err)
{
    void *object;
    mo_status status;

    if (n_loaded == MOST_PLUGINS)
        return mo_fail(err, MO_E_LIMIT, "more than %d plug-ins", MOST_PLUGINS);
    object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *why = dlerror();

        return mo_fail(err, MO_E_SUPPORT, "cannot be loaded: %.800s",
                       why ? why : "the loader does not say why");
    }
    for (int i = 0; i < n_loaded; i++)
        if (loaded[i] == object)
            return MO_OK;
    /* Never closed: entries of the registries stay. */
    loaded[n_loaded++] = object;
    status = add_plugin(dlsym(object, symbol), err);
    return status;
}

mo_status mo_plugin_load(const char *path, mo_error *err)
{
    mo_error why = { 0 };
    mo_status status;

    pthread_mutex_lock(&lock);
    status = load_object(path, &why);
    pthread_mutex_unlock(&lock);
    if (status == MO_OK)
        return MO_OK;
    mo_error_set_location(&why, path, 0);
    if (err)
        *err = why;
    return status;
}

mo_status mo_plugin_load_named(const char *file, size_t n, mo_error *err)
{
    const char *folder = memchr(file, '/', n) ? "" : "./";
    size_t size = n + sizeof "./";
    char *path = malloc(size);
    mo_status status;

    if (!path)
        return mo_fail_memory(err);
    snprintf(path, size, "%s%.*s", folder, (int) n, file);
    status = mo_plugin_load(path, err);
    free(path);
    return status;
}

static pthread_once_t listed_once = PTHREAD_ONCE_INIT;
static mo_error listed_error;

static void load_listed(void)
{
    const char *list = getenv("MOIRAI_PLUGINS");
    mo_status status = MO_OK;

    while (list && *list && status == MO_OK) {
        size_t n = strcspn(list, ":");

        if (n > 0)
            status = mo_plugin_load_named(list, n, &listed_error);
        list += n + (list[n] == ':');
    }
}

mo_status mo_plugin_load_listed(mo_error *err)
{
    pthread_once(&listed_once, load_listed);
    if (err && listed_error.status != MO_OK)
        *err = listed_error;
    return listed_error.status;
}
