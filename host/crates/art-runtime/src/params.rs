//! A *saved plan* is a plan that is stored to be carried out again. This module has the schemas of its parameters, and checks the
//! values that a caller gives to them.
//!
//! Like the schema of a tool, the schema of a parameter has to be *admitted* before it is used: a schema that is invalid or
//! exceeds a limit is refused; any other schema is compiled after its references are resolved.

use std::collections::BTreeMap;

use art_agent::SavedPlan;
use art_core::JsonObject;
use art_core::text::truncate;
use art_tools::admission::Root;
use art_tools::schema::CompiledSchema;
use art_tools::shape::JsonSize;
use serde_json::Value;

/// Maximum length of a value in an error message, in characters.
const MAX_SHOWN_CHARS: usize = 80;

/// Reads a saved plan from the text of a file, and replaces the schemas of its parameters by the admitted schemas.
///
/// # Errors
/// Fails with everything that is wrong with the form of the plan or with its parameters.
pub fn read_plan(text: &str) -> Result<SavedPlan, Vec<String>> {
    let mut plan = SavedPlan::parse(text)?;
    let params = Params::admit(&plan)?;
    plan.params = params.schemas();
    Ok(plan)
}

/// The admitted schemas of the parameters, by the names of the parameters.
#[derive(Debug)]
pub struct Params(BTreeMap<String, CompiledSchema>);

impl Params {
    /// Admits the schemas of the parameters of a plan, and checks their defaults.
    ///
    /// # Errors
    /// Fails with every schema that is refused, and every default that its schema does not allow.
    pub fn admit(plan: &SavedPlan) -> Result<Self, Vec<String>> {
        let (mut admitted, mut problems) = (BTreeMap::new(), Vec::new());
        for (name, schema) in &plan.params {
            // The value of a parameter can be of any type, while the input of a tool has to be an object.
            match CompiledSchema::new(schema, Root::Any) {
                Ok(schema) => drop(admitted.insert(name.clone(), schema)),
                Err(problem) => problems.push(format!("the schema of the parameter `{name}` is refused: {problem}")),
            }
        }
        let params = Self(admitted);
        problems.extend(params.check(&params.defaults()));
        if problems.is_empty() { Ok(params) } else { Err(problems) }
    }

    /// Returns the schemas with their references resolved.
    #[must_use]
    pub fn schemas(&self) -> BTreeMap<String, Value> {
        let schemas = self.0.iter();
        schemas
            .map(|(name, schema)| (name.clone(), schema.schema().clone()))
            .collect()
    }

    /// Reads the values of parameters from what a person wrote: pairs of a name and a text. The value is the text itself if the
    /// schema allows it, or else the JSON value that the text contains.
    ///
    /// # Errors
    /// Fails with every name that is unknown or given twice, and every value that its schema does not allow.
    pub fn read(&self, texts: &[(String, String)]) -> Result<JsonObject, Vec<String>> {
        let (mut values, mut problems) = (JsonObject::new(), Vec::new());
        for (name, text) in texts {
            let value = self
                .0
                .get(name)
                .map_or_else(|| Value::from(text.as_str()), |schema| read_value(schema, text));
            if values.insert(name.clone(), value).is_some() {
                problems.push(format!("the parameter `{name}` is given twice"));
            }
        }
        problems.extend(self.check(&values));
        if problems.is_empty() { Ok(values) } else { Err(problems) }
    }

    /// Returns the values, completed with the defaults of the parameters that have no value.
    ///
    /// # Errors
    /// Fails with every value of an unknown parameter, and every value that its schema does not allow.
    pub fn with_defaults(&self, values: &JsonObject) -> Result<JsonObject, Vec<String>> {
        let problems = self.check(values);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut all = self.defaults();
        all.extend(values.clone());
        Ok(all)
    }

    /// Returns the names of the parameters without a value.
    #[must_use]
    pub fn missing(&self, values: &JsonObject) -> Vec<&str> {
        let names = self.0.keys().map(String::as_str);
        names.filter(|name| !values.contains_key(*name)).collect()
    }

    fn defaults(&self) -> JsonObject {
        let default = |schema: &CompiledSchema| schema.schema().get("default").cloned();
        let schemas = self.0.iter();
        schemas
            .filter_map(|(name, schema)| Some((name.clone(), default(schema)?)))
            .collect()
    }

    /// Returns every problem of the values.
    fn check(&self, values: &JsonObject) -> Vec<String> {
        let problems = values.iter().filter_map(|(name, value)| match self.0.get(name) {
            None => Some(self.unknown_name_error(name)),
            Some(schema) => check_value(schema, value).err().map(|problem| {
                let value = truncate(&value.to_string(), MAX_SHOWN_CHARS);
                format!("`{value}` is not a value of the parameter `{name}`: {problem}")
            }),
        });
        problems.collect()
    }

    fn unknown_name_error(&self, name: &str) -> String {
        let known: Vec<String> = self.0.keys().map(|name| format!("`{name}`")).collect();
        match known.as_slice() {
            [] => format!("the plan has no parameter `{name}`; it has no parameters at all"),
            known => format!("the plan has no parameter `{name}`; it has {}", known.join(", ")),
        }
    }
}

/// Returns the value that a text stands for. This is the text itself if the schema allows it, and the JSON value otherwise. A
/// text that is not JSON, or that has a schema of the type `string`, stands for itself even if the schema does not allow it.
fn read_value(schema: &CompiledSchema, text: &str) -> Value {
    let as_text = Value::from(text);
    let must_be_text = schema.schema().get("type") == Some(&Value::from("string"));
    if must_be_text || check_value(schema, &as_text).is_ok() {
        return as_text;
    }
    art_core::json::parse(text).unwrap_or(as_text)
}

fn check_value(schema: &CompiledSchema, value: &Value) -> Result<(), String> {
    let size = JsonSize::of_payload(value).map_err(|error| format!("it is {error}"))?;
    schema
        .check(value, &size, "it")
        .map_err(|violations| violations.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Admits the schemas of the parameters of a plan.
    fn admit(schemas: Value) -> Result<Params, Vec<String>> {
        Params::admit(&SavedPlan {
            params: serde_json::from_value(schemas).unwrap(),
            ..SavedPlan::default()
        })
    }

    fn invoice_params() -> Params {
        let schemas = json!({
            "rate": {"type": "number", "minimum": 0},
            "name": {"type": "string"},
            "text_or_null": {"type": ["string", "null"]},
            "days": {"type": "array", "items": {"type": "integer"}, "default": [1]},
        });
        admit(schemas).unwrap()
    }

    /// Reads the values of the parameters that [`invoice_params`] has.
    fn read_invoice_params(texts: &[(&str, &str)]) -> Result<JsonObject, Vec<String>> {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        invoice_params().read(&texts.iter().map(owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_text_is_read_as_json_only_if_the_schema_forbids_text() {
        let values = read_invoice_params(&[
            ("rate", "17.5"),
            ("name", "12"),
            ("text_or_null", "null"),
            ("days", "[2, 3]"),
        ])
        .unwrap();
        assert_eq!(
            Value::Object(values),
            json!({"rate": 17.5, "name": "12", "text_or_null": "null", "days": [2, 3]})
        );
    }

    #[test]
    fn the_errors_name_each_unusable_parameter() {
        let texts = [
            ("rate", "-1"),
            ("rate", "high"),
            ("days", "[\"x\"]"),
            ("nam", "x"),
            ("name", "x"),
        ];
        insta::assert_snapshot!(read_invoice_params(&texts).unwrap_err().join("\n"), @r#"
        the parameter `rate` is given twice
        `"high"` is not a value of the parameter `rate`: it must be number
        `["x"]` is not a value of the parameter `days`: /0 must be integer
        the plan has no parameter `nam`; it has `days`, `name`, `rate`, `text_or_null`
        "#);
    }

    #[test]
    fn a_parameter_without_a_value_takes_its_default_or_is_missing() {
        let params = invoice_params();
        let values = params.with_defaults(&JsonObject::new()).unwrap();
        assert_eq!(Value::Object(values.clone()), json!({"days": [1]}));
        assert_eq!(params.missing(&values), ["name", "rate", "text_or_null"]);
    }

    #[test]
    fn a_given_value_replaces_the_default() {
        let given = json!({"days": []});
        let values = invoice_params().with_defaults(given.as_object().unwrap()).unwrap();
        assert_eq!(Value::Object(values), given);
    }

    #[test]
    fn schemas_of_parameters_are_admitted_like_those_of_tools() {
        let schema = json!({"$ref": "https://example.org/schema"});
        let problems = admit(json!({"a": schema, "b": {"type": "integer", "default": "x"}})).unwrap_err();
        assert!(
            problems[0].starts_with("the schema of the parameter `a` is refused: "),
            "{problems:?}"
        );
        assert_eq!(
            problems[1],
            "`\"x\"` is not a value of the parameter `b`: it must be integer"
        );
        let with_reference = json!({"$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"});
        assert_eq!(
            admit(json!({"a": with_reference})).unwrap().schemas()["a"]["type"],
            "integer"
        );
    }
}
