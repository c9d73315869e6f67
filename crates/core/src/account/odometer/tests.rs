use super::*;

#[test]
fn readings_only_rise_and_cover_the_fixed_delta_conversion() {
    let delta = Delta::new(1e-6).unwrap();
    let first = Rho::new(1e-3).unwrap();
    let mut odometer = Odometer::concentrated(first, delta, Neighbours::AddRemove).unwrap();
    assert_eq!(odometer.epsilon().unwrap(), 0.0);
    let (mut last, query) = (0.0, Event::concentrated(3e-4).unwrap());
    for i in 1..=5000 {
        odometer.record(&query).unwrap();
        let reading = odometer.epsilon().unwrap();
        let fixed = zcdp::tail(Rho::new(3e-4 * f64::from(i)).unwrap(), delta).unwrap();
        assert!(reading >= last && reading >= fixed && reading <= 3.0 * fixed + 0.4);
        last = reading;
    }
}

#[test]
fn the_pure_odometer_adds_up_and_remembers_an_overflow() {
    let mut odometer = Odometer::pure(Neighbours::Replace);
    odometer.record(&Event::laplace(2.0).unwrap()).unwrap(); // twice 1/2 under replace
    assert!(odometer.epsilon().unwrap() >= 1.0 && odometer.epsilon().unwrap() < 1.0 + 1e-12);
    assert!(odometer.record(&Event::gaussian(1.0).unwrap()).is_err());
    let huge = Event::pure(f64::MAX).unwrap();
    odometer.record(&huge).unwrap();
    odometer.record(&huge).unwrap();
    assert_eq!(odometer.epsilon().unwrap(), f64::INFINITY);
}
