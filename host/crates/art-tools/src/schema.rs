//! A schema that was admitted and compiled, once, and is then applied to many values.

use std::sync::OnceLock;

use art_core::text::truncate;
use jsonschema::Validator;
use serde_json::Value;

use crate::admission::{Cost, Root, SchemaProblem, Tree, admit, multiple_of, pattern_options, unique_items};
use crate::defaults::{self, TooManyDefaults};
use crate::shape::Shape;
use crate::violation::{Violations, describe};

/// An admitted schema, and its compiled form once a value is checked.
///
/// `format` is an annotation, as 2020-12 has it, and checks nothing.
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Value,
    /// Can have megabytes.
    validator: OnceLock<Option<Validator>>,
    cost: Cost,
    /// All defaults together.
    defaults: Shape,
}

impl CompiledSchema {
    /// Admits a schema and compiles it: dialect 2020-12, linear patterns, nothing retrieved.
    ///
    /// # Errors
    /// When it is not admitted or is not a valid schema.
    pub fn new(schema: &Value, root: Root) -> Result<Self, SchemaProblem> {
        let Tree { schema: tree, cost } = admit(schema, root)?;
        jsonschema::draft202012::meta::validate(schema).map_err(|error| invalid(error.instance_path(), &error))?;
        Ok(Self {
            defaults: defaults::measure(&tree),
            validator: OnceLock::from(Some(compile(&tree)?)),
            schema: tree,
            cost,
        })
    }

    /// Drops the compiled form of a large schema until a value is checked: a tool is loaded much more often than it is
    /// called, and a folder may have thousands of them.
    pub(crate) fn release(mut self) -> Self {
        let some_values = Shape::of_text(300);
        if !self.cost.is_light(&some_values) {
            self.validator = OnceLock::new();
        }
        self
    }

    /// The schema as it is applied: without references.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }

    /// What applying it costs.
    #[must_use]
    pub const fn cost(&self) -> &Cost {
        &self.cost
    }

    /// Whether filling in the defaults and checking a value of this shape holds up nobody. Every part of it may get each
    /// default.
    pub(crate) fn is_light(&self, shape: &Shape) -> bool {
        self.validator.get().is_some() && self.cost.is_light(&shape.and(self.defaults.times(shape.nodes)))
    }

    /// Adds what is missing in a value of this shape and has a default, and gives the shape of what came of it.
    ///
    /// # Errors
    /// When the value is too large, or becomes so: by more than `max_bytes`, or past what any input may have.
    pub fn fill(&self, value: &mut Value, shape: Shape, max_bytes: usize) -> Result<Shape, TooManyDefaults> {
        if self.defaults.nodes == 0 || !self.cost.allows(&shape) {
            return Ok(shape);
        }
        defaults::fill(&self.schema, value, max_bytes)?;
        Shape::of_payload(value).map_err(|_too_large| TooManyDefaults)
    }

    /// Checks a value. `root` is what a message calls the whole of it: `input` or `output`.
    ///
    /// # Errors
    /// Every violation up to a bound, or one that says that the value is too large to be checked.
    pub fn check(&self, value: &Value, shape: &Shape, root: &str) -> Result<(), Violations> {
        if !self.cost.allows(shape) {
            return Err(Violations::whole(
                root,
                "is too large or nested too deeply to be checked against its schema",
            ));
        }
        let validator = self.validator.get_or_init(|| compile(&self.schema).ok());
        let Some(validator) = validator else {
            return Err(Violations::whole(
                root,
                "cannot be checked: its schema does not compile",
            ));
        };
        if validator.is_valid(value) {
            return Ok(());
        }
        if !self.cost.allows_listing(shape, value) {
            return Err(Violations::whole(
                root,
                "does not match its schema, and is too large to say where",
            ));
        }
        let mut violations = Violations::default();
        for error in validator.iter_errors(value) {
            violations.add(|| describe(&error, &self.schema, root));
        }
        Err(violations)
    }
}

fn compile(tree: &Value) -> Result<Validator, SchemaProblem> {
    jsonschema::draft202012::options()
        .offline()
        .with_pattern_options(pattern_options())
        .with_keyword("uniqueItems", unique_items)
        .with_keyword("multipleOf", multiple_of)
        .build(tree)
        .map_err(|error| invalid(error.instance_path(), &error))
}

fn invalid(at: &jsonschema::paths::Location, error: &jsonschema::ValidationError<'_>) -> SchemaProblem {
    let at = if at.as_str().is_empty() { "/" } else { at.as_str() };
    SchemaProblem::Invalid {
        at: truncate(at, 200),
        message: truncate(&error.masked().to_string(), 300),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn released(schema: &Value) -> CompiledSchema {
        CompiledSchema::new(schema, Root::Any).unwrap().release()
    }

    #[test]
    fn a_large_schema_is_compiled_again_by_the_first_check_and_a_small_one_stays() {
        let small = released(&json!({"minimum": 1}));
        assert!(small.validator.get().is_some() && small.is_light(&Shape::of_text(1)));
        let large = released(&json!({"pattern": "(a|b)*a(a|b){500}c"}));
        let shape = Shape::of_text(1);
        assert!(large.validator.get().is_none() && !large.is_light(&shape));
        assert!(large.check(&json!("a"), &shape, "input").is_err());
        assert!(large.validator.get().is_some() && large.is_light(&shape));
    }
}
