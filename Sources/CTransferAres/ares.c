#if !__has_include(<ares.h>)
#error "c-ares is missing: apt-get install libc-ares-dev"
#endif
#define _GNU_SOURCE
// What is deprecated in 1.34 is all that 1.18 has.
#define CARES_NO_DEPRECATED
#include "CTransferAres.h"
#include <ares.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

_Static_assert(TRANSFER_ARES_SOCKETS == ARES_GETSOCK_MAXNUM, "sockets");
_Static_assert(TRANSFER_ARES_SUCCESS == ARES_SUCCESS, "a status");
_Static_assert(TRANSFER_ARES_ENODATA == ARES_ENODATA, "a status");
_Static_assert(TRANSFER_ARES_ENOTFOUND == ARES_ENOTFOUND, "a status");
_Static_assert(TRANSFER_ARES_EBADNAME == ARES_EBADNAME, "a status");
_Static_assert(TRANSFER_ARES_ECONNREFUSED == ARES_ECONNREFUSED, "a status");
_Static_assert(TRANSFER_ARES_ETIMEOUT == ARES_ETIMEOUT, "a status");
_Static_assert(TRANSFER_ARES_EDESTRUCTION == ARES_EDESTRUCTION, "a status");
_Static_assert(TRANSFER_ARES_ENOTINITIALIZED == ARES_ENOTINITIALIZED, "a status");
_Static_assert(TRANSFER_ARES_ECANCELLED == ARES_ECANCELLED, "a status");

const int transfer_socket_datagram = SOCK_DGRAM;
const int transfer_socket_cloexec = SOCK_CLOEXEC;
const int transfer_socket_nonblock = SOCK_NONBLOCK;

struct transfer_ares {
    ares_channel channel;
    struct ares_socket_functions functions;
    transfer_ares_open open;
    void *owner;
    transfer_ares_finish finish;
    void *user;
};

static ares_socket_t open_socket(int family, int type, int protocol, void *user) {
    struct transfer_ares *channel = user;
    return channel->open(family, type, protocol, channel->owner);
}

static int close_socket(ares_socket_t socket, void *user) {
    (void)user;
    return close(socket);
}

static int connect_socket(ares_socket_t socket, const struct sockaddr *address, ares_socklen_t size, void *user) {
    (void)user;
    return connect(socket, address, size);
}

static ares_ssize_t receive(
    ares_socket_t socket, void *bytes, size_t count, int flags, struct sockaddr *from, ares_socklen_t *size,
    void *user) {
    (void)user;
    return recvfrom(socket, bytes, count, flags, from, size);
}

// A connection that was closed must be an error, not the end of the program.
static ares_ssize_t send_parts(ares_socket_t socket, const struct iovec *parts, int count, void *user) {
    (void)user;
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

static int library_status;
static void prepare_library(void) __attribute__((constructor));
static void prepare_library(void) { library_status = ares_library_init(ARES_LIB_INIT_ALL); }

int transfer_ares_create(
    struct transfer_ares **made, int searches, int usesTCP, int rotates, int milliseconds, int tries, char **domains,
    int count, const char *servers, transfer_ares_open open, void *user) {
    if (library_status != ARES_SUCCESS) return library_status;
    struct transfer_ares *channel = calloc(1, sizeof *channel);
    if (!channel) return ARES_ENOMEM;
    // `resolvconf_path` keeps it off the system's.
    struct ares_options options = {
        .flags = (searches ? 0 : ARES_FLAG_NOSEARCH) | (usesTCP ? ARES_FLAG_USEVC : 0),
        .timeout = milliseconds,
        .tries = tries,
        .ndots = 1,
        .domains = domains,
        .ndomains = count,
        .lookups = (char *)"fb",
        .resolvconf_path = (char *)"/dev/null",
    };
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_DOMAINS
        | ARES_OPT_LOOKUPS | ARES_OPT_RESOLVCONF | (rotates ? ARES_OPT_ROTATE : ARES_OPT_NOROTATE);
    int status = ares_init_options(&channel->channel, &options, mask);
    if (status != ARES_SUCCESS) {
        free(channel);
        return status;
    }
    channel->open = open;
    channel->owner = user;
    channel->functions = (struct ares_socket_functions){
        .asocket = open_socket,
        .aclose = close_socket,
        .aconnect = connect_socket,
        .arecvfrom = receive,
        .asendv = send_parts,
    };
    ares_set_socket_functions(channel->channel, &channel->functions, channel);
    status = ares_set_servers_ports_csv(channel->channel, servers);
    if (status != ARES_SUCCESS) {
        transfer_ares_destroy(channel);
        return status;
    }
    *made = channel;
    return ARES_SUCCESS;
}

void transfer_ares_destroy(struct transfer_ares *channel) {
    ares_destroy(channel->channel);
    free(channel);
}

static void finished(void *user, int status, int timeouts, struct ares_addrinfo *list) {
    (void)timeouts;
    struct transfer_ares *channel = user;
    const char *addresses[64];
    static _Thread_local char texts[64][64];
    int count = 0;
    for (struct ares_addrinfo_node *node = list ? list->nodes : NULL; node && count < 64; node = node->ai_next) {
        if (getnameinfo(node->ai_addr, node->ai_addrlen, texts[count], 64, NULL, 0, NI_NUMERICHOST) != 0) continue;
        addresses[count] = texts[count];
        count++;
    }
    if (list) ares_freeaddrinfo(list);
    channel->finish(channel->user, status, addresses, count);
}

void transfer_ares_look_up(struct transfer_ares *channel, const char *name, transfer_ares_finish finish, void *user) {
    channel->finish = finish;
    channel->user = user;
    struct ares_addrinfo_hints hints = {.ai_family = AF_UNSPEC};
    ares_getaddrinfo(channel->channel, name, NULL, &hints, finished, channel);
}

void transfer_ares_cancel(struct transfer_ares *channel) { ares_cancel(channel->channel); }

unsigned transfer_ares_sockets(struct transfer_ares *channel, int *sockets) {
    return (unsigned)ares_getsock(channel->channel, sockets, ARES_GETSOCK_MAXNUM);
}

int transfer_ares_wait(struct transfer_ares *channel, int most) {
    struct timeval bound = {.tv_sec = most / 1000, .tv_usec = most % 1000 * 1000}, left;
    struct timeval *wait = ares_timeout(channel->channel, &bound, &left);
    return wait ? (int)(wait->tv_sec * 1000 + (wait->tv_usec + 999) / 1000) : most;
}

void transfer_ares_process(struct transfer_ares *channel, int reading, int writing) {
    ares_process_fd(channel->channel, reading, writing);
}

const char *transfer_ares_words(int status) { return ares_strerror(status); }

int transfer_read_address(const char *text, unsigned char bytes[4]) {
    struct in_addr address;
    if (!inet_aton(text, &address)) return 0;
    memcpy(bytes, &address, 4);
    return 1;
}
