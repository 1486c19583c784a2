// A link that is clicked while a text is typed in a field is followed once the text is stored.
// Otherwise Streamlit gets both at once, and goes to the old page or to one without the text.
// The new page is shown from its top: it would keep the old one's place if it is drawn at once.

const LINK = '[data-testid="stPageLink-NavLink"]';
const STEP = 50; // milliseconds, as all of these
const UNTIL_RUN = 1500; // the text may be what it was: then nothing runs
const AT_MOST = 5000;
const MAIN = '[data-testid="stMain"]';
let typed = null; // the field whose text is not stored yet
let storing; // the timer that looks whether it is
let following = false;

document.addEventListener("input", (event) => {
  const [field] = event.composedPath();
  if (!field.matches?.('input[type="text"], input:not([type]), textarea')) return;
  typed = field;
  clearInterval(storing);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === "Escape") store();
});

document.addEventListener("focusout", store);

// After Enter, or when the field is left, the text is stored by a run, if it is new.
function store() {
  clearInterval(storing);
  if (!typed) return;
  const left = performance.now();
  let ran = false;
  storing = setInterval(() => {
    ran ||= running();
    if (running() || (!ran && performance.now() - left < UNTIL_RUN)) return;
    typed = null;
    clearInterval(storing);
  }, STEP);
}

function running() {
  const app = document.querySelector('[data-testid="stApp"]');
  return app?.dataset.testScriptState === "running";
}

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

async function follow(link) {
  const { pathname, href, textContent: name } = link;
  const isSame = (a) => a.isConnected && a.pathname === pathname && a.textContent === name;
  const now = () => [link, ...document.querySelectorAll(LINK)].find(isSame) ?? link;
  const begun = performance.now();
  let ran = false;
  for (let passed = 0; passed < AT_MOST; passed = performance.now() - begun) {
    await new Promise((done) => setTimeout(done, STEP));
    ran ||= running();
    // A link carries the view: with another address it carries the text, too.
    if (now().href !== href || (!running() && (ran || passed > UNTIL_RUN))) break;
  }
  following = true;
  now().click();
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
