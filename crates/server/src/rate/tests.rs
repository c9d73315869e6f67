use super::*;

#[test]
fn a_minutes_worth_at_once_and_then_one_at_a_time() {
    let rate = Rate::new(Some(60));
    let begun = Instant::now();
    let at = |ms: u64| begun + Duration::from_millis(ms);
    assert!((0..60).all(|_| rate.take("ana", at(0)).is_ok()));
    let refused = rate.take("ana", at(250)).unwrap_err();
    assert_eq!(refused.per_minute, 60);
    assert!((refused.retry.as_secs_f64() - 0.75).abs() < 1e-6, "{refused:?}");
    // Others have their own, and being refused costs nothing.
    assert_eq!(rate.take("ben", at(250)), Ok(()));
    assert_eq!(rate.take("ana", at(1_001)), Ok(()));
    assert!(rate.take("ana", at(1_500)).is_err());
    // An hour fills no more than a minute does.
    assert!((0..60).all(|_| rate.take("ana", at(3_600_000)).is_ok()));
    assert!(rate.take("ana", at(3_600_000)).is_err());
}

#[test]
fn off_is_off_and_full_buckets_are_forgotten() {
    let now = Instant::now();
    let off = Rate::new(None);
    assert!((0..10_000).all(|_| off.take("ana", now).is_ok()));
    let rate = Rate::new(Some(1));
    for i in 0..3 * MANY {
        rate.take(&i.to_string(), now + Duration::from_secs(i as u64)).unwrap();
    }
    assert!(rate.buckets.lock().unwrap().len() <= MANY + 1);
}
