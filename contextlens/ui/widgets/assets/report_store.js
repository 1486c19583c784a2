// The report: views that the reader collects, kept by the browser (IndexedDB) and nowhere else, so
// that they outlive a reload and a restart of the server. Tabs hear of each other's changes.

const STORE = "report";
const MOST_VIEWS = 60;
const MOST_BYTES = 60_000_000; // of all pictures

const channel = new BroadcastChannel("contextlens-report");

// Calls `changed` after each change that another component or tab makes.
export function watch(changed) {
  channel.addEventListener("message", changed);
}

// The views in their order.
export async function views() {
  const kept = await work("readonly", (store) => store.getAll());
  return kept.sort((a, b) => a.order - b.order);
}

// Adds a view at the end and returns how many there are. Throws a sentence at a bound.
export async function add(view) {
  const kept = (await views()).filter(({ picture }) => picture); // not the report's own title
  if (kept.length >= MOST_VIEWS) {
    throw new Problem(
      `Your report has ${kept.length} views, the most it takes. Remove some first.`,
    );
  }
  const n = kept.reduce((sum, { picture }) => sum + picture.length, view.picture.length);
  if (n > MOST_BYTES) {
    const most = MOST_BYTES / 1e6;
    throw new Problem(
      `With this picture, your report would have ${Math.ceil(n / 1e6)} MB; it takes ${most} MB.` +
        " Remove some views first, or save this picture as PNG.",
    );
  }
  const order = 1 + Math.max(-1, ...kept.map((other) => other.order));
  const id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  await save([{ ...view, id, order }]);
  return kept.length + 1;
}

// Writes views, new ones or in place of those with the same ids.
export async function save(changed) {
  await work("readwrite", (store) => {
    for (const view of changed) store.put(view);
  });
  channel.postMessage("changed");
}

export async function remove(ids) {
  await work("readwrite", (store) => {
    for (const id of ids) store.delete(id);
  });
  channel.postMessage("changed");
}

// A sentence for the reader.
export class Problem extends Error {}

async function work(mode, use) {
  const database = await opened();
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

function opened() {
  return new Promise((resolve, reject) => {
    if (!window.indexedDB) reject(lost());
    const request = window.indexedDB.open("contextlens", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(lost(request.error));
  });
}

function lost(error) {
  const why = error?.name === "QuotaExceededError" ? "has no room left" : "does not keep data";
  return new Problem(
    `This browser ${why} for this site, so the report cannot be kept.` +
      " Leave private browsing or free some space, then try again.",
  );
}
