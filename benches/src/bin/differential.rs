//! Compares our queues with client-go's. Called by `benches/peers/client-go/check`.

use std::{
    env,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use bench_core::measure::clock::MonotonicTime;
use informer_benches::differential::{
    choose::choose,
    corpus::{Recorded, corpus_files, first_difference},
    generate::generate,
    peer::Peer,
    replay::replay,
    shrink::shrink,
    stream::stream,
    trace::{Preset, Trace},
};

const USAGE: &str = "usage: differential PROGRAMS CORPUS run PRESET FIRST_SEED OPERATIONS
       differential PROGRAMS CORPUS choose PRESET
       differential PROGRAMS CORPUS check|record";

/// Traces from which a corpus is chosen, and the most operations of it.
const CANDIDATES: u64 = 30_000;
const MOST_OPERATIONS: usize = 800;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match execute(&arguments) {
        Ok(code) => code,
        Err(error) => {
            // That this cannot be said either changes nothing.
            let _ = writeln!(io::stderr(), "differential: {error}");
            ExitCode::from(2)
        }
    }
}

fn execute(arguments: &[String]) -> io::Result<ExitCode> {
    let usage = || io::Error::other(USAGE);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [programs, corpus, ref command @ ..] = *arguments else {
        return Err(usage());
    };
    let (programs, corpus) = (Path::new(programs), Path::new(corpus));
    match *command {
        ["run", preset, first_seed, operations] => {
            let preset = preset_named(preset).ok_or_else(usage)?;
            let first_seed = first_seed.parse().map_err(|_| usage())?;
            let operations = operations.parse().map_err(|_| usage())?;
            run(programs, corpus, preset, (first_seed, operations))
        }
        ["choose", preset] => {
            let preset = preset_named(preset).ok_or_else(usage)?;
            choose_corpus(programs, corpus, preset)
        }
        ["check"] => check(programs, corpus),
        ["record"] => record(programs, corpus),
        _ => Err(usage()),
    }
}

fn preset_named(name: &str) -> Option<Preset> {
    Preset::ALL.into_iter().find(|preset| preset.name() == name)
}

fn run(
    programs: &Path,
    corpus: &Path,
    preset: Preset,
    (first_seed, operations): (u64, u64),
) -> io::Result<ExitCode> {
    let start = MonotonicTime::now();
    let streamed = stream(programs, preset, first_seed, operations)?;
    let took: Duration = MonotonicTime::now().since(start);
    let mut out = io::stdout();
    writeln!(
        out,
        "{}: {} operations in {} traces from seed {first_seed}, client-go {}, {:.0} operations/s",
        preset.name(),
        streamed.operations,
        streamed.traces,
        streamed.release,
        streamed.operations as f64 / took.as_secs_f64(),
    )?;
    let Some(seed) = streamed.different else {
        writeln!(out, "no difference")?;
        return Ok(ExitCode::SUCCESS);
    };
    writeln!(out, "seed {seed} differs")?;
    let path = keep(programs, corpus, preset, seed)?;
    writeln!(out, "kept as {}", path.display())?;
    Ok(ExitCode::FAILURE)
}

/// Shrinks the trace of a seed that differs, shows the difference and keeps the trace with client-go's outcomes.
fn keep(programs: &Path, corpus: &Path, preset: Preset, seed: u64) -> io::Result<PathBuf> {
    let mut peer = Peer::start(programs, preset)?;
    let trace = shrink(generate(preset, seed), |trace| {
        peer.replay(trace)
            .map(|(_, theirs)| theirs != replay(trace))
    })?;
    let recorded = ask(&mut peer, trace)?;
    let ours = replay(&recorded.trace);
    let mut out = io::stdout();
    let difference = first_difference(&ours, &recorded.outcomes);
    for (place, line) in recorded.trace.lines().enumerate() {
        writeln!(out, "  {line}")?;
        if let Some((different, ours, theirs)) = difference
            && different + 1 == place
        {
            writeln!(out, "    ours      {ours}\n    client-go {theirs}")?;
        }
    }
    let path = corpus.join(format!("regression-{}-{seed}.jsonl", preset.name()));
    Recorded::write(&path, &[recorded])?;
    Ok(path)
}

fn choose_corpus(programs: &Path, corpus: &Path, preset: Preset) -> io::Result<ExitCode> {
    let candidates = (1..=CANDIDATES).map(|seed| generate(preset, seed));
    let candidates = candidates.map(|trace| {
        let outcomes = replay(&trace);
        (trace, outcomes)
    });
    let mut peer = Peer::start(programs, preset)?;
    let mut chosen = Vec::new();
    for trace in choose(candidates.collect(), MOST_OPERATIONS) {
        chosen.push(ask(&mut peer, trace)?);
    }
    let path = corpus.join(format!("{}.jsonl", preset.name()));
    Recorded::write(&path, &chosen)?;
    writeln!(io::stdout(), "{}: {} traces", path.display(), chosen.len())?;
    Ok(ExitCode::SUCCESS)
}

/// Replays every recorded trace on both sides.
fn check(programs: &Path, corpus: &Path) -> io::Result<ExitCode> {
    let mut differences = 0;
    for path in corpus_files(corpus)? {
        let mut operations = 0;
        let recorded = Recorded::read(&path)?;
        for recorded in &recorded {
            operations += recorded.trace.operations.len();
            let now = answered(programs, recorded.trace.clone())?;
            let ours = replay(&recorded.trace);
            for (what, outcomes) in [("client-go now", &now.outcomes), ("ours", &ours)] {
                if let Some((place, outcome, was)) = first_difference(outcomes, &recorded.outcomes)
                {
                    differences += 1;
                    let trace = &recorded.trace.header.trace;
                    writeln!(
                        io::stdout(),
                        "{trace}, operation {place}\n  recorded {was}\n  {what} {outcome}"
                    )?;
                }
            }
        }
        writeln!(
            io::stdout(),
            "{}: {} traces, {operations} operations",
            path.display(),
            recorded.len()
        )?;
    }
    writeln!(io::stdout(), "{differences} differences")?;
    Ok(ExitCode::from(u8::from(differences > 0)))
}

/// Asks client-go again for the outcomes of every recorded trace.
fn record(programs: &Path, corpus: &Path) -> io::Result<ExitCode> {
    for path in corpus_files(corpus)? {
        let mut all = Vec::new();
        for recorded in Recorded::read(&path)? {
            all.push(answered(programs, recorded.trace)?);
        }
        Recorded::write(&path, &all)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn answered(programs: &Path, trace: Trace) -> io::Result<Recorded> {
    ask(&mut Peer::start(programs, trace.header.preset)?, trace)
}

fn ask(peer: &mut Peer, trace: Trace) -> io::Result<Recorded> {
    let (release, outcomes) = peer.replay(&trace)?;
    Ok(Recorded {
        trace,
        release,
        outcomes,
    })
}
