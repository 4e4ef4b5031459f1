// Folds: what a link points into opens, and so does all of a block at once.

import { cameBack } from "./place.js";

export function toggle(block) {
  const folds = [...(block?.querySelectorAll("details") ?? [])];
  const open = folds.some((f) => !f.open);
  for (const f of folds) f.open = open;
}

function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let d = target?.closest("details"); d; d = d.parentElement?.closest("details")) d.open = true;
  if (target) target.scrollIntoView({ block: "nearest" });
}

addEventListener("hashchange", unfold);
if (location.hash && !cameBack) unfold();
