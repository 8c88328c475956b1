/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/graphs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"
#include "ingest/operator.h"

/* Parser of the text form. */
struct reader {
    mo_builder *builder;
    const char *at;
    int line;
};

static bool is_separator(char c)
{
    return c == ';' || c == '\n' || c == '\0';
}

static void skip_blanks(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

static bool skip_arrow(struct reader *r)
{
    skip_blanks(r);
    if (r->at[0] != '-' || r->at[1] != '>')
        return false;
    r->at += 2;
    return true;
}

static bool ends_word(const char *at)
{
    return is_separator(*at) || isspace((unsigned char) *at) || *at == ':' ||
           (at[0] == '-' && at[1] == '>');
}

static size_t take_word(struct reader *r, const char **word)
{
    *word = r->at;
    while (!ends_word(r->at))
        r->at++;
    return (size_t) (r->at - *word);
}

static mo_status define(struct reader *r, int slot, const char *type,
                        size_t length, mo_error *err)
{
    const char *kept = NULL;
    mo_status status = MO_OK;
    mo_op *op;

    if (mo_builder_op(r->builder, slot)->name)
        return MO_OK;
    if (type)
        status = mo_builder_text(r->builder, type, length, &kept, err);
    if (status == MO_OK)
        status = mo_builder_define(r->builder, slot, r->line, &op, err);
    if (status == MO_OK)
        op->type = kept;
    return status;
}

/* Reads "name" or "name:type", with its '$' if it has one. */
static mo_status read_op(struct reader *r, int *slot, mo_error *err)
{
    const char *name, *type = NULL;
    size_t length, type_length = 0;
    bool is_constant;
    mo_status status;

    skip_blanks(r);
    is_constant = *r->at == '$';
    if (is_constant)
        r->at++;
    length = take_word(r, &name);
    if (*r->at == ':') {
        r->at++;
        type_length = take_word(r, &type);
    }
    status = mo_builder_slot(r->builder, name, length, r->line, slot, err);
    if (status != MO_OK)
        return status;
    if (is_constant)
        mo_builder_mark_constant(r->builder, *slot);
    return define(r, *slot, type, type_length, err);
}

static mo_status read_chain(struct reader *r, mo_error *err)
{
    mo_builder_edge edge = { .src_port = MO_PORT_NONE,
                             .dst_port = MO_PORT_NONE,
                             .bytes = MO_UNKNOWN,
                             .line = r->line };
    mo_status status = read_op(r, &edge.from, err);

    while (status == MO_OK && skip_arrow(r)) {
        status = read_op(r, &edge.to, err);
        if (status == MO_OK)
            status = mo_builder_add_edge(r->builder, &edge, NULL, err);
        edge.from = edge.to;
    }
    if (status == MO_OK && !is_separator(*r->at))
        return mo_fail_at(err, MO_E_SYNTAX, "text", r->line, "unexpected '%c'",
                          *r->at);
    return status;
}

static mo_status read_text(struct reader *r, mo_error *err)
{
    mo_status status = MO_OK;

    while (*r->at != '\0' && status == MO_OK) {
        skip_blanks(r);
        if (!is_separator(*r->at))
            status = read_chain(r, err);
        if (*r->at == '\n')
            r->line++;
        if (*r->at != '\0')
            r->at++;
    }
    return status;
}

mo_status graph_parse(const char *text, mo_graph **graph, mo_error *err)
{
    struct reader r = { .at = text, .line = 1 };
    mo_status status = mo_builder_new("text", &r.builder, err);

    if (status != MO_OK)
        return status;
    status = read_text(&r, err);
    if (status == MO_OK)
        status = mo_builder_finish(r.builder, graph, err);
    if (status == MO_OK)
        mo_operator_resolve(*graph);
    mo_builder_free(r.builder);
    return status;
}

mo_graph *graph_of(const char *text)
{
    mo_graph *g = NULL;

    MUST(graph_parse(text, &g, &err));
    return g;
}

/* splitmix64, by Sebastiano Vigna. */
int random_below(test_random *random, int bound)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (int) (z % (uint64_t) bound);
}

int id_of(const mo_graph *g, const char *name)
{
    int id = mo_graph_find(g, name);

    ck_assert_msg(id >= 0, "there is no op '%s'", name);
    return id;
}

const char *names_of(const mo_graph *g, const int *ids, int count)
{
    static char text[4096];
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        length += (size_t) snprintf(text + length, sizeof text - length, "%s%s",
                                    i > 0 ? " " : "", g->ops[ids[i]].name);
        ck_assert_msg(length < sizeof text, "too many names for names_of");
    }
    return text;
}

bool *paths_of(const mo_graph *g)
{
    size_t n = (size_t) g->n_ops;
    bool *paths = calloc(n * n + 1, sizeof *paths);

    ck_assert_ptr_nonnull(paths);
    for (size_t i = 0; i < n; i++)
        paths[i * n + i] = true;
    for (int e = 0; e < g->n_edges; e++)
        paths[(size_t) g->edges[e].from * n + (size_t) g->edges[e].to] = true;
    for (size_t via = 0; via < n; via++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n && paths[a * n + via]; b++)
                paths[a * n + b] |= paths[via * n + b];
    return paths;
}
