/* SPDX-License-Identifier: Apache-2.0 */
/* The report as an HTML page: a template with style, script and JSON data. */
#include "report/page/page.h"

#include <stdlib.h>

static void put_lines(const char *const *lines, mo_out *out)
{
    for (; *lines; lines++)
        mo_out_text(out, *lines);
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
                         "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                         "content=\"width=device-width, initial-scale=1\">\n"
                         "<title>");
        mo_out_xml(out, page->graph_file);
        mo_out_text(out, " - moirai report</title>\n<style>\n");
        put_lines(mo_page_style, out);
        mo_out_text(out, "</style>\n</head>\n");
        put_lines(mo_page_body, out);
        mo_out_text(out, "<script type=\"application/json\" id=\"data\">\n");
        /* No string of the data may end the script element: '<' occurs in
         * strings only, and is escaped there. */
        for (size_t i = 0; i < size; i++)
            if (data[i] == '<')
                mo_out_text(out, "\\u003c");
            else
                mo_out_char(out, data[i]);
        mo_out_text(out, "</script>\n<script>\n");
        put_lines(mo_page_script, out);
        mo_out_text(out, "</script>\n</body>\n</html>\n");
    }
    free(data);
    mo_out_abandon(memory);
    return status;
}
