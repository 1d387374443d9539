use spinneret_cluster::task::*;
use spinneret_cluster::*;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let program = Program::open(std::path::Path::new(&path)).unwrap();
    println!(
        "entry {:#x} free {:#x} host {:?}",
        program.entry, program.free_memory, program.host_data
    );
    let name = program.only_name().unwrap().to_owned();
    let codes = program.find(&name).unwrap();
    println!("{name} {codes:x?}");
    let mut cluster = Cluster::new(Config::default());
    cluster.load(&program);
    cluster.set_fetch(3);
    for _ in 0..20000 {
        cluster.tick();
    }
    while let Some(w) = cluster.take_stdout() {
        print!("{}", (w & 0xff) as u8 as char);
    }
    println!(
        "events {:?} next {:?} instr {}",
        cluster.take_events(),
        cluster.next(),
        cluster.instructions()
    );
    // an ICMP echo request
    let mut p = vec![0u8; 14 + 20 + 8 + 56];
    p[12] = 8;
    p[14] = 0x45;
    p[16] = 0;
    p[17] = 84;
    p[22] = 64;
    p[23] = 1;
    p[34] = 8;
    for (n, b) in p[42..].iter_mut().enumerate() {
        *b = n as u8;
    }
    let sum: u32 = p[34..]
        .chunks(2)
        .map(|c| u32::from(c[0]) << 8 | u32::from(c[1]))
        .sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    p[36] = (sum >> 8) as u8;
    p[37] = sum as u8;
    let meta = Meta {
        handler_memory: [program.free_memory, 0x1000],
        host_memory: (0x1000_0000, 0x1000),
        header: codes[0],
        payload: codes[1],
        tail: codes[2],
        scratchpads: [[0x1001_4400, 0x100], [0x1041_4400, 0x100], [0; 2], [0; 2]],
    };
    let size = p.len() as u32;
    cluster.write(0x1c10_0000, &p);
    cluster.push(Her {
        message: 5,
        is_last: true,
        address: 0x1c10_0000,
        size,
        copied: size,
        meta,
    });
    for _ in 0..5000 {
        cluster.tick();
        if let Some(s) = cluster.take_send() {
            println!("{} {s:x?}", cluster.now());
            println!("{:02x?}", cluster.memory().read(s.source as u32, s.length));
            cluster.complete(s.id);
        }
        if let Some(f) = cluster.take_feedback() {
            println!("{} {f:x?}", cluster.now());
        }
    }
    while let Some(w) = cluster.take_stdout() {
        print!("{}", (w & 0xff) as u8 as char);
    }
    for e in cluster.take_events() {
        println!("{e:x?}");
        if let Event::Ran(r) = e {
            println!("cycles {}", r.ended - r.begun);
        }
    }
}
