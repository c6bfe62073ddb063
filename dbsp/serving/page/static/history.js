// Queries that were asked in this browser, the last one first.

const KEY = "dbsp.queries";
const MOST = 30;

export function remembered() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return []; // there is no storage, or it holds something else
  }
}

export function remember(sql) {
  const kept = [sql, ...remembered().filter((one) => one !== sql)].slice(0, MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // it is full, or not allowed: the query ran all the same
  }
}
