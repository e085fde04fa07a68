// Replaces each still by its live figure. Without this script the stills stay and nothing is missing.
for (const figure of document.querySelectorAll("figure[data-spec]")) {
  const spec = JSON.parse(document.getElementById(figure.dataset.spec).textContent);
  const live = figure.querySelector(".live");
  // `ast` has expressions interpreted, so that the page needs no eval.
  vegaEmbed(live, spec, { renderer: "svg", actions: false, ast: true, tooltip: { theme: "light" } })
    .then(({ view }) => {
      figure.classList.add("is-live");
      figure.view = view;
    })
    .catch((error) => {
      live.remove();
      console.error("figure stays still:", error);
    });
}

// A link to a case opens it.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") target.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();
