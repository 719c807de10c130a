// link CLIENT SERVER CONTROL [KEY=VALUE…]: joins two network namespaces by a link, until it is ended by SIGTERM.
// link tell CONTROL COMMAND…: sends a command to a link that runs, and prints its answer.
// README.md describes keys and commands. A namespace is a name of `ip netns` or a path.
#define _GNU_SOURCE
#include "link.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 8 };

int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void die(const char *what) {
    fprintf(stderr, "link: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int device_in(const char *namespace) {
    char path[300];
    snprintf(path, sizeof path, strchr(namespace, '/') ? "%s" : "/run/netns/%s", namespace);
    int place = open(path, O_RDONLY | O_CLOEXEC);
    if (place < 0 || setns(place, CLONE_NEWNET)) die(path);
    close(place);
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) die("/dev/net/tun");
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "wan0"};
    if (ioctl(device, TUNSETIFF, &request)) die("the device wan0");
    return device;
}

static struct sockaddr_un address_of(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) errno = ENAMETOOLONG, die(path);
    strcpy(address.sun_path, path);
    return address;
}

static int tell(const char *path, int count, char **words) {
    struct sockaddr_un address = address_of(path);
    int socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(socket_, (struct sockaddr *)&address, sizeof address)) die(path);
    for (int i = 0; i < count; i++) dprintf(socket_, "%s%s", words[i], i + 1 < count ? " " : "\n");
    char reply[4096];
    ssize_t length = 0, got;
    while (length < (ssize_t)sizeof reply - 1 && !memchr(reply, '\n', length)
           && (got = read(socket_, reply + length, sizeof reply - 1 - length)) > 0)
        length += got;
    reply[length] = 0;
    fputs(reply, stdout);
    return length == 0 || !strncmp(reply, "error", 5);
}

// Reads packets of one direction, and puts those that live in front of the link.
static void take_packets(struct link *link, int direction) {
    struct path *path = &link->path[direction];
    struct counts *counts = &path->counts;
    unsigned char bytes[LARGEST_PACKET], answer[LARGEST_PACKET];
    // The limit gives the other direction its turn.
    for (int turn = 0; turn < 64; turn++) {
        int length = read(link->device[direction], bytes, sizeof bytes), back = 0;
        if (length <= 0) return;
        int64_t time = now();
        struct segment segment = segment_of(bytes, length);
        bool known = flow_is_known(segment, direction, link->idle, time);
        if (path->figures.state == HOLE) {
            counts->vanished++;
            continue;
        } else if (path->figures.state == UNREACHABLE) {
            counts->vanished++;
            back = refusal_of(bytes, length, 0, answer);
        } else if (!known) {
            counts->forgotten++;
            if (link->resets) back = reset_of(bytes, length, answer);
        } else if (path->figures.mtu > 0 && length > path->figures.mtu) {
            counts->oversized++;
            if (path->figures.icmp != 0) back = refusal_of(bytes, length, (int)path->figures.mtu, answer);
        } else if (path_take(path, bytes, length, time)) {
            counts->packets++, counts->bytes += length;
            if (segment.tcp) counts->syn += segment.flags >> 1 & 1, counts->data += segment.payload > 0;
            if (segment.tcp && segment.payload > 0) counts->payload += segment.payload;
            if (!counts->first) counts->first = time;
            fire_triggers(link, direction);
        }
        if (back && write(link->device[direction], answer, back) < 0) counts->vanished++;
    }
}

struct client { int socket; int length; char line[1024]; };

// Returns false if the client has closed its connection.
static bool serve(struct link *link, struct client *client) {
    ssize_t got = read(client->socket, client->line + client->length, sizeof client->line - 1 - client->length);
    if (got <= 0) return false;
    client->length += got;
    client->line[client->length] = 0;
    for (char *end; (end = strchr(client->line, '\n'));) {
        *end++ = 0;
        char reply[4096];
        command(link, client->line, reply, sizeof reply - 1);
        strcat(reply, "\n");
        if (send(client->socket, reply, strlen(reply), MSG_NOSIGNAL) < 0) return false;
        client->length -= end - client->line;
        memmove(client->line, end, client->length + 1);
    }
    return client->length < (int)sizeof client->line - 1;
}

static int listener_at(const char *path) {
    struct sockaddr_un address = address_of(path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    unlink(path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, CLIENTS)) die(path);
    return listener;
}

static volatile sig_atomic_t ended;
static void end(int signal) { ended = signal; }

static void run(struct link *link, int listener) {
    struct client clients[CLIENTS];
    int count = 0;
    while (!ended) {
        int64_t time = now(), next = path_run(&link->path[UP], link->device[DOWN], time);
        int64_t other = path_run(&link->path[DOWN], link->device[UP], time);
        if (other < next) next = other;
        int64_t wait = next == INT64_MAX ? 1000000000 : next > time ? next - time : 0;
        if (wait > 1000000000) wait = 1000000000;
        struct pollfd polled[3 + CLIENTS] = {
            {link->device[UP], POLLIN, 0}, {link->device[DOWN], POLLIN, 0},
            {count < CLIENTS ? listener : -1, POLLIN, 0},
        };
        for (int i = 0; i < count; i++) polled[3 + i] = (struct pollfd){clients[i].socket, POLLIN, 0};
        struct timespec timeout = {wait / 1000000000, wait % 1000000000};
        if (ppoll(polled, 3 + count, &timeout, NULL) <= 0) continue;
        for (int i = count - 1; i >= 0; i--)
            if (polled[3 + i].revents && !serve(link, &clients[i])) {
                close(clients[i].socket);
                clients[i] = clients[--count];
            }
        if (polled[2].revents) {
            int socket_ = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (socket_ >= 0) clients[count++] = (struct client){.socket = socket_};
        }
        for (int i = 0; i < DIRECTIONS; i++) if (polled[i].revents & POLLIN) take_packets(link, i);
    }
}

int main(int count, char **words) {
    if (count > 3 && !strcmp(words[1], "tell")) return tell(words[2], count - 3, words + 3);
    if (count < 4) {
        fputs("usage: link CLIENT SERVER CONTROL [KEY=VALUE...]\n       link tell CONTROL COMMAND...\n", stderr);
        return 2;
    }
    static struct link link;
    uint64_t seed = 1;
    int first = 4;
    if (count > 4 && !strncmp(words[4], "seed=", 5)) seed = strtoull(words[first++] + 5, NULL, 10);
    int listener = listener_at(words[3]);
    link.device[UP] = device_in(words[1]);
    link.device[DOWN] = device_in(words[2]);
    for (int i = 0; i < DIRECTIONS; i++) path_start(&link.path[i], seed * 2 + i);
    for (int i = first; i < count; i++) {
        const char *wrong = change(&link, words[i], now());
        if (wrong) return fprintf(stderr, "link: %s: %s\n", words[i], wrong), 2;
    }
    // Timers of the kernel may be late by 50 microseconds; at 1 Gbit/s that is four packets.
    prctl(PR_SET_TIMERSLACK, 1000);
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL), sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    // The process that waits for the devices reads this line.
    puts("ready"), fflush(stdout);
    run(&link, listener);
    unlink(words[3]);
    return 0;
}
