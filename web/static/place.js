// The place of the reader: folds that were opened or closed, what was ticked and
// typed, and how far the page was scrolled come back with the page when it is loaded
// anew and on the way back. Kept for the life of the tab, by its history's entry.

const most = 500_000; // characters

if (!history.state?.place) history.replaceState({ ...history.state, place: crypto.randomUUID?.() ?? String(Math.random()) }, "");

const address = () => location.pathname + location.search;
const loaded = address();
const key = `place ${history.state.place}`;
const atFirst = new WeakMap();
const folds = () => document.querySelectorAll("details:not(.menu)");
const fields = () => document.querySelectorAll("input:not([type=hidden], [type=password], [type=file]), textarea, select");

// nameOf names an element by the nearest one with an id, and its place in that.
function nameOf(element, kind) {
  const home = element.parentElement.closest("[id]") ?? document.body;
  return `${home.id} ${[...home.querySelectorAll(kind)].indexOf(element)}`;
}

const isTick = (field) => field.matches("[type=checkbox], [type=radio]");
const stateOf = (field) => (isTick(field) ? field.checked : field.value);

function changed(elements, kind, state) {
  const list = {};
  for (const e of elements) if (state(e) !== (atFirst.get(e) ?? state(e))) list[nameOf(e, kind)] = state(e);
  return list;
}

function keep() {
  const kept = JSON.stringify({ y: address() === loaded ? scrollY : null, folds: changed(folds(), "details", (d) => d.open), fields: changed(fields(), "input, textarea, select", stateOf) });
  try {
    if (kept.length < most) sessionStorage.setItem(key, kept);
  } catch {
    // there is no room: the place is lost, and nothing else
  }
}

function bringBack(kept) {
  for (const d of folds()) d.open = kept.folds[nameOf(d, "details")] ?? d.open;
  for (const f of fields()) {
    const was = kept.fields[nameOf(f, "input, textarea, select")];
    if (was === undefined) continue;
    if (isTick(f)) f.checked = was;
    else f.value = was;
  }
  const scroll = () => {
    if (kept.y !== null) scrollTo({ top: kept.y, behavior: "instant" });
    else document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: "instant" }); // more had come behind the page
  };
  if (kept.y === null) history.scrollRestoration = "manual";
  scroll();
  addEventListener("load", scroll, { once: true });
}

for (const d of folds()) atFirst.set(d, d.open);
for (const f of fields()) atFirst.set(f, stateOf(f));

const before = ["reload", "back_forward"].includes(performance.getEntriesByType("navigation")[0]?.type) ? sessionStorage.getItem(key) : null;
if (before) bringBack(JSON.parse(before));

// cameBack tells that the page is one that was here before, and stands as it did.
export const cameBack = Boolean(before);

addEventListener("pagehide", keep);
