// Before the first paint, so that nothing flashes: the theme and the language that were chosen.
(() => {
  const read = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // a browser that keeps nothing for this page
    }
  };
  const root = document.documentElement;
  const theme = read("orbit.theme");
  if (theme === "light" || theme === "dark") root.dataset.chosenTheme = theme;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const draw = () => {
    root.dataset.theme = root.dataset.chosenTheme ?? (dark.matches ? "dark" : "light");
  };
  draw();
  dark.addEventListener("change", draw);
  root.addEventListener("theme", draw);
  const language = read("orbit.language");
  if (language) {
    root.lang = language;
    root.dir = ["ar", "fa", "he", "ur"].includes(language) ? "rtl" : "ltr";
  }
})();
