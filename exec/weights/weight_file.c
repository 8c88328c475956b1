/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights in memory-mapped files, by location "file:offset:size:dtype:shape".
 */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/beneath.h"
#include "base/compress.h"
#include "base/digest.h"
#include "base/number.h"
#include "exec/weights/constants_internal.h"
#include "graph/dtype.h"
#include "solvers/process/path_util.h"

/* "file:offset:size:dtype:shape", parsed. */
typedef struct weight_location {
    const char *file;
    size_t file_length;
    int64_t offset, size;
    mo_tensor_desc desc;
} weight_location;

static bool read_number(const char *from, const char *end, int64_t *number)
{
    return mo_number_read_int(from, (size_t) (end - from), number) ==
               MO_NUMBER_OK &&
           *number >= 0;
}

static mo_status fail_location(const mo_op *op, mo_error *err)
{
    return mo_fail_at(err, MO_E_INPUT, NULL, op->line,
                      "constant '%.80s' has weights '%.80s', which are not "
                      "file:offset:size:dtype:shape; export the graph again",
                      op->name, op->weights);
}

static mo_status parse_type(const mo_op *op, const char *text, size_t length,
                            mo_elem *elem, mo_error *err)
{
    const char *dtype = mo_dtype_find(text, length);

    if (dtype && mo_elem_from_name(dtype, elem))
        return MO_OK;
    return mo_fail_at(err, MO_E_SUPPORT, NULL, op->line,
                      "constant '%.80s' has elements of type '%.*s', which "
                      "cannot be run; export the model with another precision",
                      op->name, length > 40 ? 40 : (int) length, text);
}

static mo_status parse_location(const mo_op *op, weight_location *p,
                                mo_error *err)
{
    const char *text = op->weights, *end = text + strlen(text);
    const char *colon[4]; /* behind file, offset, size, dtype */

    /* From the end: a file's name may have colons, too. */
    for (int i = 3; i >= 0; i--) {
        const char *behind = i == 3 ? end : colon[i + 1];

        while (behind > text && behind[-1] != ':')
            behind--;
        if (behind == text)
            return fail_location(op, err);
        colon[i] = behind - 1;
    }
    p->file = text;
    p->file_length = (size_t) (colon[0] - text);
    if (p->file_length == 0 ||
        !read_number(colon[0] + 1, colon[1], &p->offset) ||
        !read_number(colon[1] + 1, colon[2], &p->size) ||
        mo_shape_read(colon[3] + 1, (size_t) (end - colon[3] - 1),
                      &p->desc.shape) != MO_SHAPE_OK)
        return fail_location(op, err);
    return parse_type(op, colon[2] + 1, (size_t) (colon[3] - colon[2] - 1),
                      &p->desc.elem, err);
}

mo_status mo_weights_stored_desc(const mo_op *op, mo_tensor_desc *desc,
                                 mo_error *err)
{
    weight_location p;
    mo_status status = parse_location(op, &p, err);

    if (status == MO_OK)
        *desc = p.desc;
    return status;
}

static char *join_path(const char *folder, const char *name)
{
    return !folder || folder[0] == '\0' || name[0] == '/'
               ? strdup(name)
               : mo_path_format("%s/%s", folder, name);
}

/* The place that the caller gave for a file; NULL: beside the graph. */
static const mo_weights_source *find_source(const mo_weights_store *c,
                                            const char *name)
{
    for (size_t i = 0; i < c->options.n_sources; i++)
        if (strcmp(c->options.sources[i].name, name) == 0)
            return &c->options.sources[i];
    return NULL;
}

/* Other files that are missing, too, so that one error names them all. */
static void list_missing(const mo_weights_store *c, const mo_weights_file *file,
                         char *text, size_t size)
{
    const mo_graph *g = c->graph;
    weight_location p, last = { .file = "" };
    size_t used = 0;

    for (int i = g->n_ops; i < g->n_ops + g->n_constants && used < size; i++) {
        char name[256], *path;

        if (!g->ops[i].weights ||
            parse_location(&g->ops[i], &p, NULL) != MO_OK ||
            p.file_length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int) p.file_length, p.file);
        if (strcmp(name, file->name) == 0 || find_source(c, name) ||
            (p.file_length == last.file_length &&
             memcmp(p.file, last.file, p.file_length) == 0))
            continue;
        last = p;
        path = join_path(c->options.folder, name);
        if (path && access(path, F_OK) != 0 && !strstr(text, name))
            used += (size_t) snprintf(text + used, size - used, "%s%s",
                                      used > 0 ? ", " : "; so are ", name);
        free(path);
    }
}

mo_status mo_weights_fail_outside(const char *name, const char *outside,
                                  const char *file, int line, mo_error *err)
{
    const char *slash = strrchr(outside, '/');
    int folder = slash && slash > outside ? (int) (slash - outside) : 1;

    return mo_fail_at(err, MO_E_INPUT, file, line,
                      "weights of '%.80s' are in %.300s, outside of the "
                      "graph's folder: give --weights-from %.*s",
                      name, outside, folder, outside);
}

mo_status mo_weights_open_allowed(const mo_weights_options *options,
                                  const char *path, int *fd, char **outside,
                                  mo_error *err)
{
    size_t n = options->packed ? 0 : options->n_allowed;
    const char **folders = malloc((n + 1) * sizeof *folders);
    mo_status status =
        folders ? mo_compress_check_plain(path, err) : mo_fail_memory(err);
    int saved;

    *outside = NULL;
    if (status == MO_OK) {
        folders[0] = options->folder ? options->folder : "";
        if (n > 0)
            memcpy(folders + 1, options->allowed, n * sizeof *folders);
        *fd = mo_beneath_open(path, folders, n + 1, outside);
        if (*fd < 0 && !*outside)
            status = mo_fail_errno(err, path, "cannot open");
    }
    saved = errno;
    free(folders);
    errno = saved;
    return status;
}

static mo_status map_allowed(const mo_weights_store *c, const mo_op *op,
                             mo_weights_file *file, mo_error *err)
{
    char *outside = NULL;
    int fd = -1;
    mo_status status =
        mo_weights_open_allowed(&c->options, file->path, &fd, &outside, err);

    if (outside)
        status =
            c->options.packed
                ? mo_fail_at(
                      err, MO_E_INPUT, NULL, op->line,
                      "weights of '%.80s' are in %.300s, which the bundle does "
                      "not contain; pack it again",
                      op->name, outside)
                : mo_weights_fail_outside(op->name, outside, NULL, op->line,
                                          err);
    else if (status == MO_OK)
        status = mo_mmap_file_open_fd(fd, file->path, &file->mapped, err);
    free(outside);
    return status;
}

static mo_status open_file(mo_weights_store *c, const mo_op *op,
                           mo_weights_file *file, mo_error *err)
{
    const mo_weights_source *from = find_source(c, file->name);
    char others[400] = "";
    mo_status status;

    errno = 0;
    status = from ? mo_mmap_file_open_part(file->path, from->offset, from->size,
                                           &file->mapped, err)
                  : map_allowed(c, op, file, err);
    if (status == MO_OK)
        return MO_OK;
    file->missing = status == MO_E_IO && errno == ENOENT;
    if (file->missing && c->options.random)
        return MO_OK;
    if (!file->missing)
        return status;
    list_missing(c, file, others, sizeof others);
    return mo_fail_at(err, MO_E_IO, file->path, 0,
                      "is missing, and the values of constants with it%s; put "
                      "it there, or run with --random-weights",
                      others);
}

/* Takes the mapping of the file from another store that has it. */
static bool find_shared(const mo_weights_store *c, mo_weights_file *file)
{
    for (const mo_weights_store *s = c->options.share; s; s = s->options.share)
        for (size_t i = 0; i < s->n_files; i++)
            if (!s->files[i].missing &&
                strcmp(s->files[i].path, file->path) == 0) {
                file->mapped = s->files[i].mapped;
                file->is_shared = true;
                return true;
            }
    return false;
}

static mo_status add_file(mo_weights_store *c, const mo_op *op,
                          const weight_location *p, mo_weights_file **file,
                          mo_error *err)
{
    mo_weights_file new = { .name = mo_arena_text(c->arena, p->file,
                                                  p->file_length) };
    const mo_weights_source *from;
    mo_status status =
        new.name ? MO_ARRAY_GROW(c->files, c->n_files, c->files_room, err)
                 : mo_fail_memory(err);

    if (status != MO_OK)
        return status;
    from = find_source(c, new.name);
    new.path =
        from ? strdup(from->path) : join_path(c->options.folder, new.name);
    if (!new.path)
        return mo_fail_memory(err);
    if (!find_shared(c, &new))
        status = open_file(c, op, &new, err);
    if (status != MO_OK) {
        free(new.path);
        return status;
    }
    c->files[c->n_files] = new;
    *file = &c->files[c->n_files++];
    return MO_OK;
}

static mo_status find_file(mo_weights_store *c, const mo_op *op,
                           const weight_location *p, mo_weights_file **file,
                           mo_error *err)
{
    for (size_t i = 0; i < c->n_files; i++)
        if (strlen(c->files[i].name) == p->file_length &&
            memcmp(c->files[i].name, p->file, p->file_length) == 0) {
            *file = &c->files[i];
            return MO_OK;
        }
    return add_file(c, op, p, file, err);
}

void mo_weights_close_files(mo_weights_store *c)
{
    for (size_t i = 0; i < c->n_files; i++) {
        if (!c->files[i].is_shared)
            mo_mmap_file_close(&c->files[i].mapped);
        free(c->files[i].path);
    }
    free(c->files);
}

mo_status mo_weights_file_is_missing(mo_weights_store *c, const mo_op *op,
                                     bool *missing, mo_error *err)
{
    mo_weights_file *file = NULL;
    weight_location p;
    mo_status status = parse_location(op, &p, err);

    if (status == MO_OK)
        status = find_file(c, op, &p, &file, err);
    if (status == MO_OK)
        *missing = file->missing;
    return status;
}

static mo_status check_location(const mo_op *op, const weight_location *p,
                                const mo_weights_file *file,
                                const mo_tensor_desc *desc, mo_error *err)
{
    char wanted[MO_TENSOR_DESC_TEXT_SIZE];
    int64_t bytes = mo_tensor_desc_bytes(desc);

    /* OpenVINO stores one byte for a tensor without elements. */
    if (!mo_tensor_desc_equal(desc, &p->desc) ||
        (p->size != bytes && !(bytes == 0 && p->size == 1)))
        return mo_fail_at(err, MO_E_INPUT, file->path, 0,
                          "constant '%.80s' has %lld bytes there, which are "
                          "not its %s; export the model again",
                          op->name, (long long) p->size,
                          mo_tensor_desc_format(desc, wanted));
    if (p->offset > INT64_MAX - p->size ||
        (uint64_t) (p->offset + p->size) > file->mapped.size)
        return mo_fail_at(err, MO_E_INPUT, file->path, 0,
                          "is too short: constant '%.80s' is at byte %lld and "
                          "%lld bytes long, the file has %zu; copy it again, "
                          "or run with --random-weights without it",
                          op->name, (long long) p->offset, (long long) p->size,
                          file->mapped.size);
    return MO_OK;
}

/* Tensors of more bytes stay in the file although they are not aligned: they
 * are weights that kernels pack, and no copy of them is held. */
enum { MAX_COPIED_BYTES = 1 << 20 };

/* Returns whether the mapped bytes can be used in place: aligned for
 * the type or large, and booleans 0 or 1. */
static bool is_usable_in_place(const mo_tensor_desc *desc,
                               const unsigned char *data)
{
    int64_t n = mo_tensor_desc_elements(desc);

    if ((uintptr_t) data % mo_elem_size(desc->elem) != 0)
        return mo_elem_is_float(desc->elem) &&
               mo_tensor_desc_bytes(desc) > MAX_COPIED_BYTES;
    for (int64_t i = 0; i < n && desc->elem == MO_ELEM_BOOL; i++)
        if (data[i] > 1)
            return false;
    return true;
}

mo_status mo_weights_from_file(mo_weights_store *c, const mo_op *op,
                               const mo_tensor_desc *desc,
                               mo_tensor_dense *value, bool *missing,
                               mo_error *err)
{
    mo_weights_file *file = NULL;
    const unsigned char *data;
    weight_location p;
    mo_status status = parse_location(op, &p, err);

    *missing = false;
    if (status == MO_OK)
        status = find_file(c, op, &p, &file, err);
    if (status != MO_OK)
        return status;
    *missing = file->missing;
    if (*missing)
        return MO_OK;
    status = check_location(op, &p, file, desc, err);
    if (status != MO_OK)
        return status;
    if (mo_tensor_desc_bytes(desc) == 0)
        return mo_tensor_new(desc, value, err);
    data = (const unsigned char *) file->mapped.data + p.offset;
    if (!is_usable_in_place(desc, data)) {
        status = mo_tensor_new(desc, value, err);
        size_t bytes = (size_t) mo_tensor_desc_bytes(desc);
        unsigned char *to = value->data;

        if (status != MO_OK)
            return status;
        if (bytes > 0)
            memcpy(to, data, bytes);
        for (size_t i = 0; i < bytes && desc->elem == MO_ELEM_BOOL; i++)
            to[i] = to[i] != 0;
        return MO_OK;
    }
    *value = (mo_tensor_dense){ *desc, (void *) (uintptr_t) data, false };
    return MO_OK;
}

uint64_t mo_weights_fingerprint(mo_weights_store *constants)
{
    const mo_graph *g = constants->graph;
    uint64_t sum = 0;
    bool missing;

    /* Errors are reported when the value is read. */
    for (int i = 0; i < g->n_constants; i++)
        if (g->ops[g->n_ops + i].weights)
            (void) mo_weights_file_is_missing(constants, &g->ops[g->n_ops + i],
                                              &missing, NULL);
    /* A sum, since files are opened in any order. */
    for (size_t i = 0; i < constants->n_files; i++)
        sum += constants->files[i].missing
                   ? UINT64_MAX
                   : mo_digest_sample(constants->files[i].mapped.data,
                                      constants->files[i].mapped.size);
    return sum;
}
