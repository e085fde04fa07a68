/* A device under test for `make power`: two interfaces, frames forwarded from one to the other, and one declared fault.
 *
 *     device WEST EAST [FAULT [ARGUMENTS]]
 *
 * It shares no line with netdyno's own emulation. What it does to each frame follows from the kernel's time of arrival,
 * not from when this process came round to it. On SIGTERM, or when standard input ends, it prints one line of JSON: what
 * came in and went out of each side, what the fault did, what its own sockets had no room for, and how long it was away.
 *
 *     none
 *     policer PPS BUCKET          a token bucket of BUCKET frames a side
 *     queue PPS FRAMES            a server of PPS frames a second and side, room for FRAMES that wait
 *     outage PERIOD_MS LENGTH_MS  all frames of the last LENGTH_MS of each period are lost
 *     lose N | corrupt N | duplicate N | wrong-port N      every N-th frame
 *     one-way                     nothing is forwarded from EAST to WEST
 *     dead-flow N                 frames of every N-th flow, by a hash of addresses and ports, are lost
 *     stall PERIOD_MS LENGTH_MS   does not forward for LENGTH_MS of each period, then what fitted into 64 frames
 *     table N                     frames of other IPv4 sources than the first N are lost
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, BYTES = 2048, HELD = 64, MOST_SOURCES = 1 << 16 };

#define NS 1000000000ull

typedef struct {
    unsigned char bytes[BYTES];
    size_t length;
} Frame;

typedef struct {
    int fd;
    uint64_t in, out, own_drops, not_sent;
    /* The fault's state of the direction that comes in here. */
    double tokens;
    uint64_t last_ns, count, faulty, passed;
    Frame held[HELD];
    int waiting;
} Side;

static Side sides[2];
static const char *fault = "none";
static uint64_t first, second;
static uint64_t began_ns, longest_away_ns;
static volatile sig_atomic_t ended;
static uint32_t *sources;
static uint64_t known;

static void end(int number) {
    (void)number;
    ended = 1;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "device: %s: %s\n", what, strerror(errno));
    exit(2);
}

static int open_side(const char *name) {
    int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1, room = 1 << 26;
    if (fd < 0) fail("packet socket");
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
    if (!address.sll_ifindex) fail(name);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on)) fail("time stamps");
    if (bind(fd, (struct sockaddr *)&address, sizeof address)) fail(name);
    struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all);
    return fd;
}

static void put(Side *to, const unsigned char *bytes, size_t length) {
    if (send(to->fd, bytes, length, MSG_DONTWAIT) < 0)
        to->not_sent++;
    else
        to->out++;
}

/* The test frames are IPv4 or IPv6 over Ethernet, without tags; what else comes by is forwarded as it is. */
static int is_ip(const unsigned char *bytes, size_t length) {
    return length >= 38 && bytes[12] == 0x08 && bytes[13] == 0x00;
}

/* FNV-1a over addresses and ports. */
static uint32_t flow_of(const unsigned char *bytes) {
    uint32_t hash = 2166136261u;
    for (int place = 26; place < 38; place++) hash = (hash ^ bytes[place]) * 16777619u;
    return hash ^ hash >> 16;
}

static int is_known(uint32_t source) {
    uint32_t place = source * 2654435761u % MOST_SOURCES;
    for (; sources[place]; place = (place + 1) % MOST_SOURCES)
        if (sources[place] == source) return 1;
    if (known >= first) return 0;
    sources[place] = source;
    known++;
    return 1;
}

/* Whether so many frames a second find room: in a bucket, or behind those that wait for a server. */
static int has_room(Side *from, uint64_t at_ns, double most) {
    if (!from->last_ns) from->tokens = most;
    if (at_ns > from->last_ns) {
        if (from->last_ns) from->tokens += (double)(at_ns - from->last_ns) * (double)first / (double)NS;
        from->last_ns = at_ns;
    }
    if (from->tokens > most) from->tokens = most;
    /* Of two that come at the exact pace, rounding takes no frame. */
    if (from->tokens < 1 - 1e-6) return 0;
    from->tokens -= 1;
    return 1;
}

static int is_away(uint64_t at_ns) {
    uint64_t period = first * 1000000, length = second * 1000000;
    return (at_ns - began_ns) % period >= period - length;
}

static void forward(int number, unsigned char *bytes, size_t length, uint64_t at_ns) {
    Side *from = &sides[number], *to = &sides[1 - number];
    from->in++;
    if (!is_ip(bytes, length)) {
        put(to, bytes, length);
        return;
    }
    from->count++;
    int is_nth = first && from->count % first == 0, lose = 0;
    if (!strcmp(fault, "policer")) lose = !has_room(from, at_ns, (double)second);
    else if (!strcmp(fault, "queue")) lose = !has_room(from, at_ns, (double)second + 1);
    else if (!strcmp(fault, "outage")) lose = is_away(at_ns);
    else if (!strcmp(fault, "lose")) lose = is_nth;
    else if (!strcmp(fault, "one-way")) lose = number == 1;
    else if (!strcmp(fault, "dead-flow")) lose = flow_of(bytes) % first == 0;
    else if (!strcmp(fault, "table")) {
        uint32_t source;
        memcpy(&source, bytes + 26, sizeof source);
        lose = !is_known(source);
    } else if (!strcmp(fault, "stall") && is_away(at_ns)) {
        if (from->waiting < HELD && length <= BYTES) {
            memcpy(from->held[from->waiting].bytes, bytes, length);
            from->held[from->waiting++].length = length;
            from->passed++;
            return;
        }
        lose = 1;
    } else if (is_nth && !strcmp(fault, "corrupt")) {
        bytes[length - 1] ^= 0x55;
        from->faulty++;
    } else if (is_nth && !strcmp(fault, "duplicate")) {
        put(to, bytes, length);
        from->faulty++;
    } else if (is_nth && !strcmp(fault, "wrong-port")) {
        put(from, bytes, length);
        from->faulty++;
        return;
    }
    if (lose) {
        from->faulty++;
        return;
    }
    from->passed++;
    put(to, bytes, length);
}

/* What waited goes on before anything else, once the stall is over. */
static void let_go(int number) {
    Side *from = &sides[number];
    if (!from->waiting || is_away(now_ns())) return;
    for (int held = 0; held < from->waiting; held++) put(&sides[1 - number], from->held[held].bytes, from->held[held].length);
    from->waiting = 0;
}

static int receive(int number) {
    static unsigned char bytes[BATCH][BYTES];
    static union { char room[CMSG_SPACE(sizeof(struct timespec))]; struct cmsghdr aligned; } control[BATCH];
    struct mmsghdr messages[BATCH];
    struct iovec places[BATCH];
    memset(messages, 0, sizeof messages);
    for (int index = 0; index < BATCH; index++) {
        places[index] = (struct iovec){bytes[index], BYTES};
        messages[index].msg_hdr = (struct msghdr){
            .msg_iov = &places[index], .msg_iovlen = 1, .msg_control = &control[index], .msg_controllen = sizeof control[index]};
    }
    int came = recvmmsg(sides[number].fd, messages, BATCH, MSG_DONTWAIT, NULL);
    let_go(number);
    for (int index = 0; index < came; index++) {
        uint64_t at_ns = now_ns();
        struct msghdr *head = &messages[index].msg_hdr;
        for (struct cmsghdr *one = CMSG_FIRSTHDR(head); one; one = CMSG_NXTHDR(head, one))
            if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_TIMESTAMPNS) {
                struct timespec at;
                memcpy(&at, CMSG_DATA(one), sizeof at);
                at_ns = (uint64_t)at.tv_sec * NS + (uint64_t)at.tv_nsec;
            }
        forward(number, bytes[index], messages[index].msg_len, at_ns);
    }
    return came > 0 ? came : 0;
}

int main(int count, char **words) {
    if (count < 3) {
        fprintf(stderr, "usage: device WEST EAST [FAULT [ARGUMENTS]]\n");
        return 2;
    }
    if (count > 3) fault = words[3];
    if (count > 4) first = strtoull(words[4], NULL, 10);
    if (count > 5) second = strtoull(words[5], NULL, 10);
    sources = calloc(MOST_SOURCES, sizeof *sources);
    signal(SIGTERM, end);
    signal(SIGINT, end);
    for (int number = 0; number < 2; number++) sides[number].fd = open_side(words[1 + number]);
    printf("ready\n");
    fflush(stdout);
    began_ns = now_ns();
    uint64_t last_ns = began_ns;
    struct timespec rest = {0, getenv("REST_NS") ? strtol(getenv("REST_NS"), NULL, 10) : 0};
    for (uint64_t round = 0; !ended; round++) {
        int came = receive((int)(round & 1)) + receive((int)(1 - (round & 1)));
        uint64_t now = now_ns();
        if (now > last_ns && now - last_ns > longest_away_ns) longest_away_ns = now - last_ns;
        last_ns = now;
        if (!came && rest.tv_nsec) nanosleep(&rest, NULL);
        if (!came && (round & 1023) == 0) {
            struct pollfd input = {.fd = 0, .events = POLLIN};
            char byte;
            if (poll(&input, 1, 0) > 0 && read(0, &byte, 1) == 0) break;
        }
    }
    printf("{\"fault\": \"%s\", \"longest_away_ns\": %llu, \"sides\": [", fault, (unsigned long long)longest_away_ns);
    for (int number = 0; number < 2; number++) {
        struct tpacket_stats counted = {0, 0};
        socklen_t length = sizeof counted;
        getsockopt(sides[number].fd, SOL_PACKET, PACKET_STATISTICS, &counted, &length);
        Side *side = &sides[number];
        printf("%s{\"in\": %llu, \"out\": %llu, \"faulty\": %llu, \"passed\": %llu, \"own_drops\": %u, \"not_sent\": %llu}",
               number ? ", " : "", (unsigned long long)side->in, (unsigned long long)side->out, (unsigned long long)side->faulty,
               (unsigned long long)side->passed, counted.tp_drops, (unsigned long long)side->not_sent);
    }
    printf("]}\n");
    return 0;
}
