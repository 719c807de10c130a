// Commands: KEY=VALUE for both directions, `up.KEY=VALUE` or `down.KEY=VALUE` for one.
#include "link.h"
#include <linux/if_tun.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define FIGURE(name) {#name, offsetof(struct figures, name)}
static const struct { const char *name; size_t place; } keys[] = {
    FIGURE(delay), FIGURE(jitter), FIGURE(gap), FIGURE(loss), FIGURE(burst), FIGURE(reorder),
    FIGURE(rate), FIGURE(queue), FIGURE(mtu), FIGURE(icmp),
};
static const char *states[] = {"passing", "hole", "unreachable"};

static bool number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && *value >= 0 && *value < 1e12;
}

static void enter(struct path *path, enum state state, int64_t time) {
    path->figures.state = state;
    path->counts.changed = time;
    path->counts.first = 0;
}

static const char *change_one(struct link *link, char *word, int64_t time) {
    bool chosen[DIRECTIONS] = {true, true};
    if (!strncmp(word, "up.", 3)) word += 3, chosen[DOWN] = false;
    else if (!strncmp(word, "down.", 5)) word += 5, chosen[UP] = false;
    char *value = strchr(word, '=');
    if (!value) return "a change is KEY=VALUE";
    *value++ = 0;
    double given = 0;
    if (!strcmp(word, "state")) {
        for (int state = 0; state < 3; state++)
            if (!strcmp(value, states[state])) {
                for (int i = 0; i < DIRECTIONS; i++) if (chosen[i]) enter(&link->path[i], state, time);
                return NULL;
            }
        return "state is passing, hole or unreachable";
    }
    if (!number(value, &given)) return "the value is no number of 0 or more";
    if (!strcmp(word, "seed")) {
        for (int i = 0; i < DIRECTIONS; i++) if (chosen[i]) link->path[i].random = (uint64_t)given * 2 + i;
        return NULL;
    }
    if (!strcmp(word, "idle")) return link->idle = given, NULL;
    if (!strcmp(word, "carrier")) {
        int carrier = given != 0;
        for (int i = 0; i < DIRECTIONS; i++)
            if (ioctl(link->device[i], TUNSETCARRIER, &carrier)) return "this kernel cannot change a carrier";
        return NULL;
    }
    for (size_t key = 0; key < sizeof keys / sizeof *keys; key++)
        if (!strcmp(word, keys[key].name)) {
            for (int i = 0; i < DIRECTIONS; i++)
                if (chosen[i]) *(double *)((char *)&link->path[i].figures + keys[key].place) = given;
            return NULL;
        }
    return "no such key";
}

// Applies each change of a line. Returns the error, or NULL.
const char *change(struct link *link, const char *words, int64_t time) {
    char line[512], *rest = line;
    snprintf(line, sizeof line, "%s", words);
    for (char *word; (word = strtok_r(rest, " \t", &rest));) {
        const char *wrong = change_one(link, word, time);
        if (wrong) return wrong;
    }
    return NULL;
}

static void print(struct link *link, char *reply, size_t room) {
    size_t used = snprintf(reply, room, "{");
    for (int i = 0; i < DIRECTIONS; i++) {
        struct path *path = &link->path[i];
        struct counts *c = &path->counts;
        used += snprintf(
            reply + used, room - used,
            "%s\"%s\":{\"state\":\"%s\",\"packets\":%lu,\"bytes\":%lu,\"payload\":%lu,\"lost\":%lu,\"overflowed\":%lu,"
            "\"vanished\":%lu,\"oversized\":%lu,\"forgotten\":%lu,\"reordered\":%lu,\"syn\":%lu,\"data\":%lu,"
            "\"queued\":%.0f,\"first_ms\":%.1f}",
            i ? "," : "", i ? "down" : "up", states[path->figures.state], c->packets, c->bytes, c->payload, c->lost,
            c->overflowed, c->vanished, c->oversized, c->forgotten, c->reordered, c->syn, c->data, path->queued,
            c->first ? (double)(c->first - c->changed) / 1e6 : -1.0);
    }
    snprintf(reply + used, room - used, ",\"triggers\":%d}", link->trigger_count);
}

// `when up.bytes=1000 state=hole`: changes, once 1,000 more bytes of payload have gone up.
static const char *add_trigger(struct link *link, char *words) {
    struct trigger trigger = {0};
    char *rest = words, *event = strtok_r(words, " \t", &rest), *value = event ? strchr(event, '=') : NULL;
    if (!value || !rest || !*rest) return "when DIRECTION.EVENT=COUNT KEY=VALUE";
    *value++ = 0;
    if (!strncmp(event, "down.", 5)) trigger.direction = DOWN, event += 5;
    else if (!strncmp(event, "up.", 3)) event += 3;
    else return "an event has a direction: up. or down.";
    struct counts *counts = &link->path[trigger.direction].counts;
    double count;
    if (!number(value, &count)) return "the count is no number";
    uint64_t base;
    if (!strcmp(event, "bytes")) base = counts->payload;
    else if (!strcmp(event, "data")) base = counts->data;
    else if (!strcmp(event, "syn")) base = counts->syn;
    else if (!strcmp(event, "packets")) base = counts->packets;
    else return "an event is bytes, data, syn or packets";
    if (link->trigger_count == 16) return "too many triggers";
    snprintf(trigger.event, sizeof trigger.event, "%s", event);
    snprintf(trigger.change, sizeof trigger.change, "%s", rest);
    trigger.count = base + (uint64_t)count;
    link->triggers[link->trigger_count++] = trigger;
    return NULL;
}

// The caller runs this after each packet that has entered, so the packet that reaches the count still travels.
void fire_triggers(struct link *link, int direction) {
    struct counts *counts = &link->path[direction].counts;
    for (int i = 0; i < link->trigger_count; i++) {
        struct trigger trigger = link->triggers[i];
        uint64_t reached = trigger.event[0] == 'b' ? counts->payload : trigger.event[0] == 'd' ? counts->data
            : trigger.event[0] == 's' ? counts->syn : counts->packets;
        if (trigger.direction != direction || reached < trigger.count) continue;
        link->triggers[i--] = link->triggers[--link->trigger_count];
        char reply[64];
        command(link, trigger.change, reply, sizeof reply);
    }
}

void command(struct link *link, char *line, char *reply, size_t room) {
    const char *wrong = NULL;
    if (!strcmp(line, "counts")) { print(link, reply, room); return; }
    if (!strncmp(line, "when ", 5)) wrong = add_trigger(link, line + 5);
    else if (!strcmp(line, "forget")) flows_forget(), link->resets = false;
    else if (!strcmp(line, "forget reset")) flows_forget(), link->resets = true;
    else wrong = change(link, line, now());
    if (wrong) snprintf(reply, room, "error: %s", wrong);
    else snprintf(reply, room, "ok");
}
