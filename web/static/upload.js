// Uploads: files that are dropped on a page that takes them, and those of its form,
// go with their progress and can be cancelled. Without a script the form does it.

const link = document.querySelector("a[data-import]");
const form = document.querySelector("form[data-upload]");

function element(name, ...children) {
  const e = document.createElement(name);
  e.append(...children);
  return e;
}

// askedFor gives the form of the import page, which is asked for where there is none.
async function askedFor() {
  if (form) return form;
  const answer = await fetch(link.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const there = page.querySelector("form[data-upload]");
  if (!there) throw new Error(page.querySelector("main")?.textContent.trim() ?? "The page cannot be read.");
  return there;
}

function show(files) {
  const box = element("dialog");
  box.className = "keys upload";
  const bar = element("progress");
  bar.setAttribute("aria-label", "sent");
  const said = element("p", "sending");
  said.setAttribute("role", "status");
  const cancel = element("button", "Cancel");
  cancel.type = "button";
  const names = files.length === 1 ? files[0].name : `${files.length} files`;
  box.append(element("h2", `Importing ${names}`), bar, said, cancel);
  document.body.append(box);
  box.showModal();
  return { box, bar, said, cancel };
}

async function send(files) {
  const at = show(files);
  const request = new XMLHttpRequest();
  const close = () => at.box.remove();
  at.cancel.onclick = () => {
    request.abort();
    close();
  };
  at.box.oncancel = at.cancel.onclick;
  const fail = (why) => {
    at.box.classList.add("failed");
    at.said.textContent = why;
    at.cancel.textContent = "Close";
  };
  try {
    const asked = await askedFor();
    const size = [...files].reduce((sum, f) => sum + f.size, 0);
    if (size > Number(asked.dataset.most)) {
      fail(`${(size / 1e9).toFixed(1)} GB is more than can be uploaded at once: inspect import takes files of any size.`);
      return;
    }
    const from = new FormData(asked);
    const body = new FormData();
    body.append("form", from.get("form"));
    body.append("format", from.get("format"));
    for (const file of files) {
      body.append("file", file);
    }
    request.upload.onprogress = (e) => {
      if (e.lengthComputable) {
        at.bar.max = e.total;
        at.bar.value = e.loaded;
        if (e.loaded === e.total) at.said.textContent = "sent, being taken in";
      }
    };
    request.onload = () => {
      if (request.status === 200 && request.responseURL) location.assign(request.responseURL);
      else {
        const page = new DOMParser().parseFromString(request.responseText, "text/html");
        fail((page.querySelector("[role=alert]") ?? page.querySelector("main p") ?? page.body).textContent);
      }
    };
    request.onerror = () => fail("The upload broke off. Perhaps it is larger than this viewer takes.");
    request.open("POST", "/import");
    request.send(body);
  } catch (e) {
    fail(e.message);
  }
}

const carriesFiles = (e) => e.dataTransfer?.types.includes("Files");

if (link || form) {
  document.addEventListener("dragover", (e) => {
    if (!carriesFiles(e)) return;
    e.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (e) => {
    if (!e.relatedTarget) document.body.classList.remove("dropping");
  });
  document.addEventListener("drop", (e) => {
    document.body.classList.remove("dropping");
    if (!carriesFiles(e)) return;
    e.preventDefault();
    const files = [...e.dataTransfer.files];
    if (files.length) send(files);
  });
}

form?.addEventListener("submit", (e) => {
  e.preventDefault();
  send([...form.elements.file.files]);
});
