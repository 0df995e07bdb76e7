import { askOver } from './ask.ts'
import type { Calls } from './bridge/calls.ts'
import type { Wire } from './bridge/wire.ts'
import { structuredClone } from './clone/structured-clone.ts'
import { createConsole } from './console/console.ts'
import { Crypto, createCrypto } from './crypto/crypto.ts'
import { CryptoKey } from './crypto/crypto-key.ts'
import { SubtleCrypto } from './crypto/subtle-crypto.ts'
import { atob, btoa } from './encoding/base64.ts'
import { TextDecoder, TextEncoder } from './encoding/text-encoding.ts'
import { AbortController, AbortSignal, createTimeoutSignal } from './events/abort-signal.ts'
import { CustomEvent } from './events/custom-event.ts'
import { DOMException } from './events/dom-exception.ts'
import { ErrorEvent } from './events/error-event.ts'
import { Event } from './events/event.ts'
import { EventTarget } from './events/event-target.ts'
import { installGlobalScope } from './events/global-scope.ts'
import { PromiseRejectionEvent } from './events/promise-rejection-event.ts'
import { reportException } from './events/report-exception.ts'
import { createFetch } from './fetch/fetch.ts'
import { Headers } from './fetch/headers.ts'
import { Request } from './fetch/request.ts'
import { Response } from './fetch/response.ts'
import { Blob } from './file/blob.ts'
import { File } from './file/file.ts'
import { FormData } from './file/form-data.ts'
import { shapeInterface } from './interface-shape.ts'
import { MessageChannel } from './messaging/message-channel.ts'
import { MessageEvent } from './messaging/message-event.ts'
import { MessagePort } from './messaging/message-port.ts'
import { queueTasksWith } from './messaging/task-queue.ts'
import { createNavigator, Navigator } from './navigator.ts'
import { createPerformance, Performance } from './performance.ts'
import { NativePromise, reflectApply, whenSettled } from './primordials.ts'
import * as streams from './streams/streams.ts'
import { TextDecoderStream, TextEncoderStream } from './streams/text-streams.ts'
import type { Timers } from './timers/timers.ts'
import { URL, URLSearchParams } from './url/url.ts'

/** Interfaces of ours. Those of the libraries have their shape already. */
const ownInterfaces = {
  AbortController,
  AbortSignal,
  Blob,
  Crypto,
  CryptoKey,
  CustomEvent,
  DOMException,
  ErrorEvent,
  Event,
  EventTarget,
  File,
  FormData,
  Headers,
  MessageChannel,
  MessageEvent,
  MessagePort,
  Navigator,
  Performance,
  PromiseRejectionEvent,
  Request,
  Response,
  SubtleCrypto,
  TextDecoder,
  TextDecoderStream,
  TextEncoder,
  TextEncoderStream,
  URL,
  URLSearchParams,
}

const libraryInterfaces = {
  ByteLengthQueuingStrategy: streams.ByteLengthQueuingStrategy,
  CountQueuingStrategy: streams.CountQueuingStrategy,
  ReadableByteStreamController: streams.ReadableByteStreamController,
  ReadableStream: streams.ReadableStream,
  ReadableStreamBYOBReader: streams.ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest: streams.ReadableStreamBYOBRequest,
  ReadableStreamDefaultController: streams.ReadableStreamDefaultController,
  ReadableStreamDefaultReader: streams.ReadableStreamDefaultReader,
  TransformStream: streams.TransformStream,
  TransformStreamDefaultController: streams.TransformStreamDefaultController,
  WritableStream: streams.WritableStream,
  WritableStreamDefaultController: streams.WritableStreamDefaultController,
  WritableStreamDefaultWriter: streams.WritableStreamDefaultWriter,
}

/** Puts the web platform on the global object of an isolate. */
export const installGlobals = (
  global: typeof globalThis,
  parts: { wire: Wire; calls: Calls; timers: Timers },
): void => {
  const { wire, calls, timers } = parts
  askOver(wire)
  queueTasksWith(timers)
  for (const [name, made] of Object.entries(ownInterfaces)) shapeInterface(name, made)
  for (const [name, made] of Object.entries({ ...ownInterfaces, ...libraryInterfaces })) {
    define(global, name, made, false)
  }
  define(AbortSignal, 'timeout', createTimeoutSignal(timers.setTimeout), true)

  const operations = {
    atob,
    btoa,
    clearInterval: timers.clearTimer,
    clearTimeout: timers.clearTimer,
    fetch: createFetch(calls),
    queueMicrotask,
    reportError,
    setInterval: timers.setInterval,
    setTimeout: timers.setTimeout,
    structuredClone,
  }
  for (const [name, operation] of Object.entries(operations)) {
    Object.defineProperty(operation, 'name', { value: name, configurable: true })
    define(global, name, operation, true)
  }
  installGlobalScope(global)
  define(global, 'console', createConsole(wire), false)
  define(global, 'crypto', createCrypto(wire, calls), true)
  define(global, 'navigator', createNavigator(), true)
  define(global, 'performance', createPerformance(), true)
  define(global, 'self', global, true)
}

const define = (on: object, name: string, value: unknown, enumerable: boolean): void => {
  Object.defineProperty(on, name, { value, enumerable, writable: true, configurable: true })
}

const queueMicrotask = (callback: () => void): void => {
  if (typeof callback !== 'function') throw new TypeError('queueMicrotask needs a function')
  const run = () => {
    try {
      reflectApply(callback, undefined, [])
    } catch (thrown) {
      reportException(thrown)
    }
  }
  whenSettled(NativePromise.resolve(), run, run)
}

function reportError(thrown: unknown): void {
  if (arguments.length === 0) throw new TypeError('reportError takes what was thrown')
  reportException(thrown)
}
