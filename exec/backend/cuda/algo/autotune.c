/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/algo/autotune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/digest.h"
#include "exec/backend/cuda/jit/disk_cache.h"

enum { NAME_ROOM = 96 };

typedef struct cache_entry {
    uint64_t key;
    int64_t ns;
    char name[NAME_ROOM];
    bool fresh; /* measured by this process, not read */
} cache_entry;

struct mo_cuda_tuning_cache {
    const mo_cuda_disk_cache *disk;
    uint64_t file; /* key of the file in the disk cache */
    cache_entry *entries;
    size_t n, room;
    bool is_kept; /* in a file */
};

static cache_entry *find_entry(const mo_cuda_tuning_cache *cache, uint64_t key)
{
    for (size_t i = 0; i < cache->n; i++)
        if (cache->entries[i].key == key)
            return &cache->entries[i];
    return NULL;
}

const char *mo_cuda_tuning_cache_best_name(const mo_cuda_tuning_cache *cache,
                                           uint64_t key)
{
    const cache_entry *found = find_entry(cache, key);

    return found ? found->name : NULL;
}

bool mo_cuda_tuning_cache_has_prefix(const mo_cuda_tuning_cache *cache,
                                     const char *prefix)
{
    for (size_t i = 0; i < cache->n; i++)
        if (strncmp(cache->entries[i].name, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

static cache_entry *find_or_add_entry(mo_cuda_tuning_cache *cache, uint64_t key)
{
    cache_entry *found = find_entry(cache, key);

    if (found)
        return found;
    if (MO_ARRAY_GROW(cache->entries, cache->n, cache->room, NULL) != MO_OK)
        return NULL;
    found = &cache->entries[cache->n++];
    *found = (cache_entry){ .key = key };
    return found;
}

void mo_cuda_tuning_cache_add(mo_cuda_tuning_cache *cache, uint64_t key,
                              const char *name, int64_t ns)
{
    /* A name that does not fit, or has a line break, is not stored. */
    cache_entry *to =
        *name && strlen(name) < NAME_ROOM && !strpbrk(name, "\r\n")
            ? find_or_add_entry(cache, key)
            : NULL;

    if (!to)
        return;
    snprintf(to->name, sizeof to->name, "%s", name);
    to->ns = ns;
    to->fresh = true;
}

/* File: lines of key, nanoseconds and name. */

static void parse_line(mo_cuda_tuning_cache *cache, const char *line,
                       size_t length)
{
    char text[NAME_ROOM + 64], name[NAME_ROOM];
    uint64_t key;
    int64_t ns;
    cache_entry *to;

    if (length >= sizeof text)
        return;
    memcpy(text, line, length);
    text[length] = 0;
    if (sscanf(text, "%16" SCNx64 " %18" SCNd64 " %95[^\n]", &key, &ns, name) !=
            3 ||
        ns < 0)
        return;
    to = find_or_add_entry(cache, key);
    if (!to || to->fresh)
        return;
    snprintf(to->name, sizeof to->name, "%s", name);
    to->ns = ns;
}

/* Entries measured by this process stay. */
static void read_cache_file(mo_cuda_tuning_cache *cache)
{
    char *data = NULL;
    size_t size = 0;

    if (!mo_cuda_disk_cache_read(cache->disk, cache->file, "notes", &data,
                                 &size))
        return;
    for (const char *line = data; *line;) {
        size_t length = strcspn(line, "\n");

        parse_line(cache, line, length);
        line += length + (line[length] == '\n');
    }
    free(data);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = ((const cache_entry *) a)->key,
             y = ((const cache_entry *) b)->key;

    return (x > y) - (x < y);
}

static void write_cache_file(mo_cuda_tuning_cache *cache)
{
    enum { LINE_ROOM = 17 + 21 + NAME_ROOM + 1 };
    char *text;
    size_t size = 0, room;

    if (!mo_size_mul(cache->n, LINE_ROOM, &room) || !(text = malloc(room + 1)))
        return;
    qsort(cache->entries, cache->n, sizeof *cache->entries, compare_keys);
    for (size_t i = 0; i < cache->n; i++)
        size += (size_t) snprintf(text + size, room + 1 - size,
                                  "%016" PRIx64 " %" PRId64 " %s\n",
                                  cache->entries[i].key, cache->entries[i].ns,
                                  cache->entries[i].name);
    mo_cuda_disk_cache_write(cache->disk, cache->file, "notes", text, size);
    free(text);
}

/* Another library by an override gets another file. */
static void digest_variable(mo_digest *digest, const char *name)
{
    const char *value = getenv(name);

    mo_digest_int(digest, value != NULL);
    if (value)
        mo_digest_text(digest, value);
}

mo_status mo_cuda_tuning_cache_open(mo_backend_unit *unit,
                                    mo_cuda_tuning_cache **cache, mo_error *err)
{
    mo_cuda_tuning_cache *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->disk = unit->disk_cache;

    /* Digest of all that a measured time depends on besides the problem.
     * Versions of libraries are in the names of algorithms: libraries are not
     * loaded to read them. */
    mo_digest *digest = mo_digest_new();

    if (digest) {
        mo_digest_text(digest, "notes 2 " PACKAGE_VERSION);
        mo_digest_text(digest, unit->name);
        mo_digest_int(digest, unit->sms);
        mo_digest_int(digest, unit->has_pdl);
        mo_digest_int(digest, unit->api->driver_version);
        mo_digest_int(digest, unit->api->nvrtc_version);
        digest_variable(digest, "MOIRAI_CUBLASLT");
        digest_variable(digest, "MOIRAI_CUDNN");
        digest_variable(digest, "MOIRAI_ABLATE");
        made->file = mo_digest_value(digest);
        mo_digest_free(digest);
    }
    made->is_kept = !mo_ablated(MO_ABLATION_cuda_tuning_cache);
    if (made->is_kept)
        read_cache_file(made);
    *cache = made;
    return MO_OK;
}

void mo_cuda_tuning_cache_close(mo_cuda_tuning_cache *cache)
{
    bool fresh = false;

    if (!cache)
        return;
    for (size_t i = 0; i < cache->n; i++)
        fresh = fresh || cache->entries[i].fresh;
    if (fresh && cache->is_kept) {
        /* Other processes may have written since. */
        read_cache_file(cache);
        write_cache_file(cache);
    }
    free(cache->entries);
    free(cache);
}

/* Runs of one replay: enough for the resolution of events, few enough to be
 * short. */
enum { RUNS = 8, REPLAYS = 3 };

/* State of a measurement, shared by all candidates. */
typedef struct tuner {
    mo_backend_unit *unit;
    mo_cuda_autotune_run_fn *run;
    void *context;
    CUevent begin, end;
} tuner;

static mo_status open_tuner(tuner *b, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    mo_status status =
        mo_cuda_check(api, "cuEventCreate",
                      api->cuEventCreate(&b->begin, CU_EVENT_DEFAULT), err);

    if (status != MO_OK)
        return status;
    status = mo_cuda_check(api, "cuEventCreate",
                           api->cuEventCreate(&b->end, CU_EVENT_DEFAULT), err);
    if (status != MO_OK)
        api->cuEventDestroy(b->begin);
    return status;
}

static mo_status enqueue_runs(const tuner *b, int i, mo_error *err)
{
    mo_status status = MO_OK;

    for (int j = 0; j < RUNS && status == MO_OK; j++)
        status = b->run(b->context, i, b->unit->stream, err);
    return status;
}

/* Returns NULL where the candidate cannot be captured: it is launched
 * directly. */
static CUgraphExec capture_runs(const tuner *b, int i)
{
    const mo_cuda_api *api = b->unit->api;
    CUstream stream = b->unit->stream;
    CUgraphExec exec = NULL;
    CUgraph graph = NULL;
    mo_status status;

    if (api->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) !=
        CUDA_SUCCESS)
        return NULL;
    status = enqueue_runs(b, i, NULL);
    if (api->cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS || !graph)
        return NULL;
    if (status != MO_OK ||
        api->cuGraphInstantiateWithFlags(&exec, graph, 0) != CUDA_SUCCESS)
        exec = NULL;
    api->cuGraphDestroy(graph);
    return exec;
}

static mo_status launch_runs(const tuner *b, int i, CUgraphExec exec,
                             mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;

    if (!exec)
        return enqueue_runs(b, i, err);
    return mo_cuda_check(api, "cuGraphLaunch",
                         api->cuGraphLaunch(exec, b->unit->stream), err);
}

/* Sets *ns to the time of one run in one replay. */
static mo_status time_replay(const tuner *b, int i, CUgraphExec exec,
                             int64_t *ns, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    CUstream stream = b->unit->stream;
    float ms = 0;
    mo_status status = mo_cuda_check(api, "cuEventRecord",
                                     api->cuEventRecord(b->begin, stream), err);

    if (status == MO_OK)
        status = launch_runs(b, i, exec, err);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuEventRecord",
                               api->cuEventRecord(b->end, stream), err);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuEventSynchronize",
                               api->cuEventSynchronize(b->end), err);
    if (status == MO_OK)
        status =
            mo_cuda_check(api, "cuEventElapsedTime",
                          api->cuEventElapsedTime(&ms, b->begin, b->end), err);
    *ns = (int64_t) (ms * 1e6f / RUNS);
    return status;
}

/* The minimum of a few replays; a candidate far behind the best so far is not
 * repeated. The first replay is a warm-up. */
static mo_status measure_candidate(const tuner *b, int i, int64_t best_so_far,
                                   int64_t *ns, mo_error *err)
{
    CUgraphExec exec = capture_runs(b, i);
    mo_status status = launch_runs(b, i, exec, err);

    *ns = INT64_MAX;
    for (int replay = 0; replay < REPLAYS && status == MO_OK; replay++) {
        int64_t now = INT64_MAX;

        status = time_replay(b, i, exec, &now, err);
        if (now < *ns)
            *ns = now;
        if (now / 2 > best_so_far)
            break;
    }
    if (exec)
        b->unit->api->cuGraphExecDestroy(exec);
    return status;
}

/* Runs a candidate and waits, so that an error is attributed to it. */
static mo_status run_once(const tuner *b, int i, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    mo_status status = b->run(b->context, i, b->unit->stream, err);

    if (status != MO_OK)
        return status;
    return mo_cuda_check(api, "cuStreamSynchronize",
                         api->cuStreamSynchronize(b->unit->stream), err);
}

static mo_status choose_first_working(const tuner *b, int n, int *best,
                                      mo_error *err)
{
    mo_status status = MO_E_SUPPORT;

    for (int i = 0; i < n && status == MO_E_SUPPORT; i++) {
        status = run_once(b, i, err);
        *best = i;
    }
    return status;
}

static mo_status choose_fastest(const tuner *b, int n, int *best, int64_t *ns,
                                mo_error *err)
{
    mo_status status = MO_E_SUPPORT, found = MO_E_SUPPORT;

    *ns = INT64_MAX;
    for (int i = 0; i < n; i++) {
        int64_t now = INT64_MAX;

        status = run_once(b, i, err);
        if (status == MO_OK)
            status = measure_candidate(b, i, *ns, &now, err);
        if (status == MO_OK && (found != MO_OK || now < *ns)) {
            *ns = now;
            *best = i;
            found = MO_OK;
        }
        if (status != MO_OK && status != MO_E_SUPPORT)
            return status;
    }
    return found;
}

mo_status mo_cuda_autotune(mo_backend_unit *unit,
                           const mo_cuda_autotune_candidates *candidates,
                           int *best, mo_error *err)
{
    const mo_cuda_autotune_candidates *c = candidates;
    tuner b = { .unit = unit, .run = c->run, .context = c->context };
    bool measure = unit->options.autotune;
    const cache_entry *found =
        measure ? find_entry(unit->tuning_cache, c->key) : NULL;
    mo_status status;
    int64_t ns = 0;

    if (c->n == 0)
        return mo_fail(err, MO_E_SUPPORT, "there is no way to do it");
    for (int i = 0; found && i < c->n; i++)
        if (strcmp(found->name, c->names[i]) == 0) {
            *best = i;
            return MO_OK;
        }
    if (!measure || c->n == 1) {
        status = choose_first_working(&b, c->n, best, err);
    } else {
        status = open_tuner(&b, err);
        if (status != MO_OK)
            return status;
        status = choose_fastest(&b, c->n, best, &ns, err);
        b.unit->api->cuEventDestroy(b.begin);
        b.unit->api->cuEventDestroy(b.end);
    }
    if (status == MO_OK && measure)
        mo_cuda_tuning_cache_add(unit->tuning_cache, c->key, c->names[*best],
                                 ns);
    return status;
}
