/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/stop.h"

const uint8_t mo_rdv_address_loopback[MO_RDV_ADDRESS_BYTES] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1
};

static const int64_t call_ns = 2000000000;

bool mo_rdv_address_from_sockaddr(const struct sockaddr *from,
                                  uint8_t to[MO_RDV_ADDRESS_BYTES])
{
    if (from->sa_family == AF_INET) {
        struct sockaddr_in a;

        memcpy(&a, from, sizeof a);
        memcpy(to, mo_rdv_address_loopback, 12);
        memcpy(to + 12, &a.sin_addr, 4);
        return true;
    }
    if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 a;

        memcpy(&a, from, sizeof a);
        memcpy(to, &a.sin6_addr, 16);
        return !IN6_IS_ADDR_LINKLOCAL(&a.sin6_addr);
    }
    return false;
}

static int resolve_with_flags(const char *host, int flags,
                              uint8_t (*found)[MO_RDV_ADDRESS_BYTES], int n)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
    struct addrinfo *all = NULL;
    int count = 0, failed = getaddrinfo(host, NULL, &hints, &all);

    if (failed != 0)
        return failed == EAI_MEMORY ? -1 : 0;
    for (struct addrinfo *i = all; i && count < n; i = i->ai_next)
        if (mo_rdv_address_from_sockaddr(i->ai_addr, found[count]))
            count++;
    freeaddrinfo(all);
    return count;
}

int mo_rdv_address_resolve(const char *host,
                           uint8_t (*found)[MO_RDV_ADDRESS_BYTES], int n)
{
    return resolve_with_flags(host, 0, found, n);
}

bool mo_rdv_address_parse_loopback(const char *host,
                                   uint8_t address[MO_RDV_ADDRESS_BYTES])
{
    uint8_t found[1][MO_RDV_ADDRESS_BYTES];

    if (strcmp(host, "localhost") == 0) {
        memcpy(address, mo_rdv_address_loopback, MO_RDV_ADDRESS_BYTES);
        return true;
    }
    if (resolve_with_flags(host, AI_NUMERICHOST, found, 1) <= 0 ||
        !mo_rdv_address_is_loopback(found[0]))
        return false;
    memcpy(address, found[0], MO_RDV_ADDRESS_BYTES);
    return true;
}

static bool is_v4(const uint8_t address[MO_RDV_ADDRESS_BYTES])
{
    return memcmp(address, mo_rdv_address_loopback, 12) == 0;
}

bool mo_rdv_address_is_loopback(const uint8_t address[MO_RDV_ADDRESS_BYTES])
{
    static const uint8_t v6[MO_RDV_ADDRESS_BYTES] = { [15] = 1 };

    return is_v4(address) ? address[12] == 127
                          : mo_rdv_address_equal(address, v6);
}

bool mo_rdv_address_equal(const uint8_t a[MO_RDV_ADDRESS_BYTES],
                          const uint8_t b[MO_RDV_ADDRESS_BYTES])
{
    return memcmp(a, b, MO_RDV_ADDRESS_BYTES) == 0;
}

void mo_rdv_address_format(const struct sockaddr *from,
                           char text[MO_RDV_ADDRESS_TEXT])
{
    uint8_t address[MO_RDV_ADDRESS_BYTES];
    bool v4;

    snprintf(text, MO_RDV_ADDRESS_TEXT, "this machine");
    if (from->sa_family != AF_INET && from->sa_family != AF_INET6)
        return;
    mo_rdv_address_from_sockaddr(from, address);
    v4 = is_v4(address);
    inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + 12 : address, text,
              MO_RDV_ADDRESS_TEXT);
}

static int bind_v6(const uint8_t *address, int port)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6 };
    int off = 0, on = 1;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    at.sin6_port = htons((uint16_t) port);
    if (address)
        memcpy(&at.sin6_addr, address, MO_RDV_ADDRESS_BYTES);
    if (fd >= 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
        bind(fd, (struct sockaddr *) &at, sizeof at) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int bind_v4(const uint8_t *address, int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    at.sin_port = htons((uint16_t) port);
    if (address)
        memcpy(&at.sin_addr, address + 12, 4);
    if (fd >= 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, (struct sockaddr *) &at, sizeof at) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int mo_rdv_socket_listen(const uint8_t *address, int port, int backlog)
{
    int fd = -1, error;

    if (!address || !is_v4(address))
        fd = bind_v6(address, port);
    /* Without any IPv6: IPv4 alone. */
    if (fd < 0 && (!address || is_v4(address)))
        fd = bind_v4(address, port);
    if (fd < 0 || listen(fd, backlog) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

int mo_rdv_socket_local_port(int listener)
{
    struct sockaddr_storage at;
    struct sockaddr_in6 at6;
    struct sockaddr_in at4;
    socklen_t length = sizeof at;

    if (getsockname(listener, (struct sockaddr *) &at, &length) != 0)
        return 0;
    memcpy(&at6, &at, sizeof at6);
    memcpy(&at4, &at, sizeof at4);
    return ntohs(at.ss_family == AF_INET6 ? at6.sin6_port : at4.sin_port);
}

int mo_rdv_timeout_ms(int64_t deadline_ns, int64_t at_most_ns)
{
    int64_t left = deadline_ns - mo_stop_clock_ns();

    if (left > at_most_ns)
        left = at_most_ns;
    return left > 0 ? (int) ((left + 999999) / 1000000) : 0;
}

/* EINTR: poll again for the remaining time. */
bool mo_rdv_socket_poll(int socket, short events, int64_t deadline_ns)
{
    struct pollfd polled = { .fd = socket, .events = events };
    int came;

    do
        came = poll(&polled, 1,
                    mo_rdv_timeout_ms(deadline_ns, INT64_C(3600000000000)));
    while (came < 0 && errno == EINTR);
    return came == 1;
}

static int start_connecting(const uint8_t address[MO_RDV_ADDRESS_BYTES],
                            int port)
{
    bool v4 = is_v4(address);
    struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };
    struct sockaddr_in to4 = { .sin_family = AF_INET };
    int fd = socket(v4 ? AF_INET : AF_INET6,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    to6.sin6_port = to4.sin_port = htons((uint16_t) port);
    memcpy(&to6.sin6_addr, address, 16);
    memcpy(&to4.sin_addr, address + 12, 4);
    if (connect(fd, v4 ? (struct sockaddr *) &to4 : (struct sockaddr *) &to6,
                v4 ? sizeof to4 : sizeof to6) == 0 ||
        errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

int mo_rdv_socket_connect(const uint8_t address[MO_RDV_ADDRESS_BYTES], int port,
                          int64_t deadline_ns)
{
    int64_t soon_ns = mo_stop_clock_ns() + call_ns;
    int fd = start_connecting(address, port), failed = -1;
    socklen_t length = sizeof failed;

    if (fd < 0)
        return -1;
    if (mo_rdv_socket_poll(fd, POLLOUT,
                           soon_ns < deadline_ns ? soon_ns : deadline_ns) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length) == 0 &&
        failed == 0)
        return fd;
    close(fd);
    return -1;
}
