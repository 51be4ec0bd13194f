//! [`Secure`]: how TLS is set up, and why nobody joins without the key.
//!
//! TLS 1.3 alone, with raw public keys (RFC 7250) in place of certificates. All sites share one private key
//! of Ed25519. Both ends must show the public half of it, and prove by a signature over this very handshake
//! that they have the private one; each compares what it is shown with its own. So whoever lacks the file
//! is believed by neither end. The keys that encrypt come from fresh random numbers of both (X25519), so
//! nothing that was recorded can be used again or read, not even by whoever gets the key later. The
//! signatures of the two ends differ in their context, so one cannot be sent back as the other.
//! Session tickets and early data, which could be replayed, are off.
//!
//! A joiner could pose as the root: whoever has the key is trusted that far. Joiners never listen.

use super::Key;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, CipherSuite, ClientConfig, ClientConnection, DigitallySignedStruct,
    DistinguishedName, Error, ServerConfig, ServerConnection, SignatureScheme,
};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// What comes before the 32 bytes of a private key of Ed25519 in PKCS #8.
const PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// Both ends' settings, made from a key.
#[derive(Clone)]
pub struct Secure {
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

impl Secure {
    pub fn new(key: &Key) -> Result<Self, Error> {
        let provider = Arc::new(provider());
        let private = PrivatePkcs8KeyDer::from([&PKCS8[..], key.bytes()].concat());
        let private = ring::sign::any_eddsa_type(&private)?;
        let public = private.public_key().ok_or(Error::General("no public key".into()))?;
        let public = CertificateDer::from(public.to_vec());
        let pinned = Arc::new(Pinned { public: public.clone(), provider: provider.clone() });
        let own = Arc::new(CertifiedKey::new(vec![public], private));

        let mut server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(pinned.clone())
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(own.clone())));
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;

        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(pinned)
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(own)));
        client.resumption = Resumption::disabled();
        client.enable_sni = false;
        Ok(Self { server: Arc::new(server), client: Arc::new(client) })
    }

    /// The root's end of a connection.
    pub fn server(&self) -> Result<ServerConnection, Error> {
        ServerConnection::new(self.server.clone())
    }

    /// A joiner's end.
    pub fn client(&self) -> Result<ClientConnection, Error> {
        // The key says who is meant; a name is not sent.
        let name = ServerName::IpAddress(Ipv4Addr::UNSPECIFIED.into());
        ClientConnection::new(self.client.clone(), name)
    }
}

/// One way to agree on keys, and the fastest cipher first.
fn provider() -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.kx_groups = vec![ring::kx_group::X25519];
    let first = |suite: CipherSuite| suite != CipherSuite::TLS13_AES_128_GCM_SHA256;
    provider.cipher_suites.sort_by_key(|suite| first(suite.suite()));
    provider
}

/// Believes one public key.
#[derive(Debug)]
struct Pinned {
    public: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn knows(&self, shown: &CertificateDer<'_>, more: &[CertificateDer<'_>]) -> Result<(), Error> {
        if more.is_empty() && *shown == self.public {
            return Ok(());
        }
        Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    }

    fn signed(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let public = SubjectPublicKeyInfoDer::from(shown.as_ref());
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &public, signature, known)
    }
}

fn old_tls() -> Error {
    Error::General("a signature of TLS 1.2".into())
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        more: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.knows(shown, more).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(old_tls())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        more: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.knows(shown, more).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(old_tls())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
