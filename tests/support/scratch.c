/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/support/scratch.h"

#include <check.h>
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char before[PATH_MAX], folder[PATH_MAX];

void scratch_enter(void)
{
    const char *parent = getenv("TMPDIR");

    if (!getcwd(before, sizeof before))
        abort();
    snprintf(folder, sizeof folder, "%s/moirai-test.XXXXXX",
             parent ? parent : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        perror(folder);
        abort();
    }
}

static int remove_entry(const char *path, const struct stat *info, int type,
                        struct FTW *where)
{
    (void) info;
    (void) type;
    (void) where;
    return remove(path);
}

void scratch_leave(void)
{
    if (chdir(before) != 0)
        perror(before);
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void scratch_write(const char *file, const char *text)
{
    FILE *stream = fopen(file, "w");

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(text, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
}

const char *scratch_read(const char *file)
{
    static char text[1 << 20];
    FILE *stream = fopen(file, "r");
    size_t n;

    ck_assert_msg(stream != NULL, "%s is not there", file);
    n = fread(text, 1, sizeof text - 1, stream);
    text[n] = '\0';
    fclose(stream);
    return text;
}

size_t scratch_count(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    size_t n = 0;

    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            n++;
    closedir(dir);
    return n;
}
