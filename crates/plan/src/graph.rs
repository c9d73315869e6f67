//! Counts in graphs: what is known of a release, and what a method would do, as fields for people and programs.

use demure_graph::{CountForecast, CountRelease, CountRequest, Method, MethodFacts};
use demure_report::{Report, grouped, integer, short};
use serde_json::Value;

/// A count as JSON: whole, as all methods make it.
#[must_use]
pub fn count_value(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| integer(value as i128))
}

/// What is known of a release.
#[must_use]
pub fn known(released: &CountRelease) -> Report {
    let report = Report::default().field("method", name(released.method));
    let report = error_95(report, released.error, released.value.value().is_some());
    match released.bound {
        Some(bound) => {
            let text = format!("{bound} (on the local sensitivity; released with the value)");
            report.described("bound", bound, text)
        }
        None => report,
    }
}

/// `error_95`, or why there is none.
#[must_use]
pub fn error_95(report: Report, error: Option<f64>, answered: bool) -> Report {
    let note = "the noise follows the graph, so how large it is would tell about the graph";
    match error {
        Some(error) => {
            let text = format!("± {} with 95 % confidence (noise alone)", short(error));
            report.described("error_95", error, text)
        }
        None if answered => report
            .described("error_95", Value::Null, "error not shown: the noise follows the graph")
            .hidden("note", note),
        None => report.hidden("error_95", Value::Null).hidden("note", "no answer"),
    }
}

/// The names that are typed.
#[must_use]
pub fn name(method: Method) -> &'static str {
    match method {
        Method::Naive => "laplace",
        Method::Propose { .. } => "ptr",
        method => method.name(),
    }
}

/// What is public of a count where the number of vertices is not declared. `global` is its largest step in words.
#[must_use]
pub fn undeclared(method: Method, statistic: &str, global: &str) -> Report {
    let text = match method {
        Method::Auto => {
            "auto: the ladder, or the noise of the global sensitivity where there are few vertices"
        }
        method => name(method),
    };
    let sensitivity = format!(
        "{} for n vertices (global)\n--vertices N says n, and then the choice and its error are known",
        global
    );
    Report::default()
        .described("method", name(method), text)
        .field("statistic", statistic)
        .described("sensitivity", Value::Null, sensitivity)
        .described("error_95", Value::Null, "depends on n")
}

/// What a method would do: from n and the budget alone. `largest` is the largest step of the count in words.
#[must_use]
pub fn explained(
    request: &CountRequest,
    forecast: &CountForecast,
    statistic: &str,
    largest: &str,
) -> Report {
    let CountForecast { method, global, local, expected, .. } = *forecast;
    let why = match request.method {
        Method::Auto => format!(
            "by n and the budget alone: if the local sensitivity is the root of the global one,\n\
             the ladder is off by about {}, and noise of the global one by {}",
            rough(forecast.ladder),
            rough(forecast.naive)
        ),
        _ => "asked for".to_owned(),
    };
    let sensitivity = format!("{largest} = {} (global)", grouped(global as f64));
    let report = Report::default()
        .field("method", name(method))
        .field("why", why)
        .field("statistic", statistic)
        .described("sensitivity", global, sensitivity);
    let text = match method {
        Method::Naive => format!("about {}, whatever the graph", rough(expected)),
        _ => format!(
            "about {} if the local sensitivity is {} (a guess from n and the budget alone)",
            rough(expected),
            rough(local)
        ),
    };
    let report = facts(report, &forecast.facts).described("expected_error", expected, text);
    match (method, forecast.error) {
        (Method::PrivateBound | Method::Propose { .. }, None) => report.described(
            "error_95",
            Value::Null,
            "known with the release, from the bound that is released with it",
        ),
        (_, error) => error_95(report, error, true),
    }
}

/// What else is public of a method.
fn facts(report: Report, facts: &MethodFacts) -> Report {
    match *facts {
        MethodFacts::Floor(floor) => {
            let text = floor.map_or("none: it would not help".to_owned(), |c| {
                format!("{c} (the least width of a rung; public)")
            });
            report.described("floor", floor, text)
        }
        MethodFacts::Smooth(family, t) => report.field("noise", family.to_string()).described(
            "smoothness",
            t,
            format!("{} (t of the smooth bound)", short(t)),
        ),
        MethodFacts::Margin(margin) => {
            let text = format!("{margin} (how far the bound is above the local sensitivity)");
            report.described("margin", margin, text)
        }
        MethodFacts::Threshold { bound, edges } => {
            let text = format!(
                "{edges} (answers if it takes more edges than about that to make the local sensitivity exceed {bound})"
            );
            report.described("threshold", edges, text)
        }
        MethodFacts::Search(edges) => {
            let text = format!("{edges} edges, of each proposed bound");
            report.described("threshold", integer(edges), text)
        }
        _ => report,
    }
}

/// A number with as many digits as a guess has.
fn rough(x: f64) -> String {
    grouped(format!("{x:.1e}").parse().unwrap_or(x))
}
