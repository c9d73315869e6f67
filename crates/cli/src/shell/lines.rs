//! Where lines come from: an editor on a terminal, stdin in a script.

use super::complete::Words;
use crate::Failure;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};
use std::io::{BufRead, IsTerminal, Write, stdin};
use std::path::PathBuf;
use std::process::Command;

/// How many questions the history keeps.
const KEPT: usize = 1_000;

/// What came next.
pub(super) enum Line {
    /// One line, or several that were pasted.
    Text(String),
    /// Ctrl-C: what was typed so far is dropped.
    Cleared,
    End,
}

/// A source of lines.
pub(super) enum Lines {
    Typed {
        editor: Box<Editor<Words, DefaultHistory>>,
        history: Option<PathBuf>,
        /// What the next prompt begins with.
        begun: String,
    },
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
        Ok(Self::Typed { editor: Box::new(editor), history, begun: String::new() })
    }

    /// Whether somebody types.
    pub(super) fn typed(&self) -> bool {
        matches!(self, Self::Typed { .. })
    }

    /// The next line of a statement that has begun with `pending`.
    pub(super) fn next(&mut self, pending: &str) -> Result<Line, Failure> {
        match self {
            Self::Typed { editor, begun, .. } => {
                let prompt = if pending.trim().is_empty() { "demure> " } else { "   ...> " };
                if let Some(words) = editor.helper_mut() {
                    pending.clone_into(&mut words.pending);
                }
                let begun = std::mem::take(begun);
                match editor.readline_with_initial(prompt, (&begun, "")) {
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

    /// Keeps a question, as it was written.
    pub(super) fn remember(&mut self, statement: &str) {
        if let Self::Typed { editor, history, .. } = self {
            let _ = editor.add_history_entry(statement.trim());
            if let Some(path) = history {
                // A history that cannot be written is no reason to stop. It is made for its owner alone.
                let _ = editor.append_history(path);
            }
        }
    }

    /// Opens an editor on `text`; what it leaves stands at the next prompt, where it is asked only when Enter is pressed.
    pub(super) fn edit(&mut self, text: &str) -> Result<(), String> {
        let Self::Typed { begun, .. } = self else {
            return Err("a script has no editor\nhint: write the statement into the script".into());
        };
        let named = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok());
        let named = named.filter(|name| !name.trim().is_empty());
        let named =
            named.unwrap_or_else(|| if cfg!(windows) { "notepad" } else { "vi" }.to_owned());
        let mut words = named.split_whitespace();
        let failed = |source: std::io::Error| {
            format!("the editor `{named}` did not run: {source}\nhint: name another in EDITOR")
        };
        // Readable by its owner alone, and removed at the end.
        let file = tempfile::Builder::new().prefix("demure-").suffix(".sql").tempfile();
        let mut file = file.map_err(failed)?;
        writeln!(file, "{}", text.trim()).map_err(failed)?;
        let run =
            Command::new(words.next().unwrap_or_default()).args(words).arg(file.path()).status();
        if !run.map_err(failed)?.success() {
            return Err("the editor ended with an error: the statement is as before".into());
        }
        let edited = std::fs::read_to_string(file.path()).map_err(failed)?;
        edited.trim().clone_into(begun);
        Ok(())
    }
}

fn failed(error: ReadlineError) -> Failure {
    match error {
        ReadlineError::Io(source) => Failure::File { what: "reading the terminal".into(), source },
        error => Failure::usage(format!("reading the terminal: {error}")),
    }
}

/// A file in the user's state folder, which is made if it does not exist.
fn history() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"))?;
        Some(PathBuf::from(home).join(".local").join("state"))
    };
    let folder = state.filter(|path| path.is_absolute()).or_else(home)?;
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("demure_history"))
}
