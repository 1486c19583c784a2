// A link that is clicked while a text is typed in a field is followed once the text is stored.
// Otherwise Streamlit gets both at once, and goes to the old page or to one without the text.
// The new page is shown from its top: it would keep the old one's place if it is drawn at once.

const LINK = '[data-testid="stPageLink-NavLink"]';
const STEP = 50; // milliseconds, as all of these
const UNTIL_RUN = 600; // the text may be what it was: then nothing runs
const AT_MOST = 5000;
const STORED = 1500; // after Enter
const MAIN = '[data-testid="stMain"]';
let typed = null; // the field whose text is not stored yet
let following = false;

document.addEventListener("input", (event) => {
  const [field] = event.composedPath();
  if (field.matches?.('input[type="text"], input:not([type]), textarea')) typed = field;
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  const field = typed;
  setTimeout(() => {
    if (typed === field) typed = null;
  }, STORED);
});

// Clicks of a mouse, of the keyboard and of scripts alike, before Streamlit hears of them.
window.addEventListener(
  "click",
  (event) => {
    const link = event.target.closest?.(LINK);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.pathname !== location.pathname) toTop(link.pathname);
    if (following || !typed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    typed.blur();
    typed = null;
    follow(link);
  },
  { capture: true },
);

async function follow({ pathname, href }) {
  const app = document.querySelector('[data-testid="stApp"]');
  const running = () => app.dataset.testScriptState === "running";
  const now = () => [...document.querySelectorAll(LINK)].find((a) => a.pathname === pathname);
  const begun = performance.now();
  let ran = false;
  for (let passed = 0; passed < AT_MOST; passed = performance.now() - begun) {
    await new Promise((done) => setTimeout(done, STEP));
    ran ||= running();
    // A link carries the view: with another address it carries the text, too.
    if (now()?.href !== href || (!running() && (ran || passed > UNTIL_RUN))) break;
  }
  following = true;
  now()?.click();
  following = false;
}

async function toTop(pathname) {
  const until = performance.now() + AT_MOST;
  while (location.pathname !== pathname) {
    if (performance.now() > until) return;
    await new Promise(requestAnimationFrame);
  }
  document.querySelector(MAIN).scrollTop = 0;
}
