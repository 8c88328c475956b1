# SPDX-License-Identifier: Apache-2.0
# page.awk - a web page from the Markdown of docs: headings, paragraphs, fenced
# code, `code`, **strong** and [text](address).
function escaped(text)
{
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

# Replaces pairs of a mark by an element.
function paired(text, mark, element,    at, out, closing)
{
    while ((at = index(text, mark)) > 0) {
        out = out substr(text, 1, at - 1) (closing ? "</" : "<") element ">"
        text = substr(text, at + length(mark))
        closing = !closing
    }
    return out text
}

function linked(text,    out, name, address)
{
    while (match(text, /\[[^]]*\]\([^)]*\)/)) {
        name = substr(text, RSTART + 1, RLENGTH - 2)
        address = name
        sub(/\]\(.*/, "", name)
        sub(/.*\]\(/, "", address)
        out = out substr(text, 1, RSTART - 1) "<a href=\"" address "\">" name \
            "</a>"
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}

function inline(text)
{
    return linked(paired(paired(escaped(text), "`", "code"), "**", "strong"))
}

function end_paragraph()
{
    if (in_paragraph)
        print "</p>"
    in_paragraph = 0
}

NR == 1 {
    print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
    print "<meta name=\"viewport\" content=\"width=device-width\">"
    print "<link rel=\"stylesheet\" href=\"style.css\">"
    print "<title>" escaped(substr($0, 3)) "</title>\n</head>\n<body>"
    print "<p><a href=\"index.html\">Moirai</a></p>"
}

/^```/ {
    end_paragraph()
    in_code = !in_code
    printf "%s", in_code ? "<pre>" : "</pre>\n"
    next
}
in_code { print escaped($0); next }
/^# / { print "<h1>" inline(substr($0, 3)) "</h1>"; next }
/^## / { end_paragraph(); print "<h2>" inline(substr($0, 4)) "</h2>"; next }
/^$/ { end_paragraph(); next }
{
    if (!in_paragraph)
        print "<p>"
    in_paragraph = 1
    print inline($0)
}

END { end_paragraph(); print "</body>\n</html>" }
