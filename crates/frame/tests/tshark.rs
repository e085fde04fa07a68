//! Our frames as Wireshark sees them: one of each kind in a capture, decoded with checksum validation on.
#![allow(missing_docs)]

use crate::common::{ETHERNET, IPV4, IPV6, TCP, UDP, gallery, mac, over_ethernet};
use netdyno_frame::arp::Arp;
use netdyno_frame::hello::{Neighbour as OspfNeighbour, NeighbourSpec};
use netdyno_frame::icmp::echo_reply;
use netdyno_frame::nd::Neighbour;
use netdyno_frame::parse::Tag;
use netdyno_frame::pcap::Writer;
use netdyno_frame::spec::{Content, Mac, Write};
use netdyno_frame::template::{Template, minimum_size};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::Command;

const FIELDS: &[&str] = &[
    "frame.time_epoch",
    "frame.len",
    "frame.protocols",
    "_ws.malformed",
    "eth.src",
    "eth.dst",
    "vlan.id",
    "vlan.priority",
    "ieee8021ad.id",
    "mpls.label",
    "mpls.exp",
    "mpls.bottom",
    "mpls.ttl",
    "ip.src",
    "ip.dst",
    "ip.ttl",
    "ip.dsfield.dscp",
    "ip.len",
    "ip.checksum.status",
    "ipv6.src",
    "ipv6.dst",
    "ipv6.hlim",
    "ipv6.flow",
    "ipv6.plen",
    "udp.srcport",
    "udp.dstport",
    "udp.length",
    "udp.checksum.status",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.flags.ack",
    "tcp.checksum.status",
    "icmp.type",
    "icmp.ident",
    "icmp.checksum.status",
    "icmpv6.type",
    "icmpv6.checksum.status",
    "icmpv6.echo.sequence_number",
    "vxlan.vni",
    "gre.proto",
    "gre.key",
    "arp.opcode",
    "arp.src.proto_ipv4",
    "arp.dst.proto_ipv4",
    "arp.src.hw_mac",
    "icmpv6.nd.ns.target_address",
    "icmpv6.nd.na.target_address",
    "icmpv6.nd.na.flag.s",
    "_ws.expert.message",
    "ip.id",
    "ip.flags.df",
    "ip.flags.mf",
    "ip.frag_offset",
    "ip.proto",
    "ipv6.tclass.dscp",
    "ipv6.hopopts.len_oct",
    "ipv6.dstopts.len_oct",
    "ipv6.routing.type",
    "ipv6.routing.segleft",
    "ipv6.routing.srh.addr",
    "ipv6.routing.srh.tag",
    "ipv6.fraghdr.ident",
    "ipv6.fraghdr.offset",
    "ipv6.fraghdr.more",
    "ipv6.opt.type",
    "gtp.message",
    "gtp.length",
    "gtp.teid",
    "gtp.ext_hdr.pdu_ses_con.qos_flow_id",
    "pppoe.session_id",
    "pppoe.payload_length",
    "ppp.protocol",
    "pwethcw",
    "eth.type",
    "ospf.srcrouter",
    "ospf.area_id",
    "ospf.hello.network_mask",
    "ospf.hello.hello_interval",
    "ospf.hello.router_dead_interval",
    "ospf.hello.active_neighbor",
];

type Decoded = HashMap<&'static str, String>;

/// Decodes a capture; `None`, and the reason printed, where there is no tshark.
fn decode(capture: &PathBuf) -> Option<Vec<Decoded>> {
    let mut tshark = Command::new("tshark");
    tshark
        .arg("-n")
        .arg("-r")
        .arg(capture)
        .args(["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]);
    tshark.args(["-o", "tcp.analyze_sequence_numbers:FALSE"]);
    for check in ["ip.check_checksum", "udp.check_checksum", "tcp.check_checksum"] {
        tshark.args(["-o", &format!("{check}:TRUE")]);
    }
    // A label stack does not say what it carries; neither is our payload what the port numbers would suggest.
    tshark.args([
        "-d",
        "udp.port==7,data",
        "-d",
        "udp.port==12,data",
        "-d",
        "udp.port==13,data",
        "-d",
        "tcp.port==80,data",
    ]);
    tshark.args(["-d", "mpls.label==777,pwethnocw", "-d", "mpls.label==888,pwethcw"]);
    for field in FIELDS {
        tshark.args(["-e", field]);
    }
    let output = match tshark.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: tshark cannot be run ({error}); `apt-get install tshark`");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    Some(
        lines
            .lines()
            .map(|line| FIELDS.iter().copied().zip(line.split('\t').map(str::to_owned)).collect())
            .collect(),
    )
}

struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes the frames, a microsecond and a nanosecond apart, and decodes them.
fn through_tshark(name: &str, frames: &[Vec<u8>]) -> Option<Vec<Decoded>> {
    let directory = Directory(std::env::temp_dir().join(format!("netdyno-frame-{name}-{}", std::process::id())));
    fs::create_dir_all(&directory.0).expect("a directory");
    let capture = directory.0.join("frames.pcap");
    let file = BufWriter::new(File::create(&capture).expect("a file"));
    let mut writer = Writer::new(file).expect("a header");
    for (number, frame) in frames.iter().enumerate() {
        writer
            .write(1_700_000_000_000_000_000 + number as u64 * 1_001, frame)
            .expect("a record");
    }
    drop(writer.finish().expect("a capture"));
    let decoded = decode(&capture)?;
    assert_eq!(decoded.len(), frames.len());
    Some(decoded)
}

/// Versions of tshark pad hexadecimal numbers to different widths.
fn plain(value: &str) -> String {
    value
        .strip_prefix("0x")
        .map_or_else(|| value.to_owned(), |digits| format!("0x{}", digits.trim_start_matches('0')))
}

/// No checksum is bad; 1 is good, 3 is "not present".
fn sums_are_good(name: &str, decoded: &Decoded) {
    for field in FIELDS.iter().filter(|field| field.ends_with("checksum.status")) {
        for status in decoded[field].split(',').filter(|status| !status.is_empty()) {
            assert!(["1", "3"].contains(&status), "{name}: {field} = {status}");
        }
    }
    assert_eq!(decoded["_ws.malformed"], "", "{name}");
    // The contents of a routing type for experiments are unknown.
    let is_experimental = decoded["ipv6.routing.type"] == "253";
    let expected = if is_experimental {
        "Undecoded IPv6 routing header field"
    } else {
        ""
    };
    assert_eq!(decoded["_ws.expert.message"], expected, "{name}");
}

#[test]
fn every_kind_of_frame_is_decoded_as_meant() {
    let gallery = gallery();
    let frames: Vec<Vec<u8>> = gallery
        .iter()
        .map(|(name, headers)| {
            Template::new(headers, &[minimum_size(headers).max(128)], 100, 1)
                .expect(name)
                .frame(8, 513, 0, 1)
        })
        .collect();
    let Some(decoded) = through_tshark("gallery", &frames) else {
        return;
    };
    let seen: HashMap<&str, &Decoded> = gallery.iter().map(|(name, _)| *name).zip(&decoded).collect();
    for (index, (name, _)) in gallery.iter().enumerate() {
        sums_are_good(name, seen[name]);
        let time = format!("1700000000.{:09}", index * 1_001);
        assert!(
            seen[name]["frame.time_epoch"] == time || seen[name]["frame.time_epoch"].contains(&time[10..]),
            "nanoseconds"
        );
        assert_eq!(seen[name]["frame.len"], frames[index].len().to_string());
    }
    #[rustfmt::skip]
    let expected: &[(&str, &[(&str, &str)])] = &[
        ("ipv4 udp", &[("eth.src", "02:00:00:00:00:01"), ("eth.dst", "02:00:00:00:00:02"), ("ip.src", "198.18.1.2"), ("ip.dst", "198.19.1.2"),
            ("ip.ttl", "64"), ("ip.len", "110"), ("ip.checksum.status", "1"), ("udp.srcport", "49184"), ("udp.dstport", "7"),
            ("udp.length", "90"), ("udp.checksum.status", "1")]),
        ("ipv4 udp without checksum", &[("ip.dsfield.dscp", "46"), ("ip.ttl", "10"), ("udp.checksum.status", "3")]),
        ("ipv4 tcp", &[("tcp.srcport", "1025"), ("tcp.dstport", "80"), ("tcp.checksum.status", "1")]),
        ("ipv4 echo", &[("icmp.type", "8"), ("icmp.checksum.status", "1")]),
        ("ipv6 udp", &[("ipv6.src", "2001:2::1:2"), ("ipv6.dst", "2001:2:0:1::2"), ("ipv6.plen", "70"), ("ipv6.hlim", "64"),
            ("udp.checksum.status", "1")]),
        ("ipv6 tcp", &[("tcp.checksum.status", "1")]),
        ("ipv6 echo", &[("icmpv6.type", "128"), ("icmpv6.checksum.status", "1"), ("icmpv6.echo.sequence_number", "513")]),
        ("vlan ipv4 udp", &[("vlan.id", "100"), ("vlan.priority", "5"), ("udp.checksum.status", "1")]),
        ("qinq ipv6 udp", &[("ieee8021ad.id", "4095"), ("vlan.id", "100"), ("udp.checksum.status", "1")]),
        ("stepped ipv4 tcp", &[("ip.src", "16.0.1.1"), ("tcp.checksum.status", "1")]),
        ("random ipv6 udp", &[("ipv6.flow", "0x12345"), ("udp.dstport", "99"), ("udp.checksum.status", "1")]),
        ("listed ipv6 echo", &[("ipv6.src", "2001:2::3"), ("ipv6.dst", "2001:2:0:1::9:6"), ("icmpv6.checksum.status", "1")]),
        ("mpls ipv4 udp", &[("mpls.exp", "3,0"), ("mpls.bottom", "0,1"), ("mpls.ttl", "63,64"), ("udp.checksum.status", "1")]),
        ("mpls ethernet", &[("mpls.label", "16,777"), ("eth.src", "02:00:00:00:00:01,02:00:00:00:00:01"), ("udp.checksum.status", "1")]),
        ("mpls ipv6 tcp", &[("mpls.label", "1048575"), ("mpls.bottom", "1"), ("tcp.checksum.status", "1")]),
        ("gre ipv4 udp", &[("gre.proto", "0x0800"), ("ip.checksum.status", "1,1"), ("udp.checksum.status", "1")]),
        ("gre key ipv6 tcp", &[("gre.proto", "0x86dd"), ("gre.key", "0xdeadbeef"), ("tcp.checksum.status", "1")]),
        ("gre ethernet", &[("gre.proto", "0x6558"), ("eth.src", "02:00:00:00:00:01,02:00:00:00:00:01"), ("vlan.id", "100"),
            ("ip.src", "16.0.1.1"), ("udp.checksum.status", "1")]),
        ("gre mpls", &[("gre.proto", "0x8847"), ("mpls.label", "1048575"), ("udp.checksum.status", "1")]),
        ("vxlan", &[("vxlan.vni", "5002"), ("eth.src", "02:00:00:00:00:01,02:00:00:00:01:08"), ("ip.checksum.status", "1,1"),
            ("udp.checksum.status", "3,1")]),
        ("vxlan with checksum", &[("vxlan.vni", "5001"), ("vlan.id", "103"), ("udp.checksum.status", "1"), ("tcp.checksum.status", "1")]),
        ("vxlan over ipv6", &[("udp.checksum.status", "1,1"), ("vxlan.vni", "5001")]),
        ("ipv4 in ipv6", &[("ip.src", "16.0.1.1"), ("udp.checksum.status", "1")]),
        ("ipv6 in ipv4", &[("ip.checksum.status", "1"), ("icmpv6.checksum.status", "1")]),
        ("control word", &[("mpls.label", "16,888"), ("pwethcw", "pwethcw"), ("eth.src", "02:00:00:00:00:01,02:00:00:00:00:01"),
            ("ip.checksum.status", "1"), ("udp.checksum.status", "1")]),
        ("control word, short", &[("pwethcw", "pwethcw"), ("frame.protocols", "eth:ethertype:mpls:eth:ethertype:data")]),
        ("control word, tagged", &[("vlan.id", "100,103"), ("tcp.checksum.status", "1")]),
        ("pppoe ipv4 udp", &[("vlan.id", "100"), ("pppoe.session_id", "0x0014"), ("pppoe.payload_length", "100"), ("ppp.protocol", "0x0021"),
            ("ip.checksum.status", "1"), ("udp.checksum.status", "1")]),
        ("pppoe ipv6 tcp", &[("ppp.protocol", "0x0057"), ("tcp.checksum.status", "1")]),
        ("pppoe mpls", &[("ppp.protocol", "0x0281"), ("mpls.bottom", "1"), ("udp.checksum.status", "1")]),
        ("hop-by-hop", &[("ipv6.hopopts.len_oct", "8"), ("ipv6.opt.type", "0x05,0x01"), ("udp.checksum.status", "1")]),
        ("destination options", &[("ipv6.dstopts.len_oct", "24"), ("ipv6.opt.type", "0x01"), ("icmpv6.checksum.status", "1")]),
        ("routing", &[("ipv6.routing.type", "2"), ("ipv6.routing.segleft", "1"), ("udp.checksum.status", "1")]),
        ("routing, all visited", &[("ipv6.routing.type", "253"), ("ipv6.routing.segleft", "0"), ("tcp.checksum.status", "1")]),
        ("atomic fragment", &[("ipv6.fraghdr.offset", "0"), ("ipv6.fraghdr.more", "0"), ("udp.checksum.status", "1")]),
        ("extension chain", &[("frame.protocols",
            "eth:ethertype:ipv6:ipv6.hopopts:ipv6.dstopts:ipv6.routing:ipv6.fraghdr:ipv6.dstopts:udp:data"), ("udp.checksum.status", "1")]),
        ("srv6 ipv4", &[("ipv6.routing.type", "4"), ("ipv6.routing.segleft", "2"), ("ipv6.routing.srh.tag", "004d"),
            ("ipv6.routing.srh.addr", "2001:2:0:9::2,2001:2:0:8::2,2001:2:0:1::2"), ("ip.checksum.status", "1"), ("udp.checksum.status", "1")]),
        ("srv6 udp", &[("ipv6.routing.segleft", "2"), ("udp.checksum.status", "1")]),
        ("srv6 echo, arrived", &[("ipv6.routing.segleft", "0"), ("icmpv6.checksum.status", "1")]),
        ("srv6 ethernet", &[("frame.protocols", "eth:ethertype:ipv6:ipv6.routing:eth:ethertype:ip:udp:data"), ("udp.checksum.status", "1")]),
        ("gtpu", &[("gtp.message", "0xff"), ("gtp.length", "74"), ("ip.checksum.status", "1,1"), ("udp.checksum.status", "3,1")]),
        ("gtpu session ipv6", &[("gtp.teid", "0x12345678"), ("gtp.ext_hdr.pdu_ses_con.qos_flow_id", "9"), ("udp.checksum.status", "1"),
            ("tcp.checksum.status", "1")]),
        ("gtpu over ipv6", &[("ip.checksum.status", "1"), ("udp.checksum.status", "1,1")]),
        ("varied ipv4", &[("ip.dsfield.dscp", "10"), ("ip.flags.df", "1"), ("ip.id", "0xfe20"), ("ip.checksum.status", "1"),
            ("udp.checksum.status", "1")]),
        ("varied ipv6", &[("ipv6.hlim", "153"), ("ipv6.flow", "0x0fffff"), ("udp.checksum.status", "1")]),
        ("varied tunnel", &[("ip.dsfield.dscp", "10"), ("ip.checksum.status", "1"), ("tcp.checksum.status", "1")]),
        ("ospf", &[("ip.proto", "89")]),
        ("last fragment", &[("ip.frag_offset", "185"), ("ip.flags.mf", "0"), ("ip.id", "0x0009"), ("ip.proto", "17")]),
        ("last ipv6 fragment", &[("ipv6.fraghdr.offset", "181"), ("ipv6.fraghdr.more", "0"), ("ipv6.fraghdr.ident", "0x00000063")]),
        ("opaque ethernet", &[("eth.type", "0x88b6"), ("frame.protocols", "eth:ethertype:data")]),
        ("opaque vlan", &[("frame.protocols", "eth:ethertype:vlan:ethertype:data")]),
        ("opaque ppp", &[("ppp.protocol", "0xc021"), ("pppoe.payload_length", "104")]),
        ("opaque udp", &[("udp.length", "90"), ("udp.checksum.status", "1")]),
        ("varying macs", &[("eth.src", "02:00:00:00:01:08"), ("eth.dst", "02:00:00:00:02:00"), ("vlan.id", "103"), ("vlan.priority", "7")]),
    ];
    for (name, fields) in expected {
        for (field, value) in *fields {
            assert_eq!(
                plain(&seen[name][field]),
                plain(value),
                "{name}: {field} ({})",
                seen[name]["frame.protocols"]
            );
        }
    }
}

#[test]
fn frames_that_are_written_over_are_decoded_as_meant() {
    let vxlan = over_ethernet(&[
        IPV4,
        r#"{"type": "udp", "sport": 50000, "dport": 4789}, {"type": "vxlan", "vni": 1}"#,
        ETHERNET,
        IPV6,
        TCP,
    ]);
    // An odd offset, half a byte, two in one word, behind the probe; then the outer source and the inner destination.
    let plain = r#"[{"at": 27, "bytes": 2, "value": {"step": {"start": 258, "step": 1, "count": 9}}},
        {"at": 15, "bytes": 1, "mask": 252, "shift": 2, "value": 46}, {"at": 34, "bytes": 1, "value": 156},
        {"at": 35, "bytes": 1, "add": -1, "value": 65}, {"at": 61, "bytes": 3, "value": 11259375}]"#;
    let nested = r#"[{"at": 26, "bytes": 4, "value": {"range": {"min": 167772160, "max": 167772169, "step": -1, "start": 167772160}}},
        {"at": 95, "bytes": 8, "value": 1}]"#;
    let frames: Vec<Vec<u8>> = [(over_ethernet(&[IPV4, UDP]), plain), (vxlan, nested)]
        .iter()
        .map(|(headers, writes)| {
            let writes: Vec<Write> = serde_json::from_str(writes).expect("writes");
            let content = Content {
                headers,
                writes: &writes,
                payload: &[],
                probe: true,
            };
            let template = Template::of(content, &[201], 9, 1).expect("a template");
            let (mut cursor, mut slot) = (template.cursor(), [0; 256]);
            template.seek(&mut cursor, 1);
            let length = template.write(&mut cursor, 0, 0, &mut slot);
            slot[..length].to_vec()
        })
        .collect();
    let Some(decoded) = through_tshark("writes", &frames) else {
        return;
    };
    #[rustfmt::skip]
    let expected: [&[(&str, &str)]; 2] = [
        &[("ip.src", "198.1.3.2"), ("ip.dsfield.dscp", "46"), ("udp.srcport", "40000"), ("ip.checksum.status", "1"),
            ("udp.checksum.status", "1")],
        &[("ip.src", "10.0.0.9"), ("ipv6.dst", "2001:2::102"), ("udp.checksum.status", "1"), ("tcp.checksum.status", "1")],
    ];
    for (decoded, expected) in decoded.iter().zip(expected) {
        sums_are_good("writes", decoded);
        for (field, value) in expected {
            assert_eq!(decoded[field], *value, "{field} ({})", decoded["frame.protocols"]);
        }
    }
}

/// 198.18.1.2 of area 9 has heard 198.18.1.1.
fn hello(tags: &[Tag], source: Mac) -> Vec<u8> {
    let mut neighbour = OspfNeighbour::new(NeighbourSpec {
        router_id: [198, 18, 1, 2].into(),
        neighbour_id: [198, 18, 1, 1].into(),
        area: [0, 0, 0, 9].into(),
        prefix_len: 30,
        hello_ns: 10_000_000_000,
        dead_ns: 40_000_000_000,
        first_ns: 0,
        hello_s: 10,
        dead_s: 40,
    });
    neighbour.begin(1);
    neighbour.say(1, tags, source, [198, 18, 1, 2].into())
}

#[test]
fn control_messages_are_decoded_as_meant() {
    let (ours, theirs) = (mac("02:00:00:00:00:01"), mac("02:00:00:00:00:99"));
    let tags = [Tag { tpid: 0x88a8, tci: 5 }, Tag { tpid: 0x8100, tci: 0x6064 }];
    let request = Arp::request(&tags, ours, [198, 18, 1, 2].into(), [198, 18, 1, 1].into());
    let (host, target) = ("2001:2::2".parse().expect("an address"), "2001:2::1:1".parse().expect("an address"));
    let asked = Neighbour::solicitation(&tags[1..], ours, host, target);
    let echo = over_ethernet(&[IPV4, r#"{"type": "echo", "id": 4660}"#]);
    let mut reply = Template::new(&echo, &[99], 1, 0).expect("a template").frame(0, 9, 0, 0);
    assert!(echo_reply(&mut reply));
    let frames = [
        request.build(),
        request.reply(theirs).build(),
        asked.build(),
        asked.reply(theirs, true).build(),
        reply,
        hello(&tags[1..], ours),
    ];
    let Some(decoded) = through_tshark("control", &frames) else {
        return;
    };
    #[rustfmt::skip]
    let expected: [&[(&str, &str)]; 6] = [
        &[("arp.opcode", "1"), ("ieee8021ad.id", "5"), ("vlan.id", "100"), ("arp.src.proto_ipv4", "198.18.1.2"),
            ("arp.dst.proto_ipv4", "198.18.1.1"), ("eth.dst", "ff:ff:ff:ff:ff:ff"), ("frame.len", "60")],
        &[("arp.opcode", "2"), ("ieee8021ad.id", "5"), ("vlan.id", "100"), ("arp.src.proto_ipv4", "198.18.1.1"),
            ("arp.src.hw_mac", "02:00:00:00:00:99"), ("eth.dst", "02:00:00:00:00:01")],
        &[("icmpv6.type", "135"), ("icmpv6.checksum.status", "1"), ("icmpv6.nd.ns.target_address", "2001:2::1:1"), ("ipv6.hlim", "255"),
            ("vlan.id", "100"), ("ipv6.dst", "ff02::1:ff01:1"), ("eth.dst", "33:33:ff:01:00:01")],
        &[("icmpv6.type", "136"), ("icmpv6.checksum.status", "1"), ("icmpv6.nd.na.target_address", "2001:2::1:1"), ("ipv6.dst", "2001:2::2"),
            ("ipv6.hlim", "255")],
        &[("icmp.type", "0"), ("icmp.checksum.status", "1"), ("ip.src", "198.19.1.2"), ("ip.dst", "198.18.1.2"), ("ip.checksum.status", "1")],
        &[("eth.dst", "01:00:5e:00:00:05"), ("vlan.id", "100"), ("ip.src", "198.18.1.2"), ("ip.dst", "224.0.0.5"), ("ip.ttl", "1"),
            ("ip.dsfield.dscp", "48"), ("ip.checksum.status", "1"), ("ospf.srcrouter", "198.18.1.2"), ("ospf.area_id", "0.0.0.9"),
            ("ospf.hello.network_mask", "255.255.255.252"), ("ospf.hello.hello_interval", "10"),
            ("ospf.hello.router_dead_interval", "40"), ("ospf.hello.active_neighbor", "198.18.1.1")],
    ];
    for (decoded, expected) in decoded.iter().zip(expected) {
        sums_are_good("control", decoded);
        for (field, value) in expected {
            assert_eq!(decoded[field], *value, "{field} ({})", decoded["frame.protocols"]);
        }
    }
}
