//! A file or standard input: text, gzip or Parquet, recognised by its first bytes.

use crate::error::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The first and last bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";
/// The first bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// An open file.
pub enum Source {
    /// Text, uncompressed.
    Text(Box<dyn Read + Send>),
    /// Parquet, which is read from its end.
    Parquet(File),
}

impl Source {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = Error::reading(path);
        if path.as_os_str() == "-" {
            let mut input = io::stdin();
            let begun = begin(&mut input).map_err(failed)?;
            if begun == PARQUET {
                let mut whole = tempfile::tempfile().map_err(failed)?;
                io::copy(&mut begun.as_slice().chain(input), &mut whole).map_err(failed)?;
                return Ok(Self::Parquet(whole));
            }
            return Ok(Self::text(begun, input));
        }
        let mut file = File::open(path).map_err(failed)?;
        let begun = begin(&mut file).map_err(failed)?;
        // CSV may begin like Parquet, and a truncated Parquet file may end with anything.
        if begun == PARQUET && (is_parquet(path) || ends(&mut file)) {
            return Ok(Self::Parquet(file));
        }
        Ok(Self::text(begun, file))
    }

    fn text(begun: Vec<u8>, rest: impl Read + Send + 'static) -> Self {
        let gzip = begun.starts_with(GZIP);
        let whole = io::Cursor::new(begun).chain(rest);
        Self::Text(if gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
    }
}

/// Whether a file is compressed with gzip, by its first bytes.
#[must_use]
pub fn is_gzip(path: &Path) -> bool {
    File::open(path)
        .and_then(|mut file| begin(&mut file))
        .is_ok_and(|begun| begun.starts_with(GZIP))
}

/// Opens a text file, which may be compressed with gzip.
pub fn open_text(path: &Path) -> Result<Box<dyn Read + Send>> {
    let failed = Error::reading(path);
    let mut file = File::open(path).map_err(failed)?;
    let begun = begin(&mut file).map_err(failed)?;
    let named = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let gzip = begun.starts_with(GZIP);
    if named && !gzip {
        return Err(Error::NotGzip { path: path.display().to_string() });
    }
    let whole = io::Cursor::new(begun).chain(file);
    Ok(if gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

/// Whether a file's name ends in `.parquet`.
#[must_use]
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// The first bytes.
fn begin(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begun = Vec::new();
    input.take(PARQUET.len() as u64).read_to_end(&mut begun)?;
    Ok(begun)
}

/// Whether a file ends like Parquet. The position in it is kept.
fn ends(file: &mut File) -> bool {
    let mut last = [0; PARQUET.len()];
    let mut look = || -> io::Result<()> {
        let place = file.stream_position()?;
        file.seek(SeekFrom::End(-(PARQUET.len() as i64)))?;
        let read = file.read_exact(&mut last);
        file.seek(SeekFrom::Start(place))?;
        read
    };
    look().is_ok() && last == PARQUET
}

#[cfg(test)]
mod tests;
