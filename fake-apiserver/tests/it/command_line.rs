//! The program: what it prints and how it exits.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fake-apiserver"))
}

#[test]
fn one_line_says_where_it_listens_and_a_signal_ends_it_well() {
    let mut child = program()
        .args(["--count", "3", "--profile", "lease"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let port = line
        .strip_prefix("listening on http://127.0.0.1:")
        .expect(&line)
        .trim_end();
    assert_ne!(port.parse::<u16>().unwrap(), 0);
    let killed = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    stdout.read_line(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn a_broken_file_of_objects_is_exit_code_2_and_names_item_and_field() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(br#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"metadata":{"namespace":"kube-system"}}]}"#).unwrap();
    let output = program()
        .arg("--objects")
        .arg(file.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = format!(
        "error: {}: item 1 (Pod kube-system/?): metadata.name is missing\n",
        file.path().display()
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    assert_eq!(output.stdout, b"");
}

#[test]
fn a_wrong_argument_is_exit_code_2() {
    for arguments in [
        ["--churn", "fast"],
        ["--profile", "pod-7k"],
        ["--resource", "example.com/v1"],
        ["--listen", "here"],
    ] {
        assert_eq!(
            program().args(arguments).output().unwrap().status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
}
