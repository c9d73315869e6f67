use super::*;
use clap::CommandFactory;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

/// The command and all below it, with the words that name each.
fn all(command: &clap::Command, words: &str, found: &mut Vec<(String, clap::Command)>) {
    found.push((words.to_owned(), command.clone()));
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        all(sub, &format!("{words} {}", sub.get_name()), found);
    }
}

#[test]
fn every_command_takes_json_and_quiet() {
    let mut top = Cli::command();
    top.build();
    let mut found = Vec::new();
    all(&top, "demure", &mut found);
    assert!(found.len() > 60, "{} commands", found.len());
    for (words, command) in found {
        for option in ["json", "quiet"] {
            let has = command.get_arguments().any(|it| it.get_long() == Some(option));
            assert!(has, "{words} has no --{option}");
        }
    }
}

#[test]
fn every_plan_draws() {
    let top = Cli::command();
    let mut found = Vec::new();
    all(&top, "demure", &mut found);
    let plans = found.iter().filter(|(words, command)| {
        words.contains(" plan") && command.get_subcommands().next().is_none()
    });
    let plans: Vec<_> = plans.collect();
    assert!(plans.len() >= 6, "{}", plans.len());
    for (words, command) in plans {
        let has = command.get_arguments().any(|it| it.get_long() == Some("plot"));
        assert!(has, "{words} has no --plot");
    }
}
