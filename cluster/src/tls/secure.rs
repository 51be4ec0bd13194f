//! [`Secure`]: sets up TLS so that nobody joins without the key.
//!
//! Only TLS 1.3 is used, with raw public keys (RFC 7250) instead of certificates. All sites share one Ed25519 private
//! key. Both ends must show its public half, and prove by a signature over this very handshake that they have the
//! private half; each compares the public key with its own. So neither end accepts a peer without the key file. The
//! encryption keys come from fresh random numbers of both ends (X25519), so recorded traffic can be neither replayed
//! nor read, not even by someone who gets the key later. The signatures of the two ends differ in their context, so one
//! cannot be sent back as the other. Session tickets and early data, which could be replayed, are off.
//!
//! Before any of that, the root looks for the *ALPN name* in the joiner's first message: a hash of the key, sent as the
//! name of a protocol (ALPN). It proves nothing, because it can be overheard, but it turns unauthenticated peers away
//! cheaply.
//!
//! A joiner could pose as the root: a holder of the key is trusted that far.
//!
//! Joiners that write to each other directly have a key each, whose public half the root passes on: so none can pose as
//! another one.

use super::Key;
use pleach_runtime::sync::lock;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{Accepted, AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{
    CertificateError, CipherSuite, ClientConfig, ClientConnection, DigitallySignedStruct,
    DistinguishedName, Error, ServerConfig, ServerConnection, SignatureScheme,
};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

/// The PKCS #8 prefix of the 32 bytes of an Ed25519 private key.
const PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// Bytes of a public key, in its usual encoding.
pub const PUBLIC: usize = 44;

/// A public key.
pub type PublicKey = [u8; PUBLIC];

/// The public keys that a process accepts.
pub type KnownKeys = Arc<Mutex<BTreeSet<PublicKey>>>;

/// The TLS settings of both ends, made from a key.
#[derive(Clone)]
pub struct Secure {
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
    public: PublicKey,
    known: Arc<Known>,
}

impl Secure {
    /// Settings for a process with the key of the run, which accepts only others that have it.
    pub fn new(key: &Key) -> Result<Self, Error> {
        let secure = Self::with_known_keys(key, key, KnownKeys::default())?;
        lock(&secure.known.keys).insert(secure.public);
        Ok(secure)
    }

    /// Settings for a process with a key of its own, which accepts others with these keys in the same run.
    pub fn with_known_keys(run: &Key, own: &Key, keys: KnownKeys) -> Result<Self, Error> {
        let provider = Arc::new(provider());
        let private = PrivatePkcs8KeyDer::from(pkcs8(own));
        let private = ring::sign::any_eddsa_type(&private)?;
        let encoded = private.public_key().ok_or(Error::General("no public key".into()))?;
        let public = PublicKey::try_from(&encoded[..]);
        let public = public.map_err(|_| Error::General("a public key of another length".into()))?;
        let known = Arc::new(Known { keys, provider: provider.clone() });
        let shown = vec![CertificateDer::from(public.to_vec())];
        let own = Arc::new(CertifiedKey::new(shown, private));

        let mut server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(known.clone() as Arc<dyn ClientCertVerifier>)
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(own.clone())));
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        server.alpn_protocols = vec![alpn_name(run)?];

        let mut client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(known.clone())
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(own)));
        client.resumption = Resumption::disabled();
        client.enable_sni = false;
        client.alpn_protocols = vec![alpn_name(run)?];
        Ok(Self { server: Arc::new(server), client: Arc::new(client), public, known })
    }

    /// The public half of the process's key.
    pub fn public_key(&self) -> PublicKey {
        self.public
    }

    /// The end of the process that is called, if the other one sent the ALPN name.
    pub fn server(&self, accepted: Accepted) -> Result<ServerConnection, Error> {
        let words = accepted.client_hello().alpn();
        let known = |word: &[u8]| self.server.alpn_protocols.iter().any(|own| own == word);
        if !words.is_some_and(|mut words| words.any(known)) {
            return Err(unknown());
        }
        accepted.into_connection(self.server.clone()).map_err(|(error, _)| error)
    }

    /// The end of the process that connects.
    pub fn client(&self) -> Result<ClientConnection, Error> {
        Self::connect(self.client.clone())
    }

    /// The same, to the process with this key only.
    pub fn client_of(&self, key: PublicKey) -> Result<ClientConnection, Error> {
        let keys = Arc::new(Mutex::new(BTreeSet::from([key])));
        let mut client = (*self.client).clone();
        let known = Known { keys, provider: self.known.provider.clone() };
        client.dangerous().set_certificate_verifier(Arc::new(known));
        Self::connect(Arc::new(client))
    }

    fn connect(client: Arc<ClientConfig>) -> Result<ClientConnection, Error> {
        // The key identifies the other end; no name is sent.
        let name = ServerName::IpAddress(Ipv4Addr::UNSPECIFIED.into());
        ClientConnection::new(client, name)
    }
}

/// A key in the common PKCS #8 encoding.
pub fn pkcs8(key: &Key) -> Vec<u8> {
    [&PKCS8[..], key.bytes()].concat()
}

/// The error for another key than this, or none.
fn unknown() -> Error {
    Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
}

/// A hash of the key, which does not reveal it.
fn alpn_name(key: &Key) -> Result<Vec<u8>, Error> {
    let suite = ring::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13();
    let hash = suite.ok_or(Error::General("no hash".into()))?.common.hash_provider;
    let word = hash.hash(&[b"pleach door", &key.bytes()[..]].concat());
    Ok(word.as_ref()[..16].iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect())
}

/// A single key exchange, and the fastest cipher first.
fn provider() -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.kx_groups = vec![ring::kx_group::X25519];
    let later = |suite: CipherSuite| suite != CipherSuite::TLS13_AES_128_GCM_SHA256;
    provider.cipher_suites.sort_by_key(|suite| later(suite.suite()));
    provider
}

/// Accepts known public keys.
#[derive(Debug)]
struct Known {
    keys: KnownKeys,
    provider: Arc<CryptoProvider>,
}

impl Known {
    fn knows(&self, shown: &CertificateDer<'_>, more: &[CertificateDer<'_>]) -> Result<(), Error> {
        let key = PublicKey::try_from(shown.as_ref());
        if more.is_empty() && key.is_ok_and(|key| lock(&self.keys).contains(&key)) {
            return Ok(());
        }
        Err(unknown())
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

/// How each end checks the other's signature: the methods that two traits have in common.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::General("a signature of TLS 1.2".into()))
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
    };
}

impl ServerCertVerifier for Known {
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

    signatures!();
}

impl ClientCertVerifier for Known {
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

    signatures!();
}

#[cfg(test)]
impl Secure {
    pub fn public(&self) -> CertificateDer<'static> {
        CertificateDer::from(self.public.to_vec())
    }

    pub fn provider(&self) -> Arc<CryptoProvider> {
        self.known.provider.clone()
    }

    pub fn pinned(&self) -> Arc<dyn ServerCertVerifier> {
        self.known.clone()
    }

    /// The root's end without the check of the ALPN name.
    pub fn unguarded(&self) -> Result<ServerConnection, Error> {
        ServerConnection::new(self.server.clone())
    }

    pub fn word(&self) -> Vec<u8> {
        self.client.alpn_protocols[0].clone()
    }
}
