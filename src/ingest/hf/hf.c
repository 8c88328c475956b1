/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/hf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/reader.h"
#include "ingest/hf/hf_model.h"
#include "ingest/llm/llm_graph.h"

enum { MAX_CONFIG = 1 << 24, MAX_FILES = 10000 };

#define INDEX  "model.safetensors.index.json"
#define SINGLE "model.safetensors"

static bool contains(const char *data, size_t size, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= size; i++)
        if (data[i] == word[0] && memcmp(data + i, word, n) == 0)
            return true;
    return false;
}

bool mo_hf_sniff(const char *data, size_t size)
{
    return size > 0 && data[0] == '{' && !memchr(data, 0, size) &&
           (contains(data, size, "\"model_type\"") ||
            contains(data, size, "\"architectures\""));
}

/* Reads all of input, with a 0 behind it; the caller frees *text. */
static mo_status read_all(mo_input *input, char **text, size_t *size,
                          mo_error *err)
{
    const char *data;
    size_t n = 0;
    mo_status status = MO_OK;

    *text = malloc(1);
    *size = 0;
    while (*text && status == MO_OK) {
        char *grown;

        status = mo_input_next(input, &data, &n, err);
        if (status != MO_OK || n == 0)
            break;
        if (*size + n > MAX_CONFIG)
            return mo_fail_at(err, MO_E_LIMIT, mo_input_name(input), 0,
                              "has more than %d bytes", MAX_CONFIG);
        grown = realloc(*text, *size + n + 1);
        if (!grown)
            return mo_fail_memory(err);
        *text = grown;
        memcpy(*text + *size, data, n);
        *size += n;
    }
    if (!*text)
        return mo_fail_memory(err);
    (*text)[*size] = '\0';
    return status;
}

/* Returns the path of a file beside config, which the caller frees. */
static char *path_beside(const char *config, const char *name, size_t length)
{
    const char *slash = strrchr(config, '/');
    size_t folder = slash ? (size_t) (slash + 1 - config) : 0;
    char *path = malloc(folder + length + 1);

    if (!path)
        return NULL;
    memcpy(path, config, folder);
    memcpy(path + folder, name, length);
    path[folder + length] = '\0';
    return path;
}

static mo_status read_header(mo_input *input, const char *name, size_t length,
                             mo_hf_model *made, mo_error *err)
{
    char *path = path_beside(mo_input_name(input), name, length);
    mo_status status =
        path ? mo_input_note_file(input, path, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_hf_header_read(path, &made->tensors, err);
    made->summary.shards++;
    free(path);
    return status;
}

/* The index names files of the same folder only. */
static bool is_plain_name(const char *name, size_t length)
{
    return length > 0 && name[0] != '.' && !memchr(name, '/', length) &&
           !memchr(name, '\\', length) && !memchr(name, 0, length);
}

static mo_status read_listed(mo_input *input, const char *index,
                             const char *map, size_t length, mo_hf_model *made,
                             mo_error *err)
{
    mo_arena *arena = mo_arena_new();
    mo_intern *files = arena ? mo_intern_new(arena) : NULL;
    mo_json_cursor c;
    mo_json_member m;
    mo_status status = files ? MO_OK : mo_fail_memory(err);
    bool any = mo_json_open(&c, '{', map, length);

    while (any && status == MO_OK && mo_json_take_member(&c, &m) == 1) {
        size_t size = m.value_length < 2 ? 0 : m.value_length - 2;
        int number, before = mo_intern_count(files);

        if (m.value[0] != '"' || !is_plain_name(m.value + 1, size) ||
            before > MAX_FILES) {
            status = mo_fail_at(err, MO_E_INPUT, index, 0,
                                "weight_map has a name that is no file of the "
                                "folder");
            break;
        }
        status = mo_intern_put(files, m.value + 1, size, &number, err);
        if (status == MO_OK && number == before)
            status = read_header(input, m.value + 1, size, made, err);
    }
    mo_intern_free(files);
    mo_arena_free(arena);
    return status;
}

static mo_status read_index(mo_input *input, const char *index,
                            mo_hf_model *made, mo_error *err)
{
    char *text = NULL;
    size_t size = 0, length = 0;
    const char *map = NULL;
    mo_json_cursor c;
    mo_status status = mo_input_note_file(input, index, err);

    if (status == MO_OK)
        status = mo_reader_all(index, &text, &size, err);
    if (status == MO_OK) {
        if (strlen(text) == size && mo_json_check(&c, text, size))
            map = mo_json_find(text, "weight_map", &length);
        status =
            map ? read_listed(input, index, map, length, made, err)
                : mo_fail_at(err, MO_E_SYNTAX, index, 0, "has no weight_map");
    }
    free(text);
    return status;
}

static bool file_exists(const char *path)
{
    FILE *file = fopen(path, "r");

    if (file)
        fclose(file);
    return file != NULL;
}

static mo_status read_headers(mo_input *input, mo_hf_model *made, mo_error *err)
{
    const char *config = mo_input_name(input);
    char *index;
    mo_status status;

    if (strcmp(config, MO_READER_STDIN) == 0)
        return mo_fail_at(err, MO_E_INPUT, config, 0,
                          "is a config.json; give its name, since the weights "
                          "are beside it");
    index = path_beside(config, INDEX, strlen(INDEX));
    if (!index)
        return mo_fail_memory(err);
    status = file_exists(index)
                 ? read_index(input, index, made, err)
                 : read_header(input, SINGLE, strlen(SINGLE), made, err);
    free(index);
    return status;
}

static mo_status load(mo_input *input, mo_hf_model *made, mo_error *err)
{
    char *text = NULL;
    size_t size = 0;
    mo_status status = mo_hf_model_init(made, err);

    if (status == MO_OK)
        status = read_all(input, &text, &size, err);
    if (status == MO_OK)
        status = read_headers(input, made, err);
    if (status == MO_OK)
        status = mo_hf_model_make(mo_input_name(input), text, size, made, err);
    free(text);
    return status;
}

/* A graph of what is understood, else of layers. */
static mo_status make_graph(mo_hf_model *made, const mo_llm_options *lengths,
                            mo_graph **graph, mo_error *err)
{
    mo_status status = mo_llm_graph_make(&made->model, lengths, graph, err);

    if (status != MO_E_SUPPORT)
        return status;
    status = mo_hf_model_by_layer(made, err);
    return status == MO_OK
               ? mo_llm_graph_make(&made->model, lengths, graph, err)
               : status;
}

mo_status mo_hf_read(mo_input *input, const mo_read_options *options,
                     mo_graph **graph, mo_error *err)
{
    mo_hf_model made = { .arena = NULL };
    mo_llm_options lengths;
    mo_status status = load(input, &made, err);

    if (status == MO_OK)
        status = mo_llm_options_read(options, &made.model, &lengths, err);
    if (status == MO_OK)
        status = make_graph(&made, &lengths, graph, err);
    mo_hf_model_clear(&made);
    return status;
}

mo_status mo_hf_summarize(mo_input *input, const mo_read_options *options,
                          mo_llm_summary *summary, mo_error *err)
{
    mo_hf_model made = { .arena = NULL };
    mo_llm_options lengths;
    mo_graph *graph = NULL;
    mo_status status = load(input, &made, err);

    if (status == MO_OK)
        status = mo_llm_options_read(options, &made.model, &lengths, err);
    if (status == MO_OK)
        status = make_graph(&made, &lengths, &graph, err);
    if (status == MO_OK)
        status = mo_llm_summary_make(&made.model, &lengths, &made.summary, err);
    if (status == MO_OK)
        *summary = made.summary;
    mo_graph_free(graph);
    mo_hf_model_clear(&made);
    return status;
}
