use super::*;

#[test]
fn settings_are_finite_and_in_range_or_refused() {
    let mut settings = Settings::default();
    for (name, value) in [
        ("demure.epsilon", "NaN"),
        ("demure.epsilon", "inf"),
        ("demure.epsilon", "0"),
        ("demure.epsilon", "-1"),
        ("demure.epsilon", "NULL"),
        ("demure.epsilon", ""),
        ("demure.delta", "0"),
        ("demure.delta", "1"),
        ("demure.error_at_most", "0"),
        ("demure.error_at_most", "-inf"),
        ("demure.intervals", "perhaps"),
        ("demure.max_groups", "0"),
        ("demure.max_groups", "99999999999"),
        ("demure.max_rows_per_group", "1.5"),
        ("demure.noise", "off"),
    ] {
        let before = settings.clone();
        assert_eq!(settings.set(name, value).unwrap_err().rule(), Rule::Setting);
        assert_eq!(settings, before);
    }
    for (name, value) in [
        ("demure.epsilon", "0.5"),
        ("demure.delta", "1e-9"),
        ("demure.intervals", "on"),
        ("demure.max_groups", "3"),
        ("demure.max_rows_per_group", "7"),
    ] {
        settings.set(name, value).unwrap();
        assert_eq!(settings.get(name).unwrap(), value);
    }
    settings.set("demure.error_at_most", "50").unwrap();
    settings.set("DEMURE.EPSILON", "default").unwrap();
    assert_eq!(settings.get("demure.epsilon").unwrap(), "default");
    assert!(SETTINGS.iter().all(|(name, _)| settings.get(name).is_some()));
}
