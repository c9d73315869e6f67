use super::*;
use std::sync::Arc;

const MARK: Mark = Mark([7; 32]);
use std::sync::atomic::{AtomicU64, Ordering};

fn sessions(most: usize) -> (Arc<AtomicU64>, Sessions) {
    let seconds = Arc::new(AtomicU64::new(1_800_000_000));
    let time = Arc::clone(&seconds);
    let clock: Clock =
        Arc::new(move || SystemTime::UNIX_EPOCH + Duration::from_secs(time.load(Ordering::SeqCst)));
    (seconds, Sessions::new(clock, Duration::from_secs(100), most))
}

#[test]
fn a_session_lasts_while_it_is_used() {
    let (seconds, sessions) = sessions(10);
    let id = sessions.open("ana", MARK).unwrap();
    assert_eq!(id.len(), 64);
    for _ in 0..5 {
        seconds.fetch_add(99, Ordering::SeqCst);
        assert_eq!(sessions.find(&id), Some(("ana".to_owned(), MARK)));
    }
    seconds.fetch_add(100, Ordering::SeqCst);
    assert_eq!(sessions.find(&id), None);
    let (one, two) = (sessions.open("ana", MARK).unwrap(), sessions.open("ana", MARK).unwrap());
    sessions.close(&one);
    assert!(sessions.find(&one).is_none() && sessions.find(&two).is_some());
    sessions.close_all("ana");
    assert!(sessions.find(&two).is_none());
    assert!(sessions.find("").is_none());
}

#[test]
fn there_are_never_too_many() {
    let (seconds, sessions) = sessions(EACH + 2);
    let bob = sessions.open("bob", MARK).unwrap();
    seconds.fetch_add(1, Ordering::SeqCst);
    let first = sessions.open("ana", MARK).unwrap();
    seconds.fetch_add(1, Ordering::SeqCst);
    for _ in 0..EACH {
        sessions.open("ana", MARK).unwrap();
    }
    assert!(sessions.find(&first).is_none(), "her own oldest made room");
    assert!(sessions.find(&bob).is_some(), "not somebody else's");
    seconds.fetch_add(1, Ordering::SeqCst);
    for name in ["c", "d", "e"] {
        sessions.open(name, MARK).unwrap();
    }
    assert_eq!(sessions.lock().len(), EACH + 2);
}
