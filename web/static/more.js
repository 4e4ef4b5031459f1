// The steps behind those on the page come when the reader gets near them, until there
// are many; then a link leads on. Not while a run goes on: its page is brought anew.

import { showButtons } from "./copy.js";

const most = 500; // steps
const main = document.querySelector(".page.run:not([hx-get]) > main");
const loaded = location.pathname + location.search;
const pause = 150; // ms: browsers count how often an address is changed
let waiting = 0;

// Behind the first page the address is that of the step in view, on the page that
// holds it: so it is there after a reload.
function stand(step) {
  const page = step.dataset.page;
  if (page !== loaded || location.pathname + location.search !== loaded) history.replaceState(history.state, "", `${page}#${step.id}`);
}

const inView = new IntersectionObserver(
  (entries) => {
    const first = entries.find((e) => e.isIntersecting)?.target;
    if (!first) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => stand(first), pause);
  },
  { rootMargin: "-60px 0px -75% 0px" },
);

function note(step, page) {
  step.dataset.page = page;
  inView.observe(step);
}

async function bring(line) {
  const link = line.querySelector("a");
  const answer = await fetch(link.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const parts = [...page.querySelectorAll("main > .agent-head, main > .step, main > [data-more]")].filter((p) => !p.id || !document.getElementById(p.id));
  const target = new URL(link.href);
  line.replaceWith(...parts.map((p) => document.adoptNode(p)));
  for (const p of parts) {
    showButtons(p);
    if (p.matches(".step")) note(p, target.pathname + target.search);
  }
  watch();
}

const near = new IntersectionObserver(
  (entries) => {
    const line = entries.find((e) => e.isIntersecting)?.target;
    if (!line) return;
    near.unobserve(line);
    bring(line).catch(() => {}); // the link is still there
  },
  { rootMargin: "2000px 0px" },
);

function watch() {
  const line = main?.querySelector(":scope > [data-more]");
  if (line && main.querySelectorAll(":scope > .step").length < most) near.observe(line);
}

if (main?.querySelector(":scope > [data-more]")) {
  for (const step of main.querySelectorAll(":scope > .step")) note(step, loaded);
  watch();
}
