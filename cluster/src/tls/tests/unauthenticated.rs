//! Peers without the key: turned away at little cost.

use super::table::{LONG, Table, rest};
use crate::tls::secure::Secure;
use crate::tls::{Key, Limits};
use rustls::Connection;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Reads until the root closes the connection. Returns the number of bytes that it sent.
fn closed(socket: &mut TcpStream) -> usize {
    socket.set_read_timeout(Some(LONG)).unwrap();
    let mut said = Vec::new();
    match socket.read_to_end(&mut said) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
    }
    said.len()
}

#[test]
fn plain_text_ends_at_once_and_unanswered() {
    let mut table = Table::new(2, Limits::default());
    let mut socket = TcpStream::connect(table.address()).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(closed(&mut socket), 0);
    table.noted("does not speak TLS");
}

#[test]
fn callers_that_send_nothing_or_too_little_are_turned_away() {
    let mut table = Table::new(2, Limits::default());
    let mut silent = TcpStream::connect(table.address()).unwrap();
    let mut slow = TcpStream::connect(table.address()).unwrap();
    let start = Instant::now();
    // A handshake announced as 500 bytes, which arrive one by one.
    let bytes = [&[0x16, 3, 1, 1, 0xf4, 1, 0, 1, 0xf0, 3, 3][..], &[7; 400]].concat();
    for byte in bytes {
        if slow.write_all(&[byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    closed(&mut slow);
    closed(&mut silent);
    assert!(start.elapsed() < LONG);
    table.noted("took too long");
}

#[test]
fn a_flood_of_bytes_ends_after_a_few() {
    let table = Table::new(2, Limits::default());
    let mut socket = TcpStream::connect(table.address()).unwrap();
    // Records of a handshake that never ends.
    let record = [&[0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff][..], &[7; 16379]].concat();
    let mut sent = 0;
    while sent < 1 << 30 {
        match socket.write(&record) {
            Ok(length) => sent += length,
            Err(_) => break,
        }
    }
    // Bytes that were not read lie in buffers of the system.
    assert!(sent < 64 << 20, "{sent} bytes were taken");
}

/// Goes through a handshake in memory. Returns whether the joiner accepts the root, and the root the joiner.
fn believes(joiner: &Key, root: &Key) -> (bool, bool) {
    let mut client: Connection = Secure::new(joiner).unwrap().client().unwrap().into();
    let mut server: Connection = Secure::new(root).unwrap().unguarded().unwrap().into();
    let (mut trusts, mut trusted) = (true, true);
    for _ in 0..4 {
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).unwrap();
        }
        server.read_tls(&mut &bytes[..]).unwrap();
        trusted &= server.process_new_packets().is_ok();
        let mut bytes = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut bytes).unwrap();
        }
        client.read_tls(&mut &bytes[..]).unwrap();
        trusts &= client.process_new_packets().is_ok();
    }
    (trusts && !client.is_handshaking(), trusted && !server.is_handshaking())
}

#[test]
fn both_ends_must_have_the_key() {
    let (key, other) = (Key::random().unwrap(), Key::random().unwrap());
    assert_eq!(believes(&key, &key), (true, true));
    assert_eq!(believes(&other, &key), (false, false));
}

/// A client that shows the right public key but has another private key, or shows none.
#[test]
fn the_public_half_is_not_enough() {
    use rustls::client::AlwaysResolvesClientRawPublicKeys;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::sign::CertifiedKey;
    use std::sync::Arc;
    let mut table = Table::new(2, Limits::default());
    let secure = Secure::new(&table.key).unwrap();
    let other = Key::random().unwrap();
    let pkcs8 = PrivatePkcs8KeyDer::from(super::super::secure::pkcs8(&other));
    let private = rustls::crypto::ring::sign::any_eddsa_type(&pkcs8).unwrap();
    let lie = Arc::new(CertifiedKey::new(vec![secure.public()], private));
    let lie = Arc::new(AlwaysResolvesClientRawPublicKeys::new(lie));
    let none = rustls::client::danger::DangerousClientConfigBuilder {
        cfg: rustls::ClientConfig::builder_with_provider(secure.provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap(),
    };
    let none = none.with_custom_certificate_verifier(secure.pinned());
    let lies = none.clone().with_client_cert_resolver(lie);
    for (mut config, word) in [
        (lies.clone(), true),
        (lies, false),
        (none.clone().with_no_client_auth(), true),
        (none.with_no_client_auth(), false),
    ] {
        if word {
            config.alpn_protocols = vec![secure.word()];
        }
        let name = "root".try_into().unwrap();
        let mut tls = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
        let mut socket = TcpStream::connect(table.address()).unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        let start = Instant::now();
        while tls.complete_io(&mut socket).is_ok() && start.elapsed() < LONG {
            rest();
        }
        assert!(start.elapsed() < LONG);
        table.noted("was turned away: it does not");
    }
}
