// What reading does not need: keys, copying, and unfolding what a link points
// into. Nothing here makes markup out of data.

const blocks = () => [...document.querySelectorAll("[data-block]")];

// current is the block that has the focus, else the first one in view.
function current() {
  const focused = document.activeElement?.closest("[data-block]");
  return focused ?? null;
}

function focusOn(block, side) {
  const target = block.querySelector(side ?? ".half:not(.gap), a[id]") ?? block;
  target.focus({ preventScroll: true });
  block.scrollIntoView({ block: "nearest" });
  if (block.matches(".pair, .item")) history.replaceState(history.state, "", "#" + block.id);
}

function step(by) {
  const all = blocks();
  const at = all.indexOf(current());
  let next = at + by;
  if (at < 0) next = all.findIndex((b) => b.getBoundingClientRect().bottom > 60);
  if (all[next]) focusOn(all[next]);
}

function toggle() {
  const folds = [...(current()?.querySelectorAll("details") ?? [])];
  const open = folds.some((f) => !f.open);
  for (const f of folds) f.open = open;
}

async function copy(button) {
  const text = button.dataset.copy;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
  setTimeout(() => (button.textContent = "copy"), 1200);
}

const keys = {
  j: () => step(1),
  k: () => step(-1),
  "[": () => current()?.querySelector(".half.call")?.focus(),
  "]": () => current()?.querySelector(".half.result")?.focus(),
  o: toggle,
  "?": help,
  c: () => {
    const button = current()?.querySelector("[data-copy]");
    if (button) copy(button);
    else document.querySelector("#compare")?.requestSubmit();
  },
  e: () => (current()?.closest(".step")?.querySelector("a[href$='/replay']") ?? document.querySelector("[data-key=e]"))?.click(),
  x: () => current()?.querySelector("input[form=compare]")?.click(),
};

// help shows the keys of the page, which its foot names, and those of all pages.
function help() {
  let box = document.querySelector("dialog.keys");
  if (!box) {
    box = document.createElement("dialog");
    box.className = "keys";
    const title = document.createElement("h2");
    title.textContent = "Keys";
    const close = document.createElement("form");
    close.method = "dialog";
    const button = document.createElement("button");
    button.textContent = "Close";
    close.append(button);
    const own = document.querySelector("footer.keys");
    const list = document.createElement("p");
    if (own) list.append(...[...own.childNodes].map((n) => n.cloneNode(true)));
    const everywhere = document.createElement("p");
    for (const [key, what] of [["r", "runs"], ["e", "exchanges"], ["/", "search here"], ["g", "first page"], ["?", "this"]]) {
      const kbd = document.createElement("kbd");
      kbd.textContent = key;
      everywhere.append(kbd, ` ${what} · `);
    }
    box.append(title, list, everywhere, close);
    document.body.append(box);
  }
  if (box.open) box.close();
  else box.showModal();
}

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
  const act = keys[e.key];
  const link = act ? null : document.querySelector(`[data-key="${CSS.escape(e.key)}"]`);
  if (!act && !link) return;
  e.preventDefault();
  if (act) act();
  else if (link.matches("a")) link.click();
  else link.focus();
});

document.addEventListener("click", (e) => {
  const button = e.target.closest("[data-copy]");
  if (button) copy(button);
});

document.addEventListener("change", (e) => {
  if (e.target.matches(".filter select")) e.target.form.requestSubmit();
});

function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let d = target?.closest("details"); d; d = d.parentElement?.closest("details")) d.open = true;
}

addEventListener("hashchange", unfold);
unfold();
for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
