//! A network namespace of the test's own, with a veth pair in it. Nothing outside is touched.

use std::process::Command;

const INSIDE: &str = "NETDYNO_IO_TEST_INSIDE";

/// The two ends of the pair.
pub const ENDS: [&str; 2] = ["nd0", "nd1"];

/// Runs `test` in a thread with a network namespace of its own that holds a veth pair with this MTU.
///
/// Without root the whole test program is started again, for the test called `name` alone, in a user
/// namespace. Where neither is allowed, prints why and returns without running it.
pub fn with_veth(name: &str, mtu: u32, test: impl FnOnce() + Send + 'static) {
    // SAFETY: no memory is passed.
    let root = unsafe { libc::geteuid() } == 0;
    if !root && std::env::var_os(INSIDE).is_none() {
        return in_user_namespace(name);
    }
    let name = name.to_owned();
    let thread = std::thread::spawn(move || {
        // SAFETY: no memory is passed; changes this thread alone.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            println!("SKIPPED {name}: no network namespace: {}", std::io::Error::last_os_error());
            return;
        }
        match make_veth(mtu) {
            Ok(()) => test(),
            Err(why) => println!("SKIPPED {name}: {why}"),
        }
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Whether there is no AF_XDP for this process, which is then said: the test called `name` cannot be made here.
pub fn lacks_xdp(name: &str) -> bool {
    // SAFETY: no memory is passed but for 72 zeroed bytes, a program of no kind and no length, which is refused in any case.
    let answer = unsafe {
        let mut attributes = [0_u64; 9];
        libc::syscall(libc::SYS_bpf, 5, attributes.as_mut_ptr(), size_of_val(&attributes))
    };
    assert!(answer < 0);
    let refusal = std::io::Error::last_os_error();
    if matches!(refusal.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) {
        println!("SKIPPED {name}: BPF programs cannot be loaded here: {refusal}");
        return true;
    }
    // SAFETY: no memory is passed; what was opened is closed.
    let lacks = unsafe { libc::close(libc::socket(libc::AF_XDP, libc::SOCK_RAW, 0)) } != 0;
    if lacks {
        println!("SKIPPED {name}: this kernel has no AF_XDP sockets");
    }
    lacks
}

fn in_user_namespace(name: &str) {
    let allowed = Command::new("unshare").args(["-Urn", "true"]).output();
    if !allowed.as_ref().is_ok_and(|it| it.status.success()) {
        println!("SKIPPED {name}: not root, and `unshare -Urn true` fails: {allowed:?}");
        return;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let status = Command::new("unshare")
        .arg("-Urn")
        .arg(program)
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .expect("unshare starts");
    assert!(status.success(), "{name} failed in a user namespace");
}

fn make_veth(mtu: u32) -> Result<(), String> {
    // Neighbour discovery would put frames of its own on the link; where there is no IPv6 there is no file.
    for scope in ["all", "default"] {
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"), "1");
    }
    let [a, b] = ENDS;
    let mtu = mtu.to_string();
    ip(&["link", "add", a, "mtu", &mtu, "type", "veth", "peer", "name", b, "mtu", &mtu])?;
    for end in ENDS {
        ip(&["link", "set", end, "up"])?;
    }
    Ok(())
}

/// Runs `ip` in this thread's namespace.
pub fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .map_err(|error| format!("`ip` of iproute2: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "ip {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}
