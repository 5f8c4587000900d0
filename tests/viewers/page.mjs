// SPDX-License-Identifier: GPL-2.0-only
//
// Opens a page in headless Chromium, served from this machine only, and prints its messages.
//
// Usage: page.mjs BROWSER ROOT PAGE PICTURE READY [JS...]
//
// PAGE may contain ORIGIN, the address from which it is served. READY is JavaScript that returns
// true once the page is done; after that each JS is evaluated. Prints a line of JSON for each
// message, in their order: {"console": TEXT}, {"error": TEXT}, {"js": VALUE}. Controls the browser
// through its pipe (Chrome DevTools protocol; messages end with a zero).
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

const [browser, root, page, picture, ready, ...scripts] = process.argv.slice(2);
const TYPES = {
	".html": "text/html", ".js": "text/javascript", ".json": "application/json",
	".css": "text/css", ".wasm": "application/wasm",
};
const say = (what) => console.log(JSON.stringify(what));
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const server = http.createServer((request, reply) => {
	const name = path.join(root, decodeURIComponent(new URL(request.url, "http://x").pathname));

	if (!fs.existsSync(name) || !fs.statSync(name).isFile()) {
		reply.writeHead(404).end();
		return;
	}
	reply.writeHead(200, {
		"Content-Type": TYPES[path.extname(name)] ?? "application/octet-stream",
		"Cache-Control": "no-store",
	});
	fs.createReadStream(name).pipe(reply);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const origin = `http://127.0.0.1:${server.address().port}`;

const user = fs.mkdtempSync(path.join(os.tmpdir(), "xsprof-page."));
const child = spawn(browser, [
	"--headless", "--no-sandbox", "--disable-gpu", "--use-gl=swiftshader",
	"--enable-unsafe-swiftshader", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync", "--disable-quic", "--hide-scrollbars",
	"--window-size=1500,900", "--remote-debugging-pipe", `--user-data-dir=${user}`,
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

// The browser's files are in TMPDIR, which the caller removes.
function leave(status) {
	child.once("exit", () => process.exit(status));
	send("Browser.close").catch(() => {});
	setTimeout(() => child.kill("SIGKILL"), 5000);
}
child.on("error", (e) => {
	say({ error: `${browser}: ${e.message}` });
	process.exit(1);
});

let last = 0, rest = "", session;
const waiting = new Map();

function send(method, params = {}) {
	const id = ++last;

	child.stdio[3].write(JSON.stringify({ id, method, params, sessionId: session }) + "\0");
	return new Promise((done, failed) => waiting.set(id, { done, failed }));
}

function take(message) {
	const call = waiting.get(message.id), p = message.params;

	waiting.delete(message.id);
	if (call && message.error)
		call.failed(new Error(message.error.message));
	else if (call)
		call.done(message.result);
	else if (message.method === "Runtime.exceptionThrown")
		say({ error: p.exceptionDetails.exception?.description ?? p.exceptionDetails.text });
	else if (message.method === "Runtime.consoleAPICalled")
		say({ console: p.args.map((a) => a.value ?? a.description).join(" ") });
	else if (message.method === "Page.javascriptDialogOpening") {
		say({ error: `dialog: ${p.message}` });
		send("Page.handleJavaScriptDialog", { accept: false });
	}
}
child.stdio[4].setEncoding("utf8").on("data", (text) => {
	const messages = (rest + text).split("\0");

	rest = messages.pop();
	messages.forEach((m) => take(JSON.parse(m)));
});

async function evaluate(expression) {
	const got = await send("Runtime.evaluate",
			       { expression, returnByValue: true, awaitPromise: true });

	if (got.exceptionDetails)
		throw new Error(got.exceptionDetails.exception?.description);
	return got.result.value;
}

async function settled() {
	for (let i = 0; i < 2400; i++) {
		if (await evaluate(ready).catch(() => false))
			return true;
		await sleep(100);
	}
	return false;
}

try {
	const { targetId } = await send("Target.createTarget", { url: "about:blank" });

	session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
	await send("Runtime.enable");
	await send("Page.enable");
	await send("Page.navigate", { url: `${origin}/${page.replaceAll("ORIGIN", origin)}` });
	if (!await settled())
		say({ error: `not ready within four minutes: ${ready}` });
	for (const script of scripts)
		say({ js: await evaluate(script) });
	// The page may still be drawing.
	await sleep(3000);
	const { data } = await send("Page.captureScreenshot");
	fs.writeFileSync(picture, Buffer.from(data, "base64"));
	leave(0);
} catch (e) {
	say({ error: e.message });
	leave(1);
}
