//! The checks that run on every call's parameters before its handler, in PVE's order and words.

use super::{Format, Kind, Param};
use crate::call::{Given, Params, split_list};
use crate::error::ApiError;

pub(super) const UNKNOWN: &str =
    "property is not defined in schema and the schema does not allow additional properties";
/// What PVE says of a parameter that must be there and is not.
pub const MISSING: &str = "property is missing and it is not optional";

/// Checks all parameters of a call and reports every wrong one at once.
///
/// # Errors
/// 400 with one entry per wrong parameter, or 500 for a JSON `null`.
pub fn verify<'a>(
    schema: impl Iterator<Item = &'a Param> + Clone,
    params: &Params,
) -> Result<(), ApiError> {
    let mut errors = Vec::new();
    for (name, given) in params.iter() {
        if *given == Given::Null {
            return Err(ApiError::fail(format!(
                "unable to parse value of '{name}' - got undefined value"
            )));
        }
        match schema.clone().find(|param| param.covers(name)) {
            None => errors.push((name.to_owned(), UNKNOWN.to_owned())),
            Some(param) => {
                if let Err(text) = check_given(param, name, given) {
                    errors.push((name.to_owned(), text));
                }
                if let Some(other) = param.requires.filter(|other| !params.has(other)) {
                    let text = format!("missing property required by '{name}'");
                    errors.push((other.to_owned(), text));
                }
            }
        }
    }
    let missing = schema.filter(|param| !param.optional && !params.has(param.name));
    errors.extend(missing.map(|param| (param.name.to_owned(), MISSING.to_owned())));
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ApiError::params(errors))
    }
}

fn check_given(param: &Param, name: &str, given: &Given) -> Result<(), String> {
    let wrong_type = |got: &str| {
        let wanted = param.kind.name();
        Err(format!("type check ('{wanted}') failed - got {got}"))
    };
    match (given, param.kind, param.format) {
        (Given::Text(text), ..) => check_value(param, name, text),
        (Given::List(items), Kind::Array, _) | (Given::List(items), _, Some(Format::List(_))) => {
            items
                .iter()
                .try_for_each(|item| check_value(param, name, item))
        }
        (Given::List(_), ..) => wrong_type("ARRAY"),
        (Given::Hash, ..) => wrong_type("HASH"),
        (Given::Null, ..) => wrong_type("undef"),
    }
}

/// Checks one scalar value. `name` is the full name (`net0`), which appears in the errors of property strings.
///
/// # Errors
/// PVE's text for the first check that fails.
pub fn check_value(param: &Param, name: &str, value: &str) -> Result<(), String> {
    check_type(param.kind, value)?;
    check_format(param.format, name, value)?;
    if param.pattern.is_some_and(|matches| !matches(value)) {
        return Err("value does not match the regex pattern".to_owned());
    }
    check_length(param, value)?;
    check_range(param, value)?;
    if !param.one_of.is_empty() && !param.one_of.contains(&value) {
        let all = param.one_of.join(", ");
        return Err(format!(
            "value '{value}' does not have a value in the enumeration '{all}'"
        ));
    }
    Ok(())
}

fn check_type(kind: Kind, value: &str) -> Result<(), String> {
    let unsigned = value.strip_prefix(['+', '-']).unwrap_or(value);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = match kind {
        Kind::Text | Kind::Array => true,
        Kind::Boolean => matches!(value, "0" | "1"),
        Kind::Integer => digits(unsigned),
        Kind::Number => match unsigned.split_once('.') {
            Some((whole, fraction)) => (whole.is_empty() || digits(whole)) && digits(fraction),
            None => digits(unsigned),
        },
    };
    if fits {
        Ok(())
    } else {
        let wanted = kind.name();
        Err(format!("type check ('{wanted}') failed - got '{value}'"))
    }
}

fn check_format(format: Option<Format>, name: &str, value: &str) -> Result<(), String> {
    let checked = match format {
        None => return Ok(()),
        Some(Format::One(check)) => check(value).map_err(|text| text + "\n"),
        Some(Format::List(check)) => split_list(value)
            .try_for_each(check)
            .map_err(|text| text + "\n"),
        Some(Format::Properties(properties)) => properties.check(name, value),
    };
    checked.map_err(|text| format!("invalid format - {text}"))
}

fn check_length(param: &Param, value: &str) -> Result<(), String> {
    let length = value.chars().count();
    match param.length {
        (_, Some(most)) if length > most => {
            Err(format!("value may only be {most} characters long"))
        }
        (Some(least), _) if length < least => {
            Err(format!("value must be at least {least} characters long"))
        }
        _ => Ok(()),
    }
}

fn check_range(param: &Param, value: &str) -> Result<(), String> {
    let Ok(number) = value.parse::<f64>() else {
        return Ok(());
    };
    #[expect(clippy::cast_precision_loss, reason = "limits are far below 2^52")]
    match param.range {
        (_, Some(most)) if number > most as f64 => {
            Err(format!("value must have a maximum value of {most}"))
        }
        (Some(least), _) if number < least as f64 => {
            Err(format!("value must have a minimum value of {least}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{flag, int, text};
    use super::*;

    fn errors_of(schema: &[Param], pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut params = Params::default();
        for (name, value) in pairs {
            params.add(*name, Given::from(*value));
        }
        match verify(schema.iter(), &params) {
            Ok(()) => Vec::new(),
            Err(error) => error.errors.into_iter().collect(),
        }
    }

    #[test]
    fn every_wrong_parameter_is_named() {
        let schema = [
            int("cores").min(1),
            flag("full").optional(),
            text("name").longest(3),
        ];
        let errors = errors_of(&schema, &[("cores", "0"), ("full", "yes"), ("bogus", "1")]);
        let texts: Vec<_> = errors
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        assert_eq!(
            texts,
            [
                ("bogus", UNKNOWN),
                ("cores", "value must have a minimum value of 1"),
                ("full", "type check ('boolean') failed - got 'yes'"),
                ("name", MISSING),
            ]
        );
    }

    #[test]
    fn a_repeated_key_is_an_array() {
        let errors = errors_of(&[int("cores")], &[("cores", "1"), ("cores", "2")]);
        assert_eq!(errors[0].1, "type check ('integer') failed - got ARRAY");
    }

    #[test]
    fn numbers_may_have_fractions_and_integers_not() {
        assert!(check_type(Kind::Number, "1.5").is_ok());
        assert!(check_type(Kind::Number, "1.").is_err());
        assert!(check_type(Kind::Integer, "1.5").is_err());
        assert!(check_type(Kind::Integer, "-3").is_ok());
    }
}
