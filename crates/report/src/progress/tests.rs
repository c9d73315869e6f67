use super::*;

#[test]
fn a_bar_keeps_count_and_hides_at_first() {
    assert!(ProgressStyle::with_template(BAR).is_ok());
    assert!(ProgressStyle::with_template(SPINNER).is_ok());
    let progress = Progress { bar: Some(bar(10)) };
    progress.say(5, || "7 looked at".to_owned());
    let bar = progress.bar.clone().unwrap();
    assert_eq!((bar.position(), bar.message().as_str()), (5, "7 looked at"));
    assert!(bar.is_hidden() && !bar.is_finished());
    drop(progress);
    assert!(bar.is_finished());
}
