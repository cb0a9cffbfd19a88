//! Times snapshots of a directory.
use ramus_snapshot::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    for _ in 0..a[3].parse::<u32>().unwrap() {
        let t = std::time::Instant::now();
        let mut s = Snapshots::open(a[1].as_ref(), a[2].as_ref(), &[]).unwrap();
        let taken = s.take(&About { label: "x".into(), parents: vec![] }).unwrap();
        println!("{} {} files {:?}", taken.id, taken.files, t.elapsed());
    }
}
