/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/algo/tuning_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "exec/backend/cuda/jit/disk_cache.h"

enum { NAME_ROOM = 96 };

typedef struct note {
    uint64_t key;
    int64_t ns;
    char name[NAME_ROOM];
    bool fresh; /* measured by us, not read */
} note;

struct mo_cuda_tuning_cache {
    const mo_cuda_disk_cache *cache;
    uint64_t file; /* its key in the cache */
    note *notes;
    size_t n, room;
};

/* ---- in memory */

static note *find(const mo_cuda_tuning_cache *notes, uint64_t key)
{
    for (size_t i = 0; i < notes->n; i++)
        if (notes->notes[i].key == key)
            return &notes->notes[i];
    return NULL;
}

bool mo_cuda_tuning_cache_find(const mo_cuda_tuning_cache *notes, uint64_t key,
                               const char *const *names, int n, int *best,
                               int64_t *ns)
{
    const note *found = find(notes, key);

    for (int i = 0; found && i < n; i++)
        if (strcmp(found->name, names[i]) == 0) {
            *best = i;
            *ns = found->ns;
            return true;
        }
    return false;
}

const char *mo_cuda_tuning_cache_best_name(const mo_cuda_tuning_cache *notes,
                                           uint64_t key)
{
    const note *found = find(notes, key);

    return found ? found->name : NULL;
}

bool mo_cuda_tuning_cache_has_prefix(const mo_cuda_tuning_cache *notes,
                                     const char *begin)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strncmp(notes->notes[i].name, begin, strlen(begin)) == 0)
            return true;
    return false;
}

static note *find_or_add(mo_cuda_tuning_cache *notes, uint64_t key)
{
    note *found = find(notes, key);

    if (found)
        return found;
    if (MO_ARRAY_GROW(notes->notes, notes->n, notes->room, NULL) != MO_OK)
        return NULL;
    found = &notes->notes[notes->n++];
    *found = (note){ .key = key };
    return found;
}

/* A name that does not fit, or would end its line, is not noted. */
static bool is_plain(const char *name)
{
    return *name && strlen(name) < NAME_ROOM && !strpbrk(name, "\r\n");
}

void mo_cuda_tuning_cache_add(mo_cuda_tuning_cache *notes, uint64_t key,
                              const char *name, int64_t ns)
{
    note *to = is_plain(name) ? find_or_add(notes, key) : NULL;

    if (!to)
        return;
    snprintf(to->name, sizeof to->name, "%s", name);
    to->ns = ns;
    to->fresh = true;
}

/* ---- in the file: lines of key, nanoseconds and name */

static void read_line(mo_cuda_tuning_cache *notes, const char *line,
                      size_t length)
{
    char text[NAME_ROOM + 64], name[NAME_ROOM];
    uint64_t key;
    int64_t ns;
    note *to;

    if (length >= sizeof text)
        return;
    memcpy(text, line, length);
    text[length] = 0;
    if (sscanf(text, "%16" SCNx64 " %18" SCNd64 " %95[^\n]", &key, &ns, name) !=
            3 ||
        ns < 0)
        return;
    to = find_or_add(notes, key);
    if (!to || to->fresh)
        return;
    snprintf(to->name, sizeof to->name, "%s", name);
    to->ns = ns;
}

/* What we measured ourselves stays. */
static void read_file(mo_cuda_tuning_cache *notes)
{
    char *data = NULL;
    size_t size = 0;

    if (!mo_cuda_disk_cache_read(notes->cache, notes->file, "notes", &data,
                                 &size))
        return;
    for (const char *line = data; *line;) {
        size_t length = strcspn(line, "\n");

        read_line(notes, line, length);
        line += length + (line[length] == '\n');
    }
    free(data);
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const note *) a)->key, y = ((const note *) b)->key;

    return (x > y) - (x < y);
}

static void write_file(mo_cuda_tuning_cache *notes)
{
    enum { LINE_ROOM = 17 + 21 + NAME_ROOM + 1 };
    char *text;
    size_t size = 0, room;

    if (!mo_size_mul(notes->n, LINE_ROOM, &room) || !(text = malloc(room + 1)))
        return;
    qsort(notes->notes, notes->n, sizeof *notes->notes, by_key);
    for (size_t i = 0; i < notes->n; i++)
        size += (size_t) snprintf(
            text + size, room + 1 - size, "%016" PRIx64 " %" PRId64 " %s\n",
            notes->notes[i].key, notes->notes[i].ns, notes->notes[i].name);
    mo_cuda_disk_cache_write(notes->cache, notes->file, "notes", text, size);
    free(text);
}

/* ---- as a whole */

/* Who names a library wants to hear of it. */
static void digest_variable(mo_digest *digest, const char *name)
{
    const char *value = getenv(name);

    mo_digest_int(digest, value != NULL);
    if (value)
        mo_digest_text(digest, value);
}

/* What a measured time depends on besides what is done.  The names of ways tell
 * the versions of libraries, which are not loaded only to ask them. */
static uint64_t file_key(const mo_backend_unit *unit)
{
    mo_digest *digest = mo_digest_new();
    uint64_t key;

    if (!digest)
        return 0;
    mo_digest_text(digest, "notes 2 " PACKAGE_VERSION);
    mo_digest_text(digest, unit->name);
    mo_digest_int(digest, unit->sms);
    mo_digest_int(digest, unit->has_pdl);
    mo_digest_int(digest, unit->api->driver_version);
    mo_digest_int(digest, unit->api->nvrtc_version);
    digest_variable(digest, "MOIRAI_CUBLASLT");
    digest_variable(digest, "MOIRAI_CUDNN");
    key = mo_digest_value(digest);
    mo_digest_free(digest);
    return key;
}

mo_status mo_cuda_tuning_cache_open(mo_backend_unit *unit,
                                    mo_cuda_tuning_cache **notes, mo_error *err)
{
    mo_cuda_tuning_cache *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->cache = unit->disk_cache;
    made->file = file_key(unit);
    read_file(made);
    *notes = made;
    return MO_OK;
}

void mo_cuda_tuning_cache_close(mo_cuda_tuning_cache *notes)
{
    bool fresh = false;

    if (!notes)
        return;
    for (size_t i = 0; i < notes->n; i++)
        fresh = fresh || notes->notes[i].fresh;
    if (fresh) {
        /* Others may have written since. */
        read_file(notes);
        write_file(notes);
    }
    free(notes->notes);
    free(notes);
}
