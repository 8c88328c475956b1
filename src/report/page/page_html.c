/* SPDX-License-Identifier: Apache-2.0 */
/* The page: a template with style, script and data in it. */
#include "report/page/page.h"

#include <stdlib.h>

#include "report/page/page_files.h"

static void put_lines(const char *const *lines, mo_out *out)
{
    for (; *lines; lines++)
        mo_out_text(out, *lines);
}

/* JSON inside of HTML: '<' is in strings only, where it can be escaped. */
static void put_data(const char *data, size_t size, mo_out *out)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] == '<')
            mo_out_text(out, "\\u003c");
        else
            mo_out_char(out, data[i]);
}

mo_status mo_page_html(const mo_page *page, mo_out *out, mo_error *err)
{
    mo_out *memory = NULL;
    char *data = NULL;
    size_t size = 0;
    mo_status status = mo_out_memory(&memory, err);

    if (status == MO_OK)
        status = mo_page_json(page, memory, err);
    if (status == MO_OK && !(data = mo_out_take(memory, &size)))
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        mo_out_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                         "<meta charset=\"utf-8\">\n<title>");
        mo_out_xml(out, page->graph_file);
        mo_out_text(out, " - moirai report</title>\n<style>\n");
        put_lines(mo_page_style, out);
        mo_out_text(out, "</style>\n</head>\n");
        put_lines(mo_page_body, out);
        mo_out_text(out, "<script type=\"application/json\" id=\"data\">\n");
        put_data(data, size, out);
        mo_out_text(out, "</script>\n<script>\n");
        put_lines(mo_page_script, out);
        mo_out_text(out, "</script>\n</body>\n</html>\n");
    }
    free(data);
    mo_out_abandon(memory);
    return status;
}
