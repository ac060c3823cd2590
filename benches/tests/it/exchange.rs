//! What client-go's informers made of scripted servers, ours make of them, too. Needs no Go: see `benches/peers/client-go/check`.
//!
//! The server is within the process, and time is paused: every wait is exact.

use std::{collections::BTreeSet, fs, path::PathBuf, time::Duration};

use bench_core::{
    api::{Object, Resource},
    list_watch::HttpListWatch,
};
use informer_benches::exchange::{
    in_process::InProcess,
    line::Line,
    ours,
    record::{Record, Run, scripts_path, scripts_text},
    script::Script,
    scripts,
    server::ScriptedServer,
};

/// What tokio's timers, which tick in milliseconds, may add to a wait.
const DELAY: Duration = Duration::from_millis(25);

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers/client-go/exchanges")
}

async fn run(line: Line, script: Script) -> Run {
    let server = ScriptedServer::new(script);
    let service = InProcess(server.clone());
    let list_watch: HttpListWatch<_, Object> =
        HttpListWatch::new(service, "", &Resource::pods(), None)
            .with_refused_watches(line.refused_watches());
    let outcome = ours::run(line, &server, list_watch)
        .await
        .expect("it starts");
    let requests = server.requests();
    Run { requests, outcome }
}

async fn every_script_ends_as_recorded(line: Line) {
    let record = Record::read(&folder(), line).expect("it is committed");
    let scripts = scripts::all();
    assert!(scripts.len() >= 60, "only {} scripts", scripts.len());
    assert_eq!(record.all.len(), scripts.len());
    let mut differences = Vec::new();
    for (recorded, script) in record.all.iter().zip(scripts) {
        let name = script.name.clone();
        assert_eq!(recorded.outcome.script, name);
        let run = run(line, script).await;
        for difference in recorded.differences(&run, DELAY) {
            differences.push(format!("{name}: {difference}"));
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences from client-go {}:\n{}",
        differences.len(),
        record.release,
        differences.join("\n")
    );
}

#[tokio::test(start_paused = true)]
async fn delta_fifo_and_its_reflector_do_as_client_go_0_27() {
    every_script_ends_as_recorded(Line::V0_27).await;
}

#[tokio::test(start_paused = true)]
async fn real_fifo_per_event_and_its_reflector_do_as_client_go_0_34() {
    every_script_ends_as_recorded(Line::V0_34).await;
}

#[tokio::test(start_paused = true)]
async fn real_fifo_and_its_reflector_do_as_client_go_0_35() {
    every_script_ends_as_recorded(Line::V0_35).await;
}

#[tokio::test(start_paused = true)]
async fn atomic_fifo_and_its_reflector_do_as_client_go_0_37() {
    every_script_ends_as_recorded(Line::V0_37).await;
}

#[test]
fn the_scripts_that_were_recorded_are_those_there_are() {
    let scripts = scripts::all();
    let names: BTreeSet<_> = scripts.iter().map(|script| &script.name).collect();
    assert_eq!(names.len(), scripts.len(), "a name is given twice");
    let written = fs::read_to_string(scripts_path(&folder())).unwrap();
    assert_eq!(
        written,
        scripts_text(&scripts).unwrap(),
        "record them again: benches/peers/client-go/check --record"
    );
}
