#![allow(missing_docs)]
fn main() {
    use spinneret_hdl::app::{sources, AppOptions, Cluster, corundum::ClusterClock};
    let dir = std::env::args().nth(1).unwrap();
    let o = AppOptions { cluster: if std::env::args().nth(2).is_some() {Cluster::Stub} else {Cluster::Pspin}, clock: ClusterClock::External, interfaces: 2, ..Default::default() };
    let s = sources(o).unwrap();
    std::fs::create_dir_all(&dir).unwrap();
    let mut list = String::new();
    for f in s.files { std::fs::write(format!("{dir}/{}.sv", f.module), f.text).unwrap(); list.push_str(&format!("{}.sv\n", f.module)); }
    std::fs::write(format!("{dir}/filelist.f"), list).unwrap();
}
