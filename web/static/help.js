// The help names the keys that do something on this page: those of its blocks, and
// those of the links and fields that have one.

const has = (selector) => document.querySelector(selector);

function element(name, ...children) {
  const e = document.createElement(name);
  e.append(...children);
  return e;
}

// ofBlocks are the keys that act on the chosen block.
function ofBlocks() {
  if (!has("[data-block]")) return [];
  const keys = [["j k", "next, previous"]];
  if (has("[data-block]:not(.side)")) keys.push(["enter", has("[data-details]") ? "details of it" : "open it"]);
  if (has("[data-details]")) keys.push(["esc", "back"]);
  if (has("[data-block] .half.call")) keys.push(["[ ]", "call, result"]);
  if (has("[data-block] details")) keys.push(["o", "open or close its folds"]);
  if (has("[data-block] a.raw[data-raw]")) keys.push(["b", "as it was sent, and back"]);
  if (has("[data-block] [data-copy]")) keys.push(["c", "copy its call id"]);
  else if (has(".wire [data-copy-from]")) keys.push(["c", "copy the request as curl"]);
  if (has(".step a[href$='/replay']")) keys.push(["e", "replay its step"]);
  if (has("input[form=compare]")) keys.push(["x", "tick it"], ["c", "compare those ticked"]);
  return keys;
}

// whatOf says what a link or a field with a key is for.
function whatOf(e) {
  if (e.matches("input")) return (e.form?.querySelector("button:not([hidden])")?.textContent ?? "go to the field").toLowerCase();
  return (e.dataset.what ?? (e.title.replace(/ \(.\)$/, "") || e.textContent)).replace(/[‹›↓…]/g, "").trim();
}

function ofLinks(elements, taken) {
  const keys = [];
  for (const e of elements) {
    const key = e.dataset.key;
    if (taken.has(key) || e.offsetParent === null && !e.closest(".menu")) continue;
    taken.add(key);
    keys.push([key, whatOf(e)]);
  }
  return keys;
}

function lines(title, keys) {
  const list = element("dl");
  for (const [key, what] of keys) {
    const term = element("dt");
    for (const k of key.split(" ")) term.append(element("kbd", k), " ");
    list.append(term, element("dd", what));
  }
  return keys.length ? [element("h3", title), list] : [];
}

function build() {
  const everywhere = [...document.querySelectorAll(".brand, nav.lists [data-key]")];
  const own = ofBlocks();
  const taken = new Set(own.map(([key]) => key));
  const links = ofLinks([...document.querySelectorAll("[data-key]")].filter((e) => !everywhere.includes(e)), taken);
  const other = ofLinks(everywhere, taken);
  if (!taken.has("/")) other.push(["/", "search"]);
  const close = element("form", element("button", "Close"));
  close.method = "dialog";
  const box = element("dialog", element("h2", "Keys"), ...lines("the chosen item", own), ...lines("this page", links), ...lines("everywhere", [...other, ["?", "this"]]), close);
  box.className = "keys";
  return box;
}

export function help() {
  const open = has("dialog.keys[open]:not(.upload)");
  if (open) return open.close();
  const box = build();
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}
