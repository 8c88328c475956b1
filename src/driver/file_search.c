/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/file_search.h"

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
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
    const char *beside; /* candidates with the stem of this file come first */
    const mo_file_search_spec *kind;
    candidate *list;
    size_t n, room;
} folder;

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);

    return length > tail && strcmp(name + length - tail, ending) == 0;
}

static bool is_meant(const mo_file_search_spec *kind, const char *name)
{
    const char *const *ending = kind->endings;

    while (*ending && !ends_with(name, *ending))
        ending++;
    return *ending != NULL;
}

/* net.sol makes net.graphml likelier than other.graphml. */
static int rank_of(const folder *f, const char *name)
{
    const char *base = mo_path_basename(f->beside);
    size_t stem = strcspn(base, ".");

    return 2 * (stem == 0 || strncmp(name, base, stem) != 0) +
           !ends_with(name, f->kind->likely);
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *c = a, *d = b;

    return c->rank != d->rank ? c->rank - d->rank : strcmp(c->name, d->name);
}

static mo_status add_folder(folder *f, const char *name, mo_error *err)
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
        return MO_OK;
    while (status == MO_OK && f->n < MOST_NAMES && (entry = readdir(dir)))
        if (is_meant(f->kind, entry->d_name))
            status = add_folder(f, entry->d_name, err);
    closedir(dir);
    if (f->n > 1)
        qsort(f->list, f->n, sizeof *f->list, compare_candidates);
    return status;
}

static void free_list(folder *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->list[i].name);
    free(f->list);
}

/* Whether path is a regular file within the size limit whose beginning matches
 * the kind. */
static bool looks_right(const mo_file_search_spec *kind, const char *path)
{
    struct stat about;
    mo_input *input;
    char root[64];
    bool right;

    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size > kind->most_bytes)
        return false;
    if (!kind->root)
        return true;
    if (mo_input_open(path, &input, NULL) != MO_OK)
        return false;
    right = mo_read_root(input, root, sizeof root, NULL) == MO_OK &&
            kind->root(root);
    mo_input_close(input);
    return right;
}

static char *join_path(const char *folder_path, const char *name)
{
    bool here = strcmp(folder_path, ".") == 0;
    size_t size = strlen(folder_path) + strlen(name) + 2;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s%s%s", here ? "" : folder_path, here ? "" : "/",
                 name);
    return path;
}

static mo_status test_listed(const folder *f, mo_file_search_test *test,
                             void *context, char **found, mo_error *err)
{
    for (size_t i = 0; i < f->n && i < MOST_OPENED; i++) {
        char *path = join_path(f->path, f->list[i].name);

        if (!path)
            return mo_fail_memory(err);
        if (looks_right(f->kind, path) && test(context, path)) {
            *found = path;
            return MO_OK;
        }
        free(path);
    }
    return MO_OK;
}

/* Folders to search, without duplicates. */
typedef struct places {
    char **path;
    struct stat *about;
    size_t n, room, about_room;
} places;

static mo_status add_place(places *p, const char *path, size_t length,
                           mo_error *err)
{
    char *copy = strndup(path, length);
    struct stat about;
    mo_status status = copy ? MO_OK : mo_fail_memory(err);
    bool known = status == MO_OK && stat(copy, &about) != 0;

    for (size_t i = 0; status == MO_OK && i < p->n && !known; i++)
        known = p->about[i].st_dev == about.st_dev &&
                p->about[i].st_ino == about.st_ino;
    if (status == MO_OK && !known)
        status = MO_ARRAY_GROW(p->path, p->n, p->room, err);
    if (status == MO_OK && !known)
        status = MO_ARRAY_GROW(p->about, p->n, p->about_room, err);
    if (status != MO_OK || known) {
        free(copy);
        return status;
    }
    p->about[p->n] = about;
    p->path[p->n++] = copy;
    return MO_OK;
}

static mo_status add_beside(places *p, const char *file, mo_error *err)
{
    char *copy;
    const char *path;
    mo_status status;

    if (!file || strcmp(file, "-") == 0)
        return MO_OK;
    copy = strdup(file);
    if (!copy)
        return mo_fail_memory(err);
    path = dirname(copy);
    status = add_place(p, path, strlen(path), err);
    free(copy);
    return status;
}

static mo_status add_paths(places *p, const char *list, mo_error *err)
{
    mo_status status = MO_OK;

    while (list && *list && status == MO_OK) {
        size_t length = strcspn(list, ":");

        if (length > 0)
            status = add_place(p, list, length, err);
        list += length + (list[length] == ':');
    }
    return status;
}

mo_status mo_file_search(const char *beside, const char *other,
                         const mo_file_search_spec *kind,
                         mo_file_search_test *test, void *context, char **path,
                         mo_error *err)
{
    places p = { 0 };
    mo_status status = add_beside(&p, beside, err);

    if (status == MO_OK)
        status = add_beside(&p, other, err);
    if (status == MO_OK)
        status = add_place(&p, ".", 1, err);
    if (status == MO_OK)
        status = add_paths(&p, getenv("MOIRAI_PATH"), err);
    *path = NULL;
    for (size_t i = 0; i < p.n && status == MO_OK && !*path; i++) {
        folder f = { .path = p.path[i], .beside = beside, .kind = kind };

        status = list_folder(&f, err);
        if (status == MO_OK)
            status = test_listed(&f, test, context, path, err);
        free_list(&f);
    }
    for (size_t i = 0; i < p.n; i++)
        free(p.path[i]);
    free(p.path);
    free(p.about);
    return status;
}
