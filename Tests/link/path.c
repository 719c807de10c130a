// One direction: a queue in front of a line of a rate, and packets on their way through a delay.
#include "link.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// splitmix64: the same seed loses the same packets.
static double chance(struct path *path) {
    uint64_t z = path->random += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

void path_start(struct path *path, uint64_t seed) {
    path->random = seed;
    path->counts.changed = now();
    path->room = 1024;
    path->waiting = calloc(path->room, sizeof *path->waiting);
    path->flight_room = 1024;
    path->flying = calloc(path->flight_room, sizeof *path->flying);
    path->figures = (struct figures){.queue = 1000, .gap = 5, .icmp = 1};
}

// Gilbert-Elliott with two states: nothing is lost in the good one, all in the bad one.
static bool loses(struct path *path) {
    double loss = path->figures.loss / 100, burst = path->figures.burst;
    if (loss <= 0) return path->losing = false;
    if (burst <= 1 || loss >= 1) return path->losing = chance(path) < loss;
    double recovery = 1 / burst, fall = loss * recovery / (1 - loss);
    path->losing = path->losing ? chance(path) >= recovery : chance(path) < fall;
    return path->losing;
}

static struct packet **grown(struct packet **ring, unsigned *head, unsigned *tail, unsigned *room) {
    struct packet **larger = calloc(*room * 2, sizeof *larger);
    unsigned count = *tail - *head;
    for (unsigned i = 0; i < count; i++) larger[i] = ring[(*head + i) % *room];
    free(ring);
    *head = 0, *tail = count, *room *= 2;
    return larger;
}

// Queues a packet for the link, unless it is lost. Returns false if the packet was dropped.
bool path_take(struct path *path, const unsigned char *bytes, int length, int64_t time) {
    if (loses(path)) return path->counts.lost++, false;
    if (path->figures.rate > 0 && path->queued + length > path->figures.queue * 1000 && path->head != path->tail)
        return path->counts.overflowed++, false;
    if (path->tail - path->head == path->room)
        path->waiting = grown(path->waiting, &path->head, &path->tail, &path->room);
    struct packet *packet = malloc(sizeof *packet + length);
    packet->at = time, packet->length = length, packet->number = path->number++;
    memcpy(packet->bytes, bytes, length);
    path->waiting[path->tail++ % path->room] = packet;
    path->queued += length;
    return true;
}

static bool earlier(const struct packet *a, const struct packet *b) {
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void fly(struct path *path, struct packet *packet) {
    if (path->flights == path->flight_room)
        path->flying = realloc(path->flying, (path->flight_room *= 2) * sizeof *path->flying);
    unsigned i = path->flights++;
    for (; i && earlier(packet, path->flying[(i - 1) / 2]); i = (i - 1) / 2)
        path->flying[i] = path->flying[(i - 1) / 2];
    path->flying[i] = packet;
}

static struct packet *landed(struct path *path) {
    struct packet *first = path->flying[0], *last = path->flying[--path->flights];
    unsigned i = 0;
    for (unsigned child; (child = 2 * i + 1) < path->flights; i = child) {
        if (child + 1 < path->flights && earlier(path->flying[child + 1], path->flying[child])) child++;
        if (!earlier(path->flying[child], last)) break;
        path->flying[i] = path->flying[child];
    }
    path->flying[i] = last;
    return first;
}

// Jitter keeps the order of packets; only reordering changes it.
static void depart(struct path *path, struct packet *packet, int64_t left) {
    struct figures *figures = &path->figures;
    int64_t at = left + (int64_t)((figures->delay + figures->jitter * chance(path)) * 1e6);
    if (figures->reorder > 0 && chance(path) * 100 < figures->reorder) {
        at += (int64_t)(figures->gap * 1e6);
        path->counts.reordered++;
    } else {
        if (at < path->last_delivery) at = path->last_delivery;
        path->last_delivery = at;
    }
    packet->at = at;
    fly(path, packet);
}

// Sends and delivers the due packets. Returns the time of the next event, or INT64_MAX.
int64_t path_run(struct path *path, int device, int64_t time) {
    while (path->head != path->tail) {
        struct packet *packet = path->waiting[path->head % path->room];
        int64_t begin = packet->at > path->free_at ? packet->at : path->free_at;
        if (begin > time) break;
        path->head++;
        path->queued -= packet->length;
        double rate = path->figures.rate;
        path->free_at = rate > 0 ? begin + (int64_t)(packet->length * 8000.0 / rate) : begin;
        depart(path, packet, path->free_at);
    }
    while (path->flights && path->flying[0]->at <= time) {
        struct packet *packet = landed(path);
        // A device that is down accepts nothing: the packet is lost, as on a cut cable.
        if (write(device, packet->bytes, packet->length) < 0) path->counts.vanished++;
        free(packet);
    }
    int64_t next = path->flights ? path->flying[0]->at : INT64_MAX;
    if (path->head != path->tail && path->free_at < next) next = path->free_at;
    return next;
}
