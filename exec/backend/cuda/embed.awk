# SPDX-License-Identifier: Apache-2.0
# Turns a CUDA source into C string literals, one for each line, which a C file
# includes: the text that NVRTC compiles is part of the program.
#
#   /* embed: NAME */       the lines up to the next such marker become
#                           static const char NAME[]; before the first marker
#                           they are literals without a declaration
#   /* example:begin */     dropped up to /* example:end */: definitions for
#   /* example:end */       reading and compiling the file alone
#
# Comments on lines of their own are dropped, and so are blank lines at either
# end of a text.

function close_text()
{
    if (named)
        print "    ;"
    held = started = 0
}

in_comment {
    in_comment = $0 !~ /\*\//
    next
}
/^[ \t]*\/\* embed: [a-z0-9_]+ \*\/$/ {
    close_text()
    named = 1
    print "static const char " $3 "[] ="
    next
}
/^\/\* example:begin \*\/$/ { in_example = 1 }
/^\/\* example:end \*\/$/ {
    in_example = 0
    next
}
in_example { next }
/^[ \t]*\/\*/ {
    in_comment = $0 !~ /\*\//
    if ($0 ~ /\*\/[ \t]*[^ \t]/) {
        print FILENAME ":" FNR ": code behind a comment" > "/dev/stderr"
        exit 1
    }
    next
}
/^$/ {
    held += started
    next
}
{
    for (; held; held--)
        print "\"\\n\""
    gsub(/\\/, "&&")
    gsub(/"/, "\\\\&")
    print "\"" $0 "\\n\""
    started = 1
}
END { close_text() }
