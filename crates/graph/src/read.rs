//! Edge lists from text, plain or gzip, streamed line by line.
//!
//! # Format
//! One edge per line: two vertex numbers (integers from 0 to 2⁶⁴−1), separated by blanks, tabs or commas; whatever follows them is
//! ignored (weights, times). Lines that are empty or start with `#` or `%` are comments. Line ends may be LF or CRLF.
//!
//! # What becomes of odd edges
//! The graph is simple and undirected: directions are dropped, so `1 2` and `2 1` are one edge; duplicates count once; self-loops
//! are dropped (their vertex stays). Vertices are numbered anew in order of appearance.
//!
//! # How many vertices
//! n is public and should be *declared*: vertices without edges are not in a file, and counting those that are would let one edge change n. If
//! it is not declared, n is the number of distinct vertices of the file, self-loops included, **and thereby declared public**.

use crate::error::{Error, Result};
use crate::graph::Graph;
use flate2::bufread::MultiGzDecoder;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// A line of an edge list is short; a binary file may have no line ends at all.
const LONGEST: usize = 1 << 16;

/// Reads a graph from a file, gzip or plain by its first two bytes.
pub fn open(path: &Path, vertices: Option<u32>) -> Result<Graph> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let gzip = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    if gzip {
        let text = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file));
        read(text, vertices)
    } else {
        read(file, vertices)
    }
}

/// Reads a graph from text.
pub fn read(mut text: impl BufRead, vertices: Option<u32>) -> Result<Graph> {
    let mut list = EdgeList::new(vertices);
    let (mut line, mut number) = (Vec::new(), 0u64);
    loop {
        line.clear();
        if text.by_ref().take(LONGEST as u64).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        if line.len() == LONGEST && line.last() != Some(&b'\n') {
            return Err(Error::Line { line: number });
        }
        let Some(parsed) = edge(&line) else { return Err(Error::Line { line: number }) };
        if let Some((from, to)) = parsed {
            list.add(from, to)?;
        }
    }
    list.finish()
}

/// Edges as they come, whatever they come from, by the rules of this module.
pub struct EdgeList {
    names: HashMap<u64, u32>,
    edges: Vec<u64>,
    vertices: Option<u32>,
}

impl EdgeList {
    /// No edge yet; n, if it is declared.
    #[must_use]
    pub fn new(vertices: Option<u32>) -> Self {
        Self { names: HashMap::new(), edges: Vec::new(), vertices }
    }

    /// One more edge.
    pub fn add(&mut self, from: u64, to: u64) -> Result<()> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        if from != to {
            self.edges.push(from.min(to) << 32 | from.max(to));
        }
        Ok(())
    }

    /// The graph.
    pub fn finish(self) -> Result<Graph> {
        let seen = self.names.len() as u32;
        drop(self.names);
        Graph::from_packed(self.vertices.unwrap_or(seen), self.edges)
    }

    fn place(&mut self, name: u64) -> Result<u64> {
        let next = self.names.len() as u64;
        let most = self.vertices.unwrap_or(u32::MAX - 1);
        match self.names.entry(name) {
            Entry::Occupied(known) => Ok(u64::from(*known.get())),
            Entry::Vacant(_) if next >= u64::from(most) => {
                Err(Error::TooManyVertices { declared: u64::from(most) })
            }
            Entry::Vacant(new) => {
                new.insert(next as u32);
                Ok(next)
            }
        }
    }
}

/// `None` for a malformed line, `Some(None)` for a comment.
fn edge(line: &[u8]) -> Option<Option<(u64, u64)>> {
    let line = line.trim_ascii();
    if line.is_empty() || line[0] == b'#' || line[0] == b'%' {
        return Some(None);
    }
    let blank = |b: &u8| b.is_ascii_whitespace() || *b == b',';
    let mut fields = line.split(blank).filter(|field| !field.is_empty());
    let mut next = || fields.next().and_then(vertex);
    Some(Some((next()?, next()?)))
}

fn vertex(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |n, &b| {
        let digit = b.is_ascii_digit().then(|| u64::from(b - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests;
