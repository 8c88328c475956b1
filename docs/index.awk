# SPDX-License-Identifier: Apache-2.0
# index.awk - the index of the manuals, from their names and .Nd lines.
BEGIN {
    title[1] = "Commands"
    title[3] = "Library"
    title[5] = "File formats"
    title[7] = "Concepts"
    print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
    print "<meta name=\"viewport\" content=\"width=device-width\">"
    print "<link rel=\"stylesheet\" href=\"style.css\">"
    print "<title>Moirai</title>\n</head>\n<body>\n<h1>Moirai</h1>"
    print "<p>Places neural networks on unequal devices with proven gaps, " \
        "and runs them.\nStart with the <a href=\"tutorial.html\">tutorial" \
        "</a>.</p>"
}

FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    section = name
    sub(/.*[.]/, "", section)
    if (section != last) {
        if (last)
            print "</table>"
        print "<h2>" title[section] "</h2>\n<table class=\"index\">"
        last = section
    }
    shown = name
    sub(/[.][0-9]$/, "(" section ")", shown)
}

/^[.]Nd / {
    text = substr($0, 5)
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    print "<tr><td><a href=\"" name ".html\">" shown "</a></td><td>" text \
        "</td></tr>"
}

END { print "</table>\n</body>\n</html>" }
