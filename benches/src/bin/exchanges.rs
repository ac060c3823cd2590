//! Compares our informers with client-go's. Called by `benches/peers/client-go/check`.

use std::{
    collections::BTreeSet,
    env, fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use bench_core::{
    api::{Object, Resource},
    list_watch::HttpListWatch,
};
use bytes::Bytes;
use http_body_util::Empty;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use informer_benches::exchange::{
    line::Line,
    ours, peer,
    record::{Record, Recorded, Run, scripts_path, scripts_text},
    script::Script,
    scripts,
    server::ScriptedServer,
    tcp::listen,
};
use tokio::{task::JoinSet, time::sleep};

const USAGE: &str = "usage: exchanges PROGRAMS FOLDER check|record [LINE]
       exchanges PROGRAMS FOLDER show LINE SCRIPT";

/// How often a script that differs is tried, since a machine may stand still for longer; what differs each time is told.
const TRIES: usize = 3;

/// What a busy machine may add to a wait.
const DELAY: Duration = Duration::from_millis(700);

/// The same where the ranges of waits are told from waits.
const DELAY_WHEN_RECORDING: Duration = Duration::from_millis(200);

/// So many runs tell what client-go always does, and from which ranges its waits are drawn.
const RUNS_TO_RECORD: usize = 4;

/// Between the starts of two informers, so that they do not all wait for the processor at once.
const APART: Duration = Duration::from_millis(25);

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match execute(&arguments).await {
        Ok(code) => code,
        Err(error) => {
            // That this cannot be said either changes nothing.
            let _ = writeln!(io::stderr(), "exchanges: {error}");
            ExitCode::from(2)
        }
    }
}

async fn execute(arguments: &[String]) -> io::Result<ExitCode> {
    let usage = || io::Error::other(USAGE);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [programs, folder, ref command @ ..] = *arguments else {
        return Err(usage());
    };
    let (programs, folder) = (Path::new(programs), Path::new(folder));
    let named = |name: &str| Line::ALL.into_iter().find(|line| line.name() == name);
    let lines = match *command {
        [_] => Line::ALL.to_vec(),
        [_, name, ..] => vec![named(name).ok_or_else(usage)?],
        [] => return Err(usage()),
    };
    match *command {
        ["check", ..] => check(programs, folder, &lines).await,
        ["record", ..] => record(programs, folder, &lines).await,
        ["show", _, name] => show(programs, lines[0], name).await,
        _ => Err(usage()),
    }
}

/// Runs every script on both sides and compares with what was recorded. Two lines at a time: nearly all of it is waiting.
async fn check(programs: &Path, folder: &Path, lines: &[Line]) -> io::Result<ExitCode> {
    let mut differences = 0;
    for lines in lines.chunks(2) {
        let mut checks = JoinSet::new();
        for &line in lines {
            let (programs, folder) = (programs.to_owned(), folder.to_owned());
            checks.spawn(async move { check_line(&programs, &folder, line).await });
        }
        for checked in checks.join_all().await {
            for difference in checked? {
                differences += 1;
                writeln!(io::stdout(), "{difference}")?;
            }
        }
    }
    writeln!(io::stdout(), "{differences} differences")?;
    Ok(ExitCode::from(u8::from(differences > 0)))
}

async fn check_line(programs: &Path, folder: &Path, line: Line) -> io::Result<Vec<String>> {
    let mut scripts = scripts::all();
    let record = Record::read(folder, line)?;
    if record.all.len() != scripts.len() {
        return Err(io::Error::other("scripts have not been recorded"));
    }
    let (count, requests) = (scripts.len(), record.all.iter().map(|it| it.requests.len()));
    let requests: usize = requests.sum();
    let mut differences = Vec::new();
    let mut release = String::new();
    for _ in 0..TRIES {
        let theirs = peer::run_all(programs, line, &scripts);
        let (theirs, ours) = tokio::join!(theirs, run_all_ours(line, &scripts));
        let theirs = theirs?;
        release = theirs.0;
        differences.clear();
        let mut different = BTreeSet::new();
        for (whose, runs) in [("client-go now", theirs.1), ("ours", ours?)] {
            for run in runs {
                let script = run.outcome.script.clone();
                let recorded = record.all.iter().find(|it| it.outcome.script == script);
                let recorded = recorded.ok_or_else(|| io::Error::other("an unknown script"))?;
                for difference in recorded.differences(&run, DELAY) {
                    differences.push(format!("{}, {script}, {whose}: {difference}", line.name()));
                    different.insert(script.clone());
                }
            }
        }
        scripts.retain(|script| different.contains(&script.name));
        if scripts.is_empty() {
            break;
        }
    }
    writeln!(
        io::stdout(),
        "{}: client-go {release}, {count} scripts, {requests} requests",
        line.name(),
    )?;
    Ok(differences)
}

/// Asks client-go for every outcome, several times.
async fn record(programs: &Path, folder: &Path, lines: &[Line]) -> io::Result<ExitCode> {
    let scripts = scripts::all();
    fs::write(scripts_path(folder), scripts_text(&scripts)?)?;
    let mut faults = 0;
    for &line in lines {
        let mut runs: Vec<Vec<Run>> = scripts.iter().map(|_| Vec::new()).collect();
        let mut release = String::new();
        for _ in 0..RUNS_TO_RECORD {
            let (named, all) = peer::run_all(programs, line, &scripts).await?;
            release = named;
            for (runs, run) in runs.iter_mut().zip(all) {
                runs.push(run);
            }
        }
        let mut all = Vec::new();
        for runs in &runs {
            match Recorded::of(runs, DELAY_WHEN_RECORDING) {
                Ok(recorded) => all.push(recorded),
                Err(fault) => {
                    faults += 1;
                    writeln!(io::stdout(), "{}: {fault}", line.name())?;
                }
            }
        }
        let requests: usize = all.iter().map(|recorded| recorded.requests.len()).sum();
        writeln!(
            io::stdout(),
            "{}: client-go {release}, {} scripts, {requests} requests",
            line.name(),
            all.len(),
        )?;
        Record { release, all }.write(folder, line)?;
    }
    Ok(ExitCode::from(u8::from(faults > 0)))
}

/// Runs one script on both sides and shows all of it.
async fn show(programs: &Path, line: Line, name: &str) -> io::Result<ExitCode> {
    let mut scripts = scripts::all();
    scripts.retain(|script| script.name == name);
    let (_, theirs) = peer::run_all(programs, line, &scripts).await?;
    let ours = run_all_ours(line, &scripts).await?;
    for (whose, runs) in [("client-go", theirs), ("ours", ours)] {
        writeln!(io::stdout(), "{whose}: {runs:#?}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Our informers, all at once, over TCP as client-go's.
async fn run_all_ours(line: Line, scripts: &[Script]) -> io::Result<Vec<Run>> {
    let mut running = JoinSet::new();
    for (place, script) in scripts.iter().cloned().enumerate() {
        running.spawn(async move {
            sleep(APART * u32::try_from(place).expect("scripts are few")).await;
            let server = ScriptedServer::new(script);
            let listening = listen(server.clone()).await?;
            let client: Client<_, Empty<Bytes>> =
                Client::builder(TokioExecutor::new()).build_http();
            let url = format!("http://{}", listening.address);
            let list_watch: HttpListWatch<_, Object> =
                HttpListWatch::new(client, &url, &Resource::pods(), None)
                    .with_refused_watches(line.refused_watches());
            let outcome = ours::run(line, &server, list_watch).await?;
            let requests = server.requests();
            Ok::<_, io::Error>((place, Run { requests, outcome }))
        });
    }
    let mut runs = Vec::new();
    for run in running.join_all().await {
        runs.push(run?);
    }
    runs.sort_by_key(|(place, _)| *place);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}
