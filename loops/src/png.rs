//! Encodes pictures as PNG files: a single picture, or an animation.

use png::{BitDepth, ColorType, Encoder, EncodingError};

/// Pictures a second in an animation.
const RATE: u16 = 20;

/// A file of pictures with 4 bytes a pixel (red, green, blue, opacity), row by row. Several pictures make an animation
/// (APNG) that browsers repeat; other programs show the first.
///
/// # Errors
/// If there is no picture, or one has the wrong number of bytes.
pub fn write_png(width: u32, height: u32, pictures: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    if pictures.is_empty() {
        return Err("no picture".into());
    }
    written(width, height, pictures).map_err(|why| why.to_string())
}

fn written(width: u32, height: u32, pictures: &[Vec<u8>]) -> Result<Vec<u8>, EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    if pictures.len() > 1 {
        encoder.set_animated(pictures.len() as u32, 0)?;
        encoder.set_frame_delay(1, RATE)?;
    }
    let mut writer = encoder.write_header()?;
    pictures.iter().try_for_each(|rgba| writer.write_image_data(rgba))?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use png::Decoder;
    use std::io::Cursor;

    #[test]
    fn one_picture_is_a_plain_file_and_several_follow_one_another() {
        let pictures: Vec<Vec<u8>> = (0..3).map(|k| vec![k * 50; 3 * 2 * 4]).collect();
        for count in [1, 3] {
            let file = write_png(3, 2, &pictures[..count]).unwrap();
            let mut read = Decoder::new(Cursor::new(file)).read_info().unwrap();
            let frames = read.info().animation_control().map_or(1, |all| all.num_frames);
            assert_eq!(frames as usize, count);
            for picture in &pictures[..count] {
                let mut rgba = vec![1; 24];
                read.next_frame(&mut rgba).unwrap();
                assert_eq!(rgba, *picture);
            }
        }
    }

    #[test]
    fn a_file_has_a_picture_and_all_its_pixels() {
        assert!(write_png(3, 2, &[]).is_err());
        assert!(write_png(3, 3, &[vec![0; 24]]).is_err());
    }
}
