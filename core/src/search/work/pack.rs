//! The canonical encoding of nodes: one byte string per value, decoded defensively.

use std::ops::Range;
use std::sync::Arc;

/// Why bytes could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes end inside a value.
    #[error("the bytes end too early")]
    Short,
    /// Bytes remain after the last value.
    #[error("bytes are left over")]
    Long,
    /// A number is out of range or not in its shortest form.
    #[error("a value is out of range")]
    Range,
}

/// Reads packed values from the front of a byte slice.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the front of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not yet read.
    #[must_use]
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Takes the next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(head)
    }

    /// Ends reading; an error if bytes remain.
    pub fn finish(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed::Long) }
    }
}

/// A value with a canonical encoding.
///
/// Two laws: `unpack(pack(x)) == x`, and bytes that `pack` does not produce are an error. Neither
/// function panics or allocates more than a small multiple of the bytes at hand.
///
/// ```
/// use pleach_core::{Malformed, Pack, Reader};
/// extern crate pleach_core as pleach; // your own crate needs `pleach` alone
///
/// #[derive(Clone, Debug, PartialEq, Pack)]
/// enum Node {
///     Open { level: u32, room: i64 },
///     Closed,
/// }
///
/// let node = Node::Open { level: 3, room: -1 };
/// let mut bytes = Vec::new();
/// node.pack(&mut bytes);
/// assert_eq!(bytes, [0, 3, 1]);
/// assert_eq!(Node::unpack(&mut Reader::new(&bytes)), Ok(node));
/// assert_eq!(Node::unpack(&mut Reader::new(&[2])), Err(Malformed::Range));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no encoding, so it cannot be or be part of a node",
    note = "put `#[derive(pleach::Pack)]` on it"
)]
pub trait Pack: Sized {
    /// The fewest bytes that any value takes.
    const LEAST: usize;

    /// Appends the encoding to `out`.
    fn pack(&self, out: &mut Vec<u8>);

    /// Reads one value.
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Appends the encodings of values, one after the other.
    fn pack_all(all: &[Self], out: &mut Vec<u8>) {
        all.iter().for_each(|value| value.pack(out));
    }

    /// Reads `n` values.
    fn unpack_all(n: usize, from: &mut Reader<'_>) -> Result<Vec<Self>, Malformed> {
        (0..n).map(|_| Self::unpack(from)).collect()
    }

    /// The encoding.
    fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.pack(&mut bytes);
        bytes
    }

    /// Reads the only value of `bytes`.
    fn unpacked(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new(bytes);
        let value = Self::unpack(&mut from)?;
        from.finish()?;
        Ok(value)
    }
}

/// Appends `value`, seven bits per byte, least significant first.
fn pack_varint(mut value: u128, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn unpack_varint(from: &mut Reader<'_>) -> Result<u128, Malformed> {
    let first = from.take(1)?[0];
    if first < 0x80 {
        return Ok(u128::from(first));
    }
    let mut value = u128::from(first & 0x7f);
    for shift in (7..128).step_by(7) {
        let byte = from.take(1)?[0];
        let bits = u128::from(byte & 0x7f);
        if bits << shift >> shift != bits || byte == 0 {
            return Err(Malformed::Range);
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Malformed::Range)
}

macro_rules! pack_integers {
    ($($unsigned:ty, $signed:ty);*) => {$(
        impl Pack for $unsigned {
            const LEAST: usize = 1;
            fn pack(&self, out: &mut Vec<u8>) {
                pack_varint(*self as u128, out);
            }
            fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                Self::try_from(unpack_varint(from)?).map_err(|_| Malformed::Range)
            }
        }
        impl Pack for $signed {
            const LEAST: usize = 1;
            fn pack(&self, out: &mut Vec<u8>) {
                // Zigzag: small numbers of either sign stay short.
                ((*self << 1) ^ (*self >> (Self::BITS - 1))).cast_unsigned().pack(out);
            }
            fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                let raw = <$unsigned>::unpack(from)?;
                Ok((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
            }
        }
    )*};
}
pack_integers!(u16, i16; u32, i32; u64, i64; u128, i128; usize, isize);

impl Pack for u8 {
    const LEAST: usize = 1;
    fn pack(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(from.take(1)?[0])
    }
    fn pack_all(all: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(all);
    }
    fn unpack_all(n: usize, from: &mut Reader<'_>) -> Result<Vec<Self>, Malformed> {
        Ok(from.take(n)?.to_vec())
    }
}

impl Pack for i8 {
    const LEAST: usize = 1;
    fn pack(&self, out: &mut Vec<u8>) {
        out.push(self.cast_unsigned());
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        u8::unpack(from).map(u8::cast_signed)
    }
}

impl Pack for bool {
    const LEAST: usize = 1;
    fn pack(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match u8::unpack(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed::Range),
        }
    }
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    const LEAST: usize = N * T::LEAST;
    fn pack(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.pack(out));
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut failed = Ok(());
        let items = [(); N].map(|()| match failed {
            Ok(()) => T::unpack(from).map_err(|e| failed = Err(e)).ok(),
            Err(_) => None,
        });
        failed?;
        // None failed, so every item is present.
        Ok(items.map(|item| item.expect("unpacked")))
    }
}

impl<T: Pack> Pack for Vec<T> {
    const LEAST: usize = 1;
    fn pack(&self, out: &mut Vec<u8>) {
        self.len().pack(out);
        T::pack_all(self, out);
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        const { assert!(T::LEAST > 0, "a vector of items that take no bytes has no length limit") };
        let n = usize::unpack(from)?;
        if n > from.left() / T::LEAST {
            return Err(Malformed::Short);
        }
        T::unpack_all(n, from)
    }
}

impl<T: Pack> Pack for Range<T> {
    const LEAST: usize = 2 * T::LEAST;
    fn pack(&self, out: &mut Vec<u8>) {
        self.start.pack(out);
        self.end.pack(out);
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(T::unpack(from)?..T::unpack(from)?)
    }
}

impl<T: Pack> Pack for Option<T> {
    const LEAST: usize = 1;
    fn pack(&self, out: &mut Vec<u8>) {
        self.is_some().pack(out);
        self.iter().for_each(|value| value.pack(out));
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        bool::unpack(from)?.then(|| T::unpack(from)).transpose()
    }
}

impl<T: Pack> Pack for Arc<T> {
    const LEAST: usize = T::LEAST;
    fn pack(&self, out: &mut Vec<u8>) {
        T::pack(self, out);
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        T::unpack(from).map(Self::new)
    }
}

impl<T: Pack> Pack for Box<T> {
    const LEAST: usize = T::LEAST;
    fn pack(&self, out: &mut Vec<u8>) {
        T::pack(self, out);
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        T::unpack(from).map(Self::new)
    }
}

impl Pack for String {
    const LEAST: usize = 1;
    fn pack(&self, out: &mut Vec<u8>) {
        self.len().pack(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::from_utf8(Vec::unpack(from)?).map_err(|_| Malformed::Range)
    }
}

impl Pack for char {
    const LEAST: usize = 1;
    fn pack(&self, out: &mut Vec<u8>) {
        u32::from(*self).pack(out);
    }
    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::from_u32(u32::unpack(from)?).ok_or(Malformed::Range)
    }
}

macro_rules! pack_floats {
    ($($float:ty),*) => {$(
        impl Pack for $float {
            const LEAST: usize = size_of::<Self>();
            fn pack(&self, out: &mut Vec<u8>) {
                self.to_le_bytes().pack(out);
            }
            fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                Pack::unpack(from).map(Self::from_le_bytes)
            }
        }
    )*};
}
pack_floats!(f32, f64);

impl Pack for () {
    const LEAST: usize = 0;
    fn pack(&self, _: &mut Vec<u8>) {}
    fn unpack(_: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(())
    }
}

macro_rules! pack_tuples {
    ($(($($name:ident),+))*) => {$(
        impl<$($name: Pack),+> Pack for ($($name,)+) {
            const LEAST: usize = 0 $(+ $name::LEAST)+;
            #[allow(non_snake_case)]
            fn pack(&self, out: &mut Vec<u8>) {
                let ($($name,)+) = self;
                $($name.pack(out);)+
            }
            fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                Ok(($($name::unpack(from)?,)+))
            }
        }
    )*};
}
pack_tuples!((A)(A, B)(A, B, C)(A, B, C, D)(A, B, C, D, E)(A, B, C, D, E, F)(A, B, C, D, E, F, G));
pack_tuples!((A, B, C, D, E, F, G, H)(A, B, C, D, E, F, G, H, I)(A, B, C, D, E, F, G, H, I, J));
pack_tuples!((A, B, C, D, E, F, G, H, I, J, K)(A, B, C, D, E, F, G, H, I, J, K, L));
