//! Writing captures: whole files or none.

use spinneret_packets::capture::{CaptureReader, CaptureWriter, Packet, Resolution};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn packet(nanoseconds: u32, data: &[u8]) -> Packet {
    let timestamp = Duration::new(1_700_000_000, nanoseconds);
    Packet {
        timestamp,
        data: data.to_vec(),
        original_len: data.len() as u32,
    }
}

fn write(path: &Path, resolution: Resolution, packets: &[Packet]) {
    let mut writer = CaptureWriter::create(path, resolution).expect("the directory is writable");
    for packet in packets {
        writer.write(packet).expect("the packet is possible");
    }
    writer.finish().expect("the file can be completed");
}

fn read(path: &Path) -> Vec<Packet> {
    let reader = CaptureReader::open(path).expect("the capture is right");
    reader
        .map(|packet| packet.expect("the capture is whole"))
        .collect()
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory is there");
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn packets_survive_with_their_times_and_original_sizes() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let path = directory.path().join("out.pcap");
    let cut_short = Packet {
        original_len: 1500,
        ..packet(999_999_999, &[1; 64])
    };
    let packets = [
        packet(1, b"abcd"),
        packet(123_456_789, &[0; 9000]),
        cut_short,
        packet(5, b""),
    ];
    write(&path, Resolution::Nano, &packets);
    assert_eq!(read(&path), packets);
    write(&path, Resolution::Micro, &packets);
    let times: Vec<_> = read(&path)
        .iter()
        .map(|packet| packet.timestamp.subsec_nanos())
        .collect();
    assert_eq!(times, [0, 123_456_000, 999_999_000, 0]);
    assert_eq!(files(directory.path()), ["out.pcap"]);
}

#[test]
fn the_file_has_these_bytes() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let path = directory.path().join("out.pcap");
    write(&path, Resolution::Micro, &[packet(7000, b"abc")]);
    let wanted = [
        0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0,
        0, // file header
        0x00, 0xf1, 0x53, 0x65, 7, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, b'a', b'b', b'c',
    ];
    assert_eq!(fs::read(&path).expect("the file is there"), wanted);
}

#[test]
fn an_unfinished_writer_leaves_no_file_and_changes_none() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let path = directory.path().join("out.pcap");
    let mut writer = CaptureWriter::create(&path, Resolution::Nano).expect("the directory is writable");
    writer.write(&packet(0, b"abcd")).expect("the packet is possible");
    assert!(!path.exists());
    drop(writer);
    assert_eq!(files(directory.path()), [""; 0]);
    fs::write(&path, "precious").expect("the directory is writable");
    drop(CaptureWriter::create(&path, Resolution::Nano).expect("the directory is writable"));
    assert_eq!(fs::read_to_string(&path).expect("the file is there"), "precious");
}

#[test]
fn unwritable_paths_are_named() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let file = directory.path().join("file");
    fs::write(&file, "").expect("the directory is writable");
    let error = |path: &Path| {
        let error = CaptureWriter::create(path, Resolution::Nano)
            .expect_err("not writable")
            .to_string();
        let start = format!("{}: cannot write the capture: ", path.display());
        error
            .strip_prefix(&start)
            .unwrap_or_else(|| panic!("{error}"))
            .to_owned()
    };
    error(&file.join("below-a-file.pcap"));
    error(&directory.path().join("missing/out.pcap"));
    assert_eq!(error(directory.path()), "it exists and is not a regular file");
    #[cfg(unix)]
    assert_eq!(
        error(Path::new("/dev/null")),
        "it exists and is not a regular file"
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_permissions_are_the_usual_ones() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().expect("a scratch directory");
    let (target, link) = (
        directory.path().join("target.pcap"),
        directory.path().join("link.pcap"),
    );
    let any = directory.path().join("any");
    fs::write(&target, "").expect("the directory is writable");
    fs::write(&any, "").expect("the directory is writable");
    std::os::unix::fs::symlink(&target, &link).expect("links can be made");
    write(&link, Resolution::Nano, &[packet(0, b"abcd")]);
    assert!(link.is_symlink());
    assert_eq!(read(&target).len(), 1);
    let mode = |path: &Path| {
        fs::metadata(path)
            .expect("the file is there")
            .permissions()
            .mode()
    };
    assert_eq!(mode(&target), mode(&any));
}

#[test]
fn packets_that_pcap_cannot_store_are_rejected() {
    let directory = tempfile::tempdir().expect("a scratch directory");
    let path = directory.path().join("out.pcap");
    let mut writer = CaptureWriter::create(&path, Resolution::Nano).expect("the directory is writable");
    writer.write(&packet(0, b"abcd")).expect("the packet is possible");
    let late = Packet {
        timestamp: Duration::from_secs(1 << 32),
        ..packet(0, b"abcd")
    };
    let error = writer
        .write(&late)
        .expect_err("the time does not fit")
        .to_string();
    assert!(
        error.ends_with("packet 2 cannot be written to a pcap file: its time is after the year 2105"),
        "{error}"
    );
    let longer = Packet {
        original_len: 3,
        ..packet(0, b"abcd")
    };
    let error = writer
        .write(&longer)
        .expect_err("more than there was")
        .to_string();
    assert!(
        error.ends_with("4 bytes were captured of a packet of 3 bytes"),
        "{error}"
    );
}
