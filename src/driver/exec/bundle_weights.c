/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/bundle_weights.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/digest.h"
#include "driver/file_search.h"
#include "exec/tensor/mmap_file.h"

mo_status mo_bundle_weights_measure(int fd, const char *path, int64_t *size,
                                    uint64_t *digest, mo_error *err)
{
    mo_mmap_file mapped;
    mo_status status = mo_mmap_file_open_fd(fd, path, &mapped, err);

    if (status != MO_OK)
        return status;
    *size = (int64_t) mapped.size;
    *digest = mo_digest_of(mapped.data, mapped.size);
    status = mo_mmap_file_check(&mapped, err);
    mo_mmap_file_close(&mapped);
    return status;
}

static bool is_wanted(void *context, const char *path, mo_error *err)
{
    const mo_bundle_weights *wanted = context;
    int fd = mo_open_nonblocking(path);
    struct stat about;
    int64_t size;
    uint64_t digest;

    if (fd < 0)
        return false;
    if (fstat(fd, &about) != 0 || about.st_size != wanted->size) {
        close(fd);
        return false;
    }
    return mo_bundle_weights_measure(fd, path, &size, &digest, err) == MO_OK &&
           digest == wanted->digest;
}

/* Any file may be one with weights. */
static mo_status find_file(const mo_search_folders *folders,
                           mo_bundle_weights *wanted, char **path,
                           mo_error *err)
{
    static const char *const any[] = { "", NULL };
    const mo_file_search_spec files = { .likely = ".bin",
                                        .endings = any,
                                        .most_bytes = INT64_MAX };
    const mo_file_search_query query = { .kind = &files,
                                         .name = mo_path_basename(wanted->name),
                                         .test = is_wanted,
                                         .context = wanted };

    return mo_file_search(folders, &query, path, err);
}

/* That packed weights are those that were packed, as far as the digest goes. */
static mo_status check_packed(const mo_bundle *bundle,
                              const mo_bundle_weights *w, mo_error *err)
{
    mo_mmap_file mapped;
    mo_status status = mo_mmap_file_open_part(bundle->path, w->member->offset,
                                              w->size, &mapped, err);
    uint64_t digest;

    if (status != MO_OK)
        return status;
    digest = mo_digest_of(mapped.data, mapped.size);
    status = mo_mmap_file_check(&mapped, err);
    if (status == MO_OK && digest != w->digest)
        status = mo_fail_at(err, MO_E_INPUT, bundle->file, 0,
                            "weights '%.200s' are not those that were packed: "
                            "their digest differs; copy or pack it again",
                            w->name);
    mo_mmap_file_close(&mapped);
    return status;
}

static mo_status find_all(const mo_bundle *bundle,
                          const mo_search_folders *folders, bool random,
                          mo_bundle_sources *sources, mo_error *err)
{
    char missing[512] = "";
    mo_status status = MO_OK;

    for (size_t i = 0; i < bundle->n_weights && status == MO_OK; i++) {
        mo_bundle_weights *w = &bundle->weights[i];
        mo_weights_source source = { .name = w->name, .size = w->size };
        size_t used = strlen(missing);

        if (w->member) {
            status = check_packed(bundle, w, err);
            source.path = bundle->path;
            source.offset = w->member->offset;
        } else {
            status = find_file(folders, w, &sources->found[i], err);
            source.path = sources->found[i];
        }
        if (source.path)
            sources->list[sources->n++] = source;
        else if (status == MO_OK)
            snprintf(missing + used, sizeof missing - used,
                     "%s%.100s (%016" PRIx64 ", %" PRId64 " bytes)",
                     used > 0 ? "; " : "", w->name, w->digest, w->size);
    }
    if (status == MO_OK && missing[0] && !random)
        status =
            mo_fail_at(err, MO_E_INPUT, bundle->file, 0,
                       "weights that are not packed are missing here: %.500s; "
                       "put them beside it or in a folder of MOIRAI_PATH or "
                       "--weights-from, pack without --bundle-weights, or run "
                       "with --random-weights",
                       missing);
    return status;
}

mo_status mo_bundle_sources_find(const mo_bundle *bundle,
                                 const mo_option_list *given, bool random,
                                 mo_bundle_sources *sources, mo_error *err)
{
    mo_search_folders folders = { 0 };
    mo_status status;

    sources->list = calloc(bundle->n_weights + 1, sizeof *sources->list);
    sources->found = calloc(bundle->n_weights + 1, sizeof *sources->found);
    if (!sources->list || !sources->found)
        return mo_fail_memory(err);
    sources->n_found = bundle->n_weights;
    status = mo_search_folders_add_beside(&folders, bundle->file, err);
    for (size_t i = 0; i < given->count && status == MO_OK; i++)
        status = mo_search_folders_add(&folders, given->items[i], err);
    if (status == MO_OK)
        status = mo_search_folders_add_usual(&folders, err);
    if (status == MO_OK)
        status = find_all(bundle, &folders, random, sources, err);
    mo_search_folders_clear(&folders);
    return status;
}

void mo_bundle_sources_clear(mo_bundle_sources *sources)
{
    for (size_t i = 0; sources->found && i < sources->n_found; i++)
        free(sources->found[i]);
    free(sources->found);
    free(sources->list);
    *sources = (mo_bundle_sources){ 0 };
}
