/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/request_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "driver/exec/input_tensors.h"
#include "driver/exec/output_npy.h"
#include "exec/tensor/npy.h"

/* NAME_SIZE: of "/output", a number and ".npy". */
enum { PATH_SIZE = 4096, NAME_SIZE = 32 };

static const int64_t max_requests = 100000000;

bool mo_exec_requests_wanted(const mo_exec_options *o)
{
    return o->requests > 0 || o->in_flight > 0 || o->inputs_folder;
}

mo_status mo_exec_requests_check_options(const mo_exec_options *o,
                                         mo_error *err)
{
    const struct {
        bool given;
        const char *name;
    } others[] = {
        { o->runs > 1, "--runs" },
        { o->check, "--check" },
        { o->reference != NULL, "--reference" },
        { o->outputs[MO_EXEC_OUTPUT_TRACE].path != NULL, "--trace" },
        { o->outputs[MO_EXEC_OUTPUT_PAGE].path != NULL, "--report-html" },
        { o->dry_run, "--dry-run" },
        { o->wants.eager, "--eager" },
        { o->bundle != NULL, "--bundle" },
    };

    if (o->batch > 0 && !mo_exec_requests_wanted(o))
        return mo_fail(err, MO_E_USAGE,
                       "--batch goes with --requests or --inputs");
    if (o->wait_us > 0 && o->batch == 0)
        return mo_fail(err, MO_E_USAGE, "--wait goes with --batch");
    if (!mo_exec_requests_wanted(o))
        return MO_OK;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return mo_fail(err, MO_E_USAGE,
                           "%s is for single runs, and --requests, --in-flight "
                           "and --inputs are for many at once; give either",
                           others[i].name);
    if (o->requests == 0 && !o->inputs_folder)
        return mo_fail(err, MO_E_USAGE,
                       "--in-flight goes with --requests or --inputs; give how "
                       "many there are");
    return MO_OK;
}

bool mo_exec_requests_from_stdin(const mo_exec_options *o)
{
    return o->inputs_folder && strcmp(o->inputs_folder, "-") == 0;
}

bool mo_exec_requests_to_stdout(const mo_exec_options *o)
{
    return mo_exec_requests_wanted(o) && o->output &&
           strcmp(o->output, "-") == 0;
}

static bool writes_folders(const mo_exec_options *o)
{
    return o->output && !mo_exec_requests_to_stdout(o);
}

/* One more than the highest number of a request's folder; 0: there is none. */
static mo_status count_folders(const char *folder, int64_t *n, mo_error *err)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    mo_status status = MO_OK;

    *n = 0;
    if (!entries)
        return mo_fail_errno(err, folder, "cannot open");
    errno = 0;
    while ((entry = readdir(entries))) {
        int64_t number = mo_exec_output_npy_request(entry->d_name);

        *n = number >= *n ? number + 1 : *n;
    }
    if (errno != 0)
        status = mo_fail_errno(err, folder, "cannot read");
    closedir(entries);
    return status;
}

static mo_status count_requests(const mo_exec_options *o, int64_t *n,
                                mo_error *err)
{
    mo_status status = MO_OK;

    *n = o->requests;
    if (mo_exec_requests_from_stdin(o)) {
        *n = *n > 0 ? *n : INT64_MAX;
        return MO_OK;
    }
    if (*n == 0)
        status = count_folders(o->inputs_folder, n, err);
    if (status == MO_OK && *n == 0)
        status = mo_fail_at(err, MO_E_USAGE, o->inputs_folder, 0,
                            "has no folders 0000, 0001, ... of requests; give "
                            "--requests to take its files for all of them");
    if (status == MO_OK && *n > max_requests)
        status = mo_fail_at(err, MO_E_LIMIT, o->inputs_folder, 0,
                            "has a request %lld; there may be %lld",
                            (long long) (*n - 1), (long long) max_requests);
    return status;
}

/* Writes "FOLDER/NAME.npy" or "FOLDER/input0.npy" into path, whichever exists;
 * returns false if neither does. */
static bool find_in(const char *folder, const char *name, int input,
                    char path[PATH_SIZE])
{
    int length = -1;

    if (!strchr(name, '/'))
        length = snprintf(path, PATH_SIZE, "%s/%s.npy", folder, name);
    if (length > 0 && length < PATH_SIZE && access(path, F_OK) == 0)
        return true;
    length = snprintf(path, PATH_SIZE, "%s/input%d.npy", folder, input);
    return length < PATH_SIZE && access(path, F_OK) == 0;
}

/* Reads the inputs that are the same for all requests. What cannot be read is a
 * failure of each request. */
static mo_status read_common(mo_exec_requests *r, mo_error *err)
{
    const char *folder = mo_exec_requests_from_stdin(r->options)
                             ? NULL
                             : r->options->inputs_folder;
    int64_t n_folders = 0;
    mo_status status = MO_OK;

    r->common = calloc((size_t) r->plan->n_inputs + 1, sizeof *r->common);
    if (!r->common)
        return mo_fail_memory(err);
    if (folder)
        status = count_folders(folder, &n_folders, err);
    for (int i = 0;
         i < r->plan->n_inputs && n_folders == 0 && !r->whole->phases; i++) {
        char path[PATH_SIZE];
        const char *file = r->given[i];

        if (folder && find_in(folder, r->plan->inputs[i].name, i, path))
            file = path;
        if (file && mo_exec_input_make(0, r->graph, r->plan, i, file,
                                       &r->common[i], NULL) != MO_OK)
            mo_tensor_clear(&r->common[i]);
    }
    return status;
}

/* Sets *input to what all requests share; returns false if they do not. */
static bool borrow_common(const mo_exec_requests *r, int i,
                          mo_tensor_dense *input)
{
    if (!r->common[i].data)
        return false;
    *input = r->common[i];
    input->own = false;
    return true;
}

/* Outputs may lie beside inputs, but not where an input is called output0. */
static mo_status check_folders(const mo_exec_requests *r, mo_error *err)
{
    const char *folder = r->options->inputs_folder;
    const char *output = r->options->output;

    if (!folder || !output || !mo_output_guard_same_folder(folder, output))
        return MO_OK;
    for (int i = 0; i < r->plan->n_inputs; i++) {
        const char *name = r->plan->inputs[i].name;
        char file[NAME_SIZE];

        snprintf(file, sizeof file, "%s.npy", name);
        if (mo_output_guard_is_array(file))
            return mo_fail(err, MO_E_USAGE,
                           "--output would replace the inputs '%.80s' in "
                           "%.200s, which are read; name another folder",
                           name, folder);
    }
    return MO_OK;
}

static mo_status find_input(const mo_exec_requests *r, int64_t request, int i,
                            char path[PATH_SIZE], const char **file,
                            mo_error *err)
{
    const char *folder = r->options->inputs_folder;
    const char *name = r->plan->inputs[i].name;
    char own[PATH_SIZE];
    int length;

    *file = r->given[i];
    if (!folder)
        return MO_OK;
    length =
        snprintf(own, sizeof own, "%s/%04lld", folder, (long long) request);
    if (length >= PATH_SIZE)
        return mo_fail_at(err, MO_E_LIMIT, folder, 0, "has too long a name");
    if (find_in(own, name, i, path) || find_in(folder, name, i, path))
        *file = path;
    if (*file)
        return MO_OK;
    return mo_fail_at(err, MO_E_IO, own, 0,
                      "has no %.80s.npy and no input%d.npy; put input '%.80s' "
                      "there, or for all requests into the folder around it",
                      name, i, name);
}

mo_status mo_exec_requests_open(const mo_exec_options *o, const mo_graph *graph,
                                const mo_exec_plan *plan,
                                mo_exec_signals *signals,
                                mo_exec_requests *requests, mo_error *err)
{
    const mo_output_guard guard = { .arrays = o->output, .by_request = true };
    bool streams = mo_exec_requests_from_stdin(o), any = false;
    int n_streamed = 0;
    mo_status status;

    requests->options = o;
    requests->signals = signals;
    requests->folder = -1;
    requests->stream.interrupt = &signals->number;
    pthread_mutex_init(&requests->lock, NULL);
    requests->graph = graph;
    requests->whole = plan;
    requests->plan = plan = mo_exec_requests_part(requests, 0);
    requests->given =
        calloc((size_t) plan->n_inputs + 1, sizeof *requests->given);
    for (int p = 0; p < requests->whole->n_phases; p++)
        if (requests->whole->parts[p]->n_inputs != plan->n_inputs ||
            requests->whole->parts[p]->n_outputs != plan->n_outputs)
            return mo_fail(err, MO_E_SUPPORT,
                           "has phases with different inputs or outputs; run "
                           "the graph of a phase");
    status = requests->given ? mo_exec_inputs_find_files(&o->inputs, plan,
                                                         requests->given, err)
                             : mo_fail_memory(err);
    if (status == MO_OK)
        status = check_folders(requests, err);
    if (status == MO_OK)
        status = count_requests(o, &requests->n, err);
    /* Inputs that the stream has an array for. */
    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++)
        n_streamed += !requests->given[i];
    if (status == MO_OK && streams && n_streamed == 0)
        status = mo_fail(err, MO_E_USAGE,
                         "--inputs - has nothing to read, since --input gives "
                         "all inputs; give --requests");
    /* The folder of outputs is locked before a look at what is in it, or, where
     * it is missing, when it is made. */
    if (status == MO_OK && writes_folders(o))
        status = mo_exec_output_npy_lock(o->output, &requests->folder, err);
    if (status == MO_OK && writes_folders(o))
        status = mo_exec_output_npy_check_earlier(
            o->output, streams ? 0 : requests->n, plan->n_outputs, &any, err);
    /* The outputs of an earlier run must be none of the inputs. */
    for (int64_t n = 0; n < requests->n && any && status == MO_OK; n++)
        for (int i = 0; i < plan->n_inputs && status == MO_OK; i++) {
            char path[PATH_SIZE];
            const char *file = NULL;

            if (find_input(requests, n, i, path, &file, NULL) == MO_OK && file)
                status = mo_output_guard_check_input(&guard, file, err);
        }
    if (status == MO_OK && writes_folders(o))
        status = mo_exec_output_npy_make(o->output, err);
    if (status == MO_OK && writes_folders(o) && requests->folder < 0)
        status = mo_exec_output_npy_lock(o->output, &requests->folder, err);
    return status == MO_OK ? read_common(requests, err) : status;
}

void mo_exec_requests_clear(mo_exec_requests *requests)
{
    for (size_t i = 0; i < requests->n_failed; i++)
        free(requests->failed[i].reason);
    for (int i = 0; requests->common && i < requests->plan->n_inputs; i++)
        mo_tensor_clear(&requests->common[i]);
    free(requests->common);
    free(requests->failed);
    free(requests->given);
    if (requests->options)
        pthread_mutex_destroy(&requests->lock);
    if (requests->options && requests->folder >= 0)
        close(requests->folder);
    *requests = (mo_exec_requests){ .n = 0 };
}

static int first_input(const mo_exec_requests *r, int phase)
{
    return r->whole->phases ? r->whole->phases[phase].start.input : 0;
}

/* The phase of the files of a request; random inputs have any shape. */
static mo_status find_phase(const mo_exec_requests *r, int64_t request,
                            int *phase, mo_error *err)
{
    mo_exec_request_shapes shapes = { 0 };
    mo_status status = MO_OK;

    *phase = 0;
    if (!r->whole->phases)
        return MO_OK;
    status = mo_exec_request_shapes_init(r, &shapes, err);
    for (int i = 0; i < r->plan->n_inputs && status == MO_OK; i++) {
        char path[PATH_SIZE];
        const char *file = NULL;
        mo_tensor_desc desc;

        shapes.input = i;
        status = find_input(r, request, i, path, &file, err);
        if (status == MO_OK && file)
            status = mo_npy_read_desc(file, &desc, err);
        if (status == MO_OK && file &&
            !mo_exec_request_shapes_add(&shapes, &desc, err))
            status = MO_E_INPUT;
    }
    if (status == MO_OK)
        *phase = mo_exec_request_shapes_phase(&shapes);
    mo_exec_request_shapes_clear(&shapes);
    return status;
}

mo_status mo_exec_requests_read(void *context, int64_t request,
                                mo_tensor_dense *inputs, mo_error *err)
{
    mo_exec_requests *r = context;
    const mo_exec_plan *part;
    char path[PATH_SIZE];
    int phase = 0;
    mo_status status = MO_OK;

    mo_exec_signals_accept(r->signals, request);
    /* The outputs of an earlier run of these requests go when the first of them
     * is accepted: an interrupted run, too, leaves outputs of its own only. */
    pthread_mutex_lock(&r->lock);
    if (r->intake_ns == 0)
        r->intake_ns = mo_stop_clock_ns();
    if (!r->has_begun && writes_folders(r->options))
        status = mo_exec_output_npy_remove(r->options->output, r->n,
                                           r->plan->n_outputs, err);
    r->has_begun = status == MO_OK;
    pthread_mutex_unlock(&r->lock);
    if (status == MO_OK)
        status = find_phase(r, request, &phase, err);
    part = mo_exec_requests_part(r, phase);
    inputs += first_input(r, phase);
    mo_exec_requests_set_phase(r, request, phase);
    for (int i = 0; i < r->plan->n_inputs && status == MO_OK; i++) {
        const char *file = NULL;

        if (borrow_common(r, i, &inputs[i]))
            continue;
        status = find_input(r, request, i, path, &file, err);
        if (status == MO_OK)
            status = mo_exec_input_make(r->options->seed + request, r->graph,
                                        part, i, file, &inputs[i], err);
    }
    return status;
}

/* All arrays of a request are read, also when one does not fit. */
mo_status mo_exec_requests_next(void *context, int64_t request,
                                const atomic_bool *stopped,
                                mo_tensor_dense *inputs, bool *end,
                                mo_error *err)
{
    mo_exec_requests *r = context;
    size_t n = (size_t) r->plan->n_inputs;
    mo_tensor_dense *values = calloc(n + 1, sizeof *values);
    mo_exec_request_shapes shapes = { 0 };
    mo_status status = values ? mo_exec_request_shapes_init(r, &shapes, err)
                              : mo_fail_memory(err);
    bool first = true, over = status != MO_OK;
    int phase;

    *end = false;
    for (int i = 0; i < r->plan->n_inputs && !*end && !over; i++) {
        mo_error why = { 0 };
        mo_status got;

        shapes.input = i;
        if (borrow_common(r, i, &values[i]))
            got = MO_OK;
        else if (r->given[i])
            got = mo_exec_request_shapes_read(&shapes, request, r->given[i],
                                              &values[i], &why);
        else
            got =
                mo_exec_stream_read(&r->stream, mo_exec_request_shapes_add,
                                    &shapes, stopped, &values[i], &over, &why);
        *end =
            over && (first || mo_exec_stream_is_stopped(&r->stream, stopped));
        if (over && !*end && status == MO_OK)
            got = mo_fail_at(&why, MO_E_INPUT, "standard input", 0,
                             "ends before input '%.80s' of the request",
                             r->plan->inputs[i].name);
        first = first && r->given[i];
        if (got != MO_OK && status == MO_OK) {
            status = got;
            *err = why;
        }
    }
    if (!*end)
        mo_exec_signals_accept(r->signals, request);
    /* The caller clears them. */
    phase = status == MO_OK
                ? mo_max_int(mo_exec_request_shapes_phase(&shapes), 0)
                : 0;
    mo_exec_requests_set_phase(r, request, phase);
    if (values)
        memcpy(inputs + first_input(r, phase), values, n * sizeof *values);
    mo_exec_request_shapes_clear(&shapes);
    free(values);
    return *end ? MO_OK : status;
}

static mo_status add_failure(mo_exec_requests *r, int64_t request,
                             const mo_error *failure, mo_error *err)
{
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];
    const mo_exec_options *o = r->options;
    mo_report_throughput_failure *failed;

    mo_error_format(failure, text, sizeof text);
    mo_progress_erase();
    fprintf(stderr, "%s: request %lld: %s\n", o->logger.command,
            (long long) request, text);
    if (r->n_failed == r->room) {
        size_t room = 2 * r->room + 16;

        failed = realloc(r->failed, room * sizeof *failed);
        if (!failed)
            return mo_fail_memory(err);
        r->failed = failed;
        r->room = room;
    }
    failed = &r->failed[r->n_failed];
    *failed = (mo_report_throughput_failure){ request, strdup(text) };
    if (!failed->reason)
        return mo_fail_memory(err);
    r->n_failed++;
    return MO_OK;
}

mo_status mo_exec_requests_deliver(mo_exec_requests *r, int64_t request,
                                   const mo_tensor_dense *outputs,
                                   const mo_error *failure, mo_error *err)
{
    const mo_exec_options *o = r->options;
    int n_outputs = r->plan->n_outputs;
    int64_t n_not_finite = 0;
    mo_status status;

    mo_progress_detail(&r->step, "%lld of %lld", (long long) ++r->n_written,
                       (long long) r->n);
    status = failure ? add_failure(r, request, failure, err) : MO_OK;
    for (int i = 0; i < n_outputs && n_not_finite == 0 && !failure; i++)
        if (!o->logger.quiet)
            n_not_finite = mo_tensor_count_not_finite(&outputs[i]);
    if (n_not_finite > 0 && r->n_not_finite++ == 0)
        r->first_not_finite = request;
    if (status == MO_OK && mo_exec_requests_to_stdout(o))
        status = mo_exec_stream_write(outputs, n_outputs, err);
    else if (status == MO_OK && o->output && !failure) {
        mo_exec_output_npy files = { 0 };
        char folder[PATH_SIZE];

        status = mo_exec_output_npy_folder(o->output, request, folder,
                                           sizeof folder, err);
        if (status == MO_OK)
            status = mo_exec_output_npy_open(folder, outputs, n_outputs, &files,
                                             err);
        if (status == MO_OK)
            status = mo_exec_output_npy_commit(&files, err);
        mo_exec_output_npy_clear(&files);
    }
    if (status == MO_OK)
        atomic_store(&r->signals->n_delivered, request + 1);
    return status;
}
