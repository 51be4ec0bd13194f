//! Decodes numbers of all types that files use, as doubles.

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed, of this many bytes.
    Signed(usize),
    /// Unsigned, of this many bytes.
    Unsigned(usize),
    /// In single precision.
    Float,
    /// In double precision.
    Double,
}

impl Kind {
    /// The type with this name in a legacy file.
    #[must_use]
    pub fn legacy(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "char" | "signed_char" | "vtktypeint8" => Self::Signed(1),
            "short" | "vtktypeint16" => Self::Signed(2),
            "int" | "vtkidtype" | "vtktypeint32" => Self::Signed(4),
            "long" | "vtktypeint64" => Self::Signed(8),
            "unsigned_char" | "vtktypeuint8" => Self::Unsigned(1),
            "unsigned_short" | "vtktypeuint16" => Self::Unsigned(2),
            "unsigned_int" | "vtktypeuint32" => Self::Unsigned(4),
            "unsigned_long" | "vtktypeuint64" => Self::Unsigned(8),
            "float" => Self::Float,
            "double" => Self::Double,
            _ => return None,
        })
    }

    /// The type with this name in an XML file.
    #[must_use]
    pub fn xml(name: &str) -> Option<Self> {
        Some(match name {
            "Int8" => Self::Signed(1),
            "Int16" => Self::Signed(2),
            "Int32" => Self::Signed(4),
            "Int64" => Self::Signed(8),
            "UInt8" => Self::Unsigned(1),
            "UInt16" => Self::Unsigned(2),
            "UInt32" => Self::Unsigned(4),
            "UInt64" => Self::Unsigned(8),
            "Float32" => Self::Float,
            "Float64" => Self::Double,
            _ => return None,
        })
    }

    /// Bytes per number.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Signed(size) | Self::Unsigned(size) => size,
            Self::Float => 4,
            Self::Double => 8,
        }
    }

    /// Decodes numbers; ignores an incomplete number at the end.
    #[must_use]
    pub fn read(self, bytes: &[u8], big_end_first: bool) -> Vec<f64> {
        let number = |bytes: &[u8]| {
            // Decodes each type from its bytes as one unsigned number, lowest byte last.
            let add = |sum: u64, &byte: &u8| sum << 8 | u64::from(byte);
            let bits = if big_end_first {
                bytes.iter().fold(0, add)
            } else {
                bytes.iter().rev().fold(0, add)
            };
            match self {
                Self::Unsigned(_) => bits as f64,
                Self::Signed(size) => {
                    let unused = 64 - 8 * size as u32;
                    ((bits << unused) as i64 >> unused) as f64
                }
                Self::Float => f64::from(f32::from_bits(bits as u32)),
                Self::Double => f64::from_bits(bits),
            }
        };
        bytes.chunks_exact(self.size()).map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_are_read() {
        assert_eq!(Kind::Signed(2).read(&(-3_i16).to_be_bytes(), true), [-3.0]);
        assert_eq!(Kind::Signed(8).read(&(-3_i64).to_le_bytes(), false), [-3.0]);
        assert_eq!(Kind::Unsigned(1).read(&[255, 1], true), [255.0, 1.0]);
        assert_eq!(Kind::Float.read(&1.5_f32.to_be_bytes(), true), [1.5]);
        assert_eq!(Kind::Double.read(&(-0.1_f64).to_le_bytes(), false), [-0.1]);
    }
}
