//! Blank lines of a file with one column, which are cells without a value.
//!
//! A CSV reader skips blank lines. In a file with one column, an empty cell *is* a blank line. So whether one person
//! left theirs empty would change the number of rows, which is public under replace.

use std::io::{self, BufRead, BufReader, Read};

/// Reads a CSV file with `""` for each blank line after the header, if the header has one column.
pub(crate) struct BlankCells<R> {
    source: BufReader<R>,
    delimiter: u8,
    place: Place,
    file: File,
    /// The bytes to be returned, and how many of them were.
    ready: Vec<u8>,
    given: usize,
}

/// The position of the next byte in a line.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Start,
    /// At the start, after a line that ended with a carriage return.
    AfterReturn,
    Plain,
    Quoted,
    /// After a quote that closes the cell, unless another quote follows.
    Closing,
}

#[derive(Clone, Copy, PartialEq)]
enum File {
    BeforeHeader,
    Header,
    OneColumn,
    /// The file has several columns: nothing is changed.
    Other,
}

impl<R: Read> BlankCells<R> {
    pub(crate) fn new(source: R, delimiter: u8) -> Self {
        let (place, file) = (Place::Start, File::BeforeHeader);
        let source = BufReader::with_capacity(1 << 16, source);
        Self { source, delimiter, place, file, ready: Vec::new(), given: 0 }
    }

    fn take(&mut self, byte: u8) {
        let starts = matches!(self.place, Place::Start | Place::AfterReturn);
        let ends = matches!(byte, b'\n' | b'\r') && self.place != Place::Quoted;
        let half = self.place == Place::AfterReturn && byte == b'\n';
        match self.file {
            File::OneColumn if starts && ends && !half => self.ready.extend(b"\"\""),
            File::BeforeHeader if !ends => self.file = File::Header,
            File::Header if ends => self.file = File::OneColumn,
            _ => {}
        }
        if self.file == File::Header && byte == self.delimiter && self.place != Place::Quoted {
            self.file = File::Other;
        }
        self.place = match (self.place, byte) {
            (_, b'\n') if ends => Place::Start,
            (_, b'\r') if ends => Place::AfterReturn,
            (Place::Start | Place::AfterReturn | Place::Closing, b'"') => Place::Quoted,
            (Place::Quoted, b'"') => Place::Closing,
            (Place::Quoted, _) => Place::Quoted,
            _ => Place::Plain,
        };
        self.ready.push(byte);
    }
}

impl<R: Read> Read for BlankCells<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.file == File::Other && self.given == self.ready.len() {
            return self.source.read(out);
        }
        if self.given == self.ready.len() {
            self.ready.clear();
            self.given = 0;
            let bytes = self.source.fill_buf()?.to_vec();
            self.source.consume(bytes.len());
            bytes.into_iter().for_each(|byte| self.take(byte));
        }
        let count = out.len().min(self.ready.len() - self.given);
        out[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
