import { fill, h } from "./dom.js";
import { keepProof, post } from "./api.js";

/// Asks for a token, or uses the code of the link. Calls `then` when somebody is signed in.
export async function signIn(main, code, then) {
  const problem = h("div", { role: "alert" });
  const field = h("input", {
    type: "password", id: "token", name: "token", autocomplete: "current-password", required: true,
    spellcheck: "false", autocapitalize: "none", placeholder: "oxmox_…",
  });
  const enter = async (brought) => {
    fill(problem);
    try {
      keepProof((await post("sign-in", brought)).proof);
      await then();
    } catch (error) {
      fill(problem, h("p", { class: "alert bad" }, error.message), error.hint && h("p", { class: "quiet" }, error.hint));
      field.focus();
    }
  };
  const form = h("form", {
    class: "card sign-in",
    onsubmit: (event) => { event.preventDefault(); enter({ token: field.value.trim() }); },
  },
  h("h1", {}, "Sign in to oxmox"),
  h("label", { for: "token" }, "Your token"), field,
  h("p", { class: "quiet" }, "A person's token, made with ", h("code", {}, "oxmox token add NAME --person"),
    ". On a machine of your own the server prints a link that signs in by itself."),
  problem,
  h("p", { class: "buttons" }, h("button", { class: "good" }, "Sign in")));
  fill(main, form);
  if (code) await enter({ code });
  else field.focus();
}
