//! Several AF_XDP queues of a veth: which frames come to which, and that none comes to a queue nobody reads.

mod support;

use netdyno_io::backend::af_xdp::{AfXdpPort, Attach, Mode};
use netdyno_io::port::PortError;
use support::namespace;

/// A pair `nd2` and `nd3` with so many queues to send and receive by, each, both up.
fn pair(mtu: &str, near: [&str; 2], far: [&str; 2]) {
    let made = namespace::ip(&[
        "link",
        "add",
        "nd2",
        "mtu",
        mtu,
        "numtxqueues",
        near[0],
        "numrxqueues",
        near[1],
        "type",
        "veth", //
        "peer",
        "name",
        "nd3",
        "mtu",
        mtu,
        "numtxqueues",
        far[0],
        "numrxqueues",
        far[1],
    ]);
    made.and_then(|()| namespace::ip(&["link", "set", "nd2", "up"]))
        .and_then(|()| namespace::ip(&["link", "set", "nd3", "up"]))
        .expect("a pair");
}

/// What is said when two queues of `nd2` are opened.
fn refused(attach: Attach) -> String {
    let opened = AfXdpPort::open("nd2", "nd2", attach, Mode::Auto, 1518, 2, false);
    let Err(PortError::Unfit { why, .. }) = opened else {
        panic!("{opened:?}")
    };
    why
}

fn in_a_namespace(name: &'static str, test: impl FnOnce() + Send + 'static) {
    namespace::with_veth(name, 1500, move || {
        if !namespace::lacks_xdp(name) {
            test();
        }
    });
}

#[test]
fn veth_with_indistinguishable_queues_is_refused() {
    in_a_namespace("veth_with_indistinguishable_queues_is_refused", || {
        // A native program takes no frames of this length, and a generic one does not know by which queue they came.
        pair("9000", ["2", "2"], ["2", "2"]);
        for (attach, because) in [(Attach::Auto, ""), (Attach::Generic, "`attach: generic` was asked for")] {
            let why = refused(attach);
            assert!(why.contains("every frame comes by queue 0"), "{why}");
            assert!(why.contains("lower the MTU of both ends below 3500"), "{why}");
            assert!(why.contains(because), "{why}");
        }
        namespace::ip(&["link", "set", "nd2", "mtu", "3400"]).expect("sets the MTU");
        namespace::ip(&["link", "set", "nd3", "mtu", "3400"]).expect("sets the MTU");
        let opened = AfXdpPort::open("nd2", "nd2", Attach::Auto, Mode::Auto, 1518, 2, false);
        let queues = opened.unwrap_or_else(|error| panic!("what was advised does not help: {error}"));
        assert_eq!(queues.len(), 2);
    });
}

/// Frames that a far end sends by a queue with no other side go past the program, into the kernel, and would be missed.
#[test]
fn a_far_end_that_sends_by_more_queues_is_refused() {
    in_a_namespace("a_far_end_that_sends_by_more_queues_is_refused", || {
        pair("1500", ["2", "2"], ["3", "2"]);
        let why = refused(Attach::Auto);
        assert!(
            why.contains("interface `nd2` has fewer receive queues than its far end sends by"),
            "{why}"
        );
        assert!(why.contains("ethtool -L"), "{why}");
    });
}
