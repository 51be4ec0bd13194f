//! How loops of several processes begin and end: the root says what to run, and the others ask for what they need.

use super::super::hands::Did;
use super::word::{Crowd, Deeds, What, Word};
use crate::error::RunError;
use crate::sites::course::{Course, First};
use crate::sites::link::{Heard, Link, ROOT_LOST};
use crate::sites::parcel::Parcel;
use crate::sites::{Cluster, Order};
use pleach_core::wire::fingerprint;
use std::time::Duration;

/// The longest wait between two looks at whether to go on waiting.
const LOOK: Duration = Duration::from_millis(50);

impl Cluster {
    /// The root begins an order of loops. All processes are told what it is `about`; what they are told `first` each
    /// of them asks for.
    ///
    /// # Errors
    /// If this process runs one already.
    pub fn begin_loops(&self, about: Vec<u8>, first: First) -> Result<(), RunError> {
        let order = Order { fingerprint: fingerprint("loops", &about), about, ..Order::default() };
        self.can_begin_loops()?;
        let (mut link, mut course) = (self.link(), self.course());
        let barred = std::mem::take(&mut course.barred);
        *course = Course::after(first, barred);
        link.begin(order);
        Ok(())
    }

    /// The root ends an order of loops: whoever comes now waits for the next one.
    pub fn end_loops(&self) {
        self.link().pause();
    }

    /// The same, but not before all others have heard of the end of every loop.
    ///
    /// # Errors
    /// If the network fails, or another process does.
    pub fn end_loops_together(&self) -> Result<(), RunError> {
        let (link, course) = (&mut *self.link(), &mut *self.course());
        let last = course.at - 1;
        while link.others().iter().any(|site| course.heard.get(site).is_none_or(|&at| at < last)) {
            match link.hear()? {
                Some(Heard::Parcel(from, Parcel::Loop(bytes))) => match Word::from_bytes(&bytes) {
                    Ok(Word { at, what: What::Ready(crowd) }) if at <= last => {
                        tell(link, course, from, (at, &crowd));
                    }
                    Ok(Word { at, what: What::Heard }) => course.hears(from, at),
                    Ok(Word { what: What::Leave, .. }) => course.hears(from, last),
                    _ => {}
                },
                Some(Heard::Parcel(site, Parcel::Failed(why))) => {
                    return Err(RunError::Site { site, why });
                }
                Some(Heard::End) => return Err(RunError::Lost("the network has ended".into())),
                Some(_) => {}
                None => self.rest(link, LOOK),
            }
        }
        link.pause();
        Ok(())
    }

    /// This process, which follows, takes part in nothing more. Nobody waits for it any longer.
    pub fn leave_loops(&self) {
        self.link().send(0, &Parcel::Left);
    }

    /// This process has failed in a loop. Where all live and die together, that ends the others, too.
    pub fn fail_loops(&self, why: &str) {
        let mut link = self.link();
        if self.is_root() {
            link.send_all(&Parcel::Failed(why.into()));
        } else {
            link.send(0, &Parcel::Failed(why.into()));
        }
    }

    /// What the root tells first about the order that this process has heard; nothing if it `knows` that already. None
    /// if it came too late, or `waits` says so.
    ///
    /// # Errors
    /// If the network fails, or the root is lost.
    pub fn first_of_loops(
        &self,
        knows: bool,
        waits: impl Fn() -> bool,
    ) -> Result<Option<Vec<u8>>, RunError> {
        self.can_begin_loops()?;
        let mut link = self.link();
        *self.course() = Course::default();
        let crowd = Crowd { units: knows.into(), ..Crowd::default() };
        say(&mut link, 0, 0, What::Ready(crowd));
        let mut first = Vec::new();
        while waits() && !link.is_past() {
            match hear(&mut link)? {
                Some(Word { at: 0, what: What::Results { bytes, .. } }) => {
                    first.extend_from_slice(&bytes);
                }
                Some(Word { at: 0, what: What::Over { .. } }) => {
                    say(&mut link, 0, 0, What::Heard);
                    self.course().at = 1;
                    return Ok(Some(first));
                }
                Some(_) => {}
                None => self.rest(&link, LOOK),
            }
        }
        Ok(None)
    }
}

/// Sends a word about a step. Returns whether anybody is there.
pub(super) fn say(link: &mut Link, to: u32, at: u32, what: What) -> bool {
    link.send(to, &Parcel::Loop(Word { at, what }.to_bytes()))
}

/// Sends a process that was ready for a step, which is over, what everybody needs of it, and says so.
pub(super) fn tell(link: &mut Link, course: &Course, to: u32, (at, crowd): (u32, &Crowd)) {
    let Some((complete, results)) = course.past.get(at as usize) else { return };
    let knows = at == 0 && crowd.units > 0;
    for (rows, bytes) in results.iter().filter(|_| !knows) {
        let what = What::Results { number: 0, rows: rows.clone(), bytes: bytes.to_vec() };
        say(link, to, at, what);
    }
    say(link, to, at, What::Over { complete: *complete });
}

/// The next word that the root says to this process.
pub(super) fn hear(link: &mut Link) -> Result<Option<Word>, RunError> {
    loop {
        let Some(heard) = link.hear()? else { return Ok(None) };
        match heard {
            Heard::Parcel(0, Parcel::Loop(bytes)) => return Ok(Some(Word::from_bytes(&bytes)?)),
            Heard::Parcel(0, Parcel::Failed(why)) => return Err(RunError::Site { site: 0, why }),
            Heard::Lost(0) => return Err(RunError::Lost(ROOT_LOST.into())),
            Heard::End => return Err(RunError::Lost("the network has ended".into())),
            _ => {}
        }
    }
}

impl From<&Did> for Deeds {
    fn from(did: &Did) -> Self {
        let (busy_ns, cost) = (did.busy.as_nanos() as u64, did.cost.to_bits());
        Self { units: did.units, ranges: did.ranges, busy_ns, cost }
    }
}

impl Deeds {
    pub fn cost(self) -> f64 {
        let cost = f64::from_bits(self.cost);
        if cost.is_finite() { cost.max(0.0) } else { 0.0 }
    }
}
