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

#[test]
fn a_heartbeat_says_what_is_going_on() {
    let (sender, lines) = channel();
    let beat = Duration::from_millis(20);
    let heartbeat = Heartbeat::every(beat, false, move |line| drop(sender.send(line.to_owned())));
    let next = |wanted: &str| {
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if lines.recv_timeout(Duration::from_secs(10)).unwrap().starts_with(wanted) {
                return;
            }
        }
        panic!("no line `{wanted}…`");
    };
    // While nothing is going on, there is nothing to say.
    assert!(lines.recv_timeout(10 * beat).is_err());
    let progress = Progress::before_data(200);
    progress.say(74, || "decided".to_owned());
    next("progress: 37 % decided, ");
    drop(progress);
    let spinner = Spinner::new("asking");
    next("progress: asking, ");
    drop(spinner);
    drop(heartbeat);
    assert!(lines.iter().all(|line| line.starts_with("progress: ")));
    // One that also beats while idle.
    let (sender, lines) = channel();
    let _heartbeat = Heartbeat::every(beat, true, move |line| drop(sender.send(line.to_owned())));
    let idle = lines.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(idle.starts_with("progress: ") && idle.ends_with(" s"), "{idle}");
}
