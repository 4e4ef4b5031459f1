// Buttons that copy the text in their data-copy. Without a script they are
// hidden, since they could do nothing.

export async function copy(button) {
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
  const was = button.textContent;
  button.textContent = "copied";
  setTimeout(() => (button.textContent = was), 1200);
}

export function showButtons(within) {
  for (const button of within.querySelectorAll("[data-copy]")) button.hidden = false;
}

document.addEventListener("click", (e) => {
  const button = e.target.closest("[data-copy]");
  if (button) copy(button);
});

showButtons(document);
