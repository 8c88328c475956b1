/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/xml.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>

#include "base/array.h"
#include "base/error.h"
#include "base/utf8.h"

/* Messages for errors of libxml2, with advice. */

typedef struct xml_error {
    int code; /* libxml2's; XML_ERR_OK: all others */
    mo_status status;
    const char *text;   /* NULL: libxml2's own */
    const char *advice; /* never NULL */
} xml_error;

/*
 * Table of libxml2's parser errors: status, message and advice by error code.
 */

/* A block is decoded before it is parsed, so the line may be a later one. */
#define BAD_BYTES    "bytes here or further on do not fit the file's encoding"
#define SAVE_AS_UTF8 "save it as UTF-8"

static const xml_error errors[] = {
    { XML_ERR_DOCUMENT_EMPTY, MO_E_SYNTAX, "it does not begin with '<'",
      "give a GraphML or other XML file, saved as UTF-8" },
    { XML_ERR_UNDECLARED_ENTITY, MO_E_SYNTAX, NULL,
      "write the character itself" },
    { XML_WAR_UNDECLARED_ENTITY, MO_E_SYNTAX, NULL,
      "write the character itself" },
    { XML_ERR_NAME_REQUIRED, MO_E_SYNTAX, "a '&' or '<' that begins nothing",
      "write &amp; or &lt; where the character is meant" },
    { XML_ERR_ENTITYREF_SEMICOL_MISSING, MO_E_SYNTAX,
      "a '&' that begins nothing", "write &amp; where the character is meant" },
    { XML_ERR_LT_IN_ATTRIBUTE, MO_E_SYNTAX, "a '<' in an attribute",
      "write &lt; where the character is meant" },
    { XML_ERR_TAG_NAME_MISMATCH, MO_E_SYNTAX, NULL, "the file may be damaged" },
    { XML_ERR_ATTRIBUTE_REDEFINED, MO_E_SYNTAX, NULL, "keep one of them" },
    { XML_NS_ERR_UNDEFINED_NAMESPACE, MO_E_SYNTAX, NULL,
      "declare the prefix with an xmlns: attribute" },
    { XML_ERR_INVALID_CHAR, MO_E_SYNTAX, NULL,
      "save it as UTF-8, without control characters" },
    { XML_ERR_INVALID_ENCODING, MO_E_SYNTAX, BAD_BYTES, SAVE_AS_UTF8 },
    { XML_I18N_CONV_FAILED, MO_E_SYNTAX, BAD_BYTES, SAVE_AS_UTF8 },
    { XML_ERR_UNSUPPORTED_ENCODING, MO_E_SYNTAX, NULL, SAVE_AS_UTF8 },
    { XML_ERR_UNKNOWN_ENCODING, MO_E_SYNTAX, NULL, SAVE_AS_UTF8 },
    { XML_ERR_NAME_TOO_LONG, MO_E_LIMIT, "a name is too long", "shorten it" },
    { XML_ERR_OK, MO_E_SYNTAX, NULL, "the file may be truncated or damaged" },
};

/* Returns the message for a code of libxml2; never NULL. */
static const xml_error *find_xml_error(int code)
{
    const xml_error *e = errors;

    while (e->code != code && e->code != XML_ERR_OK)
        e++;
    return e;
}

/* Returns its text, or libxml2's own message, which may be NULL; never NULL. */
static const char *xml_error_text(int code, const char *message)
{
    const char *text = find_xml_error(code)->text;

    return text ? text : message ? message : "libxml2 does not say why";
}

/*
 * Of libxml2's two streaming interfaces, xmlTextReader builds a node for every
 * element and needs several calls for each; the SAX2 push parser returns
 * pointers into its own buffer and takes the input block by block. The latter
 * is used: it is several times faster, and libxml2 never opens a file.
 *
 * The texts that a reader requested lie on one stack, since elements end in
 * the reverse order of their start:
 *
 *     <a>xx<b>yyy</b>x</a>      at </b>:  x x y y y
 *                                         ^a  ^b      b's goes, a's grows on
 */
typedef struct open_element {
    const char *name;
    int line;
    size_t text_start;
    bool wants_text;
    int n_namespaces; /* declared in its tag */
} open_element;

/* A tag that is not complete: the bytes that were searched for attributes, how
 * many were found, and the quote that is open there, or 0. */
typedef struct partial_tag {
    size_t n_searched;
    int n_found;
    xmlChar quote;
} partial_tag;

struct mo_xml {
    xmlParserCtxtPtr parser;
    const mo_xml_handler *handler;
    void *state;
    const char *file;
    mo_status status; /* of the first failure; MO_OK while all goes well */
    mo_error *err;
    int line;  /* where the last event ended */
    int depth; /* how many elements are open */
    bool has_root;
    bool at_end;      /* there are no more bytes */
    int n_namespaces; /* in force */
    partial_tag tag;
    char *text;
    size_t n_text, text_room;
    open_element open[MO_XML_MAX_DEPTH];
    mo_xml_attribute attributes[MO_XML_MAX_ATTRIBUTES];
};

/*
 * NOENT does not bring entities in: declaring them is refused, and no handler
 * returns one. Without it a '&' in an attribute comes as "&#38;", which a tree
 * builder is expected to know.
 */
#if LIBXML_VERSION >= 21300
enum { OPTIONS = XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_NO_XXE };
#else
enum { OPTIONS = XML_PARSE_NONET | XML_PARSE_NOENT };
#endif

static int current_line(const mo_xml *xml)
{
    return xmlSAX2GetLineNumber(xml->parser);
}

/* Keeps the first failure. Further events of the current block are ignored:
 * stopping libxml2 is not safe from every callback, and a block is short. */
static void stop_parser(mo_xml *xml, mo_status status, int line)
{
    mo_error_set_location(xml->err, xml->file, line);
    xml->status = status;
}

#define STOP_AT(xml, code, line, ...)                                          \
    stop_parser(                                                               \
        (xml),                                                                 \
        mo_fail_at((xml)->err, (code), (xml)->file, (line), __VA_ARGS__),      \
        (line))

void mo_xml_want_text(mo_xml *xml)
{
    xml->open[xml->depth - 1].wants_text = true;
}

const mo_xml_attribute *mo_xml_find(const mo_xml_element *element,
                                    const char *name)
{
    for (int i = 0; i < element->n_attributes; i++)
        if (!element->attributes[i].space &&
            strcmp(element->attributes[i].name, name) == 0)
            return &element->attributes[i];
    return NULL;
}

/*
 * Line where the tag begins: libxml2 calls at its end. No '<' can stand inside
 * a tag, so it is the last one before. Where no line ended since the last
 * event there is nothing to search.
 */
static int tag_line(const mo_xml *xml)
{
    const xmlParserInput *input = xml->parser->input;
    int line = current_line(xml);

    if (line == xml->line)
        return line;
    for (const xmlChar *at = input->cur; at > input->base && *at != '<'; at--)
        if (*at == '\n')
            line--;
    return line;
}

/* libxml2 gives five pointers for each attribute. */
static bool take_attributes(mo_xml *xml, const xmlChar **from, int n)
{
    for (int i = 0; i < n; i++, from += 5) {
        mo_xml_attribute *to = &xml->attributes[i];

        to->name = (const char *) from[0];
        to->space = (const char *) from[2];
        to->value = (const char *) from[3];
        to->length = (size_t) (from[4] - from[3]);
        if (to->length > MO_XML_MAX_VALUE)
            return false;
    }
    return true;
}

static bool check_limits(mo_xml *xml, const xmlChar *name, int n_namespaces,
                         int n_attributes, int line)
{
    if (xml->depth == MO_XML_MAX_DEPTH)
        STOP_AT(xml, MO_E_LIMIT, line,
                "element <%.100s> is nested more than %d deep; flatten the "
                "document",
                (const char *) name, MO_XML_MAX_DEPTH);
    else if (n_attributes > MO_XML_MAX_ATTRIBUTES)
        STOP_AT(xml, MO_E_LIMIT, line,
                "element <%.100s> has more than %d attributes; drop those that "
                "mean nothing here",
                (const char *) name, MO_XML_MAX_ATTRIBUTES);
    else if (n_namespaces > MO_XML_MAX_NAMESPACES - xml->n_namespaces)
        STOP_AT(xml, MO_E_LIMIT, line,
                "more than %d namespaces at element <%.100s>; declare those "
                "that are used",
                MO_XML_MAX_NAMESPACES, (const char *) name);
    return xml->status == MO_OK;
}

static void on_start(void *context, const xmlChar *name, const xmlChar *prefix,
                     const xmlChar *space, int n_namespaces,
                     const xmlChar **namespaces, int n_attributes,
                     int n_defaulted, const xmlChar **attributes)
{
    mo_xml *xml = context;
    mo_xml_element element;
    mo_status status;

    (void) prefix, (void) namespaces, (void) n_defaulted;
    if (xml->status != MO_OK)
        return;
    xml->tag = (partial_tag){ .n_searched = 0 };
    element.line = tag_line(xml);
    if (!check_limits(xml, name, n_namespaces, n_attributes, element.line))
        return;
    if (!take_attributes(xml, attributes, n_attributes)) {
        STOP_AT(xml, MO_E_LIMIT, element.line,
                "an attribute of element <%.100s> is longer than %d bytes; "
                "shorten it",
                (const char *) name, MO_XML_MAX_VALUE);
        return;
    }
    element.name = (const char *) name;
    element.space = (const char *) space;
    element.attributes = xml->attributes;
    element.n_attributes = n_attributes;
    element.depth = xml->depth;

    xml->has_root = true;
    xml->n_namespaces += n_namespaces;
    xml->open[xml->depth++] =
        (open_element){ element.name, element.line, xml->n_text, false,
                        n_namespaces };
    status = xml->handler->start(xml->state, &element, xml->err);
    if (status != MO_OK)
        stop_parser(xml, status, element.line);
    xml->line = current_line(xml);
}

/* libxml2 2.9 takes overlong forms in CDATA. */
static bool is_well_formed(const char *text, size_t length)
{
    uint32_t code;
    size_t at = 0, size = 1;

    for (; at < length && size > 0; at += size)
        size = mo_utf8_decode(text + at, length - at, &code);
    return size > 0;
}

static void on_end(void *context, const xmlChar *name, const xmlChar *prefix,
                   const xmlChar *space)
{
    mo_xml *xml = context;
    const open_element *closed;
    const char *text = "";
    size_t length = 0;
    mo_status status;

    (void) prefix, (void) space;
    if (xml->status != MO_OK)
        return;
    xml->tag = (partial_tag){ .n_searched = 0 };
    xml->line = current_line(xml);
    closed = &xml->open[--xml->depth];
    if (closed->wants_text && xml->n_text > closed->text_start) {
        text = xml->text + closed->text_start;
        length = xml->n_text - closed->text_start;
        xml->text[xml->n_text] = '\0';
    }
    if (!is_well_formed(text, length)) {
        const xml_error *c = find_xml_error(XML_ERR_INVALID_ENCODING);

        STOP_AT(xml, c->status, xml->line, "not well-formed XML: %s; %s",
                c->text, c->advice);
        return;
    }
    xml->n_text = closed->text_start;
    xml->n_namespaces -= closed->n_namespaces;
    status = xml->handler->end(xml->state, (const char *) name, text, length,
                               xml->line, xml->err);
    if (status != MO_OK)
        stop_parser(xml, status, xml->line);
}

static void on_text(void *context, const xmlChar *text, int length)
{
    mo_xml *xml = context;
    size_t need = xml->n_text + (size_t) length;

    if (xml->status != MO_OK || xml->depth == 0)
        return;
    xml->line = current_line(xml);
    if (!xml->open[xml->depth - 1].wants_text)
        return;
    if (need > MO_XML_MAX_TEXT) {
        STOP_AT(xml, MO_E_LIMIT, xml->line,
                "an element's text is longer than %d bytes; shorten it",
                MO_XML_MAX_TEXT);
        return;
    }
    if (need >= xml->text_room &&
        mo_array_reserve((void **) &xml->text, &xml->text_room, need + 1, 1,
                         xml->err) != MO_OK) {
        stop_parser(xml, MO_E_MEMORY, xml->line);
        return;
    }
    memcpy(xml->text + xml->n_text, text, (size_t) length);
    xml->n_text = need;
}

/*
 * A document may bring a type definition; nothing of it is used, and what
 * would make text out of nothing (entities, default attributes) is refused
 * before libxml2 stores it.
 */
static void refuse_declaration(mo_xml *xml, const char *what,
                               const xmlChar *name)
{
    if (xml->status == MO_OK)
        STOP_AT(xml, MO_E_SYNTAX, current_line(xml),
                "the document declares %s '%.100s', which is not supported; "
                "write out what it stands for and remove the declaration",
                what, (const char *) name);
}

static void on_entity(void *context, const xmlChar *name, int type,
                      const xmlChar *public_id, const xmlChar *system_id,
                      xmlChar *content)
{
    (void) type, (void) public_id, (void) system_id, (void) content;
    refuse_declaration(context, "entity", name);
}

static void on_unparsed_entity(void *context, const xmlChar *name,
                               const xmlChar *public_id,
                               const xmlChar *system_id,
                               const xmlChar *notation)
{
    (void) public_id, (void) system_id, (void) notation;
    refuse_declaration(context, "entity", name);
}

static void on_attribute(void *context, const xmlChar *element,
                         const xmlChar *name, int type, int kind,
                         const xmlChar *value, xmlEnumerationPtr choices)
{
    (void) element, (void) type, (void) kind, (void) value;
    xmlFreeEnumeration(choices);
    refuse_declaration(context, "attribute", name);
}

/* The input ended inside an element, tag or comment. */
static void fail_at_end(mo_xml *xml)
{
    if (xml->depth > 0)
        STOP_AT(xml, MO_E_SYNTAX, current_line(xml),
                "the file ends inside element <%.100s> of line %d; it is "
                "truncated or damaged, fetch or write it again",
                xml->open[xml->depth - 1].name, xml->open[xml->depth - 1].line);
    else
        STOP_AT(xml, MO_E_SYNTAX, current_line(xml), "%s",
                xml->has_root
                    ? "something follows the root element; remove it"
                    : "the file ends before its first element; it is "
                      "truncated or damaged, fetch or write it again");
}

/* From 2.12 on the error is const. */
#if LIBXML_VERSION >= 21200
typedef const xmlError *error_ptr;
#else
typedef xmlErrorPtr error_ptr;
#endif

static void on_error(void *context, error_ptr error)
{
    mo_xml *xml = context;
    const xml_error *c = find_xml_error(error->code);
    const char *text = xml_error_text(error->code, error->message);

    /* An undeclared entity is only a warning to libxml2 where the document
     * names a type definition that might declare it. */
    if (xml->status != MO_OK || (error->level < XML_ERR_ERROR &&
                                 error->code != XML_WAR_UNDECLARED_ENTITY))
        return;
    if (error->code == XML_ERR_NO_MEMORY)
        stop_parser(xml, mo_fail_memory(xml->err), 0);
    else if (xml->at_end && c->code == XML_ERR_OK)
        fail_at_end(xml);
    else
        STOP_AT(xml, c->status, error->line ? error->line : current_line(xml),
                "not well-formed XML: %.*s; %s", (int) strcspn(text, "\n"),
                text, c->advice);
}

static mo_status parser_new(mo_xml *xml)
{
    xmlSAXHandler sax = {
        .initialized = XML_SAX2_MAGIC,
        .startElementNs = on_start,
        .endElementNs = on_end,
        .characters = on_text,
        .ignorableWhitespace = on_text,
        .cdataBlock = on_text,
        .entityDecl = on_entity,
        .unparsedEntityDecl = on_unparsed_entity,
        .attributeDecl = on_attribute,
        .serror = on_error,
    };

    xml->parser = xmlCreatePushParserCtxt(&sax, xml, NULL, 0, NULL);
    if (!xml->parser)
        return mo_fail_memory(xml->err);
    xmlCtxtUseOptions(xml->parser, OPTIONS);
    return MO_OK;
}

/* How many '=' stand outside quotes in what is there of a tag; 0 when it is
 * text, a comment or the like. Each byte is searched once. */
static int count_attributes(partial_tag *tag, const xmlChar *text, size_t size)
{
    if (size < 2 || text[0] != '<' || text[1] == '!' || text[1] == '?')
        return 0;
    for (; tag->n_searched < size; tag->n_searched++) {
        xmlChar c = text[tag->n_searched];

        if (tag->quote)
            tag->quote = c == tag->quote ? 0 : tag->quote;
        else if (c == '"' || c == '\'')
            tag->quote = c;
        else
            tag->n_found += c == '=';
    }
    return tag->n_found;
}

/*
 * Limits what libxml2 keeps between two blocks: names, and a tag that is not
 * complete yet. The tag is checked before it is parsed, since the versions of
 * libxml2 in use compare each of its attributes with every other.
 */
static void check_kept(mo_xml *xml)
{
    const xmlParserInput *input = xml->parser->input;
    size_t pending = (size_t) (input->end - input->cur);

    if (xmlDictGetUsage(xml->parser->dict) > MO_XML_MAX_NAMES)
        STOP_AT(xml, MO_E_LIMIT, current_line(xml),
                "too many different names of elements, attributes and "
                "namespaces; write values as text or attribute values");
    else if (pending < MO_INPUT_BLOCK)
        return;
    else if (count_attributes(&xml->tag, input->cur, pending) >
             MO_XML_MAX_ATTRIBUTES + MO_XML_MAX_NAMESPACES)
        STOP_AT(xml, MO_E_LIMIT, current_line(xml),
                "a tag has more than %d attributes; drop those that mean "
                "nothing here",
                MO_XML_MAX_ATTRIBUTES);
    else if (pending > MO_XML_MAX_MARKUP)
        STOP_AT(xml, MO_E_LIMIT, current_line(xml),
                "a tag, comment or CDATA section is longer than %d bytes; "
                "shorten it",
                MO_XML_MAX_MARKUP);
}

static mo_status feed_parser(mo_xml *xml, mo_input *input)
{
    const char *data;
    size_t size;
    int code;

    do {
        mo_status status = mo_input_next(input, &data, &size, xml->err);

        if (status != MO_OK)
            return status;
        xml->at_end = size == 0;
        code = xmlParseChunk(xml->parser, data, (int) size, xml->at_end);
        if (xml->status == MO_OK && !xml->at_end)
            check_kept(xml);
    } while (xml->status == MO_OK && !xml->at_end);

    if (xml->status == MO_OK &&
        (code != XML_ERR_OK || !xml->has_root || xml->depth > 0))
        fail_at_end(xml);
    return xml->status;
}

mo_status mo_xml_parse(mo_input *input, const mo_xml_handler *handler,
                       void *state, mo_xml **out, mo_error *err)
{
    /* Encoders report to the thread's handler instead of the parser's. */
    xmlStructuredErrorFunc old_handler = xmlStructuredError;
    void *old_context = xmlStructuredErrorContext;
    mo_xml *xml = calloc(1, sizeof *xml);
    mo_status status;

    if (!xml)
        return mo_fail_memory(err);
    xml->handler = handler;
    xml->state = state;
    xml->file = mo_input_name(input);
    xml->err = err;
    *out = xml;

    xmlSetStructuredErrorFunc(xml, on_error);
    xmlInitParser();
    status = parser_new(xml);
    if (status == MO_OK)
        status = feed_parser(xml, input);
    xmlSetStructuredErrorFunc(old_context, old_handler);
    if (xml->parser) {
        xmlFreeDoc(xml->parser->myDoc);
        xmlFreeParserCtxt(xml->parser);
    }
    free(xml->text);
    free(xml);
    *out = NULL;
    return status;
}

mo_status mo_xml_parse_file(const char *path, const mo_xml_handler *handler,
                            void *state, mo_xml **xml, mo_error *err)
{
    mo_input *input = NULL;
    mo_status status = mo_input_open(path, &input, err);

    if (status == MO_OK)
        status = mo_xml_parse(input, handler, state, xml, err);
    mo_input_close(input);
    return status;
}

mo_status mo_xml_parse_memory(const char *file, const char *data, size_t size,
                              const mo_xml_handler *handler, void *state,
                              mo_xml **xml, mo_error *err)
{
    mo_input *input = NULL;
    mo_status status = mo_input_memory(file, data, size, &input, err);

    if (status == MO_OK)
        status = mo_xml_parse(input, handler, state, xml, err);
    mo_input_close(input);
    return status;
}
