/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ingest/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mo_input {
    const char *name; /* for errors */
    int fd;           /* -1 when the bytes are in memory */
    bool owns_fd;
    char *block;      /* of a file */
    const char *rest; /* in memory: the bytes not returned yet */
    size_t n_rest;
    bool begun;
    const char *peeked; /* the first block, after mo_input_peek() */
    size_t n_peeked;
};

const char *mo_input_name(const mo_input *input)
{
    return input->name;
}

static mo_status input_new(const char *name, mo_input **input, mo_error *err)
{
    mo_input *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->name = name;
    made->fd = -1;
    *input = made;
    return MO_OK;
}

static mo_status open_path(mo_input *input, const char *path, mo_error *err)
{
    struct stat about;

    if (strcmp(path, "-") == 0) {
        input->fd = STDIN_FILENO;
    } else {
        input->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (input->fd < 0)
            return mo_fail_errno(err, input->name, "cannot open");
        input->owns_fd = true;
    }
    if (fstat(input->fd, &about) == 0 && S_ISDIR(about.st_mode))
        return mo_fail_at(err, MO_E_IO, input->name, 0,
                          "is a directory; give a file in it");
    return MO_OK;
}

mo_status mo_input_open(const char *path, mo_input **input, mo_error *err)
{
    mo_input *made = NULL;
    const char *name = strcmp(path, "-") == 0 ? MO_INPUT_STDIN : path;
    mo_status status = input_new(name, &made, err);

    if (status == MO_OK)
        status = open_path(made, path, err);
    if (status == MO_OK) {
        made->block = malloc(MO_INPUT_BLOCK);
        if (!made->block)
            status = mo_fail_memory(err);
    }
    if (status != MO_OK) {
        mo_input_close(made);
        return status;
    }
    *input = made;
    return MO_OK;
}

mo_status mo_input_memory(const char *name, const char *data, size_t size,
                          mo_input **input, mo_error *err)
{
    mo_status status = input_new(name, input, err);

    if (status == MO_OK) {
        (*input)->rest = data;
        (*input)->n_rest = size;
    }
    return status;
}

void mo_input_close(mo_input *input)
{
    if (!input)
        return;
    if (input->owns_fd)
        close(input->fd);
    free(input->block);
    free(input);
}

static mo_status fill_block(mo_input *input, size_t *size, mo_error *err)
{
    size_t n = 0;

    while (n < MO_INPUT_BLOCK) {
        ssize_t got = read(input->fd, input->block + n, MO_INPUT_BLOCK - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mo_fail_errno(err, input->name, "cannot read");
        if (got == 0)
            break;
        n += (size_t) got;
    }
    *size = n;
    return MO_OK;
}

static void take_from_memory(mo_input *input, const char **data, size_t *size)
{
    *size = input->n_rest < MO_INPUT_BLOCK ? input->n_rest : MO_INPUT_BLOCK;
    *data = input->rest;
    input->rest += *size;
    input->n_rest -= *size;
}

/* Signatures of files that are often given in place of XML. */
static const struct {
    const char *bytes;
    size_t length;
    const char *what;
} signatures[] = {
    { "\x1f\x8b", 2, "compressed with gzip; unpack it first (gunzip)" },
    { "\x28\xb5\x2f\xfd", 4, "compressed with zstd; unpack it first (unzstd)" },
    { "\3757zXZ", 5, "compressed with xz; unpack it first (unxz)" },
    { "BZh", 3, "compressed with bzip2; unpack it first (bunzip2)" },
    { "\x04\x22\x4d\x18", 4, "compressed with lz4; unpack it first (unlz4)" },
    { "PK\x03\x04", 4,
      "a zip archive; unpack it first (a PyTorch model is one, too: "
      "export it to OpenVINO IR or GraphML)" },
    { "\x89HDF", 4, "an HDF5 file, not XML" },
    { "\x93NUMPY", 6, "a NumPy array, not XML" },
    { "\x08", 1,
      "not XML; it looks like an ONNX model: convert it to OpenVINO IR or "
      "GraphML first" },
    { "{", 1, "JSON, not XML" },
    { "[", 1, "JSON, not XML" },
};

/* Text of two or four bytes a character is full of zeros, and libxml2 decodes
 * it: it begins with a byte order mark, or with a '<' next to a zero. */
static bool is_wide(const char *data, size_t size)
{
    if (size < 4)
        return false;
    return memcmp(data, "\xfe\xff", 2) == 0 ||
           memcmp(data, "\xff\xfe", 2) == 0 ||
           (memchr(data, 0, 2) && memchr(data, '<', 4));
}

static mo_status refuse_what_is_no_xml(const mo_input *input, const char *data,
                                       size_t size, mo_error *err)
{
    if (size == 0)
        return mo_fail_at(err, MO_E_SYNTAX, input->name, 0,
                          "is empty; it was perhaps never written");
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (size >= signatures[i].length &&
            memcmp(data, signatures[i].bytes, signatures[i].length) == 0)
            return mo_fail_at(err, MO_E_SYNTAX, input->name, 0, "is %s",
                              signatures[i].what);
    if (memchr(data, 0, size) && !is_wide(data, size))
        return mo_fail_at(err, MO_E_SYNTAX, input->name, 0,
                          "is binary data, not XML; if these are a model's "
                          "weights, give the .xml beside them");
    return MO_OK;
}

static mo_status next_block(mo_input *input, const char **data, size_t *size,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (input->fd < 0) {
        take_from_memory(input, data, size);
    } else {
        status = fill_block(input, size, err);
        *data = input->block;
    }
    if (status == MO_OK && !input->begun)
        status = refuse_what_is_no_xml(input, *data, *size, err);
    input->begun = true;
    return status;
}

mo_status mo_input_peek(mo_input *input, const char **data, size_t *size,
                        mo_error *err)
{
    mo_status status = MO_OK;

    assert(input->peeked || !input->begun);
    if (!input->peeked)
        status = next_block(input, &input->peeked, &input->n_peeked, err);
    *data = input->peeked;
    *size = input->n_peeked;
    return status;
}

mo_status mo_input_next(mo_input *input, const char **data, size_t *size,
                        mo_error *err)
{
    if (!input->peeked)
        return next_block(input, data, size, err);
    *data = input->peeked;
    *size = input->n_peeked;
    input->peeked = NULL;
    return MO_OK;
}
