#![expect(clippy::excessive_precision, reason = "known answers keep all their digits")]

use super::*;

#[test]
fn compositions_have_their_known_values() {
    // 50-digit analytic values: (σ, k, δ, ε).
    for (sigma, k, delta, value) in [
        (10.0, 10, 1e-5, 1.199_369_573_753_168_338_2),
        (1.0, 10, 1e-5, 17.856_586_830_107_613_926),
        (10.0, 1, 1e-9, 0.535_148_231_553_172_567_23),
        (2.0, 1, 1e-9, 2.909_732_380_763_616_974_7),
        (10.0, 10, 1e-9, 1.788_024_826_940_984_512),
        (1.0, 10, 1e-9, 23.407_542_535_945_502_341),
        (2.0, 10, 1e-9, 10.321_313_596_343_421_255),
        (10.0, 1000, 1e-9, 23.407_542_535_945_502_341),
        (1.0, 1000, 1e-9, 688.751_845_737_340_299_07),
        (10.0, 1000, 1e-5, 17.856_586_830_107_613_926),
        (2.0, 1000, 1e-5, 191.549_201_432_711_228_88),
        (10.0, 1000, 1e-11, 25.670_898_667_659_773_759),
        (2.0, 1000, 1e-11, 230.198_433_070_945_574_98),
        (10.0, 1000, 1e-13, 27.723_085_904_301_416_863),
        (2.0, 1000, 1e-13, 240.373_883_668_986_176_75),
        (10.0, 1000, 1e-14, 28.686_163_473_068_261_976),
        (2.0, 1000, 1e-14, 245.151_890_408_040_252_5),
        (10.0, 1000, 1e-15, 29.613_454_177_668_445_984),
        (10.0, 1000, 1e-16, 30.508_628_963_273_008_733),
        (2.0, 1000, 1e-16, 254.197_754_147_141_733_75),
    ] {
        let mu = Mu::of(&[(1.0, sigma, k)]).unwrap();
        let found = mu.epsilon(Delta::new(delta).unwrap()).unwrap();
        assert!(found.contains(value), "{found} {value}");
        assert!(found.relative_width() < 1e-12, "{found}");
    }
}

#[test]
fn rho_half_is_mu_one_and_replacing_doubles() {
    let delta = Delta::new(1e-6).unwrap();
    let one = Mu::of(&[(1.0, 1.0, 1)]).unwrap().epsilon(delta).unwrap();
    assert!(one.contains(4.886_554_117_462_211_996_4));
    let doubled = Mu::of(&[(2.0, 2.0, 1)]).unwrap().epsilon(delta).unwrap();
    assert!(doubled.contains(4.886_554_117_462_211_996_4));
    assert_eq!(Mu::of(&[]).unwrap().epsilon(delta).unwrap().upper, 0.0);
    let pure = Mu::of(&[(1.0, 1.0, 1)]).unwrap().epsilon(Delta::ZERO).unwrap();
    assert_eq!(pure, Interval::INFINITE);
    // At a large δ even ε = 0 is enough: 2Φ(½) − 1 = 0.3829….
    let loose = Mu::of(&[(1.0, 1.0, 1)]).unwrap();
    assert_eq!(loose.epsilon(Delta::new(0.383).unwrap()).unwrap().upper, 0.0);
    assert!(loose.epsilon(Delta::new(0.382).unwrap()).unwrap().lower > 0.0);
}
