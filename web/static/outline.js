// The outline says where on the page the reader is.

const outline = document.querySelector(".outline");
const lines = new Map();
for (const a of outline?.querySelectorAll("ol a[href^='#']") ?? []) lines.set(a.hash.slice(1), a);

let here = null;

function mark(id) {
  const line = lines.get(id);
  if (!line || line === here) return;
  here?.removeAttribute("aria-current");
  here = line;
  here.setAttribute("aria-current", "location");
  const box = outline.getBoundingClientRect();
  const at = here.getBoundingClientRect();
  if (at.top < box.top || at.bottom > box.bottom) outline.scrollTop += at.top - box.top - box.height / 3;
}

if (lines.size) {
  const watch = new IntersectionObserver(
    (entries) => {
      const first = entries.find((e) => e.isIntersecting);
      if (first) mark(first.target.id);
    },
    { rootMargin: "-60px 0px -75% 0px" },
  );
  for (const id of lines.keys()) {
    const target = document.getElementById(id);
    if (target) watch.observe(target);
  }
}
