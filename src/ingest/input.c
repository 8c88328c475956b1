/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ingest/input.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"

struct mo_input {
    const char *name;  /* for errors */
    char *made_name;   /* of a file in the folder that was given, or NULL */
    mo_reader *reader; /* NULL when the bytes are in memory */
    char *block;       /* of the reader */
    const char *data;  /* in memory, also compressed; else NULL */
    size_t n_data;
    const char *rest; /* in memory: the bytes not returned yet */
    size_t n_rest;
    bool begun;
    bool is_checked;    /* what it begins with may be XML, or need not be */
    const char *peeked; /* the first block, after mo_input_peek() */
    size_t n_peeked;
    char **files; /* name, and others read for it; or none; owned */
    size_t n_files, files_room;
};

const char *mo_input_name(const mo_input *input)
{
    return input->name;
}

/* Takes ownership of reader, which may be NULL. */
static mo_status input_new(const char *name, mo_reader *reader,
                           mo_input **input, mo_error *err)
{
    mo_input *made = calloc(1, sizeof *made);
    char *block = reader ? malloc(MO_INPUT_BLOCK) : NULL;

    if (!made || (reader && !block)) {
        free(made);
        free(block);
        mo_reader_close(reader);
        return mo_fail_memory(err);
    }
    *made = (mo_input){ .name = name, .reader = reader, .block = block };
    *input = made;
    return MO_OK;
}

/* Sets *file to config.json in the folder path, for the caller to free; NULL
 * where path is no folder that has one. */
static mo_status find_config(const char *path, char **file, mo_error *err)
{
    struct stat about;

    *file = NULL;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return MO_OK;
    *file = malloc(strlen(path) + sizeof "/config.json");
    if (!*file)
        return mo_fail_memory(err);
    strcpy(*file, path);
    strcat(*file, "/config.json");
    if (stat(*file, &about) == 0)
        return MO_OK;
    free(*file);
    *file = NULL;
    return MO_OK;
}

mo_status mo_input_open(const char *path, mo_input **input, mo_error *err)
{
    char *file = NULL;
    mo_reader *reader = NULL;
    mo_status status = find_config(path, &file, err);

    if (status == MO_OK)
        status = mo_reader_open(file ? file : path, &reader, err);
    if (status == MO_OK)
        status = input_new(mo_reader_name(reader), reader, input, err);
    if (status == MO_OK)
        (*input)->made_name = file;
    else
        free(file);
    return status;
}

mo_status mo_input_memory(const char *name, const char *data, size_t size,
                          mo_input **input, mo_error *err)
{
    mo_reader *reader = NULL;
    mo_status status = mo_reader_sniff(data, size)
                           ? mo_reader_memory(name, data, size, &reader, err)
                           : MO_OK;

    if (status == MO_OK)
        status = input_new(name, reader, input, err);
    if (status == MO_OK) {
        (*input)->data = (*input)->rest = data;
        (*input)->n_data = (*input)->n_rest = size;
    }
    return status;
}

mo_status mo_input_reopen(const mo_input *input, mo_input **again,
                          mo_error *err)
{
    if (input->data)
        return mo_input_memory(input->name, input->data, input->n_data, again,
                               err);
    if (strcmp(input->name, MO_READER_STDIN) == 0)
        return mo_fail_at(err, MO_E_USAGE, input->name, 0,
                          "can be read only once; give a file");
    return mo_input_open(input->name, again, err);
}

void mo_input_close(mo_input *input)
{
    if (!input)
        return;
    mo_reader_close(input->reader);
    free(input->made_name);
    for (size_t i = 0; i < input->n_files; i++)
        free(input->files[i]);
    free(input->files);
    free(input->block);
    free(input);
}

static mo_status add_file(mo_input *input, const char *path, mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(input->files, input->n_files, input->files_room, err);

    if (status != MO_OK)
        return status;
    input->files[input->n_files] = strdup(path);
    if (!input->files[input->n_files])
        return mo_fail_memory(err);
    input->n_files++;
    return MO_OK;
}

mo_status mo_input_note_file(mo_input *input, const char *path, mo_error *err)
{
    mo_status status = MO_OK;

    if (input->n_files == 0)
        status = add_file(input, input->name, err);
    return status == MO_OK ? add_file(input, path, err) : status;
}

const char *const *mo_input_files(const mo_input *input, int *n)
{
    *n = input->n_files > 0 ? (int) input->n_files : 1;
    return input->n_files > 0 ? (const char *const *) input->files
                              : (const char *const *) &input->name;
}

/* Signatures of files that are often given in place of XML. */
static const struct {
    const char *bytes;
    size_t length;
    const char *what;
} signatures[] = {
    { "PK\x03\x04", 4,
      "a zip archive; a torch.export program (.pt2) is converted by "
      "moirai-export, a PyTorch checkpoint (.pt) has weights without a "
      "network: export its module with moirai-export FILE.py:NAME, or save it "
      "as ONNX" },
    { "\x80\x02", 2,
      "a pickle, perhaps a PyTorch checkpoint, which has weights without a "
      "network: export its module with moirai-export FILE.py:NAME, or save it "
      "as ONNX" },
    { "\x89HDF", 4,
      "an HDF5 file; a Keras model is converted with tf2onnx, and its .onnx is "
      "given here" },
    { "\x93NUMPY", 6, "a NumPy array, not XML" },
    { "\x08\x01\x12", 3,
      "a TensorFlow SavedModel; convert it with tf2onnx, and give its .onnx "
      "here" },
    { "\x08", 1, "not XML; it looks like an ONNX model" },
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

static bool is_config(const char *name)
{
    const char *slash = strrchr(name, '/');

    return strcmp(slash ? slash + 1 : name, "config.json") == 0;
}

/* XML is kept in memory, so that its size is limited. */
static mo_status refuse_what_is_no_xml(mo_input *input, const char *data,
                                       size_t size, mo_error *err)
{
    if (input->is_checked)
        return MO_OK;
    input->is_checked = true;
    if (input->reader)
        mo_reader_limit_to_memory(input->reader);
    if (size == 0)
        return mo_fail_at(err, MO_E_SYNTAX, input->name, 0,
                          "is empty; it was perhaps never written");
    if (size >= 8 && memcmp(data + 4, "TFL3", 4) == 0)
        return mo_fail_at(err, MO_E_SYNTAX, input->name, 0,
                          "is a TensorFlow Lite model; convert it with "
                          "tf2onnx, and give its .onnx here");
    if (size >= 10 && memcmp(data + 6, "\0\0{\"", 4) == 0)
        return mo_fail_at(err, MO_E_SYNTAX, input->name, 0,
                          "is a safetensors file; give its folder, which has "
                          "a config.json");
    if (size > 0 && data[0] == '{' && is_config(input->name))
        return mo_fail_at(err, MO_E_SYNTAX, input->name, 0,
                          "lacks model_type, which the config.json of a model "
                          "of transformers has");
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

    if (input->reader) {
        status = mo_reader_read(input->reader, input->block, MO_INPUT_BLOCK,
                                size, err);
        *data = input->block;
    } else {
        *size = input->n_rest < MO_INPUT_BLOCK ? input->n_rest : MO_INPUT_BLOCK;
        *data = input->rest;
        input->rest += *size;
        input->n_rest -= *size;
    }
    input->begun = true;
    return status;
}

mo_status mo_input_sample(mo_input *input, const char **data, size_t *size,
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

void mo_input_accept_binary(mo_input *input)
{
    input->is_checked = true;
}

mo_status mo_input_peek(mo_input *input, const char **data, size_t *size,
                        mo_error *err)
{
    mo_status status = mo_input_sample(input, data, size, err);

    return status == MO_OK ? refuse_what_is_no_xml(input, *data, *size, err)
                           : status;
}

mo_status mo_input_next(mo_input *input, const char **data, size_t *size,
                        mo_error *err)
{
    mo_status status = MO_OK;

    if (input->peeked) {
        *data = input->peeked;
        *size = input->n_peeked;
        input->peeked = NULL;
    } else {
        status = next_block(input, data, size, err);
    }
    return status == MO_OK ? refuse_what_is_no_xml(input, *data, *size, err)
                           : status;
}
