//! Schemas that are checked for the cost of applying them (admitted) and compiled, and then applied to many values.

use std::sync::OnceLock;

use art_core::text::truncate;
use jsonschema::Validator;
use serde_json::Value;

use crate::admission::{Cost, Root, SchemaProblem, Tree, admit, multiple_of, pattern_options, unique_items};
use crate::defaults::{self, TooManyDefaults};
use crate::shape::JsonSize;
use crate::violation::{Violations, describe};

/// An admitted schema and its compiled form.
///
/// The keyword `format` is not checked: by default, it is only an annotation in JSON Schema 2020-12.
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Value,
    /// The compiled form, which can take megabytes. If [`Self::without_large_validator`] drops it, it is unset until the next
    /// check compiles the schema again. `None` if this fails, which is not expected.
    validator: OnceLock<Option<Validator>>,
    cost: Cost,
    /// Upper bound of the total size of all defaults in the schema.
    defaults_size: JsonSize,
}

impl CompiledSchema {
    /// Admits a schema and compiles it, with dialect 2020-12 and with patterns that are matched in linear time. Loads
    /// nothing from files or the network.
    ///
    /// # Errors
    /// Fails if the schema is not admitted or is not valid in its dialect.
    pub fn new(schema: &Value, root: Root) -> Result<Self, SchemaProblem> {
        let Tree { schema: tree, cost } = admit(schema, root)?;
        jsonschema::draft202012::meta::validate(schema).map_err(|error| invalid_schema(&error))?;
        Ok(Self {
            defaults_size: defaults::measure(&tree),
            validator: OnceLock::from(Some(compile(&tree)?)),
            schema: tree,
            cost,
        })
    }

    /// Drops the compiled form if it may be large. It may be large if applying the schema is costly even for a small value. The
    /// next check compiles it again. Tools are loaded much more often than they are called, and a folder may have thousands of
    /// them.
    pub(crate) fn without_large_validator(mut self) -> Self {
        let size_of_small_value = JsonSize::of_text(300);
        if !self.cost.is_light(&size_of_small_value) {
            self.validator = OnceLock::new();
        }
        self
    }

    /// Returns the schema without references.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }

    /// Returns the cost of applying the schema.
    #[must_use]
    pub const fn cost(&self) -> &Cost {
        &self.cost
    }

    /// Returns whether a value of this size can be filled with defaults and checked so fast that other calls are not
    /// delayed. Assumes the worst case: that each part of the value gets every default. False if the schema has to be
    /// compiled first.
    pub(crate) fn is_light(&self, size: &JsonSize) -> bool {
        self.validator.get().is_some() && self.cost.is_light(&size.plus(self.defaults_size.times(size.nodes)))
    }

    /// Fills the defaults of missing properties into a value of this size, and returns the new size. A value that is too
    /// large to be checked is left unchanged.
    ///
    /// # Errors
    /// Fails if the added defaults have more than `max_bytes` bytes, if too many parts of the value have to be visited, or if
    /// the result is larger than any input may be.
    pub fn fill(&self, value: &mut Value, size: JsonSize, max_bytes: usize) -> Result<JsonSize, TooManyDefaults> {
        if self.defaults_size.nodes == 0 || !self.cost.allows(&size) {
            return Ok(size);
        }
        defaults::fill(&self.schema, value, max_bytes)?;
        JsonSize::of_payload(value).map_err(|_too_large| TooManyDefaults)
    }

    /// Checks a value of this size. `root` is the name of the whole value in messages: `input` or `output`.
    ///
    /// # Errors
    /// Fails with the first violations and the number of the others. Fails with a single message if the value is too
    /// large to be checked, if its violations are too large to be listed, or if the schema does not compile.
    pub fn check(&self, value: &Value, size: &JsonSize, root: &str) -> Result<(), Violations> {
        if !self.cost.allows(size) {
            return Err(Violations::of_root(
                root,
                "is too large or nested too deeply to be checked against its schema",
            ));
        }
        let Some(validator) = self.validator.get_or_init(|| compile(&self.schema).ok()) else {
            return Err(Violations::of_root(
                root,
                "cannot be checked: its schema does not compile",
            ));
        };
        if validator.is_valid(value) {
            return Ok(());
        }
        if !self.cost.allows_listing(size, value) {
            return Err(Violations::of_root(
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
        .map_err(|error| invalid_schema(&error))
}

fn invalid_schema(error: &jsonschema::ValidationError<'_>) -> SchemaProblem {
    let at = match error.instance_path().as_str() {
        "" => "/",
        path => path,
    };
    SchemaProblem::Invalid {
        at: truncate(at, 200),
        message: truncate(&error.masked().to_string(), 300),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Compiles a schema in the same way as the registration of a tool.
    fn compile_for_registration(schema: &Value) -> CompiledSchema {
        CompiledSchema::new(schema, Root::Any)
            .unwrap()
            .without_large_validator()
    }

    #[test]
    fn only_a_large_validator_is_dropped_and_compiled_again_by_the_first_check() {
        let small = compile_for_registration(&json!({"minimum": 1}));
        assert!(small.validator.get().is_some() && small.is_light(&JsonSize::of_text(1)));
        let large = compile_for_registration(&json!({"pattern": "(a|b)*a(a|b){500}c"}));
        let size = JsonSize::of_text(1);
        assert!(large.validator.get().is_none() && !large.is_light(&size));
        assert!(large.check(&json!("a"), &size, "input").is_err());
        assert!(large.validator.get().is_some() && large.is_light(&size));
    }
}
