//! Decodes base64: bytes as text in groups of four letters.

/// Decodes groups until there are at least this many bytes, if the text has them. Returns the bytes and the remaining
/// text.
///
/// Padding may occur in the middle: files concatenate texts that were encoded separately.
///
/// # Errors
/// If a letter is not in the alphabet, or the text ends too early.
pub fn take(text: &[u8], bytes: usize) -> Result<(Vec<u8>, &[u8]), String> {
    if bytes / 3 > text.len() / 4 {
        return Err(format!("{bytes} bytes announced in {} letters", text.len()));
    }
    let mut found = Vec::with_capacity(bytes + 3);
    let mut rest = text;
    while found.len() < bytes {
        let Some((group, others)) = rest.split_first_chunk::<4>() else {
            return Err(format!("the text ends after {} bytes, expected {bytes}", found.len()));
        };
        let padding = group.iter().rev().take_while(|&&letter| letter == b'=').count();
        let mut bits = 0_u32;
        for &letter in &group[..4 - padding.min(4)] {
            bits = bits << 6
                | value(letter).ok_or_else(|| format!("letter {letter:#x}, expected base64"))?;
        }
        let three = (bits << (6 * padding.min(2))).to_be_bytes();
        match padding {
            0..=2 => found.extend_from_slice(&three[1..4 - padding]),
            _ => return Err("more than two letters of padding".into()),
        }
        rest = others;
    }
    Ok((found, rest))
}

fn value(letter: u8) -> Option<u32> {
    Some(u32::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_become_bytes() {
        let read = |text: &'static str, bytes| take(text.as_bytes(), bytes);
        assert_eq!(read("TWFu", 3).unwrap().0, b"Man");
        assert_eq!(read("TWE=TQ==", 3).unwrap().0, b"MaM");
        assert_eq!(read("TWFuTWFu", 2).unwrap(), (b"Man".to_vec(), &b"TWFu"[..]));
        assert!(read("TWF", 1).is_err() && read("TW!u", 1).is_err() && read("T===", 1).is_err());
        assert!(read("TWFu", usize::MAX).is_err());
    }
}
