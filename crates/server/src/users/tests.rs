use super::*;
use std::sync::atomic::{AtomicU64, Ordering};

fn at(seconds: &Arc<AtomicU64>) -> Clock {
    let seconds = Arc::clone(seconds);
    Arc::new(move || SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::SeqCst)))
}

#[test]
fn an_account_from_its_beginning_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.users");
    let time = Arc::new(AtomicU64::new(1_800_000_000));
    let users = Users::open(&path, at(&time)).unwrap();
    assert!(users.list().unwrap().is_empty(), "nobody was added");
    users.add("root", "ana", Role::Analyst, "a long password").unwrap();
    assert!(matches!(
        users.add("root", "ana", Role::Steward, "another password"),
        Err(Error::Exists(_))
    ));
    // Opened again.
    let users = Users::open(&path, at(&time)).unwrap();
    let (ana, mark) = users.sign_in("ana", "a long password", "test", None).unwrap();
    assert_eq!(users.still("ana", mark).unwrap(), ana);
    users.set_password("root", "ana", "a longer password").unwrap();
    assert!(matches!(users.still("ana", mark), Err(Error::Denied)), "another password");
    users.set_password("root", "ana", "a long password").unwrap();
    assert!(matches!(users.still("ana", mark), Err(Error::Denied)), "salted anew");
    assert_eq!(ana, User { name: "ana".into(), role: Role::Analyst });
    let token = users.add_token("ana", "ana", "notebook", 30).unwrap();
    assert_eq!(users.bearer(&token).unwrap(), ana);
    time.fetch_add(31 * 86_400, Ordering::SeqCst);
    assert!(matches!(users.bearer(&token), Err(Error::Denied)), "expired");
    let token = users.add_token("ana", "ana", "notebook", 30).unwrap();
    users.set_disabled("root", "ana", true).unwrap();
    for denied in [
        users.bearer(&token),
        users.sign_in("ana", "a long password", "test", None).map(|(user, _)| user),
        users.still("ana", mark),
    ] {
        assert!(matches!(denied, Err(Error::Denied)));
    }
    let done: Vec<String> = users.record(20).unwrap().into_iter().rev().map(|r| r.action).collect();
    let expected = "add, add, sign in, password, password, token, token, disable, sign in failed";
    assert_eq!(done.join(", "), expected);
    // Nothing in the file is a password or a token.
    let file = std::fs::read(&path).unwrap();
    for secret in ["a long password", token.as_str()] {
        assert!(!file.windows(secret.len()).any(|window| window == secret.as_bytes()));
    }
}

#[test]
fn wrong_passwords_lock_for_longer_and_longer() {
    let folder = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(1_800_000_000));
    let steady = Arc::clone(&time);
    let steady: SteadyClock = Arc::new(move || Duration::from_secs(steady.load(Ordering::SeqCst)));
    let users = Users::open_with(&folder.path().join("u"), at(&time), steady).unwrap();
    users.add("root", "ana", Role::Analyst, "a long password").unwrap();
    let right = || users.sign_in("ana", "a long password", "test", None).is_ok();
    for _ in 1..FAILURES {
        assert!(users.sign_in("ana", "wrong", "test", None).is_err());
    }
    assert!(right(), "one less than too many, and it counts anew");
    for _ in 0..FAILURES {
        assert!(matches!(users.judge("ana", None, "test", None), Err(Error::Denied)));
    }
    // While it is locked even the right one is refused, and counts as wrong.
    assert!(!right());
    time.fetch_add(61, Ordering::SeqCst);
    assert!(!right(), "the sixth locked it for two minutes");
    time.fetch_add(10_000, Ordering::SeqCst);
    assert!(right());
}

#[test]
fn the_lock_is_read_when_a_proof_is_judged() {
    let users = Users::in_memory().unwrap();
    users.add("root", "ana", Role::Analyst, "a long password").unwrap();
    // 400 exchanges begin before anything has failed: all have the true verifier.
    let begun: Vec<Verifier> = (0..400).map(|_| users.verifier("ana").unwrap()).collect();
    let key = begun[0].stored_key;
    let judged = |proved| users.judge("ana", proved, "test", None).is_ok();
    assert!((0..399).all(|_| !judged(None)), "wrong proofs");
    assert!(begun.iter().all(|verifier| verifier.stored_key == key));
    assert!(!judged(Some(&key)), "the 400th proof is right, and the name is locked");
    // Nor does a proof of a password that was changed meanwhile let anyone in.
    users.set_password("root", "ana", "another password").unwrap();
    assert!(!judged(Some(&key)));
    assert!(judged(Some(&users.verifier("ana").unwrap().stored_key)));
}

#[test]
fn a_file_of_the_version_before_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.users");
    access::create(&path).unwrap();
    let old = Connection::open(&path).unwrap();
    let sql = format!(
        "{SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1;
             INSERT INTO secret VALUES (zeroblob(32));"
    );
    old.execute_batch(&sql).unwrap();
    drop(old);
    for _ in 0..2 {
        let users = Users::open(&path, Arc::new(SystemTime::now)).unwrap();
        let token = users.add_metrics_token("root", "", 1).unwrap();
        assert!(users.reads_metrics(&token).unwrap());
    }
}

#[test]
fn who_is_not_there_looks_like_who_is() {
    let users = Users::in_memory().unwrap();
    users.add("root", "ana", Role::Analyst, "a long password").unwrap();
    let (one, two) = (users.verifier("bob").unwrap(), users.verifier("bob").unwrap());
    assert_eq!(one, two);
    assert_ne!(one.salt, users.verifier("eve").unwrap().salt);
    assert_eq!(one.iterations, users.verifier("ana").unwrap().iterations);
    let salt = users.verifier("ana").unwrap().salt;
    users.set_disabled("root", "ana", true).unwrap();
    assert_eq!(users.verifier("ana").unwrap().salt, salt);
    assert!(!users.verifier("ana").unwrap().fits("a long password"));
}

#[test]
fn names_and_passwords_that_will_not_do() {
    let users = Users::in_memory().unwrap();
    let long = "x".repeat(64);
    for name in ["", "@group", "a b", "1st", "é", "a\n", "a;--", &long] {
        let added = users.add("root", name, Role::Analyst, "a long password");
        assert!(matches!(added, Err(Error::Name)), "{name:?}");
    }
    for password in ["", "short", "ana.longer.name"] {
        let added = users.add("root", "ana.longer.name", Role::Analyst, password);
        assert!(matches!(added, Err(Error::WeakPassword)), "{password:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no such folder").join("clinic.users");
    assert!(matches!(Users::open(&path, Arc::new(SystemTime::now)), Err(Error::File { .. })));
}
