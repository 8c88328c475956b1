#include <config.h>

#include "exec/transport/meet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/stop.h"

/* What a caller says first. */
typedef struct hello {
    uint64_t secret;
    uint32_t rank;
    uint32_t zero;
} hello;

static const uint8_t loopback[16] = { 0, 0, 0,    0,    0,   0, 0, 0,
                                      0, 0, 0xff, 0xff, 127, 0, 0, 1 };

/* -------------------------------------------------------------------- cards */

/* IPv4 addresses are written as IPv6 has them: ::ffff:1.2.3.4. */
static bool read_address(const struct sockaddr *from, uint8_t to[16])
{
    if (from->sa_family == AF_INET) {
        struct sockaddr_in a;

        memcpy(&a, from, sizeof a);
        memset(to, 0, 10);
        memset(to + 10, 0xff, 2);
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

static void list_addresses(mo_card *card)
{
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && (i->ifa_flags & IFF_UP) &&
            !(i->ifa_flags & IFF_LOOPBACK) &&
            card->n_addresses < MO_MEET_ADDRESSES &&
            read_address(i->ifa_addr, card->addresses[card->n_addresses]))
            card->n_addresses++;
    freeifaddrs(all);
}

/* Two containers of one machine have one clock, whatever they call it. */
static void name_machine(mo_card *card)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!file || !fgets(card->machine, (int) sizeof card->machine, file))
        memcpy(card->machine, card->host, sizeof card->machine);
    if (file)
        fclose(file);
}

bool mo_meet_same_machine(const mo_card *a, const mo_card *b)
{
    return memcmp(a->machine, b->machine, sizeof a->machine) == 0;
}

/* Where there is no IPv6 at all, IPv4 alone. */
static int open_listener(void)
{
    struct sockaddr_in6 any6 = { .sin6_family = AF_INET6 };
    struct sockaddr_in any4 = { .sin_family = AF_INET };
    int off = 0, fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
        bind(fd, (struct sockaddr *) &any6, sizeof any6) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *) &any4, sizeof any4) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int port_of(int fd)
{
    struct sockaddr_storage at;
    struct sockaddr_in6 at6;
    struct sockaddr_in at4;
    socklen_t length = sizeof at;

    if (getsockname(fd, (struct sockaddr *) &at, &length) != 0)
        return 0;
    memcpy(&at6, &at, sizeof at6);
    memcpy(&at4, &at, sizeof at4);
    return ntohs(at.ss_family == AF_INET6 ? at6.sin6_port : at4.sin_port);
}

static mo_card write_card(void)
{
    mo_card card = { .host = "unknown" };

    if (gethostname(card.host, sizeof card.host - 1) != 0)
        card.host[0] = '?';
    name_machine(&card);
    list_addresses(&card);
    if (getrandom(&card.secret, sizeof card.secret, 0) < 0)
        card.secret = (uint64_t) mo_stop_clock_ns() ^ (uint64_t) getpid();
    return card;
}

mo_status mo_meet_listen(int n_ranks, mo_card *card, int *listener,
                         mo_error *err)
{
    *card = write_card();
    *listener = open_listener();
    if (*listener >= 0 && listen(*listener, n_ranks + 16) == 0) {
        card->port = port_of(*listener);
        return MO_OK;
    }
    mo_fail_errno(err, NULL, "listen for the other ranks");
    if (*listener >= 0)
        close(*listener);
    *listener = -1;
    return err ? err->status : MO_E_IO;
}

/* ------------------------------------------------------------------ calling */

static int left_ms(int64_t deadline_ns, int64_t at_most_ns)
{
    int64_t left = deadline_ns - mo_stop_clock_ns();

    if (left > at_most_ns)
        left = at_most_ns;
    return left > 0 ? (int) (left / 1000000) : 0;
}

static int start_connecting(const uint8_t address[16], int port)
{
    bool v4 = memcmp(address, loopback, 12) == 0;
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

static int call_address(const uint8_t address[16], int port,
                        int64_t deadline_ns)
{
    int fd = start_connecting(address, port), failed = -1;
    struct pollfd polled = { .fd = fd, .events = POLLOUT };
    socklen_t length = sizeof failed;

    if (fd < 0)
        return -1;
    if (poll(&polled, 1, left_ms(deadline_ns, 2000000000)) == 1 &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length) == 0 &&
        failed == 0)
        return fd;
    close(fd);
    return -1;
}

static int call(const mo_card *own, const mo_card *other, int64_t deadline_ns)
{
    int fd = -1;

    if (mo_meet_same_machine(own, other))
        fd = call_address(loopback, other->port, deadline_ns);
    for (int i = 0; i < other->n_addresses && fd < 0; i++)
        fd = call_address(other->addresses[i], other->port, deadline_ns);
    return fd;
}

static mo_status call_those_before(const mo_card *cards, int rank,
                                   int64_t deadline_ns, int *sockets,
                                   mo_error *err)
{
    hello h = { cards[0].secret, (uint32_t) rank, 0 };

    for (int r = 0; r < rank; r++) {
        sockets[r] = call(&cards[rank], &cards[r], deadline_ns);
        if (sockets[r] < 0 ||
            send(sockets[r], &h, sizeof h, MSG_NOSIGNAL) != sizeof h)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) cannot be reached at port %d: "
                           "see that it is still there, and that no firewall "
                           "is between it and host %s",
                           r, cards[r].host, (int) cards[r].port,
                           cards[rank].host);
    }
    return MO_OK;
}

/* ---------------------------------------------------------------- answering */

/* Who calls; -1: nobody of ours. */
static int identify(int fd, const mo_card *cards, int n_ranks, int rank,
                    int64_t deadline_ns)
{
    struct pollfd polled = { .fd = fd, .events = POLLIN };
    hello h;

    if (poll(&polled, 1, left_ms(deadline_ns, 1000000000)) != 1 ||
        recv(fd, &h, sizeof h, MSG_DONTWAIT) != sizeof h ||
        h.secret != cards[0].secret || h.rank >= (uint32_t) n_ranks ||
        h.rank <= (uint32_t) rank)
        return -1;
    return (int) h.rank;
}

static void answer_one(const mo_card *cards, int n_ranks, int rank,
                       int listener, int64_t deadline_ns, int *sockets)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int caller;

    if (fd < 0)
        return;
    caller = identify(fd, cards, n_ranks, rank, deadline_ns);
    if (caller >= 0 && sockets[caller] < 0)
        sockets[caller] = fd;
    else
        close(fd);
}

static int first_missing(const int *sockets, int n_ranks, int rank)
{
    for (int r = rank + 1; r < n_ranks; r++)
        if (sockets[r] < 0)
            return r;
    return -1;
}

/* One we are connected to and that has ended since; -1: none. */
static int first_gone(const int *sockets, int n_ranks)
{
    char byte;

    for (int r = 0; r < n_ranks; r++)
        if (sockets[r] >= 0 &&
            recv(sockets[r], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            return r;
    return -1;
}

static mo_status answer_those_behind(const mo_card *cards, int n_ranks,
                                     int rank, int listener,
                                     int64_t deadline_ns, int *sockets,
                                     mo_error *err)
{
    struct pollfd polled = { .fd = listener, .events = POLLIN };
    int missing, gone;

    while ((missing = first_missing(sockets, n_ranks, rank)) >= 0) {
        int wait_ms = left_ms(deadline_ns, 20000000);

        gone = first_gone(sockets, n_ranks);
        if (gone >= 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) is gone: it was killed, or has "
                           "failed",
                           gone, cards[gone].host);
        if (wait_ms == 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has not called in time: see "
                           "that it is still there, and that no firewall is "
                           "between it and host %s",
                           missing, cards[missing].host, cards[rank].host);
        if (poll(&polled, 1, wait_ms) == 1)
            answer_one(cards, n_ranks, rank, listener, deadline_ns, sockets);
    }
    return MO_OK;
}

mo_status mo_meet_all(const mo_card *cards, int n_ranks, int rank, int listener,
                      double seconds, int *sockets, mo_error *err)
{
    int64_t deadline_ns = mo_stop_clock_ns() + (int64_t) (seconds * 1e9);
    mo_status status;

    for (int r = 0; r < n_ranks; r++)
        sockets[r] = -1;
    status = call_those_before(cards, rank, deadline_ns, sockets, err);
    if (status == MO_OK)
        status = answer_those_behind(cards, n_ranks, rank, listener,
                                     deadline_ns, sockets, err);
    for (int r = 0; r < n_ranks && status != MO_OK; r++) {
        if (sockets[r] >= 0)
            close(sockets[r]);
        sockets[r] = -1;
    }
    return status;
}
