// Keys. Those of a page are links with data-key, which its foot names; these
// here are about the chosen block.

import { current, step } from "./blocks.js";
import { copy } from "./copy.js";
import { toggle } from "./fold.js";
import { help } from "./help.js";
import { enter, leave } from "./panel.js";
import { raw } from "./raw.js";

// A result is changed in the step that brought it, which the panel knows.
const replayOf = (block) => block && (document.querySelector("#panel a[href*='/replay#']") ?? block.closest(".step")?.querySelector("a[href$='/replay']"));

const keys = {
  j: () => step(1),
  k: () => step(-1),
  "[": () => current()?.querySelector(".half.call")?.focus(),
  "]": () => current()?.querySelector(".half.result")?.focus(),
  o: () => toggle(current()),
  b: () => raw(current()),
  "?": help,
  c: () => {
    const button = current()?.querySelector("[data-copy]") ?? document.querySelector(".wire [data-copy-from]");
    if (button) copy(button);
    else document.querySelector("#compare")?.requestSubmit();
  },
  e: () => (replayOf(current()) ?? document.querySelector(".tabs [data-key=e]") ?? document.querySelector("[data-key=e]"))?.click(),
  "/": () => {
    const field = document.querySelector("[data-key='/']");
    if (field) field.focus();
    else document.querySelector("[data-key=s]")?.click();
  },
  x: () => current()?.querySelector("input[form=compare]")?.click(),
};

// follow goes where a block leads that has no details of its own.
function follow() {
  const link = document.activeElement?.closest("[data-block]:not(.side)")?.querySelector("a[href]:not([data-copy-from])");
  link?.click();
  return Boolean(link);
}

// Enter acts on what has the focus by itself where that is a link or a button.
function special(e) {
  if (e.key === "Enter") return !e.target.closest("a, button, summary, label") && (enter() || follow());
  if (e.key === "Escape") return leave();
  return false;
}

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
  if (special(e)) {
    e.preventDefault();
    return;
  }
  const act = keys[e.key];
  const link = act ? null : document.querySelector(`[data-key="${CSS.escape(e.key)}"]`);
  if (!act && !link) return;
  e.preventDefault();
  if (act) act();
  else if (link.matches("a")) link.click();
  else link.focus();
});
