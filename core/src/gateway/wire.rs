//! [`Letter`]: what travels between sites as bytes, and what no site can have sent.

use super::portion::Portion;
use super::post::Post;
use crate::balance::{Message, Ticket};
use crate::lease::{SiteId, Word};
use crate::tree::Counts;
use crate::wire::{Kind, Unreadable, can_grow, open, pack_message, seal, unpack_message};
use crate::work::{Malformed, Pack, Reader};

/// What one site sends another, with its name below.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// Who sent it.
    pub from: SiteId,
    /// What it says.
    pub post: Post<Counts>,
}

impl Letter {
    /// The letter as bytes for another process that takes part in the same search.
    #[must_use]
    pub fn to_bytes(&self, fingerprint: u64) -> Vec<u8> {
        seal(Kind::Post, fingerprint, self)
    }

    /// Reads a letter of a search that has this many sites.
    ///
    /// # Errors
    /// If the bytes are no letter of this search, or name sites that there are not.
    pub fn from_bytes(bytes: &[u8], fingerprint: u64, sites: u32) -> Result<Self, Unreadable> {
        let (print, letter): (u64, Self) = open(Kind::Post, bytes)?;
        if print != fingerprint {
            return Err(Unreadable::Foreign);
        }
        if letter.names_only(sites) { Ok(letter) } else { Err(Malformed::Range.into()) }
    }

    /// Whether all sites that it names are among the first so many.
    fn names_only(&self, sites: u32) -> bool {
        let words = match &self.post {
            Post::Peer(Message::Pass { thief, .. }) if *thief >= sites => return false,
            Post::Gift(_, word) | Post::Word(word) => Some(word),
            _ => None,
        };
        let listed = words.and_then(Word::certificate);
        let mut listed = listed.into_iter().flat_map(|certificate| certificate.nested());
        self.from < sites
            && words.is_none_or(|word| word.lease().site < sites)
            && listed.all(|(lease, rec)| lease.site < sites && rec.holder < sites)
    }

    /// Whether a site can have sent it.
    fn is_possible(&self) -> bool {
        match &self.post {
            // Leases tell of work, and whoever tells of a solution tells all of it. No site takes snapshots
            // or gives late.
            Post::Peer(message) => {
                use Message::{Ack, Best, Late, Snapshot, Work};
                !matches!(
                    message,
                    Work { .. } | Ack { .. } | Best { .. } | Snapshot { .. } | Late(_)
                )
            }
            Post::Gift(ticket, word) => {
                matches!(word, Word::Work { .. }) && ticket.giver == self.from && self.gives(word)
            }
            Post::Word(word) => !matches!(word, Word::Work { .. }) || self.gives(word),
            Post::Draw { .. } => self.from > 0,
            Post::Nodes(_) | Post::Best(_) | Post::Stop => true,
        }
    }

    /// Whether the sender can give this: whoever gives work names it, and all of it is open.
    fn gives(&self, word: &Word<Portion<Counts>>) -> bool {
        let Word::Work { lease, content, .. } = word else { return false };
        lease.site == self.from && !content.open.is_empty() && content.done == Counts::default()
    }
}

impl Pack for Portion<Counts> {
    const LEAST: usize = Counts::LEAST + 1;

    fn pack(&self, out: &mut Vec<u8>) {
        self.done.pack(out);
        self.open.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let done = Counts::unpack(from)?;
        if !can_grow(&done) {
            return Err(Malformed::Range);
        }
        Ok(Self { done, open: Pack::unpack(from)? })
    }
}

impl Pack for Letter {
    const LEAST: usize = 2;

    fn pack(&self, out: &mut Vec<u8>) {
        self.from.pack(out);
        match &self.post {
            Post::Peer(message) => {
                0u8.pack(out);
                pack_message(*message, None, out);
            }
            Post::Gift(ticket, word) => {
                (1u8, *ticket).pack(out);
                word.pack(out);
            }
            Post::Word(word) => {
                2u8.pack(out);
                word.pack(out);
            }
            Post::Best(solution) => {
                3u8.pack(out);
                solution.pack(out);
            }
            Post::Stop => 4u8.pack(out),
            Post::Draw { dry } => (5u8, *dry).pack(out),
            Post::Nodes(nodes) => (6u8, *nodes).pack(out),
        }
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let sender = SiteId::unpack(from)?;
        let post = match u8::unpack(from)? {
            0 => Post::Peer(unpack_message(from)?.0),
            1 => {
                let ticket = Ticket::unpack(from)?;
                Post::Gift(ticket, Word::unpack(from)?)
            }
            2 => Post::Word(Word::unpack(from)?),
            3 => Post::Best(Pack::unpack(from)?),
            4 => Post::Stop,
            5 => Post::Draw { dry: Pack::unpack(from)? },
            6 => Post::Nodes(Pack::unpack(from)?),
            _ => return Err(Malformed::Range),
        };
        let letter = Self { from: sender, post };
        if letter.is_possible() { Ok(letter) } else { Err(Malformed::Range) }
    }
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
