//! The MPI functions in use, and a safe way to call them: memory that the library reads or writes later belongs to a
//! [`Transfer`] until it is done.
//!
//! Messages are received with `Improbe`, `Imrecv` and `Test`. `Recv` would block until the rest of a long message has
//! arrived, and so stall together with a sender that was stopped in the middle of it.

use super::deaths::Deaths;
use super::dialect::{Dialect, Handles};
use super::library::OpenLibrary;
use super::message::MessagePart;
use crate::{NetError, Rank};
use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::null_mut;

/// Declares the functions with their C types, and loads them by name.
macro_rules! functions {
    ($($field:ident $name:literal ($($argument:ty),*);)*) => {
        struct Functions<D: Dialect> {
            // SAFETY: the caller obeys MPI's rules for it.
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl<D: Dialect> Functions<D> {
            fn load(opened: &OpenLibrary) -> Result<Self, NetError> {
                Ok(Self {
                    $($field: {
                        // SAFETY: these are the types of the standard, with the handles and the
                        // status of this dialect.
                        let found = unsafe { opened.library.get($name) };
                        *found.map_err(|_| lacks(opened, $name))?
                    },)*
                })
            }

            /// Functions that end the program.
            #[cfg(test)]
            fn none() -> Self {
                Self {
                    $($field: {
                        extern "C" fn none<D: Dialect>($(_: $argument),*) -> c_int {
                            std::process::abort()
                        }
                        none::<D>
                    },)*
                }
            }
        }
    };
}

functions! {
    init_thread "MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    set_errhandler "MPI_Comm_set_errhandler" (D::Handle, D::Handle);
    rank "MPI_Comm_rank" (D::Handle, *mut c_int);
    size "MPI_Comm_size" (D::Handle, *mut c_int);
    isend "MPI_Isend"
        (*const c_void, c_int, D::Handle, c_int, c_int, D::Handle, *mut D::Handle);
    improbe "MPI_Improbe"
        (c_int, c_int, D::Handle, *mut c_int, *mut D::Handle, *mut D::Status);
    imrecv "MPI_Imrecv" (*mut c_void, c_int, D::Handle, *mut D::Handle, *mut D::Handle);
    get_count "MPI_Get_count" (*const D::Status, D::Handle, *mut c_int);
    test "MPI_Test" (*mut D::Handle, *mut c_int, *mut D::Status);
    error_string "MPI_Error_string" (c_int, *mut c_char, *mut c_int);
    abort "MPI_Abort" (D::Handle, c_int);
    finalize "MPI_Finalize" ();
}

fn lacks(opened: &OpenLibrary, symbol: &str) -> NetError {
    NetError::NoSymbol { path: opened.path.clone(), symbol: symbol.to_string() }
}

/// An initialized library.
pub struct Calls<D: Dialect> {
    functions: Functions<D>,
    handles: Handles<D::Handle>,
    deaths: Option<Deaths<D>>,
}

/// A message being sent or received, with the memory that the library reads or writes. If dropped before it is done, it
/// leaks that memory to the library.
pub struct Transfer<D: Dialect, M> {
    request: D::Handle,
    memory: ManuallyDrop<M>,
}

/// The result of a transfer, or the transfer itself if it is not done.
pub type TransferResult<T, D, M> = Result<Result<T, Transfer<D, M>>, NetError>;

/// Memory for a message being received.
pub struct ReceiveBuffer {
    bytes: Vec<u8>,
    length: usize,
}

/// A message that was matched and will be received next.
pub struct MatchedMessage<D: Dialect> {
    pub from: c_int,
    pub tag: c_int,
    pub length: usize,
    message: D::Handle,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const SIGUSR1: c_int = 10;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SIGUSR1: c_int = 30;
const SIG_IGN: usize = 1;

// SAFETY: this is the C library's function; a handler is as large as a pointer.
unsafe extern "C" {
    fn signal(number: c_int, handler: usize) -> usize;
}

impl<D: Dialect> Calls<D> {
    /// Initializes the library. Later any thread may call it, but only one at a time: the network may move to another
    /// thread.
    pub fn initialize(opened: &OpenLibrary) -> Result<Self, NetError> {
        let handles = D::handles(&opened.library).map_err(|symbol| lacks(opened, symbol))?;
        let functions = Functions::<D>::load(opened)?;
        // Hydra notifies survivors of a death with this signal, which would kill them.
        // SAFETY: this program does not handle the signal, and ignoring it needs no handler.
        unsafe { signal(SIGUSR1, SIG_IGN) };
        let mut calls = Self { functions, handles, deaths: None };
        let mut offered = 0;
        // SAFETY: no arguments are passed on; `offered` has room for the answer.
        let code = unsafe {
            let (init, needed) = (calls.functions.init_thread, D::THREAD_SERIALIZED);
            init(null_mut(), null_mut(), needed, &raw mut offered)
        };
        calls.check("MPI_Init_thread", code)?;
        // SAFETY: both handles are the library's own.
        let code = unsafe {
            (calls.functions.set_errhandler)(calls.handles.world, calls.handles.errors_return)
        };
        calls.check("MPI_Comm_set_errhandler", code)?;
        calls.deaths = Deaths::load(&opened.library, calls.handles.world);
        if offered < D::THREAD_SERIALIZED {
            return Err(NetError::ThreadLevel { offered, needed: D::THREAD_SERIALIZED });
        }
        Ok(calls)
    }

    /// The number of this process, and the number of processes.
    pub fn rank_and_size(&self) -> Result<(Rank, u32), NetError> {
        let (mut rank, mut size) = (-1, 0);
        // SAFETY: `rank` has room for the answer.
        let code = unsafe { (self.functions.rank)(self.handles.world, &raw mut rank) };
        self.check("MPI_Comm_rank", code)?;
        // SAFETY: `size` has room for the answer.
        let code = unsafe { (self.functions.size)(self.handles.world, &raw mut size) };
        self.check("MPI_Comm_size", code)?;
        match (u32::try_from(rank), u32::try_from(size)) {
            (Ok(me), Ok(sites)) if me < sites => Ok((me, sites)),
            _ => Err(NetError::Rank { rank, size }),
        }
    }

    /// Whether the other processes survive the death of one.
    pub fn survives_deaths(&self) -> bool {
        self.deaths.is_some()
    }

    /// The ranks of all processes known to have died. Once these deaths are acknowledged, messages from the others are
    /// found again.
    pub fn dead_ranks(&self) -> Result<Vec<c_int>, NetError> {
        let dead = self.deaths.as_ref().map(Deaths::acknowledge);
        let failed = |code| self.error("MPIX_Comm_get_failed", code);
        dead.unwrap_or(Ok(Vec::new())).map_err(failed)
    }

    /// Starts to send a piece, which is no longer than a chunk.
    pub fn send(&self, to: Rank, piece: MessagePart) -> Result<Transfer<D, MessagePart>, NetError> {
        let mut request = self.handles.no_request;
        let (start, length) = (piece.bytes().as_ptr().cast(), piece.bytes().len() as c_int);
        let (byte, world, tag) = (self.handles.byte, self.handles.world, piece.kind as c_int);
        // The message's bytes lie behind a pointer: they stay in place while the piece moves.
        let memory = ManuallyDrop::new(piece);
        // SAFETY: the transfer keeps the bytes until the request is done, and nobody changes them.
        let code = unsafe {
            (self.functions.isend)(start, length, byte, to as c_int, tag, world, &raw mut request)
        };
        self.check("MPI_Isend", code)?;
        Ok(Transfer { request, memory })
    }

    /// Checks for a message that waits to be received.
    pub fn probe(&self) -> Result<Option<MatchedMessage<D>>, NetError> {
        let (mut found, mut length) = (0, -1);
        let (mut message, mut status) = (self.handles.no_message, D::Status::default());
        // SAFETY: all three have room for the answers.
        let code = unsafe {
            let (source, tag, world) = (D::ANY_SOURCE, D::ANY_TAG, self.handles.world);
            let improbe = self.functions.improbe;
            improbe(source, tag, world, &raw mut found, &raw mut message, &raw mut status)
        };
        self.check("MPI_Improbe", code)?;
        if found == 0 {
            return Ok(None);
        }
        // SAFETY: the status is of a message, and `length` has room.
        let code = unsafe {
            (self.functions.get_count)(&raw const status, self.handles.byte, &raw mut length)
        };
        self.check("MPI_Get_count", code)?;
        let undefined =
            |_| NetError::Call { call: "MPI_Get_count", why: format!("{length} bytes") };
        let length = usize::try_from(length).map_err(undefined)?;
        Ok(Some(MatchedMessage { from: D::source(&status), tag: D::tag(&status), length, message }))
    }

    /// Starts to receive a matched message into this memory, which is enlarged if necessary.
    pub fn receive(
        &self,
        found: MatchedMessage<D>,
        mut bytes: Vec<u8>,
    ) -> Result<Transfer<D, ReceiveBuffer>, NetError> {
        let (length, mut message, mut request) =
            (found.length, found.message, self.handles.no_request);
        bytes.clear();
        bytes.reserve_exact(length);
        let start = bytes.as_mut_ptr();
        // The bytes lie behind a pointer: they stay in place while the buffer moves.
        let memory = ManuallyDrop::new(ReceiveBuffer { bytes, length });
        // SAFETY: there is room for as many bytes as the message has, and the transfer keeps it until
        // the request is done.
        let code = unsafe {
            let (imrecv, byte) = (self.functions.imrecv, self.handles.byte);
            imrecv(start.cast(), length as c_int, byte, &raw mut message, &raw mut request)
        };
        self.check("MPI_Imrecv", code)?;
        Ok(Transfer { request, memory })
    }

    /// The memory of a transfer that is done, or the transfer itself.
    pub fn test<M>(&self, mut transfer: Transfer<D, M>) -> TransferResult<M, D, M> {
        let (mut done, mut status) = (0, D::Status::default());
        // SAFETY: the request is one of this library, and the others have room for the answers.
        let code = unsafe {
            (self.functions.test)(&raw mut transfer.request, &raw mut done, &raw mut status)
        };
        self.check("MPI_Test", code)?;
        Ok(if done == 0 { Err(transfer) } else { Ok(ManuallyDrop::into_inner(transfer.memory)) })
    }

    /// The message's bytes if it has arrived, or the transfer itself.
    pub fn received(
        &self,
        transfer: Transfer<D, ReceiveBuffer>,
    ) -> TransferResult<Vec<u8>, D, ReceiveBuffer> {
        Ok(self.test(transfer)?.map(|room| {
            let ReceiveBuffer { mut bytes, length } = room;
            // SAFETY: the library has written the message, which has exactly this length.
            unsafe { bytes.set_len(length) };
            bytes
        }))
    }

    /// Ends the job. If the library returns from that, this process ends here.
    pub fn abort(&self, code: i32) -> ! {
        let code = if code == 0 { 1 } else { code };
        // SAFETY: the library is initialized.
        unsafe { (self.functions.abort)(self.handles.world, code) };
        std::process::exit(code)
    }

    /// Finalizes the library: nothing may be called afterwards.
    pub fn finalize(&self) -> Result<(), NetError> {
        // SAFETY: the library is initialized, and nothing is under way.
        let code = unsafe { (self.functions.finalize)() };
        if code == 0 {
            return Ok(());
        }
        Err(NetError::Call { call: "MPI_Finalize", why: format!("error {code}") })
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), NetError> {
        match &self.deaths {
            _ if code == 0 => Ok(()),
            Some(deaths) if deaths.explain(code) => Err(NetError::Died),
            _ => Err(self.error(call, code)),
        }
    }

    fn error(&self, call: &'static str, code: c_int) -> NetError {
        // No family writes more than 1024 bytes.
        let (mut text, mut length) = (vec![0_u8; 4096], 0);
        // SAFETY: the text has room.
        unsafe {
            (self.functions.error_string)(code, text.as_mut_ptr().cast(), &raw mut length);
        }
        text.truncate(usize::try_from(length).unwrap_or(0));
        let text = String::from_utf8_lossy(&text);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let why = if line.is_empty() { format!("error {code}") } else { line };
        NetError::Call { call, why }
    }
}

/// A library that holds all that is sent until a test releases it.
#[cfg(test)]
pub mod fake {
    use super::*;
    use std::cell::Cell;

    /// A dialect whose handles are numbers, and whose status is empty.
    pub struct Fake;

    impl Dialect for Fake {
        type Handle = c_int;
        type Status = c_int;
        const ANY_SOURCE: c_int = -1;
        const ANY_TAG: c_int = -1;
        const THREAD_SERIALIZED: c_int = 2;

        fn handles(_: &libloading::os::unix::Library) -> Result<Handles<c_int>, &'static str> {
            Err("anything")
        }

        fn source(_: &c_int) -> c_int {
            0
        }

        fn tag(_: &c_int) -> c_int {
            0
        }
    }

    thread_local! {
        /// The number of messages handed over, and how many of the first have left.
        pub static SENT: Cell<c_int> = const { Cell::new(0) };
        pub static LEFT: Cell<c_int> = const { Cell::new(0) };
    }

    // SAFETY: called by `Calls::send`, with room for the request.
    unsafe extern "C" fn isend(
        _: *const c_void,
        _: c_int,
        _: c_int,
        _: c_int,
        _: c_int,
        _: c_int,
        request: *mut c_int,
    ) -> c_int {
        // SAFETY: as above.
        unsafe { *request = SENT.get() };
        SENT.set(SENT.get() + 1);
        0
    }

    // SAFETY: called by `Calls::test`, with room for the answer.
    unsafe extern "C" fn test(request: *mut c_int, done: *mut c_int, _: *mut c_int) -> c_int {
        // SAFETY: as above.
        unsafe { *done = c_int::from(*request < LEFT.get()) };
        0
    }

    /// The library, initialized.
    pub fn calls() -> Calls<Fake> {
        let (world, byte, no_request, no_message, errors_return) = (0, 0, -1, -1, 0);
        let handles = Handles { world, byte, no_request, no_message, errors_return };
        Calls { functions: Functions { isend, test, ..Functions::none() }, handles, deaths: None }
    }
}
