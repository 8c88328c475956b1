/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tar.h - tar archives of plain files (POSIX.1-2001 pax, ustar headers).
 *
 * Archives are written as a stream and are functions of names and contents:
 * time and owner are 0, the mode is 0644. Long names and sizes from 8 GiB on
 * are in pax headers. Reading yields an index of the members, whose bytes
 * lie contiguously in the archive and can be mapped in place.
 *
 * What is read is not trusted: members have plain names without folders, each
 * once; links, devices and anything else that is no regular file are refused.
 */
#ifndef MO_BASE_TAR_H
#define MO_BASE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"

enum { MO_TAR_BLOCK = 512 };

/* Appends a member with size bytes at data. */
void mo_tar_put_bytes(mo_out *out, const char *name, const char *data,
                      size_t size);

/* Appends the file at path as a member. A file that shrinks or grows meanwhile
 * is an error. Failed writes are kept by out. */
mo_status mo_tar_put_file(mo_out *out, const char *name, const char *path,
                          mo_error *err);

/* The same for an open file, which path names in errors. Closes it, whatever
 * the result. */
mo_status mo_tar_put_fd(mo_out *out, const char *name, int fd, const char *path,
                        mo_error *err);

/* Appends the end mark; the caller commits out. */
void mo_tar_put_end(mo_out *out);

typedef struct mo_tar_member {
    char *name; /* owned by the index */
    int64_t offset, size;
} mo_tar_member;

/* Starts as zeros. */
typedef struct mo_tar_index {
    mo_tar_member *members; /* in the order of the archive */
    size_t n, room;
} mo_tar_index;

/* Returns whether the first MO_TAR_BLOCK bytes of a file are those of a tar
 * archive. */
bool mo_tar_sniff(const char block[MO_TAR_BLOCK]);

/* Reads the headers of the archive in fd, a regular file, whose position does
 * not matter and is left alone; file is its name for errors. Archives of GNU
 * tar are read, too. The caller clears *index, whatever the result. */
mo_status mo_tar_index_read(int fd, const char *file, mo_tar_index *index,
                            mo_error *err);
void mo_tar_index_clear(mo_tar_index *index);

/* Returns the member of that name, borrowed from index, or NULL. */
const mo_tar_member *mo_tar_find(const mo_tar_index *index, const char *name);

/* Copies a member of the archive in fd to a new file at path, which must not
 * exist. */
mo_status mo_tar_extract(int fd, const char *file, const mo_tar_member *member,
                         const char *path, mo_error *err);

#endif
