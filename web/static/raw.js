// Raw shows a value as it was sent, in its place, and back. Its source is where
// the block's raw link leads, read when it is first asked for.

const most = 200_000; // characters; the link itself gives all of it

async function source(link) {
  const answer = await fetch(link.href, { headers: { Accept: "text/plain" } });
  const text = await answer.text();
  return text.length > most ? text.slice(0, most) + "\n… cut here: the raw link gives all of it" : text;
}

async function swap(part, link) {
  const shown = part.querySelector(":scope > .as-sent");
  if (shown) {
    shown.remove();
    part.classList.remove("shows-sent");
    return;
  }
  const box = document.createElement("pre");
  box.className = "as-sent body data";
  box.tabIndex = 0;
  part.append(box);
  part.classList.add("shows-sent");
  try {
    box.textContent = await source(link);
  } catch {
    box.textContent = "This could not be read.";
  }
}

const parts = (block) => [...block.querySelectorAll(".half"), ...(block.matches(".item") ? [block] : [])];

// raw swaps all of a block, or the half of it that has the focus.
export function raw(block) {
  const half = document.activeElement?.closest(".half");
  for (const part of half && block?.contains(half) ? [half] : block ? parts(block) : []) {
    const link = part.querySelector("a.raw[data-raw]");
    if (link) swap(part, link);
  }
}

document.addEventListener("click", (e) => {
  const link = e.target.closest("a.raw[data-raw]");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
  const part = link.closest(".half, .item");
  if (!part) return;
  e.preventDefault();
  swap(part, link);
});
