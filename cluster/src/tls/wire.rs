//! [`Wire`]: one connection: a socket with TLS and frames on top. It does as much as possible without blocking, but no
//! more than a turn, so that other connections get theirs.

use super::frame::{Frame, FrameFault, FrameReader};
use super::outbox::FrameOutbox;
use super::secure::PublicKey;
use mio::net::TcpStream;
use rustls::{CertificateError, Connection, Error};
use std::io::{ErrorKind, Read, Write};
use std::time::Instant;

/// The maximum number of bytes read or written in a turn.
pub const TURN: usize = 64 << 10;
/// The maximum number of unsent bytes that the system may hold, since nothing can overtake those.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 256 << 10;

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// There is nothing more to do for now.
    Done,
    /// There is more to do.
    More,
    /// The other end has closed.
    Ended,
}

/// Why a connection cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionError {
    /// An error of the system.
    Socket(String),
    /// The other end does not speak TLS as expected.
    NoTls,
    /// The other end has another key, or none.
    Key,
    /// The other end violates TLS.
    Tls(String),
    /// The other end sent an invalid frame.
    Frame(FrameFault),
}

impl std::fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Socket(why) => f.write_str(why),
            Self::NoTls => f.write_str("it does not speak TLS 1.3 as Pleach does"),
            Self::Key => f.write_str("it does not have this key"),
            Self::Tls(why) => write!(f, "TLS failed: {why}"),
            Self::Frame(fault) => f.write_str(fault),
        }
    }
}

impl From<Error> for ConnectionError {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
            | Error::InvalidCertificate(CertificateError::BadSignature)
            | Error::NoCertificatesPresented => Self::Key,
            Error::AlertReceived(alert) if is_about_keys(alert) => Self::Key,
            Error::InvalidMessage(_)
            | Error::InappropriateMessage { .. }
            | Error::PeerIncompatible(_)
            | Error::AlertReceived(_) => Self::NoTls,
            other => Self::Tls(other.to_string()),
        }
    }
}

fn is_about_keys(alert: rustls::AlertDescription) -> bool {
    use rustls::AlertDescription as Alert;
    let known = [
        Alert::BadCertificate,
        Alert::CertificateUnknown,
        Alert::CertificateRequired,
        Alert::AccessDenied,
        Alert::DecryptError,
    ];
    known.contains(&alert)
}

/// Whether an operation must wait for the socket, which may not even be connected yet.
fn is_early(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}

/// A connection.
pub struct Wire {
    pub socket: TcpStream,
    tls: Connection,
    reader: FrameReader,
    /// Plain frames on their way into TLS.
    batch: Vec<u8>,
    /// When something was last received, and last sent.
    pub received_at: Instant,
    pub sent_at: Instant,
}

impl Wire {
    pub fn new(socket: TcpStream, tls: Connection, now: Instant) -> Self {
        // Best effort: without these options all works, but more slowly.
        let _ = socket.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT);
        let (reader, batch) = (FrameReader::default(), Vec::new());
        let mut wire = Self { socket, tls, reader, batch, received_at: now, sent_at: now };
        wire.tls.set_buffer_limit(None);
        wire
    }

    /// Whether the other end has not proven the key yet.
    pub fn is_unauthenticated(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// The key that the other end has proven to have.
    pub fn peer_key(&self) -> Option<PublicKey> {
        let shown = self.tls.peer_certificates()?.first()?;
        PublicKey::try_from(shown.as_ref()).ok()
    }

    /// Reads what has arrived, at most as much as `scratch` holds. Also returns the number of bytes.
    pub fn read(
        &mut self,
        scratch: &mut [u8],
        each: &mut dyn FnMut(Frame) -> Result<(), FrameFault>,
    ) -> Result<(Handshake, usize), ConnectionError> {
        let length = match self.socket.read(scratch) {
            Ok(0) => return Ok((Handshake::Ended, 0)),
            Ok(length) => length,
            Err(error) if is_early(&error) => return Ok((Handshake::Done, 0)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                return Ok((Handshake::More, 0));
            }
            Err(error) => return Err(ConnectionError::Socket(error.to_string())),
        };
        let mut rest = &scratch[..length];
        while !rest.is_empty() {
            self.tls
                .read_tls(&mut rest)
                .map_err(|error| ConnectionError::Tls(error.to_string()))?;
            if self.take_frames(each)? {
                return Ok((Handshake::Ended, length));
            }
        }
        Ok((Handshake::More, length))
    }

    /// Takes frames from TLS. Returns whether the other end has closed.
    fn take_frames(
        &mut self,
        each: &mut dyn FnMut(Frame) -> Result<(), FrameFault>,
    ) -> Result<bool, ConnectionError> {
        let state = self.tls.process_new_packets()?;
        if state.plaintext_bytes_to_read() > 0 {
            let mut plain = self.tls.reader();
            while let Ok(mut bytes @ [_, ..]) = std::io::BufRead::fill_buf(&mut plain) {
                let length = bytes.len();
                while !bytes.is_empty() {
                    match self.reader.read_frame(&mut bytes) {
                        Ok(Some(frame)) => each(frame).map_err(ConnectionError::Frame)?,
                        Ok(None) => break,
                        Err(fault) => return Err(ConnectionError::Frame(fault)),
                    }
                }
                std::io::BufRead::consume(&mut plain, length);
            }
        }
        Ok(state.peer_has_closed())
    }

    /// Sends waiting frames.
    pub fn write(
        &mut self,
        outbox: &mut FrameOutbox,
        now: Instant,
    ) -> Result<Handshake, ConnectionError> {
        let mut written = 0;
        loop {
            while self.tls.wants_write() {
                match self.tls.write_tls(&mut self.socket) {
                    Ok(0) => return Ok(Handshake::Ended),
                    Ok(length) => written += length,
                    Err(error) if is_early(&error) => return Ok(Handshake::Done),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(ConnectionError::Socket(error.to_string())),
                }
                self.sent_at = now;
            }
            if self.is_unauthenticated() || outbox.is_empty() {
                return Ok(Handshake::Done);
            }
            if written >= TURN {
                return Ok(Handshake::More);
            }
            self.batch.clear();
            outbox.write_frames(&mut self.batch, TURN);
            let taken = self.tls.writer().write_all(&self.batch);
            taken.map_err(|error| ConnectionError::Tls(error.to_string()))?;
        }
    }

    /// Whether everything was handed to the system.
    pub fn is_flushed(&self) -> bool {
        !self.tls.wants_write()
    }

    /// Announces that nothing more follows.
    pub fn close(&mut self) {
        self.tls.send_close_notify();
        let _ = self.tls.write_tls(&mut self.socket);
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
    }
}
