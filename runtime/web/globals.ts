import type { Calls } from './bridge/calls.ts'
import { errorText } from './bridge/plain-error.ts'
import type { Wire } from './bridge/wire.ts'
import type { Clock } from './clock/clock.ts'
import { createPerformance } from './clock/performance.ts'
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
import { Event } from './events/event.ts'
import { EventTarget } from './events/event-target.ts'
import { createFetch } from './fetch/fetch.ts'
import { Headers } from './fetch/headers.ts'
import { Request } from './fetch/request.ts'
import { Response } from './fetch/response.ts'
import { Blob } from './file/blob.ts'
import { File } from './file/file.ts'
import { FormData } from './file/form-data.ts'
import { shapeInterface } from './interface-shape.ts'
import { createNavigator } from './navigator.ts'
import { NativePromise, whenSettled } from './primordials.ts'
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
  Event,
  EventTarget,
  File,
  FormData,
  Headers,
  Request,
  Response,
  SubtleCrypto,
  TextDecoderStream,
  TextEncoderStream,
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
  TextDecoder,
  TextEncoder,
  TransformStream: streams.TransformStream,
  TransformStreamDefaultController: streams.TransformStreamDefaultController,
  URL,
  URLSearchParams,
  WritableStream: streams.WritableStream,
  WritableStreamDefaultController: streams.WritableStreamDefaultController,
  WritableStreamDefaultWriter: streams.WritableStreamDefaultWriter,
}

/** Puts the web platform on the global object of an isolate. */
export const installGlobals = (
  global: typeof globalThis,
  parts: { wire: Wire; clock: Clock; calls: Calls; timers: Timers },
): void => {
  const { wire, clock, calls, timers } = parts
  for (const [name, made] of Object.entries(ownInterfaces)) shapeInterface(name, made)
  for (const [name, made] of Object.entries({ ...ownInterfaces, ...libraryInterfaces })) {
    define(global, name, made, false)
  }
  define(AbortSignal, 'timeout', createTimeoutSignal(timers.setTimeout), true)

  const reportError = (thrown: unknown): void => wire.log('error', `Uncaught ${errorText(thrown)}`)
  const operations = {
    atob,
    btoa,
    clearInterval: timers.clearTimer,
    clearTimeout: timers.clearTimer,
    fetch: createFetch(calls),
    queueMicrotask: createQueueMicrotask(reportError),
    reportError,
    setInterval: timers.setInterval,
    setTimeout: timers.setTimeout,
    structuredClone,
  }
  for (const [name, operation] of Object.entries(operations)) {
    Object.defineProperty(operation, 'name', { value: name, configurable: true })
    define(global, name, operation, true)
  }
  define(global, 'console', createConsole(wire), false)
  define(global, 'crypto', createCrypto(wire, calls), true)
  define(global, 'navigator', createNavigator(), true)
  define(global, 'performance', createPerformance(clock), true)
  define(global, 'self', global, true)
}

const define = (on: object, name: string, value: unknown, enumerable: boolean): void => {
  Object.defineProperty(on, name, { value, enumerable, writable: true, configurable: true })
}

const createQueueMicrotask = (reportError: (thrown: unknown) => void) => (callback: () => void) => {
  if (typeof callback !== 'function') throw new TypeError('queueMicrotask needs a function')
  const run = () => {
    try {
      callback()
    } catch (thrown) {
      reportError(thrown)
    }
  }
  whenSettled(NativePromise.resolve(), run, run)
}
