// What reading does not need: keys, copying, the panel, unfolding what a link
// points into. Nothing here makes markup out of data: what is shown comes from
// this server as pages, or goes into a page as text.

import "./place.js";
import "./copy.js";
import "./fold.js";
import "./panel.js";
import "./outline.js";
import "./more.js";
import "./keys.js";
import "./menu.js";
import "./upload.js";

document.addEventListener("change", (e) => {
  if (e.target.matches(".filter select")) e.target.form.requestSubmit();
});
