(() => {
  "use strict";
  const drawn = new Set();
  const draw = (spec) => {
    const place = document.getElementById(spec.dataset.chart);
    if (drawn.has(spec) || !place || !place.offsetWidth) return;
    drawn.add(spec);
    // The interpreter instead of compiled expressions: this page forbids code from text. Nothing may be loaded.
    vegaEmbed(place, JSON.parse(spec.textContent), {
      mode: "vega-lite", ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: { disableDefaultStyle: true },
    }).catch((error) => { place.textContent = "This chart cannot be drawn: " + error.message; console.error(error); });
  };
  const drawAll = () => document.querySelectorAll("script[data-chart]").forEach(draw);
  const reveal = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    target.scrollIntoView();
  };
  document.addEventListener("toggle", drawAll, true);
  window.addEventListener("hashchange", reveal);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details.print").forEach((each) => { each.open = true; });
    drawAll();
  });
  drawAll();
  reveal();
})();
