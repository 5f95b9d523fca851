//! Sending what is requested leads to a value, whatever a template or an expression does with it.

use serde_json::{Value, json};
use trackway_domain::{BlockReason, Object};

use super::set_context_path;
use crate::cel_expression::evaluate_expression_expecting;
use crate::context_error::ContextError;
use crate::schema_validation::find_example_error;
use crate::template::render_template;
use crate::test_support::expect_object;

/// One answer names all unset names, and one unusable value at a time.
const ANSWERS_MAX: usize = 8;

const TEMPLATES: &str = include_str!("tests/templates.txt");
const CONDITIONS: &str = include_str!("tests/conditions.txt");
/// What a caller does with a block: it puts each example at its pointer.
fn apply_needs(context: &mut Object, block: &BlockReason, what: &str) {
    for need in &block.needs {
        let name = need.pointer.strip_prefix("/context/");
        let name = name.unwrap_or_else(|| panic!("{what}: no name in {block:#?}"));
        let example = need.example.clone();
        let example = example.unwrap_or_else(|| panic!("{what}: no example in {block:#?}"));
        let schema = need.schema.clone().unwrap_or_default();
        assert_eq!(find_example_error(&schema, &example), None, "{what}: {block:#?}");
        set_context_path(context, &name.replace('/', ".").replace("~1", "/"), example);
    }
}

fn check_needs_help(what: &str, mut context: Object, read: impl Fn(&Object) -> Result<(), ContextError>) {
    let first = context.clone();
    for _ in 0..ANSWERS_MAX {
        match read(&context) {
            Ok(()) => return,
            Err(lack) => {
                let block = lack.to_block_with_top_level_needs(&context);
                apply_needs(&mut context, &block, what);
            }
        }
    }
    panic!("{what} with {first:?}: {:#?} over {context:?}", read(&context));
}

fn template(source: &str) -> impl Fn(&Object) -> Result<(), ContextError> {
    move |context| render_template(source, context).map(|_| ())
}

fn condition(source: &str) -> impl Fn(&Object) -> Result<(), ContextError> {
    move |context| evaluate_expression_expecting(source, context, &Value::is_boolean).map(|_| ())
}

/// Proves T7 and T8: from an empty context, following the requests ends with a value.
#[test]
fn needs_from_an_empty_context_are_sufficient() {
    for source in TEMPLATES.lines() {
        check_needs_help(source, Object::new(), template(source));
    }
    for source in CONDITIONS.lines() {
        check_needs_help(source, Object::new(), condition(source));
    }
}

/// Proves T7 and T8: the same if unusable values are present.
#[test]
fn needs_fix_invalid_values() {
    let rubbish = [
        json!(1),
        json!("s"),
        json!([]),
        json!([1]),
        json!([{}, {"path": "a"}]),
        json!({}),
        json!({"z": 1}),
        json!(null),
    ];
    for source in TEMPLATES.lines() {
        let names = super::super::template::undeclared_template_variables(source);
        for value in &rubbish {
            let context = names.iter().map(|name| (name.clone(), value.clone())).collect();
            check_needs_help(source, context, template(source));
        }
    }
    for source in CONDITIONS.lines() {
        // Names that are not read do no harm.
        let names = source.split(|letter: char| !letter.is_alphanumeric());
        for value in &rubbish {
            let context = names.clone().map(|name| (name.to_owned(), value.clone())).collect();
            check_needs_help(source, context, condition(source));
        }
    }
}

/// Proves T7: values that fit the schema of a need work as well as its example.
#[test]
fn schema_of_a_need_describes_valid_values() {
    for (source, name, schema) in [
        ("{{ what }}", "what", json!({})),
        ("{{ s | trim }}", "s", json!({"type": "string"})),
        ("{{ s[0:2] }}", "s", json!({"type": "string"})),
        ("{{ n + 1 }} {{ what }}", "n", json!({"type": "number"})),
        (
            "{% for f in files %}{{ f.path }}{% endfor %}",
            "files",
            json!({"type": "array", "items": {
                "type": "object", "required": ["path"], "properties": {"path": {}}}}),
        ),
        (
            "{{ data.list | join(',') }}",
            "data",
            json!({"type": "object", "required": ["list"], "properties": {"list": {"type": "array"}}}),
        ),
        ("{{ l[1] }}", "l", json!({"type": "array", "minItems": 2, "prefixItems": [{}, {}]})),
        (
            "{% for k, v in cfg | items %}{{ v + 1 }}{% endfor %}",
            "cfg",
            json!({"type": "object", "additionalProperties": {"type": "number"}}),
        ),
    ] {
        let block = render_template(source, &Object::new())
            .expect_err(source)
            .to_block_with_top_level_needs(&Object::new());
        assert_eq!(block.needs[0].pointer, format!("/context/{name}"), "{source}");
        assert_eq!(block.needs[0].schema, Some(schema), "{source}");
    }
    // The rest of the present value is kept, and the need has its pointer.
    let context = expect_object(json!({"user": {"name": "Ada"}}));
    let lack = render_template("{{ user.name }} {{ user.age + 1 }}", &context).expect_err("it lacks");
    let block = lack.to_block_with_top_level_needs(&context);
    assert_eq!(
        block.needs[0].schema,
        Some(json!({"type": "object", "required": ["age"], "properties": {"age": {"type": "number"}}}))
    );
}
