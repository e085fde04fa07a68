//! What the kernel knows of an interface: index, state, MTU, link speed, queues. Asked when a port opens, and its state now
//! and then while it works.

use crate::port::PortError;
use crate::time::{Duration, sleep};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;

/// An interface that is up.
#[derive(Debug)]
pub(crate) struct InterfaceFacts {
    pub index: i32,
    /// Bytes after the Ethernet header.
    pub mtu: u32,
    /// Nominal rate in bits per second; 0 where the interface has none.
    pub rate_bps: u64,
    /// A virtual cable: the far end takes in what is sent in the same call, or drops it.
    pub cable: bool,
    /// Queues that frames come in by, where the driver says.
    pub receive_queues: Option<u32>,
}

/// An interface is a port of one tester at a time, for as long as this is kept: each of two would take the other's test
/// frames for its own. By a name that belongs to the network namespace, as interfaces do, and goes with the process. For
/// packet sockets, of which an interface has any number; of programs it has one.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    _name: Arc<UnixDatagram>,
}

/// Who has just let go may have a child that is being started, and has a copy of all that was open until it runs.
const HOLD_ROUNDS: u32 = 50;
const HOLD_PAUSE: Duration = Duration::from_ms(10);

impl Hold {
    /// Takes the interface `index`, called `interface`, for port `port`.
    pub(super) fn take(port: &str, interface: &str, index: i32) -> Result<Self, PortError> {
        let bind = || SocketAddr::from_abstract_name(format!("netdyno/interface/{index}")).and_then(|name| UnixDatagram::bind_addr(&name));
        for _ in 0..HOLD_ROUNDS {
            match bind() {
                Ok(name) => return Ok(Self { _name: Arc::new(name) }),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => sleep(HOLD_PAUSE),
                Err(error) => return Err(PortError::system(format!("taking interface `{interface}` for one tester"), error)),
            }
        }
        Err(PortError::Unfit {
            port: port.to_owned(),
            why: format!(
                "interface `{interface}` is a port of another netdyno that is running, and each would take the other's frames \
                 for its own; wait until that one is done"
            ),
        })
    }
}

/// Looks up `interface` for port `port`.
pub(crate) fn look_up(port: &str, interface: &str) -> Result<InterfaceFacts, PortError> {
    let unfit = |why: String| PortError::Unfit {
        port: port.to_owned(),
        why,
    };
    let missing = || {
        let names = names();
        unfit(format!("there is no interface `{interface}` here; there are: {}", names.join(", ")))
    };
    // 15 characters and a final zero: IFNAMSIZ.
    let name = CString::new(interface)
        .ok()
        .filter(|name| (2..=libc::IFNAMSIZ).contains(&name.as_bytes_with_nul().len()));
    let Some(name) = name else { return Err(missing()) };
    let system = |call: &str, source| PortError::system(format!("{call} on interface `{interface}`"), source);
    let asker = Asker::new(&name).map_err(|source| system("socket", source))?;
    let index = match asker.index() {
        Ok(index) => index,
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return Err(missing()),
        Err(error) => return Err(system("SIOCGIFINDEX", error)),
    };
    let flags = asker.flags().map_err(|source| system("SIOCGIFFLAGS", source))?;
    if flags & libc::IFF_UP == 0 {
        return Err(unfit(format!(
            "interface `{interface}` is down; bring it up: ip link set {interface} up"
        )));
    }
    let driver = asker.driver();
    Ok(InterfaceFacts {
        index,
        mtu: asker.mtu().map_err(|source| system("SIOCGIFMTU", source))?,
        rate_bps: asker.rate_bps(&driver),
        cable: driver.starts_with(VETH),
        receive_queues: asker.receive_queues(),
    })
}

/// Looks at the state of an interface again and again.
#[derive(Debug)]
pub(super) struct Watch {
    asker: Asker,
    had_carrier: bool,
    lost_carrier: bool,
    /// Whether one that is switched off is one without a carrier, and no fault.
    may_go: bool,
}

impl Watch {
    /// Watches `interface`, which there is. `may_go`: see [`super::Ask::may_go`].
    pub fn new(interface: &str, may_go: bool) -> io::Result<Self> {
        let name = CString::new(interface)?;
        Ok(Self {
            asker: Asker::new(&name)?,
            had_carrier: false,
            lost_carrier: false,
            may_go,
        })
    }

    /// What is wrong with the interface itself: `None`, or that it is switched off or gone. Notes whether its link is lost,
    /// which is no fault. Asks for nothing that waits for the kernel's lock of its configuration (RTNL), as ethtool does; in
    /// return a card's lost link may be noticed a second late.
    pub fn fault(&mut self) -> Option<&'static str> {
        match self.asker.flags() {
            Err(_) => Some("was removed, renamed, or moved to another network namespace"),
            Ok(flags) if flags & libc::IFF_UP == 0 && !self.may_go => Some("was taken down"),
            Ok(flags) => {
                let carrier = flags & libc::IFF_RUNNING != 0;
                self.had_carrier |= carrier;
                self.lost_carrier = self.had_carrier && !carrier;
                None
            }
        }
    }

    /// Whether the link had been up and was not when [`Self::fault`] was asked last. One that was never up since this is
    /// watched is not lost, for drivers take some seconds.
    pub fn has_lost_carrier(&self) -> bool {
        self.lost_carrier
    }

    /// Whether the link is up at this moment; may wait.
    pub fn has_carrier(&self) -> bool {
        let mut link = LinkState { cmd: ETHTOOL_GLINK, up: 0 };
        match self.asker.ethtool(&mut link) {
            Ok(()) => link.up != 0,
            // The kernel's own view, which may be a second late.
            Err(_) => self.asker.flags().is_ok_and(|flags| flags & libc::IFF_RUNNING != 0),
        }
    }
}

/// The interfaces of this network namespace.
fn names() -> Vec<String> {
    // SAFETY: returns a list ended by an entry with index 0, or null.
    let list = unsafe { libc::if_nameindex() };
    if list.is_null() {
        return Vec::new();
    }
    let mut names = Vec::new();
    let mut entry = list;
    // SAFETY: `entry` stays within the list up to its last entry; each name is a C string that lives as long as it.
    unsafe {
        while (*entry).if_index != 0 {
            names.push(CStr::from_ptr((*entry).if_name).to_string_lossy().into_owned());
            entry = entry.add(1);
        }
    }
    // SAFETY: `list` came from `if_nameindex` and is not used again.
    unsafe { libc::if_freenameindex(list) };
    names
}

/// Asks by ioctl (netdevice(7)).
#[derive(Debug)]
struct Asker {
    socket: OwnedFd,
    name: [libc::c_char; libc::IFNAMSIZ],
}

impl Asker {
    fn new(interface: &CStr) -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut name = [0; libc::IFNAMSIZ];
        for (to, from) in name.iter_mut().zip(interface.to_bytes()) {
            *to = *from as libc::c_char;
        }
        Ok(Self {
            // SAFETY: just opened and owned by nobody else.
            socket: unsafe { OwnedFd::from_raw_fd(socket) },
            name,
        })
    }

    fn ask(&self, call: libc::Ioctl, request: &mut libc::ifreq) -> io::Result<()> {
        request.ifr_name = self.name;
        // SAFETY: all calls made here take an `ifreq`, valid for reads and writes.
        let answer = unsafe { libc::ioctl(self.socket.as_raw_fd(), call, std::ptr::from_mut(request)) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn empty() -> libc::ifreq {
        // SAFETY: all-zero is a valid request.
        unsafe { std::mem::zeroed() }
    }

    fn index(&self) -> io::Result<i32> {
        let mut request = Self::empty();
        self.ask(libc::SIOCGIFINDEX, &mut request)?;
        // SAFETY: SIOCGIFINDEX fills in this member.
        Ok(unsafe { request.ifr_ifru.ifru_ifindex })
    }

    fn flags(&self) -> io::Result<i32> {
        let mut request = Self::empty();
        self.ask(libc::SIOCGIFFLAGS, &mut request)?;
        // SAFETY: SIOCGIFFLAGS fills in this member.
        Ok(i32::from(unsafe { request.ifr_ifru.ifru_flags }))
    }

    fn mtu(&self) -> io::Result<u32> {
        let mut request = Self::empty();
        self.ask(libc::SIOCGIFMTU, &mut request)?;
        // SAFETY: SIOCGIFMTU fills in this member.
        Ok(unsafe { request.ifr_ifru.ifru_mtu }.max(0) as u32)
    }

    /// Asks the driver; `command` starts with the number of an ethtool command.
    fn ethtool<T>(&self, command: &mut T) -> io::Result<()> {
        let mut request = Self::empty();
        request.ifr_ifru.ifru_data = std::ptr::from_mut(command).cast();
        self.ask(libc::SIOCETHTOOL as libc::Ioctl, &mut request)
    }

    /// The driver's name, ended by a zero; all zeros if it does not say.
    fn driver(&self) -> [u8; 32] {
        let mut driver = DriverInfo {
            cmd: ETHTOOL_GDRVINFO,
            driver: [0; 32],
            rest: [0; 160],
        };
        // What fails leaves the zeros in place.
        let _ = self.ethtool(&mut driver);
        driver.driver
    }

    fn receive_queues(&self) -> Option<u32> {
        let mut channels = Channels {
            cmd: ETHTOOL_GCHANNELS,
            ..Channels::default()
        };
        self.ethtool(&mut channels).ok()?;
        Some(channels.rx_count + channels.combined_count).filter(|count| *count > 0)
    }

    /// Nominal rate; 0 if the driver knows none or, like veth and tun, only pretends to.
    fn rate_bps(&self, driver: &[u8; 32]) -> u64 {
        let pretends = [VETH, b"tun\0"].iter().any(|name| driver.starts_with(name));
        let mut settings = LinkSettings {
            cmd: ETHTOOL_GSET,
            ..LinkSettings::default()
        };
        if pretends || self.ethtool(&mut settings).is_err() {
            return 0;
        }
        let mbps = u32::from(settings.speed_hi) << 16 | u32::from(settings.speed);
        // SPEED_UNKNOWN is -1, in 16 bits with older drivers.
        if mbps == u32::MAX || mbps == 0xffff {
            0
        } else {
            u64::from(mbps) * 1_000_000
        }
    }
}

const VETH: &[u8] = b"veth\0";
const ETHTOOL_GSET: u32 = 0x1;
const ETHTOOL_GDRVINFO: u32 = 0x3;
const ETHTOOL_GLINK: u32 = 0xa;
const ETHTOOL_GCHANNELS: u32 = 0x3c;

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct LinkState {
    cmd: u32,
    up: u32,
}

/// `struct ethtool_drvinfo` of linux/ethtool.h, 196 bytes.
#[repr(C)]
struct DriverInfo {
    cmd: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

/// `struct ethtool_cmd` of linux/ethtool.h, 44 bytes.
#[repr(C)]
#[derive(Default)]
struct LinkSettings {
    cmd: u32,
    supported: u32,
    advertising: u32,
    speed: u16,
    duplex: u8,
    port: u8,
    phy_address: u8,
    transceiver: u8,
    autoneg: u8,
    mdio_support: u8,
    maxtxpkt: u32,
    maxrxpkt: u32,
    speed_hi: u16,
    eth_tp_mdix: u8,
    eth_tp_mdix_ctrl: u8,
    lp_advertising: u32,
    reserved: [u32; 2],
}

/// `struct ethtool_channels` of linux/ethtool.h, 36 bytes.
#[repr(C)]
#[derive(Default)]
struct Channels {
    cmd: u32,
    maxima: [u32; 4],
    rx_count: u32,
    tx_count: u32,
    other_count: u32,
    combined_count: u32,
}

const _: () = assert!(size_of::<DriverInfo>() == 196 && size_of::<LinkSettings>() == 44 && size_of::<Channels>() == 36);
