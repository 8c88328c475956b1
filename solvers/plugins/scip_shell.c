/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moirai-scip LIBRARY ARGUMENT... - the scip program, where only its library
 * is installed, as in the Python package.
 */
#include <config.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCIP_OKAY = 1 };

typedef int run_shell(int argc, char **argv, const char *settings);

/* POSIX allows copying between object and function pointers, C does not allow
 * the cast. */
static run_shell *find_shell(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = library ? dlsym(library, "SCIPrunShell") : NULL;
    run_shell *shell = NULL;

    memcpy(&shell, &symbol, sizeof shell);
    return shell;
}

int main(int argc, char **argv)
{
    run_shell *shell;

    if (argc < 2) {
        fputs("usage: moirai-scip LIBRARY ARGUMENT...\n", stderr);
        return 2;
    }
    shell = find_shell(argv[1]);
    if (!shell) {
        fprintf(stderr, "moirai-scip: error: %s\n", dlerror());
        return EXIT_FAILURE;
    }
    argv[1] = argv[0];
    return shell(argc - 1, argv + 1, "scip.set") == SCIP_OKAY ? EXIT_SUCCESS
                                                              : EXIT_FAILURE;
}
