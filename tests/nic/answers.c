/* Answers of a network card to ethtool's requests, laid out by the kernel's own header: `name hex` a line.

   The card is one of the Intel 82599 kind. Where the values come from: driver, strings of its statistics and
   sizes of its rings (512 at first, at most 4096) from the driver's source (drivers/net/ethernet/intel/ixgbe:
   ixgbe.h, ixgbe_ethtool.c); 63 queue pairs, a table of 128 entries, a key of 40 bytes and UDP hashed by
   addresses alone from the same. Counts are made up: what is tested is that each is read from its field. */
#include <linux/ethtool.h>
#include <stdio.h>
#include <string.h>

static void show(const char *name, const void *data, size_t size) {
    printf("%s ", name);
    for (size_t i = 0; i < size; i++) printf("%02x", ((const unsigned char *)data)[i]);
    printf("\n");
}

static void names(const char *of, unsigned set, const char *const *list, unsigned count) {
    char text[64];
    union { struct ethtool_sset_info head; char room[sizeof(struct ethtool_sset_info) + 4]; } info = {0};
    info.head.cmd = ETHTOOL_GSSET_INFO;
    info.head.sset_mask = 1ull << set;
    info.head.data[0] = count;
    snprintf(text, sizeof text, "%s-count", of);
    show(text, &info, sizeof info.head + 4);
    union { struct ethtool_gstrings head; char room[4096]; } strings = {0};
    strings.head.cmd = ETHTOOL_GSTRINGS;
    strings.head.string_set = set;
    strings.head.len = count;
    for (unsigned i = 0; i < count; i++) strcpy((char *)strings.head.data + i * ETH_GSTRING_LEN, list[i]);
    snprintf(text, sizeof text, "%s-names", of);
    show(text, &strings, sizeof strings.head + count * ETH_GSTRING_LEN);
}

int main(void) {
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO, .driver = "ixgbe", .version = "6.1.0",
        .fw_version = "0x800006d1", .bus_info = "0000:03:00.0", .n_stats = 4};
    show("driver", &driver, sizeof driver);

    union { struct ethtool_link_settings head; char room[256]; } link = {0};
    link.head.cmd = ETHTOOL_GLINKSETTINGS;
    link.head.link_mode_masks_nwords = -4;
    show("link-length", &link, sizeof link.head);
    link.head.link_mode_masks_nwords = 4;
    link.head.speed = SPEED_10000;
    link.head.duplex = DUPLEX_FULL;
    link.head.port = PORT_FIBRE;
    link.head.autoneg = AUTONEG_ENABLE;
    show("link", &link, sizeof link.head + 3 * 4 * 4);

    struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS, .max_other = 1, .max_combined = 63,
        .other_count = 1, .combined_count = 16};
    show("channels", &channels, sizeof channels);
    struct ethtool_ringparam ring = {.cmd = ETHTOOL_GRINGPARAM, .rx_max_pending = 4096, .tx_max_pending = 4096,
        .rx_pending = 512, .tx_pending = 1024};
    show("ring", &ring, sizeof ring);
    struct ethtool_coalesce coalesce = {.cmd = ETHTOOL_GCOALESCE, .rx_coalesce_usecs = 30,
        .rx_max_coalesced_frames = 7, .use_adaptive_rx_coalesce = 1};
    show("coalesce", &coalesce, sizeof coalesce);
    struct ethtool_pauseparam pause = {.cmd = ETHTOOL_GPAUSEPARAM, .autoneg = 1, .rx_pause = 1, .tx_pause = 0};
    show("pause", &pause, sizeof pause);

    union { struct ethtool_rxfh head; char room[1024]; } rss = {0};
    rss.head.cmd = ETHTOOL_GRSSH;
    rss.head.indir_size = 128;
    rss.head.key_size = 40;
    show("rss-length", &rss, sizeof rss.head);
    for (unsigned i = 0; i < 128; i++) rss.head.rss_config[i] = i % 16;
    for (unsigned i = 0; i < 40; i++) ((unsigned char *)(rss.head.rss_config + 128))[i] = i + 1;
    show("rss", &rss, sizeof rss.head + 128 * 4 + 40);
    struct ethtool_rxnfc hashed = {.cmd = ETHTOOL_GRXFH, .flow_type = UDP_V4_FLOW, .data = RXH_IP_SRC | RXH_IP_DST};
    show("hash-udp4", &hashed, sizeof hashed);
    hashed.flow_type = TCP_V4_FLOW;
    hashed.data = RXH_IP_SRC | RXH_IP_DST | RXH_L4_B_0_1 | RXH_L4_B_2_3;
    show("hash-tcp4", &hashed, sizeof hashed);

    static const char *const features[] = {"tx-checksum-ipv4", "rx-gro", "rx-lro", "rx-vlan-hw-parse",
        "rx-checksum", "rx-ntuple-filter"};
    names("features", ETH_SS_FEATURES, features, 6);
    union { struct ethtool_gfeatures head; char room[64]; } set = {0};
    set.head.cmd = ETHTOOL_GFEATURES;
    set.head.size = 1;
    set.head.features[0] = (struct ethtool_get_features_block){
        .available = 0x3f, .requested = 0x1e, .active = 0x1e, .never_changed = 0x10};
    show("features", &set, sizeof set.head + sizeof set.head.features[0]);

    static const char *const counters[] = {"rx_packets", "rx_missed_errors", "rx_flow_control_xoff", "rx_crc_errors"};
    names("stats", ETH_SS_STATS, counters, 4);
    union { struct ethtool_stats head; char room[256]; } stats = {0};
    stats.head.cmd = ETHTOOL_GSTATS;
    stats.head.n_stats = 4;
    for (unsigned i = 0; i < 4; i++) stats.head.data[i] = (1ull << 40) + i;
    show("stats", &stats, sizeof stats.head + 4 * 8);
    return 0;
}
