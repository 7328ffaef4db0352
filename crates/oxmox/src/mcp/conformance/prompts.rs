//! The suite's prompts.

use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt,
    PromptArgument, PromptMessage, Role,
};

use super::{contents, inputs};

const ALL: &[(&str, &[&str])] = &[
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
    ("test_input_required_result_prompt", &[]),
];

/// With ours in front.
pub(in crate::mcp) fn and_ours(mut ours: Vec<Prompt>) -> Vec<Prompt> {
    ours.extend(ALL.iter().map(|(name, arguments)| {
        let argument = |name: &&str| PromptArgument::new(*name).with_required(true);
        let arguments = arguments.iter().map(argument).collect();
        Prompt::new(
            *name,
            Some("A prompt of the conformance suite"),
            Some(arguments),
        )
    }));
    ours
}

/// The prompt, if it is one of these.
pub(in crate::mcp) fn get(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
    let given = |name: &str| {
        let value = request.arguments.as_ref()?.get(name)?;
        value.as_str().map(ToOwned::to_owned)
    };
    let given = |name: &str| given(name).unwrap_or_default();
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![said(&format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            given("arg1"),
            given("arg2")
        ))],
        "test_prompt_with_embedded_resource" => {
            let text = "Embedded resource content for testing.";
            let resource = contents::resource(&given("resourceUri"), "text/plain", text);
            vec![
                PromptMessage::new(Role::User, resource),
                said("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => {
            let image = ContentBlock::image(contents::PNG, "image/png");
            vec![
                PromptMessage::new(Role::User, image),
                said("Please analyze the image above."),
            ]
        }
        "test_input_required_result_prompt" => {
            let answers = request.input_responses.as_ref();
            let Some(context) = answers.and_then(|answers| answers.get("user_context")) else {
                return Some(inputs::context_wanted().into());
            };
            let context = context["content"]["context"].as_str();
            vec![said(&format!(
                "In view of {}",
                context.unwrap_or("nothing")
            ))]
        }
        _ => return None,
    };
    Some(GetPromptResult::new(messages).into())
}

fn said(text: &str) -> PromptMessage {
    PromptMessage::new_text(Role::User, text)
}
