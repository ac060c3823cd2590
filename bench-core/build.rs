//! Tells the library which compiler built it, for the environment of a run record.

use std::{env, process::Command};

fn main() {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    println!("cargo::rustc-env=INFORMER_BENCH_RUSTC={version}");
    println!("cargo::rerun-if-changed=build.rs");
}
