//! System calls without a safe interface. All `unsafe` of this module is here.

use super::NetError;
use crate::terminal::tell;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use std::fs::{File, OpenOptions};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io, mem};

/// Size of `struct virtio_net_hdr`, which is in front of every frame of a packet socket.
pub(super) const VIRTIO_HEADER_BYTES: usize = 10;

/// Does something while signals wait for this thread.
pub(super) fn without_signals<T>(signals: &[i32], act: impl FnOnce() -> T) -> io::Result<T> {
    // SAFETY: sets of signals are plain data.
    let (mut before, mut held): (libc::sigset_t, libc::sigset_t) = unsafe { mem::zeroed() };
    // SAFETY: the sets live as long as the calls.
    let blocked = unsafe {
        libc::sigemptyset(&raw mut held);
        for signal in signals {
            libc::sigaddset(&raw mut held, *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before)
    };
    if blocked != 0 {
        return Err(io::Error::from_raw_os_error(blocked));
    }
    let done = act();
    // SAFETY: the set lives as long as the call.
    match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) } {
        0 => Ok(done),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Creates a TAP interface that lives as long as the file, which reads and writes frames and never waits.
///
/// Checksums and segmentation are left to Linux, so that what is read is what belongs on a wire.
pub(super) fn create_tap(name: &str) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    let mut request = interface_request(name)?;
    // No header in front of frames, and an error if the interface exists.
    let flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_TUN_EXCL;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, which outlives the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    // SAFETY: TUNSETOFFLOAD takes a number, and no pointer.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, 0 as libc::c_ulong) })?;
    Ok(file)
}

/// Whether an interface is up, and its hardware type.
pub(super) fn interface_state(fd: BorrowedFd<'_>, name: &str) -> io::Result<(bool, u16)> {
    let mut request = interface_request(name)?;
    // SAFETY: SIOCGIFFLAGS reads and writes one `struct ifreq`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) })?;
    // SAFETY: the call above has filled in this field of the union.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    // SAFETY: SIOCGIFHWADDR reads and writes one `struct ifreq`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request) })?;
    // SAFETY: the call above has filled in this field of the union.
    let hardware = unsafe { request.ifr_ifru.ifru_hwaddr.sa_family };
    Ok((flags & libc::IFF_UP as libc::c_short != 0, hardware))
}

/// A socket that gets all frames from an interface but those that this machine sends, and sends frames; it never waits.
///
/// It also requests metadata of frames: checksums that are not computed yet, and VLAN tags.
pub(super) fn open_packet_socket(index: u32) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // Protocol 0 gets nothing, so that no frame of another interface comes in before the socket is bound.
    // SAFETY: no pointers.
    let fd = check(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
    // SAFETY: the descriptor was just opened, and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    for option in [
        libc::PACKET_IGNORE_OUTGOING,
        libc::PACKET_VNET_HDR,
        libc::PACKET_AUXDATA,
    ] {
        set_option(&socket, option, &(1 as libc::c_int))?;
    }
    let promiscuous = libc::packet_mreq {
        mr_ifindex: index as libc::c_int,
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set_option(&socket, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)?;
    // SAFETY: all zeros are a valid `struct sockaddr_ll`.
    let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as libc::c_int;
    let size = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is a `struct sockaddr_ll` of that size, and outlives the call.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) })?;
    Ok(socket)
}

/// A frame that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received {
    /// Bytes in the buffer, with the virtio header.
    pub(super) bytes: usize,
    /// It was larger than the buffer.
    pub(super) is_cut: bool,
    /// It was sent by this machine.
    pub(super) is_outgoing: bool,
    /// A VLAN tag that belongs into it: type and control information.
    pub(super) vlan: Option<[u16; 2]>,
}

/// Receives a frame, and the virtio header in front of it.
pub(super) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    // SAFETY: all zeros are a valid `struct sockaddr_ll`.
    let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
    // Words, because control messages have to be aligned.
    let mut control = [0u64; 16];
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all zeros are a valid `struct msghdr`, also where it has padding that cannot be named.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_name = (&raw mut address).cast();
    message.msg_namelen = size_of_val(&address) as libc::socklen_t;
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    // SAFETY: the message points to the address, one part and the control buffer above with their sizes; all of them
    // outlive the call.
    let bytes = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    let bytes = usize::try_from(bytes).map_err(|_| io::Error::last_os_error())?;
    Ok(Received {
        bytes,
        is_cut: message.msg_flags & libc::MSG_TRUNC != 0,
        is_outgoing: address.sll_pkttype == libc::PACKET_OUTGOING,
        // SAFETY: the kernel has filled in the message, and the control buffer it points to is alive.
        vlan: unsafe { vlan(&message) },
    })
}

/// The VLAN tag in the metadata of a received frame.
///
/// # Safety
/// The message is one that `recvmsg` has filled in, and its control buffer is alive.
unsafe fn vlan(message: &libc::msghdr) -> Option<[u16; 2]> {
    // SAFETY: the caller's promise; the macro looks at the message only.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: the macros return headers that are whole and inside of the control buffer, or null.
        let (level, kind, length) =
            unsafe { ((*header).cmsg_level, (*header).cmsg_type, (*header).cmsg_len) };
        // SAFETY: no pointers.
        let wanted = unsafe { libc::CMSG_LEN(size_of::<libc::tpacket_auxdata>() as u32) } as usize;
        if (level, kind) == (libc::SOL_PACKET, libc::PACKET_AUXDATA) && length >= wanted {
            // SAFETY: the kernel wrote this structure there, as level, type and length say; it may be unaligned.
            let aux = unsafe {
                libc::CMSG_DATA(header)
                    .cast::<libc::tpacket_auxdata>()
                    .read_unaligned()
            };
            let is_tagged = aux.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
            return is_tagged.then_some([aux.tp_vlan_tpid, aux.tp_vlan_tci]);
        }
        // SAFETY: the header came from these macros and belongs to this message.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    None
}

fn set_option<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value has that size and outlives the call, which only reads it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            size,
        )
    };
    check(result).map(drop)
}

/// A request about the interface, with everything but the name zero.
fn interface_request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: all zeros are a valid `struct ifreq`.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    // The last character stays zero, which ends the name.
    if name.len() >= request.ifr_name.len() || name.contains('\0') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Index of an interface; `None` if there is none of this name.
pub(super) fn interface_index(name: &str) -> io::Result<Option<u32>> {
    let socket = any_socket()?;
    match rustix::net::netdevice::name_to_index(socket.as_fd(), name) {
        Ok(index) => Ok(Some(index)),
        Err(rustix::io::Errno::NODEV | rustix::io::Errno::NAMETOOLONG) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A socket to ask about interfaces.
pub(super) fn any_socket() -> io::Result<OwnedFd> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
    Ok(socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Purpose of privileges.
#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    /// Interfaces and a namespace of one's own.
    Interfaces,
    /// A packet socket.
    PacketSocket,
}

impl Need {
    fn set(self) -> CapabilitySet {
        match self {
            // `ip netns` writes to /run/netns, which belongs to root.
            Self::Interfaces => {
                CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN | CapabilitySet::DAC_OVERRIDE
            }
            Self::PacketSocket => CapabilitySet::NET_RAW,
        }
    }

    fn names(self) -> &'static str {
        match self {
            Self::Interfaces => "cap_net_admin,cap_sys_admin,cap_dac_override",
            Self::PacketSocket => "cap_net_raw",
        }
    }

    /// Fails if the process does not have them.
    pub(super) fn check(self, wanted: &str) -> Result<(), NetError> {
        let has =
            capabilities(None).map_err(|error| NetError::system("read the process's privileges", error))?;
        if has.effective.contains(self.set()) {
            Ok(())
        } else {
            Err(self.missing(wanted))
        }
    }

    /// The privileges are missing.
    pub(super) fn missing(self, wanted: &str) -> NetError {
        let program = env::current_exe().map_or("spinneret".to_owned(), |path| path.display().to_string());
        NetError::Privileges {
            wanted: wanted.to_owned(),
            command: format!("sudo setcap {}+ep {program}", self.names()),
        }
    }

    /// Does something with child processes that get these privileges as well, which `setcap` alone does not give them.
    pub(super) fn lend<T>(self, work: impl FnOnce() -> T) -> T {
        let before = self.raise();
        let result = work();
        if let Some(before) = before {
            // Privileges that are no longer inheritable are not passed on. If this fails, later children have more than
            // they need, but none of them is started by anybody else.
            let _ = set_capabilities(None, before);
        }
        result
    }

    /// Makes them inheritable, and gives what was before; if that is not possible, children fail and say why.
    fn raise(self) -> Option<CapabilitySets> {
        let before = capabilities(None).ok()?;
        let mut after = before;
        after.inheritable |= self.set() & before.permitted;
        set_capabilities(None, after).ok()?;
        for capability in (self.set() & before.permitted).iter() {
            let _ = configure_capability_in_ambient_set(capability, true);
        }
        Some(before)
    }
}

/// A named network namespace that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Namespace {
    name: String,
}

impl Namespace {
    /// Makes the namespace.
    pub(super) fn create(name: &str) -> Result<Self, NetError> {
        if file(name).exists() {
            return Err(NetError::Exists {
                what: "network namespace",
                name: name.to_owned(),
                command: format!("sudo ip netns delete {name}"),
            });
        }
        ip(&["netns", "add", name])?;
        let namespace = Self {
            name: name.to_owned(),
        };
        namespace.ip(&["link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// Moves an interface of this process's namespace here.
    pub(super) fn take(&self, interface: &str) -> Result<(), NetError> {
        ip(&["link", "set", "dev", interface, "netns", &self.name])
    }

    /// Runs `ip` in the namespace.
    pub(super) fn ip(&self, arguments: &[&str]) -> Result<(), NetError> {
        ip(&[&["-netns", &self.name], arguments].concat())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Another process may have removed it.
        if let Err(error) = ip(&["netns", "delete", &self.name])
            && file(&self.name).exists()
        {
            tell(format_args!(
                "warning: the network namespace {} is left behind: {error}",
                self.name
            ));
        }
    }
}

/// The file by which a namespace has its name.
fn file(name: &str) -> PathBuf {
    Path::new("/run/netns").join(name)
}

/// Runs `ip`.
pub(super) fn ip(arguments: &[&str]) -> Result<(), NetError> {
    let failed = |problem: String| NetError::Command {
        command: format!("ip {}", arguments.join(" ")),
        problem,
    };
    let mut command = Command::new("ip");
    command.args(arguments).stdin(Stdio::null());
    let output = Need::Interfaces
        .lend(|| command.output())
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                failed("there is no such program: install the package iproute2".to_owned())
            }
            _ => failed(error.to_string()),
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    Err(failed(if said.is_empty() {
        output.status.to_string()
    } else {
        said.join("; ")
    }))
}
