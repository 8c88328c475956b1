/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/problem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/out.h"
#include "ingest/read.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

/* A word of a statement: "name=value", or its subject. */
typedef struct word {
    const char *text;
    size_t length;
} word;

static const char blanks[] = " \n";

/* The next word of the statement that *at is in; returns false at its end,
 * which is passed over. */
static bool next_word(const char **at, word *w)
{
    *at += strspn(*at, blanks);
    w->text = *at;
    w->length = strcspn(*at, " \n;");
    *at += w->length;
    if (w->length > 0)
        return true;
    *at += **at == ';';
    return false;
}

static bool has_more(const char *at)
{
    return at[strspn(at, " \n;")] != '\0';
}

/* Returns the position of c in the word, or NULL. */
static const char *find(const word *w, char c)
{
    return memchr(w->text, c, w->length);
}

static int length_of(const char *begin, const char *end)
{
    return (int) (end - begin);
}

/* The attribute that "name=" abbreviates. */
static void put_name(mo_out *out, const word *w)
{
    const char *end = find(w, '=');

    ck_assert_ptr_nonnull(end);
    if (strncmp(w->text, "t.", 2) == 0)
        mo_out_printf(out, "time_us.%.*s", length_of(w->text, end) - 2,
                      w->text + 2);
    else if (strncmp(w->text, "c.", 2) == 0)
        mo_out_printf(out, "comm_us.%.*s", length_of(w->text, end) - 2,
                      w->text + 2);
    else
        mo_out_bytes(out, w->text, (size_t) (end - w->text));
}

static void put_value(mo_out *out, const word *w)
{
    const char *value = find(w, '=') + 1;

    mo_out_bytes(out, value, (size_t) (w->text + w->length - value));
}

/* The first word that names a kind of data declares it, with its value as the
 * default if the subject is "*". */
static void put_key(mo_out *out, mo_intern *seen, const word *about,
                    const word *w)
{
    bool is_edge = find(about, '>') != NULL;
    char id[256];
    int n = snprintf(id, sizeof id, "%c%.*s", is_edge ? 'e' : 'n',
                     length_of(w->text, find(w, '=')), w->text);
    int before = mo_intern_count(seen), number;

    MUST(mo_intern_put(seen, id, (size_t) n, &number, &err));
    if (number < before)
        return;
    mo_out_printf(out, "<key id='%s' for='%s' attr.name='", id,
                  is_edge ? "edge" : "node");
    put_name(out, w);
    mo_out_text(out, "'>");
    if (*about->text == '*') {
        mo_out_text(out, "<default>");
        put_value(out, w);
        mo_out_text(out, "</default>");
    }
    mo_out_text(out, "</key>");
}

static void put_keys(mo_out *out, const char *text)
{
    mo_arena *arena = mo_arena_new();
    mo_intern *seen = mo_intern_new(arena);
    word about, w;

    while (has_more(text)) {
        next_word(&text, &about);
        while (next_word(&text, &w))
            put_key(out, seen, &about, &w);
    }
    mo_intern_free(seen);
    mo_arena_free(arena);
}

static void put_data(mo_out *out, bool is_edge, const word *w)
{
    mo_out_printf(out, "<data key='%c%.*s'>", is_edge ? 'e' : 'n',
                  length_of(w->text, find(w, '=')), w->text);
    put_value(out, w);
    mo_out_text(out, "</data>");
}

static void put_item(mo_out *out, const char **text)
{
    word about, w;
    const char *to;

    next_word(text, &about);
    to = find(&about, '>');
    mo_out_char(out, '\n');
    if (*about.text == '*') {
        while (next_word(text, &w))
            ;
        return;
    }
    if (to)
        mo_out_printf(out, "<edge source='%.*s' target='%.*s'>",
                      length_of(about.text, to), about.text,
                      length_of(to + 1, about.text + about.length), to + 1);
    else
        mo_out_printf(out, "<node id='%.*s'>", (int) about.length, about.text);
    while (next_word(text, &w))
        put_data(out, to != NULL, &w);
    mo_out_text(out, to ? "</edge>" : "</node>");
}

static mo_out *begin(const char *text)
{
    mo_out *out = text_new();

    mo_out_text(out, text);
    return out;
}

static char *finish(mo_out *out, const char *text)
{
    mo_out_text(out, text);
    return text_end(out);
}

char *problem_graphml(const char *text)
{
    mo_out *out = begin("<graphml>");

    put_keys(out, text);
    mo_out_text(out, "<graph edgedefault='directed'>");
    while (has_more(text))
        put_item(out, &text);
    return finish(out, "</graph></graphml>\n");
}

mo_graph *problem_graph(const char *text)
{
    char *bytes = problem_graphml(text);
    mo_graph *g;

    MUST(mo_read_memory("g.graphml", bytes, strlen(bytes), NULL, &g, NULL,
                        &err));
    free(bytes);
    return g;
}

static void put_attributes(mo_out *out, const char **text)
{
    word w;

    while (next_word(text, &w)) {
        mo_out_char(out, ' ');
        put_name(out, &w);
        mo_out_text(out, "='");
        put_value(out, &w);
        mo_out_char(out, '\'');
    }
}

/* "A" is a device, "A>B" and "A-B" are links. */
static void put_element(mo_out *out, const word *about)
{
    const char *one_way = find(about, '>'), *both = find(about, '-');
    const char *end = about->text + about->length;

    if (one_way)
        mo_out_printf(out, "<link from='%.*s' to='%.*s'",
                      length_of(about->text, one_way), about->text,
                      length_of(one_way + 1, end), one_way + 1);
    else if (both)
        mo_out_printf(out, "<link between='%.*s %.*s'",
                      length_of(about->text, both), about->text,
                      length_of(both + 1, end), both + 1);
    else
        mo_out_printf(out, "<device id='%.*s'", (int) about->length,
                      about->text);
}

char *problem_cluster_xml(const char *text)
{
    mo_out *out = begin("<cluster");
    word about;

    if (*text == '*') {
        next_word(&text, &about);
        put_attributes(out, &text);
    }
    mo_out_char(out, '>');
    while (has_more(text)) {
        next_word(&text, &about);
        put_element(out, &about);
        put_attributes(out, &text);
        mo_out_text(out, "/>");
    }
    return finish(out, "</cluster>\n");
}

mo_cluster *problem_cluster_read(const char *xml)
{
    mo_cluster *cluster;

    MUST(mo_cluster_read_memory("c.xml", xml, strlen(xml), &cluster, &err));
    return cluster;
}

mo_cluster *problem_cluster(const char *text)
{
    char *xml = problem_cluster_xml(text);
    mo_cluster *cluster = problem_cluster_read(xml);

    free(xml);
    return cluster;
}

static void note_missing(void *context, const char *file, int line,
                         const char *what)
{
    problem *p = context;
    size_t n = strlen(p->missing);

    snprintf(p->missing + n, sizeof p->missing - n, "%s%s%d: %s\n",
             file ? file : "", file ? ":" : "", line, what);
    p->n_missing++;
}

mo_status problem_try_graph(problem *p, mo_graph *g, const char *cluster,
                            const char *profile)
{
    mo_instance_options options = { .missing = note_missing, .context = p };

    p->g = g;
    p->cluster = problem_cluster(cluster);
    if (profile)
        MUST(mo_profile_read_memory("p.xml", profile, strlen(profile),
                                    &p->profile, &err));
    options.profile = p->profile;
    options.explain = p->explain;
    if (p->cost)
        MUST(mo_predictor_parse(p->cost, p->cluster, p->profile,
                                &options.predictor, &err));
    return mo_instance_make(p->g, p->cluster, &options, &p->x, &p->err);
}

mo_status problem_try(problem *p, const char *graph, const char *cluster,
                      const char *profile)
{
    return problem_try_graph(p, problem_graph(graph), cluster, profile);
}

void problem_make(problem *p, const char *graph, const char *cluster,
                  const char *profile)
{
    if (problem_try(p, graph, cluster, profile) != MO_OK)
        ck_abort_msg("%s", p->err.text);
}

void problem_clear(problem *p)
{
    mo_instance_free(p->x);
    mo_profile_free(p->profile);
    mo_cluster_free(p->cluster);
    mo_graph_free(p->g);
    *p = (problem){ 0 };
}

int problem_op(const problem *p, const char *name)
{
    for (int i = 0; i < p->x->n; i++)
        if (strcmp(p->x->op_names[i], name) == 0)
            return i;
    ck_abort_msg("there is no op %s", name);
    return -1;
}

int problem_flow(const problem *p, const char *from, const char *to)
{
    int a = problem_op(p, from), b = problem_op(p, to);

    for (int q = p->x->out_start[a]; q < p->x->out_start[a + 1]; q++)
        if (p->x->flows[q].to == b)
            return q;
    ck_abort_msg("there is no flow %s -> %s", from, to);
    return -1;
}

int64_t problem_flow_ns(const problem *p, const char *from, const char *to,
                        int a, int b)
{
    return mo_instance_flow_ns(p->x, problem_flow(p, from, to), a, b);
}
