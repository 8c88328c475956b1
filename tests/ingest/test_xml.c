/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/xml.h, by transcripts of the events. */
#include <config.h>

#include "ingest/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/capture.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* The events: "a@1(x=1){ b@2{text} }". */
typedef struct transcript {
    mo_xml *xml;
    char text[4000];
    size_t used;
    int n_starts, n_ends;
    const char *stop_at; /* the element at which start fails, or NULL */
} transcript;

static void add(transcript *t, const char *text, size_t length)
{
    ck_assert_uint_lt(t->used + length, sizeof t->text);
    memcpy(t->text + t->used, text, length);
    t->used += length;
    t->text[t->used] = '\0';
}

static mo_status hear_start(void *state, const mo_xml_element *element,
                            mo_error *err)
{
    transcript *t = state;
    char line[32];

    t->n_starts++;
    if (t->stop_at && strcmp(t->stop_at, element->name) == 0)
        return mo_fail(err, MO_E_INPUT, "enough");
    add(t, element->name, strlen(element->name));
    add(t, line, (size_t) snprintf(line, sizeof line, "@%d", element->line));
    for (int i = 0; i < element->n_attributes; i++) {
        const mo_xml_attribute *a = &element->attributes[i];

        add(t, " ", 1);
        if (a->space)
            add(t, a->space, strlen(a->space));
        add(t, a->name, strlen(a->name));
        add(t, "=", 1);
        add(t, a->value, a->length);
    }
    if (element->space)
        add(t, element->space, strlen(element->space));
    add(t, "{", 1);
    if (element->name[0] != 'q') /* q: requests no text */
        mo_xml_want_text(t->xml);
    return MO_OK;
}

static mo_status hear_end(void *state, const char *name, const char *text,
                          size_t length, int line, mo_error *err)
{
    transcript *t = state;

    (void) name, (void) line, (void) err;
    t->n_ends++;
    ck_assert_int_eq(text[length], '\0');
    add(t, text, length);
    add(t, "}", 1);
    return MO_OK;
}

static const mo_xml_handler hear = { hear_start, hear_end };

static const struct {
    const char *document, *heard;
} events[] = {
    { "<a/>", "a@1{}" },
    { "<a>t</a>", "a@1{t}" },
    { "<a x='1' y=\"2\"/>", "a@1 x=1 y=2{}" },
    { "<a>x<b>yyy</b>z</a>", "a@1{b@1{yyy}xz}" },
    { "<a>x<q>not wanted<b>in</b></q>z</a>", "a@1{q@1{b@1{in}}xz}" },
    { "<a>&lt;&amp;&gt;&quot;&apos;</a>", "a@1{<&>\"'}" },
    { "<a>&#65;&#x42;</a>", "a@1{AB}" },
    { "<a x='&lt;&#10;'/>", "a@1 x=<\n{}" },
    { "<a x='R&amp;D &#38; &amp;#38; &quot;'/>", "a@1 x=R&D & &#38; \"{}" },
    { "<a>R&amp;D &#38; &amp;#38;</a>", "a@1{R&D & &#38;}" },
    { "<a><![CDATA[<raw>&amp;]]>!</a>", "a@1{<raw>&amp;!}" },
    { "<a><!-- no --><?no no?>t</a>", "a@1{t}" },
    { "<?xml version='1.0'?>\n<!-- c -->\n<a\n x='1'\n>\n<b/>\n</a>\n",
      "a@3 x=1{b@6{}\n\n}" },
    { "<a xmlns='u:'><b xmlns='' xmlns:p='v:' p:x='1'/></a>",
      "a@1u:{b@1 v:x=1{}}" },
    { "<!DOCTYPE a SYSTEM 'http://localhost:1/no.dtd'><a>t</a>", "a@1{t}" },
    { "<!DOCTYPE a [ <!ELEMENT a ANY> ]><a>t</a>", "a@1{t}" },
};

START_TEST(a_document_is_heard_element_by_element)
{
    transcript t = { .stop_at = NULL };

    MUST(mo_xml_parse_memory("doc", events[_i].document,
                             strlen(events[_i].document), &hear, &t, &t.xml,
                             &err));
    ck_assert_str_eq(t.text, events[_i].heard);
    ck_assert_int_eq(t.n_starts, t.n_ends);
}
END_TEST

#define BYTES(text) text, sizeof(text) - 1

/* The same document, <a>U+00FC</a>, in common encodings. */
static const struct {
    const char *bytes;
    size_t size;
} encodings[] = {
    { BYTES("<a>\xc3\xbc</a>") },
    { BYTES("\xef\xbb\xbf<a>\xc3\xbc</a>") },
    { BYTES("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xfc</a>") },
    { BYTES("\xff\xfe<\0a\0>\0\xfc\0<\0/\0a\0>\0") },
    { BYTES("\xfe\xff\0<\0a\0>\0\xfc\0<\0/\0a\0>") },
};

START_TEST(every_common_encoding_is_read)
{
    transcript t = { .stop_at = NULL };

    MUST(mo_xml_parse_memory("doc", encodings[_i].bytes, encodings[_i].size,
                             &hear, &t, &t.xml, &err));
    ck_assert_str_eq(t.text, "a@1{\xc3\xbc}");
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
    const char *error;
} refusals[] = {
    { BYTES(""), "doc: is empty; it was perhaps never written" },
    { BYTES(" \n   "), "doc:2: the file ends before its first element" },
    { BYTES("<a>\n<b>"), "doc:2: the file ends inside element <b> of line 2" },
    { BYTES("<a>\n</b>"), "doc:2: not well-formed XML: Opening and ending tag "
                          "mismatch" },
    { BYTES("<a/>\n<b/>"), "doc:2: not well-formed XML: Extra content" },
    { BYTES("<a>\nR & D</a>"), "doc:2: not well-formed XML: a '&' or '<' that "
                               "begins nothing; write &amp;" },
    { BYTES("<a>\nR&D</a>"), "doc:2: not well-formed XML: a '&'" },
    { BYTES("<a\nx='<'/>"),
      "doc:2: not well-formed XML: a '<' in an attribute; "
      "write &lt;" },
    { BYTES("<a\nx='1' x='2'/>"), "doc:2: not well-formed XML: Attribute x "
                                  "redefined; keep one of them" },
    { BYTES("<a>\n<p:b/></a>"), "doc:2: not well-formed XML: Namespace prefix "
                                "p on b is not defined; declare" },
    { BYTES("<a>\n\x01</a>"), "doc:2: not well-formed XML: PCDATA invalid Char "
                              "value 1; save it as UTF-8" },
    { BYTES("<a>\n\xfc </a>"), "doc:2: not well-formed XML: " },
    { BYTES("<a>\n<![CDATA[\xc1\xba]]></a>"), "doc:2: not well-formed XML: " },
    { BYTES("<?xml version='1.0' encoding='klingon'?><a/>"),
      "doc:1: not well-formed XML: " },
    { BYTES("\xff\xfe<\0a\0>\0\0\xd8x\0<\0/\0a\0>\0"),
      "doc:1: not well-formed XML: " },
    { BYTES("<a>\n&nbsp;</a>"), "doc:2: not well-formed XML: Entity 'nbsp' not "
                                "defined; write the character itself" },
    { BYTES("<a\nx='&nbsp;'/>"), "doc:2: not well-formed XML: Entity 'nbsp'" },
    { BYTES("<!DOCTYPE a SYSTEM 'no.dtd'>\n<a>&nbsp;</a>"),
      "doc:2: not well-formed XML: Entity 'nbsp'" },
    { BYTES("<!DOCTYPE a [\n<!ENTITY x 'y'>]><a>&x;</a>"),
      "doc:2: the document declares entity 'x'" },
    { BYTES("<!DOCTYPE a [\n<!ENTITY x SYSTEM '/etc/passwd'>]><a>&x;</a>"),
      "doc:2: the document declares entity 'x'" },
    { BYTES("<!DOCTYPE a [\n<!ENTITY % x SYSTEM '/etc/passwd'> %x;]><a/>"),
      "doc:2: the document declares entity 'x'" },
    { BYTES("<!DOCTYPE a [\n<!NOTATION n SYSTEM 'n'>"
            "<!ENTITY x SYSTEM 'x' NDATA n>]><a/>"),
      "doc:2: the document declares entity 'x'" },
    { BYTES("<!DOCTYPE a [\n<!ATTLIST a x (p|q) 'p'>]><a/>"),
      "doc:2: the document declares attribute 'x'" },
    { BYTES("<a>\0</a>"), "doc: is binary data, not XML; if these are a "
                          "model's weights, give the .xml beside them" },
    { BYTES("\x1f\x8b\x08"), "doc: is compressed with gzip, and " },
    { BYTES("\x28\xb5\x2f\xfd"), "doc: is compressed with zstd, and " },
    { BYTES("\3757zXZ"), "doc: is compressed with xz; unpack it first" },
    { BYTES("BZh9"), "doc: is compressed with bzip2; unpack it first" },
    { BYTES("\x04\x22\x4d\x18"), "doc: is compressed with lz4; unpack it" },
    { BYTES("PK\x03\x04"), "doc: is a zip archive; a torch.export program" },
    { BYTES("\x08\x07\x12\x07pytorch"),
      "doc: is not XML; it looks like an ONNX model" },
    { BYTES("\x93NUMPY"), "doc: is a NumPy array, not XML" },
    { BYTES("{\"nodes\": []}"), "doc: is JSON, not XML" },
    { BYTES("hello"),
      "doc:1: not well-formed XML: it does not begin with '<'" },
};

/* The error is one line, and nothing is printed. */
static void must_refuse(const char *file, mo_status status,
                        const mo_error *error, const char *printed,
                        const char *wanted)
{
    char text[2000];

    mo_error_format(error, text, sizeof text);
    ck_assert_msg(status != MO_OK, "%s was read", file);
    ck_assert_int_eq(status, error->status);
    ck_assert_msg(strncmp(text, wanted, strlen(wanted)) == 0,
                  "'%s' is not '%s'", text, wanted);
    ck_assert_ptr_null(strchr(text, '\n'));
    ck_assert_str_eq(printed, "");
}

START_TEST(what_cannot_be_read_is_told_in_one_line)
{
    transcript t = { .stop_at = NULL };
    mo_error err = { 0 };
    mo_status status;

    capture_begin(STDERR_FILENO);
    status = mo_xml_parse_memory("doc", refusals[_i].bytes, refusals[_i].size,
                                 &hear, &t, &t.xml, &err);
    must_refuse("doc", status, &err, capture_end(), refusals[_i].error);
}
END_TEST

START_TEST(a_handlers_error_stops_the_parser_and_gets_the_place)
{
    static const char document[] = "<a>\n<b/>\n<c/><d/></a>";
    transcript t = { .stop_at = "c" };
    mo_error err = { 0 };
    char text[2000];

    ck_assert_int_eq(mo_xml_parse_memory("doc", document, strlen(document),
                                         &hear, &t, &t.xml, &err),
                     MO_E_INPUT);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text), "doc:3: enough");
    ck_assert_int_eq(t.n_starts, 3);
}
END_TEST

/* A block may end anywhere: the document behind a number of blanks. */
START_TEST(blocks_may_end_anywhere)
{
    static const char document[] =
        "<a x='1'>t&lt;<!-- c --><b y='2'\n>\xc3\xbc</b><![CDATA[c]]></a>";
    size_t size = MO_INPUT_BLOCK + sizeof document;
    char *padded = malloc(size);
    transcript t = { .stop_at = NULL };

    memset(padded, ' ', size);
    memcpy(padded + MO_INPUT_BLOCK - _i, document, sizeof document - 1);
    MUST(mo_xml_parse_memory("doc", padded, size, &hear, &t, &t.xml, &err));
    ck_assert_str_eq(t.text, "a@1 x=1{b@1 y=2{\xc3\xbc}t<c}");
    free(padded);
}
END_TEST

static const struct {
    const char *before, *after;
} long_parts[] = {
    { "<a><!-- ", "--></a>" },
    { "<a><?p ", "?></a>" },
    { "<a><![CDATA[", "]]></a>" },
};

/* Keeps the length of the text only. */
typedef struct silent {
    mo_xml *xml;
    size_t length;
} silent;

static mo_status want_it(void *state, const mo_xml_element *element,
                         mo_error *err)
{
    (void) element, (void) err;
    mo_xml_want_text(((silent *) state)->xml);
    return MO_OK;
}

static mo_status measure_it(void *state, const char *name, const char *text,
                            size_t length, int line, mo_error *err)
{
    (void) name, (void) text, (void) line, (void) err;
    ((silent *) state)->length = length;
    return MO_OK;
}

static const mo_xml_handler keep = { want_it, measure_it };

/* Text that looks like attributes, of the maximal length. */
START_TEST(long_parts_that_are_no_tags_are_read)
{
    enum { SIZE = MO_XML_MAX_TEXT };
    const char *before = long_parts[_i].before, *after = long_parts[_i].after;
    size_t lead = strlen(before);
    char *document = malloc(lead + SIZE + strlen(after) + 1);
    silent t = { NULL, 0 };

    ck_assert_ptr_nonnull(document);
    strcpy(document, before);
    for (size_t i = 0; i < SIZE; i++)
        document[lead + i] = i % 2 ? '=' : 'x';
    strcpy(document + lead + SIZE, after);
    MUST(mo_xml_parse_memory("doc", document, strlen(document), &keep, &t,
                             &t.xml, &err));
    ck_assert_uint_eq(t.length, _i == 2 ? SIZE : 0);
    free(document);
}
END_TEST

START_TEST(lines_are_counted_beyond_sixteen_bits)
{
    enum { LINES = 200000 };
    char *document = malloc(LINES + 100);
    transcript t = { .stop_at = NULL };
    size_t used = 0;

    used += (size_t) sprintf(document, "<q>");
    memset(document + used, '\n', LINES);
    used += LINES;
    used += (size_t) sprintf(document + used, "<b\n\nx='1'/><c/></q>");
    MUST(mo_xml_parse_memory("doc", document, used, &hear, &t, &t.xml, &err));
    ck_assert_str_eq(t.text, "q@1{b@200001 x=1{}c@200003{}}");
    free(document);
}
END_TEST

START_TEST(attributes_are_found_by_their_name_alone)
{
    mo_xml_attribute attributes[] = {
        { "id", "http://other", "1", 1 },
        { "id", NULL, "2", 1 },
    };
    mo_xml_element element = { "a", NULL, attributes, 2, 0, 1 };

    ck_assert_ptr_eq(mo_xml_find(&element, "id"), &attributes[1]);
    ck_assert_ptr_null(mo_xml_find(&element, "key"));
}
END_TEST

START_TEST(files_are_read_like_memory)
{
    transcript t = { .stop_at = NULL };

    scratch_write("doc.xml", "<a>t</a>");
    MUST(mo_xml_parse_file("doc.xml", &hear, &t, &t.xml, &err));
    ck_assert_str_eq(t.text, "a@1{t}");
}
END_TEST

/* Byte by byte, as from a slow writer. */
START_TEST(standard_input_is_read_like_a_file)
{
    static const char document[] = "<a>t</a>";
    transcript t = { .stop_at = NULL };
    int ends[2], old = dup(STDIN_FILENO);

    ck_assert_int_eq(pipe(ends), 0);
    for (size_t i = 0; i < sizeof document - 1; i++)
        ck_assert_int_eq(write(ends[1], document + i, 1), 1);
    close(ends[1]);
    ck_assert_int_ge(dup2(ends[0], STDIN_FILENO), 0);
    MUST(mo_xml_parse_file("-", &hear, &t, &t.xml, &err));
    ck_assert_str_eq(t.text, "a@1{t}");
    dup2(old, STDIN_FILENO);
    close(old);
    close(ends[0]);
}
END_TEST

static const struct {
    const char *path, *error;
} bad_files[] = {
    { "missing.xml", "missing.xml: cannot open: No such file or directory" },
    { ".", ".: is a directory; give a file in it" },
};

START_TEST(a_file_that_cannot_be_read_is_an_error)
{
    transcript t = { .stop_at = NULL };
    mo_error err = { 0 };
    mo_status status =
        mo_xml_parse_file(bad_files[_i].path, &hear, &t, &t.xml, &err);

    must_refuse(bad_files[_i].path, status, &err, "", bad_files[_i].error);
    ck_assert_int_eq(status, MO_E_IO);
}
END_TEST

SUITE(xml)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(a_document_is_heard_element_by_element, COUNT(events));
    EACH(every_common_encoding_is_read, COUNT(encodings));
    EACH(what_cannot_be_read_is_told_in_one_line, COUNT(refusals));
    TEST(a_handlers_error_stops_the_parser_and_gets_the_place);
    SOME(long_parts_that_are_no_tags_are_read, COUNT(long_parts), 1);
    EACH(blocks_may_end_anywhere, 80);
    TEST(lines_are_counted_beyond_sixteen_bits);
    TEST(attributes_are_found_by_their_name_alone);
    TEST(files_are_read_like_memory);
    TEST(standard_input_is_read_like_a_file);
    EACH(a_file_that_cannot_be_read_is_an_error, COUNT(bad_files));
}
