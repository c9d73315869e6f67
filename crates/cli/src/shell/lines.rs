//! Where lines come from: an editor on a terminal, stdin in a script.

use super::complete::Words;
use crate::Failure;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};
use std::io::{BufRead, IsTerminal, stdin};
use std::path::PathBuf;

/// How many questions the history keeps.
const KEPT: usize = 1_000;

/// What came next.
pub(super) enum Line {
    Text(String),
    /// Ctrl-C: what was typed so far is dropped.
    Cleared,
    End,
}

/// A source of lines.
pub(super) enum Lines {
    Typed { editor: Box<Editor<Words, DefaultHistory>>, history: Option<PathBuf> },
    Script,
}

impl Lines {
    pub(super) fn new(words: Words) -> Result<Self, Failure> {
        if !stdin().is_terminal() {
            return Ok(Self::Script);
        }
        let config = Config::builder()
            .max_history_size(KEPT)
            .map_err(failed)?
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(words));
        let history = history();
        if let Some(path) = &history {
            // There is none the first time.
            let _ = editor.load_history(path);
        }
        Ok(Self::Typed { editor: Box::new(editor), history })
    }

    /// Whether somebody types.
    pub(super) fn typed(&self) -> bool {
        matches!(self, Self::Typed { .. })
    }

    pub(super) fn next(&mut self, first: bool) -> Result<Line, Failure> {
        match self {
            Self::Typed { editor, .. } => {
                let prompt = if first { "demure> " } else { "   ...> " };
                match editor.readline(prompt) {
                    Ok(text) => Ok(Line::Text(text)),
                    Err(ReadlineError::Interrupted) => Ok(Line::Cleared),
                    Err(ReadlineError::Eof) => Ok(Line::End),
                    Err(error) => Err(failed(error)),
                }
            }
            Self::Script => {
                let mut text = String::new();
                let read = stdin().lock().read_line(&mut text);
                match read
                    .map_err(|source| Failure::File { what: "reading stdin".into(), source })?
                {
                    0 => Ok(Line::End),
                    _ => Ok(Line::Text(text.trim_end_matches(['\r', '\n']).to_owned())),
                }
            }
        }
    }

    /// Keeps a question, on one line.
    pub(super) fn remember(&mut self, statement: &str) {
        if let Self::Typed { editor, history } = self {
            let line = statement.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
            let _ = editor.add_history_entry(line);
            if let Some(path) = history {
                // A history that cannot be written is no reason to stop.
                let _ = editor.append_history(path);
            }
        }
    }
}

fn failed(error: ReadlineError) -> Failure {
    match error {
        ReadlineError::Io(source) => Failure::File { what: "reading the terminal".into(), source },
        error => Failure::usage(format!("reading the terminal: {error}")),
    }
}

/// A file in the user's state folder, if there is such a folder.
fn history() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local").join("state"));
    let folder = state.filter(|path| path.is_absolute()).or_else(home)?;
    folder.is_dir().then(|| folder.join("demure_history"))
}
