/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/model_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/out.h"
#include "base/reader.h"
#include "models/identity.h"
#include "models/write/heading.h"

/* The identity comments are among the first lines. */
enum { LINES = 60, HEAD = 1 << 16 };

/* Names of identity columns, in the form of a solution. */
typedef struct names {
    char text[MO_IDENTITY_NAMES][MO_VARIABLE_NAME];
    mo_solution_value values[MO_IDENTITY_NAMES];
    int n;
    mo_solution_files files;
    bool has_slack;
} names;

static void take_line(names *to, const char *line)
{
    static const char mark[] = " identity: ", slack[] = " slack: ",
                      file[] = " file: ";

    if (*line != '\\' && *line != '*')
        return;
    line++;
    if (strncmp(line, slack, sizeof slack - 1) == 0)
        to->has_slack = true;
    if (strncmp(line, file, sizeof file - 1) == 0)
        mo_solution_files_add(&to->files, line + sizeof file - 1,
                              strcspn(line + sizeof file - 1, "\r\n"));
    if (strncmp(line, mark, sizeof mark - 1) != 0 || to->n == MO_IDENTITY_NAMES)
        return;
    line += sizeof mark - 1;
    snprintf(to->text[to->n], sizeof to->text[to->n], "%.*s",
             (int) strcspn(line, "\r\n"), line);
    to->values[to->n] =
        (mo_solution_value){ .name = to->text[to->n], .value = 1, .line = 0 };
    to->n++;
}

mo_status mo_model_file_provenance(const char *path, mo_provenance *origin,
                                   mo_error *err)
{
    names found = { .n = 0 };
    mo_solution columns = { .values = found.values };
    mo_reader *reader;
    char *head, *line;
    size_t size = 0;
    mo_status status = mo_reader_open(path, &reader, err);

    if (status != MO_OK)
        return status;
    head = malloc(HEAD + 1);
    status = head ? mo_reader_read(reader, head, HEAD, &size, err)
                  : mo_fail_memory(err);
    mo_reader_close(reader);
    line = head;
    for (int i = 0; i < LINES && status == MO_OK && line; i++) {
        char *end = memchr(line, '\n', (size_t) (head + size - line));

        *(end ? end : head + size) = '\0';
        take_line(&found, line);
        line = end ? end + 1 : NULL;
    }
    if (status == MO_OK) {
        columns.n = found.n;
        columns.note.files = found.files;
        status = mo_answer_provenance(&columns, origin, err);
        origin->has_slack = found.has_slack;
        origin->edited |= found.n > 0 && !origin->has_digest;
    }
    free(head);
    return status;
}

/* Reads path in blocks and adds all but its end to the digest: as many bytes
 * as the comment with the digest and the last line take. Returns the number of
 * those left in block, which has room for HEAD bytes and the end. */
static mo_status digest_body(mo_reader *reader, char *block, mo_digest *digest,
                             bool *mps, size_t *left, mo_error *err)
{
    char end[MO_HEADING_END_SIZE];
    size_t held = 0, got, last = 0;
    mo_status status;

    *left = 0;
    do {
        status = mo_reader_read(reader, block + *left, HEAD, &got, err);
        if (status != MO_OK)
            return status;
        if (last == 0) {
            *mps = got > 0 && block[0] != '\\';
            last = mo_heading_end(*mps, 0, end);
        }
        *left += got;
        held = *left < last ? *left : last;
        mo_digest_bytes(digest, block, *left - held);
        memmove(block, block + *left - held, held);
        *left = held;
    } while (got == HEAD);
    return MO_OK;
}

mo_status mo_model_file_digest(const char *path, uint64_t *value, bool *emitted,
                               mo_error *err)
{
    char *block = malloc(HEAD + MO_HEADING_END_SIZE), end[MO_HEADING_END_SIZE];
    mo_digest *digest = mo_digest_new();
    mo_reader *reader = NULL;
    bool mps = false;
    size_t left = 0;
    mo_status status = block && digest ? mo_reader_open(path, &reader, err)
                                       : mo_fail_memory(err);

    if (status == MO_OK)
        status = digest_body(reader, block, digest, &mps, &left, err);
    if (status == MO_OK) {
        *emitted = mo_heading_end(mps, mo_digest_value(digest), end) == left &&
                   memcmp(block, end, left) == 0;
        mo_digest_bytes(digest, block, left);
        *value = mo_digest_value(digest);
    }
    mo_reader_close(reader);
    mo_digest_free(digest);
    free(block);
    return status;
}

/* Returns the number of bytes of text before the first line that is no comment
 * and no name of an MPS model, from *at on; size where there is none. */
static size_t end_of_comments(const char *text, size_t size, size_t *at)
{
    while (*at < size && memchr("\\*N", text[*at], 3)) {
        const char *end = memchr(text + *at, '\n', size - *at);

        if (!end)
            return size;
        *at = (size_t) (end + 1 - text);
    }
    return *at;
}

mo_status mo_model_file_proof(const char *path, mo_proof **proof, mo_error *err)
{
    mo_reader *reader;
    char *text = NULL;
    size_t size = 0, got = HEAD, at = 0;
    mo_status status = mo_reader_open(path, &reader, err);

    *proof = NULL;
    if (status != MO_OK)
        return status;
    while (status == MO_OK && got == HEAD &&
           end_of_comments(text, size, &at) == size) {
        char *more = realloc(text, size + HEAD);

        if (!more) {
            status = mo_fail_memory(err);
            break;
        }
        text = more;
        status = mo_reader_read(reader, text + size, HEAD, &got, err);
        size += got;
    }
    mo_reader_close(reader);
    if (status == MO_OK && text &&
        mo_proof_read(path, text, end_of_comments(text, size, &at), proof,
                      NULL) == MO_E_MEMORY)
        status = mo_fail_memory(err);
    free(text);
    return status;
}

/* Copies the rest of reader behind the first block, through that buffer. */
static mo_status copy_rest(mo_reader *reader, const char *path, char *block,
                           size_t size, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    while (size > 0 && status == MO_OK) {
        mo_out_bytes(out, block, size);
        status = mo_reader_read(reader, block, HEAD, &size, err);
    }
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

mo_status mo_model_file_spool(const mo_workdir *folder, char **path,
                              mo_error *err)
{
    mo_reader *reader = NULL;
    char *block = malloc(HEAD);
    size_t size = 0;
    mo_status status =
        block ? mo_reader_open("-", &reader, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_reader_read(reader, block, HEAD, &size, err);
    /* Compressed twice; a file is unpacked once, too. */
    if (status == MO_OK && mo_reader_sniff(block, size))
        status = mo_fail_at(err, MO_E_SYNTAX, MO_READER_STDIN, 0,
                            "is neither an LP nor an MPS model");
    if (status == MO_OK) {
        /* The file name for a model by its first word: MPS has one, LP
         * several. */
        bool mps =
            size >= 4 && (strncmp(block, "NAME", 4) == 0 || *block == '*');

        *path = mo_workdir_file(folder, mps ? "stdin.mps" : "stdin.lp");
        status = *path ? copy_rest(reader, *path, block, size, err)
                       : mo_fail_memory(err);
    }
    mo_reader_close(reader);
    free(block);
    return status;
}
