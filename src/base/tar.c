/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/async_writer.h"
#include "base/beneath.h"

/* A larger extended header or more members are refused. */
enum { MOST_EXTENDED = 1 << 16, MOST_MEMBERS = 1 << 12, PIECE = 1 << 20 };

/* The largest size that eleven octal digits hold. */
#define MOST_OCTAL INT64_C(077777777777)

typedef struct header {
    char name[100];
    char mode[8], uid[8], gid[8];
    char size[12], mtime[12];
    char checksum[8];
    char type;
    char link[100];
    char magic[6], version[2];
    char user[32], group[32];
    char major[8], minor[8];
    char prefix[155];
    char unused[12];
} header;

_Static_assert(sizeof(header) == MO_TAR_BLOCK, "a header is one block");

/* The checksum field counts as blanks. */
static unsigned checksum(const header *h)
{
    const unsigned char *at = (const unsigned char *) h;
    unsigned sum = 0;

    for (size_t i = 0; i < sizeof *h; i++) {
        bool own = i >= offsetof(header, checksum) &&
                   i < offsetof(header, checksum) + sizeof h->checksum;

        sum += own ? ' ' : at[i];
    }
    return sum;
}

static void put_padding(mo_out *out, int64_t size)
{
    static const char zeros[MO_TAR_BLOCK];
    size_t rest = (size_t) (size % MO_TAR_BLOCK);

    if (rest > 0)
        mo_out_bytes(out, zeros, MO_TAR_BLOCK - rest);
}

static void put_block(mo_out *out, const char *name, int64_t size, char type)
{
    header h = { .mode = "0000644",
                 .uid = "0000000",
                 .gid = "0000000",
                 .mtime = "00000000000",
                 .type = type,
                 .magic = "ustar",
                 .version = { '0', '0' },
                 .major = "0000000",
                 .minor = "0000000" };

    memcpy(h.name, name, strnlen(name, sizeof h.name));
    snprintf(h.size, sizeof h.size, "%011" PRIo64,
             (uint64_t) (size > MOST_OCTAL ? 0 : size));
    snprintf(h.checksum, sizeof h.checksum, "%06o", checksum(&h));
    h.checksum[7] = ' ';
    mo_out_bytes(out, (const char *) &h, sizeof h);
}

/* "LENGTH KEY=VALUE\n", where LENGTH counts itself. Returns its end. */
static size_t add_record(char *text, size_t size, const char *key,
                         const char *value)
{
    size_t body = strlen(key) + strlen(value) + 3, length = body + 1;

    for (size_t digits = 1, limit = 10; length >= limit; limit *= 10)
        length = body + ++digits;
    snprintf(text, size, "%zu %s=%s\n", length, key, value);
    return length;
}

static bool is_ascii(const char *text)
{
    while (*text && (unsigned char) *text < 0x80)
        text++;
    return *text == '\0';
}

static void put_header(mo_out *out, const char *name, int64_t size)
{
    char records[1024], number[24];
    size_t n = 0;

    if (strlen(name) > sizeof((header *) 0)->name || !is_ascii(name))
        n += add_record(records, sizeof records, "path", name);
    if (size > MOST_OCTAL) {
        snprintf(number, sizeof number, "%" PRId64, size);
        n += add_record(records + n, sizeof records - n, "size", number);
    }
    if (n > 0) {
        put_block(out, "pax_header", (int64_t) n, 'x');
        mo_out_bytes(out, records, n);
        put_padding(out, (int64_t) n);
    }
    put_block(out, n > 0 && !is_ascii(name) ? "member" : name, size, '0');
}

void mo_tar_put_bytes(mo_out *out, const char *name, const char *data,
                      size_t size)
{
    put_header(out, name, (int64_t) size);
    mo_out_bytes(out, data, size);
    put_padding(out, (int64_t) size);
}

static mo_status copy_file(int fd, const char *path, int64_t size, mo_out *out,
                           mo_error *err)
{
    char *piece = malloc(PIECE);
    int64_t copied = 0;
    ssize_t got = 1;
    mo_status status = piece ? MO_OK : mo_fail_memory(err);

    while (status == MO_OK && got > 0) {
        got = read(fd, piece, PIECE);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            status = mo_fail_errno(err, path, "cannot read");
        else if (copied + got <= size) {
            mo_out_bytes(out, piece, (size_t) got);
            copied += got;
            status = mo_out_failure(out, err);
        } else {
            copied = size + 1;
            break;
        }
    }
    free(piece);
    if (status == MO_OK && copied != size)
        status = mo_fail_at(err, MO_E_IO, path, 0,
                            "changed while it was copied; try again");
    return status;
}

mo_status mo_tar_put_file(mo_out *out, const char *name, const char *path,
                          mo_error *err)
{
    int fd = mo_open_nonblocking(path);

    return fd < 0 ? mo_fail_errno(err, path, "cannot open")
                  : mo_tar_put_fd(out, name, fd, path, err);
}

mo_status mo_tar_put_fd(mo_out *out, const char *name, int fd, const char *path,
                        mo_error *err)
{
    struct stat about;
    mo_status status;

    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        status = mo_fail_at(err, MO_E_IO, path, 0,
                            "is no plain file; copy it into one first");
    } else {
        put_header(out, name, about.st_size);
        status = copy_file(fd, path, about.st_size, out, err);
        put_padding(out, about.st_size);
    }
    close(fd);
    return status;
}

void mo_tar_put_end(mo_out *out)
{
    static const char zeros[2 * MO_TAR_BLOCK];

    mo_out_bytes(out, zeros, sizeof zeros);
}

typedef struct reader {
    int fd;
    const char *file;
    int64_t at, end; /* the next header; the size of the archive */
    char *name;      /* of the next member, from an extended header */
    int64_t size;    /* likewise, or -1 */
    mo_tar_index *index;
} reader;

static mo_status fail_at_byte(const reader *r, const char *what, mo_error *err)
{
    return mo_fail_at(err, MO_E_SYNTAX, r->file, 0,
                      "at byte %" PRId64 ": %s; copy or pack it again", r->at,
                      what);
}

static mo_status read_at(const reader *r, int64_t offset, void *to, size_t size,
                         mo_error *err)
{
    char *at = to;

    while (size > 0) {
        ssize_t got = pread(r->fd, at, size, offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mo_fail_errno(err, r->file, "cannot read");
        if (got == 0)
            return fail_at_byte(r, "the archive was cut off", err);
        at += got;
        offset += got;
        size -= (size_t) got;
    }
    return MO_OK;
}

/* Octal digits between blanks, or the binary form of GNU tar. */
static bool read_number(const char *field, size_t size, int64_t *number)
{
    size_t i = 0;

    *number = 0;
    if (field[0] & 0x80) {
        for (i = 1; i < size; i++) {
            if (*number > INT64_MAX >> 8)
                return false;
            *number = *number << 8 | (unsigned char) field[i];
        }
        return (unsigned char) field[0] == 0x80;
    }
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        *number = *number << 3 | (field[i] - '0');
    return i < size ? field[i] == '\0' || field[i] == ' ' : true;
}

bool mo_tar_sniff(const char block[MO_TAR_BLOCK])
{
    header h;

    memcpy(&h, block, sizeof h);
    return memcmp(h.magic, "ustar", 5) == 0;
}

/* The value of the last record with that key; NULL: none, and *well is false
 * if the records are malformed. */
static const char *find_record(const char *text, size_t size, const char *key,
                               size_t *length, bool *well)
{
    const char *found = NULL, *at = text, *end = text + size;
    size_t key_length = strlen(key);

    *well = true;
    while (at < end && *at) {
        const char *from = at;
        size_t record = 0;

        for (; at < end && *at >= '0' && *at <= '9' && record < size; at++)
            record = record * 10 + (size_t) (*at - '0');
        if (at == end || *at != ' ' || record > (size_t) (end - from) ||
            from + record < at + 3 || from[record - 1] != '\n') {
            *well = false;
            return NULL;
        }
        at++;
        if (strncmp(at, key, key_length) == 0 && at[key_length] == '=') {
            found = at + key_length + 1;
            *length = (size_t) (from + record - 1 - found);
        }
        at = from + record;
    }
    return found;
}

static mo_status take_records(reader *r, const char *text, size_t size,
                              mo_error *err)
{
    size_t length = 0;
    bool well;
    const char *value = find_record(text, size, "path", &length, &well);

    if (value) {
        free(r->name);
        r->name = strndup(value, length);
        if (!r->name)
            return mo_fail_memory(err);
    }
    value = well ? find_record(text, size, "size", &length, &well) : NULL;
    if (value &&
        (length == 0 || length > 18 || strspn(value, "0123456789") != length))
        well = false;
    else if (value)
        r->size = strtoll(value, NULL, 10);
    return well ? MO_OK
                : fail_at_byte(r, "an extended header is malformed", err);
}

/* pax: records; GNU tar: the name alone. */
static mo_status read_extended(reader *r, char type, int64_t size,
                               mo_error *err)
{
    char *text;
    mo_status status;

    if (size > MOST_EXTENDED)
        return fail_at_byte(r, "an extended header is too large", err);
    text = calloc(1, (size_t) size + 1);
    if (!text)
        return mo_fail_memory(err);
    status = read_at(r, r->at + MO_TAR_BLOCK, text, (size_t) size, err);
    if (status == MO_OK && type == 'x')
        status = take_records(r, text, (size_t) size, err);
    if (status == MO_OK && type == 'L') {
        free(r->name);
        r->name = text;
        return MO_OK;
    }
    free(text);
    return status;
}

static bool is_plain_name(const char *name)
{
    for (const char *at = name; *at; at++)
        if (*at == '/' || (unsigned char) *at < ' ' || *at == 0x7f)
            return false;
    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strlen(name) < 256;
}

static mo_status add_member(reader *r, const header *h, int64_t size,
                            mo_error *err)
{
    mo_tar_index *index = r->index;
    char *own = r->name ? strdup(r->name) : strndup(h->name, sizeof h->name);
    mo_status status =
        own ? MO_ARRAY_GROW(index->members, index->n, index->room, err)
            : mo_fail_memory(err);

    if (status == MO_OK && strncmp(own, "./", 2) == 0)
        memmove(own, own + 2, strlen(own) - 1);
    if (status == MO_OK && (!is_plain_name(own) || h->prefix[0]))
        status = mo_fail_at(err, MO_E_INPUT, r->file, 0,
                            "member '%.100s' is not a plain name; members "
                            "have no folders here",
                            own);
    else if (status == MO_OK && mo_tar_find(index, own))
        status = mo_fail_at(err, MO_E_INPUT, r->file, 0,
                            "member '%.100s' is there twice", own);
    else if (status == MO_OK && index->n == MOST_MEMBERS)
        status = mo_fail_at(err, MO_E_LIMIT, r->file, 0,
                            "has more than %d members", MOST_MEMBERS);
    if (status != MO_OK) {
        free(own);
        return status;
    }
    index->members[index->n++] =
        (mo_tar_member){ own, r->at + MO_TAR_BLOCK, size };
    return MO_OK;
}

/* Reads the member or extended header h at r->at, and advances. */
static mo_status take_header(reader *r, const header *h, mo_error *err)
{
    int64_t size, sum;
    bool extended = h->type == 'x' || h->type == 'L' || h->type == 'g';
    mo_status status = MO_OK;

    if (memcmp(h->magic, "ustar", 5) != 0 ||
        !read_number(h->checksum, sizeof h->checksum, &sum) ||
        sum != checksum(h))
        return fail_at_byte(r, "this is no header of a tar archive", err);
    if (!read_number(h->size, sizeof h->size, &size))
        return fail_at_byte(r, "a size is no number", err);
    if (!extended && r->size >= 0)
        size = r->size;
    if (h->type == '5')
        size = 0;
    if (size < 0 || size > r->end - r->at - MO_TAR_BLOCK)
        return fail_at_byte(r, "the archive was cut off", err);
    if (extended)
        status = read_extended(r, h->type, size, err);
    else if (h->type == '0' || h->type == '\0' || h->type == '7')
        status = add_member(r, h, size, err);
    else if (h->type != '5')
        status = mo_fail_at(err, MO_E_INPUT, r->file, 0,
                            "member '%.100s' is a link or a device; only "
                            "plain files are read",
                            h->name);
    if (!extended) {
        free(r->name);
        r->name = NULL;
        r->size = -1;
    }
    r->at +=
        MO_TAR_BLOCK + (size + MO_TAR_BLOCK - 1) / MO_TAR_BLOCK * MO_TAR_BLOCK;
    return status;
}

mo_status mo_tar_index_read(int fd, const char *file, mo_tar_index *index,
                            mo_error *err)
{
    static const header zeros;
    reader r = { .fd = fd, .file = file, .size = -1, .index = index };
    struct stat about;
    mo_status status = MO_OK;
    header h;

    if (fstat(fd, &about) != 0)
        return mo_fail_errno(err, file, "cannot read");
    if (!S_ISREG(about.st_mode))
        return mo_fail_at(err, MO_E_IO, file, 0,
                          "is no plain file; copy the archive into one");
    r.end = about.st_size;
    while (status == MO_OK) {
        status = read_at(&r, r.at, &h, sizeof h, err);
        if (status == MO_OK && memcmp(&h, &zeros, sizeof h) == 0)
            break;
        if (status == MO_OK)
            status = take_header(&r, &h, err);
    }
    free(r.name);
    return status;
}

void mo_tar_index_clear(mo_tar_index *index)
{
    for (size_t i = 0; i < index->n; i++)
        free(index->members[i].name);
    free(index->members);
    *index = (mo_tar_index){ 0 };
}

const mo_tar_member *mo_tar_find(const mo_tar_index *index, const char *name)
{
    for (size_t i = 0; i < index->n; i++)
        if (strcmp(index->members[i].name, name) == 0)
            return &index->members[i];
    return NULL;
}

mo_status mo_tar_extract(int fd, const char *file, const mo_tar_member *member,
                         const char *path, mo_error *err)
{
    const reader r = { .fd = fd, .file = file, .at = member->offset };
    char *piece = malloc(PIECE);
    mo_status status = MO_OK;
    int to;

    do
        to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    while (to < 0 && errno == EINTR);
    if (to < 0)
        status = mo_fail_errno(err, path, "cannot make it");
    else if (!piece)
        status = mo_fail_memory(err);
    for (int64_t at = 0; at < member->size && status == MO_OK; at += PIECE) {
        int64_t rest = member->size - at;
        size_t n = rest < PIECE ? (size_t) rest : PIECE;

        status = read_at(&r, member->offset + at, piece, n, err);
        errno = status == MO_OK ? mo_write_all(to, piece, n) : 0;
        if (errno != 0)
            status = mo_fail_errno(err, path, "cannot write");
    }
    /* After EINTR the descriptor is closed all the same. */
    if (to >= 0 && close(to) != 0 && errno != EINTR && status == MO_OK)
        status = mo_fail_errno(err, path, "cannot write");
    free(piece);
    return status;
}
