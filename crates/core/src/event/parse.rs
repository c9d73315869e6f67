//! Parses events: `poisson(q=0.01, gaussian(sigma=1.1))*10000`.

use super::{Disjoint, Event, LatticeNoise, Noise};
use crate::error::Error;
use std::num::NonZeroU64;

/// Why a text is not an event, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The text is not in the grammar.
    #[error("at character {position}: expected {expected}")]
    Unexpected {
        /// Counted in characters, from 1.
        position: usize,
        /// What was expected there.
        expected: &'static str,
    },
    /// The text is in the grammar, but a parameter is out of range.
    #[error("at character {position}: {source}")]
    Invalid {
        /// Counted in characters, from 1.
        position: usize,
        /// Why the parameter was refused.
        source: Error,
    },
}

/// Nesting deeper than this is refused, so that no input overflows the stack.
const DEPTH: usize = 64;

impl Event {
    /// Reads an event from text.
    ///
    /// ```text
    /// event     = primary { "*" count }
    /// primary   = name "(" [ argument { "," argument } ] ")"
    /// argument  = key "=" number | event
    /// number    = quotient | "ln" quotient | "ln" "(" quotient ")"
    /// quotient  = decimal [ "/" decimal ]
    /// ```
    ///
    /// | name | arguments |
    /// |---|---|
    /// | `laplace` | `b` or `eps` (b = 1/eps); `replace` |
    /// | `gaussian` | `sigma`; `replace` |
    /// | `discrete_laplace` | `b` or `eps`; `sensitivity`, `replace` |
    /// | `discrete_gaussian` | `sigma`; `sensitivity`, `replace` |
    /// | `response` | `eps`; `categories` |
    /// | `exponential`, `pure` | `eps`; `delta` for `pure` |
    /// | `concentrated` | `rho` |
    /// | `compose`, `post` | events; one event |
    /// | `parallel` | `by` (`key` or `id`), events |
    /// | `poisson`, `fixed`, `shuffle` | `q`; `n`, `m`; `n`; and one event |
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse(text, None)
    }
}

/// Parses an event; `?` stands for `unknown`, if that is given.
pub(super) fn parse(text: &str, unknown: Option<f64>) -> Parsed<Event> {
    let mut reader = Reader { text, at: 0, unknown };
    let event = reader.event(0)?;
    reader.spaces();
    if reader.at == text.len() { Ok(event) } else { Err(reader.expected("the end, or `*`")) }
}

type Parsed<T> = Result<T, ParseError>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    unknown: Option<f64>,
}

/// The arguments of one event, each taken at most once.
struct Arguments<'a> {
    position: usize,
    numbers: Vec<(&'a str, f64, usize)>,
    by: Option<Disjoint>,
    events: Vec<Event>,
}

impl<'a> Reader<'a> {
    fn position(&self, at: usize) -> usize {
        self.text[..at].chars().count() + 1
    }

    fn expected(&self, expected: &'static str) -> ParseError {
        ParseError::Unexpected { position: self.position(self.at), expected }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips spaces, then `token` if it is next.
    fn skip(&mut self, token: char) -> bool {
        self.spaces();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    fn name(&mut self) -> &'a str {
        self.spaces();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphabetic() || c == '_')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn event(&mut self, depth: usize) -> Parsed<Event> {
        if depth > DEPTH {
            return Err(self.expected("less nesting: at most 64 levels"));
        }
        self.spaces();
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return Err(self.expected("the name of an event"));
        }
        let after_name = self.at;
        if !self.skip('(') {
            return Err(self.expected("`(`"));
        }
        let arguments = self.arguments(start, depth)?;
        let mut event = self.build(name, after_name - name.len(), arguments)?;
        while self.skip('*') {
            self.spaces();
            let at = self.at;
            let k = self.number()?;
            let k = self.count(k, at)?;
            event = event.repeat(k).map_err(|source| self.invalid(at, source))?;
        }
        Ok(event)
    }

    fn arguments(&mut self, start: usize, depth: usize) -> Parsed<Arguments<'a>> {
        let mut arguments =
            Arguments { position: start, numbers: Vec::new(), by: None, events: Vec::new() };
        if self.skip(')') {
            return Ok(arguments);
        }
        loop {
            self.spaces();
            let at = self.at;
            let key = self.name();
            if !key.is_empty() && self.skip('=') {
                if key == "by" {
                    self.spaces();
                    let before = self.at;
                    arguments.by = match self.name() {
                        "key" => Some(Disjoint::ByKey),
                        "id" => Some(Disjoint::ById),
                        _ => {
                            self.at = before;
                            return Err(self.expected("`key` or `id`"));
                        }
                    };
                } else {
                    let value = self.number()?;
                    if arguments.numbers.iter().any(|(other, _, _)| *other == key) {
                        self.at = at;
                        return Err(self.expected("each argument once"));
                    }
                    arguments.numbers.push((key, value, at));
                }
            } else {
                self.at = at;
                arguments.events.push(self.event(depth + 1)?);
            }
            if self.skip(')') {
                return Ok(arguments);
            }
            if !self.skip(',') {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    fn number(&mut self) -> Parsed<f64> {
        self.spaces();
        if self.rest().starts_with('?') {
            let Some(value) = self.unknown else {
                return Err(self.expected("a number (`?` is for calibration)"));
            };
            self.at += 1;
            return Ok(value);
        }
        let logarithm = self.rest().starts_with("ln");
        if logarithm {
            self.at += 2;
        }
        let parenthesis = logarithm && self.skip('(');
        let mut value = self.decimal()?;
        if self.skip('/') {
            value /= self.decimal()?;
        }
        if parenthesis && !self.skip(')') {
            return Err(self.expected("`)`"));
        }
        Ok(if logarithm { value.ln() } else { value })
    }

    fn decimal(&mut self) -> Parsed<f64> {
        self.spaces();
        let rest = self.rest();
        let mut previous = ' ';
        let end = rest
            .find(|c: char| {
                let sign = matches!(c, '+' | '-') && matches!(previous, ' ' | 'e' | 'E');
                previous = c;
                !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || sign)
            })
            .unwrap_or(rest.len());
        match rest[..end].parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += end;
                Ok(value)
            }
            _ => Err(self.expected("a number: 0.1, 1e-6, 1/3 or ln 3")),
        }
    }

    fn invalid(&self, at: usize, source: Error) -> ParseError {
        ParseError::Invalid { position: self.position(at), source }
    }

    /// A whole number of at least 0; from an unknown, the integer below.
    fn count(&self, value: f64, at: usize) -> Parsed<u64> {
        let whole = if self.unknown == Some(value) { value.floor() } else { value };
        if whole.fract() == 0.0 && (0.0..9.0e15).contains(&whole) {
            Ok(whole as u64)
        } else {
            let expected = "a whole number";
            Err(ParseError::Unexpected { position: self.position(at), expected })
        }
    }

    fn build(&self, name: &str, at: usize, mut arguments: Arguments<'_>) -> Parsed<Event> {
        let invalid = |source| self.invalid(at, source);
        let a = &mut arguments;
        let event = match name {
            "laplace" => {
                let noise = self.noise(a, true, at)?;
                Event::Laplace(noise)
            }
            "gaussian" => Event::Gaussian(self.noise(a, false, at)?),
            "discrete_laplace" => Event::DiscreteLaplace(self.lattice(a, true, at)?),
            "discrete_gaussian" => Event::DiscreteGaussian(self.lattice(a, false, at)?),
            "response" => {
                let epsilon = self.needed(a, "eps", "`eps=`")?;
                let categories = self.whole(a, "categories")?.unwrap_or(2);
                let categories = u32::try_from(categories).unwrap_or(u32::MAX);
                Event::response(epsilon, categories).map_err(invalid)?
            }
            "exponential" => {
                Event::exponential(self.needed(a, "eps", "`eps=`")?).map_err(invalid)?
            }
            "pure" => {
                let epsilon = self.needed(a, "eps", "`eps=`")?;
                match a.take("delta") {
                    None => Event::pure(epsilon),
                    Some((delta, _)) => Event::approximate(epsilon, delta),
                }
                .map_err(invalid)?
            }
            "concentrated" => {
                Event::concentrated(self.needed(a, "rho", "`rho=`")?).map_err(invalid)?
            }
            "compose" => Event::Compose(std::mem::take(&mut a.events)),
            "post" => Event::PostProcess(Box::new(self.one(a)?)),
            "parallel" => {
                let Some(because) = a.by.take() else {
                    return Err(self.missing(a, "`by=key` or `by=id`: why the parts are disjoint"));
                };
                Event::Parallel { parts: std::mem::take(&mut a.events), because }
            }
            "poisson" => {
                let q = self.needed(a, "q", "`q=`")?;
                Event::poisson(q, self.one(a)?).map_err(invalid)?
            }
            "fixed" => {
                let n = self.needed_whole(a, "n", "`n=`")?;
                let m = self.needed_whole(a, "m", "`m=`")?;
                Event::fixed_size(n, m, self.one(a)?).map_err(invalid)?
            }
            "shuffle" => {
                let n = self.needed_whole(a, "n", "`n=`")?;
                Event::shuffle(n, self.one(a)?).map_err(invalid)?
            }
            _ => {
                return Err(ParseError::Unexpected {
                    position: self.position(at),
                    expected: "laplace, gaussian, discrete_laplace, discrete_gaussian, response, \
                        exponential, pure, concentrated, compose, parallel, poisson, fixed, \
                        shuffle or post",
                });
            }
        };
        if let Some((_, _, at)) = arguments.numbers.first() {
            let expected = "an argument that this event takes";
            return Err(ParseError::Unexpected { position: self.position(*at), expected });
        }
        if !arguments.events.is_empty() || arguments.by.is_some() {
            return Err(self.missing(&arguments, "fewer arguments"));
        }
        Ok(event)
    }

    fn missing(&self, arguments: &Arguments<'_>, expected: &'static str) -> ParseError {
        ParseError::Unexpected { position: self.position(arguments.position), expected }
    }

    fn needed(
        &self,
        arguments: &mut Arguments<'_>,
        key: &str,
        expected: &'static str,
    ) -> Parsed<f64> {
        arguments.take(key).map(|(x, _)| x).ok_or_else(|| self.missing(arguments, expected))
    }

    fn whole(&self, arguments: &mut Arguments<'_>, key: &str) -> Parsed<Option<u64>> {
        arguments.take(key).map(|(x, at)| self.count(x, at)).transpose()
    }

    fn needed_whole(
        &self,
        arguments: &mut Arguments<'_>,
        key: &str,
        expected: &'static str,
    ) -> Parsed<u64> {
        self.whole(arguments, key)?.ok_or_else(|| self.missing(arguments, expected))
    }

    fn one(&self, arguments: &mut Arguments<'_>) -> Parsed<Event> {
        match (arguments.events.pop(), arguments.events.is_empty()) {
            (Some(event), true) => Ok(event),
            _ => Err(self.missing(arguments, "exactly one event inside")),
        }
    }

    /// `b`, or `eps` for its reciprocal; `sigma` for the Gaussians.
    fn scale(&self, arguments: &mut Arguments<'_>, laplace: bool) -> Parsed<f64> {
        if !laplace {
            return self.needed(arguments, "sigma", "`sigma=`");
        }
        match (arguments.take("b"), arguments.take("eps")) {
            (Some((b, _)), None) => Ok(b),
            (None, Some((epsilon, _))) => Ok(1.0 / epsilon),
            _ => Err(self.missing(arguments, "either `b=` or `eps=`")),
        }
    }

    fn noise(&self, arguments: &mut Arguments<'_>, laplace: bool, at: usize) -> Parsed<Noise> {
        let noise = Noise::new(self.scale(arguments, laplace)?);
        match arguments.take("replace") {
            None => noise,
            Some((distance, _)) => noise.and_then(|noise| noise.replacing(distance)),
        }
        .map_err(|source| self.invalid(at, source))
    }

    fn lattice(
        &self,
        arguments: &mut Arguments<'_>,
        laplace: bool,
        at: usize,
    ) -> Parsed<LatticeNoise> {
        let scale = self.scale(arguments, laplace)?;
        let mut positive = |key, parameter| {
            let value = self.whole(arguments, key)?.map(|value| super::positive(parameter, value));
            value.transpose().map_err(|source| self.invalid(at, source))
        };
        let sensitivity = positive("sensitivity", "sensitivity")?.unwrap_or(NonZeroU64::MIN);
        let replace = positive("replace", "the distance under replace")?;
        let noise = LatticeNoise::new(scale, sensitivity);
        match replace {
            None => noise,
            Some(distance) => noise.and_then(|noise| noise.replacing(distance)),
        }
        .map_err(|source| self.invalid(at, source))
    }
}

impl Arguments<'_> {
    fn take(&mut self, key: &str) -> Option<(f64, usize)> {
        let index = self.numbers.iter().position(|(other, _, _)| *other == key)?;
        let (_, value, at) = self.numbers.remove(index);
        Some((value, at))
    }
}

#[cfg(test)]
mod tests;
