//! Captures the compiler's version, which a run record must carry and which a program cannot ask of itself.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let output = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("the compiler that builds this crate can be asked for its version");
    let version = String::from_utf8(output.stdout).expect("rustc prints UTF-8");
    println!(
        "cargo::rustc-env=BENCH_CORE_RUSTC_VERSION={}",
        version.trim()
    );
}
