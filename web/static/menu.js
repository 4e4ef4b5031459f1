// Menus are details that open over the page: they close when one goes elsewhere.

const open = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (e) => {
  for (const menu of open()) if (!menu.contains(e.target)) menu.open = false;
});

document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape") return;
  for (const menu of open()) {
    menu.open = false;
    menu.querySelector("summary").focus();
    e.stopPropagation();
  }
}, true);
