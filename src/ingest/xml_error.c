/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of libxml2's parser errors: status, message and advice by error code.
 */
#include "ingest/xml_error.h"

#include <libxml/xmlerror.h>

/* A block is decoded before it is parsed, so the line may be a later one. */
#define BAD_BYTES    "bytes here or further on do not fit the file's encoding"
#define SAVE_AS_UTF8 "save it as UTF-8"

static const mo_xml_error errors[] = {
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

const mo_xml_error *mo_xml_error_find(int code)
{
    const mo_xml_error *e = errors;

    while (e->code != code && e->code != XML_ERR_OK)
        e++;
    return e;
}

const char *mo_xml_error_text(int code, const char *message)
{
    const char *text = mo_xml_error_find(code)->text;

    return text ? text : message ? message : "libxml2 does not say why";
}

bool mo_xml_error_is_failure(int code, int level)
{
    return level >= XML_ERR_ERROR || code == XML_WAR_UNDECLARED_ENTITY;
}
