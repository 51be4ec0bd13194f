//! [`Caller`]: who sent a request, and what this account may see.

use crate::api::{JobView, Role};

/// Who sent a request.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub name: String,
    pub role: Role,
    /// The SHA-256 of the token.
    pub token: [u8; 32],
}

impl Caller {
    /// Whether the caller sees what belongs to a user.
    pub fn sees(&self, user: &str) -> bool {
        self.role == Role::Operator || self.name == user
    }

    /// A job as the caller sees it: of other users only what concerns the machines.
    pub fn may_see(&self, job: JobView) -> JobView {
        if self.sees(&job.user) {
            return job;
        }
        let (args, error, search) = (Vec::new(), None, None);
        JobView { args, error, search, exit: None, ..job }
    }
}
