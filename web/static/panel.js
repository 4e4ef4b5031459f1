// The panel tells of the chosen block. What it shows is a page of its own,
// which the links named details lead to without a script.

import { choose, current } from "./blocks.js";
import { showButtons } from "./copy.js";

const panel = document.getElementById("panel");
const body = panel?.querySelector(".panel-body");
const atFirst = body ? [...body.childNodes] : [];
const pause = 90; // ms: whoever runs through blocks asks for none of them
let waiting = 0;
let asked = null;
let shown = "";

const isBeside = () => panel && getComputedStyle(panel).position !== "fixed";

async function show(address) {
  asked?.abort();
  asked = new AbortController();
  try {
    const answer = await fetch(address, { signal: asked.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("details") ?? page.querySelector("main");
    body.replaceChildren(document.adoptNode(found));
    panel.scrollTop = 0;
    showButtons(body);
    shown = address;
  } catch (e) {
    if (e.name !== "AbortError") body.replaceChildren("This could not be read.");
  }
}

function tell(block) {
  const address = block.dataset.details;
  choose(block);
  if (!address || address === shown || !(isBeside() || panel.classList.contains("open"))) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => show(address), pause);
}

// enter goes into the panel; it tells whether there is one to go into.
export function enter() {
  const block = current();
  if (!panel || !block?.dataset.details) return false;
  panel.classList.add("open");
  tell(block);
  panel.focus({ preventScroll: true });
  return true;
}

// leave goes back to the block, then to what the panel showed at first.
export function leave() {
  if (!panel) return false;
  const block = current();
  if (panel.contains(document.activeElement) || panel.classList.contains("open")) {
    panel.classList.remove("open");
    (block?.querySelector(".half") ?? block)?.focus({ preventScroll: true });
    return true;
  }
  if (!shown) return false;
  clearTimeout(waiting);
  body.replaceChildren(...atFirst);
  shown = "";
  choose(null);
  document.activeElement?.blur();
  return true;
}

if (panel) {
  document.addEventListener("focusin", (e) => {
    const block = e.target.closest("[data-details]");
    if (block) tell(block);
  });
  document.addEventListener("click", (e) => {
    if (e.target.closest(".panel-close")) leave();
    const link = e.target.closest("a.to-details");
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
    const block = link.closest("[data-details]");
    if (!block) return;
    e.preventDefault();
    panel.classList.add("open");
    tell(block);
  });
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("[data-details]");
  if (target) tell(target);
}
