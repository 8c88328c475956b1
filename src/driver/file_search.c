/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/file_search.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/compress.h"
#include "ingest/input.h"
#include "ingest/read.h"
#include "solvers/process/path_util.h"

/* Limits for one folder: names kept, files opened. Beyond them the file must
 * be named by an option. */
enum { MOST_NAMES = 10000, MOST_OPENED = 200 };

typedef struct candidate {
    char *name;
    int rank; /* smaller is likelier */
} candidate;

typedef struct folder {
    const char *path;
    const mo_file_search_query *query;
    candidate *list;
    size_t n, room;
} folder;

/* Suffixes of compression do not count. */
static bool ends_with(const char *name, const char *ending)
{
    size_t length = mo_compress_stem(name), tail = strlen(ending);

    return length > tail && strncmp(name + length - tail, ending, tail) == 0;
}

static bool has_name(const folder *f, const char *name)
{
    return f->query->name && strcmp(name, f->query->name) == 0;
}

static bool is_meant(const folder *f, const char *name)
{
    const char *const *ending = f->query->kind->endings;

    while (*ending && !ends_with(name, *ending))
        ending++;
    return *ending || has_name(f, name);
}

/* net.sol makes net.graphml likelier than other.graphml. */
static int rank_of(const folder *f, const char *name)
{
    const char *beside = f->query->beside;
    const char *base = beside ? mo_path_basename(beside) : "";
    size_t stem = strcspn(base, ".");

    if (has_name(f, name))
        return -1;
    return 2 * (stem == 0 || strncmp(name, base, stem) != 0) +
           !ends_with(name, f->query->kind->likely);
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *c = a, *d = b;

    return c->rank != d->rank ? c->rank - d->rank : strcmp(c->name, d->name);
}

static mo_status add_candidate(folder *f, const char *name, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(f->list, f->n, f->room, err);
    char *copy;

    if (status != MO_OK)
        return status;
    copy = strdup(name);
    if (!copy)
        return mo_fail_memory(err);
    f->list[f->n++] = (candidate){ copy, rank_of(f, name) };
    return MO_OK;
}

/* An unreadable folder counts as empty. */
static mo_status list_folder(folder *f, mo_error *err)
{
    DIR *dir = opendir(f->path);
    struct dirent *entry;
    mo_status status = MO_OK;

    if (!dir)
        return errno == ENOMEM ? mo_fail_memory(err) : MO_OK;
    while (status == MO_OK && f->n < MOST_NAMES && (entry = readdir(dir)))
        if (is_meant(f, entry->d_name))
            status = add_candidate(f, entry->d_name, err);
    closedir(dir);
    if (f->n > 1)
        qsort(f->list, f->n, sizeof *f->list, compare_candidates);
    return status;
}

/* Whether path is a regular file within the size limit whose beginning matches
 * the kind. */
static bool looks_right(const mo_file_search_spec *kind, const char *path,
                        mo_error *err)
{
    struct stat about;
    mo_input *input;
    bool right;

    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size > kind->most_bytes)
        return false;
    if (!kind->accepts)
        return true;
    if (mo_input_open(path, &input, err) != MO_OK)
        return false;
    right = kind->accepts(input, err);
    mo_input_close(input);
    return right;
}

static char *join_path(const char *folder_path, const char *name)
{
    return strcmp(folder_path, ".") == 0
               ? strdup(name)
               : mo_path_format("%s/%s", folder_path, name);
}

/* Sets *found to path if that is the file; a folder stands for its config.json.
 * Frees path otherwise; NULL counts as a failed allocation. */
static mo_status test_path(const mo_file_search_query *q, char *path,
                           char **found, mo_error *err)
{
    struct stat about;
    mo_error why = { 0 };

    if (path && stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        char *config = mo_path_format("%s/config.json", path);

        free(path);
        path = config;
    }
    if (!path)
        return mo_fail_memory(err);
    if (looks_right(q->kind, path, &why) && q->test(q->context, path, &why)) {
        *found = path;
        return MO_OK;
    }
    free(path);
    /* Other errors are those of a file that is not the one. */
    return why.status == MO_E_MEMORY ? mo_fail_memory(err) : MO_OK;
}

static mo_status test_listed(const folder *f, char **found, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0;
         i < f->n && i < MOST_OPENED && status == MO_OK && !*found; i++)
        status = test_path(f->query, join_path(f->path, f->list[i].name), found,
                           err);
    return status;
}

struct mo_search_folder_id {
    dev_t device;
    ino_t inode;
};

static mo_status add_folder(mo_search_folders *p, const char *path,
                            size_t length, mo_error *err)
{
    char *copy = strndup(path, length);
    struct stat about;
    mo_status status = copy ? MO_OK : mo_fail_memory(err);
    bool skip =
        status == MO_OK && (stat(copy, &about) != 0 || !S_ISDIR(about.st_mode));

    for (size_t i = 0; status == MO_OK && i < p->n && !skip; i++)
        skip =
            p->id[i].device == about.st_dev && p->id[i].inode == about.st_ino;
    if (status == MO_OK && !skip)
        status = MO_ARRAY_GROW(p->path, p->n, p->room, err);
    if (status == MO_OK && !skip)
        status = MO_ARRAY_GROW(p->id, p->n, p->id_room, err);
    if (status != MO_OK || skip) {
        free(copy);
        return status;
    }
    p->id[p->n] = (struct mo_search_folder_id){ about.st_dev, about.st_ino };
    p->path[p->n++] = copy;
    return MO_OK;
}

static mo_status add_folder_of(mo_search_folders *p, const char *file,
                               mo_error *err)
{
    char *copy = strdup(file);
    const char *path;
    mo_status status;

    if (!copy)
        return mo_fail_memory(err);
    path = dirname(copy);
    status = add_folder(p, path, strlen(path), err);
    free(copy);
    return status;
}

mo_status mo_search_folders_add_beside(mo_search_folders *folders,
                                       const char *file, mo_error *err)
{
    struct stat about;
    char *target;
    mo_status status;

    if (!file || strcmp(file, "-") == 0)
        return MO_OK;
    status = add_folder_of(folders, file, err);
    if (status != MO_OK || lstat(file, &about) != 0 || !S_ISLNK(about.st_mode))
        return status;
    target = realpath(file, NULL);
    if (target)
        status = add_folder_of(folders, target, err);
    free(target);
    return status;
}

mo_status mo_search_folders_add(mo_search_folders *folders, const char *path,
                                mo_error *err)
{
    return add_folder(folders, path, strlen(path), err);
}

mo_status mo_search_folders_add_usual(mo_search_folders *folders, mo_error *err)
{
    const char *list = getenv("MOIRAI_PATH");
    mo_status status = add_folder(folders, ".", 1, err);

    while (list && *list && status == MO_OK) {
        size_t length = strcspn(list, ":");

        if (length > 0)
            status = add_folder(folders, list, length, err);
        list += length + (list[length] == ':');
    }
    return status;
}

void mo_search_folders_clear(mo_search_folders *folders)
{
    for (size_t i = 0; i < folders->n; i++)
        free(folders->path[i]);
    free(folders->path);
    free(folders->id);
    *folders = (mo_search_folders){ 0 };
}

char *mo_search_folders_find(const mo_search_folders *folders, const char *name)
{
    for (size_t i = 0; i < folders->n; i++) {
        char *path = join_path(folders->path[i], name);
        struct stat about;

        if (path && stat(path, &about) == 0 && S_ISREG(about.st_mode))
            return path;
        free(path);
    }
    return NULL;
}

mo_status mo_file_search(const mo_search_folders *folders,
                         const mo_file_search_query *query, char **path,
                         mo_error *err)
{
    mo_status status = MO_OK;

    *path = NULL;
    for (size_t i = 0; query->name && query->name[0] && i < folders->n &&
                       status == MO_OK && !*path;
         i++)
        status = test_path(query, join_path(folders->path[i], query->name),
                           path, err);
    for (char *const *hint = query->hints;
         hint && *hint && status == MO_OK && !*path; hint++)
        status = test_path(query, strdup(*hint), path, err);
    for (size_t i = 0; i < folders->n && status == MO_OK && !*path; i++) {
        folder f = { .path = folders->path[i], .query = query };

        status = list_folder(&f, err);
        if (status == MO_OK)
            status = test_listed(&f, path, err);
        for (size_t k = 0; k < f.n; k++)
            free(f.list[k].name);
        free(f.list);
    }
    return status;
}
