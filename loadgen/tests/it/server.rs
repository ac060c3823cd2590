//! The server's process: it dies with its parent, and its death is told.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use bench_core::measure::record::Outcome;

use crate::program::{Running, field, program, records, signal};

#[test]
fn a_server_ends_when_its_parent_is_gone() {
    let mut server = program(&["serve", "--until-stdin-ends", "--count", "3"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
    assert_eq!(
        server.try_wait().unwrap(),
        None,
        "it serves while stdin is open"
    );
    drop(server.stdin.take());
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_that_dies_in_a_trial_makes_an_error_record_with_its_last_words() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let variant = ["--queue", "delta-fifo", "--resync", "off", "--rounds", "1"];
    let arguments = [
        "compare",
        "--count",
        "200",
        "--window",
        "60s",
        "--out",
        out.to_str().unwrap(),
    ];
    let log = "loadgen=info,fake_apiserver=debug";
    let mut run = Running::start(&[&arguments[..], &variant].concat(), log);
    let started = run.wait_for(|line| line.contains("server started"));
    run.wait_for(|line| line.contains("warming up"));
    signal("KILL", field(&started, "pid"));
    let ran = run.finish();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let written = records(&out);
    assert_eq!(written.len(), 1);
    let Outcome::Error { message } = &written[0].outcome else {
        panic!("{:?}", written[0].outcome)
    };
    let how = "the server ended during the trial (signal: 9 (SIGKILL)); it had last written: ";
    assert!(message.starts_with(how), "{message}");
    assert!(
        message.contains("listed"),
        "its log says what it did: {message}"
    );
    assert!(ran.stdout.contains("the server ended during the trial"));
}
