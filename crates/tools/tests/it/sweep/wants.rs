//! A tool that declares that it wants more than the demo world and its token have is left out of the other sweeps. It must
//! be true, and said.

use tools::policy::Mode;
use tools::spec::Wants;

use crate::house::House;

#[tokio::test]
async fn what_a_tool_wants_is_missing_here_and_told() {
    let house = House::in_mode(Mode::Trusted).await;
    let wanting = super::every_example().filter(|(tool, _)| !tool.spec().special.wants.is_empty());
    for (tool, args) in wanting {
        let spec = tool.spec();
        let said = match house.call(spec.name, args).await {
            Ok(answer) => panic!("{} {args} works here: {}", spec.name, answer.text),
            Err(fault) => fault.to_string().to_lowercase(),
        };
        let told = spec.special.wants.iter().any(|wants| match wants {
            Wants::Login => said.contains("token") || said.contains("password"),
            Wants::Before9 => said.contains("rules"),
            // PVE does not say that CRIU is not there, only which of its own tools has failed for that.
            Wants::Criu => said.contains("lxc-checkpoint"),
            Wants::NoCluster => said.contains("cluster"),
        });
        assert!(told, "{} {args}: {said}", spec.name);
    }
}
