//! [`Hello`], the first frame from a process that connects, with its [`Contact`], and [`Refusal`], which ends a
//! connection.

use super::frame::{
    BYTES_LIMIT, CONTACT_LIMIT, Frame, FrameFault, FrameKind, NAME_LIMIT, REASON_LIMIT,
};
use super::secure::PublicKey;
use std::net::SocketAddr;

/// The version of the wire format after the hello. Change it when the meaning of any frame changes.
pub const WIRE: u32 = 6;
/// The first bytes of a hello.
const MAGIC: [u8; 8] = *b"pleach\x00\x00";
/// The byte order of this machine.
const ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };

/// A joiner's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its program's version.
    pub version: String,
    /// The name of its machine.
    pub host: String,
    /// How other joiners reach it, if they may.
    pub contact: Option<Contact>,
    /// The bytes of its caller.
    pub bytes: Vec<u8>,
}

/// How a joiner reaches another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The other one's key.
    pub key: PublicKey,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Contact {
    pub fn write(&self) -> Vec<u8> {
        [&self.key[..], self.address.to_string().as_bytes()].concat()
    }

    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (key, address) = bytes.split_first_chunk().filter(|_| bytes.len() <= CONTACT_LIMIT)?;
        let address = std::str::from_utf8(address).ok()?.parse().ok()?;
        Some(Self { key: *key, address })
    }
}

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RefusalCode {
    /// The versions differ.
    Version = 1,
    /// The root's caller refused.
    Refused = 2,
    /// Something went wrong after the welcome.
    Cut = 3,
    /// Not now: the joiner may ask again.
    Busy = 4,
}

/// A code and a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: RefusalCode,
    pub reason: String,
}

impl Hello {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(WIRE.to_le_bytes());
        bytes.push(ORDER);
        for name in [&self.version, &self.host] {
            let name = printable(name.as_bytes(), NAME_LIMIT);
            bytes.push(name.len() as u8);
            bytes.extend(name.as_bytes());
        }
        let contact = self.contact.map_or_else(Vec::new, |contact| contact.write());
        bytes.push(contact.len() as u8);
        bytes.extend(contact);
        bytes.extend(&self.bytes);
        bytes
    }

    /// Reads a hello at a root of this version. From a hello with another wire format, only that fact is read.
    pub(super) fn read(bytes: &[u8], version: &str) -> Result<Self, Refusal> {
        let mut rest = bytes;
        let mut next = |length: usize| {
            let (front, back) = rest.split_at_checked(length)?;
            rest = back;
            Some(front)
        };
        let garbled = || Refusal::new(RefusalCode::Cut, "not a Pleach hello");
        if next(MAGIC.len()) != Some(&MAGIC) {
            return Err(garbled());
        }
        let wire = next(4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
        let wire = wire.ok_or_else(garbled)?;
        if wire != WIRE {
            let reason = format!(
                "the root is version {version} with wire format {WIRE}, and this process has {wire}"
            );
            return Err(Refusal::new(RefusalCode::Version, &reason));
        }
        let order = next(1).ok_or_else(garbled)?[0];
        let mut field = || {
            let length = usize::from(next(1)?[0]);
            next(length)
        };
        let mut name = || Some(printable(field()?, NAME_LIMIT));
        let (theirs, host) = (name().ok_or_else(garbled)?, name().ok_or_else(garbled)?);
        if theirs != version {
            let reason = format!("the root is version {version}, and this process is {theirs}");
            return Err(Refusal::new(RefusalCode::Version, &reason));
        }
        if order != ORDER {
            let reason = "the root's processor uses a different byte order";
            return Err(Refusal::new(RefusalCode::Version, reason));
        }
        let contact = match field().ok_or_else(garbled)? {
            [] => None,
            bytes => Some(Contact::read(bytes).ok_or_else(garbled)?),
        };
        if rest.len() > BYTES_LIMIT {
            return Err(garbled());
        }
        Ok(Self { version: theirs, host, contact, bytes: rest.to_vec() })
    }
}

impl Refusal {
    pub fn new(code: RefusalCode, reason: &str) -> Self {
        Self { code, reason: reason.into() }
    }

    pub fn frame(&self) -> Frame {
        let reason = printable(self.reason.as_bytes(), REASON_LIMIT);
        let body = [&[self.code as u8], reason.as_bytes()].concat();
        Frame::new(FrameKind::Refuse, 0, 0, body)
    }

    pub fn read(body: &[u8]) -> Result<Self, FrameFault> {
        let (&code, reason) = body.split_first().ok_or("a refusal without a code")?;
        let code =
            [RefusalCode::Version, RefusalCode::Refused, RefusalCode::Cut, RefusalCode::Busy]
                .into_iter()
                .find(|&known| known as u8 == code)
                .unwrap_or(RefusalCode::Refused);
        Ok(Self { code, reason: printable(reason, REASON_LIMIT) })
    }
}

/// The printable characters of foreign bytes, in one line of at most this many bytes.
fn printable(bytes: &[u8], limit: usize) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(limit)]);
    let mut text: String = text.chars().filter(|c| !c.is_control()).collect();
    while text.len() > limit {
        text.pop();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::frame::HELLO_LIMIT;
    use super::super::secure::PUBLIC;
    use super::*;

    fn hello(version: &str) -> Hello {
        let address = "[2001:db8::1]:7400".parse().unwrap();
        let contact = Some(Contact { key: [7; 44], address });
        Hello { version: version.into(), host: "sea\n\x1b[2J".into(), contact, bytes: vec![1, 2] }
    }

    #[test]
    fn hellos_survive_a_round_trip_in_one_line() {
        let read = Hello::read(&hello("1").write(), "1").unwrap();
        assert_eq!(read, Hello { host: "sea[2J".into(), ..hello("1") });
        let long = Hello { host: "ä".repeat(300), bytes: vec![7; BYTES_LIMIT], ..hello("1") };
        assert!(long.write().len() <= HELLO_LIMIT);
        assert_eq!(Hello::read(&long.write(), "1").unwrap().host, "ä".repeat(50));
        let address = "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535".parse().unwrap();
        let contact = Contact { key: [7; PUBLIC], address };
        assert_eq!(contact.write().len(), CONTACT_LIMIT);
        assert_eq!(Contact::read(&contact.write()), Some(contact));
        let without = Hello { contact: None, host: "sea".into(), ..hello("1") };
        assert_eq!(Hello::read(&without.write(), "1"), Ok(without));
    }

    #[test]
    fn other_versions_are_named() {
        let refusal = Hello::read(&hello("0.9").write(), "1.0").unwrap_err();
        assert_eq!(refusal.reason, "the root is version 1.0, and this process is 0.9");
        let mut bytes = hello("0.9").write();
        bytes[8] = 77;
        let refusal = Hello::read(&bytes, "1.0").unwrap_err();
        let reason = format!("wire format {WIRE}, and this process has 77");
        assert!(refusal.reason.ends_with(&reason), "{refusal:?}");
        let mut bytes = hello("1.0").write();
        bytes[12] = 2;
        let refusal = Hello::read(&bytes, "1.0").unwrap_err();
        assert!(refusal.reason.contains("byte order"), "{refusal:?}");
    }

    #[test]
    fn refusals_survive_a_round_trip() {
        let refusal = Refusal::new(RefusalCode::Refused, "full");
        assert_eq!(Refusal::read(&refusal.frame().body), Ok(refusal));
        assert!(
            Refusal::new(RefusalCode::Cut, &"x".repeat(5000)).frame().body.len()
                <= REASON_LIMIT + 1
        );
    }
}
