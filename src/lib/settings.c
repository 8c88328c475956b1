/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/handles.h"

#include <stdlib.h>
#include <string.h>

#include "exec/runtime/pipeline/pipeline.h"
#include "lib/handles.h"

enum { DEFAULT_COLUMNS = 100, MOST_ROWS = 128 };

static const mo_lib_settings defaults = {
    .prepare = MO_PREPARE_DEFAULTS,
    .review = MO_REVIEW_DEFAULTS,
    .place = MO_PLACE_DEFAULTS,
    .portfolio = MO_PORTFOLIO_DEFAULTS,
    .strengthen = MO_STRENGTHEN_DEFAULTS,
    .exec = { .prepare = MO_REVIEW_DEFAULTS,
              .weights = MO_EXEC_NO_SEED,
              .runs = 1,
              .in_flight = 1,
              .top_p = 1,
              .wants = { .backend = "auto",
                         .pin = "auto",
                         .streams = MO_EXEC_DEFAULT_STREAMS },
              .tolerance = -1,
              .job = MO_LAUNCH_OPTIONS_DEFAULTS,
              .logger = { .command = "moirai", .quiet = true } },
    .columns = DEFAULT_COLUMNS,
};

/* The rows of the commands' tables over one struct. A name may occur several
 * times: then all of them are set. */
typedef struct table {
    mo_option rows[MOST_ROWS];
} table;

static void make_table(mo_lib_settings *s, table *t)
{
    const mo_option rows[] = {
        MO_PREPARE_OPTIONS(&s->prepare),
        MO_DRIVER_LENGTH_OPTIONS(&s->prepare.read),
        MO_PREPARE_IN_FLIGHT_OPTION(&s->prepare),
        MO_STRENGTHEN_OPTIONS(&s->strengthen),
        { 0, "unit", "UNIT", NULL, MO_OPTION_TEXT, .to = &s->prepare.unit,
          .choices = "ns|us|ms|s" },
        MO_REVIEW_OPTIONS(&s->review),
        MO_DRIVER_LENGTH_OPTIONS(&s->review.read),
        MO_REVIEW_RULE_OPTIONS(&s->review),
        MO_DRIVER_FORMAT_OPTIONS(&s->review.load),
        MO_PLACE_OPTIONS(&s->place),
        MO_PLACE_REPLAN_OPTIONS(&s->place),
        { 0, "drop-device", "DEVICE", NULL, MO_OPTION_LIST,
          .to = &s->place.dropped },
        MO_PORTFOLIO_OPTIONS(&s->portfolio),
        MO_EXEC_CONFIG_OPTIONS(&s->exec.wants),
        MO_EXEC_WEIGHTS_OPTIONS(&s->exec.wants, ""),
        { 0, "in-flight", "K", NULL, MO_OPTION_INT, .to = &s->exec.in_flight,
          .min = 0, .max = MO_PIPELINE_MAX_SLOTS },
        { 0, "threads", "N", NULL, MO_OPTION_INT, .to = &s->exec.wants.threads,
          .min = 0, .max = MO_BACKEND_MAX_THREADS },
        MO_EXEC_GENERATION_OPTIONS(&s->exec),
        { 0, "seed", "N", NULL, MO_OPTION_INT, .to = &s->exec.seed, .min = 0,
          .max = 9e15 },
        { 0, "random-weights", "SEED", NULL, MO_OPTION_INT,
          .to = &s->exec.weights, .min = 0, .max = 9e15 },
        { 0, "shapes-max", "N", NULL, MO_OPTION_INT, .to = &s->exec.shapes_max,
          .min = 0, .max = 1e6 },
        { 0, "format", "FORMAT", NULL, MO_OPTION_TEXT, .to = &s->format,
          .choices = "lp|mps|html|text|svg|json|trace" },
        { 0, "graph", "FILE", NULL, MO_OPTION_TEXT, .to = &s->graph },
        { 0, "trace", "FILE", NULL, MO_OPTION_TEXT, .to = &s->trace },
        { 0, "proof", "FILE", NULL, MO_OPTION_TEXT, .to = &s->proof },
        { 0, "gpus", "LIST", NULL, MO_OPTION_TEXT, .to = &s->gpus },
        { 0, "cpus", "N", NULL, MO_OPTION_TEXT, .to = &s->cpus },
        { 0, "report-method", "M,...", NULL, MO_OPTION_LIST,
          .to = &s->report_methods },
        { 0, "no-ablation", NULL, NULL, MO_OPTION_FLAG, .to = &s->no_ablation,
          .former = "no-worth" },
        { 0, "columns", "N", NULL, MO_OPTION_INT, .to = &s->columns, .min = 40,
          .max = 1000 },
        { 0 },
    };

    _Static_assert(sizeof rows <= sizeof t->rows, "room for all rows");
    memcpy(t->rows, rows, sizeof rows);
}

const mo_lib_settings *mo_lib_settings_of(const moirai_options *options)
{
    return options ? &options->settings : &defaults;
}

mo_driver_log mo_lib_log(const moirai_options *options)
{
    static const mo_driver_log silent = { .command = "moirai", .quiet = true };
    mo_driver_log logger = silent;

    logger.print = mo_lib_print_message;
    logger.context = options ? (void *) (uintptr_t) options : NULL;
    return logger;
}

void mo_lib_print_message(void *context, const char *text)
{
    const moirai_options *options = context;

    if (options && options->on_message)
        options->on_message(options->message_context, text);
}

moirai_status moirai_options_new(moirai_options **options, moirai_error *err)
{
    moirai_options *made = calloc(1, sizeof *made);

    if (made)
        made->arena = mo_arena_new();
    if (!made || !made->arena) {
        free(made);
        return mo_lib_status(mo_fail_memory(mo_lib_error(err)));
    }
    made->settings = defaults;
    mo_stop_after(&made->stop, 0);
    *options = made;
    return MOIRAI_OK;
}

void moirai_options_free(moirai_options *options)
{
    mo_lib_settings *s;

    if (!options)
        return;
    s = &options->settings;
    mo_read_options_free(&s->prepare.read);
    mo_read_options_free(&s->review.read);
    mo_option_list_free(&s->place.methods);
    mo_option_list_free(&s->place.dropped);
    mo_option_list_free(&s->exec.wants.weights_from);
    mo_option_list_free(&s->exec.stop);
    mo_option_list_free(&s->report_methods);
    mo_arena_free(options->arena);
    free(options);
}

/* Items of several rows share a list: each has its prefix. */
static void leave_out(mo_option_list *list, const char *prefix)
{
    size_t n = 0;

    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i], prefix, strlen(prefix)) != 0)
            list->items[n++] = list->items[i];
    list->count = n;
}

/* Restores the default of a row: what the defaults have at the same place. */
static void reset_row(mo_lib_settings *s, const mo_option *row)
{
    static const size_t sizes[] = {
        [MO_OPTION_FLAG] = sizeof(bool),     [MO_OPTION_COUNT] = sizeof(int),
        [MO_OPTION_TEXT] = sizeof(char *),   [MO_OPTION_INT] = sizeof(int64_t),
        [MO_OPTION_DOUBLE] = sizeof(double), [MO_OPTION_LIST] = 0,
    };
    size_t at = (size_t) ((char *) row->to - (char *) s);

    if (row->kind == MO_OPTION_LIST || row->prefix)
        leave_out(row->to, row->prefix ? row->prefix : "");
    else
        memcpy(row->to, (const char *) &defaults + at, sizes[row->kind]);
}

/* A flag is set by "", "1", "yes" or "on", and reset by NULL, "0", "no" or
 * "off". */
static mo_status set_flag(const mo_option *row, const char *value,
                          mo_error *err)
{
    static const char *const set[] = { "", "1", "yes", "on", "true" };
    static const char *const reset[] = { "0", "no", "off", "false" };

    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (strcmp(value, set[i]) == 0) {
            *(bool *) row->to = true;
            return MO_OK;
        }
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        if (strcmp(value, reset[i]) == 0) {
            *(bool *) row->to = false;
            return MO_OK;
        }
    return mo_fail(err, MO_E_USAGE, "option '%s' takes 1 or 0, not '%.80s'",
                   row->name, value);
}

moirai_status moirai_options_set(moirai_options *options, const char *name,
                                 const char *value, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    const char *kept = NULL;
    table t;
    int n = 0, n_taken = 0;
    mo_status status = MO_OK;
    mo_error why = { 0 };

    make_table(&options->settings, &t);
    if (value) {
        kept = mo_arena_text(options->arena, value, strlen(value));
        if (!kept)
            return mo_lib_status(mo_fail_memory(e));
    }
    for (const mo_option *row = t.rows; row->name; row++) {
        if (!mo_option_has_name(row, name, strlen(name)))
            continue;
        n++;
        if (!value)
            reset_row(&options->settings, row);
        else if (row->kind == MO_OPTION_FLAG)
            status = set_flag(row, kept, &why);
        else
            status = mo_option_store(row, kept, &why);
        n_taken += status == MO_OK;
    }
    if (n == 0)
        return mo_lib_status(mo_fail(e, MO_E_USAGE,
                                     "there is no option '%.80s'; moirai(3) "
                                     "lists them",
                                     name));
    /* A value of one of the meanings of a name is enough: fp8 is a precision of
     * predictions and none of runs. */
    if (n_taken == 0) {
        if (e)
            *e = why;
        return mo_lib_status(why.status);
    }
    return MOIRAI_OK;
}

void moirai_options_on_progress(moirai_options *options,
                                moirai_progress_fn *on_progress, void *context)
{
    options->on_progress = on_progress;
    options->progress_context = context;
}

void moirai_options_on_message(moirai_options *options,
                               moirai_message_fn *on_message, void *context)
{
    options->on_message = on_message;
    options->message_context = context;
}

void moirai_options_cancel(moirai_options *options, int cancel)
{
    atomic_store_explicit(&options->stop.requested, cancel != 0,
                          memory_order_relaxed);
}
