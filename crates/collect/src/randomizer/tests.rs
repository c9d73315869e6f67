use super::*;

fn chosen(k: u32, e: f64) -> Choice {
    choose(k, Epsilon::new(e).unwrap(), Some(1_000)).unwrap()
}

#[test]
fn the_choice_is_the_least_variance_or_as_good_and_smaller() {
    for e in [0.1, 0.5, 1.0, 2.0, 5.0] {
        assert_eq!(chosen(2, e).mechanism, Mechanism::Response);
    }
    assert_eq!(chosen(3, 2.0).mechanism, Mechanism::Response); // k < 3e^ε + 2
    for (k, e) in [(2, 0.1), (8, 0.5), (16, 1.0), (128, 1.0), (1024, 0.5), (1024, 4.0)] {
        let choice = chosen(k, e);
        let least = choice.candidates[0].noise;
        let own = choice.candidates.iter().find(|c| c.mechanism == choice.mechanism).unwrap();
        assert!(own.noise <= 1.02 * least, "{}", choice.why);
        for other in &choice.candidates {
            assert!(other.noise >= least);
            assert!(other.noise > 1.02 * least || other.bytes >= own.bytes, "{}", choice.why);
        }
        assert!(choice.why.contains(choice.mechanism.name()) && choice.why.contains("1000"));
    }
    // A large domain does not get a report with a bit for each value.
    assert!(chosen(1 << 18, 1.0).randomizer.report_bytes() < 20);
}

#[test]
fn names_go_both_ways() {
    for (mechanism, name) in NAMES {
        assert_eq!(Mechanism::named(name), Some(mechanism));
        assert_eq!(mechanism.name(), name);
    }
    assert_eq!(Mechanism::named("magic"), None);
    assert_eq!([1, 2, 256, 257, 65_536, 65_537, 1 << 32].map(bytes_below), [1, 1, 1, 2, 2, 3, 4]);
}
