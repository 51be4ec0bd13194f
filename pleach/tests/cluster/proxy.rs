//! [`Proxy`]: connections to a root that can be cut, stalled, or broken on one side only.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// One connection.
struct Connection {
    near: TcpStream,
    /// Nothing passes for now.
    stalled: AtomicBool,
    /// The root is to think that it is still there.
    ghost: AtomicBool,
}

/// Passes connections on to an address, and disturbs them when asked to.
pub struct Proxy {
    pub address: String,
    open: Arc<Mutex<Vec<Arc<Connection>>>>,
    closed: Arc<AtomicBool>,
}

impl Proxy {
    pub fn new(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let open: Arc<Mutex<Vec<Arc<Connection>>>> = Arc::default();
        let closed = Arc::new(AtomicBool::new(false));
        let (list, to, shut) = (Arc::clone(&open), to.to_string(), Arc::clone(&closed));
        // It ends with the process.
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if shut.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(far) = TcpStream::connect(&to) else { continue };
                let (stalled, ghost) = (AtomicBool::new(false), AtomicBool::new(false));
                let copy = near.try_clone().unwrap();
                let connection = Arc::new(Connection { near: copy, stalled, ghost });
                for (from, into) in [(&near, &far), (&far, &near)] {
                    let (from, into) = (from.try_clone().unwrap(), into.try_clone().unwrap());
                    let connection = Arc::clone(&connection);
                    thread::spawn(move || pass(from, into, &connection));
                }
                list.lock().unwrap().push(connection);
            }
        });
        Self { address, open, closed }
    }

    fn take(&self, which: usize) -> Option<Arc<Connection>> {
        let mut open = self.open.lock().unwrap();
        let at = which.checked_rem(open.len())?;
        Some(open.swap_remove(at))
    }

    /// Cuts one of the connections, if there is one.
    pub fn cut(&self, which: usize) {
        if let Some(connection) = self.take(which) {
            // It may have ended already.
            let _ = connection.near.shutdown(Shutdown::Both);
        }
    }

    /// Cuts all connections, and breaks new ones at once.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        while !self.open.lock().unwrap().is_empty() {
            self.cut(0);
        }
    }

    /// Cuts one of the connections on the joiner's side only: the root sees nothing of it.
    pub fn cut_near(&self, which: usize) {
        if let Some(connection) = self.take(which) {
            connection.ghost.store(true, Ordering::Relaxed);
            let _ = connection.near.shutdown(Shutdown::Both);
        }
    }

    /// Holds up all that one of the connections carries, for a time.
    pub fn stall(&self, which: usize, time: Duration) {
        let open = self.open.lock().unwrap();
        let Some(at) = which.checked_rem(open.len()) else { return };
        let connection = Arc::clone(&open[at]);
        connection.stalled.store(true, Ordering::Relaxed);
        thread::spawn(move || {
            thread::sleep(time);
            connection.stalled.store(false, Ordering::Relaxed);
        });
    }
}

/// Passes bytes on until either side ends.
fn pass(mut from: TcpStream, mut into: TcpStream, connection: &Connection) {
    let mut bytes = [0; 16 << 10];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        while connection.stalled.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        if into.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    if !connection.ghost.load(Ordering::Relaxed) {
        let _ = from.shutdown(Shutdown::Both);
        let _ = into.shutdown(Shutdown::Both);
    }
    // The sockets of a ghost stay open as long as this thread has them.
    while connection.ghost.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_secs(1));
    }
}
