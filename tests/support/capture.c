/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/capture.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

static struct {
    int fd, saved;
    FILE *file;
    char text[1 << 16];
} capture;

void capture_begin(int fd)
{
    fflush(NULL);
    capture.fd = fd;
    capture.saved = dup(fd);
    capture.file = tmpfile();
    ck_assert_ptr_nonnull(capture.file);
    ck_assert_int_ge(dup2(fileno(capture.file), fd), 0);
}

const char *capture_end(void)
{
    size_t n;

    fflush(NULL);
    dup2(capture.saved, capture.fd);
    close(capture.saved);
    rewind(capture.file);
    n = fread(capture.text, 1, sizeof capture.text - 1, capture.file);
    capture.text[n] = '\0';
    fclose(capture.file);
    return capture.text;
}
