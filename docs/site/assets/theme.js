/* Before the page is drawn: the colours that the reader chose. */
try {
  const chosen = localStorage.getItem("npulint-colours");
  if (chosen) {
    document.documentElement.dataset.colours = chosen;
  }
} catch { /* no storage, no choice */ }
