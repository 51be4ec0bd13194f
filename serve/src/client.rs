//! [`Client`]: requests to a service, over TLS, with a certificate known in advance.

use crate::api::{JobView, LONGEST_REQUEST, Refusal, Submission};
use crate::credentials::{Credentials, new_token, sha256};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring::default_provider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error,
    SignatureScheme, StreamOwned,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a stream of events may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// Time between two attempts to watch a job, and their number.
const AGAIN: Duration = Duration::from_millis(500);
const TRIES: u32 = 60;
/// The longest answer, in bytes: it is held in memory.
const MOST: u64 = 1 << 30;

/// The jobs that were submitted.
#[derive(Deserialize)]
struct Ids {
    ids: Vec<u64>,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The service cannot be reached.
    #[error("cannot reach the service at {at}: {why}")]
    Unreachable {
        /// Its address.
        at: String,
        /// The error.
        why: std::io::Error,
    },
    /// The service has another certificate than the credentials name.
    #[error(
        "the service at {at} has a different certificate from the one named in the credentials"
    )]
    Certificate {
        /// Its address.
        at: String,
    },
    /// The service refused the request.
    #[error("{why}")]
    Refused {
        /// The status of the answer.
        status: u16,
        /// What the service said.
        why: String,
    },
    /// The answer cannot be read.
    #[error("the answer of the service at {at} cannot be read: {why}")]
    Malformed {
        /// Its address.
        at: String,
        /// What is wrong with it.
        why: String,
    },
    /// The system has no random bytes.
    #[error("{0}")]
    Random(String),
}

type Stream = BufReader<StreamOwned<ClientConnection, TcpStream>>;

/// A client of a service. Its connection stays open between requests.
pub struct Client {
    credentials: Credentials,
    config: Arc<ClientConfig>,
    stream: Option<Stream>,
    /// How long an answer may take.
    pub timeout: Duration,
}

impl Client {
    /// A client that has not connected yet.
    ///
    /// # Panics
    /// Never: the protocol version is one that is built in.
    #[must_use]
    pub fn new(credentials: Credentials) -> Self {
        let provider = Arc::new(default_provider());
        let verifier =
            Pinned { certificate: credentials.certificate, provider: Arc::clone(&provider) };
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("TLS 1.3 is built in")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let timeout = Duration::from_secs(60);
        Self { credentials, config: Arc::new(config), stream: None, timeout }
    }

    /// Another client of the same service.
    #[must_use]
    pub fn another(&self) -> Self {
        let (credentials, config) = (self.credentials.clone(), Arc::clone(&self.config));
        Self { credentials, config, stream: None, timeout: self.timeout }
    }

    /// Where the service is, and who calls.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Puts a command into the queue; returns the number of the job. One that was submitted before with the same key is
    /// not submitted again; one without a key gets a new one.
    ///
    /// # Errors
    /// If the service cannot be reached, or refuses the command.
    pub fn submit(&mut self, submission: &Submission) -> Result<u64, ClientError> {
        let Ids { ids } = self.post("/v1/jobs", &*with_key(submission)?)?;
        ids.first().copied().ok_or_else(|| self.malformed("it names no job"))
    }

    /// A job.
    ///
    /// # Errors
    /// If the service cannot be reached, or there is no such job.
    pub fn job(&mut self, id: u64) -> Result<JobView, ClientError> {
        self.get(&format!("/v1/jobs/{id}"))
    }

    /// What the command of a job printed.
    ///
    /// # Errors
    /// If the service cannot be reached, or there is no result.
    pub fn result(&mut self, id: u64) -> Result<Vec<u8>, ClientError> {
        self.get_text(&format!("/v1/jobs/{id}/result"))
    }

    /// Follows a job until it is over, and returns it; calls `each` with every state, and from time to time with
    /// `None`. If `each` returns false, this returns `None`. If the service restarts, this waits up to half a minute
    /// for it.
    ///
    /// # Errors
    /// If the service cannot be reached, or there is no such job.
    pub fn watch(
        &mut self,
        id: u64,
        mut each: impl FnMut(Option<&JobView>) -> bool,
    ) -> Result<Option<JobView>, ClientError> {
        let (mut last, mut tries, mut wanted): (Option<JobView>, _, _) = (None, 0, true);
        loop {
            let mut unreadable = None;
            let streamed = self.events(&format!("/v1/jobs/{id}/events"), |text| {
                tries = 0;
                wanted = match text.map(serde_json::from_str::<JobView>) {
                    None => each(None),
                    Some(Ok(job)) => each(Some(last.insert(job))),
                    Some(Err(why)) => {
                        unreadable = Some(why);
                        false
                    }
                };
                wanted
            });
            if let Some(why) = unreadable {
                return Err(self.malformed(why));
            }
            if !wanted {
                return Ok(None);
            }
            if last.as_ref().is_some_and(|job| job.state.is_over()) {
                return Ok(last);
            }
            tries += 1;
            if !each(None) {
                return Ok(None);
            }
            match streamed {
                Err(
                    why @ (ClientError::Refused { status: ..500, .. }
                    | ClientError::Certificate { .. }),
                ) => return Err(why),
                // A service that never answered, or has not for half a minute.
                Err(why) if last.is_none() || tries > TRIES => return Err(why),
                _ => std::thread::sleep(AGAIN),
            }
        }
    }

    /// Gets an object.
    ///
    /// # Errors
    /// If the service cannot be reached, refuses, or answers with something else.
    pub fn get<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, ClientError> {
        let body = self.request("GET", path, None)?;
        self.parsed(&body)
    }

    /// Gets a text.
    ///
    /// # Errors
    /// If the service cannot be reached, or refuses.
    pub fn get_text(&mut self, path: &str) -> Result<Vec<u8>, ClientError> {
        self.request("GET", path, None)
    }

    /// Sends an object, and returns the answer. Only for requests that may be repeated: if a connection that was open
    /// fails, it is opened again.
    ///
    /// # Errors
    /// If the service cannot be reached, refuses, or answers with something else.
    pub fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_vec(body).map_err(|why| self.malformed(why))?;
        if body.len() > LONGEST_REQUEST {
            // The service would close the connection before it has read everything.
            let why = format!(
                "the request takes {} bytes: expected at most {LONGEST_REQUEST}",
                body.len()
            );
            return Err(ClientError::Refused { status: 413, why });
        }
        let body = self.request("POST", path, Some(&body))?;
        self.parsed(&body)
    }

    /// Deletes something.
    ///
    /// # Errors
    /// If the service cannot be reached, refuses, or answers with something else.
    pub fn delete<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, ClientError> {
        let body = self.request("DELETE", path, None)?;
        self.parsed(&body)
    }

    /// Gets a stream of events, and calls `each` with the data of each event, or with `None` for a line that only shows
    /// that the stream is open, until it returns false or the stream ends.
    ///
    /// # Errors
    /// If the service cannot be reached, or refuses.
    pub fn events(
        &mut self,
        path: &str,
        mut each: impl FnMut(Option<&str>) -> bool,
    ) -> Result<(), ClientError> {
        let mut stream = self.connect(SILENCE).map_err(|why| self.unreachable(why))?;
        let send = self.head("GET", path, "1.0", None);
        stream.get_mut().write_all(send.as_bytes()).map_err(|why| self.unreachable(why))?;
        let (status, length) = read_head(&mut stream).map_err(|why| self.unreachable(why))?;
        if status != 200 {
            let body = read_body(&mut stream, length).map_err(|why| self.unreachable(why))?;
            return Err(refused(status, &body));
        }
        for line in stream.lines() {
            let Ok(line) = line else { return Ok(()) };
            // Other lines only show that the stream is open.
            if !each(line.strip_prefix("data:").map(str::trim_start)) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn request(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
    ) -> Result<Vec<u8>, ClientError> {
        let head = self.head(method, path, "1.1", body);
        // The service may have closed a connection that was idle.
        if let Some(stream) = self.stream.take() {
            match self.exchange(stream, &head, body) {
                Ok(answer) => return answer,
                Err(why) if matches!(why.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                    return Err(self.unreachable(why));
                }
                Err(_) => {}
            }
        }
        let stream = self.connect(self.timeout).map_err(|why| self.unreachable(why))?;
        let answer = self.exchange(stream, &head, body);
        answer.unwrap_or_else(|why| Err(self.unreachable(why)))
    }

    /// Sends a request on an open connection and reads the answer.
    fn exchange(
        &mut self,
        mut stream: Stream,
        head: &str,
        body: Option<&[u8]>,
    ) -> std::io::Result<Result<Vec<u8>, ClientError>> {
        stream.get_mut().write_all(head.as_bytes())?;
        stream.get_mut().write_all(body.unwrap_or_default())?;
        let (status, length) = read_head(&mut stream)?;
        if let Some(length) = length.filter(|&length| length > MOST) {
            let why = format!("it takes {length} bytes: expected at most {MOST}");
            return Ok(Err(self.malformed(why)));
        }
        let body = read_body(&mut stream, length)?;
        if length.is_some() {
            self.stream = Some(stream);
        }
        Ok(if (200..300).contains(&status) { Ok(body) } else { Err(refused(status, &body)) })
    }

    fn head(&self, method: &str, path: &str, version: &str, body: Option<&[u8]>) -> String {
        let Credentials { address, token, .. } = &self.credentials;
        let kind = body.map_or(String::new(), |body| {
            format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len())
        });
        format!(
            "{method} {path} HTTP/{version}\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{kind}\r\n"
        )
    }

    /// Opens a connection on which reading may be silent for this long.
    fn connect(&self, timeout: Duration) -> std::io::Result<Stream> {
        let mut last = std::io::Error::new(ErrorKind::NotFound, "the host name has no address");
        for at in self.credentials.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&at, CONNECT) {
                Ok(socket) => {
                    socket.set_nodelay(true)?;
                    socket.set_read_timeout(Some(timeout))?;
                    socket.set_write_timeout(Some(self.timeout))?;
                    // The certificate is known; its names do not matter.
                    let name = ServerName::IpAddress(at.ip().into());
                    let session = ClientConnection::new(Arc::clone(&self.config), name);
                    let session = session.map_err(std::io::Error::other)?;
                    return Ok(BufReader::new(StreamOwned::new(session, socket)));
                }
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    fn parsed<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, ClientError> {
        serde_json::from_slice(body).map_err(|why| self.malformed(why))
    }

    fn malformed(&self, why: impl ToString) -> ClientError {
        ClientError::Malformed { at: self.credentials.address.clone(), why: why.to_string() }
    }

    fn unreachable(&self, why: std::io::Error) -> ClientError {
        let at = self.credentials.address.clone();
        let of_tls = why.get_ref().and_then(|why| why.downcast_ref::<Error>());
        if matches!(of_tls, Some(Error::InvalidCertificate(_))) {
            return ClientError::Certificate { at };
        }
        ClientError::Unreachable { at, why }
    }
}

/// A submission with a key: it may be sent again on a new connection, and must not become two jobs.
fn with_key(submission: &Submission) -> Result<Cow<'_, Submission>, ClientError> {
    if !submission.key.is_empty() {
        return Ok(Cow::Borrowed(submission));
    }
    let key = new_token().map_err(ClientError::Random)?;
    Ok(Cow::Owned(Submission { key, ..submission.clone() }))
}

fn refused(status: u16, body: &[u8]) -> ClientError {
    let why = serde_json::from_slice::<Refusal>(body).map_or_else(
        |_| format!("the service answered with status {status}"),
        |refusal| refusal.error,
    );
    ClientError::Refused { status, why }
}

/// Reads the status of an answer, and the length of its body if it is stated.
fn read_head(stream: &mut Stream) -> std::io::Result<(u16, Option<u64>)> {
    let invalid = || std::io::Error::new(ErrorKind::InvalidData, "the answer is not HTTP");
    let mut line = String::new();
    let mut read = |line: &mut String| {
        line.clear();
        stream.by_ref().take(1 << 16).read_line(line)
    };
    if read(&mut line)? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(invalid)?;
    let mut length = None;
    loop {
        if read(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok((status, length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse().map_err(|_| invalid())?);
        }
    }
}

fn read_body(stream: &mut Stream, length: Option<u64>) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    stream.take(length.unwrap_or(MOST).min(MOST)).read_to_end(&mut body)?;
    match length {
        Some(length) if length != body.len() as u64 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(body),
    }
}

/// Accepts one certificate only.
#[derive(Debug)]
struct Pinned {
    certificate: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if sha256(end_entity) == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not supported".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_submission_has_a_key() {
        let none = Submission { priority: 3, ..Submission::default() };
        let (one, other) = (with_key(&none).unwrap(), with_key(&none).unwrap());
        assert!(one.key.len() == 64 && one.key != other.key && one.priority == 3);
        let own = Submission { key: "own".into(), ..none.clone() };
        assert_eq!(with_key(&own).unwrap().key, "own");
    }
}
