//! The scripted server over TCP: HTTP/1.1 by hand, one request a connection, so that every byte and every end is the script's.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::sleep,
};

use super::{
    script::{End, Piece},
    server::{Pending, ScriptedServer},
};

/// Asked by a peer: whether its script is over, see [`ScriptedServer::has_answered_enough`].
const ENOUGH: &str = "/enough";

const MOST_HEAD_BYTES: usize = 64 * 1024;

/// A server that listens until it is dropped.
#[derive(Debug)]
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    #[expect(dead_code, reason = "dropping it ends the server")]
    tasks: JoinSet<()>,
}

/// Listens at a free port of the loopback.
///
/// # Errors
/// If there is none.
pub async fn listen(server: ScriptedServer) -> io::Result<Listening> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let server = server.clone();
            connections.spawn(async move {
                // A client that has left is none of the server's business.
                let _ = serve(stream, &server).await;
            });
        }
    });
    Ok(Listening { address, tasks })
}

async fn serve(mut stream: TcpStream, server: &ScriptedServer) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let head = read_head(&mut stream).await?;
    let mut words = head.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(());
    };
    if target == ENOUGH {
        let answer = server.has_answered_enough().to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
            answer.len()
        );
        return stream.write_all(head.as_bytes()).await;
    }
    let pending = server.ask(method, target);
    if pending.answer.status != 0 {
        write_answer(&mut stream, &pending).await?;
    }
    pending.sent();
    match pending.answer.end {
        End::Whole => stream.write_all(b"0\r\n\r\n").await?,
        End::Cut => {}
        End::Open => {
            // Until the client leaves: it sends nothing else.
            let _ = stream.read(&mut [0]).await?;
        }
        End::Reset => return stream.set_zero_linger(),
    }
    stream.shutdown().await
}

/// Reads up to the blank line and returns the first line.
async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > MOST_HEAD_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.push(stream.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

async fn write_answer(stream: &mut TcpStream, pending: &Pending) -> io::Result<()> {
    let answer = &pending.answer;
    let mut head = vec![
        format!("HTTP/1.1 {} Scripted", answer.status),
        "Transfer-Encoding: chunked".to_owned(),
        "Connection: close".to_owned(),
    ];
    let headers = answer.all_headers().into_iter();
    head.extend(headers.map(|(name, value)| format!("{name}: {value}")));
    let head = head.join("\r\n") + "\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for piece in &answer.body {
        match piece {
            Piece::Pause(milliseconds) => sleep(Duration::from_millis(*milliseconds)).await,
            Piece::Text(text) => {
                let chunk = format!("{:x}\r\n{text}\r\n", text.len());
                stream.write_all(chunk.as_bytes()).await?;
            }
        }
    }
    Ok(())
}
