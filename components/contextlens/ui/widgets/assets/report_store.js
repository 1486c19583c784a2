// The report: views that the reader collects, kept by the browser (IndexedDB) and nowhere else, so
// that they outlive a reload and a restart of the server. Each change is one transaction, so that
// tabs do not undo each other's; tabs hear of each other's changes.

const STORE = "report";
export const HEAD = "head"; // the entry that holds the report's title and introduction
const MOST_VIEWS = 60;
const MOST_BYTES = 60_000_000; // of all pictures

// A sentence for the reader.
export class Problem extends Error {}

const ADDED = "contextlens-report-added";

// Calls `changed` after each addition, and each change of another tab, until the signal ends it.
export function watch(changed, signal) {
  channel()?.addEventListener("message", changed, { signal });
  document.addEventListener(ADDED, changed, { signal });
}

// All entries in their order: views, and what else has been saved.
export async function entries() {
  const all = await work("readonly", (store) => store.getAll());
  return all.sort((a, b) => a.order - b.order);
}

// The number of views, without reading their pictures.
export async function nViews() {
  const ids = await work("readonly", (store) => store.getAllKeys());
  return ids.filter((id) => id !== HEAD).length;
}

// Adds a view at the end and returns how many there are. Throws a sentence at a bound.
export async function add(view) {
  const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  let n;
  let problem;
  await work("readwrite", (store) => {
    const asked = store.getAll();
    asked.onsuccess = () => {
      const views = asked.result.filter(({ picture }) => picture);
      problem = beyond(views, view);
      if (problem) return;
      n = views.length + 1;
      store.put({ ...view, id, order: 1 + Math.max(-1, ...views.map(({ order }) => order)) });
    };
  });
  if (problem) throw new Problem(problem);
  tell();
  document.dispatchEvent(new Event(ADDED));
  return n;
}

function beyond(views, { picture }) {
  if (views.length >= MOST_VIEWS) {
    return `Your report has ${views.length} views, the most it takes. Remove some first.`;
  }
  const n = views.reduce((sum, view) => sum + view.picture.length, picture.length);
  if (n <= MOST_BYTES) return "";
  return (
    `With this picture, your report would have ${Math.ceil(n / 1e6)} MB;` +
    ` it takes ${MOST_BYTES / 1e6} MB. Remove some views first, or save this picture as PNG.`
  );
}

// Writes whole entries: new ones, or those that were removed.
export async function save(written) {
  await work("readwrite", (store) => {
    for (const entry of written) store.put(entry);
  });
  tell();
}

// Changes parts of entries, by id: { id: { title } }. One that is gone stays gone.
export async function change(changes) {
  await work("readwrite", (store) => {
    for (const [id, parts] of Object.entries(changes)) {
      const asked = store.get(id);
      asked.onsuccess = () => asked.result && store.put({ ...asked.result, ...parts });
    }
  });
  tell();
}

export async function remove(ids) {
  await work("readwrite", (store) => {
    for (const id of ids) store.delete(id);
  });
  tell();
}

// Where storage is blocked, a browser may refuse the channel too; the rest works without it.
let opened;
function channel() {
  try {
    opened ??= new BroadcastChannel("contextlens-report");
  } catch {
    opened = null;
  }
  return opened;
}

function tell() {
  channel()?.postMessage("changed"); // not heard by whoever holds this channel
}

async function work(mode, use) {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = use(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onabort = () => reject(lost(transaction.error));
    });
  } finally {
    database.close();
  }
}

function open() {
  return new Promise((resolve, reject) => {
    try {
      const request = window.indexedDB.open("contextlens", 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(lost(request.error));
    } catch (error) {
      reject(lost(error)); // there is none, or site data is blocked
    }
  });
}

function lost(error) {
  const why = error?.name === "QuotaExceededError" ? "has no room left" : "does not keep data";
  return new Problem(
    `This browser ${why} for this site, so the report cannot be kept.` +
      " Leave private browsing or free some space, then try again.",
  );
}
