//! [`room_for`] and [`read_soon`]: bounds on the memory for long requests, and on the time that they hold it.

use super::refusal::Refused;
use crate::api::LONGEST_REQUEST;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The bytes of long bodies that are in memory at once.
const BYTES: usize = 2 * LONGEST_REQUEST;

static ROOM: Semaphore = Semaphore::const_new(BYTES);

/// How long a request waits for room, and how long its body may take to arrive.
const WAIT: Duration = Duration::from_secs(30);
const READ: Duration = Duration::from_secs(120);

/// Waits a while until there is room for a body of this length, which is not read meanwhile. A body whose stated length
/// is at most `short` needs no room, so such requests never wait behind long ones.
pub(super) async fn room_for(
    length: Option<u64>,
    short: usize,
) -> Result<Option<SemaphorePermit<'static>>, Refused> {
    let length = length.and_then(|length| usize::try_from(length).ok());
    // A body whose length is not stated may have any; one that is too long is refused.
    let length = length.unwrap_or(LONGEST_REQUEST).min(LONGEST_REQUEST);
    if length <= short {
        return Ok(None);
    }
    let room = timeout(WAIT, ROOM.acquire_many(length as u32)).await;
    let busy = || Refused(503, "other long submissions are being read: try again later".into());
    room.map_err(|_| busy()).map(Result::ok)
}

/// Reads a body, unless it takes too long to arrive.
pub(super) async fn read_soon<T>(
    body: impl Future<Output = Result<T, Refused>>,
) -> Result<T, Refused> {
    let late = |_| Refused(408, format!("the body did not arrive within {} s", READ.as_secs()));
    timeout(READ, body).await.map_err(late)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Waker};
    use tokio::runtime::Builder;

    #[test]
    fn long_bodies_wait_for_room_and_short_ones_do_not() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let _entered = runtime.enter();
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
