/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/proof/proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "cost/instance.h"

enum {
    VERSION = 1,
    OPS_PER_LINE = 16,
    MAX_PARAMS = 1024, /* of an entry: resources with prices */
    MAX_ENTRIES = 1 << 22
};

/* Behind the mark of a comment: of a solution, LP or MPS. */
#define PREFIX " proof "
#define MARKS  "#\\*"

const char *const mo_proof_kind_names[] = { [MO_PROOF_TEST] = "test",
                                            [MO_PROOF_LOAD] = "load",
                                            [MO_PROOF_COLGEN] = "colgen",
                                            [MO_PROOF_EXACT] = "exact",
                                            [MO_PROOF_SPAN] = "span",
                                            [MO_PROOF_CASES] = "cases",
                                            [MO_PROOF_PRICES] = "prices",
                                            [MO_PROOF_COLOCATION] =
                                                "colocation",
                                            [MO_PROOF_WHOLE] = "whole",
                                            [MO_PROOF_LAGRANGIAN] =
                                                "lagrangian",
                                            [MO_PROOF_BRANCH] = "branch",
                                            [MO_PROOF_PACKING] = "packing",
                                            [MO_PROOF_SETS] = "sets",
                                            [MO_PROOF_ENUMERATE] = "enumerate",
                                            NULL };

/* Numbers of parameters; negative: with prices, which any number may follow. */
static const int n_params_of[] = {
    1, 0, 2, 1, 1, 1, -1, 2, 1, -1, -1, 0, 1, 1
};

mo_status mo_proof_new(mo_proof **proof, mo_error *err)
{
    *proof = calloc(1, sizeof **proof);
    return *proof ? MO_OK : mo_fail_memory(err);
}

void mo_proof_free(mo_proof *proof)
{
    if (!proof)
        return;
    free(proof->chain);
    free(proof->entries);
    free(proof->params);
    free(proof);
}

mo_status mo_proof_add_op(mo_proof *proof, int op, mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(proof->chain, proof->n_chain, proof->chain_room, err);

    if (status == MO_OK)
        proof->chain[proof->n_chain++] = op;
    return status;
}

mo_status mo_proof_add(mo_proof *proof, mo_proof_entry entry,
                       const int64_t *params, size_t n, mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(proof->entries, proof->n, proof->room, err);

    entry.params = proof->n_params;
    entry.n_params = n;
    for (size_t i = 0; i < n && status == MO_OK; i++) {
        status = MO_ARRAY_GROW(proof->params, proof->n_params,
                               proof->params_room, err);
        if (status == MO_OK)
            proof->params[proof->n_params++] = params[i];
    }
    if (status == MO_OK)
        proof->entries[proof->n++] = entry;
    return status;
}

static void put_entry(const mo_proof *proof, const mo_proof_entry *e, char mark,
                      mo_out *out)
{
    mo_out_printf(out, "%c" PREFIX "%s", mark, mo_proof_kind_names[e->kind]);
    if (!mo_proof_is_whole(e->kind))
        mo_out_printf(out, " %d", e->first);
    if (mo_proof_is_span(e->kind))
        mo_out_printf(out, " %d", e->last);
    if (!mo_proof_is_whole(e->kind))
        mo_out_printf(out, " %d %d", e->a, e->b);
    mo_out_printf(out, " %" PRId64, e->value_ns);
    for (size_t i = 0; i < e->n_params; i++)
        mo_out_printf(out, " %" PRId64, proof->params[e->params + i]);
    mo_out_char(out, '\n');
}

void mo_proof_write(const mo_proof *proof, char mark, mo_out *out)
{
    mo_out_printf(out, "%c" PREFIX "begin %d %016" PRIx64 " %s %" PRId64 "\n",
                  mark, VERSION, proof->digest,
                  proof->unlimited ? "unlimited" : "limited", proof->bound_ns);
    for (size_t i = 0; i < proof->n_chain; i++) {
        if (i % OPS_PER_LINE == 0)
            mo_out_printf(out, "%s%c" PREFIX "chain", i > 0 ? "\n" : "", mark);
        mo_out_printf(out, " %d", proof->chain[i]);
    }
    if (proof->n_chain > 0)
        mo_out_char(out, '\n');
    for (size_t i = 0; i < proof->n; i++)
        put_entry(proof, &proof->entries[i], mark, out);
    mo_out_printf(out, "%c" PREFIX "end %zu\n", mark, proof->n);
}

typedef struct parser {
    const char *name;
    int line;
    const char *at, *end; /* the rest of the line */
    mo_proof *proof;      /* NULL: not begun */
    bool has_end;
    mo_error *err;
} parser;

static mo_status fail(const parser *p, const char *what)
{
    return mo_fail_at(p->err, MO_E_SYNTAX, p->name, p->line,
                      "certificate: %s; the file is damaged, write it anew",
                      what);
}

/* Skips blanks; returns whether no word follows. */
static bool is_at_end(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
        p->at++;
    return p->at == p->end;
}

/* Sets *word to the next word of the line; returns its length, 0: none. */
static size_t next_word(parser *p, const char **word)
{
    is_at_end(p);
    *word = p->at;
    while (p->at < p->end && *p->at != ' ' && *p->at != '\t')
        p->at++;
    return (size_t) (p->at - *word);
}

static bool is_word(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(word, text, length) == 0;
}

/* Reads a number from 0 to most. */
static bool read_number(parser *p, int64_t most, int64_t *value)
{
    const char *word;
    size_t length = next_word(p, &word);
    int64_t found;

    if (length == 0 ||
        mo_number_read_int(word, length, &found) != MO_NUMBER_OK || found < 0 ||
        found > most)
        return false;
    *value = found;
    return true;
}

static bool read_int(parser *p, int *value)
{
    int64_t found;

    if (!read_number(p, INT32_MAX, &found))
        return false;
    *value = (int) found;
    return true;
}

static bool read_digest(parser *p, uint64_t *digest)
{
    const char *word;

    if (next_word(p, &word) != 16)
        return false;
    *digest = 0;
    for (int i = 0; i < 16; i++) {
        const char *digits = "0123456789abcdef",
                   *at = word[i] ? strchr(digits, word[i]) : NULL;

        if (!at)
            return false;
        *digest = *digest << 4 | (uint64_t) (at - digits);
    }
    return true;
}

static mo_status read_begin(parser *p)
{
    const char *word;
    int version;
    size_t length;
    mo_status status;

    if (p->proof)
        return fail(p, "'begin' a second time");
    status = mo_proof_new(&p->proof, p->err);
    if (status != MO_OK)
        return status;
    snprintf(p->proof->file, sizeof p->proof->file, "%s", p->name);
    if (!read_int(p, &version))
        return fail(p, "'begin' without a version");
    if (version != VERSION)
        return mo_fail_at(p->err, MO_E_SUPPORT, p->name, p->line,
                          "certificate of version %d; this program reads "
                          "version %d",
                          version, VERSION);
    if (!read_digest(p, &p->proof->digest))
        return fail(p, "the digest is not 16 hexadecimal digits");
    length = next_word(p, &word);
    p->proof->unlimited = is_word(word, length, "unlimited");
    if (!p->proof->unlimited && !is_word(word, length, "limited"))
        return fail(p, "expected 'limited' or 'unlimited'");
    if (!read_number(p, MO_PROOF_NEVER_NS, &p->proof->bound_ns) ||
        !is_at_end(p))
        return fail(p, "'begin' needs one bound, in nanoseconds");
    return MO_OK;
}

static mo_status read_chain(parser *p)
{
    int op;

    while (!is_at_end(p)) {
        mo_proof *proof = p->proof;

        if (!read_int(p, &op))
            return fail(p, "the chain holds a word that is no op number");
        if (proof->n_chain > 0 && op <= proof->chain[proof->n_chain - 1])
            return fail(p, "the ops of the chain are not in ascending order");
        mo_status status = mo_proof_add_op(proof, op, p->err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

static mo_status read_entry(parser *p, mo_proof_kind kind)
{
    mo_proof_entry e = { .kind = kind, .line = p->line };
    int64_t params[MAX_PARAMS];
    int n = 0, wanted = n_params_of[kind];

    if (!mo_proof_is_whole(kind) && !read_int(p, &e.first))
        return fail(p, "an entry without a segment");
    e.last = e.first;
    if (mo_proof_is_span(kind) && (!read_int(p, &e.last) || e.last < e.first))
        return fail(p, "a span without its last segment");
    if (!mo_proof_is_whole(kind) && (!read_int(p, &e.a) || !read_int(p, &e.b)))
        return fail(p, "an entry without its two devices");
    if (!read_number(p, MO_PROOF_NEVER_NS, &e.value_ns))
        return fail(p, "an entry without a value in nanoseconds");
    while (!is_at_end(p)) {
        if (n == MAX_PARAMS || !read_number(p, INT64_MAX, &params[n]))
            return fail(p, "a parameter is no number, or there are too many");
        n++;
    }
    if (wanted >= 0 ? n != wanted : n == 0)
        return fail(p, "an entry with the wrong number of parameters");
    if (p->proof->n >= MAX_ENTRIES)
        return mo_fail_at(p->err, MO_E_LIMIT, p->name, p->line,
                          "certificate with more than %d entries", MAX_ENTRIES);
    return mo_proof_add(p->proof, e, params, (size_t) n, p->err);
}

static mo_status read_end(parser *p)
{
    int64_t n;

    if (!read_number(p, MAX_ENTRIES, &n) || (size_t) n != p->proof->n)
        return fail(p, "the number of entries is not that of 'end'");
    p->has_end = true;
    return MO_OK;
}

static mo_status read_line(parser *p)
{
    const char *word;
    size_t length = next_word(p, &word);

    if (p->has_end)
        return fail(p, "a line behind 'end'");
    if (is_word(word, length, "begin"))
        return read_begin(p);
    if (!p->proof)
        return fail(p, "the first line is not 'begin'");
    if (is_word(word, length, "chain"))
        return read_chain(p);
    if (is_word(word, length, "end"))
        return read_end(p);
    for (int kind = 0; kind < MO_PROOF_N_KINDS; kind++)
        if (is_word(word, length, mo_proof_kind_names[kind]))
            return read_entry(p, (mo_proof_kind) kind);
    return fail(p, "a kind of entry that this program does not know");
}

mo_status mo_proof_read(const char *name, const char *text, size_t size,
                        mo_proof **proof, mo_error *err)
{
    parser p = { .name = name, .err = err };
    const char *at = text, *end = text + size;
    size_t prefix = strlen(PREFIX);
    mo_status status = MO_OK;

    while (at < end && status == MO_OK) {
        const char *stop = memchr(at, '\n', (size_t) (end - at));
        const char *next = stop ? stop + 1 : end;

        stop = stop ? stop : end;
        if (stop > at && stop[-1] == '\r')
            stop--;
        p.line++;
        if ((size_t) (stop - at) > prefix &&
            memchr(MARKS, *at, strlen(MARKS)) &&
            memcmp(at + 1, PREFIX, prefix) == 0) {
            p.at = at + 1 + prefix;
            p.end = stop;
            status = read_line(&p);
        }
        at = next;
    }
    if (status == MO_OK && p.proof && !p.has_end)
        status = fail(&p, "it ends before 'end'");
    if (status == MO_OK)
        *proof = p.proof;
    else
        mo_proof_free(p.proof);
    return status;
}
