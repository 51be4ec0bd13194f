//! [`room_for`]: a bound on the memory for long requests.

use crate::api::LONGEST_REQUEST;
use tokio::sync::{Semaphore, SemaphorePermit};

/// The bytes of long bodies that are in memory at once.
const BYTES: usize = 2 * LONGEST_REQUEST;

static ROOM: Semaphore = Semaphore::const_new(BYTES);

/// Waits until there is room for a body of this length, which is not read meanwhile. A body of up to `short` bytes needs
/// no room, so short requests never wait behind long ones.
pub(super) async fn room_for(
    length: Option<u64>,
    short: usize,
) -> Option<SemaphorePermit<'static>> {
    let length = length.and_then(|length| usize::try_from(length).ok());
    // A body whose length is not stated may have any; one that is too long is refused.
    let length = length.unwrap_or(LONGEST_REQUEST).min(LONGEST_REQUEST);
    if length <= short {
        return None;
    }
    ROOM.acquire_many(length as u32).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Waker};

    #[test]
    fn long_bodies_wait_for_room_and_short_ones_do_not() {
        let mut context = Context::from_waker(Waker::noop());
        let taken = ROOM.try_acquire_many(BYTES as u32 - 10).unwrap();
        assert!(pin!(room_for(Some(10), 10)).poll(&mut context).is_ready());
        for length in [Some(11), Some(u64::MAX), None] {
            assert!(pin!(room_for(length, 10)).poll(&mut context).is_pending(), "{length:?}");
        }
        let mut waits = pin!(room_for(None, 10));
        assert!(waits.as_mut().poll(&mut context).is_pending());
        drop(taken);
        assert!(waits.poll(&mut context).is_ready());
        assert_eq!(ROOM.available_permits(), BYTES, "the room is free again");
    }
}
