/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/*
 * Tests of ingest/read.h with hostile and damaged files: each is a graph or an
 * error of one line, in bounded time and memory.
 */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ingest/read.h"
#include "tests/support/capture.h"
#include "tests/support/graphml_text.h"
#include "tests/support/suite.h"

/* Sanitizers and valgrind are slower and larger by a factor; the failures that
 * these bounds detect are off by orders of magnitude. */
enum { MAX_SECONDS = 60, MAX_GROWTH_KB = 1 << 20 };

typedef struct document {
    char *text;
    size_t size, room;
} document;

static void make_room(document *d, size_t more)
{
    if (d->size + more > d->room) {
        d->room = 2 * (d->size + more);
        d->text = realloc(d->text, d->room);
        ck_assert_ptr_nonnull(d->text);
    }
}

static void put(document *d, const char *format, ...)
{
    va_list args;

    make_room(d, 1000);
    va_start(args, format);
    d->size += (size_t) vsnprintf(d->text + d->size, 1000, format, args);
    va_end(args);
}

static void put_many(document *d, char c, size_t count)
{
    make_room(d, count);
    memset(d->text + d->size, c, count);
    d->size += count;
}

enum { MILLION = 1000000, MEGABYTE = 1 << 20 };

static void put_head(document *d, const char *name)
{
    put(d, "<graphml>" KEY("k", "node", "%s") "<graph edgedefault='directed'>",
        name);
}

static void put_tail(document *d)
{
    put(d, "</graph></graphml>");
}

static void deep_groups(document *d)
{
    put_head(d, "op");
    for (int i = 0; i < 100000; i++)
        put(d, "<node id='%d'><graph>", i);
}

static void deep_elements(document *d)
{
    put_head(d, "op");
    for (int i = 0; i < 100000; i++)
        put(d, "<x>");
}

static void many_attributes(document *d)
{
    put_head(d, "op");
    put(d, "<node id='a'");
    for (int i = 0; i < MILLION; i++)
        put(d, " a%d=''", i);
    put(d, "/>");
    put_tail(d);
}

/* Short enough to be in one block: libxml2 parses them all. */
static void several_attributes(document *d)
{
    put_head(d, "op");
    put(d, "<node id='a'");
    for (int i = 0; i < 5000; i++)
        put(d, " a%d=''", i);
    put(d, "/>");
    put_tail(d);
}

/* The second tag is shorter than the first. */
static void many_attributes_behind_a_long_tag(document *d)
{
    put_head(d, "op");
    put(d, "<node id='a' b='");
    put_many(d, 'x', MEGABYTE);
    put(d, "'/><node id='b'");
    for (int i = 0; i < 50000; i++)
        put(d, " a%d='%d'", i, i);
    put(d, "/>");
    put_tail(d);
}

static void many_namespaces(document *d)
{
    put_head(d, "op");
    for (int i = 0; i < 200; i++) {
        put(d, "<x");
        for (int k = 0; k < 100; k++)
            put(d, " xmlns:n%d-%d='u'", i, k);
        put(d, ">");
    }
}

static void many_names(document *d)
{
    put_head(d, "op");
    for (int i = 0; i < MILLION; i++)
        put(d, "<x%d/>", i);
    put_tail(d);
}

static void long_name(document *d)
{
    put_head(d, "op");
    put(d, "<");
    put_many(d, 'x', 100 * MEGABYTE);
    put(d, "/>");
    put_tail(d);
}

static void long_text(document *d)
{
    put_head(d, "op");
    put(d, "<node id='a'><data key='k'>");
    put_many(d, 'x', 100 * MEGABYTE);
    put(d, "</data></node>");
    put_tail(d);
}

static void long_text_nobody_wants(document *d)
{
    put_head(d, "color");
    put(d, "<node id='a'><data key='k'>");
    put_many(d, 'x', 100 * MEGABYTE);
    put(d, "</data></node>");
    put_tail(d);
}

static void long_value(document *d)
{
    put_head(d, "op");
    put(d, "<node id='");
    put_many(d, 'x', 2 * MEGABYTE);
    put(d, "'/>");
    put_tail(d);
}

static void very_long_value(document *d)
{
    put_head(d, "op");
    put(d, "<node id='");
    put_many(d, 'x', 100 * MEGABYTE);
    put(d, "'/>");
    put_tail(d);
}

static void long_comment(document *d)
{
    put_head(d, "op");
    put(d, "<!--");
    put_many(d, 'x', 100 * MEGABYTE);
    put(d, "-->");
    put_tail(d);
}

static void long_blank(document *d)
{
    put_head(d, "op");
    put_many(d, ' ', 100 * MEGABYTE);
    put_tail(d);
}

static void billion_laughs(document *d)
{
    put(d, "<!DOCTYPE graphml [\n<!ENTITY l0 'lol'>");
    for (int i = 1; i < 10; i++) {
        put(d, "<!ENTITY l%d '", i);
        for (int k = 0; k < 10; k++)
            put(d, "&l%d;", i - 1);
        put(d, "'>");
    }
    put(d, "]><graphml><graph><node id='&l9;'/></graph></graphml>");
}

static void attribute_blowup(document *d)
{
    put(d, "<!DOCTYPE graphml [\n<!ATTLIST node id CDATA '");
    put_many(d, 'x', 50000);
    put(d, "'>]><graphml><graph>");
    for (int i = 0; i < 10000; i++)
        put(d, "<node/>");
    put_tail(d);
}

static void external_entity(document *d)
{
    put(d, "<!DOCTYPE graphml [\n<!ENTITY x SYSTEM 'file:///dev/zero'>]>"
           "<graphml><graph><node id='&x;'/></graph></graphml>");
}

static void external_subset(document *d)
{
    put(d, "<!DOCTYPE graphml SYSTEM 'file:///dev/zero'>"
           "<graphml><graph><node id='a'/></graph></graphml>");
}

static void many_keys(document *d)
{
    put(d, "<graphml>");
    for (int i = 0; i < 200000; i++)
        put(d, "<key id='k%d' for='node' attr.name='time_us.%d'/>", i, i);
    put(d, "<graph><node id='a'>");
    for (int i = 0; i < 50000; i++)
        put(d, "<data key='k%d'>1</data>", i);
    put(d, "</node>");
    put_tail(d);
}

static void many_shapes(document *d)
{
    put_head(d, "shape");
    put(d, "<node id='a'><data key='k'>");
    for (int i = 0; i < MILLION; i++)
        put(d, "1;");
    put(d, "</data></node>");
    put_tail(d);
}

static void deep_json(document *d)
{
    put_head(d, "attrs");
    put(d, "<node id='a'><data key='k'>");
    put_many(d, '[', MILLION);
    put(d, "</data></node>");
    put_tail(d);
}

static void long_number(document *d)
{
    put_head(d, "flops");
    put(d, "<node id='a'><data key='k'>");
    put_many(d, '9', 7 * MEGABYTE);
    put(d, "</data></node>");
    put_tail(d);
}

static void long_cycle(document *d)
{
    put_head(d, "op");
    for (int i = 0; i < 200000; i++)
        put(d, "<node id='n%d'/><edge source='n%d' target='n%d'/>\n", i, i,
            (i + 1) % 200000);
    put_tail(d);
}

static void many_dangling_edges(document *d)
{
    put_head(d, "op");
    put(d, "\n<node id='a'/>");
    for (int i = 0; i < 200000; i++)
        put(d, "<edge source='a' target='n%d'/>", i);
    put_tail(d);
}

static void many_parallel_edges(document *d)
{
    put_head(d, "op");
    put(d, "<node id='a'/><node id='b'/>");
    for (int i = 0; i < 200000; i++)
        put(d, "<edge source='a' target='b'/>");
    put_tail(d);
}

/* Unpacked it would be a gigabyte of zeros. */
static void gzip_bomb(document *d)
{
    put(d, "\x1f\x8b\x08");
    put_many(d, '\0', MEGABYTE);
}

static const struct {
    void (*make)(document *d);
    const char *error; /* its prefix; NULL: it is a graph */
} attacks[] = {
    { deep_groups, "f:1: element <node> is nested more than 256 deep" },
    { deep_elements, "f:1: element <x> is nested more than 256 deep" },
    { many_attributes, "f:1: a tag has more than 256 attributes" },
    { several_attributes, "f:1: element <node> has more than 256 attributes" },
    { many_attributes_behind_a_long_tag,
      "f:1: a tag has more than 256 attributes" },
    { many_namespaces, "f:1: more than 256 namespaces at element <x>" },
    { many_names, "f:1: too many different names" },
    { long_name, "f:1: a tag, comment or CDATA section is longer than" },
    { long_text, "f:1: an element's text is longer than 8388608 bytes" },
    { long_text_nobody_wants, NULL },
    { long_value, "f:1: an attribute of element <node> is longer than" },
    { very_long_value, "f:1: a tag, comment or CDATA section is longer than" },
    { long_comment, "f:1: a tag, comment or CDATA section is longer than" },
    { long_blank, NULL },
    { billion_laughs, "f:2: the document declares entity 'l0'" },
    { attribute_blowup, "f:2: the document declares attribute 'id'" },
    { external_entity, "f:2: the document declares entity 'x'" },
    { external_subset, NULL },
    { many_keys, NULL },
    { many_shapes, NULL },
    { deep_json, "f:1: node 'a': attrs '[[[[" },
    { long_number, "f:1: node 'a': flops '9999" },
    { long_cycle, "f:" },
    { many_dangling_edges, "f:2: " },
    { many_parallel_edges, NULL },
    { gzip_bomb, "f: is compressed with gzip" },
};

static long peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Of the processor, which other processes do not lengthen. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

/* A graph, or an error of one line with the file's name in it. */
static mo_status read_document(const char *text, size_t size, char *told,
                               size_t told_size)
{
    mo_graph *g = NULL;
    mo_error err = { 0 };
    mo_status status = mo_read_memory("f", text, size, NULL, &g, NULL, &err);

    ck_assert_int_eq(status == MO_OK, g != NULL);
    mo_graph_free(g);
    mo_error_format(&err, told, told_size);
    if (status != MO_OK) {
        ck_assert_int_eq(status, err.status);
        ck_assert_str_eq(err.file, "f");
        ck_assert_ptr_null(strchr(told, '\n'));
    }
    return status;
}

START_TEST(an_attack_is_repelled_soon_and_cheaply)
{
    const char *error = attacks[_i].error;
    document d = { NULL, 0, 0 };
    char told[2000];
    double start;
    long before;
    mo_status status;

    attacks[_i].make(&d);
    before = peak_kb();
    start = seconds();
    capture_begin(STDERR_FILENO);
    status = read_document(d.text, d.size, told, sizeof told);
    ck_assert_str_eq(capture_end(), "");
    ck_assert_msg(seconds() - start < MAX_SECONDS, "took %.1f s",
                  seconds() - start);
    ck_assert_msg(peak_kb() - before < MAX_GROWTH_KB, "took %ld kB",
                  peak_kb() - before);
    if (error)
        ck_assert_msg(strncmp(told, error, strlen(error)) == 0,
                      "'%s' is not '%s'", told, error);
    else
        ck_assert_msg(status == MO_OK, "%s", told);
    free(d.text);
}
END_TEST

/* A document with a bit of everything, to be damaged. */
static const char whole[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<!-- c --><!DOCTYPE graphml>\n"
    "<graphml xmlns='http://graphml.graphdrawing.org/xmlns' "
    "xmlns:y='u'>\n" DEFAULT("o", "node", "op", "x") KEY(
        "m", "node", "memory") KEY("s", "node", "shape")
        KEY("t", "node", "time_us.A") KEY("b", "all", "bytes") KEY(
            "c", "edge",
            "comm_us.A.B") "<key id='g' for='node'/>\n"
                           "<graph id='G' edgedefault='directed'>\n" NODE(
                               "a", DATA("o", "c&amp;nv") DATA("m", "1.5e3")
                                        DATA("s", "1,64;2"))
                               NODE("b\xc3\xbc",
                                    DATA("t", "0.25") DATA(
                                        "g", "<y:NodeLabel>l</y:NodeLabel>"))
                                   NODE("h",
                                        "<graph>" NODE(
                                            "c", "<![CDATA[x]]>") "</graph>")
                                       EDGE("a", "b\xc3\xbc",
                                            DATA("b", "12") DATA(
                                                "c",
                                                "1e-3")) "<edge source='a' "
                                                         "target='c' "
                                                         "sourceport='0' "
                                                         "targetport='in'/>\n"
                                                         "</graph></graphml>\n";

START_TEST(a_truncated_file_is_an_error_wherever_it_ends)
{
    size_t end = strstr(whole, "</graphml>") + strlen("</graphml>") - whole;
    char told[2000];

    ck_assert_msg(read_document(whole, strlen(whole), told, sizeof told) ==
                      MO_OK,
                  "%s", told);
    capture_begin(STDERR_FILENO);
    for (size_t size = 0; size < end; size++)
        ck_assert_msg(read_document(whole, size, told, sizeof told) != MO_OK,
                      "%zu bytes are a graph", size);
    ck_assert_str_eq(capture_end(), "");
}
END_TEST

/* One byte wrong, or missing: anything may come of it but a crash.  Each place
 * has one of the bytes when watched. */
static const char bytes[] = { '\0', '<', '\'', '&', '\xff', '9' };

START_TEST(a_damaged_file_is_a_graph_or_an_error)
{
    char copy[sizeof whole], told[2000];
    const size_t step = is_watched() ? sizeof bytes : 1;

    capture_begin(STDERR_FILENO);
    for (size_t at = (size_t) _i % step; at < sizeof whole - 1; at += step) {
        memcpy(copy, whole, sizeof whole);
        copy[at] = bytes[_i];
        read_document(copy, sizeof whole - 1, told, sizeof told);
        memmove(copy + at, copy + at + 1, sizeof whole - at - 1);
        read_document(copy, sizeof whole - 2, told, sizeof told);
    }
    ck_assert_str_eq(capture_end(), "");
}
END_TEST

SUITE(hostile_files)
{
    EACH(an_attack_is_repelled_soon_and_cheaply, COUNT(attacks));
    TEST(a_truncated_file_is_an_error_wherever_it_ends);
    EACH(a_damaged_file_is_a_graph_or_an_error, COUNT(bytes));
}
