//! The sealed envelope around every message and file that leaves a process.
//!
//! ```text
//! kind          4 bytes   "plpt" a message between sites, "plck" a checkpoint, "plcf" a certificate
//! format        1 byte    6
//! fingerprint   8 bytes   of the search: problem, bound, branching, reference, kind of work
//! length        8 bytes   of the content
//! content
//! seal          8 bytes   a hash of all bytes before
//! ```
//!
//! Numbers of fixed width have their least byte first. [`Pack`] defines the content. The book's page on
//! formats lists all contents.

pub mod certificate;
pub mod checkpoint;

use crate::search::work::{Malformed, Pack, Reader, Work, bound_at, distance};

/// The format that is written and read.
pub const FORMAT: u8 = 6;

/// The kind of an envelope's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// A message between sites.
    GatewayMessage,
    /// A checkpoint.
    Checkpoint,
    /// A certificate of a proof.
    Certificate,
}

impl ContentKind {
    /// The first bytes of an envelope of this kind.
    #[must_use]
    pub fn mark(self) -> [u8; 4] {
        match self {
            ContentKind::GatewayMessage => *b"plpt",
            ContentKind::Checkpoint => *b"plck",
            ContentKind::Certificate => *b"plcf",
        }
    }
}

/// Why an envelope cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It does not begin like an envelope of this kind.
    #[error("it was not written by pleach")]
    Other,
    /// Another version wrote it.
    #[error("its format is {0}, and this version reads format {FORMAT}")]
    Format(u8),
    /// It is shorter or longer than its head states.
    #[error("its length is wrong: {0} bytes instead of {1}")]
    Length(u64, u64),
    /// Its bytes were changed after sealing.
    #[error("it is damaged: its checksum does not match")]
    Seal,
    /// It belongs to another search.
    #[error(
        "it belongs to another search: another instance, or other settings that define the search"
    )]
    Foreign,
    /// Its content cannot be read, although the seal is intact.
    #[error("its content cannot be read: {0}")]
    Content(#[from] Malformed),
}

/// Bytes before the content.
const HEAD: usize = 4 + 1 + 8 + 8;
const SEAL: usize = 8;

/// Seals content in an envelope.
#[must_use]
pub fn seal(kind: ContentKind, fingerprint: u64, content: &impl Pack) -> Vec<u8> {
    let mut bytes = kind.mark().to_vec();
    bytes.push(FORMAT);
    bytes.extend(fingerprint.to_le_bytes());
    bytes.extend([0; 8]);
    content.pack(&mut bytes);
    let length = (bytes.len() - HEAD) as u64;
    bytes[HEAD - 8..HEAD].copy_from_slice(&length.to_le_bytes());
    let seal = word_hash(&bytes);
    bytes.extend(seal.to_le_bytes());
    bytes
}

/// Opens an envelope. Returns its fingerprint and its content.
///
/// # Errors
/// If it is not an undamaged envelope of this kind.
pub fn open<T: Pack>(kind: ContentKind, bytes: &[u8]) -> Result<(u64, T), Unreadable> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
        let begun = !bytes.is_empty() && bytes.starts_with(&kind.mark()[..bytes.len().min(4)]);
        let least = (HEAD + SEAL) as u64;
        return Err(if begun {
            Unreadable::Length(bytes.len() as u64, least)
        } else {
            Unreadable::Other
        });
    };
    if head[..4] != kind.mark() {
        return Err(Unreadable::Other);
    }
    let format = head[4];
    if format != FORMAT {
        return Err(Unreadable::Format(format));
    }
    let word = |at: usize| head[at..at + 8].iter().rev().fold(0, |w, &b| w << 8 | u64::from(b));
    let (fingerprint, length) = (word(5), word(13));
    if (rest.len() as u64).checked_sub(SEAL as u64) != Some(length) {
        let whole = length.saturating_add((HEAD + SEAL) as u64);
        return Err(Unreadable::Length(bytes.len() as u64, whole));
    }
    let (sealed, seal) = bytes.split_at(bytes.len() - SEAL);
    if seal != word_hash(sealed).to_le_bytes() {
        return Err(Unreadable::Seal);
    }
    Ok((fingerprint, T::unpacked(&sealed[HEAD..])?))
}

/// The fingerprint of everything that a search tree depends on.
#[must_use]
pub fn fingerprint(problem: &str, what: &impl Pack) -> u64 {
    let mut bytes = Vec::new();
    problem.as_bytes().to_vec().pack(&mut bytes);
    what.pack(&mut bytes);
    hash(&bytes)
}

/// A hash of eight bytes at a time, since pieces of work can be large. It detects every change within one word: each
/// step maps different words to different states.
fn word_hash(bytes: &[u8]) -> u64 {
    let step =
        |state: u64, word: u64| (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let words = bytes.chunks_exact(8);
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let mut word = [0; 8];
    let state = words.fold(0x243f_6a88_85a3_08d3, |state, chunk| {
        word.copy_from_slice(chunk);
        step(state, u64::from_le_bytes(word))
    });
    // The length distinguishes a short last word from one with trailing zeros.
    step(step(state, u64::from_le_bytes(last)), bytes.len() as u64)
}

/// FNV-1a, which detects every change of a single byte.
fn hash(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    bytes.iter().fold(start, |hash, &b| (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

impl Pack for Work {
    const LEAST: usize = 8 + 1 + 1;

    fn pack(&self, out: &mut Vec<u8>) {
        out.extend(self.size.to_le_bytes());
        distance(self.least_bound).pack(out);
        self.bytes.len().pack(out);
        // Room for the seal too, so that a large piece is moved once.
        out.reserve(self.bytes.len() + SEAL);
        out.extend(&self.bytes);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut raw = [0; 8];
        raw.copy_from_slice(from.take(8)?);
        let size = f64::from_le_bytes(raw);
        if !(size.is_finite() && size.is_sign_positive()) {
            return Err(Malformed::Range);
        }
        let least_bound = bound_at(u64::unpack(from)?);
        let length = usize::unpack(from)?;
        Ok(Self { size, least_bound, bytes: from.take(length)?.to_vec() })
    }
}

#[cfg(test)]
mod tests;
