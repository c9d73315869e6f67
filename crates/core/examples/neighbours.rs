//! Draws `docs/images/neighbours.svg`: what an analyst sees of two neighbouring
//! datasets whose true counts are 10 and 11, at ε = 1.
//!
//! `cargo run -p demure-core --example neighbours > docs/images/neighbours.svg`

use demure_core::Result;
use demure_core::mechanism::Geometric;
use demure_core::random::SeededForTests;
use demure_core::unit::{Epsilon, Sensitivity};
use std::fmt::Write;

const DRAWS: usize = 200_000;
const SHOWN: std::ops::RangeInclusive<i128> = 3..=18;

fn main() -> Result<()> {
    let mechanism = Geometric::new(Epsilon::new(1.0)?, Sensitivity::new(1.0)?)?;
    let mut rng = SeededForTests::insecure(1);
    let mut shares = |truth: i128| -> Result<Vec<f64>> {
        let values = mechanism.release_vector(&vec![truth; DRAWS], &mut rng)?.into_value();
        let count = |k: i128| values.iter().filter(|&&v| v == k).count() as f64 / DRAWS as f64;
        Ok(SHOWN.map(count).collect())
    };
    print!("{}", picture(&shares(10)?, &shares(11)?));
    Ok(())
}

fn picture(without: &[f64], with: &[f64]) -> String {
    let (width, height, left, base) = (720.0, 300.0, 40.0, 230.0);
    let step = (width - 2.0 * left) / without.len() as f64;
    let scale = 145.0 / 0.5;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fdfcf8\"/>\n"
    );
    for (i, (a, b)) in without.iter().zip(with).enumerate() {
        let x = left + i as f64 * step;
        let bar = |x: f64, share: f64, colour: &str| {
            let h = share * scale;
            format!(
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{h:.1}\" fill=\"{colour}\"/>\n",
                base - h,
                step * 0.4
            )
        };
        svg += &bar(x + step * 0.08, *a, "#31688e");
        svg += &bar(x + step * 0.5, *b, "#e3a857");
        let middle = x + step * 0.5;
        let label = SHOWN.start() + i as i128;
        let _ = writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444\">{label}</text>",
            base + 18.0
        );
    }
    let _ = write!(
        svg,
        "<line x1=\"{left}\" y1=\"{base}\" x2=\"{:.1}\" y2=\"{base}\" stroke=\"#444\"/>\n\
         <text x=\"{left}\" y=\"24\" fill=\"#31688e\" font-weight=\"bold\">what is released when the true count is 10</text>\n\
         <text x=\"{left}\" y=\"44\" fill=\"#b5791f\" font-weight=\"bold\">… and when one more person is in the data: 11</text>\n\
         <text x=\"{left}\" y=\"64\" fill=\"#444\">ε = 1: at no value is one bar more than e ≈ 2.72 times the other</text>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444\">released value (200,000 exact draws each)</text>\n</svg>\n",
        width - left,
        width / 2.0,
        base + 46.0
    );
    svg
}
