/* A device under test for `make power` that speaks memif: two interfaces, frames forwarded from one to the other, and one
 * declared fault.
 *
 *     memif_device SOCKET [FAULT [ARGUMENTS]]
 *
 * It listens at SOCKET (a path, or @name) as the memif 2.0 server ("master") of interfaces 0 and 1, uses its client's memory,
 * polls, and never sleeps. It shares no line with netdyno's own memif or emulation. On SIGTERM, or when standard input ends, it
 * prints one line of JSON: what came in and went out of each side, what the fault did, what found no room on the way out, how
 * many frames were left in the rings when their clients went, how long it read nothing although frames waited, and how long the
 * process was away.
 *
 *     forward
 *     slow-reader FPS                 reads FPS frames a second and side, one by one
 *     stopped-reader AFTER_MS FOR_MS  reads nothing for FOR_MS, AFTER_MS after traffic began: frames after 20 ms without any
 *     policer FPS BURST               reads all, and drops what finds no token in a bucket of BURST frames a side
 *
 * Layouts: DPDK's drivers/net/memif/memif.h. Whatever a client says or writes is checked: sizes, offsets, indices, seals.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 64, MOST_BYTES = 9216, MESSAGE = 128, MOST_REGIONS = 4, MOST_LOG2 = 14, MOST_WORDS = 16 };
enum { ACK = 1, HELLO, INIT, ADD_REGION, ADD_RING, CONNECT, CONNECTED, DISCONNECT };

#define NS 1000000000ull
#define VERSION 0x0200
#define COOKIE 0x03E31F20u
#define POLLED 1
#define NEXT 1
#define MOST_REGION (1ull << 30)
#define QUIET_NS 20000000ull

typedef struct {
    unsigned char *at;
    uint64_t bytes;
} Region;

typedef struct {
    Region *region;
    uint32_t offset;
    uint16_t size, own;
    int is_there;
} Ring;

typedef struct {
    int fd;
    Region regions[MOST_REGIONS];
    int count;
    /* From the client, and to it. */
    Ring from, to;
    uint64_t in, out, faulty, no_room, left, bad, idle_ns;
    /* The fault's state of the direction that comes in here. */
    double tokens;
    uint64_t last_ns, next_ns, began_ns, seen_ns, waits_ns;
} Side;

static Side sides[2];
static const char *fault = "forward";
static uint64_t first, second, longest_away_ns;
static volatile sig_atomic_t ended;

static void end(int number) {
    (void)number;
    ended = 1;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "memif_device: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* ---- the control connection */

static int send_message(int fd, const unsigned char *message) {
    return send(fd, message, MESSAGE, MSG_NOSIGNAL) == MESSAGE ? 0 : -1;
}

static int acknowledge(int fd) {
    unsigned char message[MESSAGE] = {ACK, 0};
    return send_message(fd, message);
}

/* A whole message and the file that came with it, -1 if none did. Whether there was one. */
static int hear(int fd, unsigned char *message, int *file) {
    unsigned char bytes[MESSAGE + 1];
    union { char room[CMSG_SPACE(sizeof(int) * 4)]; struct cmsghdr aligned; } control;
    struct iovec place = {bytes, sizeof bytes};
    struct msghdr head = {.msg_iov = &place, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(fd, &head, MSG_CMSG_CLOEXEC);
    *file = -1;
    if (got < 0) return 0;
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&head); one; one = CMSG_NXTHDR(&head, one)) {
        if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
        size_t files = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < files; index++) {
            int taken;
            memcpy(&taken, CMSG_DATA(one) + index * sizeof taken, sizeof taken);
            if (*file >= 0) close(*file);
            *file = taken;
        }
    }
    memcpy(message, bytes, MESSAGE);
    return got == MESSAGE;
}

static uint16_t short_at(const unsigned char *bytes, size_t place) {
    uint16_t value;
    memcpy(&value, bytes + place, sizeof value);
    return value;
}

static uint32_t word_at(const unsigned char *bytes, size_t place) {
    uint32_t value;
    memcpy(&value, bytes + place, sizeof value);
    return value;
}

static uint64_t long_at(const unsigned char *bytes, size_t place) {
    uint64_t value;
    memcpy(&value, bytes + place, sizeof value);
    return value;
}

/* A region: a file as long as is said, which nobody can make shorter while it is mapped. */
static int add_region(Side *side, const unsigned char *message, int file) {
    uint64_t bytes = long_at(message, 4);
    struct stat about;
    if (file < 0 || short_at(message, 2) != side->count || side->count == MOST_REGIONS || !bytes || bytes > MOST_REGION) return -1;
    if (fstat(file, &about) || about.st_size < 0 || (uint64_t)about.st_size < bytes) return -1;
    if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) && !(fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK)) return -1;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return -1;
    side->regions[side->count++] = (Region){at, bytes};
    return 0;
}

static int add_ring(Side *side, const unsigned char *message) {
    Ring *ring = short_at(message, 2) & 1 ? &side->from : &side->to;
    uint16_t region = short_at(message, 6);
    uint32_t offset = word_at(message, 8);
    unsigned log2 = message[12];
    if (short_at(message, 4) || ring->is_there || region >= side->count || log2 < 1 || log2 > MOST_LOG2 || short_at(message, 13)) return -1;
    if (offset % 8 || offset + 128ull + (16ull << log2) > side->regions[region].bytes) return -1;
    *ring = (Ring){&side->regions[region], offset, (uint16_t)(1u << log2), 0, 1};
    return word_at(ring->region->at, offset) == COOKIE ? 0 : -1;
}

static uint16_t *field(const Ring *ring, size_t place) {
    return (uint16_t *)(void *)(ring->region->at + ring->offset + place);
}

static uint16_t head_of(const Ring *ring) { return __atomic_load_n(field(ring, 6), __ATOMIC_ACQUIRE); }

static void set_tail(Ring *ring, uint16_t index) { __atomic_store_n(field(ring, 64), index, __ATOMIC_RELEASE); }

/* What waits in a ring or has been given to it; -1 where its index is impossible. */
static int pending(const Ring *ring) {
    uint16_t count = (uint16_t)(head_of(ring) - ring->own);
    return count > ring->size ? -1 : count;
}

static void leave(Side *side) {
    if (side->from.is_there && side->to.is_there) {
        int waiting = pending(&side->from);
        side->left += waiting > 0 ? (uint64_t)waiting : 0;
    }
    for (int index = 0; index < side->count; index++) munmap(side->regions[index].at, side->regions[index].bytes);
    if (side->fd >= 0) close(side->fd);
    side->fd = -1;
    side->count = 0;
    side->from.is_there = side->to.is_there = 0;
}

static void refuse(int fd, const char *why) {
    unsigned char message[MESSAGE] = {DISCONNECT, 0};
    snprintf((char *)message + 6, 96, "%s", why);
    send_message(fd, message);
    close(fd);
}

/* Talks with a client until it is connected; it may take no more than its time. */
static void admit(int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), file = -1;
    if (fd < 0) return;
    struct timeval patience = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    unsigned char message[MESSAGE] = {HELLO, 0};
    uint16_t version = VERSION, most_region = MOST_REGIONS - 1;
    snprintf((char *)message + 2, 32, "memif_device");
    memcpy(message + 34, &version, 2);
    memcpy(message + 36, &version, 2);
    memcpy(message + 38, &most_region, 2);
    message[44] = MOST_LOG2;
    if (send_message(fd, message) || !hear(fd, message, &file)) {
        if (file >= 0) close(file);
        refuse(fd, "no INIT");
        return;
    }
    if (file >= 0) close(file);
    uint32_t id = word_at(message, 4);
    if (short_at(message, 0) != INIT || short_at(message, 2) != VERSION || id > 1 || message[8] || sides[id].fd >= 0) {
        refuse(fd, "no free interface of this number, version or mode");
        return;
    }
    Side *side = &sides[id];
    side->fd = fd;
    int fails = acknowledge(fd), connects = 0;
    for (int words = 0; words < MOST_WORDS && !fails && !connects; words++) {
        if (!hear(fd, message, &file)) {
            fails = 1;
        } else if (short_at(message, 0) == ADD_REGION) {
            fails = add_region(side, message, file) || acknowledge(fd);
        } else if (short_at(message, 0) == ADD_RING) {
            fails = add_ring(side, message) || acknowledge(fd);
        } else {
            connects = short_at(message, 0) == CONNECT;
            fails = !connects;
        }
        if (file >= 0) close(file);
    }
    if (fails || !connects || !side->from.is_there || !side->to.is_there) {
        side->fd = -1;
        leave(side);
        refuse(fd, "what was said does not fit");
        return;
    }
    side->from.own = __atomic_load_n(field(&side->from, 64), __ATOMIC_ACQUIRE);
    side->to.own = __atomic_load_n(field(&side->to, 64), __ATOMIC_ACQUIRE);
    __atomic_store_n(field(&side->from, 4), POLLED, __ATOMIC_RELEASE);
    side->next_ns = side->began_ns = side->seen_ns = side->waits_ns = side->last_ns = 0;
    memset(message, 0, sizeof message);
    message[0] = CONNECTED;
    snprintf((char *)message + 2, 32, "%s", id ? "east" : "west");
    if (send_message(fd, message)) leave(side);
}

/* A client that says something, or goes: in either case it is done with. */
static void look(int listener) {
    struct pollfd files[4] = {{0, POLLIN, 0}, {listener, POLLIN, 0}, {sides[0].fd, POLLIN, 0}, {sides[1].fd, POLLIN, 0}};
    if (poll(files, 4, 0) <= 0) return;
    char byte;
    if (files[0].revents && read(0, &byte, 1) <= 0) ended = 1;
    for (int number = 0; number < 2; number++)
        if (files[2 + number].revents) leave(&sides[number]);
    if (files[1].revents) admit(listener);
}

/* ---- frames */

typedef struct {
    uint16_t flags, region;
    uint32_t length, offset, metadata;
} Descriptor;

/* A copy of a descriptor, which the client may change at any time, and where its bytes lie; NULL if they do not. */
static unsigned char *locate(Side *side, const Ring *ring, uint16_t index, Descriptor *copy) {
    memcpy(copy, ring->region->at + ring->offset + 128 + 16u * (index & (ring->size - 1)), sizeof *copy);
    if (copy->region >= side->count) return NULL;
    Region *region = &side->regions[copy->region];
    return (uint64_t)copy->offset + copy->length > region->bytes ? NULL : region->at + copy->offset;
}

static void put(Side *to, const unsigned char *bytes, uint32_t length) {
    Descriptor copy;
    if (to->fd < 0 || pending(&to->to) <= 0) {
        to->no_room++;
        return;
    }
    unsigned char *room = locate(to, &to->to, to->to.own, &copy);
    if (!room || copy.length < length) {
        to->bad++;
        return;
    }
    memcpy(room, bytes, length);
    unsigned char *place = to->to.region->at + to->to.offset + 128 + 16u * (to->to.own & (to->to.size - 1));
    uint16_t none = 0;
    memcpy(place, &none, sizeof none);
    memcpy(place + 4, &length, sizeof length);
    to->to.own++;
    set_tail(&to->to, to->to.own);
    to->out++;
}

/* How many of the frames that wait are read now. */
static int readable(Side *from, int waiting, uint64_t now) {
    if (!strcmp(fault, "slow-reader")) {
        if (now < from->next_ns) return 0;
        uint64_t period = NS / first;
        /* Time that was missed is not made up for. */
        from->next_ns = from->next_ns + period > now ? from->next_ns + period : now + period;
        return 1;
    }
    if (!strcmp(fault, "stopped-reader")) {
        if (now - from->seen_ns > QUIET_NS) from->began_ns = now;
        from->seen_ns = now;
        uint64_t since = now - from->began_ns, stop = first * 1000000;
        if (since >= stop && since < stop + second * 1000000) return 0;
    }
    return waiting < BATCH ? waiting : BATCH;
}

static int has_token(Side *from, uint64_t now) {
    double most = (double)second;
    if (!from->last_ns) from->tokens = most;
    else from->tokens += (double)(now - from->last_ns) * (double)first / (double)NS;
    from->last_ns = now;
    if (from->tokens > most) from->tokens = most;
    if (from->tokens < 1) return 0;
    from->tokens -= 1;
    return 1;
}

static void forward(int number) {
    static unsigned char bytes[MOST_BYTES];
    Side *from = &sides[number], *to = &sides[1 - number];
    if (from->fd < 0) return;
    int waiting = pending(&from->from);
    if (waiting < 0) {
        from->bad++;
        leave(from);
        return;
    }
    if (!waiting) {
        from->waits_ns = 0;
        return;
    }
    uint64_t now = now_ns();
    int count = readable(from, waiting, now);
    if (!count) {
        if (!from->waits_ns) from->waits_ns = now;
        return;
    }
    if (from->waits_ns) from->idle_ns += now - from->waits_ns;
    from->waits_ns = 0;
    for (int done = 0; done < count; done++) {
        Descriptor copy;
        unsigned char *at = locate(from, &from->from, from->from.own, &copy);
        from->in++;
        if (!at || copy.length > MOST_BYTES || copy.length < 14 || copy.flags & NEXT) {
            from->bad++;
        } else if (!strcmp(fault, "policer") && !has_token(from, now)) {
            from->faulty++;
        } else {
            memcpy(bytes, at, copy.length);
            put(to, bytes, copy.length);
        }
        from->from.own++;
        set_tail(&from->from, from->from.own);
    }
}

static int listen_at(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length < 2 || length >= sizeof address.sun_path) {
        fprintf(stderr, "memif_device: a socket is a path or @name of up to 107 bytes\n");
        exit(2);
    }
    memcpy(address.sun_path, name, length);
    socklen_t size = sizeof address;
    if (name[0] == '@') {
        address.sun_path[0] = 0;
        size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    }
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) || listen(fd, 4)) fail(name);
    return fd;
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "usage: memif_device SOCKET [FAULT [ARGUMENTS]]\n");
        return 2;
    }
    if (count > 2) fault = words[2];
    if (count > 3) first = strtoull(words[3], NULL, 10);
    if (count > 4) second = strtoull(words[4], NULL, 10);
    int wants = !strcmp(fault, "forward") ? 0 : !strcmp(fault, "slow-reader") ? 1 : !strcmp(fault, "stopped-reader") || !strcmp(fault, "policer") ? 2 : -1;
    if (wants < 0 || count != 3 - (count == 2) + wants || (wants > 0 && (!first || first > NS)) || (wants > 1 && (!second || second > NS))) {
        fprintf(stderr, "memif_device: no fault `%s` with these arguments\n", fault);
        return 2;
    }
    signal(SIGTERM, end);
    signal(SIGINT, end);
    sides[0].fd = sides[1].fd = -1;
    int listener = listen_at(words[1]);
    printf("ready\n");
    fflush(stdout);
    uint64_t last_ns = now_ns();
    struct timespec rest = {0, getenv("REST_NS") ? strtol(getenv("REST_NS"), NULL, 10) : 0};
    for (uint64_t round = 0; !ended; round++) {
        forward((int)(round & 1));
        forward((int)(1 - (round & 1)));
        if ((round & 1023) == 0) {
            look(listener);
            last_ns = now_ns();
        } else if ((round & 15) == 0) {
            uint64_t now = now_ns();
            if (now - last_ns > longest_away_ns) longest_away_ns = now - last_ns;
            last_ns = now;
            if (rest.tv_nsec) nanosleep(&rest, NULL);
        }
    }
    for (int number = 0; number < 2; number++) leave(&sides[number]);
    if (words[1][0] != '@') unlink(words[1]);
    printf("{\"fault\": \"%s\", \"longest_away_ns\": %llu, \"sides\": [", fault, (unsigned long long)longest_away_ns);
    for (int number = 0; number < 2; number++) {
        Side *side = &sides[number];
        printf("%s{\"in\": %llu, \"out\": %llu, \"faulty\": %llu, \"passed\": %llu, \"own_drops\": %llu, \"left\": %llu, \"bad\": %llu, \"idle_ns\": %llu}",
               number ? ", " : "", (unsigned long long)side->in, (unsigned long long)side->out, (unsigned long long)side->faulty,
               (unsigned long long)(side->in - side->faulty - side->bad), (unsigned long long)side->no_room,
               (unsigned long long)side->left, (unsigned long long)side->bad, (unsigned long long)side->idle_ns);
    }
    printf("]}\n");
    return 0;
}
