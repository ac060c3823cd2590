//! The program: what it prints and how it exits.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
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

#[test]
fn a_second_signal_does_not_wait_for_clients_that_do_not_read() {
    // More than the sockets' buffers hold.
    let mut child = program()
        .args(["--count", "600", "--profile", "pod-50k"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line
        .strip_prefix("listening on http://")
        .unwrap()
        .trim_end();
    let mut never_reads = TcpStream::connect(address).unwrap();
    never_reads
        .write_all(b"GET /api/v1/pods HTTP/1.1\r\nHost: test\r\n\r\n")
        .unwrap();
    let mut first_byte = [0];
    never_reads.read_exact(&mut first_byte).unwrap();
    // Two kinds, since two signals of one kind can arrive as one.
    for signal in ["-TERM", "-INT"] {
        let process = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &process])
                .status()
                .unwrap()
                .success()
        );
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
