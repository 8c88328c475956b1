/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/minmax.h"
#include "base/number.h"
#include "base/reader.h"
#include "coarsen/fusion_rules.h"
#include "cost/cluster.h"
#include "solvers/process/decompress.h"

enum { MOST_MANIFEST = 1 << 24 };

/* Pipes are not opened: what is read there is lost to others. */
static bool is_file(const char *path)
{
    struct stat about;

    return strcmp(path, "-") != 0 && stat(path, &about) == 0 &&
           S_ISREG(about.st_mode);
}

/* Returns whether there are size bytes at offset; errno is 0 when the file
 * ends before. */
static bool read_at(int fd, char *to, size_t size, off_t offset)
{
    size_t n = 0;
    ssize_t got = 1;

    while (n < size && (got > 0 || (got < 0 && errno == EINTR))) {
        got = pread(fd, to + n, size - n, offset + (off_t) n);
        n += got > 0 ? (size_t) got : 0;
    }
    if (got == 0)
        errno = 0;
    return n == size;
}

/* Opens the file if it is a tar archive; -1: it is not. */
static int open_archive(const char *path)
{
    char block[MO_TAR_BLOCK];
    int fd = mo_open_nonblocking(path);

    if (fd >= 0 && read_at(fd, block, sizeof block, 0) && mo_tar_sniff(block))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Decompresses the file into one that has lost its name: nothing of it remains
 * when the process ends in any way. */
static mo_status open_compressed(mo_bundle *b, mo_error *err)
{
    char *copy = NULL;
    mo_status status = MO_OK;

    /* Whether the file is a compressed archive. Damage is reported when it is
     * read. */
    mo_reader *reader = NULL;
    char block[MO_TAR_BLOCK];
    bool packed = false;
    size_t got = 0;

    if (mo_reader_open(b->file, &reader, NULL) == MO_OK &&
        mo_reader_is_packed(reader, &packed, NULL) == MO_OK && packed)
        (void) mo_reader_read(reader, block, sizeof block, &got, NULL);
    mo_reader_close(reader);
    if (!(got == sizeof block && mo_tar_sniff(block)))
        return MO_OK;
    status = mo_workdir_new(&b->folder, err);
    if (status == MO_OK) {
        copy = mo_workdir_file(b->folder, "bundle.tar");
        status = copy ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK)
        status = mo_decompress_file(b->file, copy, err);
    if (status == MO_OK)
        b->fd = open_archive(copy);
    if (copy)
        unlink(copy);
    free(copy);
    return status;
}

/* Finds out whether it is an archive: then b->fd is open. */
static mo_status open_file(mo_bundle *b, mo_error *err)
{
    mo_status status = MO_OK;

    b->fd = open_archive(b->file);
    if (b->fd >= 0) {
        b->path = strdup(b->file);
    } else {
        status = open_compressed(b, err);
        if (status == MO_OK && b->fd >= 0)
            b->path = mo_path_format("/proc/self/fd/%d", b->fd);
    }
    if (status == MO_OK && b->fd >= 0 && !b->path)
        status = mo_fail_memory(err);
    return status;
}

/* Extracts the member of that name, and sets *path to the file. */
static mo_status unpack(mo_bundle *b, const char *name, char **path,
                        mo_error *err)
{
    const mo_tar_member *member = mo_tar_find(&b->index, name);
    char *to = NULL;
    mo_status status;

    if (!member)
        return mo_fail_at(err, MO_E_INPUT, b->file, 0,
                          "lists '%.100s' and does not contain it", name);
    if (*path)
        return mo_fail_at(err, MO_E_INPUT, b->file, 0,
                          "lists a second input of one kind, '%.100s'", name);
    to = mo_workdir_file(b->folder, name);
    status = mo_path_list_append(&b->unpacked, to, err);
    if (status != MO_OK)
        return status;
    mo_cleanup_register(to);
    status = mo_tar_extract(b->fd, b->file, member, to, err);
    if (status != MO_OK)
        return status;
    *path = strdup(to);
    return *path ? MO_OK : mo_fail_memory(err);
}

/* "DIGEST BYTES NAME", and perhaps a line "packed MEMBER" later. */
static mo_status add_weights(mo_bundle *b, char *text, mo_error *err)
{
    mo_bundle_weights made = { 0 };
    char *bytes = strchr(text, ' '),
         *name = bytes ? strchr(bytes + 1, ' ') : NULL;
    mo_status status;

    if (!name || bytes != text + 16 || strspn(text, "0123456789abcdef") != 16 ||
        mo_number_read_int(bytes + 1, (size_t) (name - bytes - 1),
                           &made.size) != MO_NUMBER_OK ||
        made.size < 0)
        return mo_fail_at(err, MO_E_SYNTAX, b->file, 0,
                          "weights are not DIGEST BYTES NAME: '%.100s'", text);
    made.digest = strtoull(text, NULL, 16);
    status = MO_ARRAY_GROW(b->weights, b->n_weights, b->weights_room, err);
    if (status != MO_OK)
        return status;
    made.name = strdup(name + 1);
    if (!made.name)
        return mo_fail_memory(err);
    b->weights[b->n_weights++] = made;
    return MO_OK;
}

static bool is_cluster_name(const char *name)
{
    return mo_cluster_builtin_find(name) != NULL;
}

static bool is_cost_name(const char *name)
{
    return !strchr(name, '/') && strncmp(name, "roofline:", 9) != 0;
}

/* Names of built-in inputs and cost models name no file: a bundle has no
 * access to the files beside it. */
static mo_status set_name(const mo_bundle *b, char **to, const char *text,
                          bool (*is_built_in)(const char *), mo_error *err)
{
    if (*to || !is_built_in(text))
        return mo_fail_at(err, MO_E_INPUT, b->file, 0,
                          "lists '%.100s', which is a file or a second one",
                          text);
    *to = strdup(text);
    return *to ? MO_OK : mo_fail_memory(err);
}

static mo_status take_line(mo_bundle *b, char *line, mo_error *err)
{
    const struct {
        const char *key;
        char **path;
    } files[] = { { "solution", &b->solution }, { "graph", &b->graph },
                  { "cluster", &b->cluster },   { "profile", &b->profile },
                  { "fusion", &b->fusion },     { "cost-file", &b->cost } };
    char *value = strchr(line, ' ');

    if (!value)
        return mo_fail_at(err, MO_E_SYNTAX, b->file, 0,
                          "%s has a line '%.100s', which is no input",
                          MO_BUNDLE_MANIFEST, line);
    *value++ = '\0';
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(line, files[i].key) == 0)
            return unpack(b, value, files[i].path, err);
    if (strcmp(line, "cluster-name") == 0)
        return set_name(b, &b->cluster, value, is_cluster_name, err);
    if (strcmp(line, "fusion-name") == 0)
        return set_name(b, &b->fusion, value, mo_fusion_rules_is_set, err);
    if (strcmp(line, "cost") == 0)
        return set_name(b, &b->cost, value, is_cost_name, err);
    if (strcmp(line, "shape") == 0)
        return mo_path_list_append(&b->shapes, strdup(value), err);
    if (strcmp(line, "value") == 0)
        return mo_path_list_append(&b->values, strdup(value), err);
    if (strcmp(line, "weights") == 0)
        return add_weights(b, value, err);
    if (strcmp(line, "packed") == 0) {
        const mo_tar_member *member = mo_tar_find(&b->index, value);
        mo_bundle_weights *last =
            b->n_weights > 0 ? &b->weights[b->n_weights - 1] : NULL;

        if (!last || !member || last->member || member->size != last->size)
            return mo_fail_at(
                err, MO_E_INPUT, b->file, 0,
                "lists weights '%.100s', which it does not contain "
                "in that size",
                value);
        last->member = member;
        return MO_OK;
    }
    return mo_fail_at(err, MO_E_SUPPORT, b->file, 0,
                      "%s has a line '%.40s', which this version does not "
                      "know; was it packed by a later one?",
                      MO_BUNDLE_MANIFEST, line);
}

static mo_status read_manifest(mo_bundle *b, mo_error *err)
{
    const mo_tar_member *member = mo_tar_find(&b->index, MO_BUNDLE_MANIFEST);
    char *text;
    mo_status status;

    if (!member)
        return mo_fail_at(err, MO_E_INPUT, b->file, 0,
                          "is a tar archive without %s; moirai-exec --bundle "
                          "writes one with it",
                          MO_BUNDLE_MANIFEST);
    if (member->size > MOST_MANIFEST)
        return mo_fail_at(err, MO_E_LIMIT, b->file, 0, "%s is too large",
                          MO_BUNDLE_MANIFEST);
    text = calloc(1, (size_t) member->size + 1);
    if (!text)
        return mo_fail_memory(err);
    if (!read_at(b->fd, text, (size_t) member->size, (off_t) member->offset))
        status = errno ? mo_fail_errno(err, b->file, "cannot read")
                       : mo_fail_at(err, MO_E_IO, b->file, 0, "was cut off");
    else {
        bool first = true;
        char *next;

        status = MO_OK;
        for (char *line = text; line && *line && status == MO_OK; line = next) {
            next = strchr(line, '\n');
            if (next)
                *next++ = '\0';
            if (!first)
                status = take_line(b, line, err);
            else if (strcmp(line, MO_BUNDLE_FIRST_LINE) != 0)
                status =
                    mo_fail_at(err, MO_E_SUPPORT, b->file, 0,
                               "%s begins with '%.40s', not '%s'",
                               MO_BUNDLE_MANIFEST, line, MO_BUNDLE_FIRST_LINE);
            first = false;
        }
        if (status == MO_OK && !b->graph)
            status = mo_fail_at(err, MO_E_INPUT, b->file, 0,
                                "lists no graph in %s", MO_BUNDLE_MANIFEST);
    }
    free(text);
    return status;
}

/* roofline:FILE for the file that was unpacked. */
static mo_status name_cost(mo_bundle *b, mo_error *err)
{
    char *cost;

    if (!b->cost || b->cost[0] != '/')
        return MO_OK;
    cost = mo_path_format("roofline:%s", b->cost);
    free(b->cost);
    b->cost = cost;
    return cost ? MO_OK : mo_fail_memory(err);
}

mo_status mo_bundle_open(const char *path, mo_bundle **bundle, mo_error *err)
{
    mo_bundle *b = calloc(1, sizeof *b);
    mo_status status;

    *bundle = NULL;
    if (!b)
        return mo_fail_memory(err);
    if (!is_file(path)) {
        free(b);
        return MO_OK;
    }
    b->fd = -1;
    b->file = strdup(path);
    status = b->file ? open_file(b, err) : mo_fail_memory(err);
    if (status != MO_OK || b->fd < 0) {
        mo_bundle_close(b);
        return status;
    }
    status = mo_tar_index_read(b->fd, b->file, &b->index, err);
    if (status == MO_OK && !b->folder)
        status = mo_workdir_new(&b->folder, err);
    if (status == MO_OK)
        status = read_manifest(b, err);
    if (status == MO_OK)
        status = name_cost(b, err);
    if (status != MO_OK) {
        mo_bundle_close(b);
        return status;
    }
    *bundle = b;
    return MO_OK;
}

void mo_bundle_close(mo_bundle *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->unpacked.n; i++)
        mo_cleanup_unregister(b->unpacked.paths[i]);
    mo_workdir_free(b->folder);
    mo_path_list_clear(&b->unpacked);
    mo_path_list_clear(&b->shapes);
    mo_path_list_clear(&b->values);
    for (size_t i = 0; i < b->n_weights; i++)
        free(b->weights[i].name);
    free(b->weights);
    mo_tar_index_clear(&b->index);
    if (b->fd >= 0)
        close(b->fd);
    free(b->solution);
    free(b->graph);
    free(b->cluster);
    free(b->profile);
    free(b->fusion);
    free(b->cost);
    free(b->path);
    free(b->file);
    free(b);
}

static void set_open(const char **option, const char *value)
{
    if (!*option)
        *option = value;
}

static void set_open_list(mo_option_list *option, const mo_path_list *list)
{
    if (option->count == 0)
        *option =
            (mo_option_list){ .items = (const char **) (uintptr_t) list->paths,
                              .count = list->n };
}

void mo_bundle_apply(const mo_bundle *bundle, mo_prepare_options *options,
                     const char **graph, const char **path)
{
    set_open(&options->load.cluster, bundle->cluster);
    set_open(&options->load.profile, bundle->profile);
    set_open(&options->load.cost, bundle->cost);
    set_open(&options->fusion, bundle->fusion);
    *path = bundle->solution ? bundle->solution : bundle->graph;
    if (bundle->solution)
        set_open(graph, bundle->graph);
    set_open_list(&options->read.shapes, &bundle->shapes);
    set_open_list(&options->read.values, &bundle->values);
}

const char *mo_bundle_shown(const mo_bundle *bundle, const char *path)
{
    const char *folder = bundle ? mo_workdir_path(bundle->folder) : NULL;
    size_t length = folder ? strlen(folder) : 0;

    if (!folder || !path || strncmp(path, folder, length) != 0)
        return path;
    if (path[length] == '/')
        return path + length + 1;
    return path[length] ? path : bundle->file;
}

/* Replaces every "FOLDER/" in text by "FILE:". */
static void replace_folder(char *text, size_t size, const char *folder,
                           const char *file)
{
    size_t length = strlen(folder);
    char copy[MO_ERROR_TEXT_SIZE];
    const char *from = copy;
    size_t n = 0;

    snprintf(copy, sizeof copy, "%s", text);
    while (*from && n + 1 < size)
        if (strncmp(from, folder, length) == 0 && from[length] == '/') {
            int added = snprintf(text + n, size - n, "%s:", file);

            n = mo_min_size(n + (size_t) added, size - 1);
            from += length + 1;
        } else {
            text[n++] = *from++;
        }
    text[n] = '\0';
}

void mo_bundle_show_error(const mo_bundle *bundle, mo_error *err)
{
    const char *folder =
        bundle && bundle->folder ? mo_workdir_path(bundle->folder) : NULL;

    if (!folder || !err)
        return;
    replace_folder(err->file, sizeof err->file, folder, bundle->file);
    replace_folder(err->text, sizeof err->text, folder, bundle->file);
}
