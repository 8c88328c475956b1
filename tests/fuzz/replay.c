/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - main of a fuzzer without libFuzzer: runs it once on every file of
 * its corpus, as a regression test.
 *
 * The corpus of tests/fuzz/fuzz_graphml is tests/fuzz/corpus/graphml below the
 * environment's top_srcdir; files named as arguments replace it.
 */
#include <assert.h>
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_SIZE = 4096, INPUT_SIZE = 1 << 24 };

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(INPUT_SIZE);
    size_t size = 0;
    int done = file && data;

    if (done) {
        size = fread(data, 1, INPUT_SIZE, file);
        done = !ferror(file);
    }
    if (done)
        LLVMFuzzerTestOneInput(data, size);
    else
        perror(path);
    if (file)
        fclose(file);
    free(data);
    return done;
}

/* Returns the number of files replayed, or -1 when one could not be read. */
static int replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[PATH_SIZE + NAME_MAX + 1];
    int count = 0;

    while (dir && count >= 0 && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count = replay_file(path) ? count + 1 : -1;
    }
    if (dir)
        closedir(dir);
    return count;
}

static int replay_corpus(const char *program)
{
    const char *top = getenv("top_srcdir");
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    char folder[PATH_SIZE];
    int count;

    assert(strncmp(name, "fuzz_", strlen("fuzz_")) == 0);
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", top ? top : ".",
             name + strlen("fuzz_"));
    count = replay_folder(folder);
    printf("%s: %d files replayed\n", folder, count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return replay_corpus(argv[0]);
    for (int i = 1; i < argc; i++)
        if (!replay_file(argv[i]))
            return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
