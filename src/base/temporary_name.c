/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/temporary_name.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"

enum { LETTERS = 6 };

static const char letters_used[] = "abcdefghijklmnopqrstuvwxyz0123456789";

size_t mo_temporary_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t) (slash - path) + 1 : 0;
}

char *mo_temporary_stem(const char *path)
{
    static const char mark[] = ".moirai-";
    size_t folder = mo_temporary_folder_length(path),
           name = strlen(path + folder);
    size_t longest = NAME_MAX - 1 - (sizeof mark - 1) - LETTERS;
    size_t size = strlen(path) + 1 + sizeof mark + LETTERS;
    char *stem = malloc(size);

    if (stem)
        snprintf(stem, size, "%.*s.%.*s%s", (int) folder, path,
                 (int) (name < longest ? name : longest), path + folder, mark);
    return stem;
}

void mo_temporary_letters(char *letters, int attempt)
{
    struct timespec now;
    uint64_t bits;
    int64_t seed[4];

    clock_gettime(CLOCK_REALTIME, &now);
    seed[0] = now.tv_sec;
    seed[1] = now.tv_nsec;
    seed[2] = getpid();
    seed[3] = attempt;
    bits = mo_digest_of(seed, sizeof seed);
    for (int i = 0; i < LETTERS; i++, bits /= 36)
        letters[i] = letters_used[bits % 36];
    letters[LETTERS] = '\0';
}

bool mo_temporary_is_name(const char *name, const char *stem)
{
    size_t length = strlen(stem);

    return strncmp(name, stem, length) == 0 &&
           strlen(name + length) == LETTERS &&
           strspn(name + length, letters_used) == LETTERS;
}
