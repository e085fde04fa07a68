/* A router of a process of its own: VLAN subinterfaces on one interface, an untagged core on the other.

   subinterfaces BRANCH CORE FIRST_VID COUNT ANSWERS
   On VLAN FIRST_VID + k of BRANCH it is 10.0.k.1 and routes 16.k.0.0/16 there; untagged on CORE it is 192.0.2.1 and
   routes all else there. ANSWERS says how it answers ARP on BRANCH: `as-asked`, `untagged`, `other` (one VLAN higher),
   `never`. It ends at a signal, or after a minute, and prints `VID TO_CORE TO_BRANCH` for each VLAN. */
#define _GNU_SOURCE
#include <arpa/inet.h>
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

enum { MOST = 256, ROOM = 2048 };

static volatile sig_atomic_t ended;
static void end(int signal) { (void)signal; ended = 1; }

struct port { int fd; unsigned char mac[6]; };
static unsigned char branch_hosts[MOST][6], core_host[6];
static unsigned long to_core[MOST], to_branch[MOST];

static void fail(const char *what) { perror(what); exit(1); }

static struct port open_port(const char *name, unsigned char last) {
    struct port port = {socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), {2, 0, 0, 0, 9, last}};
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = if_nametoindex(name)};
    int room = 64 << 20, yes = 1;
    if (port.fd < 0 || !at.sll_ifindex || bind(port.fd, (void *)&at, sizeof at)) fail(name);
    setsockopt(port.fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    if (setsockopt(port.fd, SOL_PACKET, PACKET_AUXDATA, &yes, sizeof yes)) fail("auxdata");
    struct packet_mreq all = {.mr_ifindex = at.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    setsockopt(port.fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all);
    return port;
}

/* A frame without its tag; vid: of the tag, -1 if it has none. 0 if there is none, or it is our own. */
static int take(int fd, unsigned char *frame, int *vid) {
    struct sockaddr_ll from;
    char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    struct iovec into = {frame, ROOM};
    struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &into, .msg_iovlen = 1,
                             .msg_control = control, .msg_controllen = sizeof control};
    int size = recvmsg(fd, &message, MSG_DONTWAIT);
    if (size < 14 || from.sll_pkttype == PACKET_OUTGOING) return size < 0 ? -1 : 0;
    *vid = -1;
    for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
        struct tpacket_auxdata about;
        memcpy(&about, CMSG_DATA(one), sizeof about);
        if (about.tp_status & TP_STATUS_VLAN_VALID) *vid = about.tp_vlan_tci & 0xfff;
    }
    if (*vid < 0 && frame[12] == 0x81 && frame[13] == 0) {
        *vid = (frame[14] & 0xf) << 8 | frame[15];
        memmove(frame + 12, frame + 16, size - 16);
        size -= 4;
    }
    return size;
}

static void give(int fd, unsigned char *frame, int size, int vid) {
    unsigned char tagged[ROOM + 4];
    if (vid >= 0) {
        memcpy(tagged, frame, 12);
        tagged[12] = 0x81, tagged[13] = 0, tagged[14] = vid >> 8, tagged[15] = vid;
        memcpy(tagged + 16, frame + 12, size - 12);
        frame = tagged, size += 4;
    }
    if (send(fd, frame, size, 0) != size) perror("send");
}

/* Whether it was ARP; a request for `ip` is answered on VLAN `on`, and who asked is remembered. */
static int arp(struct port *port, unsigned char *frame, int size, uint32_t ip, int on, unsigned char *host) {
    if (frame[12] != 8 || frame[13] != 6 || size < 42) return frame[12] == 8 && frame[13] == 6;
    if (frame[21] != 1 || memcmp(frame + 38, &ip, 4)) return 1;
    memcpy(host, frame + 22, 6);
    if (on < -1) return 1;
    unsigned char asked[4];
    memcpy(asked, frame + 28, 4);
    memcpy(frame, frame + 22, 6);
    memcpy(frame + 6, port->mac, 6);
    frame[21] = 2;
    memcpy(frame + 32, frame + 22, 6);
    memcpy(frame + 38, asked, 4);
    memcpy(frame + 22, port->mac, 6);
    memcpy(frame + 28, &ip, 4);
    give(port->fd, frame, size, on);
    return 1;
}

/* One hop less, and on to `host`. */
static void forward(struct port *port, unsigned char *frame, int size, int vid, const unsigned char *host) {
    memcpy(frame, host, 6);
    memcpy(frame + 6, port->mac, 6);
    uint32_t sum = (frame[24] << 8 | frame[25]) + 0x100;
    sum = (sum & 0xffff) + (sum >> 16);
    frame[22]--;
    frame[24] = sum >> 8, frame[25] = sum;
    give(port->fd, frame, size, vid);
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    struct port branch = open_port(argv[1], 1), core = open_port(argv[2], 2);
    int first = atoi(argv[3]), count = atoi(argv[4]);
    const char *answers = argv[5];
    if (count < 1 || count > MOST) return 2;
    signal(SIGTERM, end);
    signal(SIGINT, end);
    printf("ready\n");
    fflush(stdout);
    time_t until = time(NULL) + 60;
    while (!ended && time(NULL) < until) {
        struct pollfd both[2] = {{branch.fd, POLLIN, 0}, {core.fd, POLLIN, 0}};
        poll(both, 2, 100);
        unsigned char frame[ROOM];
        int vid, size;
        for (int burst = 0; burst < 256 && (size = take(branch.fd, frame, &vid)) >= 0; burst++) {
            int k = vid - first;
            if (size == 0 || k < 0 || k >= count) continue;
            uint32_t own = htonl(10u << 24 | (uint32_t)k << 8 | 1);
            int on = !strcmp(answers, "as-asked") ? vid : !strcmp(answers, "untagged") ? -1 : !strcmp(answers, "other") ? vid + 1 : -2;
            if (arp(&branch, frame, size, own, on, branch_hosts[k]) || frame[12] != 8 || frame[13]) continue;
            if (memcmp(frame, branch.mac, 6)) continue;
            to_core[k]++;
            forward(&core, frame, size, -1, core_host);
        }
        for (int burst = 0; burst < 256 && (size = take(core.fd, frame, &vid)) >= 0; burst++) {
            if (size == 0 || vid >= 0) continue;
            if (arp(&core, frame, size, inet_addr("192.0.2.1"), -1, core_host) || frame[12] != 8 || frame[13]) continue;
            int k = frame[31];
            if (memcmp(frame, core.mac, 6) || frame[30] != 16 || k >= count) continue;
            to_branch[k]++;
            forward(&branch, frame, size, first + k, branch_hosts[k]);
        }
    }
    for (int k = 0; k < count; k++) printf("%d %lu %lu\n", first + k, to_core[k], to_branch[k]);
    return 0;
}
