/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/file_hints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/load_instance.h"

/* Appends path in its written form, unless that is too long. */
static mo_status append_hint(mo_path_list *hints, const char *path,
                             mo_error *err)
{
    char *text = malloc(4 * strlen(path) + 1), *at = text;

    if (!text)
        return mo_fail_memory(err);
    for (; *path; path++)
        if (*path >= ' ' && *path < 0x7f && *path != '\\')
            *at++ = *path;
        else
            at += sprintf(at, "\\x%02x", (unsigned char) *path);
    *at = '\0';
    if (at - text < MO_SOLUTION_FILE_SIZE)
        return mo_path_list_append(hints, text, err);
    free(text);
    return MO_OK;
}

/* Returns the path of file relative to folder, both absolute and without
 * symbolic links: "../net.onnx"; freed by the caller, NULL: no memory. */
static char *relative_path(const char *folder, const char *file)
{
    size_t same = 0, ups = 0;
    char *path, *at;

    /* Up to the last slash that both share; a folder ends at its 0. */
    for (size_t i = 0; folder[i] && folder[i] == file[i]; i++)
        if (file[i + 1] == '/' && (!folder[i + 1] || folder[i + 1] == '/'))
            same = i + 1;
    for (const char *c = folder + same; *c; c++)
        ups += *c == '/' && c[1];
    path = malloc(3 * ups + strlen(file + same) + 1);
    if (!path)
        return NULL;
    at = path;
    for (; ups > 0; ups--)
        at = stpcpy(at, "../");
    strcpy(at, file + same + 1);
    return path;
}

/* Appends the hints for one file, which may be none. */
static mo_status append_file(mo_path_list *hints, const char *folder,
                             const char *file, mo_error *err)
{
    char *absolute, *relative = NULL;
    size_t length = strlen(folder);
    mo_status status = MO_OK;

    if (!file || strcmp(file, "-") == 0)
        return MO_OK;
    errno = 0;
    absolute = mo_path_absolute(file);
    /* A built-in cluster or rule set has a name that is no file. */
    if (!absolute)
        return errno == ENOMEM ? mo_fail_memory(err) : MO_OK;
    if (length == 1)
        length = 0; /* of the root */
    if (strncmp(absolute, folder, length) != 0 || absolute[length] != '/' ||
        strchr(absolute + length + 1, '/')) {
        relative = relative_path(folder, absolute);
        status =
            relative ? append_hint(hints, relative, err) : mo_fail_memory(err);
        if (status == MO_OK)
            status = append_hint(hints, absolute, err);
    }
    free(relative);
    free(absolute);
    return status;
}

mo_status mo_file_hints_list(const mo_identity_options *made_of,
                             const char *output, mo_path_list *hints,
                             mo_error *err)
{
    const mo_driver_load_options load = { .cost = made_of->cost };
    const char *const files[] = { made_of->graph_file, made_of->cluster_file,
                                  made_of->profile_file,
                                  made_of->has_rules ? made_of->rules_file
                                                     : NULL,
                                  mo_driver_load_cost_file(&load) };
    const char *slash = strrchr(output, '/');
    char *path =
        slash ? mo_path_format("%.*s", (int) (slash - output) + 1, output)
              : mo_path_format(".");
    char *folder = path ? realpath(path, NULL) : NULL;
    mo_status status =
        folder || (path && errno != ENOMEM) ? MO_OK : mo_fail_memory(err);

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (status == MO_OK && folder)
            status = append_file(hints, folder, files[i], err);
    free(folder);
    free(path);
    return status;
}

/* Undoes the written form in place. */
static void decode(char *text)
{
    char *to = text;

    for (; *text; to++) {
        static const char hex[] = "0123456789abcdef";
        bool escaped =
            text[0] == '\\' && text[1] == 'x' && strspn(text + 2, hex) >= 2;

        *to = escaped ? (char) ((strchr(hex, text[2]) - hex) << 4 |
                                (strchr(hex, text[3]) - hex))
                      : *text;
        text += escaped ? 4 : 1;
    }
    *to = '\0';
}

mo_status mo_file_hints_resolve(const mo_solution_files *hints,
                                const char *beside, mo_path_list *paths,
                                mo_error *err)
{
    const char *slash = strrchr(beside, '/');
    mo_status status = MO_OK;

    for (int i = 0; i < hints->n && status == MO_OK; i++) {
        char file[MO_SOLUTION_FILE_SIZE];
        int length = slash ? (int) (slash - beside) + 1 : 0;

        strcpy(file, hints->path[i]);
        decode(file);
        status = mo_path_list_append(
            paths,
            mo_path_format("%.*s%s", *file == '/' ? 0 : length, beside, file),
            err);
    }
    return status;
}
