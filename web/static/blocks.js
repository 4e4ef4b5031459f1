// Blocks are what j and k go through: items, pairs, rows of lists.

const blocks = () => [...document.querySelectorAll("[data-block]")].filter((b) => b.offsetParent);

let chosen = null;

// current is the block that has the focus, or had it last.
export function current() {
  const focused = document.activeElement?.closest("[data-block]");
  return focused ?? (chosen?.isConnected ? chosen : null);
}

// choose makes a block the current one without giving it the focus.
export function choose(block) {
  if (block === chosen) return;
  chosen?.classList.remove("chosen");
  chosen = block;
  chosen?.classList.add("chosen");
}

// targetOf is what of a block takes the focus: its first half, its own link, the
// block, or what it links to.
const targetOf = (block) =>
  block.querySelector(".half[tabindex]:not(.gap), a[id]") ?? (block.hasAttribute("tabindex") ? block : block.querySelector("a[href]")) ?? block;

export function focusOn(block) {
  targetOf(block).focus({ preventScroll: true });
  block.scrollIntoView({ block: "nearest" });
  if (block.id && block.matches(".pair, .item, .act")) history.replaceState(history.state, "", "#" + block.id);
}

// step goes to the block so many further; from nowhere to the first one in view.
export function step(by) {
  const all = blocks();
  const at = all.indexOf(current());
  const next = at < 0 ? all.findIndex((b) => b.getBoundingClientRect().bottom > 60) : at + by;
  if (all[next]) focusOn(all[next]);
}
