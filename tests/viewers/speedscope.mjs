// SPDX-License-Identifier: GPL-2.0-only
//
// Prints, as one JSON object, what speedscope reads from a file, without a browser.
//
// Usage: speedscope.mjs SCRIPT FILE
//
// SCRIPT is the package's only script. In the object, "" has its complaints, and tracks has its
// profiles: [NAME, {FRAME: [COUNT, SUM]}] of frames that took time, in thousandths of the profile's
// unit, each rounded.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [script, file] = process.argv.slice(2);
const said = { "": [], tracks: [] };
let source = fs.readFileSync(script, "utf8");

// Exports the script's importer, and stops it before it draws.
for (const [from, to] of [
	[/([\w$]+\()([\w$]+)(,\{importFromFileSystemDirectoryEntry:)/, "$1globalThis.xsprofImport=$2$3"],
	[/console\.log\(`speedscope v/, "return;$&"],
]) {
	if (source.search(from) < 0)
		throw new Error(`another speedscope than is expected: no ${from}`);
	source = source.replace(from, to);
}
Object.assign(globalThis, {
	window: globalThis, document: { body: {}, head: {}, createElement: () => ({ style: {} }) },
	location: { hash: "", href: "file:///" }, addEventListener: () => {},
	matchMedia: () => ({ matches: false, addListener: () => {}, addEventListener: () => {} }),
});
vm.runInThisContext(source, { filename: "speedscope.js" });

for (const level of ["warn", "error"])
	console[level] = (...text) => said[""].push(text.join(" "));
console.log = () => {};
globalThis.alert = (text) => said[""].push(text);

const bytes = new Uint8Array(fs.readFileSync(file)).buffer;
const group = await new Promise((done) => setImmediate(done)).then(() =>
	globalThis.xsprofImport.importProfilesFromArrayBuffer(path.basename(file), bytes));

if (!group)
	said[""].push("it knows no such format");
for (const profile of group?.profiles ?? []) {
	const frames = {}, open = [];

	profile.forEachCall((node, at) => open.push(at), (node, at) => {
		const took = Math.round((at - open.pop()) * 1000);
		const sum = frames[node.frame.name] ??= [0, 0];

		sum[0] += took > 0;
		sum[1] += took;
	});
	said.tracks.push([profile.getName(), frames]);
}
process.stdout.write(JSON.stringify(said) + "\n", () => process.exit(0));
