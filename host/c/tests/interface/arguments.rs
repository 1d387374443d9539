//! What programs may get wrong.

use crate::support::{Nic, fails, message, ok, open, open_context, open_program, ports};
use spinneret::*;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

#[track_caller]
fn wrong(result: c_int, wanted: &str) {
    fails(result, SPINNERET_ERROR_ARGUMENT, wanted);
}

#[test]
fn handles_are_valid_until_closed() {
    let nic = Nic::start();
    let (handle, program) = (open(&nic), open_program(&nic));
    let [one, two] = [(); 2].map(|()| open_context(handle, program));
    ok(spinneret_program_close(program));
    wrong(spinneret_program_close(program), "is no program that is open");
    ok(spinneret_close_context(one));
    wrong(spinneret_close_context(one), "is no context that is open");
    wrong(spinneret_host_store32(one, 0, 0), "is no context that is open");
    ok(spinneret_host_store32(two, 0, 0));
    wrong(spinneret_close(two.cast()), "is no NIC that is open");
    wrong(
        spinneret_close_context(handle.cast()),
        "is no context that is open",
    );
    ok(spinneret_close(handle));
    wrong(spinneret_close(handle), "is no NIC that is open");
    wrong(spinneret_close_context(two), "is no context that is open");
    wrong(spinneret_wait(handle, 1), "is no NIC that is open");
    let anew = open(&nic);
    assert_ne!(anew, handle, "no handle is used twice");
    ok(spinneret_close(anew));
}

#[test]
fn threads_share_a_nic_and_one_of_them_closes_it() {
    let nic = Nic::start();
    let handle = open(&nic);
    let context = open_context(handle, open_program(&nic));
    let number = context.addr();
    let busy = std::thread::spawn(move || {
        let context = std::ptr::without_provenance_mut(number);
        while spinneret_host_store32(context, 0, 1) == SPINNERET_OK {}
        message()
    });
    ok(spinneret_wait(handle, 2_000_000));
    ok(spinneret_close(handle));
    let end = busy.join().expect("it does not panic");
    assert!(end.contains("is no context that is open"), "{end}");
    // The context may have been closed by the other thread, a moment after.
    let begun = std::time::Instant::now();
    while nic.fake.driver().books.unmapped == 0 {
        assert!(begun.elapsed().as_secs() < 10, "the context stays");
        std::thread::yield_now();
    }
}

#[test]
fn null_pointers_are_errors() {
    let nic = Nic::start();
    let (handle, program) = (open(&nic), open_program(&nic));
    let context = open_context(handle, program);
    let name = c"count".as_ptr();
    let rules = ports(1, 1);
    let rules = &raw const rules;
    let mut number = 0;
    let mut place: *mut spinneret_context = null_mut();
    let (number, place) = (&raw mut number, &raw mut place);
    // SAFETY: null is allowed everywhere, as an error; the rest is there.
    unsafe {
        wrong(spinneret_open(null(), place.cast()), "name is a null pointer");
        wrong(
            spinneret_open(nic.name.as_ptr(), null_mut()),
            "nic is a null pointer",
        );
        wrong(
            spinneret_program_open(null(), place.cast()),
            "path is a null pointer",
        );
        wrong(
            spinneret_program_open(nic.elf.as_ptr(), null_mut()),
            "program is a null pointer",
        );
        wrong(spinneret_now(handle, null_mut()), "nanoseconds is a null pointer");
        wrong(spinneret_address(handle, null_mut()), "address is a null pointer");
        wrong(
            spinneret_receive(handle, null_mut(), 9216),
            "frame is a null pointer",
        );
        wrong(
            spinneret_receive(handle, place.cast(), 9215),
            "capacity is 9215, and a frame may have 9216 bytes",
        );
        wrong(
            spinneret_counter(handle, null(), number),
            "name is a null pointer",
        );
        wrong(
            spinneret_counter(handle, name, null_mut()),
            "value is a null pointer",
        );
        wrong(
            spinneret_counters(handle, None, null_mut()),
            "each is a null pointer",
        );
        wrong(
            spinneret_line(handle, null_mut(), 9, number, number),
            "line is a null pointer",
        );
        let open = spinneret_open_context;
        wrong(
            open(null_mut(), program, name, rules, null(), place),
            "the NIC is a null pointer",
        );
        wrong(
            open(handle, null_mut(), name, rules, null(), place),
            "the program is a null pointer",
        );
        // Without a name, a program with handlers of one name is complete.
        fails(
            open(handle, program, null(), rules, null(), place),
            SPINNERET_ERROR_PROGRAM,
            "has handlers of several names",
        );
        wrong(
            open(handle, program, name, null(), null(), place),
            "rules is a null pointer",
        );
        wrong(
            open(handle, program, name, rules, null(), null_mut()),
            "context is a null pointer",
        );
        wrong(spinneret_set_rules(context, null()), "rules is a null pointer");
        wrong(
            spinneret_handler_counter(context, 0, null_mut(), number),
            "sum is a null pointer",
        );
        wrong(
            spinneret_handler_counter(context, 0, number, null_mut()),
            "count is a null pointer",
        );
        wrong(
            spinneret_get_usage(context, null_mut()),
            "usage is a null pointer",
        );
        wrong(
            spinneret_host_load32(context, 0, null_mut()),
            "value is a null pointer",
        );
        wrong(
            spinneret_host_load64(context, 0, null_mut()),
            "value is a null pointer",
        );
        wrong(
            spinneret_host_read(context, 0, null_mut(), 1),
            "no buffer of 1 bytes",
        );
        wrong(
            spinneret_host_write(context, 0, null(), 1),
            "no buffer of 1 bytes",
        );
        wrong(
            spinneret_handler_read(null_mut(), 0, null_mut(), 0),
            "the context is a null pointer",
        );
        wrong(
            spinneret_variable_read(context, null(), 0, null_mut(), 0),
            "name is a null pointer",
        );
        wrong(
            spinneret_wait_variable(context, null(), 0, 0, 0, 0),
            "name is a null pointer",
        );
    }
    wrong(spinneret_close(null_mut()), "the NIC is a null pointer");
    wrong(spinneret_wait(null_mut(), 0), "the NIC is a null pointer");
    wrong(
        spinneret_close_context(null_mut()),
        "the context is a null pointer",
    );
    ok(spinneret_close(handle));
}

#[test]
fn rules_come_from_a_file() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("rules.toml");
    let text = "[[ruleset]]\nrules = ['ipv4']\n\
                [[ruleset]]\nmode = 'or'\nrules = ['slmp-syn', 'slmp-ack']\nend-of-message = 'slmp-eom'\n";
    std::fs::write(&path, text).expect("there is room");
    let path = CString::new(path.to_str().expect("it is UTF-8")).expect("it has no 0");
    let mut rules = ports(1, 1);
    let mut read = |number| {
        // SAFETY: a string and a place.
        let count = unsafe { spinneret_read_rules(path.as_ptr(), number, &raw mut rules) };
        (count, rules)
    };
    let (count, first) = read(0);
    assert_eq!(
        (count, first.join, first.count, first.has_messages),
        (2, SPINNERET_ALL, 1, 0)
    );
    assert_eq!(first.rules[0].mask, spinneret_rule_ipv4().mask);
    let (count, second) = read(1);
    assert_eq!(
        (count, second.join, second.count, second.has_messages),
        (2, SPINNERET_ANY, 2, 1)
    );
    assert_eq!(
        (second.end_of_message.word, second.end_of_message.mask),
        (10, 0x8000)
    );
    wrong(read(2).0, "there is no ruleset 2, but 2 of them");
    std::fs::write(
        folder.path().join("rules.toml"),
        "[[ruleset]]\nrules = ['ipv5']\n",
    )
    .expect("there is room");
    wrong(read(0).0, "rules.toml:2: ruleset 0, rule 0: there is no rule");
    // SAFETY: a string, and no place.
    wrong(
        unsafe { spinneret_read_rules(path.as_ptr(), 0, null_mut()) },
        "rules is a null pointer",
    );
}

#[test]
fn names_are_utf_8_and_end() {
    let mut place = null_mut();
    let bad = *b"unix:\xff\xfe\0";
    // A name that has no end is not looked at to where nothing is any more.
    let mut long = vec![b'a'; SPINNERET_LONGEST_NAME + 1];
    // SAFETY: the strings have an end, or are longer than what is looked at.
    unsafe {
        wrong(
            spinneret_open(bad.as_ptr().cast(), &raw mut place),
            "name is not UTF-8",
        );
        wrong(
            spinneret_open(long.as_ptr().cast(), &raw mut place),
            "name has more than 4095 bytes",
        );
        *long.last_mut().expect("it is long") = 0;
        let unknown = spinneret_open(long.as_ptr().cast(), &raw mut place);
        fails(unknown, SPINNERET_ERROR_OPEN, "is no NIC");
        let empty: *const c_char = c"".as_ptr();
        fails(
            spinneret_open(empty, &raw mut place),
            SPINNERET_ERROR_OPEN,
            "`` is no NIC",
        );
    }
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let nic = Nic::start();
    let handle = open(&nic);
    let context = open_context(handle, open_program(&nic));
    let mut byte = 0_u8;
    let into: *mut c_void = (&raw mut byte).cast();
    let mut long = 0;
    // SAFETY: strings are there, and so is a byte.
    unsafe {
        for offset in [1 << 20, u32::MAX] {
            wrong(
                spinneret_host_read(context, offset, into, 1),
                "not within the 1048576 bytes",
            );
            wrong(
                spinneret_host_write(context, offset, into, 1),
                "not within the 1048576 bytes",
            );
        }
        wrong(
            spinneret_host_read(context, 0, into, usize::MAX),
            "more than the 1048576",
        );
        wrong(
            spinneret_host_write(context, 0, into, usize::MAX),
            "no buffer of 18446744073709551615 bytes",
        );
        wrong(
            spinneret_host_load64(context, 4, &raw mut long),
            "no multiple of the 8 bytes",
        );
        wrong(
            spinneret_host_store32(context, 2, 0),
            "no multiple of the 4 bytes",
        );
        wrong(
            spinneret_variable_read(context, c"step".as_ptr(), 8, into, 1),
            "not within the 8 bytes",
        );
        wrong(
            spinneret_variable_write(context, c"none".as_ptr(), 0, into, 1),
            "no variable `none`",
        );
        let (mut sum, mut count) = (0, 0);
        let none = spinneret_handler_counter(context, 16, &raw mut sum, &raw mut count);
        wrong(none, "not within the 256 bytes");
        wrong(
            spinneret_wait_host(context, 2, 0, 0, 0),
            "no multiple of the 4 bytes",
        );
        wrong(spinneret_wait_host(context, 0, 2, 0, 0), "condition is 2");
        let mut usage = std::mem::zeroed();
        let mut share = spinneret_share {
            weight: 1,
            budget: 0,
            slots: 8,
            egress_rate: 0,
        };
        for refused in [
            spinneret_set_share(context, &raw const share),
            spinneret_get_usage(context, &raw mut usage),
        ] {
            fails(refused, SPINNERET_ERROR_DEVICE, "no shares of contexts");
        }
        // Each NIC has bounds on slots.
        share.budget = 1_000_000;
        ok(spinneret_set_share(context, &raw const share));
        ok(spinneret_set_share(context, null()));
    }
    ok(spinneret_close(handle));
}

unsafe extern "C" fn done(_: *mut c_void, _: *const *mut c_void) -> spin_status_t {
    SPIN_SERVICE_DONE
}

#[test]
fn functions_that_no_handler_could_call_are_not_offered() {
    let nic = Nic::start();
    let handle = open(&nic);
    let context = open_context(handle, open_program(&nic));
    let function = spinneret_function {
        text: c"1 t_f 0x73400001 () -> nothing".as_ptr(),
        // FNV-1a of the text.
        version: 0xfcaa_92b8_4cd4_966d,
        call: Some(done),
    };
    // SAFETY: texts are strings, and there is one function at each place.
    let offer = |function: *const spinneret_function| unsafe {
        spinneret_services_offer_functions(context, function, 1, null_mut())
    };
    wrong(offer(null()), "functions is a null pointer");
    wrong(
        offer(&spinneret_function {
            version: 1,
            ..function
        }),
        "does not have that version",
    );
    wrong(
        offer(&spinneret_function {
            text: null(),
            ..function
        }),
        "text is a null pointer",
    );
    wrong(
        offer(&spinneret_function {
            call: None,
            ..function
        }),
        "call of `t_f` is a null pointer",
    );
    ok(offer(&raw const function));
    wrong(offer(&raw const function), "`t_f` has the same numbers as `t_f`");
    ok(spinneret_close(handle));
}
