/* Links of a copy that is opened from a folder, colours, links to headings, copied code, and filters of the list of
   checks. */
(() => {
  "use strict";

  // A browser does not look for index.html in a folder of the disk.
  if (location.protocol === "file:") {
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element && event.target.closest("a[href]");
      if (link && link.protocol === "file:" && link.pathname.endsWith("/")) {
        link.pathname += "index.html";
      }
    }, true);
  }

  document.querySelector(".np-dark").addEventListener("click", () => {
    const page = document.documentElement;
    const dark = page.dataset.colours === "dark"
      || (!page.dataset.colours && matchMedia("(prefers-color-scheme: dark)").matches);
    page.dataset.colours = dark ? "light" : "dark";
    try {
      localStorage.setItem("npulint-colours", page.dataset.colours);
    } catch { /* no storage: for this page only */ }
  });

  for (const heading of document.querySelectorAll("main :is(h2, h3)[id]")) {
    const link = document.createElement("a");
    link.className = "np-here";
    link.href = `#${heading.id}`;
    link.textContent = "#";
    link.setAttribute("aria-label", heading.textContent);
    heading.append(link);
  }

  for (const block of document.querySelectorAll("main :is(pre, table)")) {
    if (block.scrollWidth > block.clientWidth) {
      block.tabIndex = 0;  // keys scroll what has the focus
    }
  }

  if (navigator.clipboard) {
    for (const block of document.querySelectorAll(".highlight > pre")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "np-copy";
      button.textContent = "⧉";
      button.setAttribute("aria-label", "copy");
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(block.querySelector("code").textContent);
        button.textContent = "✓";
        setTimeout(() => { button.textContent = "⧉"; }, 1200);
      });
      block.parentElement.append(button);
    }
  }

  const form = document.querySelector("form.np-filter");
  if (!form) {
    return;
  }
  const rows = [...document.querySelectorAll("table.np-checks tbody tr")];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const output = form.querySelector("output");
  const fields = ["text", "family", "severity", "category", "topic"];

  function wanted() {
    const data = new FormData(form);
    return Object.fromEntries(fields.map((name) => [name, String(data.get(name) || "").trim()]));
  }

  function fits(row, wish) {
    const words = wish.text.toLowerCase().split(/\s+/).filter(Boolean);
    return words.every((word) => texts.get(row).includes(word))
      && fields.slice(1).every((name) => !wish[name] || row.dataset[name] === wish[name]);
  }

  function filter() {
    const wish = wanted();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(row, wish);
      shown += row.hidden ? 0 : 1;
    }
    output.textContent = shown ? form.dataset.shown.replace("{n}", shown) : form.dataset.none;
    const query = new URLSearchParams(Object.entries(wish).filter(([, value]) => value)).toString();
    history.replaceState(null, "", query ? `#${query}` : location.pathname + location.search);
  }

  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (fields.includes(name)) {
      form.elements[name].value = value;
    }
  }
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  filter();
})();
