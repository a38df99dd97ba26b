// The map of a discrimination surface. Text from the data is set as text, or escaped: plotly reads
// some tags in its labels.
(() => {
  "use strict";
  const surface = JSON.parse(document.getElementById("surface-data").textContent);
  const { thetas, rounds, subgroups, size, share } = surface;
  const [first, second] = surface.attributes;
  const k = thetas.length;
  const within = surface.control_features.length > 0;
  const compared = within ? "in the same strata" : "overall";
  const find = (id) => document.getElementById(id);
  const map = find("map"), slider = find("round"), play = find("play"), course = find("course");
  const limit = Math.max(...rounds.map((one) => (one.worst ? Math.abs(one.worst.unfairness) : 0)), 1e-6);
  const PAPER = 620; // what a page of A4 or letter has room for
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const LIGHT = { ink: "#1b1f24", line: "#d0d7de", quiet: "#57606a", ground: "#ffffff", low: "#0072b2", middle: "#f7f7f7", high: "#d55e00" };
  const DARK = { ink: "#e8eaed", line: "#3a424c", quiet: "#a3adb8", ground: "#14171b", low: "#56b4e9", middle: "#2a2f36", high: "#ff9a52" };

  const places = thetas.flatMap((_, i) => thetas.map((_, j) => [i, j]));
  const blank = places.filter(([i, j]) => subgroups[i][j] === null);

  let current = rounds.length - 1;
  let chosen = rounds[current].place;
  let printing = false;
  let timer = null;


  const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const signed = (value) => (value < 0 ? "−" : value > 0 ? "+" : "") + shortNumber(Math.abs(value));
  const shortNumber = (value) => (value === 0 ? "0" : value < 5e-5 ? value.toFixed(12).replace(/^(0\.0*\d\d)\d*$/, "$1") : value.toFixed(4));
  const tick = (value) => (value < 0 ? "−" : "+") + Number(Math.abs(value).toPrecision(2));
  const percent = (rate) => {
    const near = Math.min(Math.abs(rate), Math.abs(1 - rate));
    let digits = 1;
    while (digits < 6 && near > 0 && near < 5 * 10 ** (-digits - 2)) digits++;
    const words = (100 * rate).toFixed(digits).replace(/\.?0+$/, "");
    return (words === "-0" ? "0" : words.replace("-", "−")) + " %";
  };
  const shortened = (text, most) => (text.length <= most ? text : text.slice(0, most - 1) + "…");

  function wrapped(text, width = 42, most = 6) {
    const lines = [""];
    for (const word of text.match(new RegExp(`\\S{1,${width}}\\s?`, "gu")) || []) {
      if (lines[lines.length - 1].length + word.trimEnd().length > width) lines.push("");
      lines[lines.length - 1] += word;
    }
    const shown = lines.length <= most ? lines : [...lines.slice(0, most - 1), "…"];
    return shown.map(escape).join("<br>");
  }

  function rateOf(i, j) {
    const one = rounds[current];
    return one.expected_rate[i][j] + one.unfairness[i][j] / share[i][j];
  }

  function hoverText(i, j) {
    if (subgroups[i][j] === null) return "";
    const one = rounds[current];
    return [
      `<b>${wrapped(subgroups[i][j])}</b>`,
      `${size[i][j].toLocaleString("en")} rows`,
      `rate ${percent(rateOf(i, j))}, ${compared} ${percent(one.expected_rate[i][j])}`,
      `unfairness ${signed(one.unfairness[i][j])}`,
    ].join("<br>");
  }

  // Plotly has rows upwards and columns to the right: θ₂ and θ₁.
  const turned = (value) => thetas.map((_, j) => thetas.map((_, i) => value(i, j)));

  function marker(place, symbol, colours, width) {
    return {
      type: "scatter", mode: "markers", hoverinfo: "skip", showlegend: false,
      x: place ? [thetas[place[0]]] : [], y: place ? [thetas[place[1]]] : [],
      marker: { symbol, size: 14, color: colours.ink, line: { color: colours.ink, width } },
    };
  }

  function drawMap(colours, width) {
    const one = rounds[current];
    const z = turned((i, j) => one.unfairness[i][j]);
    const scale = [[0, colours.low], [0.5, colours.middle], [1, colours.high]];
    const most = Math.max(12, Math.floor((Math.min(width, 650) - 90) / 8) - 14); // "θ₁: weight of " is 14
    const axis = (name, mark) => ({
      title: { text: `${mark}: weight of ${escape(shortened(name, most))}`, standoff: 8 },
      range: [thetas[0] - half(0), thetas[k - 1] + half(k - 2)], fixedrange: true, zeroline: false,
      showgrid: false, ticks: "outside", tickcolor: colours.line, nticks: 5,
    });
    const traces = [
      { type: "heatmap", x: thetas, y: thetas, z, zmin: -limit, zmax: limit, colorscale: scale,
        text: turned(hoverText), hovertemplate: "%{text}<extra></extra>", hoverongaps: false,
        xgap: 1, ygap: 1,
        colorbar: {
          orientation: "h", y: 1.02, yanchor: "bottom", thickness: 12, outlinewidth: 0, len: 0.9,
          tickvals: [-limit, 0, limit], ticklabelposition: "outside", ticks: "",
          ticktext: [`${tick(-limit)}<br>rate too low`, "0", `${tick(limit)}<br>rate too high`],
          ticklabeloverflow: "allow",
        } },
      { type: "contour", x: thetas, y: thetas, z, autocontour: false, showscale: false, showlegend: false, hoverinfo: "skip",
        contours: { start: 0, end: 0, size: 1, coloring: "none" }, connectgaps: false,
        line: { color: colours.quiet, width: 1.5, dash: "dot", smoothing: 0 } },
      { type: "scatter", mode: "markers", hoverinfo: "skip", showlegend: false,
        x: blank.map(([i]) => thetas[i]), y: blank.map(([, j]) => thetas[j]),
        marker: { symbol: "line-ne", size: 7, line: { color: colours.quiet, width: 1 } } },
      marker(one.place, "x-thin", colours, 3),
      marker(chosen, "square-open", colours, 2.5),
    ];
    const margin = { l: 62, r: 30, t: 76, b: 56 };
    const layout = {
      ...frame(colours), margin, width: printing ? width : undefined, height: Math.min(width - margin.l - margin.r, 560) + margin.t + margin.b,
      xaxis: axis(first, "θ₁"), yaxis: { ...axis(second, "θ₂"), scaleanchor: "x", constrain: "domain" },
    };
    Plotly.react(map, traces, layout, { displayModeBar: false, responsive: false });
  }

  const half = (i) => (thetas[i + 1] - thetas[i]) / 2;

  function frame(colours) {
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: false,
      font: { color: colours.ink, family: getComputedStyle(document.body).fontFamily, size: 13 },
      hoverlabel: { bgcolor: colours.ground, bordercolor: colours.quiet, font: { color: colours.ink }, align: "left" },
    };
  }

  function drawCourse(colours, width) {
    const names = rounds.map((one) => one.name);
    const numbers = names.every((name) => typeof name === "number");
    const x = numbers ? names : names.map((name, i) => i);
    const y = rounds.map((one) => (one.worst ? Math.abs(one.worst.unfairness) : null));
    const far = numbers && names[names.length - 1] / Math.max(1, names[0]) > 20;
    const shown = { tickvals: x, ticktext: names.map((name) => escape(shortened(String(name), 16))) };
    const traces = [
      { type: "scatter", mode: "lines+markers", x, y, line: { color: colours.low, width: 2 },
        marker: { size: 7, color: colours.low }, showlegend: false,
        hovertemplate: rounds.map((one) => `${escape(shortened(String(one.name), 40))}: ` + (one.worst ? shortNumber(Math.abs(one.worst.unfairness)) : "not shown") + "<extra></extra>") },
      { type: "scatter", mode: "markers", x: [x[current]], y: [y[current]], hoverinfo: "skip", showlegend: false,
        marker: { symbol: "circle-open", size: 15, color: colours.ink, line: { width: 2.5, color: colours.ink } } },
    ];
    const grid = { fixedrange: true, gridcolor: colours.line, zeroline: false };
    const layout = {
      ...frame(colours), width, height: 190, margin: { l: 60, r: 24, t: 10, b: 44 },
      xaxis: { ...grid, showgrid: false, title: { text: numbers ? (far ? "round (log scale)" : "round") : "" },
               type: far ? "log" : "linear", ...(numbers ? (far ? { dtick: 1 } : { nticks: 8, tickformat: "d" }) : shown) },
      yaxis: { ...grid, rangemode: "tozero", nticks: 4, title: { text: "worst" } },
    };
    Plotly.react(course, traces, layout, { displayModeBar: false, responsive: false });
  }

  function describe([i, j]) {
    const one = rounds[current], words = subgroups[i][j];
    const hidden = words === null;
    find("group-words").textContent = hidden ? "Not shown" : words;
    find("group-figures").hidden = hidden;
    if (hidden) {
      find("group-verdict").textContent =
        `Fewer than ${surface.min_group_size} rows that the rate is over are in this group, outside of it, or between it and others.`;
      return;
    }
    const value = one.unfairness[i][j], points = (100 * Math.abs(rateOf(i, j) - one.expected_rate[i][j])).toFixed(1);
    find("group-verdict").textContent = value === 0 ? "Treated as all others."
      : `Its rate is ${points.replace(/\.0$/, "")} points ${value > 0 ? "above" : "below"} ${within ? "that of its strata" : "the overall one"}.`;
    find("group-size").textContent = size[i][j].toLocaleString("en");
    find("group-rate").textContent = percent(rateOf(i, j));
    find("group-overall").textContent = percent(one.expected_rate[i][j]);
    find("group-unfairness").textContent = signed(value);
  }

  function draw() {
    const colours = dark.matches && !printing ? DARK : LIGHT;
    const width = printing ? Math.min(PAPER, map.clientWidth) : map.clientWidth;
    drawMap(colours, width);
    if (course) drawCourse(colours, printing ? PAPER : undefined);
    describe(chosen);
  }

  function turnTo(number) {
    current = number;
    const name = String(rounds[current].name);
    slider.value = current;
    slider.setAttribute("aria-valuetext", name);
    find("round-name").textContent = find("map-name").textContent = name;
    draw();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.setAttribute("aria-pressed", "false");
    play.textContent = "Play";
  }

  function start() {
    if (current === rounds.length - 1) turnTo(0);
    play.setAttribute("aria-pressed", "true");
    play.textContent = "Pause";
    timer = setInterval(() => {
      turnTo(current + 1);
      if (current === rounds.length - 1) stop();
    }, 700);
  }

  const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

  function choose(i, j) {
    if (i === chosen[0] && j === chosen[1]) return;
    chosen = [i, j];
    draw();
  }

  find("interactive").hidden = false;
  draw();
  const pointed = ({ points }) => [points[0].pointIndex[1], points[0].pointIndex[0]];
  map.on("plotly_hover", (event) => describe(pointed(event)));
  map.on("plotly_unhover", () => describe(chosen));
  map.on("plotly_click", (event) => choose(...pointed(event)));
  map.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const within = (place) => Math.min(k - 1, Math.max(0, place));
    choose(within(chosen[0] + move[0]), within(chosen[1] + move[1]));
  });
  if (slider) {
    turnTo(current);
    slider.addEventListener("input", () => { if (timer) stop(); turnTo(Number(slider.value)); });
    play.addEventListener("click", () => (timer ? stop() : start()));
    course.on("plotly_click", ({ points }) => { if (timer) stop(); turnTo(points[0].pointIndex); });
  }
  dark.addEventListener("change", draw);
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", () => { printing = true; draw(); });
  window.addEventListener("afterprint", () => { printing = false; draw(); });
})();
