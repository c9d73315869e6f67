//! Notices that a client has left while its statement runs.
//!
//! Nothing is read from a connection until its statement is answered, so the end of it would not be
//! seen before. A second handle on the same socket looks for it, and takes nothing out.

use std::io;
use std::time::Duration;
use tokio::net::TcpStream;

/// How often to look where there is something to be read first.
const AGAIN: Duration = Duration::from_millis(200);

/// The same socket twice: to be served, and to be watched.
pub(super) fn watched(socket: TcpStream) -> io::Result<(TcpStream, TcpStream)> {
    let socket = socket.into_std()?;
    let watch = socket.try_clone()?;
    Ok((TcpStream::from_std(socket)?, TcpStream::from_std(watch)?))
}

/// Ends when the other side has closed the connection and all it sent before has been read.
pub(super) async fn gone(watch: &TcpStream) {
    let mut byte = [0];
    while matches!(watch.peek(&mut byte).await, Ok(1..)) {
        tokio::time::sleep(AGAIN).await;
    }
}
