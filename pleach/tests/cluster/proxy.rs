//! [`Proxy`]: connections to a root that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Passes connections on to an address, and cuts them when it is told to.
pub struct Proxy {
    pub address: String,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    pub fn new(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (list, to) = (Arc::clone(&open), to.to_string());
        // It ends with the process.
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(&to) else { continue };
                for (from, into) in [(&near, &far), (&far, &near)] {
                    let (from, into) = (from.try_clone().unwrap(), into.try_clone().unwrap());
                    thread::spawn(move || pass(from, into));
                }
                list.lock().unwrap().push(near);
            }
        });
        Self { address, open }
    }

    /// How many connections there are.
    pub fn connections(&self) -> usize {
        self.open.lock().unwrap().len()
    }

    /// Cuts one of the connections, if there is one.
    pub fn cut(&self, which: usize) {
        let mut open = self.open.lock().unwrap();
        if !open.is_empty() {
            let at = which % open.len();
            // It may have ended already.
            let _ = open.swap_remove(at).shutdown(Shutdown::Both);
        }
    }
}

/// Passes bytes on until either side ends.
fn pass(mut from: TcpStream, mut into: TcpStream) {
    let mut bytes = [0; 16 << 10];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        if into.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = into.shutdown(Shutdown::Both);
}
