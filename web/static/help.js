// The help names the keys of the page, which its foot names too, and those of
// all pages.

const everywhere = [["r", "runs"], ["e", "exchanges, or replay the step"], ["s", "search"], ["/", "filter or search"], ["d", "export"], ["u", "the run of an exchange"], ["g", "first page"], ["?", "this"]];

function element(name, ...children) {
  const e = document.createElement(name);
  e.append(...children);
  return e;
}

function build() {
  const box = element("dialog");
  box.className = "keys";
  const list = element("p");
  const own = document.querySelector("footer.keys");
  if (own) list.append(...[...own.childNodes].map((n) => n.cloneNode(true)));
  const all = element("p");
  everywhere.forEach(([key, what], i) => all.append(i ? " · " : "", element("kbd", key), ` ${what}`));
  const close = element("form", element("button", "Close"));
  close.method = "dialog";
  box.append(element("h2", "Keys"), list, all, close);
  document.body.append(box);
  return box;
}

export function help() {
  const box = document.querySelector("dialog.keys") ?? build();
  if (box.open) box.close();
  else box.showModal();
}
