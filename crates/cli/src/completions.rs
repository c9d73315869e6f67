//! `demure completions …` and `demure man …`: what shells and manuals are told of this command.

use crate::{Cli, Failure};
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Print what a shell needs to complete this command's words
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure completions bash
  demure completions zsh
  demure completions fish --json

bash: demure completions bash > ~/.local/share/bash-completion/completions/demure
zsh:  demure completions zsh > ~/.zfunc/_demure, with `fpath+=~/.zfunc` before compinit in ~/.zshrc
fish: demure completions fish > ~/.config/fish/completions/demure.fish
PowerShell: add `demure completions powershell | Out-String | Invoke-Expression` to $PROFILE")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Write the manual pages of all commands into a folder
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure man man1
  demure man man1 --json

Read one with: man -l man1/demure-query.1")]
pub(crate) struct Manual {
    /// The folder, which is made if it does not exist; pages of the same name are replaced
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Completions {
    pub(crate) fn run(&self, json: bool, out: &mut impl Write) -> Result<(), Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut Cli::command(), "demure", &mut script);
        let written = match json {
            true => writeln!(
                out,
                "{}",
                json!({ "shell": self.shell.to_string(), "script": String::from_utf8_lossy(&script) })
            ),
            false => out.write_all(&script),
        };
        written.map_err(Failure::writing)
    }
}

impl Manual {
    pub(crate) fn run(&self, json: bool, out: &mut impl Write) -> Result<(), Failure> {
        let folder = self.folder.display().to_string();
        let failed = |source| Failure::File { what: format!("writing to {folder}"), source };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        clap_mangen::generate_to(Cli::command(), &self.folder).map_err(failed)?;
        let written = match json {
            true => writeln!(out, "{}", json!({ "folder": folder })),
            false => writeln!(out, "the pages are in {folder}: man -l {folder}/demure.1"),
        };
        written.map_err(Failure::writing)
    }
}
