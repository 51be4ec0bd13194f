//! Custody: who is answerable for work that another process holds, so that none is lost and none is
//! counted twice while processes join, leave and die.

mod certificate;
mod estate;
mod keeper;
mod lien;
mod mail;
mod mutant;
mod site;
mod trim;
pub(crate) mod wire;
mod word;

pub(crate) use certificate::nested;
pub use certificate::{Certificate, Content, Rec};
pub use estate::Estate;
pub use keeper::{Keeper, Terms};
pub use lien::{Held, Lien, SiteId};
#[cfg(feature = "lab")]
pub(crate) use mutant::Mutant;
pub use site::Site;
pub use word::{Deed, Word};
