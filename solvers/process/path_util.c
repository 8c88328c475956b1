/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/path_util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

char *mo_path_format(const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}

const char *mo_path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool mo_path_is_program(const char *path)
{
    struct stat state;

    return stat(path, &state) == 0 && S_ISREG(state.st_mode) &&
           access(path, X_OK) == 0;
}

/* Programs are started in other folders: a path of a relative folder in PATH
 * has to be made absolute. */
char *mo_path_search(const char *name)
{
    const char *folders = getenv("PATH");

    while (folders && *folders) {
        size_t length = strcspn(folders, ":");

        if (length > 0) {
            char *path = mo_path_format("%.*s/%s", (int) length, folders, name);

            if (path && mo_path_is_program(path)) {
                char *absolute = *path == '/' ? path : mo_path_absolute(path);

                if (absolute != path)
                    free(path);
                return absolute;
            }
            free(path);
        }
        folders += length + (folders[length] == ':');
    }
    return NULL;
}

char *mo_path_absolute(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *folder = mo_path_format("%.*s", slash ? (int) (slash - path) + 1 : 1,
                                  slash ? path : ".");
    char *resolved = folder ? realpath(folder, NULL) : NULL;
    char *absolute = NULL;

    if (resolved && access(path, F_OK) == 0)
        absolute = mo_path_format("%s%s%s", resolved,
                                  strcmp(resolved, "/") == 0 ? "" : "/", name);
    free(resolved);
    free(folder);
    return absolute;
}

mo_status mo_path_list_append(mo_path_list *list, char *path, mo_error *err)
{
    mo_status status =
        path ? mo_array_reserve((void **) &list->paths, &list->capacity,
                                list->n + 2, sizeof *list->paths, err)
             : mo_fail_memory(err);

    if (status != MO_OK) {
        free(path);
        return status;
    }
    list->paths[list->n++] = path;
    list->paths[list->n] = NULL;
    return MO_OK;
}

void mo_path_list_clear(mo_path_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (mo_path_list){ 0 };
}
