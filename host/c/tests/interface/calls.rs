//! What the calls do when all is well, or the NIC says no.

use crate::support::{Nic, fails, ok, open, open_context, open_program, ports};
use spinneret::*;
use spinneret_regmap::{her, ingress, me};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

#[test]
fn memory_of_handlers_and_host_is_read_and_written() {
    let nic = Nic::start();
    let handle = open(&nic);
    let context = open_context(handle, open_program(&nic));
    let (mut address, mut bytes) = (0, 0);
    let mut read = [0_u8; 8];
    let into: *mut c_void = read.as_mut_ptr().cast();
    let from: *const c_void = c"shared!".as_ptr().cast();
    let (mut word, mut long) = (0, 0);
    // SAFETY: strings, places and buffers are there.
    unsafe {
        ok(spinneret_host_memory(context, &raw mut address, &raw mut bytes));
        ok(spinneret_host_memory(context, null_mut(), null_mut()));
        ok(spinneret_host_write(context, 3, from, 8));
        ok(spinneret_host_read(context, 3, into, 8));
        assert_eq!(&read, b"shared!\0");
        ok(spinneret_host_store64(context, 16, 0x1_0000_0002));
        ok(spinneret_host_store32(context, 20, 7));
        ok(spinneret_host_load32(context, 20, &raw mut word));
        ok(spinneret_host_load64(context, 16, &raw mut long));
        assert_eq!((word, long), (7, 0x7_0000_0002));
        ok(spinneret_handler_write(context, 1, from, 3));
        ok(spinneret_handler_read(context, 1, into, 3));
        assert_eq!(&read[..3], b"sha");
        ok(spinneret_variable_read(context, c"step".as_ptr(), 0, into, 8));
        assert_eq!(u64::from_le_bytes(read), 0x0123_4567_89ab_cdef);
        ok(spinneret_variable_write(context, c"step".as_ptr(), 4, from, 4));
        ok(spinneret_variable_read(context, c"step".as_ptr(), 4, into, 4));
        assert_eq!(&read[..4], b"shar");
        ok(spinneret_host_read(context, bytes, null_mut(), 0));
    }
    let area = nic.fake.driver().areas[0]
        .as_ref()
        .map(|area| (area.address, area.bytes));
    assert_eq!(area, Some((address, bytes)));
    ok(spinneret_close(handle));
}

#[test]
fn cards_do_not_pass_host_frames() {
    let nic = Nic::start();
    let handle = open(&nic);
    let (mut address, mut frame) = (spinneret_addresses::default(), [0_u8; SPINNERET_LARGEST_FRAME]);
    let place: *mut c_void = frame.as_mut_ptr().cast();
    let way = "a socket of its network interface";
    // SAFETY: places and buffers are there.
    unsafe {
        ok(spinneret_compute(handle, 1000));
        assert_eq!(spinneret_address(handle, &raw mut address), 0);
        fails(spinneret_transmit(handle, place, 60), SPINNERET_ERROR_DEVICE, way);
        fails(
            spinneret_receive(handle, place, SPINNERET_LARGEST_FRAME),
            SPINNERET_ERROR_DEVICE,
            way,
        );
    }
    ok(spinneret_close(handle));
}

#[test]
fn waiting_ends_with_value_or_timeout() {
    const MILLISECOND: u64 = 1_000_000;
    let nic = Nic::start();
    let handle = open(&nic);
    let context = open_context(handle, open_program(&nic));
    let (mut before, mut after) = (0, 0);
    let large = c"large".as_ptr();
    // SAFETY: strings and places are there.
    unsafe {
        ok(spinneret_now(handle, &raw mut before));
        ok(spinneret_wait(handle, MILLISECOND));
        ok(spinneret_now(handle, &raw mut after));
        assert!(after >= before + MILLISECOND, "{before} to {after}");
        ok(spinneret_host_store32(context, 8, 41));
        ok(spinneret_wait_host(
            context,
            8,
            SPINNERET_AT_LEAST,
            40,
            MILLISECOND,
        ));
        let late = spinneret_wait_host(context, 8, SPINNERET_EQUAL, 40, MILLISECOND);
        fails(
            late,
            SPINNERET_ERROR_TIMEOUT,
            "40 at 0x8 of host memory did not happen within 1ms",
        );
        ok(spinneret_wait_variable(
            context,
            large,
            0,
            SPINNERET_EQUAL,
            0x0003_0201,
            MILLISECOND,
        ));
        let late = spinneret_wait_variable(context, large, 0, SPINNERET_AT_LEAST, 0x0003_0202, MILLISECOND);
        fails(late, SPINNERET_ERROR_TIMEOUT, "in `large` did not happen");
    }
    ok(spinneret_close(handle));
}

unsafe extern "C" fn remember(user: *mut c_void, name: *const c_char, value: u32) {
    // SAFETY: the test gives a list, and the library a name.
    let (list, name) = unsafe { (&mut *user.cast::<Vec<(String, u32)>>(), CStr::from_ptr(name)) };
    list.push((name.to_str().expect("it is text").to_owned(), value));
}

#[test]
fn counters_and_lines_are_there_to_read() {
    let nic = Nic::start();
    let handle = open(&nic);
    let context = open_context(handle, open_program(&nic));
    let hers = ingress::offset("hers").expect("it is there");
    assert!(nic.fake.driver().registers.show(hers, 12));
    let mut value = 0;
    let mut all: Vec<(String, u32)> = Vec::new();
    let mut line: [c_char; 8] = [0; 8];
    let (mut cluster, mut hpu) = (9, 9);
    let (mut sum, mut count) = (1, 1);
    // SAFETY: strings, places and buffers are there.
    unsafe {
        ok(spinneret_counter(
            handle,
            c"ingress.hers".as_ptr(),
            &raw mut value,
        ));
        assert_eq!(value, 12);
        let none = spinneret_counter(handle, c"ingress.hopes".as_ptr(), &raw mut value);
        fails(
            none,
            SPINNERET_ERROR_ARGUMENT,
            "no counter `ingress.hopes`; there are ingress.matched",
        );
        ok(spinneret_counters(handle, Some(remember), (&raw mut all).cast()));
        assert!(
            all.contains(&("ingress.hers".to_owned(), 12)) && all.len() > 20,
            "{all:?}"
        );
        ok(spinneret_handler_counter(
            context,
            2,
            &raw mut sum,
            &raw mut count,
        ));
        assert_eq!((sum, count), (0, 0));

        let into = line.as_mut_ptr();
        assert_eq!(spinneret_line(handle, into, 8, null_mut(), null_mut()), 0);
        for character in *b"six\n" {
            nic.fake
                .driver()
                .registers
                .offer_stdout(Some(0x0001_0200 | u32::from(character)));
            let size = if character == b'\n' { 3 } else { 8 };
            let found = spinneret_line(handle, into, size, &raw mut cluster, &raw mut hpu);
            match character {
                b'\n' => fails(
                    found,
                    SPINNERET_ERROR_ARGUMENT,
                    "the line takes 4 bytes, and there is room for 3",
                ),
                _ => assert_eq!(found, 0),
            }
        }
        assert_eq!(spinneret_line(handle, into, 4, &raw mut cluster, &raw mut hpu), 1);
        assert_eq!((CStr::from_ptr(into), cluster, hpu), (c"six", 1, 2));
        assert_eq!(spinneret_line(handle, into, 4, null_mut(), null_mut()), 0);
    }
    ok(spinneret_close(handle));
}

#[test]
fn rules_and_options_arrive() {
    let nic = Nic::start();
    let handle = open(&nic);
    let program = open_program(&nic);
    let mut rules = ports(9000, 9001);
    rules.join = SPINNERET_ANY;
    let options = spinneret_options {
        host_bytes: 0,
        handler_bytes: 128,
        scratchpad_bytes: 0,
    };
    let mut context = null_mut();
    let mut read = [0_u8; 129];
    // SAFETY: strings, structures, places and buffers are there.
    unsafe {
        let (rules, options, name) = (&raw const rules, &raw const options, c"copy".as_ptr());
        ok(spinneret_open_context(
            handle,
            program,
            name,
            rules,
            options,
            &raw mut context,
        ));
        ok(spinneret_handler_read(context, 0, read.as_mut_ptr().cast(), 128));
        let more = spinneret_handler_read(context, 0, read.as_mut_ptr().cast(), 129);
        fails(
            more,
            SPINNERET_ERROR_ARGUMENT,
            "129 bytes are more than the 128 that there are",
        );
    }
    let start = |place| {
        let driver = nic.fake.driver();
        driver.registers.value(me::start(0, place).expect("it is there"))
    };
    assert_eq!(start(1), Some((9000_u32 << 16).swap_bytes()));
    let mut never = ports(9, 8);
    never.count = 4;
    // SAFETY: the rules are there.
    unsafe {
        let refused = spinneret_set_rules(context, &raw const never);
        fails(refused, SPINNERET_ERROR_ARGUMENT, "at most 3 rules, not 4");
        never.count = 2;
        let refused = spinneret_set_rules(context, &raw const never);
        fails(refused, SPINNERET_ERROR_ARGUMENT, "rule 2 matches nothing");
        never.join = 2;
        let refused = spinneret_set_rules(context, &raw const never);
        fails(refused, SPINNERET_ERROR_ARGUMENT, "join is 2");
        ok(spinneret_set_rules(context, &raw const rules));
    }
    ok(spinneret_close_context(context));
    ok(spinneret_close(handle));
}

#[test]
fn errors_of_the_nic_have_distinct_numbers() {
    let nic = Nic::start();
    let (handle, program) = (open(&nic), open_program(&nic));
    let mut other = null_mut();
    let mut context = null_mut();
    let rules = ports(1, 1);
    // SAFETY: strings, structures and places are there.
    unsafe {
        ok(spinneret_open(nic.name.as_ptr(), &raw mut other));
        ok(spinneret_close(other));
        other = null_mut();
        let nowhere = spinneret_open(c"eth0".as_ptr(), &raw mut other);
        fails(nowhere, SPINNERET_ERROR_OPEN, "`eth0` is no NIC");
        assert!(other.is_null(), "nothing is left there");
        let mut none = null_mut();
        let missing = spinneret_program_open(c"/nowhere.elf".as_ptr(), &raw mut none);
        fails(missing, SPINNERET_ERROR_PROGRAM, "/nowhere.elf cannot be read");
        let rules = &raw const rules;
        let unknown = spinneret_open_context(
            handle,
            program,
            c"conut".as_ptr(),
            rules,
            null(),
            &raw mut context,
        );
        fails(unknown, SPINNERET_ERROR_PROGRAM, "has no handler `conut`");
        for _ in 0..4 {
            open_context(handle, program);
        }
        let full = spinneret_open_context(
            handle,
            program,
            c"count".as_ptr(),
            rules,
            null(),
            &raw mut context,
        );
        fails(full, SPINNERET_ERROR_NO_ROOM, "all 4 contexts are in use");
    }
    ok(spinneret_close(handle));
    let enabled = (0..4).filter_map(her::ctx_enabled);
    let driver = nic.fake.driver();
    assert!(
        enabled
            .into_iter()
            .all(|register| driver.registers.value(register) == Some(0))
    );
}

const SECOND: u64 = 1_000_000_000;

/// A receiver at a port that was free, and its address.
fn listen() -> (*mut spinneret_receiver, CString) {
    let (mut receiver, mut port) = (null_mut(), 0);
    // SAFETY: the string and both places are there.
    ok(unsafe { spinneret_slmp_listen(c"127.0.0.1:0".as_ptr(), &raw mut receiver, &raw mut port) });
    let address = CString::new(format!("127.0.0.1:{port}")).expect("there is no 0 in it");
    (receiver, address)
}

#[test]
fn a_message_arrives_whole_and_waits_for_enough_room() {
    let (receiver, address) = listen();
    let message: Vec<u8> = (0..10_000_u32).map(|byte| byte as u8).collect();
    let sent = message.clone();
    let sender = std::thread::spawn(move || {
        // SAFETY: the string and the bytes are there.
        unsafe { spinneret_slmp_send(address.as_ptr(), sent.as_ptr().cast(), sent.len(), 16) }
    });
    let (mut buffer, mut size) = (vec![0_u8; message.len()], 0);
    let into: *mut c_void = buffer.as_mut_ptr().cast();
    // SAFETY: the places are there.
    unsafe {
        fails(
            spinneret_slmp_receive(receiver, into, 9999, &raw mut size, 10 * SECOND),
            SPINNERET_ERROR_ARGUMENT,
            "the message has 10000 bytes, and there is room for 9999",
        );
        assert_eq!(size, 10_000);
        let received = spinneret_slmp_receive(receiver, into, size, &raw mut size, 10 * SECOND);
        assert_eq!(received, 1);
        assert_eq!((size, &buffer), (10_000, &message));
        ok(sender.join().expect("it does not panic"));
        assert_eq!(spinneret_slmp_receive(receiver, into, size, &raw mut size, 1), 0);
    }
    ok(spinneret_slmp_close(receiver));
    fails(
        spinneret_slmp_close(receiver),
        SPINNERET_ERROR_ARGUMENT,
        "receiver of SLMP that is open",
    );
}

#[test]
fn rejects_impossible_frames_and_buffers() {
    let (receiver, address) = listen();
    let mut other = null_mut();
    // SAFETY: strings and places are there.
    unsafe {
        fails(
            spinneret_slmp_listen(address.as_ptr(), &raw mut other, null_mut()),
            SPINNERET_ERROR_OPEN,
            "is another receiver running there?",
        );
        fails(
            spinneret_slmp_send(c"localhost".as_ptr(), null_mut(), 0, 1),
            SPINNERET_ERROR_ARGUMENT,
            "to is `localhost`, and should be an IPv4 address and a port",
        );
        fails(
            spinneret_slmp_send(address.as_ptr(), null_mut(), 0, 0),
            SPINNERET_ERROR_ARGUMENT,
            "a window of 0 segments sends nothing",
        );
    }
    ok(spinneret_slmp_close(receiver));
}

#[test]
fn the_library_tells_its_version() {
    // SAFETY: the string is there for ever.
    let version = unsafe { CStr::from_ptr(spinneret_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}
