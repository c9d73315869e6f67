//! The edge list, and how many vertices it has.

use crate::Failure;
use crate::input::positive;
use demure_files as files;
use demure_graph::read::{self, EdgeList};
use demure_graph::{Error, Graph};
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// Where a graph comes from.
#[derive(clap::Args)]
pub(super) struct Source {
    /// An edge list: two vertex numbers a line, plain or gzip, `-` for standard input; or Parquet,
    /// whose first two columns are the vertices
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// How many vertices there are, with and without edges: public
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    pub(super) vertices: Option<u32>,
}

impl Source {
    /// Whether a graph is given. It is not opened.
    pub(super) fn check(&self) -> Result<&Path, Failure> {
        self.file.as_deref().ok_or_else(|| {
            Failure::usage(
                "no graph: give a file with two vertex numbers a line\n\
                 hint: --explain needs none",
            )
        })
    }

    /// Reads the graph. Says on stderr if that makes the number of vertices public.
    pub(super) fn read(&self) -> Result<Graph, Failure> {
        let file = self.check()?;
        let graph = match files::Source::open(file)? {
            files::Source::Text(text) => {
                let text = BufReader::with_capacity(1 << 16, text);
                read::read(text, self.vertices).map_err(|error| unread(error, file))?
            }
            files::Source::Parquet(parquet) => {
                let mut list = EdgeList::new(self.vertices);
                files::parquet::whole_numbers(parquet, file, |[from, to]| {
                    list.add(from, to).map_err(|error| unread(error, file))
                })
                .map_err(no_edges)?;
                list.finish().map_err(|error| unread(error, file))?
            }
        };
        if self.vertices.is_none() {
            eprintln!(
                "warning: the number of vertices is taken from the file and thereby made public\n\
                 hint: declare it with --vertices, counting those without edges too"
            );
        }
        Ok(graph)
    }
}

/// What an edge list in Parquet must have.
fn no_edges(failure: Failure) -> Failure {
    match failure {
        Failure::Files(files::Error::NotWhole { path, .. }) => Failure::usage(format!(
            "{path}: the first two columns of an edge list are whole numbers\n\
             hint: put the two vertices of an edge into the first two columns"
        )),
        failure => failure,
    }
}

/// Says where a file is wrong, never what is in it.
fn unread(error: Error, file: &Path) -> Failure {
    use ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let name = file.display();
    let hint = match &error {
        Error::Core(_) => return refused(error),
        Error::Io(source)
            if matches!(source.kind(), UnexpectedEof | InvalidInput | InvalidData) =>
        {
            "the gzip file is cut short or damaged: copy it again"
        }
        Error::Io(_) => "the edge list is a file of text or gzip that may be read",
        Error::TooManyVertices { .. } => "--vertices N declares them",
        Error::Line { .. } => "the edge list is text or gzip; put a # before a header",
        _ => "split the graph",
    };
    match error {
        Error::Io(source) => Failure::usage(format!("reading {name}: {source}\nhint: {hint}")),
        error => Failure::usage(format!("{name}: {error}\nhint: {hint}")),
    }
}

/// The same for what a statistic refuses.
pub(super) fn refused(error: Error) -> Failure {
    match error {
        Error::Core(demure_core::Error::OutOfRange { parameter: "k", allowed }) => {
            Failure::usage(format!("--k must be {allowed}\nhint: choose a smaller --k"))
        }
        Error::Core(error) => error.into(),
        error => Failure::usage(error.to_string()),
    }
}
