// Buttons that copy the text in their data-copy, and links that copy what their
// data-copy-from gives. Without a script the buttons are hidden, since they could do
// nothing, and the links lead to where the text can be read.

async function textOf(button) {
  if (!button.dataset.copyFrom) return button.dataset.copy;
  const answer = await fetch(button.dataset.copyFrom);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

export async function copy(button) {
  const was = button.textContent;
  let text;
  try {
    text = await textOf(button);
  } catch {
    if (button.href) location.assign(button.href);
    else button.textContent = "it could not be read";
    return;
  }
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
  setTimeout(() => (button.textContent = was), 1200);
}

export function showButtons(within) {
  for (const button of within.querySelectorAll("[data-copy], button[data-copy-from]")) button.hidden = false;
}

document.addEventListener("click", (e) => {
  const button = e.target.closest("[data-copy], [data-copy-from]");
  if (!button || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  copy(button);
});

showButtons(document);
