/* Search: every word of a query must be in a page, in any place; pages with the whole query as written come first.
   The words of all pages are a script of their own that is loaded at the first use, also from a disk. */
(() => {
  "use strict";

  const SHOWN = 12;
  const form = document.querySelector("form.np-search");
  const input = form.elements.query;
  const root = document.body.dataset.root.replace(/\/?$/, "/");
  const list = document.createElement("div");
  list.className = "np-results";
  list.hidden = true;
  form.append(list);
  let pages = null;
  let said = null;

  window.npulintPages = (rows, sentences) => {
    said = sentences;
    pages = rows.map(([url, title, tags, weight, text]) => ({
      url, title, tags, weight, text,
      head: `${title} ${tags}`.toLowerCase(), body: text.toLowerCase(),
    }));
    show();
  };

  function load() {
    if (pages === null && !document.getElementById("np-pages")) {
      const script = document.createElement("script");
      script.id = "np-pages";
      script.src = `${root}search/pages.js`;
      document.head.append(script);
    }
  }

  const wordsOf = (query) => query.toLowerCase().split(/[\s"'“”‘’，。、；;]+/).filter(Boolean);

  /** How well a page answers: the whole query before single words, names and titles before text. */
  function score(page, phrase, words, needed) {
    const present = words.filter((word) => page.head.includes(word) || page.body.includes(word));
    if (present.length < needed) {
      return 0;
    }
    let points = present.length;
    if (page.tags.toLowerCase().split(" ").includes(phrase)) points += 4000;
    if (page.title.toLowerCase() === phrase) points += 3000;
    if (page.head.includes(phrase)) points += 800;
    if (page.body.includes(phrase)) points += 300;
    points += 60 * words.filter((word) => page.head.includes(word)).length;
    return points * page.weight;
  }

  function find(query) {
    const words = wordsOf(query);
    const phrase = words.join(" ");
    if (!words.length) {
      return { found: [], words, whole: true };
    }
    const rank = (some, needed) => pages
      .map((page) => [score(page, phrase, some, needed), page])
      .filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0])
      .map(([, page]) => page);
    const found = rank(words, words.length);
    const telling = words.filter((word) => word.length > 2 || !/^[a-z]+$/.test(word));
    return found.length || telling.length < 2
      ? { found, words, whole: true }
      : { found: rank(telling, Math.ceil(telling.length / 2)), words: telling, whole: false };
  }

  /** The text around the first place of the query, its words marked. */
  function excerpt(page, words) {
    const phrase = words.join(" ");
    const places = [page.body.indexOf(phrase), ...words.map((word) => page.body.indexOf(word))].filter((at) => at >= 0);
    const from = Math.max(0, (places[0] ?? 0) - 50);
    return marked((from ? "…" : "") + page.text.slice(from, from + 170), words);
  }

  function marked(text, words) {
    const span = document.createElement("span");
    const pattern = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "gi");
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      const mark = document.createElement("mark");
      mark.textContent = match[0];
      span.append(text.slice(end, match.index), mark);
      end = match.index + match[0].length;
    }
    span.append(text.slice(end));
    return span;
  }

  function address(url) {
    const [path, anchor] = url.split("#");
    const file = location.protocol === "file:" ? "index.html" : "";
    return new URL(root + path + file + (anchor ? `#${anchor}` : ""), location).href;
  }

  function line(text) {
    const shown = document.createElement("p");
    shown.textContent = text;
    return shown;
  }

  function show() {
    const query = input.value.trim();
    list.hidden = !query || pages === null;
    if (list.hidden) {
      return;
    }
    const { found, words, whole } = find(query);
    const rows = found.slice(0, SHOWN).map((page) => {
      const link = document.createElement("a");
      link.href = address(page.url);
      const title = document.createElement("b");
      title.textContent = page.title;
      link.append(title, excerpt(page, words));
      return link;
    });
    const told = found.length ? (whole ? [] : [line(said.some)]) : [line(said.none)];
    const left = found.length > SHOWN ? [line(said.more.replace("{n}", found.length - SHOWN))] : [];
    list.replaceChildren(...told, ...rows, ...left);
  }

  function move(step) {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement) + step;
    (at < 0 ? input : links[Math.min(at, links.length - 1)])?.focus();
  }

  input.addEventListener("focus", load);
  input.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape") {
      list.hidden = true;
      input.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!form.contains(event.target)) {
      list.hidden = true;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(input|select|textarea)$/i.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
})();
